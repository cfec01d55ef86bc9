"""What a validation returns: other people's schedules, each beside the bound that none can pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import bound_text, gap_text, html_table, number
from lpsched.result.solve import Effort

if TYPE_CHECKING:
    from lpsched.result.provenance import Provenance
    from lpsched.result.risk import Risk
    from lpsched.schedule.bag import Schedule
    from lpsched.verify.bag import Measurement
    from lpsched.verify.violation import Violation

FORMAT: Final = "lpsched-validate/1"


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule: what it was measured to take, or the rules that it breaks.

    `kind` tells where it came from: a `file`, a `schedule` or a `function` given in Python, or a `heuristic`
    by its name. `seconds` is how long whatever was run took; a file takes none. `risk` is there if asked for.
    """

    name: str
    value: float | None
    gap: float | None
    measured: Measurement | None
    violations: tuple[Violation, ...]
    kind: str = "file"
    seconds: float | None = None
    schedule: Schedule | None = None  # as it was measured
    risk: Risk | None = None

    @property
    def valid(self) -> bool:
        """Whether it breaks no rule."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        measured = self.measured
        return {
            "name": self.name,
            "kind": self.kind,
            "valid": self.valid,
            "value": self.value,
            "gap": self.gap,
            "makespan_seconds": None if measured is None else measured.makespan_seconds,
            "energy_joules": None if measured is None else measured.energy_joules,
            "profit_per_hour": None if measured is None else measured.profit_per_hour,
            "seconds": self.seconds,
            "violations": [{"code": each.code, "sentence": each.sentence} for each in self.violations],
        } | ({} if self.risk is None else {"risk": self.risk.to_dict()})


@dataclass(frozen=True, slots=True)
class Validation:
    """The bound, and every schedule measured against it."""

    objective: str
    unit: str
    bound: float
    entries: tuple[Entry, ...]
    provenance: Provenance
    currency: str = ""
    seed: int = 0
    effort: Effort = Effort.AUTO  # of the bound

    @property
    def valid(self) -> bool:
        """Whether every schedule is valid."""
        return all(entry.valid for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "seed": self.seed,
            "objective": self.objective,
            "effort": self.effort.value,
            "bound": self.bound,
            "unit": self.unit,
            "entries": [entry.to_dict() for entry in self.entries],
        }

    def headers(self) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        took = ("seconds",) if self._anything_ran() else ()
        return (
            "scheduler",
            f"{self.objective}, {self.unit}",
            "gap",
            *self._others().values(),
            "valid",
            *took,
        )

    def bound_text(self) -> str:
        """Write the bound, rounded to the side on which it stays true."""
        return bound_text(self.bound, upper=self.objective == "profit")

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each schedule, and one for the bound."""
        others, ran = self._others(), self._anything_ran()
        bound = ("bound", self.bound_text(), "proved")
        return [
            bound + ("",) * (len(others) + 1 + ran),
            *(self._row(entry, list(others), ran=ran) for entry in self.entries),
        ]

    def _row(self, entry: Entry, others: list[str], *, ran: bool) -> tuple[str, ...]:
        facts = {} if entry.measured is None else _facts(entry.measured)
        took = (number(entry.seconds, 3),) if ran else ()
        value = (number(entry.value), gap_text(entry.gap)) if entry.valid else ("-", "-")
        valid = "yes" if entry.valid else "no"
        return (entry.name, *value, *(number(facts.get(name)) for name in others), valid, *took)

    def _others(self) -> dict[str, str]:
        """Return what else is told of each schedule, beside the objective: where anybody knows it."""
        units = {"makespan": "seconds", "energy": "joules", "profit": f"{self.currency}/hour"}
        known = [_facts(entry.measured) for entry in self.entries if entry.measured is not None]
        return {
            name: f"{name}, {unit}"
            for name, unit in units.items()
            if name != self.objective and any(facts[name] is not None for facts in known)
        }

    def _anything_ran(self) -> bool:
        return any(entry.seconds is not None for entry in self.entries)

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())


def _facts(measured: Measurement) -> dict[str, float | None]:
    return {
        "makespan": measured.makespan_seconds,
        "energy": measured.energy_joules,
        "profit": measured.profit_per_hour,
    }
