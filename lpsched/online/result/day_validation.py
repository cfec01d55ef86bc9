"""What a validation of a day returns: schedules, each beside the most utility possible with its energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lpsched.model.results import Column, Compared, Comparison, Score, json_of
from lpsched.units import MEGA, lower_text, number, share_text, upper_text

if TYPE_CHECKING:
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk
    from lpsched.model.violation import Violation
    from lpsched.online.parts import Period
    from lpsched.online.schedule import DaySchedule
    from lpsched.online.verify.day import DayMeasurement


@dataclass(frozen=True, slots=True)
class DayEntry(Compared):
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

    _KEYS: ClassVar = (
        "name kind valid measured.utility bound share_of_bound share_of_naive utility_per_megajoule "
        "measured.energy_joules measured.completed measured.dropped measured.makespan_seconds seconds violations risk?"
    )

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
        share = self.measured.utility / naive_bound if self.measured and naive_bound else None
        return json_of(self, self._KEYS, share_of_naive=share)


@dataclass(frozen=True, slots=True)
class DayValidation(Comparison[DayEntry]):
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

    _FORMAT: ClassVar = "lpsched-validate-day/1"
    _KEYS: ClassVar = "seed period drop_below naive_bound naive_joules least_joules entries"
    _COLUMNS: ClassVar = (
        Column("utility", lambda entry: number(entry.measured.utility)),
        Column("of bound", lambda entry: share_text(entry.share_of_bound)),
        Column("utility/MJ", lambda entry: number(entry.utility_per_megajoule)),
        Column("energy, MJ", lambda entry: number(entry.measured.energy_joules / MEGA)),
        Column("completed", lambda entry: f"{entry.measured.completed:,}"),
        Column("dropped", lambda entry: f"{entry.measured.dropped:,}"),
        Column("makespan, s", lambda entry: number(entry.measured.makespan_seconds)),
    )

    quantity: ClassVar = "utility"
    common_bound: ClassVar = None  # a schedule's own is that of its energy

    def score(self, entry: DayEntry) -> Score:
        """Return the utility of a schedule, the most with its energy, and the gap between them."""
        utility = None if entry.measured is None else entry.measured.utility
        return Score(utility, entry.bound, None if entry.share_of_bound is None else 1.0 - entry.share_of_bound)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate DAY --json` prints; its keys are stable."""
        period = None if self.period.is_whole else self.period
        entries = [entry.to_dict(self.naive_bound) for entry in self.entries]
        return self.provenance.header(self._FORMAT) | json_of(self, self._KEYS, period=period, entries=entries)

    def _bound_cells(self) -> tuple[str, ...]:
        return ("bound, any energy", upper_text(self.naive_bound), "proved", "", lower_text(self.naive_joules / MEGA))
