"""What a validation of a day or of clusters returns: schedules, each beside what no schedule can pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from lpsched.model.results import Column, Compared, Comparison, Score, json_of
from lpsched.online.result.policy import facts_of
from lpsched.units import MEGA, bound_text, lower_text, number, percent, share_text, upper_text

if TYPE_CHECKING:
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk
    from lpsched.model.violation import Violation
    from lpsched.online.parts import Cluster, Period
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.utility import WaitingCost
    from lpsched.online.verify.clusters import ClustersMeasurement
    from lpsched.online.verify.day import DayMeasurement

SomeMeasurement = TypeVar("SomeMeasurement", "DayMeasurement", "ClustersMeasurement")
SomeSchedule = TypeVar("SomeSchedule")


@dataclass(frozen=True, slots=True)
class ScheduleEntry(Compared, Generic[SomeMeasurement, SomeSchedule]):
    """One schedule: what it was measured to earn and take, or the rules that it breaks."""

    name: str
    kind: str  # where it came from: a `file`, a `schedule` or a `function` given in Python, or a `heuristic` by name
    measured: SomeMeasurement | None
    violations: tuple[Violation, ...] = ()
    schedule: SomeSchedule | None = None
    seconds: float | None = None  # that whatever was run took; a file takes none
    bound: float | None = None  # of a day: the most utility of any schedule that takes no more energy
    risk: Risk | None = None  # if asked for

    @property
    def share_of_bound(self) -> float | None:
        """Utility as a share of the bound at the same energy; `None` where that is 0."""
        return self.measured.utility / self.bound if self.measured is not None and self.bound else None

    @property
    def utility_per_megajoule(self) -> float | None:
        """Utility for a million joules; `None` where nothing is taken."""
        joules = None if self.measured is None else self.measured.energy_joules
        return MEGA * self.measured.utility / joules if self.measured is not None and joules else None


if TYPE_CHECKING:
    DayEntry = ScheduleEntry[DayMeasurement, DaySchedule]
    ClustersEntry = ScheduleEntry[ClustersMeasurement, ClustersSchedule]
_COUNTS = (
    Column("completed", lambda entry: f"{entry.measured.completed:,}"),
    Column("dropped", lambda entry: f"{entry.measured.dropped:,}"),
    Column("makespan, s", lambda entry: number(entry.measured.makespan_seconds)),
)


@dataclass(frozen=True, slots=True)
class DayValidation(Comparison["DayEntry"]):
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
    _ENTRY_KEYS: ClassVar = (
        "name kind valid measured.utility bound share_of_bound share_of_naive utility_per_megajoule "
        "measured.energy_joules measured.completed measured.dropped measured.makespan_seconds seconds violations risk?"
    )
    _COLUMNS: ClassVar = (
        Column("utility", lambda entry: number(entry.measured.utility)),
        Column("of bound", lambda entry: share_text(entry.share_of_bound)),
        Column("utility/MJ", lambda entry: number(entry.utility_per_megajoule)),
        Column("energy, MJ", lambda entry: number(entry.measured.energy_joules / MEGA)),
        *_COUNTS,
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
        return ("bound, any energy", upper_text(self.naive_bound), "proved", "", lower_text(self.naive_joules / MEGA))


@dataclass(frozen=True, slots=True)
class ClustersValidation(Comparison["ClustersEntry"]):
    """What no schedule can pass, and every schedule held against it.

    Where tasks are judged by their waiting, utility is minus the cost, and an entry's share of the bound is the
    cost that no schedule can avoid divided by its own; so either share is at most 1.

    Attributes
    ----------
    bound
        No schedule earns more; where tasks are judged by their waiting, minus what it costs at least.
    naive_bound
        What the tasks would earn, or minus what they would cost, if each began at once where it is quickest.
    bound_seconds
        How long finding the bound took.
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
        "name kind valid measured.utility measured.cost share_of_bound share_of_naive measured.energy_joules "
        "measured.completed measured.dropped measured.makespan_seconds utilisation wait_seconds mean_slowdown "
        "mean_bounded_slowdown busy violations"
    )
    _WHO: ClassVar = "schedule"

    @property
    def is_cost(self) -> bool:
        """Whether tasks are judged by their waiting."""
        return self.waiting is not None

    def share_of_bound(self, entry: ClustersEntry) -> float | None:
        """Return utility as a share of the bound, or the least cost as a share of the cost."""
        return self._share(entry, self.bound)

    def _share(self, entry: ClustersEntry, most: float) -> float | None:
        if entry.measured is None:
            return None
        part, all_of_it = (most, entry.measured.utility) if self.is_cost else (entry.measured.utility, most)
        return part / all_of_it if all_of_it else None

    def _amount(self, utility: float) -> float:
        """Return a utility, or the cost that it is minus of."""
        return 0.0 - utility if self.is_cost else utility

    @property
    def quantity(self) -> str:
        """What tasks are judged by."""
        return "cost of waiting" if self.is_cost else "utility"

    @property
    def is_upper(self) -> bool:
        """Whether the bound is from above."""
        return not self.is_cost

    @property
    def common_bound(self) -> float:
        """The most utility, or the least cost."""
        return self._amount(self.bound)

    def score(self, entry: ClustersEntry) -> Score:
        """Return the utility or the cost of a schedule, what none can pass, and the gap between them."""
        bound = self.common_bound
        if entry.measured is None:
            return Score(None, bound, None)
        value = self._amount(entry.measured.utility)
        return Score(value, bound, abs(value - bound) / abs(bound) if bound else None)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate CLUSTERS --json` prints; its keys are stable."""
        return self.provenance.header(self._FORMAT) | json_of(
            self,
            self._KEYS,
            judged_by="waiting" if self.is_cost else "utility",
            period=None if self.period.is_whole else self.period,
            cost_bound=0.0 - self.bound if self.is_cost else None,
            naive_cost=0.0 - self.naive_bound if self.is_cost else None,
            entries=[self._told(entry) for entry in self.entries],
        )

    def _told(self, entry: ClustersEntry) -> dict[str, Any]:
        shares = () if entry.measured is None else entry.measured.utilisation_by_cluster
        return json_of(
            entry,
            self._ENTRY_KEYS,
            share_of_bound=self.share_of_bound(entry),
            share_of_naive=self._share(entry, self.naive_bound),
            busy={each.name: share for each, share in zip(self.clusters, shares, strict=True)} if shares else None,
            **facts_of(entry.measured),
        )

    def _bound_cells(self) -> tuple[str, ...]:
        return ("no schedule below" if self.is_cost else "bound", self.limit_text(self.bound), "proved")

    def _has_seconds(self) -> bool:
        return False

    def _columns(self) -> list[Column]:
        return [
            Column("cost" if self.is_cost else "utility", lambda entry: number(self._amount(entry.measured.utility))),
            Column("of bound", lambda entry: share_text(self.share_of_bound(entry))),
            Column("energy, MJ", lambda entry: number((joules := entry.measured.energy_joules) and joules / MEGA)),
            Column("utilisation", lambda entry: percent(entry.measured.utilisation)),
            Column("mean wait, s", lambda entry: number(getattr(entry.measured.waits, "mean_seconds", None))),
            *_COUNTS,
        ]

    def limit_text(self, utility: float) -> str:
        """Write a bound as an amount of what is judged: utility from above, or cost from below."""
        return bound_text(self._amount(utility), upper=not self.is_cost)
