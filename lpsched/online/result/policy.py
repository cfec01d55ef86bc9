"""One policy in a simulation: its runs, and its columns in tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.model.provenance import estimate_of, relative_gap
from lpsched.model.results import JsonObject, json_of
from lpsched.online.result.groups import GroupResult, pooled
from lpsched.online.verify.clusters import ClustersMeasurement
from lpsched.units import DIGITS, JOULES_PER_KWH, bound_text, duration, gap_text, number, share_text

if TYPE_CHECKING:
    from lpsched.model.provenance import Estimate
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.verify.day import DayMeasurement


WAITS: Final = "mean=mean_seconds median=median_seconds p95=percentile_95_seconds longest=longest_seconds"


def facts_of(measured: ClustersMeasurement | None) -> dict[str, Any]:
    """Return how busy clusters were and how long tasks waited; every value is `None` if nothing was measured."""
    waits = None if measured is None else measured.waits
    return json_of(
        measured,
        "utilisation wait_seconds waits.mean_slowdown waits.mean_bounded_slowdown",
        wait_seconds=None if waits is None else json_of(waits, WAITS),
    )


# One policy in one trial: what the verifier measured of it, or why there is nothing to measure. `COLUMNS` defines the
# quantities; besides,
#
# utility, energy     counted in the period, by share (`online/parts.py`); energy is not known without watts
# cost                where waiting has a cost (`online/utility.py`), minus the utility; then
# share_of_naive      is the no-wait reference / cost, as share_of_bound is bound / cost; both are at most 1
# mean_bounded_slowdown  of tasks that arrive in the period and start, the mean of max(1, (wait + run) / max(run, 10 s))
@dataclass(frozen=True, slots=True)
class Earned(JsonObject):
    """The utility of tasks of one priority, or with one own function, and their no-wait reference."""

    name: str
    utility: float
    if_none_waits: float  # the no-wait reference, which tasks of the warm-up may exceed

    _KEYS: ClassVar = "name utility if_none_waits share"

    @property
    def share(self) -> float | None:
        """Utility as a share of the reference; `None` where that is 0."""
        return self.utility / self.if_none_waits if self.if_none_waits > 0.0 else None


@dataclass(frozen=True, slots=True)
class Traces(JsonObject):
    """What had been counted by some times of the period: utility, and joules."""

    seconds: tuple[float, ...]  # since the period began
    utility: tuple[float, ...]
    energy_joules: tuple[float, ...]


MEASURED: Final = (
    "measured.utility gap share_of_naive share_of_bound measured.energy_joules measured.completed dropped waiting "
    "events milliseconds_per_event seconds"
)


@dataclass(frozen=True, slots=True)
class PolicyRun(JsonObject):
    """A policy in one trial; either `measured` or `reason` is there."""

    trial: int
    measured: DayMeasurement | ClustersMeasurement | None = None
    reason: str | None = None  # why there is no result
    dropped: int | None = None  # as the next three, `None` of an offline schedule
    waiting: int | None = None
    events: int | None = None
    event_seconds: float | None = None
    seconds: float = 0.0  # run time of the simulation
    naive: float = 0.0
    bound: float | None = None
    earned: tuple[Earned, ...] = ()
    busy: tuple[tuple[str, float], ...] = ()  # machine types or clusters, and their share of the period
    traces: Traces | None = None
    costly_tasks: int | None = None  # whose waiting has a cost; `None`: tasks have a utility
    groups: tuple[GroupResult, ...] = ()  # of clusters where waiting has a cost

    @property
    def utility(self) -> float | None:
        """The utility that was measured."""
        return None if self.measured is None else self.measured.utility

    @property
    def share_of_naive(self) -> float | None:
        """Utility as a share of the no-wait reference; `None` where that is 0."""
        return self._share(self.naive)

    @property
    def share_of_bound(self) -> float | None:
        """Utility as a share of the bound; `None` where that is 0, or was not requested."""
        return None if self.bound is None else self._share(self.bound)

    @property
    def gap(self) -> float | None:
        """The gap between the utility, or the cost, and the bound."""
        return None if self.utility is None or self.bound is None else relative_gap(self.utility, self.bound)

    def _share(self, most: float) -> float | None:
        """Return utility / bound; of costs bound / cost."""
        if self.utility is None:
            return None
        part, whole = (self.utility, most) if self.costly_tasks is None else (most, self.utility)
        return part / whole if whole else None

    @property
    def milliseconds_per_event(self) -> float | None:
        """The mean time of a scheduling event."""
        return None if self.event_seconds is None else 1e3 * self.event_seconds

    def to_dict(self) -> dict[str, Any]:
        """Return the run as it appears in JSON."""
        made = json_of(self, "trial reason" if self.measured is None else f"trial reason {MEASURED}")
        if not isinstance(self.measured, ClustersMeasurement):
            return made
        tasks = self.costly_tasks
        cost = None if tasks is None else 0.0 - self.measured.utility  # no cost is 0, not -0
        per_task = cost / tasks if cost is not None and tasks else None
        return made | facts_of(self.measured) | {"cost": cost, "cost_per_task": per_task, "busy": dict(self.busy)}


# The columns of a table of policies: which quantity each shows, how, and what it means.
#
# There are three: for days, for clusters whose tasks have a utility, and for clusters where waiting has a cost.
PERCENT: Final = 0.01


class Judged(StrEnum):
    """What was simulated, and what its tasks are judged by."""

    DAY = "day"
    CLUSTERS = "clusters"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a quantity of `PolicyEntry.mean`, divided by the unit."""

    header: str
    quantity: str
    meaning: str
    unit: float = 1.0
    digits: int = DIGITS
    none: str = ""  # the note that replaces a column of zeros

    def shown(self, estimate: Estimate | None, *, upper: bool | None = None) -> str:
        """Write a mean as this column does; a bound is rounded to its side."""
        if self.quantity == "gap":
            return shown_share(estimate, upper=True)
        if self.quantity.startswith("wait_seconds"):
            return shown_time(estimate)
        if self.unit == PERCENT:
            return shown_share(estimate, upper=upper)
        return shown(estimate, unit=self.unit, digits=self.digits, upper=upper)


