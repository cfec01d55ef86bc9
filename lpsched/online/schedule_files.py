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
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import Fault
from lpsched.io.documents import name, number, whole
from lpsched.io.rows import PlacedTable, read_placed, write_placed
from lpsched.model.fields import describe
from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedOnNodes, PlacedTask, written_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.errors import Place
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.schedule import Nodes


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


def _day_task(row: Place, cells: tuple[Any, ...], faults: list[Fault]) -> PlacedTask:
    task, machine_type, machine, p_state, start = cells
    return PlacedTask(
        whole((*row, "task"), task, faults),
        name((*row, "machine_type"), machine_type, faults),
        whole((*row, "machine"), machine, faults),
        number((*row, "start_seconds"), start, faults),
        None if p_state is None else name((*row, "p_state"), p_state, faults),
    )


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
    _day_task,
)


RANGE: Final = re.compile(r"\s*([0-9]{1,18})\s*(?:-\s*([0-9]{1,18})\s*)?")


BETWEEN: Final = re.compile("[;,]")


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


def _cluster_task(row: Place, cells: tuple[Any, ...], faults: list[Fault]) -> PlacedOnNodes:
    task, cluster, p_state, start, nodes = cells
    return PlacedOnNodes(
        whole((*row, "task"), task, faults),
        name((*row, "cluster"), cluster, faults),
        _nodes((*row, "nodes"), nodes, faults),
        number((*row, "start_seconds"), start, faults),
        None if p_state is None else name((*row, "p_state"), p_state, faults),
    )


def _nodes(place: Place, value: object, faults: list[Fault]) -> Nodes:
    """Return ranges of nodes, rising."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return ((int(value), int(value)),)
    if isinstance(value, str):
        found = [RANGE.fullmatch(part) for part in BETWEEN.split(value)]
        if None not in found:
            pairs = (each.groups() for each in found if each is not None)
            return tuple(sorted((int(first), int(first if last is None else last)) for first, last in pairs))
    faults.append(Fault(place, describe(value), "nodes as in 1-4;9", "correct it"))
    return ()


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
    _cluster_task,
)
