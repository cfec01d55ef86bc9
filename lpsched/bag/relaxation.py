"""What a relaxation of a bag returns; scaling of its rows; sums of whole tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import BagArrays, arrays_of, usable_arrays
from lpsched.bag.certificate.bounds import Multipliers
from lpsched.bag.cost import exact_cost_model

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats, Integers, Mask


class Regime(StrEnum):
    """Whether running the bag pays."""

    PROFIT = "profit"  # it earns more than it costs
    LOSS = "loss"  # it does not, but less is lost than by not running, or a deadline forces it
    DO_NOT_RUN = "do-not-run"  # best not to run


@dataclass(frozen=True, slots=True)
class Point:
    """One way to run the bag, if tasks could be split, and what that takes."""

    shares: Floats  # of the tasks of each type, what each column (machine type and P-state) gets
    makespan_seconds: float
    energy_joules: float | None  # none without watts


@dataclass(frozen=True, slots=True)
class Relaxation(Point):
    """The answer of a relaxation, back in the terms of the bag: a point, and the prices there."""

    bound: float  # what the solver's multipliers prove, in floating point; reports use the certificate instead
    machine_prices: tuple[float, ...]  # of a second on one machine of each type, in the unit of the objective
    cap_price: float = 0.0  # of a joule above the idle floor, under the power cap
    optimal: bool = True  # whether the program was solved to the end

    @property
    def multipliers(self) -> Multipliers:
        """The prices, for the certificate."""
        return Multipliers(self.machine_prices, self.cap_price)


# Pure numbers for the solver: what all bag formulations count in.
#
# Solvers have absolute tolerances, so every amount is a share of something of its own size:
#
#    T        seconds: a makespan that surely suffices, or any other of the order of the answer
#    L        seconds: a makespan that no schedule of whole tasks undercuts (`least_makespan`)
#    l_ijk    n_i e_ijk / (m_j T): the load, if all tasks of type i ran in this column (j, k)
#    F        joules: |P - I| T, what the cap leaves above the idle floor in T seconds, or the least that the
#             tasks move away from it, if that is more
#    delta    n_i d_ijk / F: what all tasks of type i take of that, d_ijk = e_ijk (a_ijk - b_j)
#    sigma    (P - I) T / F, between -1 and 1; negative under an idle floor above the cap
#    u_ijk    the share of task type i that one unit of a column's variable stands for: 1 / max(1, l, |delta|)
#
# T is what comes of sending every task type whole to the column that finishes it soonest (stretched until the
# cap is kept), or to the one with the least d, if that is done sooner. With u, every coefficient of capacity
# and cap lies in [-1, 1], for 10 tasks and for 10^15.
#
# A solver keeps dual feasibility to its tolerance in its own units. Where u < 1, a price of 0 instead of 1e-9
# passes there; but at a price of 0 the task type would cost nothing, and the certificate prove nothing.
# `dual_feasible_prices` therefore raises prices, by no more than that tolerance, until no such pair is too cheap.
ROUNDING: Final = 1e-9
LIGHTEST: Final = 1e-11  # a smaller u might be taken for 0, and its pair then for free
LARGEST_COST: Final = 1e12  # times the unit of cost: an upper limit of all costs
SLACK: Final = 2.0  # between what a variable can be and its upper bound: a tight bound would take prices from rows


@dataclass(frozen=True, slots=True)
class CapScaling:
    """The average-power cap at the machines: sum d x <= headroom t."""

    headroom_watts: float  # P - I
    joules: float  # F
    loads: Floats  # delta
    headroom: float  # sigma


@dataclass(frozen=True)
class Scaling:
    """The numbers above, for one bag and one T."""

    bag: Bag
    arrays: BagArrays
    seconds: float  # T
    loads: Floats  # l
    joules: Floats | None  # n d: what all tasks of a type take above idle in this column
    cap: CapScaling | None
    units: Floats  # u
    shortest: float = 0.0  # L: no schedule takes less; 0 where the programs know

    def split(self) -> Scaling:
        """Return the same scaling for split tasks: without L."""
        return replace(self, shortest=0.0)

    @cached_property
    def idle_floor_watts(self) -> float:
        """I: what all machines draw when idle."""
        return float(self.arrays.idle_watts @ self.arrays.machine_counts)

    @cached_property
    def least_joules(self) -> float:
        """An energy of the order of the least: each task where it draws least, and some idling."""
        arrays = self.arrays
        assert arrays.watts is not None, "energy needs watts"
        busy = arrays.task_counts[:, np.newaxis] * arrays.seconds * arrays.watts
        soonest = self.seconds / len(arrays.machine_counts)
        least = float(np.where(arrays.can_run, busy, np.inf).min(axis=1).sum())
        return least + self.idle_floor_watts * soonest

    @property
    def row_names(self) -> tuple[list[str], list[str]]:
        """The names of the rows of demand and of capacity."""
        tasks, machines = self.bag.task_types, self.bag.machine_types
        return [f"demand[{each.name}]" for each in tasks], [f"capacity[{each.name}]" for each in machines]

    def makespan_of(self, shares: Floats) -> float:
        """Return the seconds that these shares take: the largest load, or L, until the cap is kept."""
        by_column = (self.loads * shares).sum(axis=0)
        longest = float(np.bincount(self.arrays.machine_of, weights=by_column).max()) * self.seconds
        longest = max(longest, self.shortest)
        if self.cap is None or self.joules is None or self.cap.headroom_watts <= 0:
            return longest
        return max(longest, float((self.joules * shares).sum()) / self.cap.headroom_watts)

    def energy_of(self, shares: Floats, makespan_seconds: float) -> float | None:
        """Return E = D(x) + I t."""
        if self.joules is None:
            return None
        return float((self.joules * shares).sum()) + self.idle_floor_watts * makespan_seconds

    def point(self, shares: Floats) -> Point:
        """Return these shares with what they take."""
        makespan = self.makespan_of(shares)
        return Point(shares, makespan, self.energy_of(shares, makespan))

    def relaxation(  # noqa: PLR0913 - what a program answers
        self, shares: Floats, p: Floats, q: float, unit: float, bound: float, *, optimal: bool
    ) -> Relaxation:
        """Return these shares with prices p of capacity and q of the cap; `unit` is what the program counts as 1."""
        point, (machine_prices, cap_price) = self.point(shares), self._prices(p, q, unit)
        return Relaxation(
            shares,
            point.makespan_seconds,
            point.energy_joules,
            bound,
            machine_prices=machine_prices,
            cap_price=cap_price,
            optimal=optimal,
        )

    def multipliers(self, p: Floats, q: float, unit: float) -> Multipliers:
        """Return prices p of capacity and q of the cap for the certificate; `unit` is what the program counts as 1."""
        return Multipliers(*self._prices(p, q, unit))

    def _prices(self, p: Floats, q: float, unit: float) -> tuple[tuple[float, ...], float]:
        """Return the price of a second on a machine of each type, and of a joule under the cap."""
        prices = p * unit / (self.arrays.machine_counts * self.seconds)
        return tuple(prices.tolist()), 0.0 if self.cap is None else q * unit / self.cap.joules

    def shares_of(self, amounts: Floats) -> Floats:
        """Return shares that sum to 1, from variables; a task type without any goes where it is done soonest.

        Variables of many solutions may be given at once, one after the other.
        """
        shares = np.maximum(amounts, 0.0) * self.usable_units
        totals = shares.sum(axis=-1, keepdims=True)
        if not 0 < totals.min() <= totals.max() < np.inf:  # NaN fails as well
            lost = ~((totals > 0) & np.isfinite(totals))
            shares = np.where(lost, _one_each(self.arrays, self.loads), shares)
            totals[lost] = 1.0
        return np.asarray(shares / totals)

    @cached_property
    def usable_units(self) -> Floats:
        """The units, and 0 for pairs that cannot run."""
        return np.where(self.arrays.can_run, self.units, 0.0)

    @cached_property
    def in_model(self) -> Mask:
        """Which pairs are in the model: those that can run, with units that the solver distinguishes from 0."""
        return self.arrays.can_run & (self.units > LIGHTEST)

    def to_least(self, amounts: Floats) -> Floats:
        """Return the shares that send every task type whole where its amount is least."""
        return _one_each(self.arrays, amounts)

    def dual_feasible_prices(self, costs: Floats, multipliers: Floats) -> tuple[Floats, float]:
        """Return prices of capacity and cap at which no pair is cheaper than its demand row says.

        The multipliers are those of the rows, in the order of `row_names` and then the cap; `costs` is what a whole
        task type costs in each column. With v_i the multiplier of demand i, the dual program asks costs + p_j l +
        q delta >= v_i of every pair.
        """
        arrays = self.arrays
        tasks, machines = arrays.can_run.shape[0], len(arrays.machine_counts)
        multipliers = np.where(np.isfinite(multipliers), multipliers, 0.0)
        v = multipliers[:tasks]
        p = np.maximum(-multipliers[tasks : tasks + machines], 0.0)
        q = max(-float(multipliers[tasks + machines]), 0.0) if self.cap is not None else 0.0
        rows, columns, loads = self._heavy
        if len(rows):
            missing = v[rows] - costs[rows, columns]
            if self.cap is not None:
                missing -= q * self.cap.loads[rows, columns]
            needed = np.zeros(machines)
            np.maximum.at(needed, arrays.machine_of[columns], missing / loads)
            p = np.where(needed > p * (1.0 + ROUNDING), needed, p)
        if self.cap is not None:
            rows, columns = np.nonzero(arrays.can_run & (self.cap.loads >= np.maximum(1.0, self.loads)))
            missing = v[rows] - costs[rows, columns] - p[arrays.machine_of[columns]] * self.loads[rows, columns]
            enough = float((missing / self.cap.loads[rows, columns]).max(initial=-np.inf))
            q = enough if enough > q * (1.0 + ROUNDING) else q
        return p, q

    @cached_property
    def _heavy(self) -> tuple[Integers, Integers, Floats]:
        """Pairs whose unit is set by the machines: task types and columns, and their loads."""
        delta = np.abs(self.cap.loads) if self.cap is not None else 0.0
        rows, columns = np.nonzero(self.arrays.can_run & (self.loads >= np.maximum(1.0, delta)))
        return rows, columns, self.loads[rows, columns]

    def within_budget(self, costs: Floats, p: Floats, q: float, budget: float) -> Floats:
        """Return prices that add up to no more than a second may cost: sum p + sigma q <= budget.

        What is too much, after rounding and `dual_feasible_prices`, is taken from the one price where that lowers
        the sum of all cheapest pairs least. To scale all prices down instead would cost far more where a
        pair saves much idle power: there two large terms nearly cancel.
        """
        excess = float(p.sum()) + (self.cap.headroom * q if self.cap is not None else 0.0) - budget
        if excess <= 0 or not np.any(p > excess):
            return p
        extra = costs + (q * self.cap.loads if self.cap is not None else 0.0)
        able = np.flatnonzero(p > excess)
        tried = np.tile(p, (len(able), 1))
        lowered = np.maximum(0.0, p[able] - excess * (1.0 + ROUNDING) - np.spacing(p.sum()))
        tried[np.arange(len(able)), able] = lowered
        total = extra + tried[:, np.newaxis, self.arrays.machine_of] * self.loads
        proved = np.where(self.arrays.can_run, total, np.inf).min(axis=2).sum(axis=1)
        return np.asarray(tried[proved.argmax()])


def scaling_of(bag: Bag, *, seconds: float | None = None, whole: bool = True) -> Scaling:
    """Return the scaling of a bag, with its own T or a given one; L is 0 if tasks need not be `whole`."""
    arrays = usable_arrays(bag)
    n, e = arrays.task_counts[:, np.newaxis], arrays.seconds
    work = n * e / arrays.machine_counts[arrays.machine_of]  # seconds, spread over all machines of the type
    joules = None
    if arrays.watts is not None:
        joules = np.where(arrays.can_run, n * e * (arrays.watts - arrays.idle_watts[arrays.machine_of]), 0.0)
    left = exact_cost_model(bag).headroom
    headroom = None if left is None else float(left)  # rounded once: cap and idle floor may nearly cancel
    shortest = float(least_makespan(bag)[0]) if whole else 0.0
    shortest = 0.0 if is_redundant(arrays, shortest) else shortest
    if seconds is None:
        seconds = max(shortest, _enough(arrays, work, joules, headroom))
    loads = work / seconds
    heaviest = np.maximum(loads, 1.0)
    cap = None
    if headroom is not None and joules is not None:
        moves = np.where(joules != 0, np.abs(joules), np.inf).min(axis=1)
        allowance = max(abs(headroom) * seconds, float(moves[np.isfinite(moves)].sum())) or 1.0
        cap = CapScaling(headroom, allowance, joules / allowance, headroom * seconds / allowance)
        heaviest = np.maximum(heaviest, np.abs(cap.loads))
    return Scaling(bag, arrays, seconds, loads, joules, cap, 1.0 / heaviest, shortest)


def _one_each(arrays: BagArrays, amounts: Floats) -> Floats:
    """Return shares that send every task type whole to its column with the least amount."""
    best = np.where(arrays.can_run, amounts, np.inf).argmin(axis=1)
    shares = np.zeros_like(amounts)
    shares[np.arange(len(best)), best] = 1.0
    return shares


def _enough(arrays: BagArrays, work: Floats, joules: Floats | None, headroom: float | None) -> float:
    """Return T: the makespan of the fastest way under the cap, or of the one with least energy, if that ends sooner."""
    ways = [_one_each(arrays, amounts) for amounts in (work, joules) if amounts is not None]
    longest = [float(np.bincount(arrays.machine_of, weights=(work * way).sum(axis=0)).max()) for way in ways]
    if joules is None or headroom is None:
        return min(longest)
    used = [float((joules * way).sum()) for way in ways]
    if headroom > 0:
        return min(max(pair[0], pair[1] / headroom) for pair in zip(longest, used, strict=True))
    return longest[-1]  # without headroom only the way with least energy is sure to keep the cap, if any does


# What whole tasks imply and split ones do not: a least makespan, and no pair longer than the deadline.
#
# A machine of type j finishes at most floor(t / e_jS) tasks of a set S of task types in t seconds, where e_jS
# is the shortest time of any of them there. So every schedule has
#
#     sum_j m_j floor(t / e_jS)  >=  n(S),        e_jS = min over i in S and k of e_ijk,
#
# and is no shorter than the least t for which that holds, L_S. For one task type this is at least the time of
# one task where it is done soonest; with more tasks than machines it counts the second, third, ... task of a
# machine (the pigeonhole principle). All task types are tried alone, and all sets of those that take longest
# where they are done soonest. L, the largest L_S, is a row of every program, t >= L. Which set that is,
# doubles decide; its L_S is then worked out exactly.
#
# The row is redundant where machines run many tasks: sum_i n_i min_jk e_ijk / sum_j m_j is a lower bound of
# the programs as they stand. Where L is no larger, it is not handed to the solver.
#
# `bag/certificate/bounds.py` checks L_S again from S, in exact arithmetic.
MANY: Final = 100_000  # pairs: with more, only the longest task is looked for
STEPS: Final = 60  # of a bisection: more than a double has digits
KEY: Final = "_least_makespan"  # beside the cached properties of a bag


def least_makespan(bag: Bag) -> tuple[Fraction, tuple[int, ...]]:
    """Return L, exactly, and the task types that show it: 9 s for 5 tasks of 3 s on 2 machines."""
    if KEY not in vars(bag):
        vars(bag)[KEY] = _found(arrays_of(bag))
    found: tuple[Fraction, tuple[int, ...]] = vars(bag)[KEY]
    return found


def is_redundant(arrays: BagArrays, seconds: float) -> bool:
    """Return whether the programs imply t >= seconds without a row for it."""
    soonest = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=1)
    return bool(seconds <= arrays.task_counts @ soonest / arrays.machine_counts.sum())


def _found(arrays: BagArrays) -> tuple[Fraction, tuple[int, ...]]:
    # The shortest time of each task type on each machine type; infinite where it cannot run.
    quickest = np.minimum.reduceat(np.where(arrays.can_run, arrays.seconds, np.inf), arrays.firsts, axis=1)
    soonest = quickest.min(axis=1)
    longest = int(soonest.argmax())
    best = (Fraction(float(soonest[longest])), (longest,))
    if quickest.size > MANY:
        return best
    order = np.argsort(-soonest, kind="stable")
    seconds = np.concatenate((quickest, np.minimum.accumulate(quickest[order], axis=0)))
    counts = np.concatenate((arrays.task_counts, np.cumsum(arrays.task_counts[order])))
    # For which rows may the least t be the largest? t / e - 1 < floor(t / e) <= t / e bounds each.
    rates = (1.0 / seconds) @ arrays.machine_counts
    rows = np.flatnonzero((counts + arrays.machine_counts.sum()) / rates >= (counts / rates).max())
    times, tasks = seconds[rows], counts[rows]
    limits: Floats = tasks * times.min(axis=1)  # about the least t of each row in which its tasks are finished
    low = np.zeros_like(limits)
    for _ in range(STEPS):
        middle = 0.5 * (low + limits)
        enough = np.floor(middle[:, np.newaxis] / times) @ arrays.machine_counts >= tasks
        low, limits = np.where(enough, low, middle), np.where(enough, middle, limits)
    most = int(limits.argmax())
    at = int(rows[most])
    types = (at,) if at < len(order) else tuple(sorted(order[: at - len(order) + 1].tolist()))
    exact = _exact(seconds[at], int(counts[at]), arrays.machine_counts, float(limits[most]))
    return max(best, (exact, types), key=lambda each: each[0])


def _exact(seconds: Floats, count: int, machines: Floats, about: float) -> Fraction:
    """Return the least t of one row, exactly: a whole number of tasks on some machine; 0 if none is near."""
    runs = np.flatnonzero(np.isfinite(seconds))
    times = {int(j): Fraction(float(seconds[j])) for j in runs}
    ends = {max(1, round(about / float(seconds[j])) + step) * times[int(j)] for j in runs for step in (-1, 0, 1)}
    for end in sorted(ends, reverse=True):
        before = sum(int(machines[j]) * (-(-end // each) - 1) for j, each in times.items())
        if before < count:  # of which fewer than all are finished in any shorter time
            return end
    return Fraction(0)
