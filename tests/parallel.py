"""Clusters for tests, made by hand."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from lpsched.online.clusters import Clusters, DayTaskType, ParallelTasks
from lpsched.online.curves import NodeCurves
from lpsched.online.parts import WHOLE, Cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.online.curves import Points
    from lpsched.online.parts import Period
    from lpsched.online.utility import UtilityFunction, WaitingCost

SOUND: dict[str, Any] = {
    "format": "lpsched-clusters/1",
    "name": "sound",
    "clusters": [
        {"name": "thin", "nodes": 8, "cores_per_node": 4},
        {"name": "fat", "nodes": 2, "cores_per_node": 16, "p_states": ["P0", "P1"]},
    ],
    "task_types": [{"name": "flow"}, {"name": "mesh"}],
    "seconds": {
        "flow": {"thin": {1: 800.0, 4: 200.0, 8: 120.0}, "fat": {1: [300.0, 500.0], 2: [180.0, 280.0]}},
        "mesh": {"fat": {1: [60.0, 90.0], 2: [70.0, 100.0]}},
    },
    "watts": {
        "flow": {"thin": {1: 100.0, 8: 800.0}, "fat": {1: [400.0, 250.0], 2: [800.0, 500.0]}},
        "mesh": {"fat": {1: [300.0, 200.0], 2: [600.0, 400.0]}},
    },
    "priorities": {"high": 4, "low": 1},
    "urgencies": {"soon": {"decay_per_minute": 0.6, "steady_share": 0.8}},
    "utility_classes": {"A": [{"after_minutes": 0, "share": 1.0, "rate": 1.1}, {"after_minutes": 5, "share": 0.6}]},
    "utility_functions": {
        "deadline": [{"after_seconds": 0, "starts_at": 8}, {"after_seconds": 600, "starts_at": 0}],
        "slow": [{"after_seconds": 0, "starts_at": 3, "falls_to": 1, "rate_per_second": 0.01}],
    },
    "tasks": [
        {"arrival_seconds": 0, "task_type": "flow", "cores": 16,
         "priority": "high", "urgency": "soon", "utility_class": "A"},
        {"arrival_seconds": 2.5, "task_type": "mesh", "cores": 17, "utility": "deadline"},
        {"arrival_seconds": 2.5, "task_type": "flow", "cores": 1, "work": 0.5, "requested_work": 2,
         "priority": "low", "urgency": "soon", "utility_class": "A"},
        {"arrival_seconds": 100, "task_type": "mesh", "cores": 4, "utility": "slow"},
    ],
}  # fmt: skip


def sound_clusters(**changes: Any) -> dict[str, Any]:
    """Return the sound clusters' mapping with some keys replaced; a value of `...` removes the key."""
    raw = copy.deepcopy(SOUND) | changes
    return {key: value for key, value in raw.items() if value is not ...}


def waiting_clusters(**changes: Any) -> dict[str, Any]:
    """Return clusters judged by waiting: two nodes, three tasks of a trace; changes as above."""
    raw = {
        "format": "lpsched-clusters/1",
        "name": "waiting",
        "clusters": [{"name": "all", "nodes": 2}],
        "task_types": [{"name": "job"}],
        "seconds": {"job": {"all": {1: 1.0, 2: 1.0}}},
        "waiting": {"measure": "bounded-slowdown"},
        "tasks": [
            {"arrival_seconds": 0, "task_type": "job", "cores": 2, "work": 50, "requested_work": 60, "job": 7},
            {"arrival_seconds": 1, "task_type": "job", "cores": 1, "work": 5, "requested_work": 60, "job": 3},
            {"arrival_seconds": 1, "task_type": "job", "cores": 1, "work": 20, "requested_work": 20, "job": 9},
        ],
    }
    return {key: value for key, value in (copy.deepcopy(raw) | changes).items() if value is not ...}


class Task(NamedTuple):
    """A task of `simple_clusters`."""

    arrival: float
    cores: int = 1
    utility: UtilityFunction | None = None
    task_type: int = 0
    work: float = 1.0
    requested: float | None = None


def simple_clusters(
    seconds: Sequence[Sequence[float | dict[int, float] | None]],
    nodes: Sequence[int],
    tasks: Sequence[Task],
    *,
    watts: Sequence[Sequence[float | dict[int, float] | None]] | None = None,
    cores_per_node: Sequence[int] | None = None,
    p_states: Sequence[tuple[str, ...] | None] | None = None,
    waiting: WaitingCost | None = None,
    period: Period = WHOLE,
) -> Clusters:
    """Return clusters c0, c1 ... with so many nodes each, and task types t0, t1 ...

    A row of `seconds` or `watts` is a task type, with a cell for each column (cluster and P-state): a number
    for any number of nodes, `{nodes: number}`, or `None` where the type cannot run.
    """
    own = cores_per_node or [1] * len(nodes)
    states = p_states or [None] * len(nodes)
    parts = tuple(
        Cluster(f"c{c}", count, cores, names)
        for c, (count, cores, names) in enumerate(zip(nodes, own, states, strict=True))
    )
    sizes = [cluster.nodes for cluster in parts for _ in range(cluster.modes)]
    told = [task.utility for task in tasks if task.utility is not None]
    functions = list(dict.fromkeys(told))
    return Clusters(
        name="simple",
        clusters=parts,
        task_types=tuple(DayTaskType(f"t{i}") for i in range(len(seconds))),
        seconds=_curves(seconds, sizes),
        watts=None if watts is None else _curves(watts, sizes),
        tasks=ParallelTasks.of(
            [task.arrival for task in tasks],
            [task.task_type for task in tasks],
            [task.cores for task in tasks],
            work=[task.work for task in tasks],
            requested=[task.work if task.requested is None else task.requested for task in tasks],
            utilities=[f"u{functions.index(each)}" for each in told],
        ),
        utility_functions={f"u{f}": function for f, function in enumerate(functions)},
        waiting=waiting,
        period=period,
    )


def _curves(rows: Sequence[Sequence[Any]], sizes: Sequence[int]) -> NodeCurves:
    return NodeCurves(tuple(tuple(_points(cell, size) for cell, size in zip(row, sizes, strict=True)) for row in rows))


def _points(cell: Any, size: int) -> Points | None:
    if cell is None or isinstance(cell, dict):
        return None if cell is None else tuple(sorted(cell.items()))
    return ((1, cell),) if size == 1 else ((1, cell), (size, cell))
