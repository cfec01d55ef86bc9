"""Jobs of a log in any format, an account of those that do not count, and clusters made of them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np

from lpsched.errors import InputIssue, InstanceError, Place
from lpsched.online.clusters import Clusters
from lpsched.online.curves import NodeCurves, Points
from lpsched.online.parts import Cluster, DayTaskType, ParallelTasks
from lpsched.units import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.online.utility import WaitingCost


# Jobs of a log that count, whatever format it was in, and an account of those that do not.
#     width      processors of a job in a Standard Workload Format log, nodes of a Slurm job
#     run        seconds that it really took, or shall take; 0 means less than half a second
#     start      when it started; NaN where not known
#     requested  seconds that its owner asked for; NaN where not known
#     joules     what it consumed; NaN where not known
#     machine    on which of the system's parts it ran: a partition, or the whole
#     group      which of the task types it belongs to
# Jobs stand in the order of their submit times, equal ones in that of the log.
ONLY_TYPE: Final = "job"  # where all jobs are one type
SIZE, TIME = "size", "time"  # what task types may be grouped by besides columns of a log: the classes of these
LEAST_SECONDS: Final = 0.5  # what rounds to 0
NAMES: Final = ("machines", "groups")
MOST_GROUPS: Final = 10_000  # task types of one instance

Label = TypeVar("Label", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class Jobs:
    """One number per job in each array; `machines` and `groups` are the names that two of them number."""

    number: NDArray[np.int64]
    submit_seconds: NDArray[np.float64]
    start_seconds: NDArray[np.float64]
    run_seconds: NDArray[np.float64]
    requested_seconds: NDArray[np.float64]
    width: NDArray[np.int64]
    joules: NDArray[np.float64]
    machine: NDArray[np.int64]
    group: NDArray[np.int64]
    machines: tuple[str, ...]
    groups: tuple[str, ...]

    def __len__(self) -> int:
        """How many jobs there are."""
        return len(self.number)

    def lasting(self) -> Jobs:
        """Return the jobs with half a second in place of 0, and no request below the run time."""
        run = np.where(self.run_seconds == 0, LEAST_SECONDS, self.run_seconds)
        asked = np.maximum(self.requested_seconds, run)  # NaN stays NaN
        return replace(self, run_seconds=run, requested_seconds=asked)

    def with_names_in_use(self) -> Jobs:
        """Return the same jobs without the names of machines and groups that none of them has."""
        machine, used = numbered_labels(self.machine.data)
        group, kept = numbered_labels(self.group.data)
        machines, groups = tuple(self.machines[each] for each in used), tuple(self.groups[each] for each in kept)
        return replace(self, machine=machine, group=group, machines=machines, groups=groups)

    def taken(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Jobs:
        """Return some of the jobs, or all in another order."""
        columns = [each.name for each in fields(self) if each.name not in NAMES]
        return replace(self, **{name: getattr(self, name)[which] for name in columns})


@dataclass(frozen=True, slots=True)
class Totals:
    """What jobs amount to: width times run time, the time from the first submit to the last, and energy."""

    width_seconds: float
    widest: int
    submit_span_seconds: float | None  # if all have their submit time
    joules: float | None  # of those jobs that have it
    jobs_with_joules: int

    @classmethod
    def of(cls, jobs: Jobs) -> Totals:
        """Sum over jobs."""
        known = ~np.isnan(jobs.joules)
        span = float(np.ptp(jobs.submit_seconds))
        return cls(
            width_seconds=float((jobs.width * jobs.run_seconds).sum()),
            widest=int(jobs.width.max()),
            submit_span_seconds=None if math.isnan(span) else span,
            joules=float(jobs.joules[known].sum()) if known.any() else None,
            jobs_with_joules=int(known.sum()),
        )


@dataclass(slots=True)
class Account:
    """How many jobs were read and are kept, why the others are not, and how many were changed."""

    read: int
    kept: int = 0
    totals: Totals | None = None  # of those that are kept
    left_out: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)  # what was found out and done, in sentences
    warnings: list[str] = field(default_factory=list)  # what is worth a second look
    unit: str | None = None  # what the width of a job counts
    capacity: dict[str, Any] = field(
        default_factory=dict
    )  # how large each part of the system is, and how that is known

    def leave_out(self, reason: str, which: NDArray[np.bool_], still: NDArray[np.bool_]) -> None:
        """Leave out jobs that are still there, and count them."""
        count = int((which & still).sum())
        if count:
            self.left_out[reason] = self.left_out.get(reason, 0) + count
        still &= ~which

    def close(self, jobs: Jobs) -> Jobs:
        """Sum the jobs that are kept, as they are in the log, and return them as they are used (`lasting`)."""
        self.kept, self.totals = len(jobs), Totals.of(jobs)
        self.note("jobs of 0 seconds: half a second stands for it", int((jobs.run_seconds == 0).sum()))
        return jobs.lasting()

    def note(self, what: str, count: int) -> None:
        """Count what was changed; nothing is said of what was not."""
        if count:
            self.notes[what] = self.notes.get(what, 0) + count


def numbered_labels(labels: Iterable[Label]) -> tuple[NDArray[np.int64], tuple[Label, ...]]:
    """Return the number of each label, in the order of first use, and the labels.

    >>> numbered_labels(["b", "a", "b"])
    (array([0, 1, 0]), ('b', 'a'))
    """
    number: dict[Label, int] = {}
    numbers = np.fromiter((number.setdefault(label, len(number)) for label in labels), np.int64)
    return numbers, tuple(number)


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return names that differ: what was there before gets a number.

    >>> distinct(["a", "b", "a", "a (2)"])
    ('a', 'b', 'a (2)', 'a (2) (2)')
    """
    made: dict[str, None] = {}
    for name in names:
        number, own = 1, name
        while own in made:
            number += 1
            own = f"{name} ({number})"
        made[own] = None
    return tuple(made)


