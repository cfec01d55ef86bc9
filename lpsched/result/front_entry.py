"""One method in a comparison of fronts: its verified points, and how far they are from what is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from lpsched.display import number, percent

if TYPE_CHECKING:
    from lpsched.verify.violation import Violation


class Spot(Protocol):
    """What a schedule takes and achieves."""

    def to_dict(self) -> dict[str, float]:
        """Return it as it appears in JSON."""


SomePoint = TypeVar("SomePoint", bound=Spot)
SomeSchedule = TypeVar("SomeSchedule")


@dataclass(frozen=True, slots=True)
class FrontEntry(Generic[SomePoint, SomeSchedule]):
    """What a method found; its distances are defined in `lpsched/compare/distances.py`.

    Attributes
    ----------
    points, schedules
        By rising energy; none is as good as another in both criteria. All passed the verifier.
    hypervolume_ratio
        The area that the points dominate, as a share of what the proved front does; `None` if there is none.
    mean_distance, largest_distance
        Of the points from the proved front at the same energy, relative; `None` without points.
    seconds
        How long the method took; `None` for schedules that were only read.
    generations, ended
        Of an evolution: how many there were, and what ended it.
    refused, violations
        How many of its schedules break a rule, and the rules that the first of them breaks; a method that
        failed or was not run has one of these as well.
    """

    name: str
    points: tuple[SomePoint, ...] = ()
    schedules: tuple[SomeSchedule, ...] = ()
    hypervolume_ratio: float | None = None
    mean_distance: float | None = None
    largest_distance: float | None = None
    seconds: float | None = None
    generations: int | None = None
    ended: str | None = None
    refused: int = 0
    violations: tuple[Violation, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether there is a point, and no schedule breaks a rule."""
        return bool(self.points) and not self.refused

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        return {
            "name": self.name,
            "points": [point.to_dict() for point in self.points],
            "hypervolume_ratio": self.hypervolume_ratio,
            "mean_distance": self.mean_distance,
            "largest_distance": self.largest_distance,
            "seconds": self.seconds,
            "generations": self.generations,
            "ended": self.ended,
            "refused": self.refused,
            "violations": [{"code": each.code, "sentence": each.sentence} for each in self.violations],
        }

    def row(self) -> tuple[str, ...]:
        """Return name, points and distances as cells of a table."""
        ratio = None if self.hypervolume_ratio is None else f"{self.hypervolume_ratio:.4f}"
        return (
            self.name,
            f"{len(self.points):,}",
            ratio or "-",
            percent(self.mean_distance),
            percent(self.largest_distance),
            number(self.seconds, 3),
        )
