"""Arriving tasks as they are in a file: rows inside it or in a sidecar file, checked column by column."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from operator import le
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic_core import CoreSchema, PydanticCustomError

from lpsched.errors import LONGEST_NAME, MOST_ISSUES, InputIssue, InstanceError, Place, nearest, quote
from lpsched.model.base import INVALID, FieldReader, Reader
from lpsched.model.fields import describe
from lpsched.model.kinds import name_of
from lpsched.model.problems import MOST_ADVISED, too_many
from lpsched.model.table import in_a_file, table_file
from lpsched.online import parts

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler

    from lpsched.online.parts import DayTaskType, DeclaredUtility, NumberColumn


# Rows come in chunks, each a list of values for every column, so that a long file need not be in memory as a whole.
# Valid chunks are checked column by column, at the speed of a map; only a chunk with a problem is checked row by row.
KEY_OF: Final = dict(
    zip(parts.UTILITY_COLUMNS, ("priorities", "urgencies", "utility_classes", "utility_functions"), strict=True)
)
CHUNK_ROWS: Final = 10_000  # rows inside a file that are looked at together
ALL_OR_NONE: Final = "a number for every task, or for none"
Chunk = dict[str, list[Any]]  # a list of equal length for every column; `None` where nothing is
Known = Mapping[str, Mapping[str, object] | None]  # by utility column, the known names, if they are valid
Why = tuple[str, str, str, str]  # column, found, needed, do


class TaskRows:
    """Gathers rows of tasks; `numbers` are their columns of numbers; `worth`: whether they have a utility."""

    def __init__(
        self,
        numbers: tuple[NumberColumn, ...],
        task_types: Sequence[DayTaskType] | None,
        known: Known,
        *,
        worth: bool = True,
    ) -> None:
        self.issues: list[InputIssue] = []
        self.numbers, self.worth = numbers, worth
        self._number_of = None if task_types is None else {task.name: i for i, task in enumerate(task_types)}
        self._known = known
        self._declared: dict[DeclaredUtility, int] = {}
        self._declared_numbers: dict[tuple[Any, ...], int] = {}  # of every valid set of names seen so far
        self._packed: dict[str, array[Any]] = {column.key: array(column.code) for column in numbers}
        self._packed |= {parts.TYPE: array("q"), "utility": array("q")}
        self._given: dict[str, bool] = {}  # whether tasks have a number of a column that all have, or none
        self._chunks: list[tuple[int, Sequence[int]]] = []  # of a file: first row, and lines
        self._file: str | None = None
        self._rows = 0
        self._falls = 0
        self._first_fall: InputIssue | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a file may have."""
        first, *more = (column.key for column in self.numbers)
        return (first, parts.TYPE, *more, *parts.UTILITY_COLUMNS)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that it must have."""
        first, *more = (column.key for column in self.numbers if column.needed)
        return (first, parts.TYPE, *more)

    @property
    def is_full(self) -> bool:
        """Whether there is no sense in reading on."""
        return len(self.issues) >= MOST_ISSUES or self._rows > parts.MOST_TASKS

    def take(self, chunk: Chunk, *, lines: Sequence[int] | None = None, file: str | None = None) -> None:
        """Add rows; `lines` are theirs in `file`, for the places of problems."""
        self._file = file
        count = len(chunk[parts.TYPE])
        if self._rows + count > parts.MOST_TASKS:
            self.issues.append(too_many(("tasks",), self._rows + count, parts.MOST_TASKS))
            self._rows += count
            return
        chunk = self._completed(chunk)
        found = {column.key: self._numbers(column, chunk[column.key]) for column in self.numbers}
        found |= {parts.TYPE: self._type_numbers(chunk), "utility": self._utility_numbers(chunk)}
        valid = {key: column for key, column in found.items() if column is not None}
        pairs = [(each.at_least, each.key) for each in self.numbers if each.at_least is not None]
        if len(valid) < len(found) or not all(all(map(le, valid[low], valid[high])) for low, high in pairs):
            self._look_at_rows(chunk, lines, file)
        else:
            self._note_falls(valid[self.numbers[0].key], lines, file)
            for key, column in valid.items():
                self._packed[key] += column
        if lines is not None:
            self._chunks.append((self._rows, lines))
        self._rows += count

    def _completed(self, chunk: Chunk) -> Chunk:
        """Return the chunk with what empty cells stand for."""
        full = dict(chunk)
        for column in self.numbers:
            values, empty = full[column.key], column.empty
            if empty is not None and None in values:
                others = full[empty] if isinstance(empty, str) else [empty] * len(values)
                full[column.key] = [other if each is None else each for each, other in zip(values, others, strict=True)]
        return full

    def _numbers(self, column: NumberColumn, values: list[Any]) -> array[Any] | None:
        if column.needed or column.empty is not None or not values:
            return column.packed(values)
        given = any(each is not None for each in values)
        if self._given.setdefault(column.key, given) != given:
            return None
        return column.packed(values) if given else array(column.code)

    def _look_at_rows(self, chunk: Chunk, lines: Sequence[int] | None, file: str | None) -> None:
        """Note what is wrong with a chunk, row by row."""
        for n in range(len(chunk[parts.TYPE])):
            row = {key: values[n] for key, values in chunk.items()}
            for key, found, needed, do in self._row_issues(row):
                place: Place = ("tasks", self._rows + n, key) if key else ("tasks", self._rows + n)
                line = lines[n] if lines is not None else None
                self.issues.append(InputIssue(place, found, needed, do, line=line, file=file))
            if len(self.issues) >= MOST_ISSUES:
                break
        assert self.issues, "a chunk that is not valid has a problem"

    def placed(self, problem: InputIssue) -> InputIssue:
        """Return a problem of a task that a rule found with the line and the file of the task, if they are known."""
        match problem.path:
            case ("tasks", int(row), *_):
                line = None
                if self._chunks:
                    first, lines = self._chunks[bisect_right(self._chunks, row, key=lambda chunk: chunk[0]) - 1]
                    line = lines[row - first]
                return replace(problem, line=line, file=self._file)
        return problem

    def gathered(self) -> tuple[dict[str, bytes], tuple[DeclaredUtility, ...]] | None:
        """Return the packed columns and the declared utilities; `None` if there was a problem."""
        if self._first_fall is not None:
            more = f", and {self._falls - 1:,} more such places" if self._falls > 1 else ""
            self.issues.append(replace(self._first_fall, got=self._first_fall.got + more))
        if self.issues or self._number_of is None or None in self._known.values():
            return None
        return {key: column.tobytes() for key, column in self._packed.items()}, tuple(self._declared)

    def _note_falls(self, arrivals: array[float], lines: Sequence[int] | None, file: str | None) -> None:
        """Count the tasks that come after later ones, and keep the first."""
        gathered = self._packed[self.numbers[0].key]
        before = gathered[-1] if gathered else 0.0
        if not arrivals or (before <= arrivals[0] and all(map(le, arrivals, islice(arrivals, 1, None)))):
            return
        for n, (one, following) in enumerate(pairwise((before, *arrivals))):
            if following < one:
                self._falls += 1
                if self._first_fall is None:
                    issue = parts.falling_arrival(self._rows + n, one, following)
                    self._first_fall = replace(issue, line=lines[n] if lines is not None else None, file=file)

    def _type_numbers(self, chunk: Chunk) -> array[int] | None:
        names = chunk[parts.TYPE]
        if not _are_names(names):
            return None
        if self._number_of is None:
            return array("q", bytes(8 * len(names)))
        try:
            return array("q", map(self._number_of.__getitem__, names))
        except KeyError:
            return None

    def _utility_numbers(self, chunk: Chunk) -> array[int] | None:
        columns = [chunk[key] for key in parts.UTILITY_COLUMNS]
        if not self.worth:
            return array("q") if all(set(column) <= {None} for column in columns) else None
        if not all(_are_names(column, or_none=True) for column in columns):
            return None
        rows = list(zip(*columns, strict=True))
        for names in dict.fromkeys(rows):
            if names in self._declared_numbers:
                continue
            if any(self._reported_issues(dict(zip(parts.UTILITY_COLUMNS, names, strict=True)))):
                return None
            declared: DeclaredUtility = parts.Levels(*names[:3]) if names[3] is None else names[3]
            self._declared_numbers[names] = self._declared.setdefault(declared, len(self._declared))
        return array("q", map(self._declared_numbers.__getitem__, rows))

    def _row_issues(self, row: Mapping[str, Any]) -> Iterator[Why]:
        for column in self.numbers:
            try:
                yield from self._number_issues(column, row)
            except PydanticCustomError as refused:
                why = refused.context or {}
                yield column.key, why["got"], why["expected"], why["hint"]
        name = row[parts.TYPE]
        if not isinstance(name, str):
            found = "nothing" if name is None else describe(name)
            yield parts.TYPE, found, "the name of a task type", "put it in quotes" if name else "add it"
        elif self._number_of is not None and name not in self._number_of:
            advice = nearest(name, self._number_of) if len(self.issues) < MOST_ADVISED else ""
            yield parts.TYPE, quote(name), "a task type of the file's list", advice or "correct or add it"
        yield from self._reported_issues({key: row[key] for key in parts.UTILITY_COLUMNS})

    def _number_issues(self, column: NumberColumn, row: Mapping[str, Any]) -> Iterator[Why]:
        value, given = row[column.key], self._given.get(column.key)
        if value is None:
            if column.needed:
                yield column.key, "nothing", column.needed, "add it"
            elif given:
                yield column.key, "nothing", ALL_OR_NONE, "add it, or drop the others"
            return
        number = column.check(value)
        if given is False:
            yield column.key, describe(value), ALL_OR_NONE, "drop it, or add the others"
        other = row[column.at_least] if column.at_least is not None else None
        if isinstance(other, int | float) and number < other:  # what is no number is that column's own problem
            found = f"{describe(value)}, below the {column.at_least} of {describe(other)}"
            yield column.key, found, f"at least the {column.at_least}", "raise it, or leave it out"

    def _reported_issues(self, names: Mapping[str, Any]) -> Iterator[Why]:
        given = [key for key in parts.UTILITY_COLUMNS if names[key] is not None]
        if not self.worth:
            for key in given:
                needed = "no utility: tasks are judged by their waiting"
                yield key, describe(names[key]), needed, "drop it, or the key 'waiting'"
            return
        for key in given:
            if not isinstance(names[key], str):
                yield key, describe(names[key]), "a name", "put it in quotes"
        by_levels = [key for key in given if key != "utility"]
        if not given:
            needed = "priority, urgency and utility_class, or utility"
            yield "", "no utility", needed, "declare its utility"
        elif "utility" in given and by_levels:
            yield "utility", f"a utility besides a {by_levels[0]}", "the one or the other", "drop one"
        elif by_levels and len(by_levels) < len(parts.UTILITY_COLUMNS) - 1:
            missing = next(key for key in parts.UTILITY_COLUMNS if names[key] is None)
            yield missing, "nothing", "priority, urgency and utility_class together", "add it"
        elif all(isinstance(names[key], str) for key in given):
            declared = names["utility"] if "utility" in given else parts.Levels(*(names[key] for key in by_levels))
            for key, found, advice in unknown_names(declared, self._known):
                yield key, found, f"a name of {KEY_OF[key]}", advice


def _are_names(values: list[Any], *, or_none: bool = False) -> bool:
    kinds: set[type] = {str, type(None)} if or_none else {str}
    return set(map(type, values)) <= kinds or all(isinstance(each, tuple(kinds)) for each in values)


def unknown_names(declared: DeclaredUtility, known: Known) -> Iterator[tuple[str, str, str]]:
    """Return which of a task's names are unknown: column, what was found, advice."""
    given = declared._asdict() if isinstance(declared, parts.Levels) else {"utility": declared}
    for key, name in given.items():
        names = known[key]
        if names is not None and name not in names:
            yield key, quote(str(name)), nearest(str(name), names) or "correct it, or add it there"


