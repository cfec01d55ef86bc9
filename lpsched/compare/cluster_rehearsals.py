"""A rehearsal on clusters: two tasks come first, so that compiling is timed with no policy and no bound."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import LpschedError
from lpsched.instance.clusters import Cluster, Clusters, DayTaskType, ParallelTasks
from lpsched.instance.node_curves import NodeCurves
from lpsched.instance.period import Period
from lpsched.instance.utility import Interval, UtilityFunction
from lpsched.pipeline.arrivals import cluster_bound
from lpsched.simulation.clusters.engine import simulate_clusters
from lpsched.simulation.clusters.registry import cluster_policy

if TYPE_CHECKING:
    from lpsched.instance.waiting import WaitingCost
    from lpsched.simulation.clusters.options import ClusterOptions

EVERY_SECONDS = 0.1


def rehearse(name: str, waiting: WaitingCost | None, options: ClusterOptions) -> None:
    """Let a policy run two tasks; how it fares does not matter."""
    clusters = two_tasks(waiting)
    often = replace(options, every_seconds=EVERY_SECONDS)
    with contextlib.suppress(LpschedError):
        simulate_clusters(clusters, cluster_policy(name), np.random.default_rng(0), often)


def rehearse_bound(waiting: WaitingCost | None) -> None:
    """Find the bound of two tasks."""
    cluster_bound(two_tasks(waiting))


def two_tasks(waiting: WaitingCost | None) -> Clusters:
    """Return clusters that are done in seconds: two tasks, each in need of both nodes."""
    worth = {"worth": UtilityFunction((Interval(0.0, 8.0, 1.0, 0.01),))}
    curve = ((1, 1.0), (2, 0.5))
    small = Clusters(
        "rehearsal",
        (Cluster("cluster", 2, 1, ("P0", "P1")),),
        (DayTaskType("task"),),
        NodeCurves(((curve, curve),)),
        NodeCurves(((curve, curve),)),
        ParallelTasks.of([0.0, 0.2], [0, 0], [2, 2], utilities=["worth", "worth"]),
        utility_functions=worth,
    )
    if waiting is None:
        return replace(small, period=Period(0.0, 3.0, energy_constraint_joules=10.0))
    tasks = ParallelTasks.of([0.0, 0.2], [0, 0], [2, 2])
    return replace(small, arriving=tasks, utility_functions={}, waiting=waiting)
