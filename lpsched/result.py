"""What a solve returns: value and bound together, built after verification."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lpsched.instance.frozen import FrozenDict
    from lpsched.schedule.bag import Schedule
    from lpsched.verify.bag import Measurement

FORMAT: Final = "lpsched-solve/1"


class Status(StrEnum):
    """How good the answer is known to be."""

    OPTIMAL = "optimal"  # value and bound are within the gap asked for
    FEASIBLE = "feasible"  # a verified schedule, further from its bound than that


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the answer came from, so that it can be made again."""

    lpsched: str
    solver: str
    instance_name: str
    instance_hash: str


@dataclass(frozen=True, slots=True)
class Result:
    """A verified schedule, what it was measured to take, and the bound that no schedule can pass."""

    objective: str
    unit: str
    status: Status
    value: float
    bound: float
    gap: float | None
    tasks: int
    machines: int
    measured: Measurement
    schedule: Schedule
    timings: FrozenDict[str, float]
    provenance: Provenance

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched solve --json` prints; its keys are stable."""
        return {
            "format": FORMAT,
            "lpsched": self.provenance.lpsched,
            "solver": self.provenance.solver,
            "instance": {"name": self.provenance.instance_name, "hash": self.provenance.instance_hash},
            "objective": self.objective,
            "status": self.status.value,
            "regime": None,
            "value": self.value,
            "bound": self.bound,
            "unit": self.unit,
            "gap": self.gap,
            "makespan_seconds": self.measured.makespan_seconds,
            "energy_joules": self.measured.energy_joules,
            "tasks": self.tasks,
            "machines": self.machines,
            "worth": None,
            "timings": dict(self.timings),
        }


def relative_gap(value: float, bound: float) -> float | None:
    """Return |bound - value| / |bound|: 0 when they are equal, `None` when only the bound is 0."""
    if value == bound:
        return 0.0
    return abs(bound - value) / abs(bound) if bound else None
