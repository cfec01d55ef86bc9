"""Array views of days and clusters for the numerics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.online.utility import Curves, UtilityArrays, UtilityFunction

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


# Array views are read-only, absent pairs masked and 0. Shapes: N tasks in the order of their arrival, T task types, M
# machine types, C columns (machine type and P-state), F utility functions with P intervals in all.
@dataclass(frozen=True, slots=True)
class DayArrays(UtilityArrays):
    """The numbers of a day; an absent pair has `can_run` False and 0 elsewhere."""

    arrivals: Floats  # N, seconds, never falling
    task_type: Integers  # N
    function: Integers  # N: the utility function of each task
    machine_counts: Integers  # M
    mode_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    watts: Floats  # T x C


def day_arrays(day: Day) -> DayArrays:
    """Return the views of a day."""
    shape = (day.seconds.rows, day.seconds.columns)
    seconds = np.frombuffer(day.seconds.packed).reshape(shape)
    can_run = ~np.isnan(seconds)
    made = DayArrays(
        arrivals=np.frombuffer(day.arriving.arrivals),
        task_type=np.frombuffer(day.arriving.types, dtype=np.int64),
        function=np.frombuffer(day.function_numbers, dtype=np.int64),
        machine_counts=np.array([machine.count for machine in day.machine_types], dtype=np.int64),
        mode_type=np.array([j for j, _ in day.modes], dtype=np.int64),
        can_run=can_run,
        seconds=np.where(can_run, seconds, 0.0),
        watts=np.where(can_run, np.frombuffer(day.watts.packed).reshape(shape), 0.0),
        **_curves(day.functions)._asdict(),
    )
    for name in DayArrays.__dataclass_fields__:
        getattr(made, name).flags.writeable = False
    return made


def _curves(functions: Sequence[UtilityFunction]) -> Curves:
    first = np.cumsum([0, *(len(function.intervals) for function in functions)], dtype=np.int64)
    intervals = [each for function in functions for each in function.intervals]
    names = Curves._fields[1:]  # those of an interval
    return Curves(first, *(np.array([getattr(each, name) for each in intervals], dtype=float) for name in names))


# Of clusters: K kinds of tasks, M clusters, C columns (cluster and P-state).
@dataclass(frozen=True, slots=True)
class ClusterArrays(UtilityArrays):
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
    requested_seconds: Floats  # K x C, what a scheduler plans with; at least `seconds`
    watts: Floats  # K x C, of all its nodes; 0 where not known
    joules: Floats  # K x C


def cluster_arrays(clusters: Clusters) -> ClusterArrays:
    """Return the views of clusters."""
    kinds = clusters.kinds
    shape: dict[tuple[int, int], int] = {}  # of many kinds few differ in type and cores
    row = [shape.setdefault((kind.task_type, kind.cores), len(shape)) for kind in kinds]
    runs = [clusters.runs(*each) for each in shape]
    can_run = np.array([[run is not None for run in each] for each in runs], dtype=bool)[row]
    curve = np.array([[0.0 if run is None else run.seconds for run in each] for each in runs], dtype=float)[row]
    watts = np.array([[0.0 if run is None else run.watts or 0.0 for run in each] for each in runs], dtype=float)[row]
    nodes = [[0 if run is None else run.nodes for run in each] for each in runs]
    seconds = np.array([kind.work for kind in kinds])[:, np.newaxis] * curve
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
        **_curves(clusters.functions)._asdict(),
    )
    for name in ClusterArrays.__dataclass_fields__:
        getattr(made, name).flags.writeable = False
    return made
