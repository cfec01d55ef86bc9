"""Bound without waiting: the most utility that a day can earn with so much energy, if no task ever waited.

A task of type i with utility function U may be dropped, or run on machine type j in P-state k. It then takes
e_ijk a_ijk joules, and earns at most U(e_ijk): it cannot end earlier than e seconds after its arrival, and
utility never rises. So, whatever the machines do, energy E and utility of a schedule are sums over the tasks
of points

    (0, 0)     or     (e_ijk a_ijk, U(e_ijk))  or less utility                    for some j, k

Of a task that a period cuts (`instance/period.py`) a share s counts: of the energy s e a, of the utility at
most s U(e). That point lies on the line from (0, 0) to the task's whole one, so it is one of the mixtures
below, and the bound holds for any period; an energy constraint only takes schedules away.

Letting every task mix its points freely makes the most utility a concave function of the energy:

    max   sum U(e_ijk) x_nijk
    s.t.  sum e_ijk a_ijk x_nijk  <=  E            over all tasks n
          sum_jk x_nijk           <=  1            for each task n
          x >= 0

A task only ever mixes neighbours on the upper left hull of its points, a chain of steps of falling slope
dU / dE. Take the steps of all tasks in the order of their slopes, the steepest first: the points passed on
the way are the vertices of that function. (The slope at E is the price of energy in the dual; machine time
has no price here, which is why waiting costs nothing.)

Rounding. Sums are whole numbers, exact (`task_hulls.py`). Vertices are then rounded towards less energy and
more utility, so that no point on the way between two of them is lower than before.

Source: the last vertex, utility at any energy, is the upper bound of Friese, thesis of 2015, section 2.7.1;
the bound for each energy is ours.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from typing import TYPE_CHECKING

from lpsched.formulations.task_hulls import UNIT, hull, points_of

if TYPE_CHECKING:
    from lpsched.formulations.task_hulls import Point
    from lpsched.instance.day import Day


@dataclass(frozen=True, slots=True)
class NoWaitingFront:
    """No schedule of the day earns more with as little energy.

    Attributes
    ----------
    energies, utilities
        The vertices, joules and utility, by rising energy. Before the first there is nothing; after the last,
        more energy brings no more.
    least_joules
        What all tasks together take at least, if every task is run and no period cuts it.
    """

    energies: tuple[float, ...]
    utilities: tuple[float, ...]
    least_joules: float

    @property
    def highest_utility(self) -> float:
        """What the day earns at most, at any energy."""
        return self.utilities[-1]

    def most_utility(self, joules: float) -> float:
        """Return what a schedule that takes so many joules earns at most; rounded up.

        >>> NoWaitingFront((0.0, 2.0, 6.0), (0.0, 4.0, 6.0), 2.0).most_utility(4.0)
        5.0
        """
        assert joules >= 0.0, "energy is not negative"
        after = bisect_right(self.energies, joules)
        if after == len(self.energies):
            return self.highest_utility
        (e1, e2), (u1, u2) = self.energies[after - 1 : after + 1], self.utilities[after - 1 : after + 1]
        share = (Fraction(joules) - Fraction(e1)) / (Fraction(e2) - Fraction(e1))
        return _float_up(Fraction(u1) + share * (Fraction(u2) - Fraction(u1)))


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
    energies, utilities = [0.0], [_float_up(Fraction(start, UNIT))]
    for place, (de, du) in enumerate(steps):
        joules, utility = joules + de, utility + du
        if place + 1 < len(steps) and steps[place + 1][1] * de == du * steps[place + 1][0]:
            continue  # straight on
        energy = _float_down(Fraction(joules, UNIT * UNIT))
        if energy > energies[-1]:
            energies.append(energy)
            utilities.append(_float_up(Fraction(utility, UNIT)))
        else:  # too close to tell in doubles
            utilities[-1] = _float_up(Fraction(utility, UNIT))
    return NoWaitingFront(tuple(energies), tuple(utilities), _float_down(Fraction(least, UNIT * UNIT)))


def _by_slope(one: Point, other: Point) -> int:
    """Compare two steps, so that the steeper one comes first."""
    left, right = other[1] * one[0], one[1] * other[0]
    return (left > right) - (left < right)


def _float_up(exact: Fraction) -> float:
    rounded = float(exact)
    return rounded if rounded >= exact else math.nextafter(rounded, math.inf)


def _float_down(exact: Fraction) -> float:
    rounded = float(exact)
    return rounded if rounded <= exact else math.nextafter(rounded, -math.inf)
