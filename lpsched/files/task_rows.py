"""One row per task, as `.csv` or `.parquet`: what other people's schedulers write, and what `expand` streams.

Columns: task_type, machine_type, machine (numbered from 1 within its type); optional: p_state, start_seconds.
In any order, with a header. An empty P-state or start is none.
"""

from __future__ import annotations

import csv
import io
import shutil
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from lpsched.errors import Fault, InstanceError, OutputError, quote
from lpsched.files.arrow import load_arrow
from lpsched.files.content import one_fault
from lpsched.files.rows import SUFFIXES, read_pieces
from lpsched.files.writing import whole_file
from lpsched.schedule.tasks import COLUMNS, TaskRow

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUFFIXES", "read_rows", "write_rows"]

NEEDED: Final = COLUMNS[:3]
MOST_ROWS: Final = 5_000_000  # of a file that is read; each takes some two hundred bytes of memory
MOST_ROW_FAULTS: Final = 100
BATCH: Final = 65_536
LEAST_BYTES: Final = 24  # of a row that is written, roughly


def read_rows(path: Path | str) -> Iterator[TaskRow]:
    """Yield the rows of a file, one by one.

    Raises
    ------
    InstanceError
        If the file is not such a table, or is too long.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    faults: list[Fault] = []
    pieces = read_pieces(path, COLUMNS, NEEDED)
    rows = (row for piece in pieces for row in zip(*map(piece.columns.__getitem__, COLUMNS), strict=True))
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            do = "write it in the compact form (see 'lpsched solve -o')"
            raise one_fault(path, f"more than {MOST_ROWS:,} rows", "fewer", do)
        made = _row(number, row, faults)
        if len(faults) >= MOST_ROW_FAULTS:
            break
        if made is not None and not faults:
            yield made
    if faults:
        raise InstanceError(str(path), tuple(faults))


def write_rows(rows: Iterator[TaskRow], count: int, path: Path | str) -> None:
    """Write rows as they come; `count` is how many there will be.

    Raises
    ------
    OutputError
        If the file cannot be written, or would fill the disk.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"cannot write {path}: needs the ending {' or '.join(SUFFIXES)}; choose one")
    folder = path.resolve().parent
    if folder.is_dir() and count * LEAST_BYTES > shutil.disk_usage(folder).free:
        raise OutputError(f"cannot write {path}: {count:,} rows would fill the disk; use the compact form")
    with whole_file(path) as file:
        if path.suffix.lower() == ".csv":
            _write_csv(rows, file)
        else:
            _write_parquet(rows, file, path)


def _write_csv(rows: Iterator[TaskRow], file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(
        (row.task_type, row.machine_type, row.machine, row.p_state or "", repr(row.start_seconds))
        for row in rows
    )
    text.flush()
    text.detach()


def _write_parquet(rows: Iterator[TaskRow], file: BinaryIO, path: Path) -> None:
    pa, pq = load_arrow(f"writing {path.name}")
    kinds = (pa.string(), pa.string(), pa.int64(), pa.string(), pa.float64())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    with pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, BATCH)):
            columns = [[getattr(row, name) for row in batch] for name in COLUMNS]
            writer.write_table(pa.table(columns, schema=schema))


def _row(number: int, cells: tuple[Any, ...], faults: list[Fault]) -> TaskRow | None:
    """Return one row, or note what is wrong with it."""
    task_type, machine_type, machine, state, start = cells
    try:
        return TaskRow(
            task_type="" if task_type is None else str(task_type),
            machine_type="" if machine_type is None else str(machine_type),
            machine=_whole(machine),
            p_state=None if state is None else str(state),
            start_seconds=None if start is None else float(start),
        )
    except (ValueError, TypeError, OverflowError):
        found = f"machine {quote(str(machine))}, start {quote(str(start))}"
        faults.append(Fault(("row", number), found, "a whole number and seconds", "correct them"))
        return None


def _whole(value: object) -> int:
    number = int(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError
    return number
