"""Machines while a rule hands out tasks: groups that have done the same so far, and when they are ready.

A machine runs its tasks in the order in which they were handed to it. Machines with the same past are one
group, so that a million machines and a billion tasks are a few groups with a few runs. Of equally good groups
the first comes first: by machine type, then by age.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lpsched.heuristics.lowest_times import Lowest, Stream, lowest
from lpsched.schedule.bag import MachineGroup, Run, Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance import Bag


class Way(NamedTuple):
    """A way to run a task: machine type, column of the tables, ticks."""

    j: int
    column: int
    ticks: int


@dataclass(slots=True)
class Group:
    """Machines of one type with the same past; ready after so many ticks."""

    age: int  # its place among the groups of its type, from the oldest on
    machines: int
    ready: int = 0
    runs: list[tuple[int, int, int]] = field(default_factory=list)  # task type, column, tasks of each machine

    def __lt__(self, other: Group) -> bool:
        """Order by readiness, then age."""
        return (self.ready, self.age) < (other.ready, other.age)

    def run(self, i: int, way: Way, count: int) -> None:
        """Let each machine run so many tasks more."""
        before = self.runs[-1] if self.runs else None
        if before is not None and before[:2] == (i, way.column):
            self.runs[-1] = (i, way.column, before[2] + count)
        else:
            self.runs.append((i, way.column, count))
        self.ready += count * way.ticks


class ReadyMachines:
    """All machines of a bag, by type: heaps of groups, the first ready on top."""

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        self.groups = [[Group(0, machine.count)] for machine in bag.machine_types]

    def ready(self, j: int) -> int:
        """Return when the first machine of a type is ready."""
        return self.groups[j][0].ready

    def second_ready(self, j: int) -> int | None:
        """Return when the second machine of a type is ready; `None` where there is only one."""
        heap = self.groups[j]
        if heap[0].machines > 1:
            return heap[0].ready
        return min(each.ready for each in heap[1:3]) if len(heap) > 1 else None

    def owners(self, ways: Sequence[Way]) -> list[tuple[Group, Way]]:
        """Return the groups that could run a task in these ways, in the order in which ties are broken."""
        return [(group, way) for way in ways for group in sorted(self.groups[way.j], key=_age)]

    def give(self, i: int, ways: Sequence[Way], count: int, *, by_start: bool = False) -> None:
        """Hand out equal tasks one after the other, each to the machine that ends it first.

        With `by_start`, to the machine that starts it first.
        """
        owners = self.owners(ways)
        self.take(i, owners, lowest(streams_of(owners, by_start=by_start), count))

    def take(self, i: int, owners: Sequence[tuple[Group, Way]], taken: Lowest) -> None:
        """Let groups run the rounds that were taken of their streams, and split the last one if need be."""
        if taken.split is not None:
            k, machines = taken.split
            group, way = owners[k]
            part = self._part(group, way.j, machines)
            part.run(i, way, taken.rounds[k] + 1)
            self.groups[way.j].append(part)
        changed = set() if taken.split is None else {owners[taken.split[0]][1].j}
        for (group, way), number in zip(owners, taken.rounds, strict=True):
            if number:
                group.run(i, way, number)
                changed.add(way.j)
        for j in changed:
            heapq.heapify(self.groups[j])

    def give_first(self, i: int, way: Way, count: int) -> None:
        """Hand one task each to so many machines of the group of that type which is ready first."""
        heap = self.groups[way.j]
        group = heap[0]
        if count < group.machines:
            part = self._part(group, way.j, count)
            part.run(i, way, 1)
            heapq.heappush(heap, part)
        else:
            assert count == group.machines, "one task a machine"
            group.run(i, way, 1)
            heapq.heapreplace(heap, group)  # it sinks to its new place

    def schedule(self) -> Schedule:
        """Return what every machine runs; machines that run the same are one group."""
        alike: dict[tuple[str, tuple[Run, ...]], int] = {}
        for machine, own in zip(self.bag.machine_types, self.groups, strict=True):
            for group in sorted(own, key=_age):
                runs = tuple(self._named(run) for run in group.runs)
                if runs:
                    alike[machine.name, runs] = alike.get((machine.name, runs), 0) + group.machines
        return Schedule(tuple(MachineGroup(name, number, runs) for (name, runs), number in alike.items()))

    def _part(self, group: Group, j: int, machines: int) -> Group:
        """Split some machines off a group."""
        group.machines -= machines
        return Group(len(self.groups[j]), machines, group.ready, list(group.runs))

    def _named(self, run: tuple[int, int, int]) -> Run:
        i, column, count = run
        j, k = self.bag.modes[column]
        states = self.bag.machine_types[j].p_states
        return Run(self.bag.task_types[i].name, count, None if states is None else states[k])


def streams_of(owners: Sequence[tuple[Group, Way]], *, by_start: bool = False) -> list[Stream]:
    """Return the ends (or starts) of tasks that these groups would run one after the other."""
    return [
        Stream(group.ready + (0 if by_start else way.ticks), way.ticks, group.machines)
        for group, way in owners
    ]


def _age(group: Group) -> int:
    return group.age
