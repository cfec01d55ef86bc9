"""Tables of pairs: seconds and watts of each task type on each machine type; and matrices of few entries."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, Place, nearest, quote
from lpsched.model.base import INVALID, Reader
from lpsched.model.fields import Amount, HasStates, describe
from lpsched.model.problems import MOST_ADVISED, repeats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic import GetJsonSchemaHandler

    Floats = NDArray[np.float64]  # arrays by what they hold, for all annotations; nothing here loads NumPy
    Integers = NDArray[np.int64]
    Mask = NDArray[np.bool_]


ABSENT: Final = math.nan
MOST_CELLS: Final = 20_000_000  # of a table, absent ones with them: 160 MB
_ABSENT_BYTES: Final = array("d", [ABSENT]).tobytes()
_CELL: Final = Struct("d")
Rows = list[tuple[Place, Sequence[object]]]  # where each row stands, and its entries as they are written


class Named(Protocol):
    """What a row of a table belongs to: a task type."""

    @property
    def name(self) -> str: ...  # noqa: D102 - the class says it


class Column(HasStates, Protocol):
    """What one or more columns of a table belong to: a machine or node type, perhaps with P-states."""

    @property
    def modes(self) -> int: ...  # noqa: D102 - the class says it
    @property
    def columns(self) -> tuple[str, ...]: ...  # noqa: D102 - the class says it


@dataclass(frozen=True, slots=True)
class Axes:
    """What the rows and columns of a table belong to, and what messages call it all."""

    rows: Sequence[Named]
    columns: Sequence[Column]
    kind: str = "bag"  # of file
    row_kind: str = "task type"
    column_kind: str = "machine type"
    absent_cell: str = "leave it out if the pair cannot run"  # hint about an invalid cell
    absent_in_row: str = "write null where a pair cannot run"  # and about a row that is too short
    shape: str = "task types x columns"

    @property
    def hint(self) -> str:
        """Where to see how a table is written."""
        return f"see 'lpsched schema {self.kind}'"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows."""
        return tuple(row.name for row in self.rows)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the columns: the types' names, with their P-states if any."""
        return tuple(label for column in self.columns for label in column.columns)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of doubles; NaN, always with the same bytes, marks a pair that cannot run.

    >>> table = Table.of([[62.0, None], [80.5, 4.0]])
    >>> table[0, 1] is None, table[1, 1], table.row(0)
    (True, 4.0, [62.0, None])
    """

    rows: int
    columns: int
    packed: bytes = field(repr=False)
    checked_as: str | None = field(default=None, repr=False, compare=False)  # by a reader: 'seconds', 'watts'

    @classmethod
    def of(cls, rows: Sequence[Sequence[float | None]]) -> Table:
        """Pack rows of equal length; `None` and NaN are absent."""
        columns = len(rows[0]) if rows else 0
        assert all(len(row) == columns for row in rows), "rows of a table have one length"
        cells = (ABSENT if cell is None or math.isnan(cell) else cell + 0.0 for row in rows for cell in row)
        return cls(len(rows), columns, array("d", cells).tobytes())

    @property
    def cells(self) -> memoryview[float]:
        """All cells, row by row, without a copy."""
        return memoryview(self.packed).cast("d")

    def row(self, i: int) -> list[float | None]:
        """Return one row, `None` where a pair cannot run."""
        start = i * self.columns
        return [None if x != x else x for x in self.cells[start : start + self.columns].tolist()]  # noqa: PLR0124 - NaN

    def __getitem__(self, place: tuple[int, int]) -> float | None:
        """Return one cell, `None` where the pair cannot run."""
        i, column = place
        value: float = _CELL.unpack_from(self.packed, (i * self.columns + column) * _CELL.size)[0]
        return None if math.isnan(value) else value

    def __iter__(self) -> Iterator[list[float | None]]:
        """Go through the rows."""
        return (self.row(i) for i in range(self.rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: ANN401, FBT001 - as NumPy has it
        """Return the cells as a NumPy array, NaN where a pair cannot run."""
        import numpy as np  # noqa: PLC0415 - what reads files does not load it

        cells = np.frombuffer(self.packed).reshape(self.rows, self.columns)
        return np.array(cells, dtype=dtype) if copy or dtype not in (None, cells.dtype) else cells

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        """Let Pydantic know the type; `Cells` reads one from a file."""
        rows = core_schema.plain_serializer_function_ser_schema(list)
        return core_schema.is_instance_schema(cls, serialization=rows)

    def absent(self) -> list[int]:
        """Return the flat positions of the pairs that cannot run; quick where they are few."""
        found = []
        at = self.packed.find(_ABSENT_BYTES)
        while at >= 0:
            cell, shift = divmod(at, len(_ABSENT_BYTES))
            if shift == 0:  # else the bytes straddle two numbers
                found.append(cell)
            at = self.packed.find(_ABSENT_BYTES, at + 1)
        return found


def rows_of(table: Table, columns: Sequence[Column]) -> list[list[Any]]:
    """Return the rows of a table as they stand inside a file: a list for each type that has P-states."""
    rows = []
    for cells in table:
        row: list[Any] = []
        for column in columns:
            own, cells = cells[: column.modes], cells[column.modes :]  # noqa: PLW2901 - eaten from the left
            row.append(own[0] if column.p_states is None else own)
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Cells:
    """Metadata of a table in a file: by name, as a list of rows, or as ``{file: NAME}``."""

    check: Amount  # what a single cell must pass
    rows: str = "task_types"  # the fields that list what the rows and columns belong to
    columns: str = "machine_types"
    axes: Callable[..., Axes] = Axes  # makes of these what messages say

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the table; `INVALID` if it or its lists have problems."""
        rows, columns = reader.valid.get(self.rows), reader.valid.get(self.columns)
        if rows is None or columns is None:
            return INVALID  # the errors of the lists are reported; without names a table cannot be checked
        axes = self.axes(rows, columns)
        table, found = self._read(reader, key, raw, axes)
        reader.problems += found
        return INVALID if table is None else table

    def _read(self, reader: Reader, key: str, raw: object, axes: Axes) -> tuple[Table | None, Sequence[InputIssue]]:
        if isinstance(raw, Table):
            if found := tuple(islice(table_issues(key, raw, axes, self.check), MOST_ISSUES)):
                return None, found
            return raw if raw.checked_as == key else replace(raw, checked_as=key), ()  # copies are not checked again
        file = table_file(raw)
        if file is None:
            return read_table(raw, key, self.check, axes)
        if reader.context is None:
            do = f"read the {axes.kind} from a file"
            return None, (InputIssue((key, "file"), describe(file), "the table itself", do),)
        try:
            return cast("Any", reader.context).table(file, key, self.check, axes), ()  # a `Sidecars` of `io/`
        except InstanceError as error:
            return None, error.issues

    def as_written(self, problem: InputIssue, raw: Mapping[str, Any]) -> InputIssue:
        """Return a problem that a rule found with the names that the file uses, instead of numbers."""
        table = raw.get(str(problem.path[0]))
        if not isinstance(table, Mapping) or not any(isinstance(step, int) for step in problem.path[1:2]):
            return problem
        steps = zip((self.rows, self.columns), problem.path[1:], strict=False)
        names = [name_in(raw[key][step]) for key, step in steps]
        path = (problem.path[0], *names, *problem.path[1 + len(names) :])
        return replace(problem, path=path, file=table_file(table))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of a table in its three forms."""
        number = {"type": "number", "minimum": self.check.least, "maximum": self.check.most}
        return table_schema(number, self.axes((), ()).column_kind)


def name_in(entry: Any) -> str:  # noqa: ANN401 - of a file, or a part
    """Return the name of an entry of a list."""
    return str(entry["name"] if isinstance(entry, Mapping) else entry.name)


def table_file(raw: object) -> str | None:
    """Return the file that a table is in, if it is given as ``{file: NAME}``."""
    if isinstance(raw, Mapping) and len(raw) == 1 and isinstance(raw.get("file"), str):
        return str(raw["file"])
    return None


def table_issues(key: str, table: Table, axes: Axes, check: Amount) -> Iterator[InputIssue]:
    """Return the problems of a table: its shape, and its cells if no reader has checked them."""
    shape = len(axes.rows), sum(column.modes for column in axes.columns)
    if (table.rows, table.columns) != shape or len(table.packed) != _CELL.size * shape[0] * shape[1]:
        found, needed = f"a table of {table.rows} x {table.columns}", f"{shape[0]} x {shape[1]}, {axes.shape}"
        yield InputIssue((key,), found, needed, "fix its shape")
        return
    cells = table.cells.tolist() if table.checked_as != key else []
    if check.cells([[cell for cell in cells if not math.isnan(cell)]]) is not None:
        return
    for flat, cell in enumerate(cells):
        try:
            if not math.isnan(cell):
                check(cell)
        except PydanticCustomError as error:
            yield InputIssue((key, *divmod(flat, shape[1])), **(error.context or {}))


def labels_differ(columns: Sequence[Column], key: str, kind: str) -> Iterator[InputIssue]:
    """Return the problems of machine types or clusters with one name, or with labels that are one."""
    for j, column in enumerate(columns):
        yield from repeats(column.p_states or (), (key, j, "p_states"), ())
    yield from repeats([each.name for each in columns], (key,), ("name",))
    labels = Counter(label for column in columns for label in set(column.columns))
    for j, column in enumerate(columns):
        for label in column.columns:
            if column.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another {kind}"
                yield InputIssue((key, j), found, "labels that differ", "rename one")


def table_schema(number: dict[str, Any], column_kind: str = "machine type") -> dict[str, Any]:
    """Return the schema of a table in its three forms."""
    cell = {"anyOf": [number, {"type": "null"}]}
    entry = {"anyOf": [*cell["anyOf"], {"type": "array", "items": cell, "minItems": 1}]}  # a list: per P-state
    row = {"type": "object", "additionalProperties": entry}
    return {
        "anyOf": [
            {
                "description": f"by name: task type -> {column_kind} -> number; what is not named cannot run",
                "type": "object",
                "additionalProperties": {"anyOf": [row, {"type": "null"}]},
            },
            {
                "description": "rows and columns in the order of the lists; null cannot run",
                "type": "array",
                "items": {"type": "array", "items": entry},
            },
            in_a_file("in a file of its own: .csv, .npz or .parquet"),
        ]
    }


def in_a_file(description: str) -> dict[str, Any]:
    """Return the schema of ``{file: NAME}``."""
    return {
        "description": description,
        "type": "object",
        "required": ["file"],
        "additionalProperties": False,
        "properties": {"file": {"type": "string"}},
    }


def read_table(raw: object, key: str, check: Amount, axes: Axes) -> tuple[Table | None, list[InputIssue]]:
    """Read a table by name or as a matrix; return it, or the errors that forbid it.

    `raw` is a mapping of mappings, what is not named being absent; or a list of lists, `None` being absent.
    A machine type with P-states has a list of that length in place of a number.
    """
    reader = _Reader(check, axes)
    if problem := too_many_cells(key, axes):
        return None, [problem]
    if isinstance(raw, Mapping):
        rows = reader.by_name(raw, key)
    elif isinstance(raw, list | tuple):
        rows = reader.matrix(raw, key)
    else:
        needed = "a table: by name, as a list of rows, or as {file: NAME}"
        return None, [InputIssue((key,), describe(raw), needed, axes.hint)]
    if not reader.issues:  # the common case: all cells at once
        states = [0 if column.p_states is None else column.modes for column in axes.columns]
        cells = check.cells([_flat(entries, states) if any(states) else entries for _, entries in rows])
        if cells is not None:
            return Table(len(rows), sum(each or 1 for each in states), cells.tobytes(), key), []
    by_name = isinstance(raw, Mapping)
    left = takewhile(lambda _: len(reader.issues) < MOST_ISSUES, rows)
    read = [reader.row(entries, path, by_name=by_name) for path, entries in left]
    return (None, reader.issues) if reader.issues else (replace(Table.of(read), checked_as=key), [])


def too_many_cells(key: str, axes: Axes) -> InputIssue | None:
    """Return the problem of a table with more cells than memory is promised for, before any of them is read."""
    if len(axes.names) * len(axes.labels) <= MOST_CELLS:
        return None
    found = f"{len(axes.names):,} x {len(axes.labels):,} cells"
    return InputIssue((key,), found, f"at most {MOST_CELLS:,}", f"divide the {axes.kind}")


def _flat(entries: Sequence[object], states: Sequence[int]) -> list[object]:
    """Return the cells of a row, those of all P-states one after the other; one that is not valid if a list is not."""
    row: list[object] = []
    for entry, number in zip(entries, states, strict=True):
        if not number:
            row.append(entry)
        elif isinstance(entry, list | tuple) and len(entry) == number:
            row += entry
        else:
            row += [None] * number if entry is None else [INVALID]
    return row


class _Reader:
    """Reads cells and collects errors; one reader per table."""

    def __init__(self, check: Amount, axes: Axes) -> None:
        self.check, self.axes = check, axes
        self.issues: list[InputIssue] = []

    def by_name(self, raw: Mapping[str, object], key: str) -> Rows:
        kind, names = self.axes.column_kind, [column.name for column in self.axes.columns]
        known = dict.fromkeys(names)
        self._known(raw, (key,), dict.fromkeys(self.axes.names), self.axes.row_kind)
        rows: Rows = []
        for task in self.axes.names:
            path: Place = (key, task)
            entries = {} if raw.get(task) is None else raw[task]
            if isinstance(entries, Mapping):
                self._known(entries, path, known, kind)
                rows.append((path, [entries.get(name) for name in names]))
            else:
                needed, do = f"a mapping from {kind}s to numbers", f"name the {kind} of each number"
                self._issue(path, describe(entries), needed, do)
        return rows

    def matrix(self, raw: Sequence[object], key: str) -> Rows:
        height, width = len(self.axes.rows), len(self.axes.columns)
        if len(raw) != height:
            needed = f"{height} rows, one per {self.axes.row_kind}"
            self._issue((key,), f"{len(raw)} rows", needed, "add or drop rows")
        rows: Rows = []
        for i, entries in enumerate(islice(raw, max(height, MOST_ISSUES))):
            if len(self.issues) >= MOST_ISSUES:
                break  # enough errors
            if isinstance(entries, list | tuple) and len(entries) == width:
                rows.append(((key, i), entries))
            else:
                needed = f"a list of {width}, one entry per {self.axes.column_kind}"
                self._issue((key, i), describe(entries), needed, self.axes.absent_in_row)
        return rows

    def row(self, entries: Sequence[object], path: Place, *, by_name: bool) -> list[float | None]:
        row: list[float | None] = []
        for j, (entry, machine) in enumerate(zip(entries, self.axes.columns, strict=True)):
            place = (*path, machine.name if by_name else j)
            if machine.p_states is None:
                row.append(self._cell(entry, place))
            elif entry is None:
                row += [None] * machine.modes
            elif isinstance(entry, list | tuple) and len(entry) == machine.modes:
                row += [self._cell(cell, (*place, k)) for k, cell in enumerate(entry)]
            else:
                needed = f"a list of {machine.modes}, one entry per P-state of {quote(machine.name)}"
                self._issue(place, describe(entry), needed, "write null where a P-state cannot run")
        return row

    def _cell(self, entry: object, path: Place) -> float | None:
        if entry is None:
            return None
        try:
            return self.check(entry)
        except PydanticCustomError as error:
            why = error.context or {}
            self._issue(path, why["got"], why["expected"], f"{why['hint']}; {self.axes.absent_cell}")
            return None

    def _known(self, entries: Mapping[str, object], path: Place, names: dict[str, None], kind: str) -> None:
        if entries.keys() <= names.keys():
            return
        for name in entries:
            if len(self.issues) >= MOST_ISSUES:
                break
            if name not in names:
                do = (nearest(name, names) if len(self.issues) < MOST_ADVISED else "") or "correct or remove it"
                self._issue((*path, name), f"no {kind} of that name", f"a {kind} of the file's list", do)

    def _issue(self, path: Place, found: str, needed: str, do: str) -> None:
        if len(self.issues) < MOST_ISSUES:
            self.issues.append(InputIssue(path, found, needed, do))


@dataclass(frozen=True, slots=True)
class SparseMatrix:
    """Rows of (column, value), packed; what is not there is 0.

    >>> matrix = SparseMatrix.of([[(1, 0.5)], []], columns=2)
    >>> matrix.row(0), matrix.row(1), matrix.entries
    ([(1, 0.5)], [], 1)
    """

    rows: int
    columns: int
    starts: bytes = field(repr=False)  # int64, rows + 1
    places: bytes = field(repr=False)  # int64, the column of each value; rising in each row
    packed: bytes = field(repr=False)  # float64

    @classmethod
    def of(cls, rows: list[list[tuple[int, float]]], columns: int) -> SparseMatrix:
        """Pack rows of (column, value); zeros are left out."""
        starts, places, values = array("q", [0]), array("q"), array("d")
        for row in rows:
            for place, value in sorted(row):
                if value != 0.0:
                    places.append(place)
                    values.append(value)
            starts.append(len(places))
        return cls(len(rows), columns, starts.tobytes(), places.tobytes(), values.tobytes())

    @property
    def entries(self) -> int:
        """How many values there are."""
        return len(self.packed) // array("d").itemsize

    def row(self, index: int) -> list[tuple[int, float]]:
        """Return one row: column and value of each entry."""
        starts = memoryview(self.starts).cast("q")
        span = slice(starts[index], starts[index + 1])
        columns, values = memoryview(self.places).cast("q")[span], memoryview(self.packed).cast("d")[span]
        return list(zip(columns.tolist(), values.tolist(), strict=True))

    def dense(self) -> list[list[float]]:
        """Return all rows with their zeros."""
        rows = [[0.0] * self.columns for _ in range(self.rows)]
        for v, row in enumerate(rows):
            for u, value in self.row(v):
                row[u] = value
        return rows
