"""Reading a file of any kind: every problem is collected, and reported in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, Place, nearest, quote
from lpsched.model.base import MOST_ADVISED, MOST_KEYS, in_file_order, too_many
from lpsched.model.fields import Amount, check_name, describe
from lpsched.model.kinds import COMMANDS, name_of
from lpsched.model.table import Axes, Table, read_table, table_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from lpsched.model.table import Check


TableFileReader = Callable[[str, str, Amount, Axes], Table]  # file, key, check of a cell, what it must fit
Part = TypeVar("Part")

_SHAPES: Final = {
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "dataclass_type": "a mapping",
}
_NEEDED: Final = ("name", "p_states")  # without these an entry says nothing about the tables


@dataclass
class Reading:
    """One mapping being read: what it says, what it should say, and what is wrong with it so far."""

    raw: Mapping[str, Any]
    format: str
    keys: tuple[str, ...]
    faults: list[Fault] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)  # the keys of those that were looked for

    @classmethod
    def begin(cls, raw: object, format: str, keys: tuple[str, ...], source: str) -> Reading:  # noqa: A002 - as `kind_of`
        """Look at the format and at the keys of the whole."""
        if not isinstance(raw, Mapping):
            needed = f"a mapping that begins with 'format: {format}'"
            do = f"see 'lpsched new {name_of(format)}'"
            raise InstanceError(source, (Fault((), describe(raw), needed, do),))
        reading = cls(raw, format, keys)
        reading.refuse_other_formats(source)
        reading.look_at_keys()
        return reading

    @property
    def hint(self) -> str:
        """Where to see what the file may say."""
        return f"see 'lpsched schema {name_of(self.format)}'"

    def refuse_other_formats(self, source: str) -> None:
        """Stop at a format that this version cannot know."""
        found = self.raw.get("format")
        if not isinstance(found, str) or found == self.format:
            return
        kind, _, version = found.partition("/")
        ours, _, present = self.format.partition("/")
        newer = kind == ours and version.isascii() and version.isdigit() and version > present
        do = "install a newer lpsched" if newer else "bring a file of this kind"
        if kind != ours and kind in COMMANDS:
            do = f"bring a file of this kind, or use '{COMMANDS[kind]}'"
        raise InstanceError(source, (Fault(("format",), describe(found), f"'{self.format}'", do),))

    def look_at_keys(self) -> None:
        """Add the faults of a missing format and of unknown keys."""
        if not isinstance(self.raw.get("format"), str):
            found = describe(self.raw["format"]) if "format" in self.raw else "no format"
            needed = f"'format: {self.format}'"
            self.faults.append(Fault(("format",), found, needed, "write it as the first key"))
        for key in islice((key for key in self.raw if key not in self.keys), MOST_FAULTS):
            advice = nearest(str(key), self.keys) if len(self.faults) < MOST_ADVISED else ""
            needed = "one of " + ", ".join(self.keys)
            self.faults.append(Fault((str(key),), "an unknown key", needed, advice or "remove it"))

    def section(self, key: str, model: type[Part]) -> Part | None:
        """Read an optional section; a missing one is the default."""
        value = self.raw.get(key)
        return self.part({} if value is None else value, model, (key,), self.faults)

    def entries(
        self, key: str, model: type[Part], stand_in: Mapping[str, object], most: int | None = None
    ) -> tuple[Part, ...] | None:
        """Read a list, entry by entry: a list of junk then costs no more than its first faults.

        Where an entry is faulty but its name at least can be read, the outline that remains, with
        `stand_in` for what must be there, still serves to check the tables and the rules, so that all
        faults are told at once. Else, and for more than `most` entries, the answer is `None`.
        """
        value = self.raw.get(key)
        if not isinstance(value, list | tuple):
            found = "nothing" if value is None else describe(value)
            self.faults.append(Fault((key,), found, f"a list of {key.replace('_', ' ')}", self.hint))
            return None
        if most is not None and len(value) > most:
            self.faults.append(too_many((key,), len(value), most))
            return None
        parts: list[Part] = []
        own: list[Fault] = []
        for index, entry in enumerate(value):
            each = self.part(entry, model, (key, index), own) or _outline(model, entry, stand_in)
            parts += [each] if each is not None else []
            if len(own) >= MOST_FAULTS:
                break
        self.faults += own[:MOST_FAULTS]
        return tuple(parts) if len(parts) == len(value) else None

    def part(self, value: object, model: type[Part], place: Place, faults: list[Fault]) -> Part | None:
        """Read one part, or add its faults."""
        if isinstance(value, model):
            return value
        if isinstance(value, Mapping) and len(value) > MOST_KEYS:
            faults.append(Fault(place, describe(value), f"at most {MOST_KEYS} keys", self.hint))
            return None
        try:
            return _validated(value, model)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                faults += self._faults_of(detail, model, place)
            return None

    def _faults_of(self, detail: ErrorDetails, model: type, place: Place) -> list[Fault]:
        """Turn what Pydantic found into faults; the one place where that happens."""
        path: Place = (*place, *detail["loc"])
        match detail["type"]:
            case "field":
                found, needed, do = detail["ctx"]["of"].message(detail["input"])
                return [Fault(path, found, needed, do)]
            case "fault":
                return [Fault(path, **detail["ctx"])]
            case "faults":
                return [Fault((*path, *inner), **why) for inner, why in detail["ctx"]["inner"]]
            case "missing":
                return [Fault(path, "nothing", f"the key {quote(str(path[-1]))}", "add it")]
            case "extra_forbidden" | "unexpected_keyword_argument":
                known = _keys_of(model)
                advice = nearest(str(path[-1]), known) or "remove it"
                return [Fault(path, "an unknown key", "one of " + ", ".join(known), advice)]
            case kind:
                needed = _SHAPES.get(kind, "a value of another kind")
                return [Fault(path, describe(detail["input"]), needed, self.hint)]

    def table(self, key: str, check: Amount, axes: Axes | None, read_file: TableFileReader | None) -> Table | None:
        """Read a table: by name, as a matrix, or from a file; `None` if it or its lists have faults."""
        self.tables.add(key)
        raw = self.raw.get(key)
        if raw is None:
            self.faults.append(Fault((key,), "nothing", f"a table of {key}", "add it"))
            return None
        if axes is None:
            return None  # the lists' own faults are told; without names a table says nothing
        file = table_file(raw)
        if file is None:
            table, faults = read_table(raw, key, check, axes)
            self.faults += faults
            return table
        if read_file is None:
            do = f"read the {name_of(self.format)} from a file"
            self.faults.append(Fault((key, "file"), describe(file), "the table itself", do))
            return None
        try:
            return read_file(file, key, check, axes)
        except InstanceError as error:
            self.faults += error.faults
            return None

    def error(self, source: str, lists: tuple[str, str]) -> InstanceError:
        """Return the error with all faults, in file order and by the names that the file uses."""
        written = [
            _as_written(fault, self.raw, lists) if fault.path[:1] and fault.path[0] in self.tables else fault
            for fault in self.faults
        ]
        return InstanceError(source, in_file_order(written, self.raw))


def _as_written(fault: Fault, raw: Mapping[str, Any], lists: tuple[str, str]) -> Fault:
    """Give a fault that a rule found in a table the path that the file uses: names instead of numbers."""
    table = raw.get(str(fault.path[0])) if fault.path else None
    if not isinstance(table, Mapping) or not any(isinstance(step, int) for step in fault.path[1:2]):
        return fault
    names = [raw[key][step]["name"] for key, step in zip(lists, fault.path[1:], strict=False)]
    return replace(fault, path=(fault.path[0], *names, *fault.path[1 + len(names) :]), file=table_file(table))


_ADAPTERS: Final[dict[type, TypeAdapter[Any]]] = {}


def _validated(value: object, model: type[Part]) -> Part:
    if model not in _ADAPTERS:
        _ADAPTERS[model] = TypeAdapter(model)
    part: Part = _ADAPTERS[model].validate_python(value)
    return part


def _keys_of(model: type) -> list[str]:
    if issubclass(model, BaseModel):
        return list(model.model_fields)
    return list(model.__dataclass_fields__)  # type: ignore[attr-defined]  # all other parts are dataclasses


def _outline(model: type[Part], entry: object, stand_in: Mapping[str, object]) -> Part | None:
    """Return what can be used of a faulty entry; where its name or its P-states are faulty, nothing."""
    if not isinstance(entry, Mapping):
        return None
    known = set(_keys_of(model))
    usable = dict(stand_in) | {key: entry[key] for key in entry if key in known}
    try:
        _validated(usable, model)
    except ValidationError as error:
        for key in {str(detail["loc"][0]) for detail in error.errors(include_url=False) if detail["loc"]}:
            if key in _NEEDED:
                return None
            usable.pop(key, None)
        usable = dict(stand_in) | usable
    try:
        return _validated(usable, model)
    except ValidationError:
        return None


# Rules that all kinds of instances share: names, tables, repeats.
DOUBLE_BYTES: Final = 8


def unnamed(name: object) -> Iterator[Fault]:
    """Return the fault of what is no name for an instance."""
    try:
        check_name(name)
    except PydanticCustomError as refused:
        yield Fault(("name",), **(refused.context or {}))


def unsound(key: str, table: Table | None, shape: tuple[int, int], names: str, check: Check) -> Iterator[Fault]:
    """Return the faults of a table: its shape, and its cells if no reader has checked them."""
    if table is None:
        return
    if (table.rows, table.columns) != shape or len(table.packed) != DOUBLE_BYTES * shape[0] * shape[1]:
        found, needed = f"a table of {table.rows} x {table.columns}", f"{shape[0]} x {shape[1]}, {names}"
        yield Fault((key,), found, needed, "mend its shape")
        return
    for flat, cell in enumerate(table.cells.tolist() if table.checked_as != key else ()):
        try:
            if cell == cell:  # noqa: PLR0124 - not NaN
                check(cell)
        except PydanticCustomError as refused:
            yield Fault((key, *divmod(flat, shape[1])), **(refused.context or {}))
