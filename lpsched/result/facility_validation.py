"""What a validation of a facility returns: methods and allocations, each beside the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import gap_text, html_table, number, upper_text
from lpsched.result.facility_facts import NOT_CERTIFIED, UNIT, hottest_inlet_celsius

if TYPE_CHECKING:
    from lpsched.result.provenance import Provenance
    from lpsched.schedule.facility import CoreAllocation, GangAllocation
    from lpsched.verify.facility import Measurement
    from lpsched.verify.violation import Violation

VALIDATION_FORMAT: Final = "lpsched-validate-facility/1"
HEADERS: Final = ("method", "CRR", "from bound", "RR", "power, W", "hottest inlet, C", "seconds")


@dataclass(frozen=True, slots=True)
class Judged:
    """One method or file: what its allocation was measured to bring, or why there is nothing to measure."""

    name: str
    measured: Measurement | None
    gap: float | None = None  # of CRR from the bound
    seconds: float | None = None  # that the method took; none for a file
    ended: str = ""
    allocation: CoreAllocation | GangAllocation | None = None
    violations: tuple[Violation, ...] = ()
    failure: str | None = None  # why the method found nothing

    @property
    def valid(self) -> bool:
        """Whether there is an allocation that breaks no rule."""
        return self.measured is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        measured = self.measured
        return {
            "name": self.name,
            "valid": self.valid,
            "value": None if measured is None else measured.reward_rate,
            "gap": self.gap,
            "colocated_reward_rate": None if measured is None else measured.reward_rate,
            "plain_reward_rate": None if measured is None else measured.plain_reward_rate,
            "power_watts": None if measured is None else measured.total_watts,
            "hottest_inlet_celsius": None if measured is None else hottest_inlet_celsius(measured),
            "hottest_inlet_margin_celsius": None
            if measured is None
            else measured.hottest_inlet_margin_celsius,
            "outlet_celsius": None if self.allocation is None else list(self.allocation.outlets_celsius),
            "seconds": self.seconds,
            "ended": self.ended or None,
            "violations": [{"code": each.code, "sentence": each.sentence} for each in self.violations],
            "failure": self.failure,
        }

    def row(self) -> tuple[str, ...]:
        """Return the entry as a row of a table."""
        seconds = "-" if self.seconds is None else number(self.seconds, 3)
        if self.measured is None:
            verdict = "invalid" if self.violations else "none"
            return (self.name, verdict, "-", "-", "-", "-", seconds)
        return (
            self.name,
            number(self.measured.reward_rate),
            gap_text(self.gap),
            number(self.measured.plain_reward_rate),
            number(self.measured.total_watts),
            number(hottest_inlet_celsius(self.measured), 5),
            seconds,
        )


@dataclass(frozen=True, slots=True)
class FacilityValidation:
    """The bound, whether it is proved in exact arithmetic, and every method or allocation held against it."""

    bound: float
    seed: int
    cap_watts: float
    entries: tuple[Judged, ...]
    provenance: Provenance
    exactly_proved: bool = False

    @property
    def valid(self) -> bool:
        """Whether every entry is valid."""
        return all(entry.valid for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate FACILITY --json` prints; its keys are stable."""
        return self.provenance.header(VALIDATION_FORMAT) | {
            "seed": self.seed,
            "bound": self.bound,
            "exactly_proved": self.exactly_proved,
            "unit": UNIT,
            "power_cap_watts": self.cap_watts,
            "entries": [entry.to_dict() for entry in self.entries],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for the bound, and one for each entry."""
        known = "proved" if self.exactly_proved else NOT_CERTIFIED
        bound = ("bound", upper_text(self.bound), known, "", "", "", "")
        return [bound, *(entry.row() for entry in self.entries)]

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.rows())
