from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.arrays import items_of
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.recovery.plans import Cover, diving_heuristic, plan_of, restricted_master_heuristic
from lpsched.bag.schedule import task_counts
from lpsched.bag.verify import measure, violations
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import HighsSolver
from lpsched.model.table import Table
from tests.support import bags, simple_bag


def items_for(bag, **aim):
    return items_of(bag, per_joule=1.0 if bag.watts is not None else 0.0, wear=False, **aim)


def cover_of(bag, limit, cancel=None, **aim) -> Cover:
    own = items_for(bag, **(aim or {"per_second": 1.0}))
    cover = Cover(own, limit, HighsSolver(), cancel or CancelToken(10.0), cells=2000)
    cover.improve(60)
    return cover


def rng():
    return np.random.default_rng(0)


SMALL = bags(most_tasks=12, most_machines=3, amounts=st.floats(0.5, 20.0))


@settings(deadline=None, max_examples=40)
@given(SMALL, st.floats(0.1, 100.0), st.sampled_from([diving_heuristic, restricted_master_heuristic]))
def test_every_plan_is_a_schedule_whatever_the_limit(bag, limit, way):
    plan = way(cover_of(bag, limit), rng())
    if plan is None:  # nothing fits into the limit
        return
    free = bag.without_limits()
    schedule = plan.schedule(free)
    assert violations(free, schedule) == ()
    assert measure(free, schedule).makespan_seconds == pytest.approx(float(plan.loads.max()))
    for i, row in enumerate(task_counts(free, plan.schedule(free))):
        assert sum(row.values()) == bag.task_types[i].count


@settings(deadline=None, max_examples=20)
@given(SMALL)
def test_a_plan_made_of_no_patterns_runs_every_task(bag):
    plan = plan_of(items_for(bag, per_second=1.0), [], 10.0)
    assert violations(bag.without_limits(), plan.schedule(bag)) == ()


@pytest.mark.parametrize("way", [diving_heuristic, restricted_master_heuristic])
def test_patterns_that_fill_the_limit_are_found(way):
    # Within 6 s: 3 + 3 and 2 + 2 + 2, each on two machines.
    plan = way(cover_of(simple_bag([[3.0], [2.0]], [4, 6], [4]), 6.0), rng())
    assert sorted(plan.loads.tolist()) == [6.0] * 4
    assert {tuple(row) for row in plan.counts.tolist()} == {(2, 0), (0, 3)}


@pytest.mark.parametrize("way", [diving_heuristic, restricted_master_heuristic])
def test_the_cheaper_machine_runs_what_fits_there(way):
    # The thrifty machine takes 2 s a task for 2 J, the other 1 s for 5 J: within 4 s two tasks run on each.
    bag = simple_bag([[2.0, 1.0]], [4], [1, 1], watts=[[1.0, 5.0]])
    plan = way(cover_of(bag, 4.0), rng())
    assert [row.sum() for row in plan.counts] == [2, 2]
    assert plan.cost == pytest.approx(2 * 2.0 + 2 * 5.0)


def test_a_pattern_may_mix_p_states():
    # One machine, two tasks: 1 s at 9 W or 3 s at 1 W; within 4 s one of each is cheapest.
    machine = MachineType(name="m", count=1, p_states=("fast", "slow"))
    bag = Bag("two", (machine,), (TaskType(name="t", count=2),), Table.of([[1.0, 3.0]]), Table.of([[9.0, 1.0]]))
    plan = restricted_master_heuristic(cover_of(bag, 4.0), rng())
    assert task_counts(bag, plan.schedule(bag)) == [{0: 1, 1: 1}]
    assert [run.p_state for run in plan.schedule(bag).groups[0].runs] == ["slow", "fast"]  # longest first


def test_what_is_covered_twice_is_run_once_and_what_is_left_out_is_placed():
    own = items_for(simple_bag([[3.0], [2.0]], [1, 2], [2]), per_second=1.0)
    twice = [own.pattern(0, np.array([1, 0])), own.pattern(0, np.array([1, 0]))]
    plan = plan_of(own, twice, 4.0)
    assert plan.counts.sum(axis=0).tolist() == [1, 2]
    assert sorted(plan.loads.tolist()) == [3.0, 4.0]


@pytest.mark.parametrize("way", [diving_heuristic, restricted_master_heuristic])
def test_a_watch_that_is_over_gives_no_plan(way):
    assert way(cover_of(simple_bag([[3.0], [2.0]], [4, 6], [4]), 6.0, CancelToken(0.0)), rng()) is None


def test_the_last_machines_are_settled_by_an_integer_program(monkeypatch):
    # 6 + 3 + 3 and 4 + 4 + 4 fill two machines of 12 s; longest first would begin with 6 + 4, and be late.
    monkeypatch.setattr("lpsched.bag.recovery.plans._next_kept", lambda _: {})
    plan = diving_heuristic(cover_of(simple_bag([[6.0], [4.0], [3.0]], [1, 3, 2], [2]), 12.0), rng())
    assert plan.loads.tolist() == [12.0, 12.0]
