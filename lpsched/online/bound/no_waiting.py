"""Bounds without waiting: utility over energy, the no-wait reference, and prices of flows of tasks."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.lp.soft_prices import descend
from lpsched.model.fixed_point import rounded_down, rounded_up

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.bound.offers import Offers
    from lpsched.online.day import Day
    from lpsched.online.parts import Period
    from lpsched.online.utility import UtilityFunction


# The choices of one task, energy and utility, and the vertices of their hull, in whole numbers. A task that runs takes
# e a joules, and earns at most U(e): it cannot end earlier than e seconds after its arrival, and utility never rises. A
# dropped task takes and earns nothing, the point (0, 0). Mixing choices reaches all that is below the upper left hull
# of these points, so only its vertices matter; each step to the next vertex brings less utility for a joule.
#
# Rounding. Seconds and watts are whole numbers of 2^-160, so energies are exact. `exp` is not: a utility in an interval
# that starts at s is raised by s * MARGIN. The error of f + (s - f) exp(-x) in doubles is below (3 + x exp(-x)) 2^-52
# s, a thousandth of that; so no computed utility of a later end is above it.
Row: TypeAlias = "Sequence[float | None]"

MARGIN: Final = 2.0**-40
UNIT: Final = 1 << 160  # amounts are 0 or at least 1e-30, hence whole numbers of 2^-160
Point = tuple[int, int]  # joules in 1 / UNIT^2, utility in 1 / UNIT


def hull(points: Sequence[Point]) -> list[Point]:
    """Return the vertices of the upper left hull of some points and (0, 0): rising, with falling slopes.

    >>> hull([(2, 4), (3, 3), (4, 5), (6, 6), (8, 6)])
    [(0, 0), (2, 4), (6, 6)]
    """
    corners: list[Point] = []
    for joules, utility in sorted([(0, 0), *points], key=lambda each: (each[0], -each[1])):
        if corners and utility <= corners[-1][1]:
            continue  # no better for more energy
        while len(corners) > 1:
            (e1, u1), (e2, u2) = corners[-2:]
            if (u2 - u1) * (joules - e1) > (utility - u1) * (e2 - e1):
                break
            corners.pop()  # the way from the one before passes above it
        corners.append((joules, utility))
    return corners


def points_of(function: UtilityFunction, seconds: Row, watts: Row) -> list[Point]:
    """Return energy and most utility of a task on each column that can run it."""
    return [
        (_whole(e) * _whole(a), _earned_at_most(function, e))
        for e, a in zip(seconds, watts, strict=True)
        if e is not None and a is not None
    ]


def _earned_at_most(function: UtilityFunction, seconds: float) -> int:
    """Return U(seconds) with its margin, in 1 / UNIT, rounded up."""
    begun = [each for each in function.intervals if each.after_seconds <= seconds]
    return _whole_up(function.at(seconds)) + _whole_up(begun[-1].starts_at * MARGIN)


def _whole(number: float) -> int:
    """Return how many 1 / UNIT an amount is."""
    numerator, denominator = number.as_integer_ratio()
    assert numerator * UNIT % denominator == 0, "amounts are 0 or at least 1e-30"
    return numerator * UNIT // denominator


def _whole_up(number: float) -> int:
    """Return how many 1 / UNIT a number is, rounded up."""
    numerator, denominator = number.as_integer_ratio()
    return -(-numerator * UNIT // denominator)


# The most utility of a day for each energy, if no task ever waited. A task of type i with utility function U may be
# dropped, or run on machine type j in P-state k. So, whatever the machines do, energy E and utility of a schedule are
# sums over the tasks of the points above,
#     (0, 0)     or     (e_ijk a_ijk, U(e_ijk))  or less utility                    for some j, k
# Of a task that a period cuts (`online/parts.py`) a share s counts: of the energy s e a, of the utility at most s U(e).
# That point is a mixture of (0, 0) and the whole one, so the bound holds for any period; an energy constraint only
# takes schedules away.
#
# Letting every task mix its points freely makes the most utility a concave function of the energy:
#     max   sum U(e_ijk) x_nijk
#     s.t.  sum e_ijk a_ijk x_nijk  <=  E            over all tasks n
#           sum_jk x_nijk           <=  1            for each task n
#           x >= 0
# A task only ever mixes neighbours on its hull, a chain of steps of falling slope dU / dE. The steps of all tasks in
# the order of their slopes, the steepest first, lead to the vertices of that function. (The slope at E is the price of
# energy in the dual; machine time has no price here, which is why waiting costs nothing.)
#
# Rounding. Sums are exact whole numbers. Vertices are then rounded towards less energy and more utility, so that no
# point between two of them is lower than before.
# Source: the last vertex, utility at any energy, is the upper bound of Friese, thesis of 2015, section 2.7.1; the bound
# for each energy is ours.
@dataclass(frozen=True, slots=True)
class NoWaitingFront:
    """No schedule of the day earns more with as little energy; after the last vertex more brings no more."""

    energies: tuple[float, ...]  # of the vertices, joules, rising
    utilities: tuple[float, ...]
    least_joules: float  # that all tasks together take, if every task is run and no period cuts it

    @property
    def highest_utility(self) -> float:
        """What the day earns at most, at any energy."""
        return self.utilities[-1]

    def most_utility(self, joules: float) -> float:
        """Return what a schedule that takes this energy earns at most; rounded up.

        >>> NoWaitingFront((0.0, 2.0, 6.0), (0.0, 4.0, 6.0), 2.0).most_utility(4.0)
        5.0
        """
        assert joules >= 0.0, "energy is not negative"
        after = bisect_right(self.energies, joules)
        if after == len(self.energies):
            return self.highest_utility
        (e1, e2), (u1, u2) = self.energies[after - 1 : after + 1], self.utilities[after - 1 : after + 1]
        share = (Fraction(joules) - Fraction(e1)) / (Fraction(e2) - Fraction(e1))
        return rounded_up(Fraction(u1) + share * (Fraction(u2) - Fraction(u1)))


def no_waiting_front(day: Day) -> NoWaitingFront:
    """Return the bound at every energy; the work is a hull for each task type and utility function."""
    functions = memoryview(day.function_numbers).cast("q")
    alike = Counter(zip(day.arriving.type_numbers, functions, strict=True))
    steps: list[Point] = []
    start = least = 0
    for (i, f), count in alike.items():
        points = points_of(day.functions[f], day.seconds.row(i), day.watts.row(i))
        least += count * min(joules for joules, _ in points)
        corners = hull(points)
        start += count * corners[0][1]
        steps += [(count * (e2 - e1), count * (u2 - u1)) for (e1, u1), (e2, u2) in pairwise(corners)]
    return _chain(start, steps, least)


def _chain(start: int, steps: list[Point], least: int) -> NoWaitingFront:
    """Return the vertices that the steps lead to, the steepest first."""
    steps.sort(key=lambda step: -step[1] / step[0])  # nearly and quickly, then exactly
    steps.sort(key=cmp_to_key(_by_slope))
    joules, utility = 0, start
    energies, utilities = [0.0], [rounded_up(Fraction(start, UNIT))]
    for place, (de, du) in enumerate(steps):
        joules, utility = joules + de, utility + du
        if place + 1 < len(steps) and steps[place + 1][1] * de == du * steps[place + 1][0]:
            continue  # straight on
        energy = rounded_down(Fraction(joules, UNIT * UNIT))
        if energy > energies[-1]:
            energies.append(energy)
            utilities.append(rounded_up(Fraction(utility, UNIT)))
        else:  # not different in doubles
            utilities[-1] = rounded_up(Fraction(utility, UNIT))
    return NoWaitingFront(tuple(energies), tuple(utilities), rounded_down(Fraction(least, UNIT * UNIT)))


def _by_slope(one: Point, other: Point) -> int:
    """Compare two steps, so that the steeper one comes first."""
    left, right = other[1] * one[0], one[1] * other[0]
    return (left > right) - (left < right)


# The no-wait reference, of the thesis: what would be earned if every task started as it arrives, on its fastest column.
#     reference  =  sum over tasks of share(arrival, arrival + e) U(e),      e the least of the task's seconds
# It is no bound. Real schedules earn less as a rule, since all tasks at once need more machines and power than there
# are. But a task that arrives in the warm-up may wait until the period has begun, and then counts for more (`prices.py`
# bounds that as well). Where waiting has a cost it is a bound.
# Source: Friese, thesis of 2015, section 2.7.1.
def no_wait_reference(offers: Offers, period: Period) -> float:
    """Return what all offers would earn, each at once on machines of its own."""
    if offers.waits:
        return math.fsum(offers.worths(np.zeros(offers.count)).tolist())
    fastest = offers.fastest_seconds
    earned, ends = offers.worths(fastest), offers.arrivals + fastest
    shares = (period.share(*run) for run in zip(offers.arrivals.tolist(), ends.tolist(), strict=True))
    return math.fsum(share * each for share, each in zip(shares, earned.tolist(), strict=True))


# Flows of tasks: prices at which expected tasks, however many, are worth what time and energy there is.
#
# Data       n_gs        tasks of kind g (task type i) expected in slot s; they need not be whole numbers
#            u_gc        utility of one on column c (machine type j and P-state), started as it arrives
#            e_ic, J_ic  its seconds and joules there
#            R_js, E     machine seconds that are free in slot s, and joules that are left
# Variables  x_gcs       tasks that run
#     max   sum u_gc x_gcs
#     s.t.  sum_c x_gcs          <= n_gs    for each kind g and slot s           (demand)
#           sum e_ic x_gcs       <= R_js    for each machine type j and slot s   (capacity: price w_js)
#           sum J_ic x_gcs       <= E                                            (energy: price lambda)
#           x >= 0
# Unlike in `prices.py` no task waits, and none is seen by itself: this is a forecast, and its optimum bounds
# nothing real. Only the prices are wanted. They are where
#     sum_gs n_gs max(0, max_c u_gc - lambda J_ic - w_js e_ic)  +  sum_js R_js w_js  +  lambda E
# is least. With a soft maximum that is smooth, and `lp/soft_prices.py` goes downhill, the temperature
# falling; fixed numbers of steps make the answer the same wherever it is found.
TEMPERATURES: Final = (0.1, 0.03)  # of the mean utility
STEPS: Final = 60  # at each
SETTLED: Final = 1e-4
NEVER: Final = -1e300  # the value of a pair that cannot run


@dataclass(frozen=True, slots=True)
class Flows:
    """The data above: G kinds, S slots, C columns of M machine types."""

    expected: Floats  # G x S: n
    utilities: Floats  # G x C: u
    can_run: Mask  # G x C
    seconds: Floats  # G x C: e of the kind's task type
    joules: Floats  # G x C: J
    column_type: Integers  # C, never falling
    machine_seconds: Floats  # M x S: R
    energy_joules: float  # E, infinite if energy is free


def flow_prices(flows: Flows, start: tuple[Floats, float] | None = None) -> tuple[Floats, float]:
    """Return w (M x S) and lambda; `start`: prices to begin with.

    Ten tasks of 60 s, worth 6 each, and ten worth 3, for 600 machine seconds: the better half runs, so that
    a second is worth between 3 / 60 and 6 / 60.

    >>> once = np.full((2, 1), 60.0)
    >>> flows = Flows(np.full((2, 1), 10.0), np.array([[6.0], [3.0]]), once > 0, once, once,
    ...     np.array([0]), np.array([[600.0]]), math.inf)
    >>> per_second, per_joule = flow_prices(flows)
    >>> bool(3 / 60 < per_second[0, 0] < 6 / 60), per_joule
    (True, 0.0)
    """
    shape = flows.machine_seconds.shape
    nothing = np.zeros(shape), 0.0
    weights = flows.expected.sum(axis=1)
    best = np.where(flows.can_run, flows.utilities, 0.0).max(axis=1, initial=0.0)
    if not weights @ best > 0.0:
        return nothing
    utility = float(weights @ best) / float(weights.sum())
    scales = _scales(flows, weights, utility)
    has_energy = math.isfinite(flows.energy_joules)
    per_second, per_joule = start if start is not None else (np.full(shape, scales[0]), scales[1])
    point = np.append(per_second.ravel() / scales[0], per_joule / scales[1] if has_energy else 0.0)
    for temperature in TEMPERATURES:
        soft = _Softened(flows, scales, temperature * utility, float(weights.sum()) * utility)
        point = descend(soft.at, point, steps=STEPS, settled=SETTLED, cancel=CancelToken())
    return point[:-1].reshape(shape) * scales[0], float(point[-1]) * scales[1]


def _scales(flows: Flows, weights: Floats, utility: float) -> tuple[float, float]:
    """Return what a second and a joule would cost if a task's whole utility went into either."""
    runs = np.maximum(flows.can_run.sum(axis=1), 1)
    seconds = float(weights @ (flows.seconds.sum(axis=1) / runs)) / float(weights.sum())
    joules = float(weights @ (flows.joules.sum(axis=1) / runs)) / float(weights.sum())
    return utility / seconds, utility / joules if joules > 0.0 else 1.0


