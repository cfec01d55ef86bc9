"""What a feasible region is: its corners in the plane of energy and makespan, and where it has no end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lpsched.instance.frozen import FrozenDict
    from lpsched.result.front import Point
    from lpsched.result.provenance import Provenance

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
