"""What an audit returns: each certificate and schedule accepted or refused, its numbers derived again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lpsched.display import bound_text, html_table, number
from lpsched.result.cluster_facts import facts_of
from lpsched.verify import bag, clusters, day, facility

FORMAT: Final = "lpsched-verify/1"
MOST_DIGITS: Final = 17  # tell any two doubles apart
TO_MINIMISE: Final = ("makespan", "energy")  # objectives with bounds from below
HEADERS: Final = ("file", "what", "verdict", "claimed", "proved or measured")


@dataclass(frozen=True, slots=True)
class Checked:
    """One file: a claim and what is proved of it, or a schedule or allocation with its measures."""

    name: str
    kind: str  # "certificate", "schedule"; of a facility "proof", "allocation"; or "unreadable"
    objective: str | None
    unit: str | None
    claimed: float | None
    proved: float | None
    measured: (
        bag.Measurement | facility.Measurement | day.DayMeasurement | clusters.ClustersMeasurement | None
    )
    reasons: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons

    def to_dict(self) -> dict[str, Any]:
        """Return the file's verdict as it appears in JSON."""
        of_bag = self.measured if isinstance(self.measured, bag.Measurement) else None
        of_clusters = self.measured if isinstance(self.measured, clusters.ClustersMeasurement) else None
        of_day = self.measured if isinstance(self.measured, day.DayMeasurement) else of_clusters
        timed = of_bag if of_bag is not None else of_day
        of_facility = self.measured if isinstance(self.measured, facility.Measurement) else None
        return {
            "name": self.name,
            "kind": self.kind,
            "accepted": self.accepted,
            "objective": self.objective,
            "unit": self.unit,
            "claimed": self.claimed,
            "proved": self.proved,
            "makespan_seconds": None if timed is None else timed.makespan_seconds,
            "energy_joules": None if timed is None else timed.energy_joules,
            "profit_per_hour": None if of_bag is None else of_bag.profit_per_hour,
            "reward_rate": None if of_facility is None else of_facility.reward_rate,
            "power_watts": None if of_facility is None else of_facility.total_watts,
            "utility": None if of_day is None else of_day.utility,
            "completed": None if of_day is None else of_day.completed,
            "dropped": None if of_day is None else of_day.dropped,
            "cost": None if of_clusters is None else of_clusters.cost,
            **facts_of(of_clusters),
            "reasons": list(self.reasons),
        }

    def row(self) -> tuple[str, ...]:
        """Return the verdict as a row of a table."""
        verdict = "accepted" if self.accepted else "refused"
        return (self.name, self.kind, verdict, self._claim(), self._derived())

    def _claim(self) -> str:
        return "-" if self.claimed is None else f"{self.objective} {self._with_unit(self.claimed)}"

    def _derived(self) -> str:
        if self.proved is not None:
            return self._with_unit(self.proved)
        if self.measured is None:
            return "-"
        if isinstance(self.measured, facility.Measurement):
            return f"{number(self.measured.reward_rate)} reward/second, {number(self.measured.total_watts)} W"
        seconds, joules = self.measured.makespan_seconds, self.measured.energy_joules
        parts = [f"{number(seconds)} s"] if seconds is not None else ["nothing runs"]
        if isinstance(self.measured, day.DayMeasurement | clusters.ClustersMeasurement):
            parts.insert(0, _earned(self.measured))
        return ", ".join(parts + ([f"{number(joules)} J"] if joules is not None else []))

    def _with_unit(self, value: float) -> str:
        return self._digits(value) if self.unit is None else f"{self._digits(value)} {self.unit}"

    def _digits(self, value: float) -> str:
        """Write claim and proof alike, with as many digits as it takes to tell them apart."""
        near = self.claimed is not None and self.proved is not None and self.claimed != self.proved
        digits = 6
        while (
            near
            and digits < MOST_DIGITS
            and self._text(self.claimed, digits) == self._text(self.proved, digits)
        ):
            digits += 1
        return self._text(value, digits)

    def _text(self, bound: float | None, digits: int) -> str:
        """Write a bound, claimed or proved, so that it never looks better than it is."""
        return bound_text(bound, upper=self.objective not in TO_MINIMISE, digits=digits)


def _earned(measured: day.DayMeasurement | clusters.ClustersMeasurement) -> str:
    cost = measured.cost if isinstance(measured, clusters.ClustersMeasurement) else None
    return f"utility {number(measured.utility)}" if cost is None else f"cost {number(cost)}"


@dataclass(frozen=True, slots=True)
class Audit:
    """The verdicts on all files."""

    instance_name: str
    instance_hash: str
    lpsched: str
    files: tuple[Checked, ...]

    @property
    def accepted(self) -> bool:
        """Whether every file is accepted."""
        return all(each.accepted for each in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched verify --json` prints; its keys are stable."""
        return {
            "format": FORMAT,
            "lpsched": self.lpsched,
            "instance": {"name": self.instance_name, "hash": self.instance_hash},
            "files": [each.to_dict() for each in self.files],
        }

    def _repr_html_(self) -> str:
        return html_table(HEADERS, [each.row() for each in self.files])
