"""One policy in a simulation: its runs, and its columns in tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.model.provenance import estimate_of
from lpsched.model.results import JsonObject, json_of
from lpsched.online.verify.clusters import ClustersMeasurement
from lpsched.units import GIGA, MEGA, bound_text, gap_text, number, share_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lpsched.model.provenance import Estimate
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.verify.day import DayMeasurement


WAITS: Final = "mean=mean_seconds median=median_seconds p95=percentile_95_seconds longest=longest_seconds"


def facts_of(measured: ClustersMeasurement | None) -> dict[str, Any]:
    """Return how busy clusters were and how long tasks waited; every value is `None` if nobody knows."""
    waits = None if measured is None else measured.waits
    return json_of(
        measured,
        "utilisation wait_seconds waits.mean_slowdown waits.mean_bounded_slowdown",
        wait_seconds=None if waits is None else json_of(waits, WAITS),
    )


# One policy on the day of one trial: what the verifier measured of it, or why there is nothing to measure. What the
# quantities mean, `COLUMNS` says; besides,
#
# utility, energy     counted in the period, by share (`online/parts.py`); energy is not known without watts
# cost                where tasks are judged by what they wait (`online/utility.py`), minus the utility; then
# share_of_naive      is the cost if nothing waited / cost, as share_of_bound; both are at most 1
# mean_bounded_slowdown  of tasks that arrive in the period and start, the mean of max(1, (wait + run) / max(run, 10 s))
@dataclass(frozen=True, slots=True)
class Earned(JsonObject):
    """What tasks of one priority, or with one own function, earned, and would have if none had waited."""

    name: str
    utility: float
    if_none_waits: float  # the naive figure, which tasks of the warm-up may pass

    _KEYS: ClassVar = "name utility if_none_waits share"

    @property
    def share(self) -> float | None:
        """The earned part of that; `None` where it is nothing."""
        return self.utility / self.if_none_waits if self.if_none_waits > 0.0 else None


@dataclass(frozen=True, slots=True)
class Traces(JsonObject):
    """What had been counted by some times of the period: utility, and joules."""

    seconds: tuple[float, ...]  # since the period began
    utility: tuple[float, ...]
    energy_joules: tuple[float, ...]


MEASURED: Final = (
    "measured.utility share_of_naive share_of_bound measured.energy_joules measured.completed dropped waiting events "
    "milliseconds_per_event seconds"
)


@dataclass(frozen=True, slots=True)
class PolicyRun(JsonObject):
    """What a policy did in one trial. Only one of `measured` and `reason` is there."""

    trial: int
    measured: DayMeasurement | ClustersMeasurement | None = None
    reason: str | None = None  # why there is nothing
    dropped: int | None = None  # as the next three, `None` of an offline schedule
    waiting: int | None = None
    events: int | None = None
    event_seconds: float | None = None
    seconds: float = 0.0  # that the whole took
    naive: float = 0.0
    bound: float | None = None
    earned: tuple[Earned, ...] = ()
    busy: tuple[tuple[str, float], ...] = ()  # machine types or clusters, and their share of the period
    traces: Traces | None = None
    costly_tasks: int | None = None  # whose waiting is what costs; `None`: they have a utility

    @property
    def utility(self) -> float | None:
        """What was earned."""
        return None if self.measured is None else self.measured.utility

    @property
    def share_of_naive(self) -> float | None:
        """Utility as a share of the naive figure; `None` where that is 0."""
        return self._share(self.naive)

    @property
    def share_of_bound(self) -> float | None:
        """Utility as a share of the bound; `None` where that is 0, or nobody asked."""
        return None if self.bound is None else self._share(self.bound)

    def _share(self, most: float) -> float | None:
        """Return the earned part of what can be earned; of costs, the part that has to be paid."""
        if self.utility is None:
            return None
        part, whole = (self.utility, most) if self.costly_tasks is None else (most, self.utility)
        return part / whole if whole else None

    @property
    def milliseconds_per_event(self) -> float | None:
        """The mean time that a mapping event took."""
        return None if self.event_seconds is None else 1e3 * self.event_seconds

    def to_dict(self) -> dict[str, Any]:
        """Return the run as it appears in JSON."""
        told = json_of(self, "trial reason" if self.measured is None else f"trial reason {MEASURED}")
        if not isinstance(self.measured, ClustersMeasurement):
            return told
        tasks = self.costly_tasks
        cost = None if tasks is None else 0.0 - self.measured.utility  # no cost is 0, not -0
        per_task = cost / tasks if cost is not None and tasks else None
        return told | facts_of(self.measured) | {"cost": cost, "cost_per_task": per_task, "busy": dict(self.busy)}


# The columns of a table of policies: which quantity each shows, how, and what it means.
#
# There are three such tables: of days, of clusters whose tasks have a utility, and of clusters whose tasks
# are judged by what they wait.
PERCENT: Final = 0.01


class Judged(StrEnum):
    """What was simulated, and by what its tasks are judged."""

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
    digits: int = 6

    def shown(self, estimate: Estimate | None, *, upper: bool | None = None) -> str:
        """Write a mean as this column does; a bound rounded to its side."""
        if self.unit == PERCENT:
            return shown_share(estimate, upper=False if self.quantity == OF_BOUND.quantity else upper)
        return shown(estimate, unit=self.unit, digits=self.digits, upper=upper)


UTILITY: Final = Column(
    "utility", "utility", "what the tasks earned in the period that counts, measured from the schedule"
)
OF_NAIVE: Final = Column(
    "of naive",
    "share_of_naive",
    "divided by what they would earn if each began on arrival where it is quickest",
    PERCENT,
)
OF_BOUND: Final = Column(
    "of bound", "share_of_bound", "divided by what no schedule of the day can pass, proved", PERCENT
)
COMPLETED: Final = Column("completed", "completed", "tasks that ended within the period")
COUNTS: Final = (
    COMPLETED,
    Column("dropped", "dropped", "tasks given up for good within the period"),
    Column("waiting", "waiting", "tasks that had arrived, and neither begun nor been dropped, when the period ended"),
)
EVENTS: Final = (
    Column("events", "events", "mapping events, at which the policy was asked, of the warm-up too"),
    Column(
        "ms/event",
        "milliseconds_per_event",
        "mean milliseconds that a mapping event took: the policy, dropping and energy filter",
        digits=3,
    ),
)
NODES: Final = (
    Column("utilisation", "utilisation", "share of all nodes' time in the period that tasks took", PERCENT),
    Column(
        "mean wait, s",
        "wait_seconds.mean",
        "from arrival to start, of tasks that arrive in the period and start",
        digits=4,
    ),
    Column("95 % wait, s", "wait_seconds.p95", "that 95 % of these tasks do not wait longer than", digits=4),
)
COLUMNS: Final = {
    Judged.DAY: (
        UTILITY,
        OF_NAIVE,
        OF_BOUND,
        Column("energy, MJ", "energy_joules", "what machines took in the period while they were busy", MEGA),
        *COUNTS,
        *EVENTS,
    ),
    Judged.CLUSTERS: (
        UTILITY,
        OF_NAIVE,
        OF_BOUND,
        Column("energy, GJ", "energy_joules", "what nodes took in the period while they were busy", GIGA),
        *COUNTS,
        *NODES,
        *EVENTS,
    ),
    Judged.WAITING: (
        Column("cost", "cost", "what the tasks' waiting costs in all, measured from the schedule"),
        Column("per task", "cost_per_task", "the mean of it", digits=4),
        Column(
            "unavoidable",
            "share_of_bound",
            "the part of the cost that no schedule can avoid, proved: at 100 % there is none better",
            PERCENT,
        ),
        *NODES,
        COMPLETED,
        *EVENTS,
    ),
}  # fmt: skip


def headers_of(judged: Judged) -> tuple[str, ...]:
    """Return the headers of a table."""
    return ("policy", *(column.header for column in COLUMNS[judged]))


def shown(estimate: Estimate | None, *, unit: float = 1.0, digits: int = 6, upper: bool | None = None) -> str:
    """Write a mean, and how far its confidence interval goes to each side; no digits that mean nothing.

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
    told = number(mean, digits) if upper is None else bound_text(mean, upper=upper, digits=digits)
    return f"{told} ± {number(half, 2)}" if half else told


