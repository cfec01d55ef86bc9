from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Site, TaskType
from lpsched.bag.recovery import makespan
from lpsched.bag.recovery import makespan as neighbourhoods
from lpsched.bag.recovery.makespan import schedule_of, shorten
from lpsched.bag.recovery.plans import largest_load
from lpsched.bag.recovery.rounding import place, round_shares
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.verify import examine
from lpsched.cancellation import CancelToken
from lpsched.errors import SolverError
from lpsched.model.table import Table
from tests.bag.fleets import first_fit, laid_out, least_makespan, random_bag, relaxed
from tests.support import bags, simple_bag


def shortened(bag, schedule, seconds=5.0, seed=0):
    return shorten(bag, relaxed(bag), schedule, CancelToken(seconds), np.random.default_rng(seed))


def placed(bag):
    return place(bag, round_shares(relaxed(bag).shares, [task.count for task in bag.task_types]))


def measured(bag, schedule):
    examined = examine(bag, schedule)
    assert not examined.violations
    return examined.measured.makespan_seconds


@pytest.mark.parametrize("seed", range(30))
def test_tiny_bags_come_to_the_best_from_a_bad_start(seed):
    bag = random_bag(seed)
    fleet = laid_out(bag)
    found = shortened(bag, schedule_of(fleet, first_fit(fleet)))
    assert measured(bag, found) == pytest.approx(least_makespan(fleet) * fleet.bound_seconds, rel=1e-6)


def test_nothing_is_waited_for_once_nothing_better_is_left():
    start = time.perf_counter()
    for seed in range(5):
        bag = random_bag(seed)
        shortened(bag, placed(bag), seconds=60.0)
    assert time.perf_counter() - start < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_hundreds_of_tasks_come_near_the_bound(seed):
    rng = np.random.default_rng(seed)
    bag = simple_bag(rng.uniform(1, 50, (60, 4)).tolist(), rng.integers(1, 9, 60).tolist(), [1, 3, 2, 1])
    before = placed(bag)
    found = shortened(bag, before, seconds=1.0)
    assert measured(bag, found) < measured(bag, before)
    assert relaxed(bag).bound <= measured(bag, found) < 1.01 * relaxed(bag).bound


@settings(max_examples=30, deadline=None)
@given(bags(most_tasks=30, most_machines=8))
def test_whatever_the_bag_the_schedule_stays_sound_and_grows_no_longer(bag):
    bag = bag.without_limits()
    before = placed(bag)
    assert measured(bag, shortened(bag, before, seconds=0.2)) <= measured(bag, before)


def test_a_stopped_watch_returns_the_schedule_itself():
    bag = random_bag(0)
    before, cancel = placed(bag), CancelToken()
    cancel.stop()
    assert shorten(bag, relaxed(bag), before, cancel, np.random.default_rng(0)) is before


def test_a_search_without_programs_goes_on(monkeypatch):
    monkeypatch.setattr(neighbourhoods, "MOST_PAIRS", 0)
    rng = np.random.default_rng(0)
    bag = simple_bag(rng.uniform(1, 50, (60, 4)).tolist(), [2] * 60, [1] * 4)
    before = placed(bag)
    assert measured(bag, shortened(bag, before, seconds=0.5)) < measured(bag, before)


def test_the_limit_is_kept():
    rng = np.random.default_rng(0)
    bag = simple_bag(rng.uniform(1, 50, (300, 8)).tolist(), [1] * 300, [1] * 8)
    before, relaxation = placed(bag), relaxed(bag)
    start = time.perf_counter()
    shorten(bag, relaxation, before, CancelToken(0.5), rng)
    assert time.perf_counter() - start < 1.0


@pytest.mark.parametrize(
    ("tasks", "machines"), [pytest.param(20_001, 2, id="tasks"), pytest.param(4, 2_001, id="machines")]
)
def test_a_bag_with_too_many_is_left_alone(tasks, machines):
    bag = simple_bag([[2.0, 3.0]], [tasks], [machines, 1])
    before = Schedule((MachineGroup("m1", 1, (Run("t0", tasks),)),))
    assert shortened(bag, before) is before


def test_a_power_cap_leaves_the_schedule_alone():
    bag = random_bag(0)
    before = schedule_of(laid_out(bag), first_fit(laid_out(bag)))
    capped = bag.model_copy(update={"watts": bag.seconds, "site": Site(average_power_cap_watts=1e9)})
    assert shortened(capped, before) is before
    assert shortened(bag, before) is not before


def test_a_schedule_that_cannot_be_shorter_is_returned_itself():
    bag = simple_bag([[2.0, 3.0]], [5], [1, 1])  # three tasks on one machine, two on the other: 6 s
    before = placed(bag)
    assert measured(bag, before) == 6.0
    assert shortened(bag, before) is before


def test_the_fastest_p_state_counts():
    # One task of 4 s or 2 s on the machine with P-states, 3 s on the other; two tasks: 3 s, not 4 s.
    machines = (MachineType(name="gpu", count=1, p_states=("slow", "fast")), MachineType(name="cpu", count=1))
    bag = Bag("states", machines, (TaskType(name="a", count=2),), Table.of([[4.0, 2.0, 3.0]]))
    before = Schedule((MachineGroup("gpu", 1, (Run("a", 2, "slow"),)),))
    found = shortened(bag, before)
    assert (largest_load(bag, before), measured(bag, found)) == (8.0, 3.0)


def test_prices_that_prove_nothing_still_serve():
    bag = random_bag(3)
    fleet = laid_out(bag)
    relaxation = replace(relaxed(bag), machine_prices=(0.0,) * len(bag.machine_types))
    before = schedule_of(fleet, first_fit(fleet))
    found = shorten(bag, relaxation, before, CancelToken(5.0), np.random.default_rng(0))
    assert measured(bag, found) == pytest.approx(least_makespan(fleet) * fleet.bound_seconds, rel=1e-6)


def test_a_failure_in_the_thread_is_not_lost(monkeypatch):
    def fails(*_):
        raise SolverError("no")

    monkeypatch.setattr(makespan, "resolved", fails)
    bag = simple_bag([[2.0, 3.1], [4.0, 5.3], [1.0, 7.7]], [5, 5, 5], [2, 2])
    with pytest.raises(SolverError):
        shortened(bag, placed(bag), seconds=0.3)
