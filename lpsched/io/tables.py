"""Tables and matrices in files of their own: `.csv`, `.npz` and `.parquet`.

*Tables* of seconds or watts, task types x columns. A label of a column is the machine type's name, or `name:P-state`
where it has P-states.

    .csv        a header of labels, a first column of task types, both in any order; an empty cell cannot run
    .npz        arrays `seconds` and `watts`, or a single array of any name; NaN cannot run. Rows and columns are in
                the order of the file's lists; arrays `task_types` and `columns` with the names are checked if there
    .parquet    a column `task_type`, then one per label, in any order; null and NaN cannot run. Needs PyArrow

*Matrices* of air mixing, square. Places are in the order of the lists, nodes before CRAC units.

    .csv        rows of numbers, without names
    .npz        one dense array (of any name if it is the only one, else named as the key), or the arrays `rows`,
                `columns` (whole numbers from 0) and `values` of the entries that are not 0, in any order

What is compressed is compared with the file's lists before it is unpacked, so a small file cannot fill memory; what is
text may have 64 MiB. Nothing is unpickled.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from pydantic_core import PydanticCustomError

from lpsched.errors import LONGEST_NAME, MOST_ISSUES, InputIssue, InstanceError, Place, nearest, quote
from lpsched.io import limits
from lpsched.io.content import csv_bytes, one_issue, readable, require_file
from lpsched.io.parquet import load_arrow, opened_parquet, parquet_bytes
from lpsched.io.text_files import BLOCK_BYTES, CsvRows
from lpsched.model.fields import SMALLEST, Amount
from lpsched.model.problems import MOST_ADVISED
from lpsched.model.table import MOST_CELLS, Axes, SparseMatrix, Table, too_many_cells
from lpsched.text import cell_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.model.table import Floats, Integers

Reader = TypeVar("Reader", bound="Callable[..., Any]")
CORNER: Final = "task_type"  # the header of the column of task types
NUMBERS: Final = "fiu"  # the kinds of NumPy types that are plain numbers
WHOLE: Final = "iu"
TEXT: Final = "U"
TRIPLETS: Final = ("rows", "columns", "values")
LONGEST_LABEL: Final = 2 * LONGEST_NAME + 1
LONGEST_HEADER: Final = 10_000  # bytes; NumPy's own limit, but NumPy reads it all before it looks


# What a file must hold, and the errors when it does not.
@dataclass(frozen=True, slots=True)
class _Contract:
    """What a file holds for the place `at` of an instance, cells that each pass a check."""

    path: Path
    at: Place
    check: Amount

    @property
    def key(self) -> str:
        return str(self.at[-1])

    def issue(self, found: str, needed: str, do: str, *inner: str | int, line: int | None = None) -> InputIssue:
        return InputIssue((*self.at, *inner), found, needed, do, line=line, file=self.path.name)

    def error(self, found: str, needed: str, do: str) -> InstanceError:
        return InstanceError(str(self.path), (self.issue(found, needed, do),))

    def rejected(self, value: object, *inner: str | int, line: int | None = None) -> InputIssue:
        """Return the error of a cell that does not pass the check."""
        try:
            self.check(value)
        except PydanticCustomError as error:
            return InputIssue((*self.at, *inner), **(error.context or {}), line=line, file=self.path.name)
        raise AssertionError("NumPy and the check of a single cell agree on what is invalid")

    def require_none(self, issues: Sequence[InputIssue]) -> None:
        if issues:
            raise InstanceError(str(self.path), tuple(issues[:MOST_ISSUES]))

    def reader(self, readers: Mapping[str, Reader], word: str) -> Reader:
        """Return the reader for the file's ending; `word` is what it reads, for messages."""
        if (found := self.path.suffix.lower()) not in readers:
            raise self.error(f"the ending {quote(self.path.suffix)}", " or ".join(readers), f"convert the {word}")
        return readers[found]

    @contextmanager
    def _errors_here(self) -> Iterator[None]:
        """Raise errors about the file as errors about what it holds."""
        try:
            yield
        except InstanceError as error:
            if error.issues[0].path:  # it has its place
                raise
            issues = (self.issue(each.got, each.expected, each.hint, line=each.line) for each in error.issues)
            raise InstanceError(str(self.path), tuple(issues)) from None

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a CSV with their lines."""
        with self._errors_here():
            rows = CsvRows(self.path)
            yield from ((rows.line, row) for row in rows)

    @contextmanager
    def archive(self) -> Iterator[tuple[zipfile.ZipFile, list[str]]]:
        """Open an `.npz` file; yield it with the names of its arrays."""
        needed, do = "an .npz file as numpy.savez writes it", "write it again"
        with self._errors_here(), opened_archive(self.path, lambda found: self.error(found, needed, do)) as archive:
            yield archive, [name.removesuffix(".npy") for name in archive.namelist()]

    def member(self, members: Sequence[str], otherwise: str = "") -> str:
        """Return which array of an archive holds the cells."""
        if self.key in members or len(members) == 1:
            return self.key if self.key in members else members[0]
        there = f"the arrays {', '.join(map(quote, members[:9]))}" if members else "no arrays"
        raise self.error(there, f"one named {self.key}{otherwise}", "rename the array")


@dataclass(frozen=True, slots=True)
class _TableContract(_Contract):
    """A table: the names of task types are its rows, the labels its columns."""

    axes: Axes

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.axes.names), len(self.axes.labels)

    def mismatches(self, rows: Iterable[str], columns: Iterable[str]) -> list[InputIssue]:
        """Return what differs between the names in the file and those of the lists, in any order."""
        return [*self._differ(columns, self.axes.labels, "column"), *self._differ(rows, self.axes.names, "row")]

    def _differ(self, found: Iterable[str], wanted: tuple[str, ...], kind: str) -> list[InputIssue]:
        known, times = set(wanted), Counter(found)
        issues: list[InputIssue] = []
        for name, count in times.items():
            if name not in known:
                advice = nearest(name, wanted) if len(issues) < MOST_ADVISED else ""
                needed = f"only {kind}s that the {self.axes.kind}'s lists name"
                issues.append(self.issue(f"the {kind} {quote(name)}", needed, advice or "correct or remove it"))
            elif count > 1:
                issues.append(self.issue(f"the {kind} {quote(name)} {count} times", "each once", "remove one"))
        missing = [name for name in wanted if name not in times]
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            issues.append(self.issue(f"no {kind} {quote(missing[0])}{others}", f"a {kind} for each", "add it"))
        return issues[:MOST_ISSUES]

    def pack(self, cells: Floats) -> Table:
        """Return the table of an array in which NaN is absent."""
        absent = np.isnan(cells)
        valid = absent | (cells >= max(self.check.least, SMALLEST)) & (cells <= self.check.most)
        if self.check.least == 0.0:
            valid |= cells == 0.0
        names, labels = self.axes.names, self.axes.labels
        wrong = np.argwhere(~valid)[:MOST_ISSUES].tolist()
        self.require_none([self.rejected(float(cells[i, c]), names[i], labels[c]) for i, c in wrong])
        packed = np.where(absent, np.nan, cells + 0.0)  # one NaN, no -0.0: equal tables have equal bytes
        return Table(*self.shape, packed.tobytes(), checked_as=self.key)


# Archives of arrays.
@contextmanager
def opened_archive(path: Path, error_of: Callable[[str], InstanceError]) -> Iterator[zipfile.ZipFile]:
    """Open an `.npz` file; errors within are raised as made by `error_of`."""
    with readable(path):
        size = require_file(path)
        if size > limits.MOST_ARCHIVE_BYTES:
            raise one_issue(
                path, f"{size:,} bytes", f"at most {limits.MOST_ARCHIVE_BYTES:,} bytes", "take a part of it"
            )
        entries = _entries_in(path)
        if entries > limits.MOST_ARRAYS:
            raise one_issue(path, f"{entries:,} arrays", f"at most {limits.MOST_ARRAYS:,}", "leave the others out")
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about what is rejected or rounded anyway
            yield archive
    except (InstanceError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - on a broken file zipfile and NumPy raise whatever they like
        raise error_of(f"a broken archive ({type(error).__name__})") from None


def _entries_in(path: Path) -> int:
    """Return how many entries an archive lists at most: each begins with these letters, and is large when read."""
    count, rest = 0, b""
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            count += (rest + block).count(b"PK\x01\x02")
            rest = block[-3:]
    return count


def header_of(
    archive: zipfile.ZipFile, member: str, error_of: Callable[[str, str, str], InstanceError]
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and type of an array without unpacking it."""
    with archive.open(f"{member}.npy") as file:
        start = file.read(12)  # magic, version, and the length of the header in two or four bytes
        if int.from_bytes(start[8:10] if start[6:7] == b"\x01" else start[8:12], "little") > LONGEST_HEADER:
            raise error_of(f"the array {quote(member)} with a huge header", "a plain array", "write it again")
    with archive.open(f"{member}.npy") as file:
        wide = np.lib.format.read_magic(file) != (1, 0)
        read = np.lib.format.read_array_header_2_0 if wide else np.lib.format.read_array_header_1_0
        try:
            shape, _, dtype = read(file)
        except MemoryError:  # so Python says that its parser has too deep an expression
            raise ValueError("the header of an array is nested") from None
    return shape, dtype