GAP: Final = Column("gap", "gap", "|bound - value| / |bound|; the bound is proved", PERCENT)
EARNED: Final = (
    Column("utility", "utility", "utility of the tasks in the period that counts, measured from the schedule"),
    GAP,
    Column(
        "of no-wait",
        "share_of_naive",
        "utility divided by the no-wait reference: that of all tasks if each started on arrival where it is fastest",
        PERCENT,
    ),
    Column("kWh", "energy_joules", "energy of busy machines or nodes in the period", JOULES_PER_KWH),
)
COMPLETED: Final = Column("done", "completed", "tasks that ended within the period")
COUNTS: Final = (
    COMPLETED,
    Column("dropped", "dropped", "tasks given up within the period", none="No task is dropped."),
    Column(
        "waiting",
        "waiting",
        "tasks that had arrived, and neither started nor been dropped, when the period ended",
        none="No task is left waiting at the end.",
    ),
)
EVENTS: Final = (
    Column("events", "events", "scheduling events, at which the policy was called, of the warm-up too"),
    Column(
        "ms/event",
        "milliseconds_per_event",
        "mean milliseconds of a scheduling event: the policy, dropping and energy filter",
        digits=3,
    ),
)
NODES: Final = (
    Column("busy", "utilisation", "share of all nodes' time in the period that tasks took", PERCENT),
    Column("mean wait", "wait_seconds.mean", "from arrival to start, of tasks that arrive in the period and start"),
    Column("95 % wait", "wait_seconds.p95", "95 % of these tasks wait no longer"),
)
COLUMNS: Final = {
    Judged.DAY: (*EARNED, *COUNTS, *EVENTS),
    Judged.CLUSTERS: (*EARNED, *COUNTS, *NODES, *EVENTS),
    Judged.WAITING: (
        Column("cost", "cost", "total cost of the tasks' waiting, measured from the schedule"),
        Column("per task", "cost_per_task", "mean cost of a task"),
        GAP,
        *NODES,
        COMPLETED,
        *EVENTS,
    ),
}


