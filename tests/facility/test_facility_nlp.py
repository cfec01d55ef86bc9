"""The paper's three stages: by hand on one node, valid and below the bound on random ones, limits and stops."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.facility import continuous_states
from lpsched.facility import nlp as stages
from lpsched.facility.continuous_states import ContinuousPoint
from lpsched.facility.nlp import OneState, three_stages
from lpsched.facility.parts import CoreFraction
from lpsched.facility.solve import facility as bounded
from lpsched.facility.verify import examine, measure
from lpsched.model.table import Table
from tests.paper_facility import paper_facility
from tests.property.odd_facilities import odd_facility
from tests.property.tiny_facilities import tiny_facility

pytestmark = pytest.mark.rotate_tests(3)


def run(facility, *, seed=0, colocation=True, cancel=None):
    return three_stages(facility, rng=np.random.default_rng(seed), colocation=colocation, cancel=cancel)


def test_one_core_works_all_the_time_and_the_other_for_three_fifths():
    # See tests/facility/test_continuous_states.py: 1 / 1.3 + 0.6 / 1.5.
    found = run(paper_facility())
    best = 1.0 / 1.3 + 0.6 / 1.5
    assert found.ended == "solved"
    assert found.continuous_reward_rate == pytest.approx(best, rel=1e-4)
    assert found.rounded_reward_rate == pytest.approx(best, rel=1e-4)
    assert found.reward_rate == pytest.approx(best, rel=1e-4)
    fractions = sorted(core[0].fraction for core in found.allocation.nodes[0])
    assert fractions == pytest.approx([0.6, 1.0], abs=1e-3)
    assert measure(paper_facility(), found.allocation).reward_rate == pytest.approx(best, rel=1e-4)
    assert {"continuous", "rounded", "times"} <= set(found.timings)
    assert found.iterations > 0


def test_without_colocation_the_promise_is_of_cores_that_are_alone():
    found = run(paper_facility(), colocation=False)
    measured = measure(paper_facility(), found.allocation)
    assert found.reward_rate == pytest.approx(1.6, rel=1e-4)
    assert measured.plain_reward_rate == pytest.approx(found.reward_rate, rel=1e-9)
    assert found.rounds == 1  # nothing that a second linear program could gain


def test_the_same_seed_gives_the_same_allocation_and_another_seed_may_not():
    facility = tiny_facility(np.random.default_rng(14))
    first, again = run(facility), run(facility)
    assert first.allocation == again.allocation
    assert first.iterations == again.iterations
    assert {run(facility, seed=seed).allocation for seed in range(4)} != {first.allocation}


def check(facility, found, *, colocation):
    """Assert that an allocation is valid and keeps what was promised; return what it brings."""
    examined = examine(facility, found.allocation)
    assert examined.violations == ()
    measured = examined.measured
    value = measured.reward_rate if colocation else measured.plain_reward_rate
    assert found.reward_rate <= value * (1 + 1e-8) + 1e-12
    if not colocation or facility.degradation is None:
        assert found.reward_rate == pytest.approx(value, rel=1e-7, abs=1e-9)
    return value


@pytest.mark.parametrize("colocation", [True, False])
@pytest.mark.parametrize("seed", [*range(30), 37])  # 37 cannot be run
def test_an_odd_facility_has_a_valid_allocation_or_none(seed, colocation):
    rng = np.random.default_rng(seed)
    try:
        facility = odd_facility(rng)
    except InstanceError:
        return  # refused at the door
    try:
        found = run(facility, colocation=colocation, cancel=CancelToken(20.0))
    except NotFoundError:
        with pytest.raises(InfeasibleError):
            bounded(facility, gap=1e-2)
        return
    check(facility, found, colocation=colocation)


@pytest.mark.parametrize("seed", range(12))
def test_no_stage_passes_the_bound_and_the_last_is_the_best_of_one_state(seed):
    facility = tiny_facility(np.random.default_rng(seed))
    for colocation in (True, False):
        found = run(facility, colocation=colocation)
        bound = bounded(facility, colocation=colocation, gap=1e-2, time_limit=5.0).bound
        value = check(facility, found, colocation=colocation)
        assert value <= bound * (1 + 1e-9)
        assert found.continuous_reward_rate <= bound * (1 + 1e-5)
        assert found.rounded_reward_rate <= found.continuous_reward_rate * (1 + 1e-5)
        assert found.reward_rate >= found.rounded_reward_rate * (1 - 1e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [1, 3])
def test_whoever_stops_stage_one_still_gets_a_valid_allocation(seed, step):
    facility = tiny_facility(np.random.default_rng(seed))
    cancel = CancelToken(listener=lambda progress: cancel.stop() if f"step {step}," in progress.stage else None)
    found = run(facility, cancel=cancel)
    check(facility, found, colocation=True)
    assert found.ended == "stopped"
    assert found.continuous_reward_rate is None
    assert found.iterations <= step


def test_no_time_at_all_still_leads_to_the_linear_program():
    # At the start's temperature, 25 C, where the nodes may draw 200 W: 1.6 of a core's time, each half as slow again
    # at worst. The slowdowns of the random start would allow half of that.
    found = run(paper_facility(), cancel=CancelToken(0.0))
    assert found.ended == "time"
    assert found.rounds == 1
    assert check(paper_facility(), found, colocation=True) >= 1.6 / 1.5 - 1e-6


def test_the_linear_program_is_repeated_as_long_as_it_gains(monkeypatch):
    # From idle cores at 25 C, all counted at their worst: 1.6 of a core's time / 1.5. Its own slowdowns are lower, for
    # no division of 1.6 slows both cores down that much; with both alike 1.6 / 1.4 is the least that it then earns.
    idle = OneState(np.zeros((2, 1), dtype=np.int64), np.zeros((2, 1)))
    monkeypatch.setattr(stages, "one_state_each", lambda *_: idle)
    found = run(paper_facility())
    assert found.rounded_reward_rate == 0.0
    assert found.rounds >= 3  # at the worst, at its own, and once more without a gain
    assert found.reward_rate >= 1.6 / 1.4 - 1e-4


def test_where_nothing_can_be_earned_the_nodes_are_idle():
    found = run(paper_facility(arrivals=0.0))
    assert found.allocation.nodes == (((), ()),)
    assert (found.reward_rate, found.iterations) == (0.0, 0)
    assert check(paper_facility(arrivals=0.0), found, colocation=True) == 0.0


def test_temperatures_that_allow_nothing_give_way_to_those_of_the_start(monkeypatch):
    hot = ContinuousPoint(np.array([29.0]), np.array([1.0, 0.6]))  # 29 C + 120 W / 400 W/K is over the redline
    monkeypatch.setattr(continuous_states, "read_solution", lambda *_: hot)
    found = run(paper_facility())
    assert found.allocation.outlets_celsius[0] < 25.5
    check(paper_facility(), found, colocation=True)


def test_a_facility_that_cannot_be_run_is_told_with_what_to_do():
    # See tests/property/test_facility_odd.py: cap and redline of the unit ask for temperatures that do not meet.
    paper = paper_facility(cap=190.0)
    facility = paper.model_copy(
        update={"crac_units": (paper.crac_units[0].model_copy(update={"redline_celsius": 18.0}),)}
    )
    with pytest.raises(
        NotFoundError, match=r"paper: the non-linear program ended.*give it more time, or use the method lp"
    ):
        run(facility)


def test_a_program_that_would_fill_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(stages, "MOST_VARIABLES", 5)
    # Two cores with a time x and a slowdown D each; y, T and P: 7.
    with pytest.raises(
        InstanceError,
        match="nodes: got 1 nodes, whose non-linear program would have 7 variables, expected at most 5 variables; use another method",
    ):
        run(paper_facility())


def test_a_core_runs_each_task_type_in_one_p_state_named_as_in_the_facility():
    facility = paper_facility().model_copy(
        update={
            "node_types": (paper_facility().node_types[0].model_copy(update={"p_states": ("fast", "slow")}),),
            "speeds": Table.of([[1.0, 0.5]]),
            "watts": Table.of([[50.0, 20.0]]),
        }
    )
    found = run(facility)
    check(facility, found, colocation=True)
    fractions = [fraction for core in found.allocation.nodes[0] for fraction in core]
    assert fractions
    assert all(isinstance(each, CoreFraction) and each.p_state in {"fast", "slow"} for each in fractions)
