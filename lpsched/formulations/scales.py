"""Pure numbers for the solver: what all bag formulations count in.

Solvers have absolute tolerances, so every amount is told as a share of something of its own size:

    T        seconds: a makespan that surely suffices, or any other of the order of the answer
    L        seconds: a makespan that no schedule of whole tasks undercuts (`whole_tasks.py`)
    l_ijk    n_i e_ijk / (m_j T): the load, if all tasks of type i ran in this column (j, k)
    F        joules: |P - I| T, what the cap leaves above the idle floor in T seconds, or the least that the
             tasks move away from it, if that is more
    delta    n_i d_ijk / F: what all tasks of type i take of that, d_ijk = e_ijk (a_ijk - b_j)
    sigma    (P - I) T / F, between -1 and 1; negative under an idle floor above the cap
    u_ijk    the share of task type i that one unit of a column's variable stands for: 1 / max(1, l, |delta|)

T is what comes of sending every task type whole to the column that finishes it soonest (stretched until the
cap is kept), or to the one with the least d, if that is done sooner. With u, every coefficient of capacity
and cap lies in [-1, 1], for 10 tasks and for 10^15.

A solver keeps dual feasibility to its tolerance in its own units. Where u < 1, a price of 0 instead of 1e-9
passes there; but at a price of 0 the task type would cost nothing, and the certificate prove nothing.
`sound_prices` therefore raises prices, by no more than that tolerance, until no such pair is too cheap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.whole_tasks import is_redundant, least_makespan
from lpsched.instance.arrays import BagArrays, usable_arrays

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Mask
    from lpsched.lp.program import LpSolution

ROUNDING: Final = 1e-9
LIGHTEST: Final = 1e-11  # a smaller u might be taken for 0, and its pair then for free
DEAREST: Final = 1e12  # times the unit of cost: what costs more is not told apart
SLACK: Final = (
    2.0  # between what a variable can be and its upper bound: a tight bound would take prices from rows
)


@dataclass(frozen=True, slots=True)
class CapScale:
    """The average-power cap at the machines: sum d x <= headroom t."""

    headroom_watts: float  # P - I
    joules: float  # F
    loads: Floats  # delta
    headroom: float  # sigma


@dataclass(frozen=True)
class Scales:
    """The numbers above, for one bag and one T."""

    bag: Bag
    arrays: BagArrays
    seconds: float  # T
    loads: Floats  # l
    joules: Floats | None  # n d: what all tasks of a type take above idle in this column
    cap: CapScale | None
    units: Floats  # u
    shortest: float = 0.0  # L: no schedule takes less; 0 where the programs know

    def allows(self, seconds: float) -> bool:
        """Tell whether a makespan is none that L forbids, but for rounding."""
        return seconds >= self.shortest * (1.0 - ROUNDING)

    def split(self) -> Scales:
        """Return the same scales for split tasks: without L."""
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

    def shares_of(self, amounts: Floats) -> Floats:
        """Return shares that sum to 1, from variables; who has none goes where it is done soonest."""
        shares = np.maximum(amounts, 0.0) * self.usable_units
        totals = shares.sum(axis=1, keepdims=True)
        if not 0 < totals.min() <= totals.max() < np.inf:  # NaN fails as well
            lost = ~((totals > 0) & np.isfinite(totals)).ravel()
            shares[lost] = _one_each(self.arrays, self.loads)[lost]
            totals[lost] = 1.0
        whole: Floats = shares / totals
        return whole

    @cached_property
    def usable_units(self) -> Floats:
        """The units, and 0 for pairs that cannot run."""
        return np.where(self.arrays.can_run, self.units, 0.0)

    @cached_property
    def is_told(self) -> Mask:
        """Which pairs the solver hears of: those that can run, and are not heavier than it can tell."""
        told: Mask = self.arrays.can_run & (self.units > LIGHTEST)
        return told

    def to_least(self, amounts: Floats) -> Floats:
        """Return the shares that send every task type whole where its amount is least."""
        return _one_each(self.arrays, amounts)

    def to_least_energy(self) -> Floats:
        """Return the shares that take the fewest joules above idle."""
        return _one_each(self.arrays, self.loads if self.joules is None else self.joules)

    def sound_prices(self, costs: Floats, solution: LpSolution) -> tuple[Floats, float]:
        """Return prices of capacity and cap at which no pair is cheaper than its demand row says.

        `costs` is what a whole task type costs in each column. With v_i the multiplier of demand i, the dual
        program asks costs + p_j l + q delta >= v_i of every pair.
        """
        arrays = self.arrays
        tasks, machines = arrays.can_run.shape[0], len(arrays.machine_counts)
        multipliers = np.where(np.isfinite(solution.multipliers), solution.multipliers, 0.0)
        v = multipliers[:tasks, np.newaxis]
        p = np.maximum(-multipliers[tasks : tasks + machines], 0.0)
        q = max(-float(multipliers[tasks + machines]), 0.0) if self.cap is not None else 0.0
        delta = self.cap.loads if self.cap is not None else np.zeros_like(self.loads)
        heavy = arrays.can_run & (self.loads >= np.maximum(1.0, np.abs(delta)))
        missing = v - costs - q * delta
        least = np.where(heavy, missing / np.where(heavy, self.loads, 1.0), 0.0).max(axis=0)
        needed = np.zeros(machines)
        np.maximum.at(needed, arrays.machine_of, least)
        p = np.where(needed > p * (1.0 + ROUNDING), needed, p)
        hot = arrays.can_run & (delta >= np.maximum(1.0, self.loads))
        if hot.any():
            missing = v - costs - p[arrays.machine_of] * self.loads
            enough = float((missing[hot] / delta[hot]).max())
            q = enough if enough > q * (1.0 + ROUNDING) else q
        return p, q

    def within_budget(self, costs: Floats, p: Floats, q: float, budget: float) -> Floats:
        """Return prices that add up to no more than a second may cost: sum p + sigma q <= budget.

        What is too much, after rounding and `sound_prices`, is taken from the one price where that lowers
        the sum of all cheapest pairs least. To scale all prices down instead would cost far more where a
        pair saves much idle power: there two large terms nearly cancel.
        """
        excess = float(p.sum()) + (self.cap.headroom * q if self.cap is not None else 0.0) - budget
        if excess <= 0 or not np.any(p > excess):
            return p
        extra = costs + (q * self.cap.loads if self.cap is not None else 0.0)
        best, most = p, -np.inf
        for j in np.flatnonzero(p > excess):
            tried = p.copy()
            tried[j] = max(0.0, tried[j] - excess * (1.0 + ROUNDING) - np.spacing(p.sum()))
            total = extra + tried[self.arrays.machine_of] * self.loads
            proved = float(np.where(self.arrays.can_run, total, np.inf).min(axis=1).sum())
            if proved > most:
                best, most = tried, proved
        return best


def scales_of(bag: Bag, *, seconds: float | None = None, whole: bool = True) -> Scales:
    """Return the scales of a bag, with its own T or a given one; L is 0 if tasks need not be `whole`."""
    arrays = usable_arrays(bag)
    n, e = arrays.task_counts[:, np.newaxis], arrays.seconds
    work = n * e / arrays.machine_counts[arrays.machine_of]  # seconds, spread over all machines of the type
    joules = None
    if arrays.watts is not None:
        joules = np.where(arrays.can_run, n * e * (arrays.watts - arrays.idle_watts[arrays.machine_of]), 0.0)
    headroom = _headroom(bag)
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
        cap = CapScale(headroom, allowance, joules / allowance, headroom * seconds / allowance)
        heaviest = np.maximum(heaviest, np.abs(cap.loads))
    return Scales(bag, arrays, seconds, loads, joules, cap, 1.0 / heaviest, shortest)


def _headroom(bag: Bag) -> float | None:
    site = bag.site
    if site.average_power_cap_watts is None:
        return None
    meter = Fraction(site.pue) if site.cap_measured_at == "facility" else 1
    floor = sum(each.count * Fraction(each.idle_watts) for each in bag.machine_types)
    return float(Fraction(site.average_power_cap_watts) / meter - floor)  # exact: the two may nearly cancel


def _one_each(arrays: BagArrays, amounts: Floats) -> Floats:
    """Return shares that send every task type whole to its column with the least amount."""
    best = np.where(arrays.can_run, amounts, np.inf).argmin(axis=1)
    shares = np.zeros_like(amounts)
    shares[np.arange(len(best)), best] = 1.0
    return shares


def _enough(arrays: BagArrays, work: Floats, joules: Floats | None, headroom: float | None) -> float:
    """Return T: how long the soonest way takes under the cap, or the thriftiest, if that is done sooner.

    Without headroom only the thriftiest way is sure to keep the cap, if any does.
    """
    ways = [_one_each(arrays, amounts) for amounts in (work, joules) if amounts is not None]
    longest = [float(np.bincount(arrays.machine_of, weights=(work * way).sum(axis=0)).max()) for way in ways]
    if joules is None or headroom is None:
        return min(longest)
    used = [float((joules * way).sum()) for way in ways]
    if headroom > 0:
        return min(max(pair[0], pair[1] / headroom) for pair in zip(longest, used, strict=True))
    return longest[-1]