def most_at_once(starts: NDArray[np.float64], seconds: NDArray[np.float64], widths: NDArray[np.int64]) -> int:
    """Return the largest sum of widths of jobs that run at one time; one ends before another starts.

    >>> most_at_once(np.array([0.0, 5.0, 10.0]), np.array([10.0, 5.0, 5.0]), np.array([2, 3, 4]))
    5
    """
    moments = np.concatenate((starts, starts + seconds))
    changes = np.concatenate((widths, -widths))
    order = np.lexsort((changes, moments))  # at one moment, first what ends
    return int(np.cumsum(changes[order]).max(initial=0))


def require_jobs(source: str, account: Account) -> None:
    """Raise an error for a log without usable jobs."""
    if not account.kept:
        reasons = "; ".join(f"{count:,} left out: {reason}" for reason, count in account.left_out.items())
        found = f"no job that can be used, of {account.read:,}" + (f" ({reasons})" if reasons else "")
        raise refused(source, found, "at least one job that ran", "bring another log, or keep more of it")


def require_few_groups(source: str, groups: Sequence[object], do: str = "group by fewer columns (--group-by)") -> None:
    """Raise an error for too many task types."""
    if len(groups) > MOST_GROUPS:
        raise refused(source, f"{len(groups):,} task types", f"at most {MOST_GROUPS:,}", do)


def refused(source: str, found: str, needed: str, do: str, place: Place = ()) -> InstanceError:
    """Return the error for a log that does not make an instance."""
    return InstanceError(source, (InputIssue(place, found, needed, do),))


# Classes of sizes and run times are named by their upper end, a power of two: class 32 holds what is more than 16 and
# up to 32. Values up to 1 are class 1.
HALF: Final = 0.5


