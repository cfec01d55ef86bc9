"""Jobs of a log as tasks that arrive on clusters: something to simulate.

Every part of the system that jobs ran on is a cluster, and a job may run on its own part only. Tables say 1
second whatever the number of nodes, since a log tells how long a job took on the nodes that it had, and not
how long it would take on others; the `work` of a task is then its seconds. Arrivals count from the first job
that is kept. Tasks have no utility: waiting costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.online.clusters import Clusters
from lpsched.online.parts import Cluster, DayTaskType, NodeCurves
from lpsched.online.tasks import ParallelTasks
from lpsched.traces.jobs import ONLY_TYPE, distinct, numbered_labels, require_few_groups, require_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lpsched.online.parts import Points
    from lpsched.online.utility import WaitingCost
    from lpsched.traces.jobs import Account, Jobs


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
    clusters = tuple(
        Cluster(each, nodes=nodes, cores_per_node=machines.cores_per_node)
        for each, nodes in zip(jobs.machines, machines.nodes, strict=True)
    )
    return Clusters(
        name=name,
        clusters=clusters,
        task_types=tuple(map(DayTaskType, distinct(_name_of(jobs, *pair) for pair in pairs))),
        seconds=_curves(pairs, clusters, 1.0),
        watts=None
        if machines.watts_per_node is None
        else _curves(pairs, clusters, machines.watts_per_node, per_node=True),
        arriving=_tasks(jobs, types),
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


def _tasks(jobs: Jobs, types: NDArray[np.int64]) -> ParallelTasks:
    arrivals = jobs.submit_seconds - jobs.submit_seconds[0]
    asked = np.where(np.isnan(jobs.requested_seconds), jobs.run_seconds, jobs.requested_seconds)
    return ParallelTasks.of(
        arrivals.tolist(),
        types.tolist(),
        jobs.width.tolist(),
        work=jobs.run_seconds.tolist(),
        requested=asked.tolist(),
        jobs=jobs.number.tolist(),
    )
