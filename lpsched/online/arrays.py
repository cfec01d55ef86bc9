"""Array views of days and clusters for the numerics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


# Array views of a day for the numerics: read-only, absent pairs masked and 0.
#
# Shapes: N tasks in the order of their arrival, T task types, M machine types, C columns (machine type and
# P-state), F utility functions with P intervals in all.
@dataclass(frozen=True, slots=True)
class DayArrays:
    """The numbers of a day; an absent pair has `can_run` False and 0 elsewhere."""

    arrivals: Floats  # N, seconds, never falling
    task_type: Integers  # N
    function: Integers  # N: the utility function of each task
    machine_counts: Integers  # M
    mode_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    watts: Floats  # T x C
    first_interval: Integers  # F + 1: function f has the intervals first_interval[f] to first_interval[f + 1]
    after_seconds: Floats  # P, since arrival
    starts_at: Floats  # P
    falls_to: Floats  # P
    rate_per_second: Floats  # P


def day_arrays(day: Day) -> DayArrays:
    """Return the views of a day."""
    shape = (day.seconds.rows, day.seconds.columns)
    seconds = np.frombuffer(day.seconds.packed).reshape(shape)
    can_run = ~np.isnan(seconds)
    intervals = [each for function in day.functions for each in function.intervals]
    lengths = [0, *(len(function.intervals) for function in day.functions)]
    made = DayArrays(
        arrivals=np.frombuffer(day.arriving.arrivals),
        task_type=np.frombuffer(day.arriving.types, dtype=np.int64),
        function=np.frombuffer(day.function_numbers, dtype=np.int64),
        machine_counts=np.array([machine.count for machine in day.machine_types], dtype=np.int64),
        mode_type=np.array([j for j, _ in day.modes], dtype=np.int64),
        can_run=can_run,
        seconds=np.where(can_run, seconds, 0.0),
        watts=np.where(can_run, np.frombuffer(day.watts.packed).reshape(shape), 0.0),
        first_interval=np.cumsum(lengths, dtype=np.int64),
        after_seconds=np.array([each.after_seconds for each in intervals], dtype=float),
        starts_at=np.array([each.starts_at for each in intervals], dtype=float),
        falls_to=np.array([each.falls_to for each in intervals], dtype=float),
        rate_per_second=np.array([each.rate_per_second for each in intervals], dtype=float),
    )
    for name in DayArrays.__dataclass_fields__:
        getattr(made, name).flags.writeable = False
    return made


def utility(arrays: DayArrays, tasks: int | Integers, seconds_since_arrival: Floats) -> Floats:
    """Return the utility of tasks that end so long after their arrival; shapes are broadcast.

    One task at many times takes a quarter of the time that an array of one task would.
    """
    seconds = np.asarray(seconds_since_arrival, dtype=float)
    now = _interval_of_one(arrays, tasks, seconds) if isinstance(tasks, int) else _intervals(arrays, tasks, seconds)
    decay = np.exp(-arrays.rate_per_second[now] * (seconds - arrays.after_seconds[now]))
    earned: Floats = arrays.falls_to[now] + (arrays.starts_at[now] - arrays.falls_to[now]) * decay
    return earned


def _interval_of_one(arrays: DayArrays, task: int, seconds: Floats) -> Integers:
    """Return the interval of a task's utility function in which each time is."""
    first, end = arrays.first_interval[arrays.function[task] :][:2].tolist()
    now: Integers = first + np.searchsorted(arrays.after_seconds[first:end], seconds, side="right") - 1
    return now


def _intervals(arrays: DayArrays, tasks: Integers, seconds: Floats) -> Integers:
    """Return the interval of each task's utility function in which its time is."""
    function = arrays.function[tasks]
    first, end = arrays.first_interval[function], arrays.first_interval[function + 1]
    first, end, seconds = np.broadcast_arrays(first, end, seconds)
    now = first.copy()
    for k in range(1, int(np.diff(arrays.first_interval).max())):
        reached = np.minimum(first + k, end - 1)
        now = np.where(arrays.after_seconds[reached] <= seconds, reached, now)
    return now


