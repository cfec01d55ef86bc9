"""Schedules with one row per task that runs, `.csv` or `.parquet`: what those of days and of clusters share.

Rows come in any order, with a header. All faults are told at once, with their lines; whether a schedule makes
sense is for the verifier to say.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, OutputError
from lpsched.files.arrow import load_arrow
from lpsched.files.documents.document import resolve
from lpsched.files.rows import SUFFIXES, read_pieces
from lpsched.files.writing import write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lpsched.errors import Place
    from lpsched.files.rows import Rows

Placed = TypeVar("Placed")


@dataclass(frozen=True, slots=True)
class PlacedTable(Generic[Placed]):
    """What stands in the columns: `int64`, `string` or `float64`, as PyArrow calls them.

    Attributes
    ----------
    task
        Makes a task of a row's cells, in the order of `kinds`, and adds the faults that they have.
    """

    kinds: Mapping[str, str]
    optional: tuple[str, ...]
    task: Callable[[Place, tuple[Any, ...], list[Fault]], Placed]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(self.kinds)


def read_placed(table: PlacedTable[Placed], path: Path, most: int, whose: str) -> tuple[Placed, ...]:
    """Read all rows of a schedule of at most so many tasks.

    Raises
    ------
    InstanceError
        If the file is not such a table, or has more rows than there are tasks.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    placed: list[Placed] = []
    faults: list[Fault] = []
    needed = [key for key in table.columns if key not in table.optional]
    for rows in read_pieces(path, table.columns, needed):
        placed += _tasks(table, rows, len(placed), faults)
        if len(placed) > most:
            once = f"at most {most:,}: each task of {whose} once"
            faults.append(Fault((), f"more than {most:,} rows", once, "remove the others"))
        if len(placed) > most or len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise InstanceError(str(path), tuple(faults[:MOST_FAULTS]))
    return tuple(placed)


def _tasks(table: PlacedTable[Placed], rows: Rows, before: int, faults: list[Fault]) -> list[Placed]:
    """Return the rows as tasks; faults that they have are added."""
    columns, lines = dict(rows.columns), rows.lines
    if lines is not None:  # cells of a .csv are texts
        for key in (key for key, kind in table.kinds.items() if kind != "string"):
            columns[key] = [resolve(cell) if cell is not None else None for cell in columns[key]]
    found = []
    for n, cells in enumerate(zip(*(columns[key] for key in table.columns), strict=True)):
        own: list[Fault] = []
        found.append(table.task(("rows", before + n), cells, own))
        if own and len(faults) < MOST_FAULTS:
            faults += [replace(each, line=lines[n] if lines is not None else None) for each in own]
    return found


def write_placed(table: PlacedTable[Placed], rows: Sequence[Sequence[Any]], path: Path) -> None:
    """Write rows of cells in the order of the columns.

    Raises
    ------
    OutputError
        If they cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"cannot write {path}: needs the ending {' or '.join(SUFFIXES)}; choose one")
    make = _csv if path.suffix.lower() == ".csv" else _parquet
    write_files({path: make(table, rows)})


def _csv(table: PlacedTable[Placed], rows: Sequence[Sequence[Any]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(rows)  # a double is written with all its digits
    return out.getvalue().encode()


def _parquet(table: PlacedTable[Placed], rows: Sequence[Sequence[Any]]) -> bytes:
    pa, pq = load_arrow("writing Parquet")
    schema = pa.schema([(key, getattr(pa, kind)()) for key, kind in table.kinds.items()])
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(table.kinds)
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=schema), out)
    content: bytes = out.getvalue().to_pybytes()
    return content
