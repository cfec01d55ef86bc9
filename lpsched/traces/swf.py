"""From a Standard Workload Format log to clusters and to a bag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lpsched.instance.waiting import WaitingCost
from lpsched.traces.bags import bag_of, with_powers
from lpsched.traces.clusters import Machines, clusters_of
from lpsched.traces.jobs import refused
from lpsched.traces.swf_jobs import SwfChoice, swf_jobs

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.files.swf import SwfTrace
    from lpsched.instance.clusters import Clusters
    from lpsched.traces.bags import LoggedBag
    from lpsched.traces.jobs import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSize:
    """How large a system is, where its partitions do not say it.

    Parameters
    ----------
    nodes
        If not given, the header's MaxProcs (one processor a node), else its MaxNodes.
    cores_per_node
        A job takes whole nodes: with 4 cores a node, 6 processors are 2 nodes.
    watts_per_node
        The power of a busy node; if not given, nobody knows it.
    """

    nodes: int | None = None
    cores_per_node: int = 1
    watts_per_node: float | None = None


EVERYTHING: Final = SwfChoice()
AS_TOLD: Final = SystemSize()
USUAL_COST: Final = WaitingCost()


def clusters_of_swf(
    name: str,
    trace: SwfTrace,
    *,
    choice: SwfChoice = EVERYTHING,
    machines: SystemSize = AS_TOLD,
    waiting: WaitingCost = USUAL_COST,
) -> tuple[Clusters, Account]:
    """Return a log as clusters and tasks that arrive, and the account of its jobs.

    Raises
    ------
    InstanceError
        If nobody says how large the system is, no job is left, or there are too many task types.
    """
    jobs, account = swf_jobs(trace, choice, name)
    sized = Machines(
        nodes=_sizes(name, trace, choice, machines),
        cores_per_node=machines.cores_per_node,
        watts_per_node=machines.watts_per_node,
    )
    return clusters_of(name, jobs, sized, account, waiting=waiting), account


def bag_of_swf(
    name: str,
    trace: SwfTrace,
    *,
    choice: SwfChoice = EVERYTHING,
    machines: SystemSize = AS_TOLD,
) -> tuple[LoggedBag, Account]:
    """Return a log as a bag of tasks, and the account of its jobs.

    Raises
    ------
    InstanceError
        If nobody says how large the system is, no job is left, or there are too many task types.
    """
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
        raise refused(name, found, "the size of the system", "say it: --nodes, or --partitions")
    return (size,)


def name_of(path: Path) -> str:
    """Return the name of a log's instance: that of the file, without its endings."""
    name = path.name
    for ending in (".gz", ".swf", ".txt", ".csv"):
        name = name[: -len(ending)] if name.lower().endswith(ending) and len(name) > len(ending) else name
    return name
