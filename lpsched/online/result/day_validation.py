"""What a validation of a day returns: schedules, each beside the most utility possible with its energy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.units import MEGA, html_table, lower_text, number, share_text, upper_text

if TYPE_CHECKING:
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk
    from lpsched.model.violation import Violation
    from lpsched.online.parts import Period
    from lpsched.online.schedule import DaySchedule
    from lpsched.online.verify.day import DayMeasurement

FORMAT: Final = "lpsched-validate-day/1"
HEADERS: Final = (
    "scheduler",
    "utility",
    "of bound",
    "utility/MJ",
    "energy, MJ",
    "completed",
    "dropped",
    "makespan, s",
    "valid",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class DayEntry:
    """One schedule: what it was measured to earn and take, or the rules that it breaks.

    Attributes
    ----------
    kind
        Where it came from: a `file`, a `schedule` or a `function` given in Python, or a `heuristic` by name.
    bound
        The most utility of any schedule that takes no more energy.
    seconds
        How long whatever was run took; a file takes none.
    """

    name: str
    kind: str
    measured: DayMeasurement | None
    bound: float | None = None
    violations: tuple[Violation, ...] = ()
    seconds: float | None = None
    schedule: DaySchedule | None = None
    risk: Risk | None = None  # if asked for

    @property
    def valid(self) -> bool:
        """Whether it breaks no rule."""
        return not self.violations

    @property
    def share_of_bound(self) -> float | None:
        """Utility as a share of the bound at the same energy; `None` where that is 0."""
        return self.measured.utility / self.bound if self.measured is not None and self.bound else None

    @property
    def utility_per_megajoule(self) -> float | None:
        """Utility for a million joules; `None` where nothing is taken."""
        measured = self.measured
        return (
            MEGA * measured.utility / measured.energy_joules
            if measured is not None and measured.energy_joules > 0.0
            else None
        )

    def to_dict(self, naive_bound: float) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        measured = self.measured
        return {
            "name": self.name,
            "kind": self.kind,
            "valid": self.valid,
            "utility": None if measured is None else measured.utility,
            "bound": self.bound,
            "share_of_bound": self.share_of_bound,
            "share_of_naive": measured.utility / naive_bound if measured and naive_bound else None,
            "utility_per_megajoule": self.utility_per_megajoule,
            "energy_joules": None if measured is None else measured.energy_joules,
            "completed": None if measured is None else measured.completed,
            "dropped": None if measured is None else measured.dropped,
            "makespan_seconds": None if measured is None else measured.makespan_seconds,
            "seconds": self.seconds,
            "violations": [{"code": each.code, "sentence": each.sentence} for each in self.violations],
        } | ({} if self.risk is None else {"risk": self.risk.to_dict()})

    def row(self) -> tuple[str, ...]:
        """Return the entry as a row of a table."""
        took = number(self.seconds, 3)
        if self.measured is None:
            return (self.name, *("-" for _ in HEADERS[1:-2]), "no", took)
        return (
            self.name,
            number(self.measured.utility),
            share_text(self.share_of_bound),
            number(self.utility_per_megajoule),
            number(self.measured.energy_joules / MEGA),
            f"{self.measured.completed:,}",
            f"{self.measured.dropped:,}",
            number(self.measured.makespan_seconds),
            "yes",
            took,
        )


@dataclass(frozen=True, slots=True)
class DayValidation:
    """The bound without waiting, and every schedule held against it.

    Attributes
    ----------
    period
        What counts of the day.
    naive_bound
        The most utility at any energy: each task at once where it earns the most.
    naive_joules
        The energy from which on the bound is that high.
    least_joules
        What a schedule takes at least, if every task is run and nothing is cut.
    """

    period: Period
    naive_bound: float
    naive_joules: float
    least_joules: float
    seed: int
    drop_below: float | None
    entries: tuple[DayEntry, ...]
    provenance: Provenance

    @property
    def valid(self) -> bool:
        """Whether every schedule is valid."""
        return all(entry.valid for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate DAY --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "seed": self.seed,
            "period": None if self.period.is_whole else asdict(self.period),
            "drop_below": self.drop_below,
            "naive_bound": self.naive_bound,
            "naive_joules": self.naive_joules,
            "least_joules": self.least_joules,
            "entries": [entry.to_dict(self.naive_bound) for entry in self.entries],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for the bound at any energy, and one for each schedule, as in `HEADERS`."""
        bound = ("bound, any energy", upper_text(self.naive_bound), "proved", "", lower_text(self.naive_joules / MEGA))
        return [bound + ("",) * (len(HEADERS) - len(bound)), *(entry.row() for entry in self.entries)]

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.rows())