def shown_share(estimate: Estimate | None, *, upper: bool | None = None) -> str:
    """Write a mean share in percent, likewise.

    >>> from lpsched.model.provenance import Estimate
    >>> shown_share(Estimate(0.5313, 0.0021)), shown_share(Estimate(0.5))
    ('53.13 ± 0.21 %', '50 %')
    """
    if estimate is not None and upper is not None and not estimate.half_width:
        return gap_text(estimate.mean) if upper else share_text(estimate.mean)
    return "-" if estimate is None else f"{shown(estimate, unit=PERCENT, digits=4, upper=upper)} %"


# One policy and its trials: means, how sure we are of them, and what tasks of each priority earned.
#
# Of several trials every number is a mean, with the half width of its 95 % confidence interval
# (`model/provenance.py`). Shares are means of the trials' shares, not shares of means; but the share of a
# priority is what its tasks earned in all trials, divided by what they would have earned if none had waited.
OFFLINE: Final = "offline"
QUANTITIES: Final = tuple(word.rpartition(".")[2] for word in MEASURED.split())
OF_CLUSTERS: Final = ("utilisation", "mean_bounded_slowdown", "cost", "cost_per_task")  # besides
_WAITS: Final = tuple(word.partition("=")[0] for word in WAITS.split())  # seconds, as in `wait_seconds.mean`


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One policy and its runs, by trial.

    Its kind is `policy` if it was named, `function` if it was given in Python, or `offline`: the schedule from the
    bound's own prices, which knows the whole day.
    """

    name: str
    kind: str
    runs: tuple[PolicyRun, ...]
    schedule: DaySchedule | ClustersSchedule | None = None  # of the first trial
    judged: Judged = Judged.DAY  # by what its tasks are

    @property
    def answers(self) -> tuple[PolicyRun, ...]:
        """The runs that could be measured."""
        return tuple(run for run in self.runs if run.measured is not None)

    @property
    def reasons(self) -> tuple[tuple[int, str], ...]:
        """The trials without an answer, and why."""
        return tuple((run.trial, run.reason) for run in self.runs if run.reason is not None)

    def mean(self, quantity: str) -> Estimate | None:
        """Return the mean of one of `QUANTITIES` over the trials that have such a number, if any has.

        Of clusters there are also `OF_CLUSTERS`, and `wait_seconds.mean` and the others of `WAITS`.
        """
        return mean_of(_value(run.to_dict(), quantity) for run in self.answers)

    @property
    def earned(self) -> tuple[Earned, ...]:
        """What tasks of each priority, or own function, earned in a trial, and would if none waited."""
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
    def busy(self) -> tuple[tuple[str, float], ...]:
        """Machine types, and which share of the period their machines were busy, on average."""
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
        told = json_of(self, "name kind")
        on_clusters = self.judged is not Judged.DAY
        for quantity in (*QUANTITIES, *(OF_CLUSTERS if on_clusters else ())):
            told[quantity], told[f"{quantity}_half_width"] = mean_and_half(self.mean(quantity))
        if on_clusters:
            waits = {name: mean_and_half(self.mean(f"wait_seconds.{name}")) for name in _WAITS}
            told["wait_seconds"] = {name: mean for name, (mean, _) in waits.items()}
            told["wait_seconds_half_width"] = {name: half for name, (_, half) in waits.items()}
        reasons = [{"trial": trial, "reason": reason} for trial, reason in self.reasons]
        keys = "reasons by_priority=earned busy traces trials=runs"
        return told | json_of(self, keys, reasons=reasons, busy=dict(self.busy))

    def row(self) -> tuple[str, ...]:
        """Return the entry as a row of a table, as in `COLUMNS`."""
        cells = (column.shown(self.mean(column.quantity)) for column in COLUMNS[self.judged])
        return (self.name, *cells)


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