# Array views of clusters for the numerics: read-only, absent pairs masked and 0.
#
# Shapes: N tasks in the order of their arrival, K kinds of tasks, M clusters, C columns (cluster and
# P-state), F utility functions with P intervals in all.
@dataclass(frozen=True, slots=True)
class ClusterArrays:
    """The numbers of clusters; where a kind cannot run, `can_run` is False and all else 0."""

    arrivals: Floats  # N, seconds, never falling
    kind: Integers  # N
    function: Integers  # N: the utility function of each task; empty where tasks cost what they wait
    task_type: Integers  # K
    cores: Integers  # K, asked for
    node_counts: Integers  # M
    cores_per_node: Integers  # M
    column_cluster: Integers  # C
    first_column: Integers  # M + 1: cluster c has the columns first_column[c] to first_column[c + 1]
    nodes: Integers  # K x C, that a task takes
    can_run: Mask  # K x C
    seconds: Floats  # K x C
    requested_seconds: Floats  # K x C, what a scheduler is told; at least `seconds`
    watts: Floats  # K x C, of all its nodes; 0 where nobody knows
    joules: Floats  # K x C
    first_interval: Integers  # F + 1
    after_seconds: Floats  # P, since arrival
    starts_at: Floats  # P
    falls_to: Floats  # P
    rate_per_second: Floats  # P


def cluster_arrays(clusters: Clusters) -> ClusterArrays:
    """Return the views of clusters."""
    kinds = clusters.kinds
    shape: dict[tuple[int, int], int] = {}  # of many kinds few differ in type and cores
    row = [shape.setdefault((kind.task_type, kind.cores), len(shape)) for kind in kinds]
    runs = [clusters.runs(*each) for each in shape]
    can_run = _table([[run is not None for run in each] for each in runs])[row] > 0
    curve = _table([[0.0 if run is None else run.seconds for run in each] for each in runs])[row]
    watts = _table([[0.0 if run is None else run.watts or 0.0 for run in each] for each in runs])[row]
    nodes = [[0 if run is None else run.nodes for run in each] for each in runs]
    seconds = np.array([kind.work for kind in kinds])[:, np.newaxis] * curve
    intervals = [each for function in clusters.functions for each in function.intervals]
    lengths = [0, *(len(function.intervals) for function in clusters.functions)]
    modes = [cluster.modes for cluster in clusters.clusters]
    made = ClusterArrays(
        arrivals=np.frombuffer(clusters.arriving.arrivals),
        kind=np.frombuffer(clusters.kind_numbers, dtype=np.int64),
        function=np.frombuffer(clusters.function_numbers, dtype=np.int64),
        task_type=np.array([kind.task_type for kind in kinds], dtype=np.int64),
        cores=np.array([kind.cores for kind in kinds], dtype=np.int64),
        node_counts=np.array([cluster.nodes for cluster in clusters.clusters], dtype=np.int64),
        cores_per_node=np.array([cluster.cores_per_node for cluster in clusters.clusters], dtype=np.int64),
        column_cluster=np.array([c for c, _ in clusters.modes], dtype=np.int64),
        first_column=np.cumsum([0, *modes], dtype=np.int64),
        nodes=np.array(nodes, dtype=np.int64)[row],
        can_run=can_run,
        seconds=seconds,
        requested_seconds=np.array([kind.requested for kind in kinds])[:, np.newaxis] * curve,
        watts=watts,
        joules=seconds * watts,
        first_interval=np.cumsum(lengths, dtype=np.int64),
        after_seconds=np.array([each.after_seconds for each in intervals], dtype=float),
        starts_at=np.array([each.starts_at for each in intervals], dtype=float),
        falls_to=np.array([each.falls_to for each in intervals], dtype=float),
        rate_per_second=np.array([each.rate_per_second for each in intervals], dtype=float),
    )
    for name in ClusterArrays.__dataclass_fields__:
        getattr(made, name).flags.writeable = False
    return made


def _table(rows: list[list[float]]) -> Floats:
    return np.array(rows, dtype=float)
