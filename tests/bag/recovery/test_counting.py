"""Better whole counts: what they reach, and that they never lose."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.model import Terms
from lpsched.bag.parts import Prices, Site
from lpsched.bag.problem import build_problem
from lpsched.bag.recovery.stages import examined_schedule, recover
from lpsched.bag.recovery.tighten import fits_counting, recount
from lpsched.bag.schedule import MachineGroup, Run, Schedule, task_counts
from lpsched.bag.verify import violations
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import default_solver
from tests.support import simple_bag

SOLVER = default_solver()


def recovered(bag, objective, **options):
    """Return a question and the schedule that is rounded from its relaxation."""
    asked = build_problem(bag, Terms(objective=objective, **options), SOLVER)
    relaxation = asked.objective.relax(asked.bag, SOLVER)
    return asked, recover(asked.bag, asked.objective, relaxation, SOLVER)


def least_makespan(seconds, tasks):
    """Return the least makespan of two task types on two machines, by all counts."""
    return min(
        max(a * seconds[0][0] + b * seconds[1][0], (tasks[0] - a) * seconds[0][1] + (tasks[1] - b) * seconds[1][1])
        for a in range(tasks[0] + 1)
        for b in range(tasks[1] + 1)
    )


@pytest.mark.parametrize("seed", range(4))
def test_two_single_machines_end_as_soon_as_they_can(seed):
    # One machine of each type: counts are all there is to choose, and levelling cannot help.
    rng = np.random.default_rng(seed)
    seconds = np.round(rng.uniform(1.0, 9.0, (2, 2)), 2).tolist()
    tasks = rng.integers(20, 60, 2).tolist()
    asked, found = recovered(simple_bag(seconds, tasks, [1, 1]), "makespan")
    better = recount(asked, found, SOLVER, CancelToken().share(2.0))
    assert better.measured.makespan_seconds == pytest.approx(least_makespan(seconds, tasks), rel=1e-5)


def test_counts_that_cannot_be_shared_evenly_are_changed():
    # Two machines of one type and tasks of 10 s: an odd count leaves one machine 10 s longer. Even counts of
    # the long ones need the short ones of the other type to make room.
    bag = simple_bag([[10.0, 11.0], [1.0, 1.0]], [41, 60], [2, 1])
    asked, found = recovered(bag, "makespan")
    better = recount(asked, found, SOLVER, CancelToken().share(3.0))
    assert not violations(bag, better.schedule)
    assert better.measured.makespan_seconds <= found.measured.makespan_seconds
    # 13 + 13 long ones on the first type, and 15 on the other, is 165 s; all short ones fit beside the first.
    assert better.measured.makespan_seconds <= 165.0


def test_a_type_whose_machines_cannot_share_evenly_gets_less_to_do():
    # By the deadline of 107 s two machines have time for 21 tasks of 10 s, but for 10 whole ones each.
    free = simple_bag([[10.0, 12.0]], [25], [2, 1], [[50.0, 90.0]])
    bag = free.model_copy(update={"site": Site(deadline_seconds=107.0)})
    schedule = Schedule((MachineGroup("m0", 2, (Run("t0", 9),)), MachineGroup("m1", 1, (Run("t0", 7),))))
    found = examined_schedule(bag, schedule)
    better = recount(build_problem(bag, Terms(objective="energy"), SOLVER), found, SOLVER, CancelToken().share(2.0))
    assert task_counts(bag, better.schedule) == [{0: 20, 1: 5}]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("objective", ["energy", "profit"])
def test_under_a_deadline_nothing_is_lost_or_late(seed, objective):
    rng = np.random.default_rng(seed)
    seconds, watts = rng.uniform(1.0, 9.0, (4, 3)).round(2), rng.uniform(50.0, 200.0, (4, 3)).round(1)
    deadline = 80.0
    free = simple_bag(seconds.tolist(), [40, 30, 20, 30], [3, 2, 2], watts.tolist(), [9.0, 5.0, 7.0])
    bag = free.model_copy(update={"site": Site(deadline_seconds=deadline), "prices": Prices(electricity_per_kwh=0.2)})
    options = {"price": 5.0} if objective == "profit" else {}
    asked, found = recovered(bag, objective, **options)
    better = recount(asked, found, SOLVER, CancelToken().share(1.0))
    assert not violations(asked.bag, better.schedule)
    assert better.measured.makespan_seconds <= deadline
    sign = 1.0 if objective == "profit" else -1.0
    assert sign * asked.objective.value(better.measured) >= sign * asked.objective.value(found.measured)


def test_few_tasks_a_machine_and_many_machines_are_left_alone():
    assert fits_counting(simple_bag([[1.0]], [80], [10]))
    assert not fits_counting(simple_bag([[1.0]], [79], [10]))
    assert not fits_counting(simple_bag([[1.0]], [80_000], [5_001]))
