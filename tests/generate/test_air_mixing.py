from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.facility.air import dense
from lpsched.generate.facility import air_mixing, balanced, layout


def shares(nodes, units, recirculation=0.2, rack=25, seed=0):
    rng = np.random.default_rng(seed)
    flow = rng.choice([0.004, 0.009, 0.008], nodes)
    unit_flow = np.full(units, flow.sum() / units)
    return dense(air_mixing(flow, unit_flow, recirculation, rack)), np.concatenate((flow, unit_flow))


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 120),
    st.integers(1, 6),
    st.just(0.0) | st.floats(1e-3, 0.6),
    st.integers(1, 40),
    st.integers(0, 2**32),
)
def test_air_is_conserved_to_the_last_digits(nodes, units, recirculation, rack, seed):
    mix, flow = shares(nodes, units, recirculation, rack, seed)
    assert (mix >= 0).all()
    assert np.abs(mix.sum(axis=1) - 1).max() < 1e-12  # all that a place draws in comes from somewhere
    assert np.abs(flow @ mix / flow - 1).max() < 1e-12  # all that leaves a place is drawn in somewhere


def test_the_higher_a_node_stands_the_more_of_its_air_has_been_in_nodes():
    mix, _ = shares(150, 3)
    from_nodes = mix[:150, :150].sum(axis=1)
    heights = layout(150, 3, 25).heights
    assert from_nodes == pytest.approx(0.2 * (0.5 + heights), rel=1e-9)
    assert from_nodes.min() == pytest.approx(0.2 * 0.52)
    assert from_nodes.max() == pytest.approx(0.2 * 1.48)


def test_as_much_air_passes_by_the_nodes_as_comes_back_to_them():
    mix, flow = shares(150, 3)
    recirculated = flow[:150] @ mix[:150, :150].sum(axis=1)
    bypassed = flow[150:] @ mix[150:, 150:].sum(axis=1)
    assert bypassed == pytest.approx(recirculated)
    assert recirculated == pytest.approx(0.2 * flow[:150].sum(), rel=0.05)


def test_without_recirculation_all_air_is_fresh():
    mix, _ = shares(60, 2, recirculation=0.0)
    assert (mix[:60, :60] == 0).all()
    assert (mix[60:, 60:] == 0).all()


def test_a_node_breathes_more_of_a_near_ones_air():
    mix, _ = shares(200, 4)
    room = layout(200, 4, 25)
    apart = np.sqrt(((room.inlets[:, None] - room.outlets) ** 2).sum(axis=2))
    assert mix[:200, :200][apart > 3.0].sum() < 0.02 * mix[:200, :200].sum()
    assert np.count_nonzero(mix[:200, :200]) < 0.5 * 200 * 200


def test_who_breathes_whose_air_is_mutual():
    mix, _ = shares(200, 4)
    exchanges = mix[:200, :200] > 0
    assert (exchanges == exchanges.T).all()
    assert exchanges.diagonal().all()
    assert exchanges.sum(axis=1).min() >= 30


def test_rows_face_each_other_across_a_cold_aisle_and_units_stand_around():
    room = layout(200, 4, 25)  # eight racks in two rows of four
    cold, hot = room.inlets[:, 1], room.outlets[:, 1]
    assert set(np.round(cold, 6)) == {0.6, 1.8}  # both between the rows at 0 and 2.4 m
    assert set(np.round(hot, 6)) == {-0.6, 3.0}
    # The racks end at 1.8 and 2.4 m; a metre around them the way is 2 (3.8 + 4.4) = 16.4 m, a unit each 4.1 m.
    # From the corner (-1, -1): after 2.05, 6.15, 10.25 and 14.35 m.
    assert room.units[:, :2] == pytest.approx(np.array([[1.05, -1.0], [2.8, 1.35], [0.75, 3.4], [-1.0, 1.05]]))


def test_one_node_and_one_unit_are_a_room_too():
    mix, _ = shares(1, 1, rack=1)
    # At half height 0.2 x (0.5 + 0.5) of the node's air is its own; as much passes it by.
    assert mix == pytest.approx(np.array([[0.2, 0.8], [0.8, 0.2]]))


def test_a_kernel_is_scaled_to_its_sums():
    rows, columns = np.array([1.0, 2.0, 3.0]), np.array([2.5, 3.5])
    made = balanced(np.array([[1.0, 2.0], [3.0, 1.0], [0.5, 0.1]]), rows, columns)
    assert made.sum(axis=1) == pytest.approx(rows, rel=1e-14)
    assert made.sum(axis=0) == pytest.approx(columns, rel=1e-14)
    # scaling keeps cross ratios: (1 x 1) / (2 x 3) of the first two rows
    assert made[0, 0] * made[1, 1] / (made[0, 1] * made[1, 0]) == pytest.approx(1 / 6)
