"""What does a task cost that waited so long? From the definition (`instance/waiting.py`), in whole numbers.

    seconds             w d                          w is the weight: 1, the cores, or cores times f
    slowdown            w (1 + d / f)                f is the fewest seconds in which the task can run
    bounded slowdown    w max(1, (d + f) / max(f, b))
    points              w times the line through them

Each is made of straight pieces (begin, cost there, cost per second), exact until they become whole numbers,
and then rounded down. A schedule's own cost is worked out in doubles: 2^-40 of it is granted.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.certificate.fixed_point import PLACES
from lpsched.instance.waiting import BOUNDED, CORE_SECONDS, CORES, SECONDS, SLOWDOWN

if TYPE_CHECKING:
    from lpsched.instance.waiting import WaitingCost

GRANTED: Final = 40  # bits after which a cost is rounding
Piece: TypeAlias = tuple[Fraction, Fraction, Fraction]


class Rising:
    """Minus the cost of waiting, by pieces; it is fixed when a task starts."""

    def __init__(self, waiting: WaitingCost, seconds: float, cores: int) -> None:
        fastest = Fraction(seconds)
        weight = Fraction({CORES: cores}.get(waiting.weight, 1))
        if waiting.weight == CORE_SECONDS:
            weight = cores * fastest
        pieces = list(_pieces(waiting, fastest))
        self.begins = [_down(begin) for begin, _, _ in pieces]
        self._costs = [_down(weight * cost) for _, cost, _ in pieces]
        self._slopes = [_down(weight * slope) for _, _, slope in pieces]

    def interval(self, since: int) -> int:
        """Return the piece of a time since arrival."""
        return bisect_right(self.begins, since) - 1

    def most(self, k: int, since: int) -> int:
        """Return minus the cost by piece k, or a hair more."""
        cost = self._costs[k] + ((self._slopes[k] * (since - self.begins[k])) >> PLACES)
        return (abs(cost) >> GRANTED) - cost


def _pieces(waiting: WaitingCost, fastest: Fraction) -> list[Piece]:
    """Return the pieces for a weight of 1."""
    one, none = Fraction(1), Fraction(0)
    if waiting.measure == SECONDS:
        return [(none, none, one)]
    if waiting.measure == SLOWDOWN:
        return [(none, one, 1 / fastest)]
    if waiting.measure == BOUNDED:
        least = Fraction(waiting.at_least_seconds)
        if fastest >= least:
            return [(none, one, 1 / fastest)]
        return [(none, one, none), (least - fastest, one, 1 / least)]
    points = [(Fraction(after), Fraction(cost)) for after, cost in waiting.points]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    slopes.append(slopes[-1] if slopes else none)
    return [(point[0], point[1], slope) for point, slope in zip(points, slopes, strict=True)]


def _down(exact: Fraction) -> int:
    return (exact.numerator << PLACES) // exact.denominator
