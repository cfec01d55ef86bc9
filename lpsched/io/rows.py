"""Tables with one row for each task, read in chunks; and files of schedules by other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, LpschedError, OutputError, nearest, quote
from lpsched.io import limits
from lpsched.io.content import csv_bytes, one_issue, write_files
from lpsched.io.documents import SUFFIXES as DOCUMENTS
from lpsched.io.parquet import load_arrow, opened_parquet, parquet_bytes
from lpsched.io.text_files import CsvRows, repeated
from lpsched.model.problems import MOST_ADVISED, problems_of
from lpsched.model.violation import Violation
from lpsched.text import column_values, printable

# Tables of many rows in files of their own, `.csv` or `.parquet`, read piece by piece.
#
# Columns come in any order, with a header. Every file of rows is read here: tasks of a day, schedules task by
# task. What the columns mean is for others to say.
SUFFIXES: Final = (".csv", ".parquet")


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
                columns |= {each.key: column_values(columns[each.key], each.code) for each in gatherer.numbers}
            gatherer.take(columns, lines=piece.lines, file=path.name)
            if gatherer.is_full:
                break
    except InstanceError as error:
        issues = [replace(each, path=(key, *each.path), file=path.name) for each in error.issues]
        raise InstanceError(str(path), tuple(issues)) from None


def _csv_rows(path: Path, known: Sequence[str], needed: Sequence[str]) -> Iterator[Rows]:
    reader = CsvRows(path, most_bytes=limits.MOST_ROWS_BYTES)
    header = next(iter(reader), [])
    _check_header(path, header, known, needed)
    for piece, lines in reader.pieces():
        if set(map(len, piece)) - {len(header)}:
            line, row = next(each for each in zip(lines, piece, strict=True) if len(each[1]) != len(header))
            raise one_issue(path, f"{len(row)} cells", f"{len(header)}, as in the header", "complete the row", line)
        cells = dict(zip(header, zip(*piece, strict=True), strict=True))
        columns = {key: cells.get(key, ("",) * len(piece)) for key in known}
        yield Rows(
            {key: [x or None for x in each] if "" in each else list(each) for key, each in columns.items()}, lines
        )


def _parquet_rows(path: Path, known: Sequence[str], needed: Sequence[str]) -> Iterator[Rows]:
    with opened_parquet(path) as file:
        _check_header(path, file.names, known, needed)
        places = list(range(len(file.names)))
        for place in places:
            if not file.is_plain(place):
                raise one_issue(
                    path, f"the column {file.names[place]} of {file.kind(place)}", "plain cells", "convert it"
                )
        for batch in file.batches(places):
            cells = dict(zip(file.names, batch, strict=True))
            empty = [None] * len(batch[0])
            yield Rows({key: cells.get(key, empty) for key in known}, None)


def _check_header(path: Path, header: list[str], known: Sequence[str], needed: Sequence[str]) -> None:
    issues = [
        InputIssue((name,), "no such column", f"the columns {', '.join(needed)}", "add it")
        for name in needed
        if name not in header
    ]
    for number, name in enumerate(sorted(set(header) - set(known))[:MOST_ISSUES]):
        do = (nearest(name, known) if number < MOST_ADVISED else "") or "remove it"
        issues.append(InputIssue((name,), "an unknown column", f"only {', '.join(known)}", do))
    issues += [
        InputIssue((name,), "a column that was given before", "each column once", "remove one of the two")
        for name in repeated(header)
    ]
    if issues:
        raise InstanceError(str(path), tuple(issues[:MOST_ISSUES]))


# Schedules with one row per task that runs, `.csv` or `.parquet`: what those of days and of clusters share.
#
# Rows come in any order, with a header. All errors are reported at once, with their lines; whether a schedule
# makes sense is for the verifier to say.
Placed = TypeVar("Placed")
CODES: Final = {"int64": "q", "float64": "d"}  # of numbers, as `array` has them
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
        for key, code in ((key, CODES[kind]) for key, kind in table.kinds.items() if kind in CODES):
            columns[key] = column_values(columns[key], code)
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
    return printable(sentence[:LONGEST])