def classes(values: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class of each value.

    >>> classes(np.array([0.5, 1, 16, 16.5, 32, 33])).tolist()
    [1, 1, 16, 32, 32, 64]
    """
    at_least_1 = np.maximum(np.asarray(values, np.float64), 1.0)
    mantissa, exponent = np.frexp(at_least_1)  # value = mantissa * 2^exponent, mantissa from 1/2 up
    exponent = exponent - (mantissa == HALF)  # a power of two is its own class
    made: NDArray[np.int64] = np.left_shift(np.int64(1), exponent.astype(np.int64))
    return made


# Jobs of a log as tasks that arrive on clusters. Every part of the system that jobs ran on is a cluster, and a job may
# run on its own part only. Tables say 1 second whatever the number of nodes, since a log has the times of jobs on the
# nodes that they had only; the `work` of a task is then its seconds. Arrivals count from the first job that is kept.
# Tasks have no utility: waiting has a cost.
def written_unit(unit: str) -> str:
    """Return a unit as people write it: GPU, node, core."""
    return unit.upper() if unit == "gpu" else unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """How large the parts of a system are, in the order of `Jobs.machines`."""

    nodes: Sequence[int]
    cores_per_node: int = 1
    watts_per_node: float | None = None
    watts_of_jobs: bool = True  # without them: powers by task type, from the energy of the jobs that have it
    unit: Literal["node", "core", "gpu"] = "node"
    unix_seconds: float | None = None  # what second 0 of the log is in seconds since 1970
    starts: bool = True  # keep the log's own starts
    peaks: Sequence[int | None] | None = None  # the most in use at once in each, by all jobs of the log, if known


def clusters_of(name: str, jobs: Jobs, machines: Machines, account: Account, *, waiting: WaitingCost) -> Clusters:
    """Return jobs as clusters and tasks; what is too wide for its part is left out and counted."""
    sizes = np.array(machines.nodes, np.int64)
    kept = np.ones(len(jobs), bool)
    needed = -(-jobs.width // machines.cores_per_node)
    machines = replace(machines, peaks=machines.peaks or _peaks(jobs, needed))
    account.leave_out("wider than the system it ran on", needed > sizes[jobs.machine], kept)
    jobs = jobs.taken(kept)
    account.kept = len(jobs)
    require_jobs(name, account)
    asked = jobs.requested_seconds
    jobs = account.close(jobs)
    raised = int((asked < jobs.run_seconds).sum())
    account.note("jobs that ran longer than requested: the request is raised", raised)
    account.note("jobs without a requested time: the run time stands for it", int(np.isnan(asked).sum()))
    types, pairs = numbered_labels(zip(jobs.group.data, jobs.machine.data, strict=True))
    require_few_groups(name, pairs)
    watts = _watts(jobs, types, machines, pairs, account)
    clusters = tuple(
        Cluster(each, nodes=nodes, cores_per_node=machines.cores_per_node)
        for each, nodes in zip(jobs.machines, machines.nodes, strict=True)
    )
    return Clusters(
        name=name,
        clusters=clusters,
        task_types=tuple(map(DayTaskType, distinct(_name_of(jobs, *pair) for pair in pairs))),
        seconds=_curves(pairs, clusters, [1.0] * len(pairs)),
        watts=None if watts is None else _curves(pairs, clusters, watts, per_node=True),
        unit=machines.unit,
        epoch=_epoch(jobs, machines, account),
        tasks=ParallelTasks.of(
            (jobs.submit_seconds - jobs.submit_seconds[0]).data,
            types.data,
            jobs.width.data,
            work=jobs.run_seconds.data,
            requested=np.where(np.isnan(jobs.requested_seconds), jobs.run_seconds, jobs.requested_seconds).data,
            jobs=jobs.number.data,
            logged_starts=_logged_starts(jobs, machines, account),
        ),
        waiting=waiting,
    )


def _logged_starts(jobs: Jobs, machines: Machines, account: Account) -> Sequence[float] | None:
    """Return when each job started in the log, counted as arrivals are; `None` where some job lacks it."""
    unknown = int(np.isnan(jobs.start_seconds).sum())
    if unknown or not machines.starts:
        why = f"{unknown:,} of {len(jobs):,} jobs have none" if unknown else "jobs run as long as requested"
        account.facts.append(f"the log's own starts are not kept: {why}")
        return None
    early = jobs.start_seconds < jobs.submit_seconds
    account.note("jobs that started before their submission: the start is raised to it", int(early.sum()))
    account.facts.append("the log's own starts are kept")
    assert machines.peaks is not None, "they were counted before jobs were left out"
    for name, size, peak in zip(jobs.machines, machines.nodes, machines.peaks, strict=True):
        if peak is not None and peak > size:
            units = counted(size, written_unit(machines.unit))
            had = f"{name} has {units}, and jobs of the log had up to {peak:,} at one time"
            account.warnings.append(f"{had}: the log's own schedule does not fit")
    kept: Sequence[float] = (np.maximum(jobs.start_seconds, jobs.submit_seconds) - jobs.submit_seconds[0]).data
    return kept


def _peaks(jobs: Jobs, nodes: NDArray[np.int64]) -> tuple[int | None, ...]:
    """Return the most nodes of each part that jobs with a start had at one time."""
    starts, seconds = jobs.start_seconds, jobs.lasting().run_seconds
    known = ~np.isnan(starts)
    parts = [known & (jobs.machine == number) for number in range(len(jobs.machines))]
    return tuple(most_at_once(starts[here], seconds[here], nodes[here]) for here in parts)


def _epoch(jobs: Jobs, machines: Machines, account: Account) -> str | None:
    """Return the date and time of second 0, which is the first submission; `None` where it is not known."""
    first = float(jobs.submit_seconds[0])
    if machines.unix_seconds is not None:
        with contextlib.suppress(ValueError, OverflowError, OSError):  # outside the years 1 to 9999
            moment = datetime.fromtimestamp(machines.unix_seconds + first, UTC).isoformat().replace("+00:00", "Z")
            account.facts.append(f"second 0 is {moment}, the first submission")
            return moment
    if first:
        account.facts.append(f"second 0 is second {first:,.15g} of the log, the first submission")
    return None


# The power of a busy node is given, or else that of the jobs of a task type on a cluster: joules of those that have
# them by their node-seconds. A type without any has the mean of its cluster, a cluster without any that of the log.
def _watts(
    jobs: Jobs, types: NDArray[np.int64], machines: Machines, pairs: Sequence[tuple[int, int]], account: Account
) -> Sequence[float] | None:
    if machines.watts_per_node is not None:
        if machines.unit != "node":
            account.facts.append(f"the given watts are those of each {written_unit(machines.unit)}")
        return [machines.watts_per_node] * len(pairs)
    known = ~np.isnan(jobs.joules)
    if not machines.watts_of_jobs or not known.any():
        return None
    joules = jobs.joules[known]
    node_seconds = (-(-jobs.width // machines.cores_per_node) * jobs.run_seconds)[known]

    def means(numbers: NDArray[np.int64], count: int) -> NDArray[np.float64]:
        spent, busy = (np.bincount(numbers[known], each, count) for each in (joules, node_seconds))
        return np.where(busy > 0, spent / np.where(busy > 0, busy, 1.0), np.nan)

    own, there = means(types, len(pairs)), means(jobs.machine, len(jobs.machines))
    there = np.where(np.isnan(there), joules.sum() / node_seconds.sum(), there)
    unit = written_unit(machines.unit)
    account.facts.append(f"watts of a {unit}, by task type: joules by {unit}-seconds of {len(joules):,} jobs")
    missing = "task types without energy: the mean of others is used"
    account.note(missing, int(np.isnan(own).sum()))
    found: list[float] = np.where(np.isnan(own), there[[machine for _, machine in pairs]], own).tolist()
    return found


def _name_of(jobs: Jobs, group: int, machine: int) -> str:
    if len(jobs.machines) == 1:
        return jobs.groups[group]
    if jobs.groups == (ONLY_TYPE,):
        return jobs.machines[machine]
    if jobs.groups[group] in jobs.machines[machine].split("+"):  # a partition, in a cluster of several
        return jobs.groups[group]
    return f"{jobs.groups[group]}, {jobs.machines[machine]}"


def _curves(
    pairs: Sequence[tuple[int, int]], clusters: Sequence[Cluster], values: Sequence[float], *, per_node: bool = False
) -> NodeCurves:
    """Return a curve for the one cluster that each task type can run on, with its value for one node, or for any."""
    rows: dict[tuple[int, float], tuple[Points | None, ...]] = {}
    for (_, machine), value in zip(pairs, values, strict=True):
        curve = tuple((nodes, value * nodes if per_node else value) for nodes in sorted({1, clusters[machine].nodes}))
        rows.setdefault((machine, value), tuple(curve if place == machine else None for place in range(len(clusters))))
    return NodeCurves(tuple(rows[machine, value] for (_, machine), value in zip(pairs, values, strict=True)))
