"""What a validation returns: other people's schedules, each beside the bound that none can pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import html_table, number, percent

if TYPE_CHECKING:
    from lpsched.result.provenance import Provenance
    from lpsched.verify.bag import Measurement, Violation

FORMAT: Final = "lpsched-validate/1"


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule: what it was measured to take, or the rules that it breaks."""

    name: str
    value: float | None
    gap: float | None
    measured: Measurement | None
    violations: tuple[Violation, ...]

    @property
    def valid(self) -> bool:
        """Whether it breaks no rule."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        return {
            "name": self.name,
            "valid": self.valid,
            "value": self.value,
            "gap": self.gap,
            "makespan_seconds": None if self.measured is None else self.measured.makespan_seconds,
            "energy_joules": None if self.measured is None else self.measured.energy_joules,
            "violations": [{"code": each.code, "sentence": each.sentence} for each in self.violations],
        }


@dataclass(frozen=True, slots=True)
class Validation:
    """The bound, and every schedule measured against it."""

    objective: str
    unit: str
    bound: float
    entries: tuple[Entry, ...]
    provenance: Provenance

    @property
    def valid(self) -> bool:
        """Whether every schedule is valid."""
        return all(entry.valid for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "objective": self.objective,
            "bound": self.bound,
            "unit": self.unit,
            "entries": [entry.to_dict() for entry in self.entries],
        }

    def headers(self) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        return ("schedule", f"{self.objective}, {self.unit}", "gap", "makespan, seconds", "energy, joules")

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each schedule, and one for the bound."""
        rows: list[tuple[str, ...]] = [("bound (proved)", number(self.bound), "", "", "")]
        for entry in self.entries:
            if entry.measured is None:
                rows.append((entry.name, "invalid", "-", "-", "-"))
                continue
            seconds, joules = entry.measured.makespan_seconds, entry.measured.energy_joules
            rows.append(
                (entry.name, number(entry.value), percent(entry.gap), number(seconds), number(joules))
            )
        return rows

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())
