"""Tables with one row for each task, read in chunks; and files of schedules by other programs."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, LpschedError, OutputError, nearest, quote
from lpsched.io.content import csv_bytes, load_arrow, one_issue, parquet_bytes, parquet_is_broken, write_files
from lpsched.io.documents import SUFFIXES as DOCUMENTS
from lpsched.io.documents import resolve
from lpsched.model.problems import problems_of
from lpsched.model.violation import Violation

# Tables of many rows in files of their own, `.csv` or `.parquet`, read piece by piece.
#
# Columns come in any order, with a header. Every file of rows is read here: tasks of a day, schedules task by
# task. What the columns mean is for others to say.
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
    """Yield the rows of a file, piece by piece; of columns all that are known, and no others."""
    if path.suffix.lower() not in SUFFIXES:
        raise one_issue(path, f"the ending {quote(path.suffix)}", " or ".join(SUFFIXES), "rename or convert the file")
    if not path.is_file():
        kind = "a directory" if path.is_dir() else "a device or pipe" if path.exists() else "no file to read"
        raise one_issue(path, kind, "a file", "check its name")
    reader = _csv_rows if path.suffix.lower() == ".csv" else _parquet_rows
    return reader(path, known, needed)


class Gatherer(Protocol):
    """What gathers rows of known columns, some of them numbers."""

    @property
    def columns(self) -> Sequence[str]: ...  # noqa: D102 - the class says it
    @property
    def needed(self) -> Sequence[str]: ...  # noqa: D102 - the class says it
    @property
    def numbers(self) -> Sequence[Any]: ...  # noqa: D102 - columns with a `key`, and a `code` as `array` has it
    @property
    def is_full(self) -> bool: ...  # noqa: D102 - the class says it
    def take(self, piece: dict[str, list[Any]], *, lines: Sequence[int] | None, file: str | None) -> None: ...  # noqa: D102


def gather_rows(path: Path, key: str, gatherer: Gatherer) -> None:
    """Gather the rows of a file that the key of another one names."""
    try:
        for piece in read_pieces(path, gatherer.columns, gatherer.needed):
            columns = dict(piece.columns)
            if piece.lines is not None:
                columns |= {each.key: _numbers(columns[each.key], each.code) for each in gatherer.numbers}
            gatherer.take(columns, lines=piece.lines, file=path.name)
            if gatherer.is_full:
                break
    except InstanceError as error:
        issues = [replace(each, path=(key, *each.path), file=path.name) for each in error.issues]
        raise InstanceError(str(path), tuple(issues)) from None


def _numbers(cells: list[Any], code: str) -> list[Any]:
    """Return the numbers that texts are; what is none is rejected where all are checked."""
    if set(cells) <= {None}:
        return cells
    try:
        return list(map(float if code == "d" else int, cells))
    except (TypeError, ValueError):
        return [None if cell is None else resolve(cell) for cell in cells]


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
                if set(map(len, piece)) - {len(header)}:
                    line, row = next(each for each in zip(lines, piece, strict=True) if len(each[1]) != len(header))
                    needed = f"{len(header)}, as in the header"
                    raise one_issue(path, f"{len(row)} cells", needed, "complete the row", line)
                cells = dict(zip(header, zip(*piece, strict=True), strict=True)) if piece else {}
                columns = {key: cells.get(key, ("",) * len(piece)) for key in known}
                filled = {key: [x or None for x in each] if "" in each else list(each) for key, each in columns.items()}
                yield Rows(filled, lines)
                before = reader.line_num
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise one_issue(path, f"a broken file ({quote(reason)})", "CSV in UTF-8", "write it again") from None


def _parquet_rows(path: Path, known: Sequence[str], needed: Sequence[str]) -> Iterator[Rows]:
    pa, pq = load_arrow(f"reading {path.name}")
    with parquet_is_broken(pa, partial(one_issue, path)), pq.ParquetFile(path) as file:
        _check_header(path, file.schema_arrow.names, known, needed)
        for batch in file.iter_batches(batch_size=PIECE, use_threads=False):
            cells = dict(zip(batch.schema.names, batch.columns, strict=True))
            empty = [None] * batch.num_rows
            yield Rows({key: cells[key].to_pylist() if key in cells else empty for key in known}, None)


def _check_header(path: Path, header: list[str], known: Sequence[str], needed: Sequence[str]) -> None:
    issues = [
        InputIssue((name,), "no such column", f"the columns {', '.join(needed)}", "add it")
        for name in needed
        if name not in header
    ]
    for name in sorted(set(header) - set(known)):
        do = nearest(name, known) or "remove it"
        issues.append(InputIssue((name,), "an unknown column", f"only {', '.join(known)}", do))
    issues += [
        InputIssue((name,), "a column that was given before", "each column once", "remove one of the two")
        for name in sorted({name for name in header if header.count(name) > 1})
    ]
    if issues:
        raise InstanceError(str(path), tuple(issues))


def _lines(piece: list[list[str]], before: int, last: int) -> Sequence[int]:
    """Return the line on which each row ends; a row has several lines where a cell has a line break."""
    if last - before == len(piece):
        return range(before + 1, last + 1)
    lines = []
    for row in piece:
        before += 1 + sum(len(cell.splitlines()) - 1 for cell in row if cell)
        lines.append(before)
    return lines


# Schedules with one row per task that runs, `.csv` or `.parquet`: what those of days and of clusters share.
#
# Rows come in any order, with a header. All errors are reported at once, with their lines; whether a schedule
# makes sense is for the verifier to say.
Placed = TypeVar("Placed")
FOLLOWING: Final = ("task_type", "end_seconds")  # columns that follow from the instance; files may leave them out


@dataclass(frozen=True)
class PlacedTable(Generic[Placed]):
    """What stands in the columns: `int64`, `string` or `float64`, as PyArrow calls them.

    `row` is the data class that a row becomes (`model/answers.py`).
    """

    kinds: Mapping[str, str]
    optional: tuple[str, ...]
    row: type[Placed]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(self.kinds)

    @cached_property
    def adapter(self) -> TypeAdapter[list[Placed]]:
        """What makes tasks of rows."""
        return TypeAdapter(list[self.row])  # type: ignore[name-defined]


def read_placed(
    table: PlacedTable[Placed], path: Path, most: int, whose: str, check: Callable[[Placed], Iterable[InputIssue]]
) -> tuple[Placed, ...]:
    """Read all rows of a schedule of at most `most` tasks; `check` returns what is wrong in which column of a row."""
    placed: list[Placed] = []
    issues: list[InputIssue] = []
    seen = 0
    needed = [key for key in table.columns if key not in table.optional]
    for rows in read_pieces(path, table.columns, needed):
        read = _tasks(table, rows, seen, issues)
        issues += row_issues(read, check, seen, rows.lines)
        placed += read
        seen += len(next(iter(rows.columns.values())))
        if seen > most:
            issues.append(too_many_rows(most, whose))
        if seen > most or len(issues) >= MOST_ISSUES:
            break
    if issues:
        raise InstanceError(str(path), tuple(issues[:MOST_ISSUES]))
    return tuple(placed)


def too_many_rows(most: int, whose: str) -> InputIssue:
    """Return the error of a schedule with more rows than there are tasks."""
    once = f"at most {most:,}: each task of {whose} once"
    return InputIssue((), f"more than {most:,} rows", once, "remove the others")


def row_issues(
    rows: Sequence[Placed],
    check: Callable[[Placed], Iterable[InputIssue]],
    before: int = 0,
    lines: Sequence[int] | None = None,
) -> list[InputIssue]:
    """Return what is wrong with rows, and where; `before` rows precede them in the file."""
    return [
        replace(each, path=("rows", before + n, *each.path), line=lines[n] if lines else None)
        for n, row in enumerate(rows)
        for each in check(row)
    ]


def _tasks(table: PlacedTable[Placed], rows: Rows, before: int, issues: list[InputIssue]) -> list[Placed]:
    """Return the rows as tasks; their errors are added to the list."""
    columns, lines = dict(rows.columns), rows.lines
    if lines is not None:  # cells of a .csv are texts
        for key in (key for key, kind in table.kinds.items() if kind != "string"):
            columns[key] = [resolve(cell) if cell is not None else None for cell in columns[key]]
    cells = zip(*(columns[key] for key in table.columns), strict=True)
    try:
        return table.adapter.validate_python([dict(zip(table.columns, row, strict=True)) for row in cells])
    except ValidationError as error:
        for each in problems_of(error, BaseModel, (), ""):
            n, column = int(each.path[0]), each.path[1]
            issues.append(replace(each, path=("rows", before + n, column), line=lines[n] if lines else None))
        return []


def write_table(kinds: Mapping[str, str], rows: Sequence[Sequence[Any]], path: Path) -> None:
    """Write rows as `.csv` or `.parquet`; `kinds` are the types of the columns, as PyArrow calls them."""
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"cannot write {path}: expected the ending {' or '.join(SUFFIXES)}; choose one")
    if path.suffix.lower() == ".csv":
        content = csv_bytes(kinds, rows)
    else:
        pa, _ = load_arrow("writing Parquet")
        schema = pa.schema([(key, getattr(pa, kind)()) for key, kind in kinds.items()])
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
        content = parquet_bytes(pa.table(columns, schema=schema))
    write_files({path: content})


# Schedules that others wrote: their files, and why there is none.
FAILED: Final = "failed"
NOT_RUN: Final = "not-run"
LONGEST: Final = 500  # letters of a reason


ENDINGS: Final = (*SUFFIXES, *DOCUMENTS)  # of schedule files


def is_path(method: str, path: Path, names: Sequence[str]) -> bool:
    """Return whether a text is a file or folder rather than the name of a heuristic: it ends like one, or exists."""
    return method not in names and (path.suffix.lower() in ENDINGS or path.exists())


def files_at(path: Path) -> list[Path]:
    """Return a file, or all schedule files in a folder, by name."""
    if not path.is_dir():
        return [path]
    files = sorted(each for each in path.iterdir() if each.suffix.lower() in ENDINGS)
    if not files:
        needed = f"files that end in {', '.join(ENDINGS)}"
        raise InstanceError(str(path), (InputIssue((), "a folder without schedules", needed, "add some"),))
    return files


def unreadable(error: InstanceError) -> tuple[Violation, ...]:
    """Return the errors of a file as rules that it breaks."""
    return tuple(Violation("unreadable", str(issue)) for issue in error.issues)


def reason(error: Exception) -> str:
    """Return why there is no schedule: in our own words, or in those of another program."""
    if isinstance(error, InstanceError):  # one of ours cannot do this bag
        return "; ".join(map(str, error.issues))
    return str(error) if isinstance(error, LpschedError) else f"{type(error).__name__}: {error}"


def plain_words(sentence: str) -> str:
    r"""Return words of another program, cut and made plain: what would steer the terminal is shown as its code.

    >>> print(plain_words("no\ttabs"))
    no\ttabs
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in sentence[:LONGEST])
