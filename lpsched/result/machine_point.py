"""Points along a front, and what each machine does there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.verify.machines import MachineLoad, machine_loads

if TYPE_CHECKING:
    from lpsched.result.front import Point

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
