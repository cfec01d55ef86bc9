"""Tables of many rows in files of their own, `.csv` or `.parquet`, read piece by piece.

Columns come in any order, with a header. Every file of rows is read here: tasks of a day, schedules task by
task. What the columns mean is for others to say.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import Fault, InstanceError, nearest, quote
from lpsched.files.arrow import load_arrow
from lpsched.files.content import one_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SUFFIXES: Final = (".csv", ".parquet")
PIECE: Final = 4_096  # rows; more cost Python's garbage collector more than they save


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a file: the values of each column, and where they stand.

    Cells of a `.csv` are texts, those of a `.parquet` what they are; an empty one, or one of a column that is
    not there, is `None`.
    """

    columns: dict[str, list[Any]]
    lines: Sequence[int] | None  # of a .csv


def read_pieces(path: Path, known: Sequence[str], needed: Sequence[str]) -> Iterator[Rows]:
    """Yield the rows of a file, piece by piece; of columns all that are known, and no others.

    Raises
    ------
    InstanceError
        If the file is not such a table.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        found = f"the ending {quote(path.suffix)}"
        raise one_fault(path, found, " or ".join(SUFFIXES), "rename or convert the file")
    if not path.is_file():
        kind = "a directory" if path.is_dir() else "a device or pipe" if path.exists() else "no file to read"
        raise one_fault(path, kind, "a file", "check its name")
    reader = _csv_rows if path.suffix.lower() == ".csv" else _parquet_rows
    return reader(path, known, needed)


def _csv_rows(path: Path, known: Sequence[str], needed: Sequence[str]) -> Iterator[Rows]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            _check_header(path, header, known, needed)
            before = reader.line_num
            while piece := list(islice(reader, PIECE)):
                lines = _lines(piece, before, reader.line_num)
                if [] in piece:  # empty lines
                    lines = [line for line, row in zip(lines, piece, strict=True) if row]
                    piece = [row for row in piece if row]
                _check_widths(path, piece, lines, len(header))
                cells = dict(zip(header, zip(*piece, strict=True), strict=True)) if piece else {}
                yield Rows({key: _cells(cells.get(key, ("",) * len(piece))) for key in known}, lines)
                before = reader.line_num
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise one_fault(path, f"a broken file ({quote(reason)})", "CSV in UTF-8", "write it again") from None


def _parquet_rows(path: Path, known: Sequence[str], needed: Sequence[str]) -> Iterator[Rows]:
    pa, pq = load_arrow(f"reading {path.name}")
    try:
        with pq.ParquetFile(path) as file:
            _check_header(path, file.schema_arrow.names, known, needed)
            for batch in file.iter_batches(batch_size=PIECE, use_threads=False):
                cells = dict(zip(batch.schema.names, batch.columns, strict=True))
                yield Rows(
                    {
                        key: cells[key].to_pylist() if key in cells else [None] * batch.num_rows
                        for key in known
                    },
                    None,
                )
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InstanceError):
            raise
        reason = quote(str(error).partition("\n")[0])
        raise one_fault(path, f"a broken file ({reason})", "a Parquet file", "write it again") from None


def _check_header(path: Path, header: list[str], known: Sequence[str], needed: Sequence[str]) -> None:
    faults = [
        Fault((name,), "no such column", f"the columns {', '.join(needed)}", "add it")
        for name in needed
        if name not in header
    ]
    for name in sorted(set(header) - set(known)):
        do = nearest(name, known) or "remove it"
        faults.append(Fault((name,), "an unknown column", f"only {', '.join(known)}", do))
    faults += [
        Fault((name,), "a column that was given before", "each column once", "remove one of the two")
        for name in sorted({name for name in header if header.count(name) > 1})
    ]
    if faults:
        raise InstanceError(str(path), tuple(faults))


def _lines(piece: list[list[str]], before: int, last: int) -> Sequence[int]:
    """Return the line on which each row ends; a row has several lines where a cell has a line break."""
    if last - before == len(piece):
        return range(before + 1, last + 1)
    lines = []
    for row in piece:
        before += 1 + sum(len(cell.splitlines()) - 1 for cell in row if cell)
        lines.append(before)
    return lines


def _cells(column: tuple[str, ...]) -> list[str | None]:
    return [cell or None for cell in column] if "" in column else list(column)


def _check_widths(path: Path, piece: list[list[str]], lines: Sequence[int], width: int) -> None:
    if set(map(len, piece)) <= {width}:
        return
    number, row = next((line, row) for line, row in zip(lines, piece, strict=True) if len(row) != width)
    found, needed = f"{len(row)} cells", f"{width}, as in the header"
    raise one_fault(path, found, needed, "complete the row", number)
