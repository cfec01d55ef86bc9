"""What can one task do? Its choices of energy and utility, and the corners of their hull, in whole numbers.

A task that is run takes e a joules, and earns at most U(e): it cannot end earlier than e seconds after its
arrival, and utility never rises. A task that is dropped takes and earns nothing, the point (0, 0). Mixing
choices reaches all that is below the upper left hull of these points, so only its corners matter; each step
to the next corner brings less utility for a joule than the one before.

Rounding. Seconds and watts are whole numbers of 2^-160, so energies are exact. `exp` is not: a utility in an
interval that starts at s is raised by s * MARGIN. The error of f + (s - f) exp(-x) in doubles is below
(3 + x exp(-x)) 2^-52 s, a thousandth of that; so no computed utility of a later end is above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.utility import UtilityFunction


Row: TypeAlias = "Sequence[float | None]"

MARGIN: Final = 2.0**-40
UNIT: Final = 1 << 160  # amounts are 0 or at least 1e-30, hence whole numbers of 2^-160
Point = tuple[int, int]  # joules in 1 / UNIT^2, utility in 1 / UNIT


def hull(points: Sequence[Point]) -> list[Point]:
    """Return the corners of the upper left hull of some points and (0, 0): rising, with falling slopes.

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
