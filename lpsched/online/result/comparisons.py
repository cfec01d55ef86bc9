"""Results of comparisons: fronts of utility over energy, and schedules of days and clusters held against the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from lpsched.model.provenance import relative_gap
from lpsched.model.results import Column, Compared, Comparison, JsonObject, Score, along, frame_of, front_frame, json_of
from lpsched.online.result.policy import facts_of
from lpsched.units import JOULES_PER_KWH, MEGA, duration, energy_text, gap_text, html_table, lower_text, number, percent

if TYPE_CHECKING:
    from lpsched.evolve.fronts import FrontEntry
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk
    from lpsched.model.violation import Violation
    from lpsched.online.parts import Cluster, Period
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.utility import WaitingCost
    from lpsched.online.verify.clusters import ClustersMeasurement
    from lpsched.online.verify.day import DayMeasurement


# Comparison of fronts of a day: utility over energy, and the proved envelope.
FORMAT: Final = "lpsched-day-front/1"
HEADERS: Final = (
    "scheduler",
    "points",
    "hypervolume /\nthe envelope's",
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


SomeMeasurement = TypeVar("SomeMeasurement", "DayMeasurement", "ClustersMeasurement")
SomeSchedule = TypeVar("SomeSchedule")


@dataclass(frozen=True, slots=True)
class ScheduleEntry(Compared, Generic[SomeMeasurement, SomeSchedule]):
    """One schedule: its measured utility and energy, or the rules that it breaks."""

    name: str
    kind: str  # its source: a `file`, a `schedule` or a `function` given in Python, or a `heuristic` by name
    measured: SomeMeasurement | None
    violations: tuple[Violation, ...] = ()
    schedule: SomeSchedule | None = None
    seconds: float | None = None  # run time; `None` of a file
    bound: float | None = None  # of a day: the most utility of any schedule that takes no more energy
    risk: Risk | None = None  # if requested

    @property
    def share_of_bound(self) -> float | None:
        """Utility as a share of the bound at the same energy; `None` where that is 0."""
        return self.measured.utility / self.bound if self.measured is not None and self.bound else None

    @property
    def gap(self) -> float | None:
        """The gap between the utility and the bound at the same energy."""
        return None if self.measured is None or self.bound is None else relative_gap(self.measured.utility, self.bound)

    @property
    def utility_per_megajoule(self) -> float | None:
        """Utility for a million joules; `None` where nothing is taken."""
        joules = None if self.measured is None else self.measured.energy_joules
        return MEGA * self.measured.utility / joules if self.measured is not None and joules else None


if TYPE_CHECKING:
    DayEntry = ScheduleEntry[DayMeasurement, DaySchedule]
    ClustersEntry = ScheduleEntry[ClustersMeasurement, ClustersSchedule]
_COUNTS = (
    Column("done", lambda entry: f"{entry.measured.completed:,}"),
    Column("dropped", lambda entry: f"{entry.measured.dropped:,}"),
    Column("makespan", lambda entry: duration(entry.measured.makespan_seconds)),
)


NO_WAIT_BOUND: Final = "bound, any energy"
NO_WAIT_NOTE: Final = (
    "Gap: to the proved bound on the utility of any schedule with the same energy if no task ever waited; "
    "'certify' and 'simulate --bound' count waiting, and may prove a lower one. The kWh of 'bound, any energy' are "
    "those from which on more energy does not raise the bound."
)


def _kwh(joules: float | None) -> str:
    return number(joules and joules / JOULES_PER_KWH)


@dataclass(frozen=True, slots=True)
class DayValidation(Comparison["DayEntry"]):
    """The bound without waiting, and every schedule compared with it.

    Attributes
    ----------
    period
        The part of the day that counts.
    naive_bound
        Upper bound on the utility at any energy: each task starts on arrival where it earns the most.
    naive_joules
        The energy from which on the bound is that high.
    least_joules
        Lower bound on the energy if every task runs in full.
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
    _ENTRY_KEYS: ClassVar = (
        "name kind valid measured.utility bound gap share_of_bound share_of_naive utility_per_megajoule "
        "measured.energy_joules measured.completed measured.dropped measured.makespan_seconds seconds violations risk?"
    )
    _COLUMNS: ClassVar = (
        Column("utility", lambda entry: number(entry.measured.utility)),
        Column("gap", lambda entry: gap_text(entry.gap)),
        Column(
            "utility/kWh", lambda entry: number((per := entry.utility_per_megajoule) and per / MEGA * JOULES_PER_KWH)
        ),
        Column("kWh", lambda entry: _kwh(entry.measured.energy_joules)),
        *_COUNTS,
    )

    quantity: ClassVar = "utility"
    common_bound: ClassVar = None  # a schedule's own is that of its energy
    _TERMS: ClassVar = " with the same energy even if no task waited"

    def score(self, entry: DayEntry) -> Score:
        """Return the utility of a schedule, the bound at its energy, and the gap between them."""
        return Score(None if entry.measured is None else entry.measured.utility, entry.bound, entry.gap)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate DAY --json` prints; its keys are stable."""
        period = None if self.period.is_whole else self.period
        entries = [
            json_of(
                each,
                self._ENTRY_KEYS,
                share_of_naive=each.measured.utility / self.naive_bound if each.measured and self.naive_bound else None,
            )
            for each in self.entries
        ]
        return self.provenance.header(self._FORMAT) | json_of(self, self._KEYS, period=period, entries=entries)

    def _bound_cells(self) -> tuple[str, ...]:
        kwh = lower_text(self.naive_joules / JOULES_PER_KWH)
        return (NO_WAIT_BOUND, self.amount_text(self.naive_bound, upper=True), self.proof, "", kwh)


@dataclass(frozen=True, slots=True)
class ClustersValidation(Comparison["ClustersEntry"]):
    """The bound, and every schedule compared with it.

    Where waiting has a cost, utility is minus the cost, and an entry's share of the bound is the lower bound on the
    cost divided by its own cost; so either share is at most 1.

    Attributes
    ----------
    bound
        Upper bound on the utility; where waiting has a cost, minus the lower bound on the cost.
    naive_bound
        The no-wait reference: the utility, or minus the cost, if each task started on arrival where it is fastest.
    bound_seconds
        Run time of the bound.
    """

    clusters: tuple[Cluster, ...]
    period: Period
    waiting: WaitingCost | None
    bound: float
    naive_bound: float
    bound_seconds: float
    entries: tuple[ClustersEntry, ...]
    provenance: Provenance

    _FORMAT: ClassVar = "lpsched-validate-clusters/1"
    _KEYS: ClassVar = "judged_by waiting period bound naive_bound cost_bound naive_cost bound_seconds entries"
    _ENTRY_KEYS: ClassVar = (
        "name kind valid measured.utility measured.cost gap share_of_bound share_of_naive measured.energy_joules "
        "measured.completed measured.dropped measured.makespan_seconds utilisation wait_seconds mean_slowdown "
        "mean_bounded_slowdown busy violations"
    )
    _WHO: ClassVar = "schedule"

    @property
    def is_cost(self) -> bool:
        """Whether waiting has a cost."""
        return self.waiting is not None

    def share_of_bound(self, entry: ClustersEntry) -> float | None:
        """Return utility as a share of the bound, or the lower bound on the cost as a share of the cost."""
        return self._share(entry, self.bound)

    def _share(self, entry: ClustersEntry, most: float) -> float | None:
        if entry.measured is None:
            return None
        part, all_of_it = (most, entry.measured.utility) if self.is_cost else (entry.measured.utility, most)
        return part / all_of_it if all_of_it else None

    def _amount(self, utility: float) -> float:
        """Return a utility, or the cost that it is the negative of."""
        return 0.0 - utility if self.is_cost else utility

    @property
    def quantity(self) -> str:
        """What is compared."""
        return "cost of waiting" if self.is_cost else "utility"

    @property
    def is_upper(self) -> bool:
        """Whether the bound is from above."""
        return not self.is_cost

    @property
    def common_bound(self) -> float:
        """The upper bound on the utility, or the lower bound on the cost."""
        return self._amount(self.bound)

    def score(self, entry: ClustersEntry) -> Score:
        """Return the utility or the cost of a schedule, the bound on it, and the gap between them."""
        bound = self.common_bound
        if entry.measured is None:
            return Score(None, bound, None)
        value = self._amount(entry.measured.utility)
        return Score(value, bound, relative_gap(value, bound))

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate CLUSTERS --json` prints; its keys are stable."""
        return self.provenance.header(self._FORMAT) | json_of(
            self,
            self._KEYS,
            judged_by="waiting" if self.is_cost else "utility",
            period=None if self.period.is_whole else self.period,
            cost_bound=0.0 - self.bound if self.is_cost else None,
            naive_cost=0.0 - self.naive_bound if self.is_cost else None,
            entries=[self._entry_dict(entry) for entry in self.entries],
        )

    def _entry_dict(self, entry: ClustersEntry) -> dict[str, Any]:
        shares = () if entry.measured is None else entry.measured.utilisation_by_cluster
        return json_of(
            entry,
            self._ENTRY_KEYS,
            gap=self.score(entry).gap,
            share_of_bound=self.share_of_bound(entry),
            share_of_naive=self._share(entry, self.naive_bound),
            busy={each.name: share for each, share in zip(self.clusters, shares, strict=True)} if shares else None,
            **facts_of(entry.measured),
        )

    def _bound_cells(self) -> tuple[str, ...]:
        return (f"{'lower' if self.is_cost else 'upper'} bound", self.limit_text(), self.proof)

    def _columns(self) -> list[Column]:
        return [
            Column("cost" if self.is_cost else "utility", self.value_text),
            Column("gap", lambda entry: gap_text(self.score(entry).gap)),
            Column("kWh", lambda entry: _kwh(entry.measured.energy_joules)),
            Column("busy", lambda entry: percent(entry.measured.utilisation)),
            Column("mean wait", lambda entry: duration(getattr(entry.measured.waits, "mean_seconds", None))),
            *_COUNTS,
        ]