@dataclass(frozen=True)
class Rows(FieldReader):
    """Metadata of tasks that arrive: a list inside the file, or ``{file: NAME}``."""

    kind: type[parts.ArrivingTasks | parts.ParallelTasks]  # what is made of them
    judged_by: str | None = None  # the key that says how tasks without a utility are judged, if there is one
    sized_by: str | None = None  # the list whose sizes rules need: where it has problems, no rule sees the tasks

    def read_field(self, reader: Reader, key: str, raw: object) -> object:  # noqa: ARG002 - it has one key
        """Return the tasks; `INVALID` if they, or the names that they use, have problems."""
        types = reader.valid.get("task_types")
        if isinstance(raw, self.kind):
            found = list(islice(raw.problems(None if types is None else len(types)), MOST_ISSUES))
            reader.problems += found
            return INVALID if found or self._lacks_sizes(reader) else raw
        worth = self.judged_by is None or reader.raw.get(self.judged_by) is None
        known = {column: reader.valid.get(name) for column, name in KEY_OF.items()}
        rows = TaskRows(self.kind.NUMBERS, types, known, worth=worth)
        self._gather(reader, raw, rows)
        gathered = rows.gathered()
        reader.problems += rows.issues[:MOST_ISSUES]
        reader.places["tasks"] = rows.placed
        return INVALID if gathered is None or self._lacks_sizes(reader) else self.kind.of_columns(*gathered)

    def _lacks_sizes(self, reader: Reader) -> bool:
        return any(each.path[:1] == (self.sized_by,) for each in reader.problems)

    def _gather(self, reader: Reader, raw: object, rows: TaskRows) -> None:
        file = table_file(raw)
        if isinstance(raw, list | tuple):
            for first in range(0, len(raw), CHUNK_ROWS):
                chunk = raw[first : first + CHUNK_ROWS]
                rows.issues += _strange_entries(chunk, first, rows, reader.hint)
                if all(isinstance(each, Mapping) for each in chunk):
                    rows.take({key: [each.get(key) for each in chunk] for key in rows.columns})
                if rows.is_full:
                    break
        elif file is None:
            rows.issues.append(InputIssue(("tasks",), describe(raw), "a list of tasks, or {file: NAME}", reader.hint))
        elif reader.context is None:
            do = f"read the {name_of(reader.model.FORMAT)} from a file"
            rows.issues.append(InputIssue(("tasks", "file"), describe(file), "the tasks themselves", do))
        else:
            try:
                cast("Any", reader.context).rows(file, "tasks", rows)  # tasks in a file of their own
            except InstanceError as error:
                rows.issues += error.issues

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of tasks in both forms."""
        name, null = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}, {"type": "null"}
        numbers = {
            each.key: each.schema if each.needed else {"anyOf": [each.schema, null]} for each in self.kind.NUMBERS
        }
        row: dict[str, Any] = {
            "type": "object",
            "required": [parts.TYPE, *(each.key for each in self.kind.NUMBERS if each.needed)],
            "additionalProperties": False,
            "properties": {parts.TYPE: name}
            | numbers
            | {key: {"anyOf": [name, null]} for key in parts.UTILITY_COLUMNS},
        }
        if self.judged_by is None:
            row["anyOf"] = [
                {"required": list(parts.UTILITY_COLUMNS[:-1])},
                {"required": list(parts.UTILITY_COLUMNS[-1:])},
            ]
        return {
            "anyOf": [
                {"description": "by never-falling arrival", "type": "array", "minItems": 1, "items": row},
                in_a_file("in a file of its own: .csv or .parquet"),
            ]
        }


def _strange_entries(chunk: Sequence[Any], first: int, rows: TaskRows, hint: str) -> list[InputIssue]:
    """Return the problems of rows that are no mappings, or have unknown keys."""
    issues: list[InputIssue] = []
    known = set(rows.columns)
    for n, entry in enumerate(chunk, start=first):
        if not isinstance(entry, Mapping):
            needed = f"a mapping with {', '.join(rows.needed)}" + (" and its utility" if rows.worth else "")
            issues.append(InputIssue(("tasks", n), describe(entry), needed, hint))
        elif not known.issuperset(entry):
            for key in entry:
                if key not in known:
                    advice = nearest(str(key), rows.columns) if len(issues) < MOST_ADVISED else ""
                    needed = "one of " + ", ".join(rows.columns)
                    path = ("tasks", n, str(key))
                    issues.append(InputIssue(path, "an unknown key", needed, advice or "remove it"))
        if len(issues) >= MOST_ISSUES:
            break
    return issues
