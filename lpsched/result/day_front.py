"""What a comparison of fronts of a day returns: utility over energy, and the line that none can pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import html_table, number

if TYPE_CHECKING:
    from lpsched.result.front_entry import FrontEntry
    from lpsched.result.provenance import Provenance
    from lpsched.schedule.day import DaySchedule

FORMAT: Final = "lpsched-day-front/1"
HEADERS: Final = (
    "method",
    "points",
    "hypervolume",
    "mean below",
    "largest below",
    "seconds",
    "most utility",
    "utility per MJ, peak",
    "peak at utility",
    "peak at joules",
)
MEGAJOULE: Final = 1e6


@dataclass(frozen=True, slots=True)
class UtilityPoint:
    """An energy and a utility."""

    energy_joules: float
    utility: float

    @property
    def utility_per_joule(self) -> float | None:
        """What a joule brings; `None` where no energy is taken."""
        return self.utility / self.energy_joules if self.energy_joules > 0 else None

    def to_dict(self) -> dict[str, float]:
        """Return the point as it appears in JSON."""
        return {"energy_joules": self.energy_joules, "utility": self.utility}


@dataclass(frozen=True, slots=True)
class DayFront:
    """Methods on a day, and the proved envelope: no schedule earns more utility with as much energy.

    `envelope` are the corners of a concave chain by rising energy; right of the last it is level. The
    distances are defined in `lpsched/compare/day_fronts.py`.
    """

    envelope: tuple[UtilityPoint, ...]
    seed: int
    entries: tuple[FrontEntry[UtilityPoint, DaySchedule], ...]
    provenance: Provenance

    @property
    def valid(self) -> bool:
        """Whether every method found something, and nothing that breaks a rule."""
        return all(entry.valid for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched front DAY --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "seed": self.seed,
            "envelope": [corner.to_dict() for corner in self.envelope],
            "comparisons": [entry.to_dict() | {"peak": _peak_as_dict(entry)} for entry in self.entries],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each method."""
        return [(*entry.row(), *_peak_cells(entry)) for entry in self.entries]

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.rows())


def peak_of(entry: FrontEntry[UtilityPoint, DaySchedule]) -> UtilityPoint | None:
    """Return the point where a joule brings most; the first of equals, `None` without points with energy."""
    using = [point for point in entry.points if point.utility_per_joule is not None]
    return max(using, key=lambda point: point.utility_per_joule or 0.0, default=None)


def _peak_as_dict(entry: FrontEntry[UtilityPoint, DaySchedule]) -> dict[str, float | None] | None:
    peak = peak_of(entry)
    return None if peak is None else {**peak.to_dict(), "utility_per_joule": peak.utility_per_joule}


def _peak_cells(entry: FrontEntry[UtilityPoint, DaySchedule]) -> tuple[str, ...]:
    peak = peak_of(entry)
    most = max((point.utility for point in entry.points), default=None)
    if peak is None or peak.utility_per_joule is None:
        return number(most), "-", "-", "-"
    return (
        number(most),
        number(MEGAJOULE * peak.utility_per_joule, 5),
        number(peak.utility),
        number(peak.energy_joules),
    )


def evolved_or_first(result: DayFront) -> FrontEntry[UtilityPoint, DaySchedule]:
    """Return the evolved front if there is one, else the first method's."""
    return next((entry for entry in result.entries if entry.generations is not None), result.entries[0])
