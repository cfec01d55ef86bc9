"""A schedule of clusters looked at second by second and node by node; all times are whole seconds.

In every second, each node of each cluster is asked who runs on it. What counts is counted in node-seconds:

    valid       each task at most once, on as many nodes as it needs, all of them in its cluster, not before
                its arrival nor from the end of the period on; nobody meets anybody on a node; not too much
                energy
    utility     of a task, by the share of its seconds that are in the period; or minus the cost of its wait
    energy      its watts, in each of these seconds
    busy        node-seconds in the period

A task in a period of which only completed tasks count has all its seconds in the period, or none. The twin of
`lpsched/online/verify/clusters.py`, which knows neither seconds nor nodes.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters, Kind
    from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes


@dataclass
class Looked:
    """What was seen; numbers of an invalid schedule mean nothing."""

    is_valid: bool = True
    utility: float = 0.0
    joules: float = 0.0
    completed: int = 0
    busy: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)


def look(clusters: Clusters, schedule: ClustersSchedule) -> Looked:
    """Go through all seconds."""
    found, period = Looked(), clusters.period
    ran = []
    for placed in schedule.placed:
        kind = kind_of(clusters, placed.task)
        column = column_of(clusters, placed)
        seconds = None if column is None or kind is None else clusters.seconds_of(kind, column)
        if kind is None or column is None or seconds is None or not fits(clusters, placed, kind):
            found.is_valid = False
            return found
        ran.append((placed, kind, column, range(int(placed.start_seconds), int(placed.start_seconds + seconds))))
    tasks = {placed.task for placed, *_ in ran}
    found.is_valid = len(tasks) == len(ran) and (clusters.waiting is None or len(tasks) == clusters.tasks)
    for second in range(max((during.stop for *_, during in ran), default=0)):
        there = Counter(
            (placed.cluster, node) for placed, _, _, during in ran if second in during for node in nodes_of(placed)
        )
        found.is_valid = found.is_valid and all(number == 1 for number in there.values())
        if period.begins_at <= second < period.ends_at:
            found.busy += Counter(name for name, _ in there)
    for placed, kind, column, during in ran:
        counted = [second for second in during if period.begins_at <= second < period.ends_at]
        is_completed = period.begins_at < during.stop <= period.ends_at
        if period.edge == "completed":
            counted = list(during) if is_completed else []
        arrival = clusters.arriving.arrival_seconds[placed.task]
        found.completed += is_completed
        found.joules += len(counted) * (clusters.watts_of(kind, column) or 0.0)
        found.utility += earned(clusters, placed, kind, during) * len(counted) / len(during)
        if period.begins_at <= arrival < period.ends_at:
            found.waits.append(placed.start_seconds - arrival)
    most = period.energy_constraint_joules
    found.is_valid = found.is_valid and (most is None or found.joules <= most)
    return found


def earned(clusters: Clusters, placed: PlacedOnNodes, kind: Kind, during: range) -> float:
    """Return what a task earns that runs then."""
    arrival = clusters.arriving.arrival_seconds[placed.task]
    if clusters.waiting is not None:
        fastest = clusters.fastest_seconds(kind) or math.nan
        return -clusters.waiting.cost(during.start - arrival, fastest, cores=kind.cores)
    function = clusters.functions[memoryview(clusters.function_numbers).cast("q")[placed.task]]
    return function.at(during.stop - arrival)


def kind_of(clusters: Clusters, task: int) -> Kind | None:
    """Return the kind of a task, if there is such a task."""
    numbers = memoryview(clusters.kind_numbers).cast("q")
    return clusters.kinds[numbers[task]] if 0 <= task < clusters.tasks else None


def column_of(clusters: Clusters, placed: PlacedOnNodes) -> int | None:
    """Return the column of a task's cluster and P-state, if there is one."""
    for column, (c, _) in enumerate(clusters.modes):
        if (clusters.clusters[c].name, clusters.p_state(column)) == (placed.cluster, placed.p_state):
            return column
    return None


def nodes_of(placed: PlacedOnNodes) -> list[int]:
    """Return the nodes of a task one by one."""
    return [node for first, last in placed.nodes for node in range(first, last + 1)]


def fits(clusters: Clusters, placed: PlacedOnNodes, kind: Kind) -> bool:
    """Tell whether a task has the nodes that it needs, and starts when it may."""
    cluster = next(each for each in clusters.clusters if each.name == placed.cluster)
    nodes = nodes_of(placed)
    needed = math.ceil(kind.cores / cluster.cores_per_node)
    exist = all(node in range(1, cluster.nodes + 1) for node in nodes)
    sound = all(first <= last for first, last in placed.nodes)
    arrival, start = clusters.arriving.arrival_seconds[placed.task], placed.start_seconds
    in_time = arrival <= start < clusters.period.ends_at
    return sound and exist and in_time and len(nodes) == len(set(nodes)) == needed
