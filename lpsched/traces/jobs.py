"""Jobs of a log in any format, an account of those that do not count, and clusters made of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from lpsched.errors import InputIssue, InstanceError, Place
from lpsched.online.clusters import Clusters
from lpsched.online.curves import NodeCurves, Points
from lpsched.online.parts import Cluster, DayTaskType, ParallelTasks

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
        machine, used = numbered_labels(self.machine.tolist())
        group, kept = numbered_labels(self.group.tolist())
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
    numbers = np.array([number.setdefault(label, len(number)) for label in labels], np.int64)
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
@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """How large the parts of a system are, in the order of `Jobs.machines`."""

    nodes: Sequence[int]
    cores_per_node: int = 1
    watts_per_node: float | None = None


def clusters_of(name: str, jobs: Jobs, machines: Machines, account: Account, *, waiting: WaitingCost) -> Clusters:
    """Return jobs as clusters and tasks; what is too wide for its part is left out and counted."""
    sizes = np.array(machines.nodes, np.int64)
    kept = np.ones(len(jobs), bool)
    needed = -(-jobs.width // machines.cores_per_node)
    account.leave_out("wider than the system it ran on", needed > sizes[jobs.machine], kept)
    jobs = jobs.taken(kept)
    account.kept = len(jobs)
    require_jobs(name, account)
    asked = jobs.requested_seconds
    jobs = account.close(jobs)
    raised = int((asked < jobs.run_seconds).sum())
    account.note("jobs that ran longer than requested: the request is raised", raised)
    account.note("jobs without a requested time: the run time stands for it", int(np.isnan(asked).sum()))
    types, pairs = numbered_labels(zip(jobs.group.tolist(), jobs.machine.tolist(), strict=True))
    require_few_groups(name, pairs)
    watts = machines.watts_per_node
    clusters = tuple(
        Cluster(each, nodes=nodes, cores_per_node=machines.cores_per_node)
        for each, nodes in zip(jobs.machines, machines.nodes, strict=True)
    )
    return Clusters(
        name=name,
        clusters=clusters,
        task_types=tuple(map(DayTaskType, distinct(_name_of(jobs, *pair) for pair in pairs))),
        seconds=_curves(pairs, clusters, 1.0),
        watts=None if watts is None else _curves(pairs, clusters, watts, per_node=True),
        tasks=ParallelTasks.of(
            (jobs.submit_seconds - jobs.submit_seconds[0]).tolist(),
            types.tolist(),
            jobs.width.tolist(),
            work=jobs.run_seconds.tolist(),
            requested=np.where(np.isnan(jobs.requested_seconds), jobs.run_seconds, jobs.requested_seconds).tolist(),
            jobs=jobs.number.tolist(),
        ),
        waiting=waiting,
    )


def _name_of(jobs: Jobs, group: int, machine: int) -> str:
    if len(jobs.machines) == 1:
        return jobs.groups[group]
    if jobs.groups == (ONLY_TYPE,):
        return jobs.machines[machine]
    return f"{jobs.groups[group]}, {jobs.machines[machine]}"


def _curves(
    pairs: Sequence[tuple[int, int]], clusters: Sequence[Cluster], value: float, *, per_node: bool = False
) -> NodeCurves:
    """Return a curve for the one cluster that each task type can run on."""
    curves: list[Points] = [
        tuple((nodes, value * nodes if per_node else value) for nodes in sorted({1, cluster.nodes}))
        for cluster in clusters
    ]
    rows = {
        machine: tuple(curve if place == machine else None for place, curve in enumerate(curves))
        for _, machine in pairs
    }
    return NodeCurves(tuple(rows[machine] for _, machine in pairs))
