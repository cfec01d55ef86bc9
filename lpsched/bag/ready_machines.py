"""When machines are ready, for any number of equal tasks at once: what the heuristics are made of."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.bag.arrays import arrays_of
from lpsched.bag.schedule import MachineGroup, Run, Schedule, run_of

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats, Integers


# How long each task type takes on each machine type: as doubles to compare, as whole ticks to add up.
# Rules about completion times use only the fastest P-state of each pair (of equally fast ones the one that
# draws fewest watts, then the first). Sums of doubles depend on their order, and a rule that compares them
# could choose otherwise than the same rule on paper. So ready times are whole numbers of ticks, 2^-s seconds,
# with s such that every duration of the bag is a whole number of them: sums are exact, and so are ties.
MANTISSA_BITS = 53


@dataclass(frozen=True, slots=True)
class PairTimes:
    """Durations of the fastest P-state of every pair."""

    seconds: Floats  # T x M; infinite where the pair cannot run
    columns: Integers  # T x M: the column of that P-state
    shift: int  # 2^shift ticks are a second

    @classmethod
    def of(cls, bag: Bag) -> PairTimes:
        """Choose the fastest P-state of every pair."""
        arrays = arrays_of(bag)
        usable = np.where(arrays.can_run, arrays.seconds, np.inf)
        drawn = np.zeros_like(usable) if arrays.watts is None else arrays.watts
        seconds = np.minimum.reduceat(usable, arrays.firsts, axis=1)
        columns = np.zeros(seconds.shape, dtype=np.int64)
        for j, first in enumerate(arrays.firsts.tolist()):
            own = slice(first, first + bag.machine_types[j].modes)
            quickest = usable[:, own] == seconds[:, j : j + 1]
            columns[:, j] = first + np.where(quickest, drawn[:, own], np.inf).argmin(axis=1)
        return cls(seconds, columns, shift_of(arrays.seconds[arrays.can_run]))

    def in_seconds(self, ticks: int) -> float:
        """Return ticks as seconds, rounded once."""
        return ticks / (1 << self.shift)

    def ways(self, i: int) -> list[Way]:
        """Return every way to run a task of type i: one for each machine type that can, in order."""
        can = np.flatnonzero(np.isfinite(self.seconds[i]))
        ticks = np.ldexp(self.seconds[i, can], self.shift).tolist()
        return [
            Way(j, column, int(length))
            for j, column, length in zip(can.tolist(), self.columns[i, can].tolist(), ticks, strict=True)
        ]

    def way(self, i: int, j: int) -> Way:
        """Return the fastest way to run a task of type i on machine type j, which can run it."""
        return Way(j, int(self.columns[i, j]), int(math.ldexp(float(self.seconds[i, j]), self.shift)))


def shift_of(seconds: Floats) -> int:
    """Return the least s >= 0 for which all these are whole numbers of 2^-s."""
    mantissas, exponents = np.frexp(seconds)
    whole = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(float))[1] - 1  # at the end of each mantissa
    return max(0, int((MANTISSA_BITS - zeros - exponents).max()))


# The n smallest of many evenly spaced times, however large n is.
#
# Stream g has the times  f_g, f_g + e_g, f_g + 2 e_g, ...,  each m_g times over: the ends (or starts) of equal tasks of
# length e_g, one after the other, on m_g machines that are ready together. A rule that always takes the earliest time,
# n times, takes the n smallest of all streams together; of equal times, those of the first stream first.
#
#     r_g(t) = max(0, floor((t - f_g) / e_g) + 1)     rounds of stream g up to time t
#     c(t)   = sum m_g r_g(t)                         times up to t, which never falls
#
# All numbers are whole. Two times low < high with c(low) <= n <= c(high) are brought together, by halving and
# by interpolation in turn, until only a few rounds lie between them. Those are sorted and taken one by one;
# the last may be taken in part. If low + 1 = high, each stream has one round between them at most, so that
# this ends. The work grows with the number of streams and the logarithm of n and of the ratio of the e_g.
FEW: Final = 2  # rounds for each stream, which are sorted


class Stream(NamedTuple):
    """Evenly spaced times: the first, the step between them, and how often each is there."""

    first: int
    step: int
    machines: int

    def rounds(self, time: int) -> int:
        """Return how many rounds there are up to a time, that one included."""
        return (time - self.first) // self.step + 1 if time >= self.first else 0


@dataclass(frozen=True, slots=True)
class Lowest:
    """Whole rounds of each stream; the one of which only some machines get a round more; the last time."""

    rounds: list[int]
    split: tuple[int, int] | None  # stream, machines
    last: int


def lowest(streams: Sequence[Stream], count: int) -> Lowest:
    """Take the `count` smallest times, at least one."""
    enough = min(each.first + (-(-count // each.machines) - 1) * each.step for each in streams)
    near = [k for k, each in enumerate(streams) if each.first <= enough]
    low, high = _bracket([streams[k] for k in near], count, enough)
    rounds = [0] * len(streams)
    between = []
    for k in near:
        rounds[k] = streams[k].rounds(low)
        between += [(streams[k].first + q * streams[k].step, k) for q in range(rounds[k], streams[k].rounds(high))]
    left = count - sum(streams[k].machines * rounds[k] for k in near)
    split = None
    for _, k in sorted(between):
        if left < streams[k].machines:
            split = (k, left) if left else None
            break
        rounds[k] += 1
        left -= streams[k].machines
    taken = [streams[k].first + (number - 1) * streams[k].step for k, number in enumerate(rounds) if number > 0]
    if split is not None:
        k = split[0]
        taken = [streams[k].first + rounds[k] * streams[k].step]
    return Lowest(rounds, split, max(taken))


def _bracket(streams: Sequence[Stream], count: int, enough: int) -> tuple[int, int]:
    """Return low and high with c(low) <= count <= c(high) and few rounds between them."""
    low, high = min(each.first for each in streams) - 1, enough
    below, above = 0, sum(each.machines * each.rounds(high) for each in streams)
    halve = False
    while below < count and sum(each.rounds(high) - each.rounds(low) for each in streams) > FEW * len(streams):
        share = (count - below) * (high - low) // (above - below)
        middle = (low + high) // 2 if halve else min(max(low + share, low + 1), high - 1)
        there = sum(each.machines * each.rounds(middle) for each in streams)
        if there <= count:
            low, below = middle, there
        else:
            high, above = middle, there
        halve = not halve
    return low, low if below == count else high


# Machines while a rule hands out tasks: groups that have done the same so far, and when they are ready.
# A machine runs its tasks in the order in which they were handed to it. Machines with the same past are one
# group, so that a million machines and a billion tasks are a few groups with a few runs. Of equally good
# groups the first comes first: by machine type, then by age.
class Way(NamedTuple):
    """A way to run a task: machine type, column of the tables, ticks."""

    j: int
    column: int
    ticks: int


@dataclass(slots=True)
class Group:
    """Machines of one type with the same past."""

    age: int  # its place among the groups of its type, from the oldest on
    machines: int
    ready: int = 0  # in ticks
    runs: list[tuple[int, int, int]] = field(default_factory=list)  # task type, column, tasks of each machine

    def __lt__(self, other: Group) -> bool:
        """Order by readiness, then age."""
        return (self.ready, self.age) < (other.ready, other.age)

    def run(self, i: int, way: Way, count: int) -> None:
        """Let each machine run `count` tasks more."""
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
        return [(group, way) for way in ways for group in sorted(self.groups[way.j], key=attrgetter("age"))]

    def give(self, i: int, ways: Sequence[Way], count: int, *, by_start: bool = False) -> None:
        """Hand out equal tasks one by one, each to the machine that ends it first (`by_start`: starts it first)."""
        owners = self.owners(ways)
        self.take(i, owners, lowest(streams_of(owners, by_start=by_start), count))

    def take(self, i: int, owners: Sequence[tuple[Group, Way]], taken: Lowest) -> None:
        """Let groups run the rounds that were taken of their streams, and split the last one if need be."""
        changed = set()
        if taken.split is not None:
            k, machines = taken.split
            group, way = owners[k]
            part = self._part(group, way.j, machines)
            part.run(i, way, taken.rounds[k] + 1)
            self.groups[way.j].append(part)
            changed.add(way.j)
        for (group, way), number in zip(owners, taken.rounds, strict=True):
            if number:
                group.run(i, way, number)
                changed.add(way.j)
        for j in changed:
            heapq.heapify(self.groups[j])

    def give_first(self, i: int, way: Way, count: int) -> None:
        """Hand one task each to `count` machines of the group of that type which is ready first."""
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
        alike: Counter[tuple[str, tuple[Run, ...]]] = Counter()
        for machine, own in zip(self.bag.machine_types, self.groups, strict=True):
            for group in sorted(own, key=attrgetter("age")):
                runs = tuple(run_of(self.bag, *run) for run in group.runs)
                if runs:
                    alike[machine.name, runs] += group.machines
        return Schedule(tuple(MachineGroup(name, number, runs) for (name, runs), number in alike.items()))

    def _part(self, group: Group, j: int, machines: int) -> Group:
        """Split some machines off a group."""
        group.machines -= machines
        return Group(len(self.groups[j]), machines, group.ready, list(group.runs))


def streams_of(owners: Sequence[tuple[Group, Way]], *, by_start: bool = False) -> list[Stream]:
    """Return the ends (or starts) of tasks that these groups would run one after the other."""
    return [Stream(group.ready + (0 if by_start else way.ticks), way.ticks, group.machines) for group, way in owners]
