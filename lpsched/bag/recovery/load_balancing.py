"""Even loads: tasks change places between machines of one type, until the longest cannot be made shorter.

Where a machine runs few tasks, longest first leaves machines of a type uneven, and the longest of all is the
makespan. Machines of a type are alike, so their tasks may change places at no cost.

    c_g  how many tasks of each kind a machine of group g runs        m_g  how many machines that are
    e    seconds of a task of each kind on the machine type           l_g  = e c_g, the load of each

An exchange is a vector d: a machine gives the tasks of its positive parts and takes those of its negative
ones, a few of each. A step takes the longest machine a of a type; of its other machines b and the
exchanges with c_a - d >= 0 and c_b + d >= 0, the best is the one with the least

    max(l_a - e d, l_b + e d).

It is made for min(m_a, m_b) pairs at once, so the work does not depend on how many machines there are. A type
is done when its longest machine finds no exchange that helps, or is no longer than the mean load of the
fullest type: below that no exchange within types can bring the makespan. Steps are counted, not timed, so a
schedule is the same everywhere.

Guarantee: the makespan is no longer than before; how many tasks of each kind a machine type runs stays the
same, and so does the energy above idle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations_with_replacement
from operator import add, mul, sub
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.model.fields import column_numbers

if TYPE_CHECKING:
    from typing import TypeAlias

    from lpsched.bag.model import Bag
    from lpsched.model.arrays import Integers, Mask


Kind: TypeAlias = tuple[str, str | None]  # a task type, and its P-state
Counts: TypeAlias = tuple[int, ...]  # of each kind

STEPS: Final = 2_000  # of all machine types, the longest first
MOST_EXCHANGES: Final = 5_000
MOST_KINDS: Final = 100  # of a machine type; with more, its machines are left as they are
MOST_TAKEN: Final = 3  # tasks of each side of an exchange
PARTNERS: Final = 16  # the shortest machines
LEAST_GAIN: Final = 1e-9  # of the longest load
ENOUGH: Final = 1e-6  # above the mean load of the fullest type


def levelled(bag: Bag, schedule: Schedule, enough: float = 0.0) -> Schedule:
    """Return a schedule whose machines of each type are more even; it ends with its last task.

    A makespan of `enough` seconds, if that is given, is short enough.
    """
    types = _types_of(bag, schedule)
    least = max(enough, *(each.mean * (1 + ENOUGH) for each in types))
    steps = STEPS
    for each in sorted(types, key=lambda one: -one.longest):
        while steps and each.longest > least and each.step():
            steps -= 1
    return Schedule(tuple(group for each in types for group in each.groups()))


class _LikeMachines:
    """The machines of one type, in groups that run the same: how many run so many tasks of each kind."""

    def __init__(self, name: str, kinds: list[Kind], seconds: list[float]) -> None:
        order = sorted(range(len(kinds)), key=lambda k: (-seconds[k], k))
        self.name, self.kinds = name, [kinds[k] for k in order]
        self.seconds = [seconds[k] for k in order]
        self.machines: Counter[Counts] = Counter()
        self.loads: dict[Counts, float] = {}
        exchanges = _exchanges(len(kinds))
        sizes = exchanges @ np.array(self.seconds)
        self._shorter, self._sizes = exchanges[sizes > 0].T.copy(), sizes[sizes > 0]  # kinds come first

    @property
    def longest(self) -> float:
        """The longest load."""
        return max(self.loads.values())

    @property
    def mean(self) -> float:
        """The mean load."""
        busy = sum(machines * self.loads[counts] for counts, machines in self.machines.items())
        return busy / self.machines.total()

    def add(self, counts: Counts, machines: int) -> None:
        """Add machines that run so many tasks of each kind; take some away if there are less than none."""
        self.machines[counts] += machines
        self.loads[counts] = sum(map(mul, counts, self.seconds))
        if not self.machines[counts]:
            del self.machines[counts], self.loads[counts]

    def step(self) -> bool:
        """Make the best exchange of the longest machine; tell whether there is one."""
        *others, longest = sorted(self.loads, key=lambda counts: (self.loads[counts], counts))
        others, load = others[:PARTNERS], self.loads[longest]
        able = np.flatnonzero(_all_at_least_nothing(np.array(longest)[:, np.newaxis] - self._shorter))
        if not len(able) or not others:
            return False
        changes, sizes = self._shorter[:, able], self._sizes[able]
        after = np.maximum(load - sizes, np.array([[self.loads[each]] for each in others]) + sizes)
        held = _all_at_least_nothing(np.array(others).T[:, :, np.newaxis] + changes[:, np.newaxis])
        after[~held] = np.inf
        best = int(after.argmin())
        if after.flat[best] >= load * (1 - LEAST_GAIN):
            return False
        self._exchange(longest, others[best // len(able)], changes[:, best % len(able)].tolist())
        return True

    def groups(self) -> list[MachineGroup]:
        """Return the groups that run something, longest first."""
        by_load = sorted(self.machines, key=lambda counts: (-self.loads[counts], counts))
        return [
            MachineGroup(self.name, self.machines[counts], _runs(self.kinds, counts))
            for counts in by_load
            if any(counts)
        ]

    def _exchange(self, giver: Counts, taker: Counts, change: list[int]) -> None:
        """Let as many machines as there are of both give and take."""
        pairs = min(self.machines[giver], self.machines[taker])
        for counts in (giver, taker):
            self.add(counts, -pairs)
        self.add(tuple(map(sub, giver, change)), pairs)
        self.add(tuple(map(add, taker, change)), pairs)


def _all_at_least_nothing(counts: Integers) -> Mask:
    """Tell where no kind, along the first axis, is below 0."""
    least: Integers = counts.min(axis=0)
    return least >= 0


def _types_of(bag: Bag, schedule: Schedule) -> list[_LikeMachines]:
    """Return the machine types that run something, idle machines included."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column = column_numbers(bag.machine_types)
    own: dict[str, list[MachineGroup]] = defaultdict(list)
    for group in schedule.groups:
        own[group.machine_type].append(group)
    types = []
    for machine in bag.machine_types:
        groups = own[machine.name]
        kinds = list(dict.fromkeys((run.task_type, run.p_state) for group in groups for run in group.runs))
        if not kinds:
            continue
        seconds = [bag.seconds[row[task], column[machine.name, state]] or 0.0 for task, state in kinds]
        alike = _LikeMachines(machine.name, kinds, seconds)
        for group in groups:
            own_counts = Counter({(run.task_type, run.p_state): run.count for run in group.runs})
            alike.add(tuple(own_counts[kind] for kind in alike.kinds), group.machines)
        idle = machine.count - sum(group.machines for group in groups)
        if idle:
            alike.add((0,) * len(kinds), idle)
        types.append(alike)
    return types


@cache
def _exchanges(kinds: int) -> Integers:
    """Return all exchanges of as many tasks as there is room for."""
    if kinds > MOST_KINDS:
        return np.zeros((0, kinds), dtype=np.int64)
    sets = [np.zeros(kinds, dtype=np.int64)]
    for size in range(1, MOST_TAKEN + 1):
        more = [np.bincount(chosen, minlength=kinds) for chosen in combinations_with_replacement(range(kinds), size)]
        if size > 1 and (len(sets) + len(more)) ** 2 > MOST_EXCHANGES:
            break
        sets += more
    each = np.array(sets)
    return np.unique((each[:, np.newaxis] - each).reshape(-1, kinds), axis=0)


def _runs(kinds: list[Kind], counts: Counts) -> tuple[Run, ...]:
    return tuple(Run(task, count, state) for (task, state), count in zip(kinds, counts, strict=True) if count)
