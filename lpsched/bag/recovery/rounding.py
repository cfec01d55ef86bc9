"""From shares to whole tasks, and from tasks of a type to its machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.bag.schedule import MachineGroup, Run, Schedule, run_of
from lpsched.errors import SolverError

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats, Integers


# Largest remainder: from shares to whole tasks.
#
# Row i of the shares, scaled to sum 1 and times n_i, gives quotas. Each column gets the floor of its quota;
# the units still missing go to the largest remainders, ties to the lowest index. In exact arithmetic fewer
# units are missing than there are columns with a remainder, so no count moves by one or more.
#
# Source: Tarplee, Maciejewski and Siegel, 2014, algorithm 1.
#
# Largest remainders know nothing of how much a machine type can take. `ease` moves single tasks of the task
# types that are split between columns, until the sums of what they take are below given limits, or as little
# above them as a few moves at a time can bring about.
SETS: Final = ((2, 80), (3, 30))  # sizes of sets of moves, and of how many moves, the cheapest first
MOST_MOVES: Final = max(most for _, most in SETS)
ROUNDS: Final = 30
TRIES: Final = 50  # sets of moves, the best first, until the columns have the tasks for one
LEAST_GAIN: Final = 1e-6  # of what the excess costs


def round_shares(shares: Floats, task_counts: Sequence[int]) -> list[dict[int, int]]:
    """Return how many tasks of each type each column gets, without columns with none; every total is exact."""
    return [_round_row(i, row, count) for i, (row, count) in enumerate(zip(shares.tolist(), task_counts, strict=True))]


def _round_row(i: int, row: list[float], count: int) -> dict[int, int]:
    """Round one row in whole numbers: the shares as multiples of one power of two."""
    pairs = [(c, share.as_integer_ratio()) for c, share in enumerate(row) if 0 < share < math.inf]
    if not pairs:
        raise SolverError(f"the relaxation leaves task type {i} without a machine")
    if len(pairs) == 1:  # most rows of a vertex
        return {pairs[0][0]: count}
    common = max(denominator for _, (_, denominator) in pairs)
    shares = {column: numerator * (common // denominator) for column, (numerator, denominator) in pairs}
    whole = sum(shares.values())
    counts = {column: count * share // whole for column, share in shares.items()}
    missing = count - sum(counts.values())
    by_remainder = sorted(shares, key=lambda column: (-(count * shares[column] % whole), column))
    for column in by_remainder[:missing]:
        counts[column] += 1
    return {column: number for column, number in counts.items() if number}


@dataclass(frozen=True, slots=True)
class Usage:
    """What one task of each type uses in each column: sums have an entry for each machine type, and one for the cap."""

    time: Floats  # task types x columns
    machine_of: Integers  # of each column
    machines: int
    under_cap: Floats | None = None  # task types x columns

    def sums(self, tasks: Iterable[tuple[int, int, int]]) -> Floats:
        """Return what tasks, given as (task type, column, count), use in all."""
        sums = np.zeros(self.machines + (self.under_cap is not None))
        for i, column, count in tasks:
            sums[self.machine_of[column]] += count * self.time[i, column]
            if self.under_cap is not None:
                sums[-1] += count * self.under_cap[i, column]
        return sums

    def all_of(self, counts: Sequence[dict[int, int]]) -> Floats:
        """Return what all tasks take."""
        return self.sums((i, column, count) for i, row in enumerate(counts) for column, count in row.items())


@dataclass(frozen=True, slots=True)
class Move:
    """One task of type i that leaves column `a` for `b`: what that costs, and how it changes the sums."""

    i: int
    a: int
    b: int
    cost: float
    change: Floats


def ease(
    counts: Sequence[dict[int, int]], moves: Sequence[Move], excess: Floats, weight: float
) -> list[dict[int, int]]:
    """Return counts after moves of single tasks that lower the cost and what the sums exceed their limits by.

    What is lowered is cost + weight * sum of max(0, excess), where `excess` is how far each sum is above its limit. Of
    all sets of up to two moves the best is made, or of up to three where none of these helps, again and again.
    """
    eased = [dict(row) for row in counts]
    changes = np.vstack([*(move.change for move in moves), np.zeros_like(excess)])
    costs = np.append([move.cost for move in moves], 0.0)
    nearest = [_sets_of(min(len(moves), most), size) for size, most in SETS]
    larger = [(sets, costs[sets].sum(axis=1), changes[sets].sum(axis=1)) for sets in nearest]
    for _ in range(ROUNDS if moves else 0):
        before = float(np.maximum(excess, 0.0).sum())
        least = -LEAST_GAIN * weight * before
        for sets, cost, change in larger:
            merit = cost + weight * (np.maximum(excess + change, 0.0).sum(axis=1) - before)
            better = np.flatnonzero(merit < least)
            tried = better[np.argsort(merit[better], kind="stable")[:TRIES]].tolist()
            made = (k for k in tried if _moved(eased, [moves[each] for each in sets[k].tolist() if each >= 0]))
            if (best := next(made, None)) is not None:
                excess = excess + change[best]
                break
        else:
            break
    return eased


def moves_of(counts: Sequence[dict[int, int]], costs: Floats, reduced_costs: Floats, usage: Usage) -> list[Move]:
    """Return moves of single tasks to columns with the least reduced costs; costs are inf where a task cannot run."""
    held = [(i, a) for i, row in enumerate(counts) for a in row if np.isfinite(costs[i, a])]
    if not held:
        return []
    rows, columns = np.array(held).T
    order = reduced_costs[rows]
    order[np.arange(len(held)), columns] = np.inf
    moves = []
    for number in np.argsort(order, axis=None, kind="stable")[:MOST_MOVES].tolist():
        place, b = divmod(number, order.shape[1])
        if np.isfinite(order[place, b]):
            i, a = held[place]
            change = usage.sums(((i, b, 1), (i, a, -1)))
            moves.append(Move(i, a, b, float(costs[i, b] - costs[i, a]), change))
    return moves


@cache
def _sets_of(moves: int, size: int) -> Integers:
    """Return all sets of up to `size` moves by their numbers, -1 for none."""
    numbers = np.meshgrid(*[np.arange(-1, moves)] * size, indexing="ij")
    sets = np.stack(numbers, axis=-1).reshape(-1, size)
    return sets[(np.diff(sets, axis=1) <= 0).all(axis=1) & (sets[:, 0] >= 0)]


def _moved(counts: list[dict[int, int]], moves: list[Move]) -> bool:
    """Make these moves, if the columns have the tasks for them; return whether that was done."""
    after: dict[tuple[int, int], int] = {}
    for move in moves:
        for column, more in ((move.a, -1), (move.b, 1)):
            key = (move.i, column)
            after[key] = after.get(key, counts[move.i].get(column, 0)) + more
    if min(after.values()) < 0:
        return False
    for (i, column), count in after.items():
        if count:
            counts[i][column] = count
        else:
            counts[i].pop(column, None)
    return True


# Longest processing time first, for groups of machines instead of single ones.
#
# Tasks of one machine type are placed longest first, each on the machine that is free earliest. n equal
# tasks of length e on machines with ready times R_g (m_g of each) start at the n smallest of the times
#
#     R_g + q e,   q = 0, 1, 2, ...,   each m_g times.
#
# Write R_g = R_min + (k_g + f_g) e with whole k_g and 0 <= f_g < 1. The starts with k_g + q < Q number sum_g m_g max(0,
# Q - k_g): take the largest Q for which this is at most n, then one more task per machine among the groups with k_g <=
# Q, smallest f_g first, until n is reached. The last group may have to be split in two. So a task type costs one sort
# of the groups and adds at most one group; the cost depends on neither the number of tasks nor the number of machines.
# The multiset of machine loads is that of placing the tasks one by one, up to the rounding of sums.
#
# Source: Tarplee, Maciejewski and Siegel, 2014, algorithm 2 (task by task).
@dataclass(slots=True)
class _Group:
    ready: float
    machines: int
    runs: list[Run] = field(default_factory=list)


Work: TypeAlias = tuple[tuple[float, int, int, int], ...]  # of a machine type: -seconds, i, column, count
Known: TypeAlias = dict[tuple[int, Work], list[MachineGroup]]  # machine types that were placed before


def place(bag: Bag, counts: Sequence[Mapping[int, int]], known: Known | None = None) -> Schedule:
    """Return a schedule of whole tasks: ``counts[i][column]`` tasks of type i run in that column's mode.

    Ties go to the lowest index, so a rerun gives the same schedule. `known` is for many schedules of one bag:
    a machine type that is given the same work again is looked up there.
    """
    known = known if known is not None else {}
    work: list[list[tuple[float, int, int, int]]] = [[] for _ in bag.machine_types]
    for i, row in enumerate(counts):
        for column, count in row.items():
            seconds = bag.seconds[i, column]
            assert seconds is not None, "only pairs that can run get tasks"
            work[bag.modes[column][0]].append((-seconds, i, column, count))
    groups: list[MachineGroup] = []
    for j, (machine, tasks) in enumerate(zip(bag.machine_types, work, strict=True)):
        key = (j, tuple(tasks))
        if key not in known:
            own = [_Group(0.0, machine.count)]
            for negative_seconds, i, column, count in sorted(tasks):
                _fill(own, -negative_seconds, run_of(bag, i, column, count))
            known[key] = [MachineGroup(machine.name, each.machines, tuple(each.runs)) for each in own if each.runs]
        groups += known[key]
    return Schedule(tuple(groups))


def _fill(groups: list[_Group], seconds: float, run: Run) -> None:
    """Place equal tasks on the groups, earliest starts first; may split one group."""
    count = run.count
    if len(groups) == 1 and count % groups[0].machines == 0:
        each = count // groups[0].machines
        groups[0].runs.append(Run(run.task_type, each, run.p_state))
        groups[0].ready += each * seconds
        return
    least = min(group.ready for group in groups)
    steps = [math.floor((group.ready - least) / seconds) for group in groups]
    level = _level(sorted(zip(steps, (group.machines for group in groups), strict=True)), count)
    given = [max(0, level - step) for step in steps]
    left = count - sum(group.machines * number for group, number in zip(groups, given, strict=True))
    next_starts = sorted(
        (group.ready + number * seconds, index) for index, (group, number) in enumerate(zip(groups, given, strict=True))
    )  # groups with k_g > Q come after all others, and are never reached
    for _, index in next_starts:
        if left == 0:
            break
        group = groups[index]
        if group.machines > left:  # split: the rest of the group gets no more
            groups.append(_Group(group.ready, group.machines - left, list(group.runs)))
            given.append(given[index])
            group.machines = left
        given[index] += 1
        left -= group.machines
    for group, number in zip(groups, given, strict=True):
        if number:
            group.runs.append(Run(run.task_type, number, run.p_state))
            group.ready += number * seconds


def _level(groups: list[tuple[int, int]], count: int) -> int:
    """Return the largest Q with sum of m max(0, Q - k) at most `count`; groups (k, m) by rising k."""
    machines = weighted = 0
    for position, (step, number) in enumerate(groups):
        machines += number
        weighted += number * step
        last = position + 1 == len(groups)
        if last or machines * groups[position + 1][0] - weighted > count:
            break
    return (count + weighted) // machines