def shown(estimate: Estimate | None, *, unit: float = 1.0, digits: int = 6, upper: bool | None = None) -> str:
    """Write a mean with the half width of its confidence interval, and no digits that it does not support.

    With `upper` it is the mean of bounds, upper or lower ones, and rounded to the side that stays true.

    >>> from lpsched.model.provenance import Estimate
    >>> shown(Estimate(12345.678, 9.87)), shown(Estimate(3.0)), shown(Estimate(3.0, 0.0)), shown(None)
    ('12,345.7 ± 9.9', '3', '3', '-')
    """
    if estimate is None:
        return "-"
    mean, half = estimate.mean / unit, (estimate.half_width or 0.0) / unit
    if half:
        sure = math.floor(math.log10(abs(mean) or half)) - math.floor(math.log10(half)) + 2
        digits = max(1, min(digits, sure))
    text = number(mean, digits) if upper is None else bound_text(mean, upper=upper, digits=digits)
    return f"{text} ± {number(half, 2)}" if half else text


def shown_share(estimate: Estimate | None, *, upper: bool | None = None) -> str:
    """Write a mean share in percent, likewise.

    >>> from lpsched.model.provenance import Estimate
    >>> shown_share(Estimate(0.5313, 0.0021)), shown_share(Estimate(0.5))
    ('53.13 ± 0.21 %', '50 %')
    """
    if estimate is not None and upper is not None and not estimate.half_width:
        return gap_text(estimate.mean) if upper else share_text(estimate.mean)
    return "-" if estimate is None else f"{shown(estimate, unit=PERCENT, digits=4, upper=upper)} %"


def shown_time(estimate: Estimate | None) -> str:
    """Write a mean time, likewise.

    >>> from lpsched.model.provenance import Estimate
    >>> shown_time(Estimate(5820.0)), shown_time(Estimate(5820.0, 121.0)), shown_time(None)
    ('1 h 37 min', '1 h 37 min ± 2 min 1 s', '-')
    """
    if estimate is None:
        return "-"
    return " ± ".join(map(duration, (estimate.mean, *((estimate.half_width,) if estimate.half_width else ()))))


