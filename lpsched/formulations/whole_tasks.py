"""What whole tasks imply and split ones do not: a least makespan, and no pair longer than the deadline.

A machine of type j finishes at most floor(t / e_jS) tasks of a set S of task types in t seconds, where e_jS
is the shortest time of any of them there. So every schedule has

    sum_j m_j floor(t / e_jS)  >=  n(S),        e_jS = min over i in S and k of e_ijk,

and is no shorter than the least t for which that holds, L_S. For one task type this is at least the time of
one task where it is done soonest; with more tasks than machines it counts the second, third, ... task of a
machine (the pigeonhole principle). All task types are tried alone, and all sets of those that take longest
where they are done soonest. L, the largest L_S, is a row of every program, t >= L. Which set that is, doubles
decide; its L_S is then worked out exactly.

The row is redundant where machines run many tasks: sum_i n_i min_jk e_ijk / sum_j m_j is a lower bound of the
programs as they stand. Where L is no larger, it is not handed to the solver.

`certificate/bounds.py` checks L_S again from S, in exact arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.arrays import arrays_of

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Mask
    from lpsched.instance.arrays import BagArrays

MANY: Final = 100_000  # pairs: with more, only the longest task is looked for
STEPS: Final = 60  # of a bisection: more than a double has digits
KEY: Final = "_least_makespan"  # beside the cached properties of a bag


def least_makespan(bag: Bag) -> tuple[Fraction, tuple[int, ...]]:
    """Return L, exactly, and the task types that show it.

    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=5)
    >>> least_makespan(Bag("b", (cpu,), (render,), Table.of([[3.0]])))
    (Fraction(9, 1), (0,))
    """
    known = vars(bag).get(KEY)
    if known is None:
        known = vars(bag)[KEY] = _found(arrays_of(bag))
    found: tuple[Fraction, tuple[int, ...]] = known
    return found


def is_redundant(arrays: BagArrays, seconds: float) -> bool:
    """Tell whether the programs imply t >= seconds without a row for it."""
    soonest = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=1)
    return bool(seconds <= arrays.task_counts @ soonest / arrays.machine_counts.sum())


def _found(arrays: BagArrays) -> tuple[Fraction, tuple[int, ...]]:
    quickest = _by_machine_type(arrays)
    soonest = quickest.min(axis=1)
    longest = int(soonest.argmax())
    best = (Fraction(float(soonest[longest])), (longest,))
    if quickest.size > MANY:
        return best
    order = np.argsort(-soonest, kind="stable")
    seconds = np.concatenate((quickest, np.minimum.accumulate(quickest[order], axis=0)))
    counts = np.concatenate((arrays.task_counts, np.cumsum(arrays.task_counts[order])))
    rows = np.flatnonzero(_may_be_largest(seconds, counts, arrays.machine_counts))
    limits = _bisected(seconds[rows], counts[rows], arrays.machine_counts)
    most = int(limits.argmax())
    at = int(rows[most])
    types = (at,) if at < len(order) else tuple(sorted(order[: at - len(order) + 1].tolist()))
    exact = _exact(seconds[at], int(counts[at]), arrays.machine_counts, float(limits[most]))
    return max(best, (exact, types), key=lambda each: each[0])


def _by_machine_type(arrays: BagArrays) -> Floats:
    """Return the shortest time of each task type on each machine type; infinite where it cannot run."""
    seconds = np.where(arrays.can_run, arrays.seconds, np.inf)
    firsts = np.searchsorted(arrays.machine_of, np.arange(len(arrays.machine_counts)))
    quickest: Floats = np.minimum.reduceat(seconds, firsts, axis=1)
    return quickest


def _may_be_largest(seconds: Floats, counts: Floats, machines: Floats) -> Mask:
    """Tell for which rows the least t may be the largest: t / e - 1 < floor(t / e) <= t / e bounds each."""
    rates = (1.0 / seconds) @ machines
    least, most = counts / rates, (counts + machines.sum()) / rates
    largest: Mask = most >= least.max()
    return largest


def _bisected(seconds: Floats, counts: Floats, machines: Floats) -> Floats:
    """Return about the least t of each row in which its count is finished."""
    high: Floats = counts * seconds.min(axis=1)
    low = np.zeros_like(high)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        enough = np.floor(middle[:, np.newaxis] / seconds) @ machines >= counts
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    limits: Floats = high
    return limits


def _exact(seconds: Floats, count: int, machines: Floats, about: float) -> Fraction:
    """Return the least t of one row, exactly: a whole number of tasks on some machine; 0 if none is near."""
    runs = np.flatnonzero(np.isfinite(seconds))
    times = {int(j): Fraction(float(seconds[j])) for j in runs}
    ends = {
        max(1, round(about / float(seconds[j])) + step) * times[int(j)] for j in runs for step in (-1, 0, 1)
    }
    for end in sorted(ends, reverse=True):
        before = sum(int(machines[j]) * (-(-end // each) - 1) for j, each in times.items())
        if before < count:  # of which fewer than all are finished in any shorter time
            return end
    return Fraction(0)
