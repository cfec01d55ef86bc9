"""Largest remainder: from shares to whole tasks.

Row i of the shares, scaled to sum 1 and times n_i, gives quotas. Each column gets the floor of its quota;
the units still missing go to the largest remainders, ties to the lowest index. In exact arithmetic fewer
units are missing than there are columns with a remainder, so no count moves by one or more.

Source: Tarplee, Maciejewski and Siegel, 2014, algorithm 1.

Largest remainders know nothing of how much a machine type can take. `ease` moves single tasks of the task
types that are split between columns, until the sums of what they take are below given limits, or as little
above them as a few moves at a time can bring about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.array_types import Floats, Integers

SETS: Final = ((2, 80), (3, 30))  # sizes of sets of moves, and of how many moves, the cheapest first
MOST_MOVES: Final = max(most for _, most in SETS)
ROUNDS: Final = 30
TRIES: Final = 50  # sets of moves, the best first, until the columns have the tasks for one
LEAST_GAIN: Final = 1e-6  # of what the excess costs


def round_shares(shares: Floats, task_counts: Sequence[int]) -> list[dict[int, int]]:
    """Return, for each task type, how many of its tasks each column gets; columns with none are left out.

    Every total is exact, whatever the solver's tolerances were.

    >>> import numpy as np
    >>> round_shares(np.array([[0.5, 0.25, 0.25]]), [10])
    [{0: 5, 1: 3, 2: 2}]

    Raises
    ------
    SolverError
        If a task type has no share at all.
    """
    return [
        _round_row(i, row, count)
        for i, (row, count) in enumerate(zip(shares.tolist(), task_counts, strict=True))
    ]


def _round_row(i: int, row: list[float], count: int) -> dict[int, int]:
    """Round one row in whole numbers: the shares as multiples of one power of two."""
    pairs = [(c, share.as_integer_ratio()) for c, share in enumerate(row) if 0 < share < math.inf]
    if not pairs:
        raise SolverError(f"the relaxation leaves task type {i} without a machine")
    if len(pairs) == 1:  # most rows of a corner
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
class Takes:
    """What one task of each type takes in each column: of its machine type's time, and of a power cap.

    A sum over all tasks has an entry for each machine type, and under a cap one more.
    """

    time: Floats  # task types x columns
    machine_of: Integers  # of each column
    machines: int
    under_cap: Floats | None = None  # task types x columns

    def add(self, sums: Floats, i: int, column: int, count: int) -> None:
        """Add what so many tasks take."""
        sums[self.machine_of[column]] += count * self.time[i, column]
        if self.under_cap is not None:
            sums[-1] += count * self.under_cap[i, column]

    def nothing(self) -> Floats:
        """Return sums of no tasks."""
        return np.zeros(self.machines + (self.under_cap is not None))

    def all_of(self, counts: Sequence[dict[int, int]]) -> Floats:
        """Return what all tasks take."""
        sums = self.nothing()
        for i, row in enumerate(counts):
            for column, count in row.items():
                self.add(sums, i, column, count)
        return sums


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

    What is lowered is cost + weight * sum of max(0, excess), where `excess` is how far each sum is above its
    limit. Of all sets of up to two moves the best is made, or of up to three where none of these helps, again
    and again.

    >>> to_slow = Move(0, 0, 1, cost=1.0, change=np.array([-2.0, 1.0]))
    >>> ease([{0: 3, 1: 2}], [to_slow], np.array([2.0, -2.0]), weight=10.0)
    [{0: 2, 1: 3}]
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
            best = next(
                (
                    number
                    for number in better[np.argsort(merit[better], kind="stable")[:TRIES]].tolist()
                    if _moved(eased, [moves[each] for each in sets[number].tolist() if each >= 0])
                ),
                None,
            )
            if best is not None:
                excess = excess + change[best]
                break
        else:
            break
    return eased


def moves_of(
    counts: Sequence[dict[int, int]], costs: Floats, reduced_costs: Floats, takes: Takes
) -> list[Move]:
    """Return the moves of single tasks whose new column has the least reduced costs: some of them.

    Costs are of one task, task types x columns, and infinite where it cannot run.
    """
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
            (i, a), change = held[place], takes.nothing()
            takes.add(change, i, b, 1)
            takes.add(change, i, a, -1)
            moves.append(Move(i, a, b, float(costs[i, b] - costs[i, a]), change))
    return moves


@cache
def _sets_of(moves: int, size: int) -> Integers:
    """Return all sets of so many moves or fewer by their numbers, -1 for none."""
    numbers = np.meshgrid(*[np.arange(-1, moves)] * size, indexing="ij")
    sets = np.stack(numbers, axis=-1).reshape(-1, size)
    rising: Integers = sets[(np.diff(sets, axis=1) <= 0).all(axis=1) & (sets[:, 0] >= 0)]
    return rising


def _moved(counts: list[dict[int, int]], moves: list[Move]) -> bool:
    """Make these moves, if the columns have the tasks for them; tell whether that was done."""
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
