"""Algorithm 2: a chromosome is slowed down as far as limits ask for, and no further."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.facility import cooling_repair
from lpsched.facility.air import outlet_steps
from lpsched.facility.cooling_repair import halls_of, hottest_node, hottest_step, look_at, node_watts, repair, warmings
from lpsched.facility.genes import set_at_random, to_allocation
from lpsched.facility.genetic import Breeder
from lpsched.facility.verify import examine
from lpsched.model.table import Table
from tests.facility.drawn import KINDS, drawn_breeder, plain
from tests.facility.test_core_genes import with_states
from tests.paper_facility import paper_facility
from tests.selection import PLAIN

PARTS = [
    "node_watts", "warmings", "add_heat", "hottest_step", "is_cool", "is_allowed", "is_hopeless",
    "cooling_watts", "look_at", "hottest_node", "slow_node", "slowable", "slow_down", "slow_down_all", "shrink", "share", "repair",
]  # fmt: skip


@pytest.fixture(params=["compiled", PLAIN])
def mend(request, monkeypatch):
    """Return algorithm 2 compiled, or with all its parts in plain Python."""
    if request.param == "compiled":
        return repair
    for name in PARTS:
        monkeypatch.setattr(cooling_repair, name, plain(getattr(cooling_repair, name)))
    return cooling_repair.repair


def mended(mend, breeder, fractions, states):
    fractions, states = np.array(fractions, dtype=float), np.array(states, dtype=np.int16)
    step = mend(breeder.genes, breeder.cooling, fractions, states, breeder.rng)
    return fractions, states, breeder.steps.outlets[step]


def breeder_of(facility):
    return Breeder(facility, np.random.default_rng(0), colocation=True)


def test_what_keeps_all_limits_stays_as_it_is(mend):
    # Idle but for 0.2 of a core: 130 W, at 25.5 - 130 / 400 = 25.175 C or less; steps are 25.5, 24.5: 24.5 C.
    # 130 (1 + 10 / 24.5) = 183 W of 280 W.
    fractions, states, outlets = mended(mend, breeder_of(paper_facility()), [[0.2], [0.0]], [[0], [0]])
    assert fractions.tolist() == [[0.2], [0.0]]
    assert states.tolist() == [[0], [0]]
    assert outlets.tolist() == [24.5]


def test_without_p_states_all_fractions_shrink_to_the_cap(mend):
    # At 24.5 C the cap of 280 W leaves 280 / (1 + 10 / 24.5) = 280 x 24.5 / 34.5 = 198.84 W, 78.84 above the overhead;
    # two full cores want 100 W. (The step before, 25.5 C, is too hot for idle nodes.)
    fractions, _, outlets = mended(mend, breeder_of(paper_facility()), [[1.0], [1.0]], [[0], [0]])
    share = (280.0 * 24.5 / 34.5 - 120.0) / 100.0
    assert fractions.ravel().tolist() == pytest.approx([share, share], rel=1e-9)
    assert outlets.tolist() == [24.5]


def test_a_step_at_which_a_unit_would_have_to_heat_is_passed_over(mend):
    # Were 2.5 kelvin needed at 24.5 C (220 W warm the unit's air by 2.2), the next step is 23.5 C: there the cap leaves
    # 280 x 23.5 / 33.5 = 196.42 W, 76.42 above the overhead.
    breeder = breeder_of(paper_facility())
    least = breeder.cooling.least_warming.copy()
    least[1] = 2.5
    breeder.cooling = breeder.cooling._replace(least_warming=least)
    fractions, _, outlets = mended(mend, breeder, [[1.0], [1.0]], [[0], [0]])
    assert outlets.tolist() == [23.5]
    assert fractions[0, 0] == pytest.approx((280.0 * 23.5 / 33.5 - 120.0) / 100.0, rel=1e-9)


def two_nodes(speeds, watts, *, cap):
    """Return two nodes with P-states; at 24.5 C, the hottest step, all of it takes 34.5 / 24.5 of their power."""
    two = paper_facility(nodes=2, cap=cap)
    facility = with_states(speeds, watts)
    return facility.model_copy(
        update={"nodes": two.nodes, "crac_units": two.crac_units, "mixing": two.mixing, "power_cap_watts": cap}
    )


def test_the_hottest_node_is_slowed_down_until_another_one_is_the_hottest(mend):
    # Nodes draw 220 W and 215 W; the cap of 590 W allows 419 W. One move of 30 W at node 0 makes node 1 the hottest,
    # and 405 W. Which of node 0's cores moves is drawn.
    breeder = breeder_of(two_nodes([1.0, 0.6], [50.0, 20.0], cap=590.0))
    slowed = set()
    for _ in range(30):
        fractions, states, outlets = mended(mend, breeder, [[1.0], [1.0], [1.0], [0.9]], [[0]] * 4)
        assert fractions.ravel().tolist() == [1.0, 1.0, 1.0, 0.9]
        assert outlets.tolist() == [24.5]
        slowed.add(tuple(states.ravel().tolist()))
    assert slowed == {(1, 0, 0, 0), (0, 1, 0, 0)}


def test_a_node_with_nothing_left_to_slow_down_is_passed_over(mend):
    # Node 0 draws 120 + 100 W at its thriftiest, node 1 120 + 50 + 20 W; the cap of 570 W allows 404.8 W of 410 W.
    facility = two_nodes([1.0, 0.6], [50.0, 20.0], cap=570.0)
    slow = facility.node_types[0].model_copy(update={"name": "fixed", "p_states": None})
    facility = facility.model_copy(
        update={
            "node_types": (slow, facility.node_types[0]),
            "nodes": (0, 1),
            "speeds": Table.of([[1.0, 1.0, 0.6]]),
            "watts": Table.of([[50.0, 50.0, 20.0]]),
        }
    )
    _, states, _ = mended(mend, breeder_of(facility), [[1.0]] * 4, [[0], [0], [1], [0]])
    assert states.ravel().tolist() == [0, 0, 1, 1]


def test_genes_without_time_are_not_slowed_down(mend):
    # Nodes draw 210 W and 205.5 W; the cap of 570 W allows 404.8 W. One move of 20 W at node 0's only busy core will do.
    breeder = breeder_of(two_nodes([1.0, 0.6, 0.3], [90.0, 70.0, 10.0], cap=570.0))
    for _ in range(10):
        _, states, _ = mended(mend, breeder, [[1.0], [0.0], [0.95], [0.0]], [[0]] * 4)
        assert states.ravel().tolist() == [1, 0, 0, 0]


def test_a_redline_is_kept_by_slowing_down_as_well(mend):
    # Only 25 C: the node's inlet is 25 + P / 400, so a redline of 25.45 C asks for at most 180 W; 120 + 50 + 20 = 190 W
    # are too many, 120 + 20 + 20 = 160 W are not. The cap of 400 W is far.
    facility = with_states([1.0, 0.6], [50.0, 20.0])
    units = (facility.crac_units[0].model_copy(update={"outlet_celsius": (25.0, 25.0)}),)
    kinds = (facility.node_types[0].model_copy(update={"redline_celsius": 25.45}),)
    facility = facility.model_copy(update={"crac_units": units, "node_types": kinds, "power_cap_watts": 400.0})
    fractions, states, outlets = mended(mend, breeder_of(facility), [[1.0], [1.0]], [[0], [0]])
    assert fractions.tolist() == [[1.0], [1.0]]
    assert states.tolist() == [[1], [1]]
    assert outlets.tolist() == [25.0]


def test_all_fractions_shrink_to_a_redline_when_all_states_are_the_thriftiest(mend):
    # As above with a redline of 25.35 C: 140 W, 20 W above the overhead; two cores at 20 W want 40 W.
    facility = with_states([1.0, 0.6], [50.0, 20.0])
    units = (facility.crac_units[0].model_copy(update={"outlet_celsius": (25.0, 25.0)}),)
    kinds = (facility.node_types[0].model_copy(update={"redline_celsius": 25.35}),)
    facility = facility.model_copy(update={"crac_units": units, "node_types": kinds, "power_cap_watts": 400.0})
    fractions, states, _ = mended(mend, breeder_of(facility), [[1.0], [1.0]], [[0], [0]])
    assert fractions.ravel().tolist() == pytest.approx([0.5, 0.5], rel=1e-6)
    assert states.tolist() == [[1], [1]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_every_repaired_chromosome_passes_the_verifier_and_plain_python_makes_the_same(monkeypatch, seed, kind):
    breeder = drawn_breeder(seed, kind)
    fractions, states = np.zeros(breeder.shape), np.zeros(breeder.shape, dtype=np.int16)
    set_at_random(breeder.genes, fractions, states, 1.0, breeder.rng)
    before = breeder.rng.bit_generator.state
    found = mended(repair, breeder, fractions, states)
    assert examine(breeder.facility, to_allocation(breeder.facility, *found)).violations == ()
    breeder.rng.bit_generator.state = before
    for name in PARTS:
        monkeypatch.setattr(cooling_repair, name, plain(getattr(cooling_repair, name)))
    again = mended(cooling_repair.repair, breeder, fractions, states)
    assert [array.tolist() for array in found] == [array.tolist() for array in again]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_steps_watts_and_warmings_are_those_of_the_heat_map(seed, kind):
    breeder = drawn_breeder(seed, kind)
    made = breeder.at_random()
    powers = node_watts(breeder.genes, made.fractions, made.states)
    warming, crac_warming = warmings(breeder.cooling, powers)
    assert warming == pytest.approx(breeder.heat.from_power @ powers, rel=1e-12)
    assert crac_warming == pytest.approx(breeder.heat.crac_from_power @ powers, rel=1e-12)
    step = outlet_steps(breeder.arrays, breeder.heat).hottest(warming, crac_warming)
    witness = np.zeros(len(breeder.steps.outlets), dtype=np.int64)
    for _ in range(2):  # with the witnesses of the first time, too
        found = hottest_step(breeder.cooling, warming, crac_warming, witness, len(witness))
        assert found == (-1 if step is None else step)


def hottest(breeder, powers, left):
    warming, _ = warmings(breeder.cooling, powers)
    halls = len(breeder.cooling.hall_first) - 1
    nodes, celsius = np.zeros(halls, dtype=np.int64), np.zeros((halls, 2))
    for hall in range(halls):
        look_at(breeder.cooling, 0, powers, warming, np.array(left), hall, nodes, celsius)
    return hottest_node(nodes, celsius)


@pytest.mark.parametrize("halls", [[0, 3], [0, 1, 2, 3], [0, 2, 3]])
def test_the_hottest_node_is_that_of_the_hottest_leaving_air_with_something_left(halls):
    # The nodes of this facility draw in no air of each other, so that they may be any number of halls.
    breeder = breeder_of(paper_facility(nodes=3, cap=1000.0))
    hall_of = np.searchsorted(halls, np.arange(3), side="right") - 1
    breeder.cooling = breeder.cooling._replace(hall_first=np.array(halls), hall_of=hall_of)
    powers = np.array([130.0, 150.0, 140.0])
    # 100 W warm the air by a kelvin, and what a node draws in by a quarter of one: 10 W more are 0.125 kelvin more.
    for left, node, kelvin in (
        ([1, 1, 1], 1, 0.125),
        ([1, 0, 2], 2, 0.125),
        ([1, 1, 0], 1, 0.25),
        ([1, 0, 0], 0, np.inf),
    ):
        assert hottest(breeder, powers, left) == pytest.approx((node, kelvin))
    assert hottest(breeder, powers, [0, 0, 0])[0] == -1


def test_nodes_that_share_no_air_are_halls_of_their_own_and_repaired_as_one_hall_would_be():
    breeder, single = (breeder_of(paper_facility(nodes=3, cap=700.0)) for _ in range(2))
    assert breeder.cooling.hall_first.tolist() == [0, 1, 2, 3]
    assert breeder.cooling.hall_of.tolist() == [0, 1, 2]
    single.cooling = single.cooling._replace(hall_first=np.array([0, 3]), hall_of=np.zeros(3, dtype=np.int64))
    for _ in range(20):
        one, other = breeder.at_random(), single.at_random()
        assert one.score == other.score
        assert np.array_equal(one.fractions, other.fractions)


def test_halls_that_are_not_one_after_the_other_are_one():
    heat = replace(
        breeder_of(paper_facility(nodes=3, cap=700.0)).heat, from_power=np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 1]])
    )
    first, hall_of = halls_of(heat)
    assert (first.tolist(), hall_of.tolist()) == ([0, 3], [0, 0, 0])
