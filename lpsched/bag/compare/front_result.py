"""The exact front and the methods held against it, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.verify import MachineLoad, machine_loads
from lpsched.units import html_table, number

if TYPE_CHECKING:
    from lpsched.bag.exact_front import FrontResult, Point
    from lpsched.bag.schedule import Schedule
    from lpsched.evolve.fronts import FrontEntry


# What a comparison of fronts returns: the exact one, and what others found, each beside the proof.

HEADERS: Final = (
    "method",
    "points",
    "hypervolume",
    "mean above",
    "largest above",
    "seconds",
    "times the front's",
)
OURS: Final = "lp"


@dataclass(frozen=True, slots=True)
class FrontComparison:
    """The exact front, and the methods that were held against it; our own schedules are the first.

    `reference` is a tenth beyond the worst energy and makespan of all that is compared: hypervolumes end
    there.
    """

    front: FrontResult
    reference: Point
    seed: int
    entries: tuple[FrontEntry[Point, Schedule], ...]

    @property
    def valid(self) -> bool:
        """Whether every method but ours found something, and nothing that breaks a rule."""
        return all(entry.valid for entry in self.entries if entry.name != OURS)

    @property
    def front_seconds(self) -> float:
        """How long the exact front took, with proofs and verified schedules."""
        return sum(self.front.timings.values())

    def times_as_long(self, entry: FrontEntry[Point, Schedule]) -> float | None:
        """Return how many times as long as the exact front a method took."""
        took = self.front_seconds
        return None if entry.seconds is None or took <= 0 else entry.seconds / took

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched front --compare --json` prints; its keys are stable."""
        return self.front.to_dict() | {
            "seed": self.seed,
            "reference": self.reference.to_dict(),
            "comparisons": [
                entry.to_dict() | {"times_as_long": self.times_as_long(entry)} for entry in self.entries
            ],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each method."""
        return [(*entry.row(), number(self.times_as_long(entry), 3)) for entry in self.entries]

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.rows())


def shown_front(result: FrontResult | FrontComparison) -> tuple[tuple[Point, ...], tuple[Schedule, ...]]:
    """Return points and schedules of the evolved front if there is one, else of our own schedules."""
    if isinstance(result, FrontComparison):
        evolved = [entry for entry in result.entries if entry.generations is not None and entry.points]
        chosen = (evolved or result.entries)[0]
        return chosen.points, chosen.schedules
    pairs = [
        (point, schedule)
        for point, schedule in zip(result.measured, result.schedules, strict=True)
        if point is not None and schedule is not None
    ]
    return tuple(point for point, _ in pairs), tuple(schedule for _, schedule in pairs)


# Points along a front, and what each machine does there.

__all__ = ["POINTS", "MachineLoad", "MachinePoint", "along", "machine_loads"]

POINTS: Final = 5  # the two ends, the middle, and the two between


@dataclass(frozen=True, slots=True)
class MachinePoint:
    """A point of a front, and the loads of all machines, by machine type, falling within each."""

    letter: str
    point: Point
    loads: tuple[MachineLoad, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the point as it appears in JSON."""
        return {
            "letter": self.letter,
            **self.point.to_dict(),
            "machines": [
                {
                    "machine_type": load.machine_type,
                    "machines": load.machines,
                    "completion_seconds": load.completion_seconds,
                    "energy_joules": load.energy_joules,
                }
                for load in self.loads
            ],
        }


def along(count: int, most: int = POINTS) -> list[int]:
    """Return evenly spaced places of a list, both ends included; all where they are few.

    >>> along(100), along(4), along(1)
    ([0, 25, 50, 74, 99], [0, 1, 2, 3], [0])
    """
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]
