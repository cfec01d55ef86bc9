"""The exact front of a bag and the region above it, as answers: vertices, schedules near them, proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.result import Effort
from lpsched.units import gap_text, html_table, lower_text, number

if TYPE_CHECKING:
    from lpsched.bag.schedule import Schedule
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance

NEAR: Final = 1e-7


FORMAT: Final = "lpsched-front/1"


HEADERS: Final = (
    "",
    "LP vertex, joules",
    "LP vertex, seconds",
    "schedule's joules",
    "schedule's seconds",
    "above the LP vertex",
)


@dataclass(frozen=True, slots=True)
class Point:
    """An energy and a makespan."""

    energy_joules: float
    makespan_seconds: float

    def to_dict(self) -> dict[str, float]:
        """Return the point as it appears in JSON."""
        return {"energy_joules": self.energy_joules, "makespan_seconds": self.makespan_seconds}


@dataclass(frozen=True, slots=True)
class HalfPlane:
    """A proof: joules_weight * energy + seconds_weight * makespan is at least the bound, always."""

    joules_weight: float
    seconds_weight: float
    bound: float

    def to_dict(self) -> dict[str, float]:
        """Return the proof as it appears in JSON."""
        return {"joules_weight": self.joules_weight, "seconds_weight": self.seconds_weight, "bound": self.bound}


@dataclass(frozen=True, slots=True)
class FrontResult:
    """The exact front of the relaxation, by rising energy, and a verified schedule near each of its vertices.

    The vertices are those of the linear program, which may split tasks: a bound, that whole tasks may not
    reach. No schedule lies below or left of the front: `proofs` has a half-plane for each edge, and one for
    each criterion alone. Those of the edges are the linear program's; those of one criterion are the bounds
    that `solve` finds with the same effort. Where whole tasks miss the deadline, there is no schedule for
    that vertex.
    """

    vertices: tuple[Point, ...]
    measured: tuple[Point | None, ...]
    schedules: tuple[Schedule | None, ...]
    proofs: tuple[HalfPlane, ...]
    sample: tuple[Point, ...]
    solves: int
    timings: FrozenDict[str, float]
    provenance: Provenance
    effort: Effort = Effort.AUTO  # of the schedules, and of the proofs of each criterion alone

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched front --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "effort": self.effort.value,
            "vertices": [vertex.to_dict() for vertex in self.vertices],
            "schedules": [None if point is None else point.to_dict() for point in self.measured],
            "proofs": [proof.to_dict() for proof in self.proofs],
            "sample": [point.to_dict() for point in self.sample],
            "timings": dict(self.timings),
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each vertex: what splitting tasks would take, what the schedule takes."""
        rows: list[tuple[str, ...]] = []
        for place, (vertex, point) in enumerate(zip(self.vertices, self.measured, strict=True), start=1):
            above = None if point is None else relative_excess(vertex, point)
            rows.append(
                (
                    str(place),
                    lower_text(vertex.energy_joules),
                    lower_text(vertex.makespan_seconds),
                    number(None if point is None else point.energy_joules),
                    number(None if point is None else point.makespan_seconds),
                    gap_text(above),
                )
            )
        return rows

    @property
    def least_joules(self) -> float | None:
        """What no schedule takes less of, as proved for energy alone: the vertex, or more."""
        return self._alone(1.0, 0.0)

    @property
    def least_seconds(self) -> float | None:
        """What no schedule is shorter than, as proved for the makespan alone: the vertex, or more."""
        return self._alone(0.0, 1.0)

    def _alone(self, joules: float, seconds: float) -> float | None:
        weights = joules, seconds
        known = [each.bound for each in self.proofs if (each.joules_weight, each.seconds_weight) == weights]
        return max(known, default=None)

    def least_text(self) -> str:
        """Return what is proved of each criterion alone."""
        joules, seconds = self.least_joules, self.least_seconds
        bounds = [] if joules is None else [f"less than {lower_text(joules)} joules"]
        bounds += [] if seconds is None else [f"less than {lower_text(seconds)} seconds"]
        return f"no schedule takes {', and none '.join(bounds)}" if bounds else ""

    def sampled_vertices(self) -> int:
        """Return how many of the vertices the sample of weights found."""
        return sum(any(_same(vertex, point) for point in self.sample) for vertex in self.vertices)

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.rows())


def _same(one: Point, two: Point) -> bool:
    near = math.isclose(one.energy_joules, two.energy_joules, rel_tol=NEAR)
    return near and math.isclose(one.makespan_seconds, two.makespan_seconds, rel_tol=NEAR)


def relative_excess(vertex: Point, point: Point) -> float | None:
    """Return the larger of the two relative distances of a schedule from its vertex."""
    if vertex.energy_joules <= 0:
        return None
    return max(
        point.energy_joules / vertex.energy_joules - 1.0, point.makespan_seconds / vertex.makespan_seconds - 1.0, 0.0
    )


REGION_FORMAT: Final = "lpsched-region/1"


@dataclass(frozen=True, slots=True)
class FeasibleRegion:
    """Every energy and makespan that a bag can take, if tasks could be split.

    Attributes
    ----------
    corners
        From the fewest joules above idle to the most, around the least makespan.
    idle_watts
        Of all machines. From the first and from the last corner on, every second more takes so many joules.
    """

    corners: tuple[Point, ...]
    idle_watts: float
    timings: FrozenDict[str, float]
    provenance: Provenance

    def to_dict(self) -> dict[str, Any]:
        """Return the region as it appears in JSON; its keys are stable."""
        return self.provenance.header(REGION_FORMAT) | {
            "corners": [corner.to_dict() for corner in self.corners],
            "idle_watts": self.idle_watts,
            "timings": dict(self.timings),
        }