def array_of(archive: zipfile.ZipFile, member: str) -> NDArray[Any]:
    """Return an array whose header has been looked at; nothing is unpickled, and no more unpacked than it says."""
    with archive.open(f"{member}.npy") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _shown(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "none"


# Tables.
def read_table_file(path: Path, key: str, check: Amount, axes: Axes) -> Table:
    """Read the table `key` between these lists."""
    contract = _TableContract(path, (key,), check, axes)
    if problem := too_many_cells(key, axes):
        raise InstanceError(str(path), (problem,))
    reader = contract.reader({".csv": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet}, "table")
    return contract.pack(reader(contract))


def _read_csv(contract: _TableContract) -> Floats:
    rows = contract.rows()
    _, header = next(rows)
    place = {label: column for column, label in enumerate(header) if column}
    columns = [place.get(label) for label in contract.axes.labels]
    row_of = {name: i for i, name in enumerate(contract.axes.names)}
    cells = np.full(contract.shape, np.nan)
    uneven: list[InputIssue] = []
    issues: list[InputIssue] = []
    names: Counter[str] = Counter()
    for number, row in rows:
        names[row[0]] += 1
        i = row_of.get(row[0])
        if len(row) != len(header):
            uneven.append(contract.issue(*ragged(row, header), line=number))
        elif i is not None and names[row[0]] == 1:
            for column, at in enumerate(columns):
                value = None if at is None else cell_value(row[at])
                try:
                    if value is not None:
                        cells[i, column] = contract.check(value)
                except PydanticCustomError:
                    if len(issues) < MOST_ISSUES:
                        issues.append(contract.rejected(value, row[0], contract.axes.labels[column], line=number))
        if len(uneven) >= MOST_ISSUES or len(names) > len(row_of) + MOST_ISSUES:
            break
    contract.require_none([*uneven, *contract.mismatches(names, header[1:])])
    contract.require_none(issues)
    return cells


def ragged(row: Sequence[str], header: Sequence[str]) -> tuple[str, str, str]:
    """Return what was found, what is needed and what to do, of a row that is not as long as the header."""
    return f"a row of {len(row)} cells", f"{len(header)}, as in the header", "complete the row"


def write_csv(table: Table, names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the table as CSV; an absent cell is empty, a number has all its digits."""
    return csv_bytes([CORNER, *labels], ([name, *row] for name, row in zip(names, table, strict=True)))


def _read_npz(contract: _TableContract) -> Floats:
    with contract.archive() as (archive, members):
        for member, wanted in (("task_types", contract.axes.names), ("columns", contract.axes.labels)):
            names = _array(contract, archive, member, (len(wanted),), TEXT).tolist() if member in members else wanted
            for place, (name, expected) in enumerate(zip(names, wanted, strict=True)):
                if name != expected:
                    there = f"{quote(name)} at place {place} of its {member}"
                    do = f"write it in the order of the {contract.axes.kind}'s lists"
                    raise contract.error(there, quote(expected), do)
        return _array(contract, archive, contract.member(members), contract.shape, NUMBERS).astype(float)


def _array(
    contract: _TableContract, archive: zipfile.ZipFile, member: str, shape: tuple[int, ...], kinds: str
) -> NDArray[Any]:
    """Read one array, after its header has shown the right shape and kind."""
    found, dtype = header_of(archive, member, contract.error)
    if found != shape:
        needed = f"{_shown(shape)}, as the {contract.axes.kind}'s lists have it"
        raise contract.error(f"the array {quote(member)} of shape {_shown(found)}", needed, "fix its shape")
    if dtype.kind not in kinds or dtype.itemsize > 4 * LONGEST_LABEL:
        needed = "plain numbers" if kinds == NUMBERS else f"names of at most {LONGEST_LABEL} characters"
        raise contract.error(f"the array {quote(member)} of type {dtype}", needed, "convert it")
    return array_of(archive, member)


def write_npz(tables: Mapping[str, Table], names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the tables as one archive, with the names."""
    out = io.BytesIO()
    arrays = {key: np.asarray(table) for key, table in tables.items()}
    names_of = {"task_types": np.array(names), "columns": np.array(labels)}
    np.savez(out, allow_pickle=False, **names_of, **arrays)  # times hardly compress, and this reads at once
    return out.getvalue()


def _read_parquet(contract: _TableContract) -> Floats:
    with contract._errors_here(), opened_parquet(contract.path, contract.error) as file:  # noqa: SLF001 - of this module
        rows, columns = contract.shape
        if (file.rows, len(file.names)) != (rows, columns + 1):
            found = f"{file.rows} rows and {len(file.names)} columns"
            needed = f"{rows} rows and {columns + 1} columns, {CORNER} among them"
            raise contract.error(found, needed, "fix its shape")
        corner = file.names.index(CORNER) if CORNER in file.names else None
        if corner is None or not file.is_text(corner):
            raise contract.error("no names of task types", f"a column {CORNER} of texts", "add it")
        names = [name for batch in file.batches([corner]) for name in batch[0]]
        if None in names:
            raise contract.error("no names of task types", f"a column {CORNER} of texts", "add it")
        labels = {place: label for place, label in enumerate(file.names) if place != corner}
        contract.require_none(contract.mismatches(names, list(labels.values())))
        for place, label in labels.items():
            if not file.is_number(place):
                raise contract.error(f"the column {quote(label)} of type {file.kind(place)}", "numbers", "convert it")
        of_label = dict(zip(labels.values(), file.table(list(labels)), strict=True))
        row_of = {name: row for row, name in enumerate(names)}
        cells = np.stack([of_label[label] for label in contract.axes.labels], axis=1)
        return np.ascontiguousarray(cells[[row_of[name] for name in contract.axes.names]])


def write_parquet(table: Table, names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the table as Parquet."""
    pa, _ = load_arrow("writing Parquet")
    columns = [pa.array(column, from_pandas=True) for column in np.asarray(table).T]
    return parquet_bytes(pa.Table.from_arrays([pa.array(names, pa.string()), *columns], names=[CORNER, *labels]))


# Matrices.
def read_matrix_file(path: Path, at: Place, check: Amount, size: int) -> SparseMatrix:
    """Read the matrix of `size` x `size` that an instance has at the place `at`."""
    contract = _Contract(path, at, check)
    return contract.reader({".npz": _read_npz_matrix, ".csv": _read_csv_matrix}, "matrix")(contract, size)


def _read_csv_matrix(contract: _Contract, size: int) -> SparseMatrix:
    starts, places, values = array("q", [0]), array("q"), array("d")
    issues: list[InputIssue] = []
    for v, (number, row) in enumerate(contract.rows()):
        if len(row) != size:
            issues.append(contract.issue(f"a row of {len(row)} cells", f"{size}", "complete the row", v, line=number))
        for u, cell in enumerate(row[:size]):
            value = cell_value(cell)
            try:
                if checked := contract.check(value):
                    places.append(u)
                    values.append(checked)
            except PydanticCustomError:
                issues.append(contract.rejected(value, v, u, line=number))
        starts.append(len(places))
        if len(issues) >= MOST_ISSUES or v >= size:
            break
        _require_few_entries(contract, len(places))
    if len(starts) != size + 1 and len(issues) < MOST_ISSUES:
        found = f"more than {size} rows" if len(starts) > size else f"{len(starts) - 1} rows"
        raise contract.error(found, f"{size}, one for each place, and no header", "fix its shape")
    contract.require_none(issues)
    return SparseMatrix(size, size, starts.tobytes(), places.tobytes(), values.tobytes())


def _require_few_entries(contract: _Contract, entries: int) -> None:
    if entries > MOST_CELLS:
        raise contract.error(f"{entries:,} entries", f"at most {MOST_CELLS:,}", "leave small ones out")


def _read_npz_matrix(contract: _Contract, size: int) -> SparseMatrix:
    with contract.archive() as (archive, members):
        if set(TRIPLETS) <= set(members):
            return _entries(contract, archive, size)
        member = contract.member(members, f", or {', '.join(TRIPLETS)}")
        shape, dtype = header_of(archive, member, contract.error)
        if shape != (size, size) or dtype.kind not in NUMBERS:
            there = f"the array {quote(member)} of shape {_shown(shape)} and type {dtype}"
            raise contract.error(there, f"{size} x {size} numbers", "fix its shape or type")
        _require_few_entries(contract, size**2)
        cells = array_of(archive, member).astype(float)
        rows, columns = np.nonzero(cells)  # NaN is not zero either
        return _packed(contract, size, rows, columns, cells[rows, columns])


def _entries(contract: _Contract, archive: zipfile.ZipFile, size: int) -> SparseMatrix:
    headers = {member: header_of(archive, member, contract.error) for member in TRIPLETS}
    length = headers["values"][0]
    for member, (shape, dtype) in headers.items():
        kinds, word = (NUMBERS, "numbers") if member == "values" else (WHOLE, "whole numbers")
        if shape != length or len(shape) != 1 or shape[0] > size**2 or dtype.kind not in kinds:
            there = f"the array {quote(member)} of shape {_shown(shape)}, type {dtype}"
            needed = f"as many {word} as there are entries, at most {size**2:,}"
            raise contract.error(there, needed, "write rows, columns and values alike")
    _require_few_entries(contract, length[0])
    rows, columns = (array_of(archive, member).astype(np.int64) for member in TRIPLETS[:2])
    for first in np.flatnonzero((rows < 0) | (rows >= size) | (columns < 0) | (columns >= size))[:1]:
        there = f"an entry at row {rows[first]}, column {columns[first]}"
        raise contract.error(there, f"numbers from 0 to {size - 1}", "count from 0")
    values = array_of(archive, "values").astype(float)
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    for first in np.flatnonzero((np.diff(rows) == 0) & (np.diff(columns) == 0))[:1]:
        there = f"two entries at row {rows[first]}, column {columns[first]}"
        raise contract.error(there, "each place once", "add them up")
    kept = values != 0.0
    return _packed(contract, size, rows[kept], columns[kept], values[kept])


def _packed(contract: _Contract, size: int, rows: Integers, columns: Integers, values: Floats) -> SparseMatrix:
    """Pack entries in order of rows and columns, if the check of a single one passes them all."""
    wrong = np.flatnonzero(~((values >= SMALLEST) & (values <= contract.check.most)))[:MOST_ISSUES].tolist()
    contract.require_none([contract.rejected(float(values[n]), int(rows[n]), int(columns[n])) for n in wrong])
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=size), out=starts[1:])
    return SparseMatrix(size, size, starts.tobytes(), columns.astype(np.int64).tobytes(), values.tobytes())


def write_npz_matrix(matrix: SparseMatrix) -> bytes:
    """Return the entries of a matrix as an archive."""
    starts = np.frombuffer(matrix.starts, dtype=np.int64)
    out = io.BytesIO()
    np.savez_compressed(
        out,
        allow_pickle=False,
        rows=np.repeat(np.arange(matrix.rows, dtype=np.int32), np.diff(starts)),
        columns=np.frombuffer(matrix.places, dtype=np.int64).astype(np.int32),
        values=np.frombuffer(matrix.packed),
    )
    return out.getvalue()


def write_csv_matrix(matrix: SparseMatrix) -> bytes:
    """Return a matrix with its zeros as CSV; a number has all its digits."""
    return "".join(f"{','.join(map(repr, row))}\n" for row in matrix.dense()).encode()
