"""Schedules of a day, `.csv` or `.parquet`: one row per task that runs; a task without a row is dropped.

Columns: task (its number, from 0, in the order of the day's tasks), machine_type, machine (numbered from 1
within its type), start_seconds; and p_state where a machine type has P-states. In any order, with a header.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, OutputError
from lpsched.files.arrow import load_arrow
from lpsched.files.documents.document import resolve
from lpsched.files.entries import name, number, whole
from lpsched.files.rows import SUFFIXES, Rows, read_pieces
from lpsched.files.writing import write_files
from lpsched.schedule.day import DaySchedule, PlacedTask

if TYPE_CHECKING:
    from lpsched.errors import Place
    from lpsched.instance.day import Day

COLUMNS: Final = ("task", "machine_type", "machine", "p_state", "start_seconds")
NEEDED: Final = ("task", "machine_type", "machine", "start_seconds")
NUMBERS: Final = ("task", "machine", "start_seconds")


def read_day_schedule(day: Day, path: Path | str) -> DaySchedule:
    """Read a schedule; whether it fits the day is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is not such a table, or has more rows than the day has tasks.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    placed: list[PlacedTask] = []
    faults: list[Fault] = []
    count = 0
    for rows in read_pieces(path, COLUMNS, NEEDED):
        placed += _placed(rows, count, faults)
        count += len(rows.columns["task"])
        if count > day.tasks:
            needed = f"at most {day.tasks:,}: each task of the day once"
            faults.append(Fault((), f"more than {day.tasks:,} rows", needed, "remove the others"))
        if count > day.tasks or len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise InstanceError(str(path), tuple(faults[:MOST_FAULTS]))
    return DaySchedule(tuple(placed))


def _placed(rows: Rows, before: int, faults: list[Fault]) -> list[PlacedTask]:
    """Return the rows as tasks; faults that they have are added."""
    columns, lines = dict(rows.columns), rows.lines
    if lines is not None:  # cells of a .csv are texts
        for key in NUMBERS:
            columns[key] = [resolve(cell) if cell is not None else None for cell in columns[key]]
    found = []
    for n, cells in enumerate(zip(*(columns[key] for key in COLUMNS), strict=True)):
        own: list[Fault] = []
        found.append(_task(("rows", before + n), cells, own))
        if own and len(faults) < MOST_FAULTS:
            faults += [replace(each, line=lines[n] if lines is not None else None) for each in own]
    return found


def _task(row: Place, cells: tuple[Any, ...], faults: list[Fault]) -> PlacedTask:
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
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"cannot write {path}: needs the ending {' or '.join(SUFFIXES)}; choose one")
    by_task = sorted(schedule.placed, key=lambda placed: placed.task)
    columns = {key: [getattr(placed, key) for placed in by_task] for key in COLUMNS}
    content = _csv(columns) if path.suffix.lower() == ".csv" else _parquet(columns)
    write_files({path: content})


def _csv(columns: dict[str, list[Any]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))  # a double is written with all its digits
    return out.getvalue().encode()


def _parquet(columns: dict[str, list[Any]]) -> bytes:
    pa, pq = load_arrow("writing Parquet")
    kinds = (pa.int64(), pa.string(), pa.int64(), pa.string(), pa.float64())
    table = pa.table(list(columns.values()), schema=pa.schema(list(zip(columns, kinds, strict=True))))
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    content: bytes = out.getvalue().to_pybytes()
    return content