@dataclass(frozen=True, slots=True)
class _Softened:
    """The smooth function of the scaled prices, and its slope."""

    flows: Flows
    scales: tuple[float, float]
    warmth: float
    unit: float  # by which values are divided, so that they are about 1

    def at(self, point: Floats) -> tuple[float, Floats]:
        flows, (second, joule) = self.flows, self.scales
        supply, energy = flows.machine_seconds, flows.energy_joules
        per_second, per_joule = point[:-1].reshape(supply.shape) * second, float(point[-1]) * joule
        has_energy = math.isfinite(energy)
        net = np.where(flows.can_run, flows.utilities - per_joule * flows.joules, NEVER)
        value = float((supply * per_second).sum()) + (per_joule * energy if has_energy else 0.0)
        time, taken = supply.copy(), energy if has_energy else 0.0
        first = np.searchsorted(flows.column_type, np.arange(len(supply)))
        for s in range(supply.shape[1]):
            earned, runs = self._slot(net - per_second[flows.column_type, s] * flows.seconds, s)
            value += earned
            time[:, s] -= np.add.reduceat((runs * flows.seconds).sum(axis=0), first)
            taken -= float((runs * flows.joules).sum()) if has_energy else 0.0
        slope = np.append((time * second).ravel(), taken * joule)
        return value / self.unit, slope / self.unit

    def _slot(self, net: Floats, s: int) -> tuple[float, Floats]:
        """Return the soft sum of what the kinds earn in a slot, and how many tasks run where."""
        number, most = self.flows.expected[:, s], np.maximum(net.max(axis=1), 0.0)
        chances = np.exp(np.maximum((net - most[:, np.newaxis]) / self.warmth, -700.0))
        chances[~self.flows.can_run] = 0.0
        total = chances.sum(axis=1) + np.exp(-most / self.warmth)
        earned = float(number @ (most + self.warmth * np.log(total)))
        return earned, chances * (number / total)[:, np.newaxis]
