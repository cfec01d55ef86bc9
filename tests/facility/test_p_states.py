"""Rounding to P-states: by hand on one node, and never more power on random ones."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import facility_arrays
from lpsched.facility.continuous_states import core_states
from lpsched.facility.nlp import one_state_each
from lpsched.model.table import Table
from tests.facility.small_facility import SMALL, small
from tests.property.odd_facilities import odd_facility
from tests.property.tiny_facilities import tiny_facility

P0, P1 = 0, 1


def rounded(facility, times):
    """Round times of each core's render in P1 (10 W) and P0 (40 W), and zip in P0 (30 W)."""
    arrays = facility_arrays(facility)
    states = core_states(arrays)
    return one_state_each(arrays, states.node, (states.core, states.task, states.column), np.array(times, dtype=float))


def test_the_piece_furthest_above_its_power_takes_the_thriftier_state():
    # Core 0 renders at 25 W on average all the time, core 1 at 28 W for half of it: 39 W in all. In P0 both would
    # draw 60 W, 15 W and 6 W more. Core 0 in P1 draws 10 W: 30 W in all, so core 1 stays.
    found = rounded(SMALL, [0.5, 0.5, 0.0, 0.2, 0.3, 0.0])
    assert found.column[:, 0].tolist() == [P1, P0]
    assert found.times[:, 0].tolist() == [1.0, 0.5]
    assert found.times[:, 1].tolist() == [0.0, 0.0]


def test_all_pieces_take_the_thriftier_state_where_one_is_not_enough():
    # 37 W and 13 W on average, all the time: 50 W. In P0 80 W; core 1, 27 W above its own, in P1: still 50 W, which
    # is allowed. With 36 W and 13 W: 49 W, and 50 W are too much.
    assert rounded(SMALL, [0.1, 0.9, 0.0, 0.9, 0.1, 0.0]).column[:, 0].tolist() == [P0, P1]
    found = rounded(SMALL, [4 / 30, 26 / 30, 0.0, 0.9, 0.1, 0.0])
    assert found.column[:, 0].tolist() == [P1, P1]


def test_a_piece_in_one_state_stays_in_it():
    # Rounding core 0 (25 W on average) down is enough; core 1 has nothing to give.
    found = rounded(SMALL, [0.5, 0.5, 0.0, 0.0, 1.0, 0.0])
    assert found.column[:, 0].tolist() == [P1, P0]
    assert rounded(SMALL, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]).column[:, 0].tolist() == [P0, P1]


def test_a_pair_that_was_not_used_is_as_high_as_the_core_s_other_pieces():
    # zip in three states now, 10, 20 and 30 W, faster by less and less; render is 3/4 of the way up from 10 to 40 W
    # (32.5 W), which is nearest to the middle or the top of zip's: rint(0.75 x 2) = 2; 1/4 of the way: rint(0.5) = 0.
    facility = small(
        speeds=Table.of([[1.0, 0.4, 0.25], [2.0, 1.0, 1.6]]), watts=Table.of([[40.0, 10.0, 5.0], [30.0, 10.0, 20.0]])
    )
    times = [0.25, 0.75, 0.0, 0.0, 0.0, 0.6, 0.4, 0.0, 0.0, 0.0]
    found = rounded(facility, times)
    assert found.column[:, 1].tolist() == [0, 2]  # P0 is the top; 0.4 of the way: rint(0.8) = 1 is P2
    assert found.times[:, 1].tolist() == [0.0, 0.0]


def test_the_states_of_an_idle_core_are_the_most_efficient():
    found = rounded(SMALL, [0.0] * 6)
    assert found.column.tolist() == [[P1, P0], [P1, P0]]
    assert not found.times.any()


def test_what_is_never_run_has_no_state():
    facility = small(task_types=(SMALL.task_types[0].model_copy(update={"reward": 0.0}), SMALL.task_types[1]))
    found = rounded(facility, [0.5, 0.25])
    assert found.column.tolist() == [[-1, P0], [-1, P0]]
    assert found.times.tolist() == [[0.0, 0.5], [0.0, 0.25]]


def test_what_an_interior_point_leaves_behind_is_no_piece():
    found = rounded(SMALL, [1e-9, 0.0, 0.5, 0.0, 1e-8, 0.0])
    assert found.times.tolist() == [[0.0, 0.5], [0.0, 0.0]]
    assert found.column[1].tolist() == [P1, P0]  # of an idle core


@pytest.mark.parametrize("seed", range(30))
def test_no_node_draws_more_than_before_and_every_time_is_kept(seed):
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng)
    if seed % 2:
        try:
            facility = odd_facility(rng)
        except ValueError:
            return  # refused at the door
    arrays = facility_arrays(facility)
    states = core_states(arrays)
    times = rng.uniform(0.0, 1.0, len(states.core)) * (rng.random(len(states.core)) < 0.7)
    busy = np.bincount(states.core, weights=times, minlength=len(states.node))
    times /= np.maximum(1.0, busy)[states.core]
    found = one_state_each(arrays, states.node, (states.core, states.task, states.column), times)
    before = np.zeros(len(facility.nodes))
    np.add.at(before, states.node[states.core], times * arrays.watts[states.task, states.column])
    own = np.where(found.column >= 0, arrays.watts[np.arange(len(arrays.rewards)), found.column], 0.0)
    after = np.zeros(len(facility.nodes))
    np.add.at(after, states.node, (own * found.times).sum(axis=1))
    assert np.all(after <= before * (1 + 1e-8) + 1e-9)
    kept = np.zeros(found.times.shape)
    np.add.at(kept, (states.core, states.task), times)
    assert found.times == pytest.approx(kept, abs=1e-6)
    for k, i in zip(*np.nonzero(found.column >= 0), strict=True):
        assert arrays.speeds[i, found.column[k, i]] > 0
        assert arrays.mode_type[found.column[k, i]] == arrays.node_type[states.node[k]]
