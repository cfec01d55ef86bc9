"""Fronts of utility over energy, certain and sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.results import JsonObject, along, frame_of, front_frame, json_of
from lpsched.units import JOULES_PER_KWH, duration, energy_text, html_table, number, percent

if TYPE_CHECKING:
    from lpsched.evolve.fronts import FrontEntry
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk
    from lpsched.online.schedule import DaySchedule


# Comparison of fronts of a day: utility over energy, and the proved envelope.
FORMAT: Final = "lpsched-day-front/1"
HEADERS: Final = (
    "method",
    "points",
    "hypervolume",
    "mean gap",
    "largest gap",
    "seconds",
    "most utility",
    "peak utility/kWh",
    "its utility",
    "its kWh",
)
GAPS: Final = (
    "Gap: to the utility of the envelope at the same energy. Peak: the schedule with the most utility per kWh."
)


@dataclass(frozen=True, slots=True)
class UtilityPoint(JsonObject):
    """An energy and a utility."""

    energy_joules: float
    utility: float

    @property
    def utility_per_joule(self) -> float | None:
        """Utility per joule; `None` without energy."""
        return self.utility / self.energy_joules if self.energy_joules > 0 else None


@dataclass(frozen=True, slots=True)
class DayFront:
    """Methods on a day, and the proved envelope: no schedule earns more utility with as much energy.

    `envelope` are the vertices of a concave chain by rising energy; beyond the last it is level. The
    gaps are defined in `lpsched/online/compare/day_fronts.py`.
    """

    envelope: tuple[UtilityPoint, ...]
    seed: int
    entries: tuple[FrontEntry[UtilityPoint, DaySchedule], ...]
    provenance: Provenance

    @property
    def valid(self) -> bool:
        """Whether every method found a schedule, and none that breaks a rule."""
        return all(entry.valid for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched front DAY --json` prints; its keys are stable."""
        peak = "energy_joules utility utility_per_joule"
        found = [entry.to_dict() | {"peak": (at := peak_of(entry)) and json_of(at, peak)} for entry in self.entries]
        return self.provenance.header(FORMAT) | json_of(self, "seed envelope comparisons", comparisons=found)

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each method; its distances are from the envelope."""
        return front_frame(self.entries, {"most_utility": most_utility_of})

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each method."""
        return [(*entry.row(), *_peak_cells(entry)) for entry in self.entries]

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.rows())


def peak_of(entry: FrontEntry[UtilityPoint, DaySchedule]) -> UtilityPoint | None:
    """Return the point with the most utility per joule; the first of equals, `None` without points with energy."""
    using = [point for point in entry.points if point.utility_per_joule is not None]
    return max(using, key=lambda point: point.utility_per_joule or 0.0, default=None)


def most_utility_of(entry: FrontEntry[UtilityPoint, DaySchedule]) -> float | None:
    """Return the most utility of a method's points."""
    return max((point.utility for point in entry.points), default=None)


def _peak_cells(entry: FrontEntry[UtilityPoint, DaySchedule]) -> tuple[str, ...]:
    peak, most = peak_of(entry), most_utility_of(entry)
    if peak is None or peak.utility_per_joule is None:
        return number(most), "-", "-", "-"
    per_kwh, kwh = JOULES_PER_KWH * peak.utility_per_joule, peak.energy_joules / JOULES_PER_KWH
    return tuple(map(number, (most, per_kwh, peak.utility, kwh)))


def evolved_or_first(result: DayFront) -> FrontEntry[UtilityPoint, DaySchedule]:
    """Return the evolved front if there is one, else the first method's."""
    return next((entry for entry in result.entries if entry.generations is not None), result.entries[0])


# A fuzzy front: schedules along a front, and their energies and values if times and powers scatter.
#
# Source: Friese, thesis of 2015, section 7.4.


@dataclass(frozen=True, slots=True)
class FuzzyPoint:
    """One schedule: the two numbers it was ranked by, and those of each sample.

    Of a bag the second number is the makespan in seconds, of a day the utility.
    """

    energy_joules: float
    value: float
    sampled_energy_joules: tuple[float, ...]
    sampled_values: tuple[float, ...]
    risk: Risk

    @property
    def mean_dropped(self) -> float | None:
        """Mean number of dropped tasks over the samples; `None` of a bag."""
        dropped = self.risk.quantities.get("dropped_tasks")
        return None if dropped is None else dropped.mean

    def to_dict(self, value_key: str) -> dict[str, Any]:
        """Return the point as it appears in JSON; the samples are not in it."""
        return {"energy_joules": self.energy_joules, value_key: self.value, "risk": self.risk.to_dict()}


@dataclass(frozen=True, slots=True)
class FuzzyFront:
    """Points by rising energy."""

    name: str  # whose front it is
    ranked_by: str  # what the two numbers of a point are: `expected values`, `percentile 50`, ...
    value_key: str  # `utility` or `makespan_seconds`
    tasks: int  # how many there are
    points: tuple[FuzzyPoint, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the front as it appears in JSON."""
        return json_of(self, "name ranked_by points", points=[point.to_dict(self.value_key) for point in self.points])

    def headers(self) -> tuple[str, ...]:
        """Return the heads of the columns of `rows`."""
        value = "utility" if self.value_key == "utility" else "makespan"
        dropped = ("dropped",) if self.value_key == "utility" else ()
        return ("energy", value, "mean energy", "deviation", f"mean {value}", "deviation", *dropped)

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for some points along the front: the two ends, and some evenly between."""
        shown = [self.points[place] for place in along(len(self.points))]
        return [(energy_text(each.energy_joules), self._text(each.value), *self._sampled(each)) for each in shown]

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each point: what it was ranked by, and the means of its samples."""
        keys = ("energy_joules", self.value_key)
        rows = [
            (each.energy_joules, each.value, *(each.risk.quantities[key].mean for key in keys)) for each in self.points
        ]
        return frame_of((*keys, *(f"mean_{key}" for key in keys)), rows)

    def _sampled(self, point: FuzzyPoint) -> tuple[str, ...]:
        energy, value = (point.risk.quantities[name] for name in ("energy_joules", self.value_key))
        cells = [energy_text(each) for each in (energy.mean, energy.standard_deviation)]
        cells += [self._text(each) for each in (value.mean, value.standard_deviation)]
        dropped = point.mean_dropped
        return tuple(cells) if dropped is None else (*cells, percent(dropped / self.tasks))

    def _text(self, value: float | None) -> str:
        return number(value) if self.value_key == "utility" else duration(value)

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())
