from __future__ import annotations

import heapq
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lpsched.bag.model import bag_from_dict
from lpsched.bag.recovery.rounding import place
from lpsched.bag.schedule import MachineGroup, Run
from lpsched.bag.verify import violations
from tests.support import SOUND, simple_bag


def loads_one_by_one(tasks: list[tuple[int, int]], machines: int) -> Counter[int]:
    """Place tasks (seconds, count) longest first, one at a time, on the machine that is free earliest."""
    ready = [0] * machines
    for seconds, count in sorted(tasks, reverse=True):
        for _ in range(count):
            heapq.heapreplace(ready, ready[0] + seconds)
    return Counter(ready)


def loads_of(groups, seconds) -> Counter[int]:
    loads: Counter[int] = Counter()
    for group in groups:
        loads[sum(int(seconds[run.task_type]) * run.count for run in group.runs)] += group.machines
    return loads


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 40)), min_size=1, max_size=7), st.integers(1, 9))
def test_groups_have_the_loads_of_placing_tasks_one_by_one(tasks, machines):
    bag = simple_bag([[float(seconds)] for seconds, _ in tasks], [count for _, count in tasks], [machines])
    schedule = place(bag, [{0: count} for _, count in tasks])
    assert violations(bag, schedule) == ()
    loads = loads_of(schedule.groups, {f"t{i}": seconds for i, (seconds, _) in enumerate(tasks)})
    loads[0] += machines - sum(loads.values())  # idle machines are in no group
    assert +loads == loads_one_by_one(tasks, machines)


def test_by_hand():
    # 3 tasks of 5 s and 4 of 2 s on 2 machines: 5+5 and 5; then 2s at 5, 7, 9 on the second and, at 10, on the first
    # (10 against 11).
    bag = simple_bag([[5.0], [2.0]], [3, 4], [2])
    assert place(bag, [{0: 3}, {0: 4}]).groups == (
        MachineGroup("m0", 1, (Run("t0", 2), Run("t1", 1))),
        MachineGroup("m0", 1, (Run("t0", 1), Run("t1", 3))),
    )


def test_p_states_are_kept_apart():
    bag = bag_from_dict(SOUND)
    schedule = place(bag, [{0: 10, 1: 20, 2: 10}, {0: 5}])
    assert violations(bag, schedule) == ()
    assert {run.p_state for group in schedule.groups for run in group.runs} == {None, "P0", "P1"}


def test_a_thousand_million_million_tasks_are_a_handful_of_groups():
    bag = simple_bag([[7.0], [3.0], [1.0]], [10**14, 10**14, 10**14 + 1], [10**6])
    schedule = place(bag, [{0: 10**14}, {0: 10**14}, {0: 10**14 + 1}])
    assert violations(bag, schedule) == ()
    assert len(schedule.groups) <= 4
