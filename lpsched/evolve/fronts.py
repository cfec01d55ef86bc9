"""Fronts of two criteria: domination, hypervolume, gaps to a proved front."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeAlias, TypeVar

import numpy as np

from lpsched.model.results import JsonObject, run_time
from lpsched.units import gap_text

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers
    from lpsched.model.violation import Violation


# The points that no other point beats, and the area that they beat: both scores are minimised.
#
# A point dominates another if it is nowhere worse and somewhere better. Rank 1 are the points that none
# dominates; by rising first score, their second scores fall. The hypervolume, here an area, is that of all
# points which some point dominates and which dominate the reference: a staircase.
def rank_one(scores: Floats) -> Integers:
    """Return the rows of rank 1 by rising first score; of equal ones, the first.

    >>> rank_one(np.array([[3.0, 1.0], [1.0, 5.0], [3.0, 2.0], [1.0, 5.0], [2.0, 4.0]])).tolist()
    [1, 4, 0]
    """
    rising = np.lexsort((scores[:, 1], scores[:, 0]))
    second = scores[rising, 1]
    best_before = np.concatenate(([np.inf], np.minimum.accumulate(second)[:-1]))
    rows: Integers = rising[second < best_before]
    return rows


def hypervolume(scores: Floats, reference: tuple[float, float]) -> float:
    """Return the area between the points and the reference; points that are not better in both add none.

    >>> hypervolume(np.array([[1.0, 3.0], [2.0, 1.0], [9.0, 0.0]]), (4.0, 4.0))  # 1 x 1 + 2 x 3
    7.0
    """
    points = scores[rank_one(scores)]
    points = points[(points < reference).all(axis=1)]
    widths = np.append(points[1:, 0], reference[0]) - points[:, 0]
    return float(widths @ (reference[1] - points[:, 1]))


# Distance of points from a proved front: the area that they dominate, and their gap.
#
# Both criteria are minimised: x is energy in joules, y is makespan in seconds or *minus* utility.
#
#     (x_0, y_0), ..., (x_n, y_n)   the vertices of the proved front: x rises, y falls, the chain is convex
#     f(x)       the front: straight between the corners, y_n right of the last; nothing is left of x_0
#     (x*, y*)   the reference: a tenth beyond the worst x and the worst y of everything that is compared,
#                corners included; a tenth of the way from the best of each to the worst
#
#     area of the front   A  =  integral of y* - f(x) from x_0 to x*
#                            =  sum over k of (x_k - x_(k-1)) (y* - (y_(k-1) + y_k) / 2)
#                               + (x* - x_n) (y* - y_n)
#     area of points      H  =  area of all that lies right of and above some point, up to the reference
#     hypervolume ratio   H / A           1 is the whole front, and nothing is more
#     gap                 |y / f(x) - 1|  of one point: to the front at its energy, in makespan or utility
#
# The areas are taken in units of x* - x_0 and y* - y_n, so that no unit matters. Without the tenth, the ends
# of a front would dominate nothing. A worse point in the comparison moves the reference, and all ratios with
# it; distances do not depend on what else is compared. Finitely many points never dominate all that lies
# above a sloping line, so that a front of few points has a low ratio even if all of them are on the line.
#
# Where all that is compared is level in one criterion there is no area, and no ratio.
BEYOND: Final = 0.1  # of the extent of all that is compared
ROUNDING: Final = 1e-9  # of the reference; what is nearer to it is the rounding of doubles

Pair: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Chain:
    """The corners of a proved front, by rising x.

    >>> chain = Chain(((1.0, 4.0), (3.0, 2.0)))
    >>> chain.at(2.0), chain.at(9.0)
    (3.0, 2.0)
    >>> chain.area_ratio([(1.0, 4.0), (3.0, 2.0)], reference=(5.0, 4.0))  # 2 x 2 of 2 x 1 + 2 x 2
    0.6666666666666666
    """

    corners: tuple[Pair, ...]

    def at(self, x: float) -> float:
        """Return the front at an x; left of its first corner what it is there, for x may be rounded."""
        after = bisect_right(self.corners, x, key=lambda corner: corner[0])
        if after == 0:
            return self.corners[0][1]
        if after == len(self.corners):
            return self.corners[-1][1]
        (left, high), (right, low) = self.corners[after - 1 : after + 1]
        return high + (low - high) * ((x - left) / (right - left))

    def area_ratio(self, points: Sequence[Pair], reference: Pair) -> float | None:
        """Return the hypervolume ratio of some points; no corner is worse than the reference."""
        (left, _), (_, low) = self.corners[0], self.corners[-1]
        worst, highest = reference
        if worst - left <= ROUNDING * abs(worst) or highest - low <= ROUNDING * abs(highest):
            return None

        def scaled(pair: Pair) -> Pair:
            return (worst - pair[0]) / (worst - left), (highest - pair[1]) / (highest - low)

        corners = [scaled(corner) for corner in self.corners]  # from the reference: x falls, y rises
        between = sum((left[0] - right[0]) * (left[1] + right[1]) / 2 for left, right in pairwise(corners))
        whole = between + corners[-1][0] * corners[-1][1]
        nearer = np.array([scaled(point) for point in points]).reshape(-1, 2)
        return min(1.0, hypervolume(-nearer, (0.0, 0.0)) / whole)  # rounding, never more


def reference_of(pairs: Sequence[Pair]) -> Pair:
    """Return a point a tenth beyond the worst x and the worst y of all.

    >>> reference_of([(1.0, 9.0), (11.0, 4.0)])
    (12.0, 9.5)
    """
    x, y = (max(values) + BEYOND * (max(values) - min(values)) for values in zip(*pairs, strict=True))
    return x, y


SomePoint = TypeVar("SomePoint")  # what a schedule takes and achieves
SomeSchedule = TypeVar("SomeSchedule")


@dataclass(frozen=True, slots=True)
class FrontEntry(JsonObject, Generic[SomePoint, SomeSchedule]):
    """The result of a method; the comment above defines its gaps, which JSON calls distances."""

    name: str
    points: tuple[SomePoint, ...] = ()  # by rising energy, none dominated, all verified
    schedules: tuple[SomeSchedule, ...] = ()  # of the points
    hypervolume_ratio: float | None = None  # the area that they dominate, as a share of what the proved front does
    mean_distance: float | None = None  # gap to the proved front at the same energy
    largest_distance: float | None = None
    seconds: float | None = None  # run time; `None` for schedules that were only read
    generations: int | None = None  # of an evolution
    ended: str | None = None  # why it ended
    refused: int = 0  # schedules that break a rule
    violations: tuple[Violation, ...] = ()  # of the first of these, or of a method that failed or was not run

    @property
    def valid(self) -> bool:
        """Whether there is a point, and no schedule breaks a rule."""
        return bool(self.points) and not self.refused

    _KEYS: ClassVar = (
        "name points hypervolume_ratio mean_distance largest_distance seconds generations ended refused violations"
    )

    def row(self) -> tuple[str, ...]:
        """Return name, points and gaps as cells of a table."""
        ratio = "-" if self.hypervolume_ratio is None else f"{self.hypervolume_ratio:.4f}"
        distances = gap_text(self.mean_distance), gap_text(self.largest_distance)
        return self.name, f"{len(self.points):,}", ratio, *distances, run_time(self.seconds)


def front_entry(
    name: str,
    found: Sequence[tuple[SomePoint, SomeSchedule]],
    broken: Sequence[tuple[Violation, ...]],
    pair_of: Callable[[SomePoint], Pair],
    distances: Callable[[Sequence[SomePoint]], tuple[float | None, float | None]],
) -> FrontEntry[SomePoint, SomeSchedule]:
    """Return the undominated points of a method, their mean and largest gap, and the rules that are broken."""
    best = rank_one(np.array([pair_of(point) for point, _ in found]).reshape(-1, 2)).tolist()
    points = tuple(found[place][0] for place in best)
    mean, largest = distances(points)
    return FrontEntry(
        name,
        points,
        tuple(found[place][1] for place in best),
        mean_distance=mean,
        largest_distance=largest,
        refused=len(broken),
        violations=broken[0] if broken else (),
    )
