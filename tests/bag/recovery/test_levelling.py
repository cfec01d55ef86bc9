"""Even loads: on paper, and against what they must not change."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.recovery import exchange as levelling
from lpsched.bag.recovery.exchange import load_balanced
from lpsched.bag.recovery.plans import largest_load
from lpsched.bag.recovery.rounding import place
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.verify import measure, violations
from lpsched.model.table import Table
from tests.support import bags, simple_bag


def on_machine(*runs, machines=1, name="m0"):
    return MachineGroup(name, machines, tuple(Run(task, count) for task, count in runs))


def loads(bag, schedule):
    """Return the load of every machine that works, by rising load."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    return sorted(
        load
        for group in schedule.groups
        for load in [sum(run.count * bag.seconds[row[run.task_type], 0] for run in group.runs)] * group.machines
    )


def test_what_longest_first_leaves_uneven_is_evened_out():
    # Tasks of 3, 3, 2, 2, 2 s on two machines: longest first gives 3 + 2 + 2 and 3 + 2; even is 3 + 3 and 2 + 2 + 2.
    bag = simple_bag([[3.0], [2.0]], [2, 3], [2])
    before = place(bag, [{0: 2}, {0: 3}])
    assert loads(bag, before) == [5.0, 7.0]
    after = load_balanced(bag, before)
    assert not violations(bag, after)
    assert loads(bag, after) == [6.0, 6.0]


def test_what_is_short_enough_is_left_as_it_is():
    # 7 and 5 s as above: enough by 7 s, and not by 6.5.
    bag = simple_bag([[3.0], [2.0]], [2, 3], [2])
    before = place(bag, [{0: 2}, {0: 3}])
    assert loads(bag, load_balanced(bag, before, 7.0)) == [5.0, 7.0]
    assert loads(bag, load_balanced(bag, before, 6.5)) == [6.0, 6.0]


def test_idle_machines_take_their_part():
    bag = simple_bag([[1.0]], [9], [3])
    after = load_balanced(bag, Schedule((on_machine(("t0", 9)),)))
    assert after == Schedule((on_machine(("t0", 3), machines=3),))


def test_many_machines_are_one_group_and_take_no_longer():
    # Half of 2 10^12 machines run 3 tasks, the others 1: all run 2 after one exchange.
    half = 10**12
    bag = simple_bag([[5.0]], [4 * half], [2 * half])
    uneven = Schedule((on_machine(("t0", 3), machines=half), on_machine(("t0", 1), machines=half)))
    assert load_balanced(bag, uneven) == Schedule((on_machine(("t0", 2), machines=2 * half),))


def test_a_task_keeps_its_p_state():
    machine = MachineType(name="m0", count=2, p_states=("P0", "P1"))
    bag = Bag("p", (machine,), (TaskType(name="t0", count=4),), Table.of([[1.0, 3.0]]))
    runs = (Run("t0", 2, "P1"), Run("t0", 2, "P0"))
    after = load_balanced(bag, Schedule((MachineGroup("m0", 1, runs),)))
    assert measure(bag, after).makespan_seconds == 4.0
    assert after.groups == (MachineGroup("m0", 2, (Run("t0", 1, "P1"), Run("t0", 1, "P0"))),)


def test_one_task_a_machine_stays_as_it_is():
    bag = simple_bag([[3.0], [1.0]], [1, 1], [2])
    given_one = place(bag, [{0: 1}, {0: 1}])
    assert set(load_balanced(bag, given_one).groups) == set(given_one.groups)


def test_work_ends_after_so_many_steps(monkeypatch):
    monkeypatch.setattr(levelling, "STEPS", 1)
    bag = simple_bag([[1.0]], [16], [4])  # one step gives three tasks away, of the twelve that are too many
    assert loads(bag, load_balanced(bag, Schedule((on_machine(("t0", 16)),)))) == [3.0, 13.0]


def test_a_type_with_very_many_kinds_of_tasks_is_left_alone():
    kinds = levelling.MOST_KINDS + 1
    bag = simple_bag([[1.0]] * kinds, [1] * kinds, [2])
    all_on_one = Schedule((on_machine(*((f"t{i}", 1) for i in range(kinds))),))
    assert loads(bag, load_balanced(bag, all_on_one)) == [kinds]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(bags(most_types=4, most_tasks=60, most_machines=6))
def test_nothing_gets_longer_and_every_machine_type_runs_what_it_ran(bag):
    rng = np.random.default_rng(0)
    counts = [
        Counter(rng.choice([c for c in range(len(bag.modes)) if row[c] is not None], task.count).tolist())
        for task, row in zip(bag.task_types, bag.seconds, strict=True)
    ]
    before = place(bag, counts)
    after = load_balanced(bag, before)
    assert not violations(bag.without_limits(), after)
    assert largest_load(bag, after) <= largest_load(bag, before)
    assert ran(after) == ran(before)


def ran(schedule):
    """Return how many tasks of each type every machine type runs in each P-state."""
    told: Counter[tuple[str, str, str | None]] = Counter()
    for group in schedule.groups:
        for run in group.runs:
            told[group.machine_type, run.task_type, run.p_state] += group.machines * run.count
    return told


def test_loads_that_differ_by_real_numbers_come_close():
    # 35 tasks of three kinds on 4 machines, all on one of them at first: there are hundreds of ways to share.
    bag = simple_bag([[7.13], [5.41], [3.02]], [7, 11, 17], [4])
    mean = (7 * 7.13 + 11 * 5.41 + 17 * 3.02) / 4
    after = load_balanced(bag, Schedule((on_machine(("t0", 7), ("t1", 11), ("t2", 17)),)))
    assert max(loads(bag, after)) == pytest.approx(mean, rel=0.01)
