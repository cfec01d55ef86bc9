"""The tasks of a day in a file of their own, `.csv` or `.parquet`: one row per task, by arrival.

Columns: arrival_seconds, task_type; then priority, urgency and utility_class, or utility, the name of one of
the day's own functions. A column that no task uses may be missing; an empty cell is none.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lpsched.errors import InstanceError
from lpsched.files.arrow import load_arrow
from lpsched.files.documents.document import resolve
from lpsched.files.rows import read_pieces
from lpsched.instance.day_rows import COLUMNS, NEEDED, TOLD
from lpsched.instance.day_tasks import Levels

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.instance.day import Day
    from lpsched.instance.day_rows import TaskRows


def read_task_file(path: Path, rows: TaskRows) -> None:
    """Gather the rows of a file.

    Raises
    ------
    InstanceError
        If the file is not such a table; what is wrong with single tasks is for `rows` to tell.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    try:
        for piece in read_pieces(path, COLUMNS, NEEDED):
            columns = dict(piece.columns)
            if piece.lines is not None:
                columns["arrival_seconds"] = _numbers(columns["arrival_seconds"])
            rows.take(columns, lines=piece.lines, file=path.name)
            if rows.is_full:
                break
    except InstanceError as error:
        faults = [replace(each, path=("tasks", *each.path), file=path.name) for each in error.faults]
        raise InstanceError(str(path), tuple(faults)) from None


def _numbers(cells: list[Any]) -> list[Any]:
    """Return the numbers that texts are; what is none is refused where all are checked."""
    try:
        return list(map(float, cells))
    except (TypeError, ValueError):
        return [None if cell is None else resolve(cell) for cell in cells]


def task_columns(day: Day) -> dict[str, list[Any]]:
    """Return the columns that the tasks of a day use; `None` where a task has nothing to say."""
    arriving = day.arriving
    told = [(*each, None) if isinstance(each, Levels) else (None, None, None, each) for each in arriving.told]
    names = [task.name for task in day.task_types]
    columns: dict[str, list[Any]] = {
        "arrival_seconds": list(arriving.arrival_seconds),
        "task_type": [names[i] for i in arriving.type_numbers],
    }
    for place, key in enumerate(TOLD):
        if any(each[place] is not None for each in told):
            columns[key] = [told[u][place] for u in arriving.utility_numbers]
    return columns


def write_csv(day: Day) -> bytes:
    """Return the tasks as CSV; a number has all its digits."""
    columns = task_columns(day)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(map(repr, columns.pop("arrival_seconds")), *columns.values(), strict=True))
    return out.getvalue().encode()


def write_parquet(day: Day) -> bytes:
    """Return the tasks as Parquet.

    Raises
    ------
    MissingExtraError
        If PyArrow is not installed.
    """
    pa, pq = load_arrow("writing Parquet")
    columns = task_columns(day)
    kinds = [pa.float64() if key == "arrival_seconds" else pa.string() for key in columns]
    table = pa.table(list(columns.values()), schema=pa.schema(list(zip(columns, kinds, strict=True))))
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    content: bytes = out.getvalue().to_pybytes()
    return content
