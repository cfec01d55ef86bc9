"""Files of schedules of days and clusters: one row for each task.

Schedules of a day, `.csv` or `.parquet`: one row per task that runs; a task without a row is dropped.

Columns: task (its number, from 0, in the order of the day's tasks), machine_type, machine (numbered from 1
within its type), start_seconds; and p_state where a machine type has P-states. In any order, with a header.

Schedules of clusters, `.csv` or `.parquet`: one row per task that runs; a task without a row is dropped.

Columns: task (its number, from 0, in the order of the clusters' tasks), cluster, nodes, start_seconds; and
p_state where a cluster has P-states. In any order, with a header.

Nodes of a cluster are numbered from 1, and written as ranges with both ends: `1-4;9` are five nodes. Commas
do as well as semicolons, and the order of ranges does not matter.
"""

from __future__ import annotations

import csv
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.io.rows import PlacedTable, read_placed, write_placed
from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedOnNodes, PlacedTask, written_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


def read_day_schedule(day: Day, path: Path | str) -> DaySchedule:
    """Read a schedule; whether it fits the day is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is not such a table, or has more rows than the day has tasks.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    return DaySchedule(read_placed(DAY_TABLE, Path(path), day.tasks, "the day"))


def write_day_schedule(schedule: DaySchedule, path: Path | str) -> None:
    """Write a schedule, by task.

    Raises
    ------
    OutputError
        If it cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    by_task = sorted(schedule.placed, key=lambda placed: placed.task)
    rows = [(each.task, each.machine_type, each.machine, each.p_state, each.start_seconds) for each in by_task]
    write_placed(DAY_TABLE, rows, Path(path))


DAY_TABLE: Final = PlacedTable(
    {"task": "int64", "machine_type": "string", "machine": "int64", "p_state": "string", "start_seconds": "float64"},
    ("p_state",),
    PlacedTask,
)


LONGEST_CELL: Final = 1 << 28  # characters; a task may take a million nodes that are no neighbours


def read_clusters_schedule(clusters: Clusters, path: Path | str) -> ClustersSchedule:
    """Read a schedule; whether it fits the clusters is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is not such a table, or has more rows than the clusters have tasks.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    with _long_cells():
        return ClustersSchedule(read_placed(CLUSTER_TABLE, Path(path), clusters.tasks, "the clusters"))


def write_clusters_schedule(schedule: ClustersSchedule, path: Path | str) -> None:
    """Write a schedule, by task.

    Raises
    ------
    OutputError
        If it cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    by_task = sorted(schedule.placed, key=lambda placed: placed.task)
    rows = [(each.task, each.cluster, each.p_state, each.start_seconds, written_nodes(each.nodes)) for each in by_task]
    write_placed(CLUSTER_TABLE, rows, Path(path))


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells of a .csv be as long as we write them; Python's limit is one for all readers."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


CLUSTER_TABLE: Final = PlacedTable(
    {"task": "int64", "cluster": "string", "p_state": "string", "start_seconds": "float64", "nodes": "string"},
    ("p_state",),
    PlacedOnNodes,
)
