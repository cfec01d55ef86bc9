"""From shares to whole tasks, and from tasks of a type to its machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import mul
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
UNSURE: Final = 1e-15  # of a count, for each column: more than the doubles of quotas are off
LEAST_GAIN: Final = 1e-6  # of what the excess costs


def round_shares(shares: Floats, task_counts: Sequence[int]) -> list[dict[int, int]]:
    """Return how many tasks of each type each column gets, without columns with none; every total is exact."""
    rows, columns = np.nonzero((shares > 0) & (shares < math.inf))
    own: list[list[tuple[int, float]]] = [[] for _ in task_counts]
    for i, column, share in zip(rows.tolist(), columns.tolist(), shares[rows, columns].tolist(), strict=True):
        own[i].append((column, share))
    return [
        {row[0][0]: count} if len(row) == 1 else _round_row(i, row, count)  # most rows of a vertex have one
        for i, (row, count) in enumerate(zip(own, task_counts, strict=True))
    ]


def _round_row(i: int, row: list[tuple[int, float]], count: int) -> dict[int, int]:
    """Round one row in whole numbers: the shares as multiples of one power of two."""
    if not row:
        raise SolverError(f"the relaxation leaves task type {i} without a machine")
    pairs = [(column, share.as_integer_ratio()) for column, share in row]
    common = max(denominator for _, (_, denominator) in pairs)
    shares = {column: numerator * (common // denominator) for column, (numerator, denominator) in pairs}
    whole = sum(shares.values())
    counts = {column: count * share // whole for column, share in shares.items()}
    missing = count - sum(counts.values())
    if missing:
        by_remainder = sorted(shares, key=lambda column: (-(count * shares[column] % whole), column))
        for column in by_remainder[:missing]:
            counts[column] += 1
    return {column: number for column, number in counts.items() if number}


def round_all(many: Sequence[Floats], task_counts: Sequence[int]) -> tuple[Integers, Integers, Integers]:
    """Return what `round_shares` returns for each of many shares: which of them, a flat cell, and its count, in a row.

    Quotas and remainders are doubles. Where they are so near to whole numbers, or to each other, that rounding
    might decide, the row is rounded in whole numbers.
    """
    shares = np.array(many)
    types, width = shares.shape[1:]
    counts = np.tile(np.array(task_counts, dtype=np.int64), len(shares))
    given = np.zeros((len(counts), width), dtype=np.int64)
    positive = np.where((shares > 0) & (shares < math.inf), shares, 0.0).reshape(-1, width)
    split = np.flatnonzero((positive > 0).sum(axis=1) != 1)
    alone = np.ones(len(counts), dtype=bool)
    alone[split] = False
    given[alone, positive[alone].argmax(axis=1)] = counts[alone]
    rows = positive[split]
    totals = rows.sum(axis=1, keepdims=True)
    quotas = counts[split, np.newaxis] * rows / np.where(totals > 0, totals, 1.0)
    floors = np.floor(quotas)
    remainders = quotas - floors
    missing = (counts[split] - floors.sum(axis=1)).astype(np.int64)
    order = np.argsort(-remainders, axis=1)
    places = np.arange(len(split))
    sure = (missing > 0) & (missing < width)
    last = np.where(sure, missing, 1)
    falling = np.take_along_axis(remainders, order, axis=1)
    off = UNSURE * (width + 10) * counts[split]
    sure &= falling[places, last - 1] - falling[places, last] > off
    sure &= (np.where(rows > 0, np.minimum(remainders, 1.0 - remainders), 1.0) > off[:, np.newaxis]).all(axis=1)
    ranks = np.empty_like(order)
    ranks[places[:, np.newaxis], order] = np.arange(width)
    given[split] = floors.astype(np.int64) + (ranks < missing[:, np.newaxis])
    for row in split[~sure].tolist():
        own = [(column, share) for column, share in enumerate(positive[row].tolist()) if share]
        given[row] = 0
        for column, count in _round_row(row % types, own, int(counts[row])).items():
            given[row, column] = count
    where, columns = np.nonzero(given)
    return where // types, where % types * width + columns, given[where, columns]


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
Work: TypeAlias = tuple[tuple[float, int, int, int], ...]  # of a machine type: -seconds, i, column, count
Known: TypeAlias = dict[tuple[int, Work], list[MachineGroup]]  # machine types that were placed before


def place(bag: Bag, counts: Sequence[Mapping[int, int]], known: Known | None = None) -> Schedule:
    """Return a schedule of whole tasks: ``counts[i][column]`` tasks of type i run in that column's mode.

    Ties go to the lowest index, so a rerun gives the same schedule. `known` is for many schedules of one bag:
    a machine type that is given the same work again is looked up there.
    """
    known = known if known is not None else {}
    groups: list[MachineGroup] = []
    for key in _work_of(bag, counts):
        if key not in known:
            j, tasks = key
            own = _Placed([0.0], [bag.machine_types[j].count], [()])
            for negative_seconds, i, column, count in tasks:
                own.fill(-negative_seconds, run_of(bag, i, column, count))
            known[key] = own.groups(bag.machine_types[j].name)
        groups += known[key]
    return Schedule(tuple(groups))


def _work_of(bag: Bag, counts: Sequence[Mapping[int, int]]) -> list[tuple[int, Work]]:
    """Return what each machine type is given, longest first."""
    work: list[list[tuple[float, int, int, int]]] = [[] for _ in bag.machine_types]
    cells, width, modes = bag.seconds.cells, bag.seconds.columns, bag.modes
    for i, row in enumerate(counts):
        for column, count in row.items():
            seconds = cells[i * width + column]
            assert seconds > 0, "only pairs that can run get tasks"
            work[modes[column][0]].append((-seconds, i, column, count))
    return [(j, tuple(sorted(tasks))) for j, tasks in enumerate(work)]


@dataclass(slots=True)
class _Placed:
    """The machines of one type, in groups that run the same: when they are ready, how many they are, what they run."""

    ready: list[float]
    machines: list[int]
    runs: list[tuple[Run, ...]]

    def groups(self, name: str) -> list[MachineGroup]:
        """Return the groups that run something."""
        pairs = zip(self.machines, self.runs, strict=True)
        return [MachineGroup(name, machines, runs) for machines, runs in pairs if runs]

    def fill(self, seconds: float, run: Run) -> None:
        """Place equal tasks on the groups, earliest starts first; may split one group."""
        ready, machines, runs, count = self.ready, self.machines, self.runs, run.count
        least = min(ready)
        steps = [int((each - least) / seconds) for each in ready]
        total, weighted = sum(machines), sum(map(mul, machines, steps))
        level = (count + weighted) // total
        if level >= max(steps):  # all groups get some
            given = [level - step for step in steps]
            left = count + weighted - level * total
        else:
            level = _level(sorted(zip(steps, machines, strict=True)), count)
            given = [max(0, level - step) for step in steps]
            left = count - sum(map(mul, machines, given))
        if left:
            next_starts = sorted([(each + given[g] * seconds, g) for g, each in enumerate(ready)])
            for _, g in next_starts:  # groups with k_g > Q come after all others, and are never reached
                if machines[g] > left:  # split: the rest of the group gets no more
                    ready.append(ready[g])
                    machines.append(machines[g] - left)
                    runs.append(runs[g])
                    given.append(given[g])
                    machines[g] = left
                given[g] += 1
                left -= machines[g]
                if not left:
                    break
        alike = {count: run}
        for g, number in enumerate(given):
            if number:
                if number not in alike:
                    alike[number] = Run(run.task_type, number, run.p_state)
                runs[g] += (alike[number],)
                ready[g] += number * seconds


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


# The same for the schedules of a whole front: machine types are placed together, those with the same work once. One
# step of the loop above for all of them is some twenty operations on arrays, with a row for each machine type and a
# column for each group. Columns that are not in use yet have no machines, and are ready never. The arithmetic is that
# of `_Placed.fill`, to the last digit.
MOST_WHOLE: Final = 2.0**52  # machines times steps: beyond it the loop above counts, without a limit
AT_ONCE: Final = 1 << 20  # numbers: of tasks of each type in each group of each machine type

_Work: TypeAlias = tuple["Integers", "Floats", "Integers"]  # of a machine type: cells, their seconds, and counts


def place_all(bag: Bag, schedules: int, given: tuple[Integers, Integers, Integers]) -> list[Schedule]:
    """Return the schedules that `place` returns for counts as `round_all` returns them."""
    width, types = bag.seconds.columns, len(bag.machine_types)
    places, cells, counts = given
    seconds = np.asarray(bag.seconds).ravel()[cells]
    assert np.all(seconds > 0), "only pairs that can run get tasks"
    owner = places * types + np.array([j for j, _ in bag.modes])[cells % width]  # a machine type in a schedule
    order = np.lexsort((cells, -seconds, owner))
    cells, counts, seconds, owner = cells[order], counts[order], seconds[order], owner[order]
    begins = np.flatnonzero(np.diff(owner, prepend=-1)).tolist()
    known: dict[tuple[bytes, bytes], int] = {}
    works: list[_Work] = []
    numbers = []
    for begin, end in zip(begins, [*begins[1:], len(cells)], strict=True):
        work = cells[begin:end], seconds[begin:end], counts[begin:end]
        number = known.setdefault((work[0].tobytes(), work[2].tobytes()), len(works))
        if number == len(works):
            works.append(work)
        numbers.append(number)
    placed, runs_of = dict[int, list[MachineGroup]](), _Runs(bag)
    left = sorted(range(len(works)), key=lambda number: -len(works[number][0]))  # those with tasks left come first
    while left:
        most = AT_ONCE // (len(works[left[0]][0]) + 1) ** 2
        first, left = left[: max(1, most)], left[max(1, most) :]
        placed |= zip(first, _place_together(bag, [works[number] for number in first], runs_of), strict=True)
    groups: list[list[MachineGroup]] = [[] for _ in range(schedules)]
    for place, number in zip((owner[begins] // types).tolist(), numbers, strict=True):
        groups[place] += placed[number]
    return [Schedule(tuple(each)) for each in groups]


def _place_together(bag: Bag, works: Sequence[_Work], runs_of: _Runs) -> list[list[MachineGroup]]:
    """Return the groups of machine types that are given this work, most task types first."""
    has_task = np.arange(len(works[0][0])) < np.array([len(cells) for cells, _, _ in works])[:, np.newaxis]
    cells, counts = (np.zeros(has_task.shape, dtype=np.int64) for _ in range(2))
    seconds = np.ones(has_task.shape)
    cells[has_task], seconds[has_task], counts[has_task] = (np.concatenate(part) for part in zip(*works, strict=True))
    types = [bag.machine_types[bag.modes[column][0]] for column in (cells[:, 0] % bag.seconds.columns).tolist()]
    placed = _PlacedTogether(np.array([machine.count for machine in types]), has_task.shape[1])
    for step, rows in enumerate(has_task.sum(axis=0).tolist()):
        placed.fill(rows, step, seconds[:rows, step], counts[:rows, step])
    placed.given[~placed.exact] = 0
    # All runs of all groups in one list, then the groups, then the machine types.
    where, group, steps = np.nonzero(placed.given)
    numbers = placed.given[where, group, steps].tolist()
    runs = [runs_of[key] for key in zip(cells[where, steps].tolist(), numbers, strict=True)]
    begins = np.flatnonzero((np.diff(where, prepend=-1) != 0) | (np.diff(group, prepend=-1) != 0))
    ends = np.append(begins, len(runs))[1:].tolist()
    where, group = where[begins], group[begins]
    owners, machines = where.tolist(), placed.machines[where, group].tolist()
    groups = [
        MachineGroup(types[row].name, number, tuple(runs[begin:end]))
        for row, number, begin, end in zip(owners, machines, begins.tolist(), ends, strict=True)
    ]
    lasts = np.searchsorted(where, np.arange(len(works)), side="right").tolist()
    found = [groups[begin:end] for begin, end in zip([0, *lasts[:-1]], lasts, strict=True)]
    for row in np.flatnonzero(~placed.exact).tolist():
        own = _Placed([0.0], [types[row].count], [()])
        for cell, each, count in zip(*(part.tolist() for part in works[row]), strict=True):
            own.fill(each, runs_of[cell, count])
        found[row] = own.groups(types[row].name)
    return found


class _Runs(dict[tuple[int, int], Run]):
    """Runs by their cells and counts."""

    def __init__(self, bag: Bag) -> None:
        super().__init__()
        self.bag = bag

    def __missing__(self, key: tuple[int, int]) -> Run:
        cell, count = key
        run = self[key] = run_of(self.bag, *divmod(cell, self.bag.seconds.columns), count)
        return run


class _PlacedTogether:
    """Many machine types: `ready` and `machines` have a row for each, and a column for each of its groups."""

    def __init__(self, machines: Integers, steps: int) -> None:
        rows = len(machines)
        self.total, self.groups = machines, np.ones(rows, dtype=np.int64)
        self.exact = np.ones(rows, dtype=bool)  # whether whole numbers were small enough
        self.ready = np.full((rows, steps + 1), np.inf)
        self.machines = np.zeros((rows, steps + 1), dtype=np.int64)
        self.given = np.zeros((rows, steps + 1, steps), dtype=np.int64)  # what each group has of each task type
        self.ready[:, 0], self.machines[:, 0] = 0.0, machines

    def fill(self, rows: int, step: int, seconds: Floats, counts: Integers) -> None:
        """Place equal tasks on the groups of the first rows: `_Placed.fill`, at once."""
        used = step + 2  # columns: one more than there may be groups
        ready, machines, given = self.ready[:rows, :used], self.machines[:rows, :used], self.given[:rows, :used, step]
        total, seconds = self.total[:rows], seconds[:, np.newaxis]
        least = ready.min(axis=1, keepdims=True)
        after = np.where(machines > 0, (ready - least) / seconds, 0.0)
        most = after.max(axis=1)
        self.exact[:rows] &= total * (most + 1.0) + counts < MOST_WHOLE
        steps = np.where(self.exact[:rows, np.newaxis], after, 0.0).astype(np.int64)
        weighted = (machines * steps).sum(axis=1)
        level = (counts + weighted) // total
        for row in np.flatnonzero(level < steps.max(axis=1)).tolist():
            own = sorted(zip(steps[row].tolist(), machines[row].tolist(), strict=True))
            level[row] = _level([pair for pair in own if pair[1]], int(counts[row]))
        np.maximum(level[:, np.newaxis] - steps, 0, out=given)
        left = (counts - (machines * given).sum(axis=1))[:, np.newaxis]
        order = (ready + given * seconds).argsort(axis=1, kind="stable")
        at = np.arange(rows)[:, np.newaxis]
        ordered = machines[at, order]
        until = ordered.cumsum(axis=1)
        taking = until - ordered < left
        split, place = np.nonzero(taking & (until > left))
        group, new = order[split, place], self.groups[split]
        # The rest of a group that is split gets no more.
        self.given[split, new, :step] = self.given[split, group, :step]
        given[split, new] = given[split, group]
        ready[split, new] = ready[split, group]
        machines[split, new] = until[split, place] - left[split, 0]
        machines[split, group] -= machines[split, new]
        self.groups[split] += 1
        more = np.zeros_like(taking)
        more[at, order] = taking
        given += more
        given[machines == 0] = 0
        ready += given * seconds
