"""From a log in the Standard Workload Format to clusters: which jobs count, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.errors import nearest, quote
from lpsched.online.utility import WaitingCost
from lpsched.traces import jobs as common
from lpsched.traces.bags import LoggedBag, bag_of, with_powers
from lpsched.traces.swf import MISSING, SwfTrace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from lpsched.online.clusters import Clusters


# Which jobs of a Standard Workload Format log count, and how.
#
# *Left out*, each with its count: lines that repeat a part of a job (status 2 to 4: the whole job has a line of
# its own), jobs that never ran (no run time; cancelled with none), jobs of unknown size, and on request those
# that failed or were cancelled while running (status 0 and 5).
#
# *Changed*, each with its count, when they are used (`jobs.py`): a run time of 0 means less than half a second, and
# half a second stands for it; a request below the run time is raised to it (systems let jobs run on); where there is no
# request, the run time stands for it, as if owners knew it. Jobs that are not sorted by submit time are sorted.
#
# The size is the processors a job got, or if that is not known those it asked for. The source is in `swf.py`.
COLUMNS: Final = ("user", "group", "executable", "queue", "partition")
GROUPS: Final = (*COLUMNS, common.SIZE, common.TIME)
REAL: Final = "real"
REQUESTED: Final = "requested"
FAILED: Final = 0
CANCELLED: Final = 5
LONGEST_NAME: Final = 60
PARTS: Final = (2, 3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwfChoice:
    """What to take of a log."""

    times: Literal["real", "requested"] = REAL  # let jobs run as long as they did, or as long as they asked for
    group_by: tuple[str, ...] = ()  # which of `GROUPS` make the task types; none: all jobs are one
    partitions: Mapping[int, int] = field(default_factory=dict)  # nodes of each, which is then a cluster of its own
    keep_failed: bool = True  # jobs that failed, or were cancelled while they ran, took their nodes like others
    begin_seconds: float = 0.0  # of the log: keep what was submitted from here on
    end_seconds: float = math.inf  # and before


def swf_jobs(trace: SwfTrace, choice: SwfChoice, source: str) -> tuple[common.Jobs, common.Account]:
    """Return the jobs that count, and the account of all."""
    for name in choice.group_by:
        if name not in GROUPS:
            found, needed = f"grouping by {quote(name)}", f"some of {', '.join(GROUPS)}"
            raise common.refused(source, found, needed, nearest(name, GROUPS) or "choose others")
    account = common.Account(len(trace))
    asked = np.where(trace["requested_seconds"] > 0, trace["requested_seconds"], np.nan)
    width = np.where(trace["processors"] > 0, trace["processors"], trace["requested_processors"])
    real, width = trace["run_seconds"].astype(np.float64), width.astype(np.int64)
    status, submit, still = trace["status"], trace["submit_seconds"], np.ones(len(trace), bool)
    account.leave_out("a part of a job that has a line of its own", np.isin(status, PARTS), still)
    account.leave_out("cancelled before it ran", (status == CANCELLED) & (real <= 0), still)
    account.leave_out("no run time", real == MISSING, still)
    account.leave_out("no processors", width <= 0, still)
    if choice.times == REQUESTED:
        account.leave_out("no requested time", np.isnan(asked), still)
    if not choice.keep_failed:
        account.leave_out("failed or cancelled", np.isin(status, (FAILED, CANCELLED)), still)
    outside = (submit < choice.begin_seconds) | (submit >= choice.end_seconds)
    account.leave_out("submitted outside the chosen time", outside, still)
    if choice.partitions:
        unknown = ~np.isin(trace["partition"], list(choice.partitions))
        account.leave_out("on a partition that was not named", unknown, still)
    kept = np.flatnonzero(still)
    account.kept = len(kept)
    common.require_jobs(source, account)
    submit = submit[kept].astype(np.float64)
    late = int((submit < np.maximum.accumulate(submit)).sum())
    account.note("jobs submitted before one that stands above them: sorted", late)
    order = np.argsort(submit, kind="stable")
    kept, submit = kept[order], submit[order]
    real, asked, width = real[kept], asked[kept], width[kept]
    quantised = {common.SIZE: common.classes(width), common.TIME: common.classes(real)}
    columns = {name: quantised[name] if name in quantised else trace[name][kept] for name in choice.group_by}
    group, groups = _groups({name: column.tolist() for name, column in columns.items()}, len(kept))
    machine, machines = _machines(trace, choice)
    wait = trace["wait_seconds"][kept].astype(np.float64)
    jobs = common.Jobs(
        number=trace["job"][kept].astype(np.int64),
        submit_seconds=submit,
        start_seconds=np.where(wait == MISSING, np.nan, submit + wait),
        run_seconds=asked if choice.times == REQUESTED else real,
        requested_seconds=asked,
        width=width,
        joules=np.full(len(kept), np.nan),
        machine=machine[kept],
        group=group,
        machines=machines,
        groups=groups,
    )
    return jobs, account


def _groups(columns: Mapping[str, list[int]], jobs: int) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return which task type each job has; types are numbered in the order of first use."""
    if not columns:
        return np.zeros(jobs, np.int64), (common.ONLY_TYPE,)
    group, labels = common.numbered_labels(zip(*columns.values(), strict=True))
    return group, tuple(
        ", ".join(f"{name} {shown(value)}" for name, value in zip(columns, label, strict=True)) for label in labels
    )


