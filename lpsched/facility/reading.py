"""Fields of a facility that need other fields or files to be read: nodes, CRAC units, mixing, degradation."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import index
from typing import Annotated, Any, Final, Protocol, cast

from pydantic import GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError

from lpsched.errors import LONGEST_NAME, MOST_ISSUES, InputIssue, InstanceError, Place, nearest, quote
from lpsched.facility import parts
from lpsched.facility.parts import NodeRun
from lpsched.model.base import INVALID, Entries, FieldReader, Reader, adapter_of
from lpsched.model.fields import Amount, Name, Whole, WithPStates, check_name, describe, numbered
from lpsched.model.problems import MOST_ADVISED, part_from, problems_of, too_many
from lpsched.model.table import Axes, Cells, SparseMatrix, Table, in_a_file, name_in, table_file


class Nodes(FieldReader):
    """Metadata of the nodes: names of their types, or ``{type: NAME, count: N}`` for N in a row.

    A tuple of numbers, as a facility has it, stays what it is.
    """

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the number of each node's type."""
        if not isinstance(raw, list | tuple):
            reader.add((key,), describe(raw), reader.model.model_fields[key].description or "")
            return INVALID
        if not raw:
            reader.add((key,), "an empty list", "at least one node", "add a node")
        types: tuple[parts.NodeType, ...] | None = reader.valid.get("node_types")
        numbers: list[int] | None = None
        if isinstance(raw, tuple):  # by number, which no file does
            with contextlib.suppress(TypeError):
                numbers = list(map(index, raw))
        nodes, problems = _by_name(raw, key, types, reader.hint) if numbers is None else (numbers, [])
        if len(nodes) > parts.MOST_NODES:
            problems.append(too_many((key,), len(nodes), parts.MOST_NODES))
        reader.problems += problems
        return INVALID if problems or types is None else tuple(nodes)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of names and runs."""
        return handler(TypeAdapter(list[Name | NodeRun]).core_schema) | {"minItems": 1}


def _by_name(
    raw: Sequence[object], key: str, types: tuple[parts.NodeType, ...] | None, hint: str
) -> tuple[list[int], list[InputIssue]]:
    numbers = {kind.name: j for j, kind in enumerate(types or ())}
    nodes: list[int] = []
    problems: list[InputIssue] = []
    for place, entry in enumerate(raw):
        if len(problems) >= MOST_ISSUES or len(nodes) > parts.MOST_NODES:
            break
        if not isinstance(entry, str | Mapping):
            needed = "the name of a node type, or {type: NAME, count: NUMBER}"
            problems.append(InputIssue((key, place), describe(entry), needed, hint))
            continue
        try:
            run = NodeRun.model_construct(type=entry, count=1) if isinstance(entry, str) else part_from(NodeRun, entry)
        except PydanticCustomError as error:
            inner = (error.context or {})["inner"]
            problems += [InputIssue((key, place, *path), found, want, do or hint) for path, found, want, do in inner]
            continue
        if types is not None and run.type not in numbers:
            advice = nearest(run.type, numbers) if len(problems) < MOST_ADVISED else ""
            do = advice or "correct it, or add the type"
            problems.append(InputIssue((key, place), quote(run.type), "a node type of the file's list", do))
        else:
            nodes += [numbers.get(run.type, 0)] * run.count
    return nodes, problems


COUNT: Final = Whole(1, parts.MOST_UNITS, do="correct it, or drop the entry")


class Units(Entries):
    """Metadata of the CRAC units; an entry with ``count: N`` is N of them, named NAME-1 to NAME-N."""

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return each unit."""
        if not isinstance(raw, list | tuple):
            return super().read_field(reader, key, raw)
        total = sum(map(_count, raw))
        if total > parts.MOST_UNITS:
            reader.problems.append(too_many((key,), total, parts.MOST_UNITS))
            return INVALID
        counted = [(place, entry["count"]) for place, entry in enumerate(raw) if _is_counted(entry)]
        miscounted = [each for place, count in counted for each in _wrong((key, place, "count"), COUNT, count)]
        reader.problems += miscounted
        plain = [{k: entry[k] for k in entry if k != "count"} if _is_counted(entry) else entry for entry in raw]
        units = super().read_field(reader, key, plain)
        if units is INVALID or miscounted:
            return INVALID
        found: list[parts.CracUnit] = []
        for place, (unit, entry) in enumerate(zip(cast("tuple[parts.CracUnit, ...]", units), raw, strict=True)):
            if not _is_counted(entry):
                found.append(unit)
                continue
            names = numbered(unit.name, _count(entry))
            found += [unit.model_copy(update={"name": name}) for name in names]
            if len(names[0]) > LONGEST_NAME:
                reader.problems.append(InputIssue((key, place, "name"), *check_name.message(names[0])))
        return tuple(found)

    def as_written(self, problem: InputIssue, raw: Mapping[str, Any]) -> InputIssue:
        """Return a problem of a unit as one of its entry."""
        if len(problem.path) == 1:
            return problem
        key, unit, *rest = problem.path
        entries = [place for place, entry in enumerate(raw[str(key)]) for _ in range(_count(entry))]
        return replace(problem, path=(key, entries[int(unit)], *rest))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of units that may be counted."""
        schema = super().__get_pydantic_json_schema__(core, handler)
        unit = handler.resolve_ref_schema(schema["items"])
        unit["properties"]["count"] = TypeAdapter(Annotated[int, COUNT]).json_schema()
        return schema


def _is_counted(entry: Any) -> bool:  # noqa: ANN401 - whatever stands there
    return isinstance(entry, Mapping) and "count" in entry


def _count(entry: Any) -> int:  # noqa: ANN401 - likewise
    """Return how many units an entry is; 1 where it does not say so, or wrongly."""
    count = entry["count"] if _is_counted(entry) else 1
    is_valid = isinstance(count, int | float) and 1 <= count <= parts.MOST_UNITS and count == int(count)
    return int(count) if is_valid else 1


def _wrong(path: Place, check: Amount | Whole, value: object) -> Iterator[InputIssue]:
    """Find whether a value fails a check."""
    try:
        check(value)
    except PydanticCustomError as error:
        yield InputIssue(path, **(error.context or {}))


class MatrixFiles(Protocol):
    """Reads matrices in files of their own."""

    def matrix(self, file: str, path: Place, check: Amount, size: int) -> SparseMatrix:
        """Return the square matrix in a file."""


class MixingMatrix(FieldReader):
    """Metadata of the mixing: exactly one form, as a list of rows, as ``{file: NAME}`` or as a `SparseMatrix`."""

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the mixing; `INVALID` if it, the nodes or the CRAC units have problems."""
        if isinstance(raw, parts.Mixing):
            return raw
        forms = {written: form for form, written in parts.MIXING_KEYS.items()}
        if not isinstance(raw, Mapping) or len(raw) != 1 or next(iter(raw)) not in forms:
            found = describe(raw)
            if isinstance(raw, Mapping) and raw:
                found = "the keys " + ", ".join(quote(str(each)) for each in islice(raw, 9))
            reader.add((key,), found, reader.model.model_fields[key].description or "")
            return INVALID
        nodes, units = reader.valid.get("nodes"), reader.valid.get("crac_units")
        if not nodes or not units:
            return INVALID  # their own problems are reported
        ((written, given),) = raw.items()
        form, path = forms[written], (key, written)
        size = len(nodes) + (len(units) if form != "recirculation" else 0)
        try:
            return parts.Mixing(form, _matrix(reader, given, path, parts.MIXING_CHECKS[form], size))
        except InstanceError as error:
            reader.problems += error.issues
            return INVALID

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of the three forms."""
        rows = {"type": "array", "items": {"type": "array", "items": {"type": "number", "minimum": 0}}}
        matrix = {"anyOf": [rows, in_a_file("in a file of its own: .npz or .csv")]}
        return {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": dict.fromkeys(parts.MIXING_KEYS.values(), matrix),
        }


def _matrix(reader: Reader, raw: object, path: Place, check: Amount, size: int) -> SparseMatrix:
    file = table_file(raw)
    if isinstance(raw, SparseMatrix):
        return raw
    if file is not None and reader.context is not None:
        return cast("MatrixFiles", reader.context).matrix(file, path, check, size)
    if file is not None:
        problem = InputIssue((*path, "file"), describe(file), "the matrix itself", "read the facility from a file")
        raise InstanceError("mixing", (problem,))
    if not isinstance(raw, list | tuple) or len(raw) != size:
        needed = f"a matrix of {size} rows, one for each place, or {{file: NAME}}"
        raise InstanceError("mixing", (InputIssue(path, describe(raw), needed, reader.hint),))
    rows: list[list[tuple[int, float]]] = []
    problems: list[InputIssue] = []
    for v, row in enumerate(raw):
        cells = check.cells([row]) if isinstance(row, list | tuple) and len(row) == size else None
        if cells is None or math.isnan(sum(cells)):
            problems += islice(_invalid_row(row, (*path, v), check, size), MOST_ISSUES - len(problems))
            if len(problems) >= MOST_ISSUES:
                break
        elif not problems:
            rows.append([(u, cell) for u, cell in enumerate(cells) if cell])
    if problems:
        raise InstanceError("mixing", tuple(problems))
    return SparseMatrix.of(rows, size)


def _invalid_row(row: object, path: Place, check: Amount, size: int) -> Iterator[InputIssue]:
    if not isinstance(row, list | tuple) or len(row) != size:
        yield InputIssue(path, describe(row), f"a list of {size}", "write 0 for none")
        return
    for u, cell in enumerate(row):
        yield from _wrong((*path, u), check, cell)


@dataclass(frozen=True, slots=True)
class _Class(WithPStates):
    """A memory class as a row and a column of the degradation table."""

    name: str
    p_states: None = None


def _class_axes(rows: Sequence[str], columns: Sequence[str]) -> Axes:
    own = [_Class(name) for name in rows], [_Class(name) for name in columns]
    none = "write 0 for none"
    return Axes(*own, "facility", "class", "class", none, none, "classes x classes")


class Degradation(Cells):
    """Metadata of the table between memory classes: those listed, or the names in the table, or the task types."""

    def __init__(self) -> None:
        super().__init__(parts.check_degradation, "memory_classes", "memory_classes", _class_axes)

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the table; `INVALID` if it or the classes have problems."""
        if isinstance(raw, Table) and not reader.valid.get(self.rows):
            return raw  # a rule reports that it needs classes
        if isinstance(raw, list | tuple | Mapping) and reader.raw.get(self.rows) is None:
            names = self._classes(reader, key, raw)
            if names is None:
                return INVALID
            reader.valid[self.rows] = names
            table = super().read_field(reader, key, raw)
            if table is INVALID:
                del reader.valid[self.rows]  # of a table with problems neither classes nor their number is known
            return table
        return super().read_field(reader, key, raw)

    def _classes(self, reader: Reader, key: str, raw: object) -> tuple[str, ...] | None:
        """Return the classes of a table, where they are not listed."""
        tasks: tuple[parts.ArrivingType, ...] | None = reader.valid.get("task_types")
        if isinstance(raw, Mapping) and table_file(raw) is None:
            names = list(raw)
        elif tasks is None:
            return None
        elif any(task.memory_class is not None for task in tasks):
            needed, do = "the classes in the order of degradation", "add it, or name the rows and columns"
            reader.add((self.rows,), "nothing", needed, do)
            return None
        else:
            names = [task.name for task in tasks]
        try:
            checked: tuple[str, ...] = adapter_of(reader.model, self.rows).validate_python(names)
        except ValidationError as error:
            found = problems_of(error, reader.model, (self.rows,), reader.hint)
            reader.problems += [replace(each, path=(key,)) for each in found]
            return None
        return checked

    def as_written(self, problem: InputIssue, raw: Mapping[str, Any]) -> InputIssue:
        """Return a problem that a rule found with the names that the file uses, instead of numbers."""
        table = raw.get(str(problem.path[0]))
        if not isinstance(table, Mapping):
            return problem
        file = table_file(table)
        names = raw.get(self.rows) or (list(table) if file is None else [*map(name_in, raw["task_types"])])
        path = (names[step] if isinstance(step, int) else step for step in problem.path)
        return replace(problem, path=tuple(path), file=file)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of a table in its three forms; every pair of classes has a number."""
        cell = {"type": "number", "minimum": 0}
        row = {"type": "object", "additionalProperties": cell}
        return {
            "anyOf": [
                {"type": "object", "additionalProperties": row},
                {"type": "array", "items": {"type": "array", "items": cell}},
                in_a_file("in a file of its own: .csv, .npz or .parquet"),
            ]
        }
