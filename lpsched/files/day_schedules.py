"""Schedules of a day, `.csv` or `.parquet`: one row per task that runs; a task without a row is dropped.

Columns: task (its number, from 0, in the order of the day's tasks), machine_type, machine (numbered from 1
within its type), start_seconds; and p_state where a machine type has P-states. In any order, with a header.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.files.entries import name, number, whole
from lpsched.files.placed_tasks import PlacedTable, read_placed, write_placed
from lpsched.schedule.day import DaySchedule, PlacedTask

if TYPE_CHECKING:
    from lpsched.errors import Fault, Place
    from lpsched.instance.day import Day


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
    rows = [
        (each.task, each.machine_type, each.machine, each.p_state, each.start_seconds) for each in by_task
    ]
    write_placed(DAY_TABLE, rows, Path(path))


DAY_TABLE: Final = PlacedTable(
    {
        "task": "int64",
        "machine_type": "string",
        "machine": "int64",
        "p_state": "string",
        "start_seconds": "float64",
    },
    ("p_state",),
    _day_task,
)