def shown(value: int) -> str:
    """Return a user, a queue or the like as it stands in names."""
    return "unknown" if value == MISSING else str(value)


def _machines(trace: SwfTrace, choice: SwfChoice) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    if not choice.partitions:
        name = (trace.said("Computer") or "")[:LONGEST_NAME].strip()
        return np.zeros(len(trace), np.int64), (name if name and name.isprintable() else "cluster",)
    known = sorted(choice.partitions)
    place = np.searchsorted(known, trace["partition"])
    return np.minimum(place, len(known) - 1), tuple(f"partition {shown(number)}" for number in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSize:
    """How large a system is, where its partitions do not say it."""

    nodes: int | None = None  # if not given, the header's MaxProcs (one processor a node), else its MaxNodes
    cores_per_node: int = 1  # a job takes whole nodes: with 4 cores a node, 6 processors are 2 nodes
    watts_per_node: float | None = None  # the power of a busy node


EVERYTHING: Final = SwfChoice()
FROM_HEADER: Final = SystemSize()
USUAL_COST: Final = WaitingCost()


def clusters_of_swf(
    name: str,
    trace: SwfTrace,
    *,
    choice: SwfChoice = EVERYTHING,
    machines: SystemSize = FROM_HEADER,
    waiting: WaitingCost = USUAL_COST,
) -> tuple[Clusters, common.Account]:
    """Return a log as clusters and tasks that arrive, and the account of its jobs."""
    jobs, account = swf_jobs(trace, choice, name)
    sizes = _sizes(name, trace, choice, machines)
    sized = common.Machines(nodes=sizes, cores_per_node=machines.cores_per_node, watts_per_node=machines.watts_per_node)
    return common.clusters_of(name, jobs, sized, account, waiting=waiting), account


def bag_of_swf(
    name: str, trace: SwfTrace, *, choice: SwfChoice = EVERYTHING, machines: SystemSize = FROM_HEADER
) -> tuple[LoggedBag, common.Account]:
    """Return a log as a bag of tasks, and the account of its jobs."""
    jobs, account = swf_jobs(trace, choice, name)
    jobs = account.close(replace(jobs, width=-(-jobs.width // machines.cores_per_node)))
    logged = bag_of(name, jobs, _sizes(name, trace, choice, machines))
    watts = machines.watts_per_node
    return (logged if watts is None else with_powers(logged, watts)), account


def _sizes(name: str, trace: SwfTrace, choice: SwfChoice, machines: SystemSize) -> tuple[int, ...]:
    """Return the nodes of each part of the system: as said, or as the header says."""
    if choice.partitions:
        return tuple(choice.partitions[number] for number in sorted(choice.partitions))
    processors = trace.size("MaxProcs")
    told = trace.size("MaxNodes") if processors is None else -(-processors // machines.cores_per_node)
    size = machines.nodes if machines.nodes is not None else told
    if size is None:
        found = "a header without MaxProcs and MaxNodes"
        raise common.refused(name, found, "the size of the system", "say it: --nodes, or --partitions")
    return (size,)


def name_of(path: Path) -> str:
    """Return the name of a log's instance: that of the file, without its endings."""
    name = path.name
    for ending in (".gz", ".swf", ".txt", ".csv"):
        name = name[: -len(ending)] if name.lower().endswith(ending) and len(name) > len(ending) else name
    return name
