"""Tasks that arrive in a file of their own, `.csv` or `.parquet`: one row per task, by arrival.

Columns: arrival_seconds, task_type; then priority, urgency and utility_class, or utility, the name of one of
the file's own functions. A column that no task uses may be missing; an empty cell is none. Tasks of clusters
have some more (`cluster_tasks.py`).
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
from lpsched.instance.arriving_rows import TOLD
from lpsched.instance.cluster_rows import NUMBERS
from lpsched.instance.day_tasks import Levels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lpsched.instance.arriving_rows import TaskRows
    from lpsched.instance.day import Day
    from lpsched.instance.day_tasks import Told


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
        for piece in read_pieces(path, rows.columns, rows.needed):
            columns = dict(piece.columns)
            if piece.lines is not None:
                columns |= {each.key: _numbers(columns[each.key], each.code) for each in rows.numbers}
            rows.take(columns, lines=piece.lines, file=path.name)
            if rows.is_full:
                break
    except InstanceError as error:
        faults = [replace(each, path=("tasks", *each.path), file=path.name) for each in error.faults]
        raise InstanceError(str(path), tuple(faults)) from None


def _numbers(cells: list[Any], code: str) -> list[Any]:
    """Return the numbers that texts are; what is none is refused where all are checked."""
    if set(cells) <= {None}:
        return cells
    try:
        return list(map(float if code == "d" else int, cells))
    except (TypeError, ValueError):
        return [None if cell is None else resolve(cell) for cell in cells]


def day_columns(day: Day) -> dict[str, list[Any]]:
    """Return the columns that the tasks of a day use; `None` where a task has nothing to say."""
    arriving = day.arriving
    names = [task.name for task in day.task_types]
    columns: dict[str, list[Any]] = {
        "arrival_seconds": list(arriving.arrival_seconds),
        "task_type": [names[i] for i in arriving.type_numbers],
    }
    return columns | told_columns(arriving.told, arriving.utility_numbers)


def told_columns(told: Sequence[Told], numbers: Sequence[int]) -> dict[str, list[Any]]:
    """Return the columns that tell utility."""
    cells = [(*each, None) if isinstance(each, Levels) else (None, None, None, each) for each in told]
    return {
        key: [cells[u][place] for u in numbers]
        for place, key in enumerate(TOLD)
        if any(each[place] is not None for each in cells)
    }


def task_rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """Return tasks as they stand inside a file."""
    return [
        {key: cell for key, cell in zip(columns, row, strict=True) if cell is not None}
        for row in zip(*columns.values(), strict=True)
    ]


def csv_bytes(columns: Mapping[str, list[Any]]) -> bytes:
    """Return tasks as CSV; a number has all its digits."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def parquet_bytes(columns: Mapping[str, list[Any]]) -> bytes:
    """Return tasks as Parquet.

    Raises
    ------
    MissingExtraError
        If PyArrow is not installed.
    """
    pa, pq = load_arrow("writing Parquet")
    numbers = {"d": pa.float64(), "q": pa.int64()}
    kinds = {each.key: numbers[each.code] for each in NUMBERS}
    schema = pa.schema([(key, kinds.get(key, pa.string())) for key in columns])
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(list(columns.values()), schema=schema), out)
    content: bytes = out.getvalue().to_pybytes()
    return content
