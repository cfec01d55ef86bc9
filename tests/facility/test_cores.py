"""Cores that divide their time on their own do nearly what the gang does, at exactly its power."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import facility_arrays, heat_map
from lpsched.facility.outlets.fixed import best_at
from lpsched.facility.parts import CoreFraction, CoreRun, GangAllocation, PatternShare
from lpsched.facility.recovery import core_by_core
from lpsched.facility.verify import examine, measure
from lpsched.generate.facility import generate_facility
from lpsched.lp.solvers import HighsSolver
from lpsched.model.table import Table
from tests.facility.small_facility import SMALL, small
from tests.property.tiny_facilities import gang_of, patterns, share_of, tiny_facility


def gang(*shares):
    return GangAllocation((20.0,), (shares,))


def share(part, *runs):
    return PatternShare(part, tuple(CoreRun(task, 1, state) for task, state in runs))


RENDER, ZIP = ("render", "P0"), ("zip", "P0")


def test_what_a_core_does_all_the_time_stays_on_its_core():
    allocation = core_by_core(SMALL, gang(share(1.0, ZIP, RENDER)))
    assert allocation.nodes[0] == ((CoreFraction("render", 1.0, "P0"),), (CoreFraction("zip", 1.0, "P0"),))
    assert allocation.outlets_celsius == (20.0,)


def test_what_harms_itself_most_is_kept_on_one_core():
    # render beside zip for half the time, zip beside render for the other half is one core each. Where render
    # runs for 0.75 of a core's time and zip for 1, render has a core of its own before zip gets the rest.
    allocation = core_by_core(SMALL, gang(share(0.5, RENDER, ZIP), share(0.25, ZIP, RENDER), share(0.25, ZIP)))
    assert allocation.nodes[0] == (
        (CoreFraction("render", 0.75, "P0"), CoreFraction("zip", 0.25, "P0")),
        (CoreFraction("zip", 0.75, "P0"),),
    )


def test_an_idle_node_has_idle_cores():
    assert core_by_core(SMALL, gang()).nodes == (((), ()),)


# render: 1 a second at 40 W in P0, 0.4 at 10 W in P1; half a second each is 25 J.
@pytest.mark.parametrize(
    ("busy", "fraction", "state"),
    [
        pytest.param(0.1, 0.5, "P1", id="the-thrifty-one-for-longer"),  # 5 J: 0.5 s of P1 do 0.2, 0.125 of P0 0.125
        pytest.param(0.5, 0.625, "P0", id="the-fast-one-where-time-is-short"),  # 25 J: P1 would take 2.5 s
    ],
)
def test_of_several_p_states_a_core_takes_the_one_that_does_most_at_their_power(busy, fraction, state):
    allocation = core_by_core(SMALL, gang(share(busy, RENDER), share(busy, ("render", "P1"))))
    assert allocation.nodes[0] == ((CoreFraction("render", pytest.approx(fraction, rel=1e-12), state),), ())


def test_spare_time_is_given_away_only_once():
    # With zip at 5 W in P2 both task types would like their thrifty state for longer: render 0.75 of the time, zip 0.7.
    facility = small(watts=Table.of([[40.0, 10.0, 5.0], [30.0, None, 5.0]]))
    shares = [share(0.15, RENDER), share(0.15, ("render", "P1")), share(0.1, ZIP), share(0.1, ("zip", "P2"))]
    (first, second), idle = core_by_core(facility, gang(*shares)).nodes[0]
    assert first == CoreFraction("render", pytest.approx(0.75), "P1")
    assert second == CoreFraction("zip", pytest.approx(3.5 / 30.0), "P0")
    assert idle == ()


def test_power_is_kept_even_where_a_faster_state_would_draw_nothing():
    facility = small(watts=Table.of([[0.0, 10.0, 5.0], [30.0, None, 20.0]]))
    allocation = core_by_core(facility, gang(share(0.25, RENDER), share(0.25, ("render", "P1"))))
    assert allocation.nodes[0][0] == (CoreFraction("render", 0.25, "P1"),)


def test_tasks_that_draw_nothing_keep_their_time():
    facility = small(watts=Table.of([[0.0, 0.0, 0.0], [30.0, None, 20.0]]))
    allocation = core_by_core(facility, gang(share(0.25, RENDER), share(0.5, ("render", "P1"))))
    assert allocation.nodes[0][0] == (CoreFraction("render", 0.25, "P0"),)  # 0.25 a second; P1 would do 0.2


def test_a_node_type_without_p_states_has_none_in_its_fractions():
    blade = SMALL.node_types[0].model_copy(update={"p_states": None})
    facility = small(node_types=(blade,), speeds=Table.of([[1.0], [2.0]]), watts=Table.of([[40.0], [30.0]]))
    allocation = core_by_core(facility, gang(share(0.5, ("zip", None))))
    assert allocation.nodes[0] == ((CoreFraction("zip", 0.5, None),), ())


@pytest.mark.parametrize("seed", range(40))
def test_every_node_draws_what_it_draws_under_the_gang(seed):
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng)
    free = facility.model_copy(update={"power_cap_watts": 1e6, "node_types": tuple(kind.model_copy(update={"redline_celsius": 150.0}) for kind in facility.node_types)})  # fmt: skip
    nodes = []
    for j in facility.nodes:
        known = patterns(facility, j)
        parts = rng.dirichlet(np.ones(4)) * rng.uniform(0.2, 1.0)
        nodes.append(tuple(share_of(facility, float(part), known[rng.integers(len(known))]) for part in parts))
    allocation = GangAllocation((12.0,) * len(facility.crac_units), tuple(nodes))
    together, alone = measure(free, allocation), measure(free, core_by_core(free, allocation))
    assert alone.node_watts == pytest.approx(together.node_watts, rel=1e-12)
    assert alone.node_inlets_celsius == pytest.approx(together.node_inlets_celsius, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_on_the_small_platform_cores_keep_nearly_all_of_the_gang_s_reward(seed):
    # Measured on five seeds at 20 and 22 celsius: 0.9991 to 0.99999.
    facility = generate_facility("small", np.random.default_rng(seed))
    arrays, heat = facility_arrays(facility), heat_map(facility)
    relaxed = best_at(arrays, heat, np.full(3, 21.0), solver=HighsSolver())
    together = gang_of(facility, relaxed)
    examined = examine(facility, core_by_core(facility, together))
    assert examined.violations == ()
    assert examined.measured.reward_rate / measure(facility, together).reward_rate > 0.998
    assert examined.measured.reward_rate <= relaxed.bound