# One policy and its trials: means, their confidence intervals, and the utility of tasks of each priority.
#
# Of several trials every number is a mean, with the half width of its 95 % confidence interval
# (`model/provenance.py`). Gaps and shares are means of the trials' gaps and shares, not those of means; but the share
# of a priority is the utility of its tasks in all trials, divided by their no-wait reference.
OFFLINE: Final = "offline"
LOG: Final = "log"
AS_LOGGED: Final = "as logged"  # the name of such an entry
NO_POLICY: Final = (OFFLINE, LOG)  # kinds of entries that are schedules, not policies
QUANTITIES: Final = tuple(word.rpartition(".")[2] for word in MEASURED.split())
OF_CLUSTERS: Final = ("utilisation", "mean_bounded_slowdown", "cost", "cost_per_task")  # besides
_WAITS: Final = tuple(word.partition("=")[0] for word in WAITS.split())  # seconds, as in `wait_seconds.mean`


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One policy and its runs, by trial.

    Its kind is `policy` if it was named, `function` if it was given in Python, or `offline`: the schedule that is
    made with all tasks known, from the bound's shadow prices; or `log`: the schedule of the log.
    """

    name: str
    kind: str
    runs: tuple[PolicyRun, ...]
    schedule: DaySchedule | ClustersSchedule | None = None  # of the first trial
    judged: Judged = Judged.DAY
    note: str | None = None  # what the reader must know of it

    @property
    def answers(self) -> tuple[PolicyRun, ...]:
        """The runs that could be measured."""
        return tuple(run for run in self.runs if run.measured is not None)

    @property
    def reasons(self) -> tuple[tuple[int, str], ...]:
        """The trials without a result, and why."""
        return tuple((run.trial, run.reason) for run in self.runs if run.reason is not None)

    def mean(self, quantity: str) -> Estimate | None:
        """Return the mean of one of `QUANTITIES` over the trials that have such a number, if any has.

        Of clusters there are also `OF_CLUSTERS`, and `wait_seconds.mean` and the others of `WAITS`.
        """
        return mean_of(_value(run.to_dict(), quantity) for run in self.answers)

    @property
    def earned(self) -> tuple[Earned, ...]:
        """The mean utility of tasks of each priority, or own function, and their no-wait reference."""
        found: dict[str, list[Earned]] = {}
        for each in (each for run in self.answers for each in run.earned):
            found.setdefault(each.name, []).append(each)
        return tuple(
            Earned(
                name,
                math.fsum(each.utility for each in several) / len(self.answers),
                math.fsum(each.if_none_waits for each in several) / len(self.answers),
            )
            for name, several in found.items()
        )

    @property
    def groups(self) -> tuple[GroupResult, ...]:
        """Results by cluster, task type and size; of several trials the means."""
        return pooled(run.groups for run in self.answers)

    @property
    def busy(self) -> tuple[tuple[str, float], ...]:
        """Machine types or clusters, and the mean share of the period that they were busy."""
        found: dict[str, list[float]] = {}
        for name, share in (each for run in self.answers for each in run.busy):
            found.setdefault(name, []).append(share)
        return tuple((name, fmean(shares)) for name, shares in found.items())

    @property
    def traces(self) -> Traces | None:
        """The mean of the trials' traces, as far as they are at the same times; `None` if there are none."""
        traces = [run.traces for run in self.answers if run.traces is not None]
        several = [each for each in traces if each.seconds == traces[0].seconds]
        if not several:
            return None
        utility = _means([each.utility for each in several])
        return Traces(several[0].seconds, utility, _means([each.energy_joules for each in several]))

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        made = json_of(self, "name kind")
        on_clusters = self.judged is not Judged.DAY
        for quantity in (*QUANTITIES, *(OF_CLUSTERS if on_clusters else ())):
            made[quantity], made[f"{quantity}_half_width"] = mean_and_half(self.mean(quantity))
        if on_clusters:
            waits = {name: mean_and_half(self.mean(f"wait_seconds.{name}")) for name in _WAITS}
            made["wait_seconds"] = {name: mean for name, (mean, _) in waits.items()}
            made["wait_seconds_half_width"] = {name: half for name, (_, half) in waits.items()}
        reasons = [{"trial": trial, "reason": reason} for trial, reason in self.reasons]
        keys = "reasons by_priority=earned busy traces trials=runs" + (" groups note?" if on_clusters else "")
        return made | json_of(self, keys, reasons=reasons, busy=dict(self.busy))

    def row(self) -> tuple[str, ...]:
        """Return the entry as a row of a table, as in `COLUMNS`."""
        return (self.name, *(column.shown(self.mean(column.quantity)) for column in COLUMNS[self.judged]))


def mean_of(values: Iterable[float | None]) -> Estimate | None:
    """Return the mean over the trials that have a value."""
    known = [float(value) for value in values if value is not None]
    return estimate_of(known) if known else None


def mean_and_half(estimate: Estimate | None) -> tuple[float | None, float | None]:
    """Return a mean, and the half width of its confidence interval, as they appear in JSON."""
    return (None, None) if estimate is None else (estimate.mean, estimate.half_width)


def _value(run: Mapping[str, Any], quantity: str) -> float | None:
    """Return a number of a run by its name; one within another after a dot."""
    name, _, part = quantity.partition(".")
    found = run.get(name)
    return found[part] if part and found is not None else found


def _means(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(fmean(column) for column in zip(*rows, strict=True))
