"""The door: data as it stands in a file becomes a bag, or a list of everything that is wrong with it.

Every part is checked by itself first; then the rules between parts, as far as their parts are sound.
Faults come in file order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, Place
from lpsched.instance.bag import FORMAT, Bag
from lpsched.instance.fields import (
    check_count,
    check_name,
    check_seconds,
    check_watts,
    describe,
    nearest,
    quote,
)
from lpsched.instance.parts import MachineType, Prices, Site, TaskType
from lpsched.instance.rules import Parts, broken_rules
from lpsched.instance.table import MOST_ADVISED, Check, Table, read_table

TableFileReader = Callable[[str, str, Sequence[TaskType], Sequence[MachineType]], Table]
Part = TypeVar("Part")
Type = TypeVar("Type", MachineType, TaskType)

KEYS: Final = ("format", "name", "machine_types", "task_types", "seconds", "watts", "prices", "site")
MODELS: Final[dict[str, type[BaseModel]]] = {
    "machine_types": MachineType,
    "task_types": TaskType,
    "prices": Prices,
    "site": Site,
}
_SHAPES: Final = {"list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping"}
_MACHINES: Final = TypeAdapter(list[MachineType])
_TASKS: Final = TypeAdapter(list[TaskType])
_PRICES: Final = TypeAdapter(Prices)
_SITE: Final = TypeAdapter(Site)


def bag_from_dict(raw: object, *, source: str = "bag", read_file: TableFileReader | None = None) -> Bag:
    """Make a bag of a mapping with the keys of a bag file.

    Parameters
    ----------
    raw
        The mapping; tables by name or as lists of rows.
    source
        What the error's headline calls it.
    read_file
        Reads a table given as ``{file: NAME}``: called with the name, the table's key, and the task and
        machine types. Without it such a table is refused.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in the order of `raw`.

    Examples
    --------
    >>> bag_from_dict({"format": "lpsched-bag/1", "name": "b", "machine_types": [{"name": "cpu", "count": 2}],
    ...     "task_types": [{"name": "zip", "count": 9}], "seconds": {"zip": {"cpu": 1.5}}}).seconds[0, 0]
    1.5
    """
    if not isinstance(raw, Mapping):
        needed = f"a mapping that begins with 'format: {FORMAT}'"
        raise InstanceError(source, (Fault((), describe(raw), needed, "see 'lpsched new bag'"),))
    _refuse_other_formats(raw, source)
    faults = _unknown_keys(raw)
    name = _name(raw, faults)
    machines = _part(raw, "machine_types", _MACHINES, faults)
    tasks = _part(raw, "task_types", _TASKS, faults)
    prices = _part(raw, "prices", _PRICES, faults, default=Prices())
    site = _part(raw, "site", _SITE, faults, default=Site())
    if machines is None:
        machines = _outline(MachineType, raw.get("machine_types"))
    if tasks is None:
        tasks = _outline(TaskType, raw.get("task_types"))
    tables = _Tables(raw, read_file, faults, machines=machines, tasks=tasks)
    seconds = tables.read("seconds", check_seconds)
    watts = tables.read("watts", check_watts) if raw.get("watts") is not None else None
    parts = Parts(_frozen(machines), _frozen(tasks), seconds, watts, prices, site)
    if faults:
        faults += broken_rules(parts)
    else:
        try:
            return Bag.of(name, parts)
        except InstanceError as error:
            faults += error.faults
    raise InstanceError(source, in_file_order([_as_written(fault, raw) for fault in faults], raw))


def in_file_order(faults: Sequence[Fault], raw: object) -> tuple[Fault, ...]:
    """Sort faults by where their paths stand in `raw`; a missing key comes after its siblings."""
    return tuple(sorted(dict.fromkeys(faults), key=lambda fault: _position(fault.path, raw)))


def _position(path: Place, raw: object) -> tuple[int, ...]:
    position = []
    for step in path:
        if isinstance(raw, Mapping):
            keys = list(raw)
            position.append(keys.index(step) if step in raw else len(keys))
            raw = raw.get(step)
        else:
            position.append(step if isinstance(step, int) else 0)
            inside = isinstance(raw, Sequence) and isinstance(step, int) and step < len(raw)
            raw = raw[step] if inside else None  # type: ignore[index]
    return tuple(position)


def _frozen(types: list[Part] | None) -> tuple[Part, ...] | None:
    return None if types is None else tuple(types)


def _refuse_other_formats(raw: Mapping[str, object], source: str) -> None:
    """Stop at a format that this version cannot know; its other faults would mean nothing."""
    found = raw.get("format")
    if not isinstance(found, str) or found == FORMAT:
        return
    kind, _, version = found.partition("/")
    newer = kind == FORMAT.partition("/")[0] and version.isascii() and version.isdigit()
    do = "install a newer lpsched" if newer else "bring a file of this kind"
    raise InstanceError(source, (Fault(("format",), describe(found), f"'{FORMAT}'", do),))


def _unknown_keys(raw: Mapping[str, object]) -> list[Fault]:
    faults = []
    if not isinstance(raw.get("format"), str):
        found = describe(raw["format"]) if "format" in raw else "no format"
        faults.append(Fault(("format",), found, f"'format: {FORMAT}'", "write it as the first key"))
    for key in islice((key for key in raw if key not in KEYS), MOST_FAULTS):
        advice = nearest(str(key), KEYS) if len(faults) < MOST_ADVISED else ""
        needed = "one of " + ", ".join(KEYS)
        faults.append(Fault((str(key),), "an unknown key", needed, advice or "remove it"))
    return faults


def _name(raw: Mapping[str, object], faults: list[Fault]) -> str:
    try:
        return check_name(raw.get("name"))
    except PydanticCustomError as refused:
        why: Mapping[str, str] = refused.context or {}
        faults.append(Fault(("name",), why["found"], why["needed"], why["do"]))
        return ""


def _part(
    raw: Mapping[str, object],
    key: str,
    adapter: TypeAdapter[Part],
    faults: list[Fault],
    *,
    default: Part | None = None,
) -> Part | None:
    value = raw.get(key)
    if value is None and default is not None:
        return default
    if value is None:
        faults.append(Fault((key,), "nothing", f"a list of {key.replace('_', ' ')}", "add it"))
        return None
    try:
        return adapter.validate_python(list(value) if isinstance(value, tuple) else value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        faults += [_fault_of(key, detail) for detail in details[:MOST_FAULTS]]
        return None


def _fault_of(key: str, detail: ErrorDetails) -> Fault:
    """Turn what Pydantic found into a fault; the one place where that happens."""
    path: Place = (key, *detail["loc"])
    match detail["type"]:
        case "fault":
            why = detail["ctx"]
            return Fault(path, why["found"], why["needed"], why["do"])
        case "missing":
            return Fault(path, "nothing", f"the key {quote(str(path[-1]))}", "add it")
        case "extra_forbidden":
            known = list(MODELS[key].model_fields)
            advice = nearest(str(path[-1]), known) or "remove it"
            return Fault(path, "an unknown key", "one of " + ", ".join(known), advice)
        case kind:
            return Fault(
                path, describe(detail["input"]), _SHAPES.get(kind, detail["msg"]), "see 'lpsched schema bag'"
            )


class _Tables:
    """Reads the tables against the lists of types."""

    def __init__(
        self,
        raw: Mapping[str, object],
        read_file: TableFileReader | None,
        faults: list[Fault],
        *,
        machines: Sequence[MachineType] | None,
        tasks: Sequence[TaskType] | None,
    ) -> None:
        self.raw = raw
        self.read_file = read_file
        self.faults = faults
        self.machines = machines
        self.tasks = tasks

    def read(self, key: str, check: Check) -> Table | None:
        raw = self.raw.get(key)
        if raw is None:
            self.faults.append(Fault((key,), "nothing", "a table of seconds", "add it"))
            return None
        if self.machines is None or self.tasks is None:
            return None  # the lists' own faults are told; without names a table says nothing
        file = table_file(raw)
        if file is None:
            table, faults = read_table(raw, key, check, self.tasks, self.machines)
            self.faults += faults
            return table
        if self.read_file is None:
            self.faults.append(
                Fault((key, "file"), describe(file), "the table itself", "read the bag from a file")
            )
            return None
        try:
            return self.read_file(file, key, self.tasks, self.machines)
        except InstanceError as error:
            self.faults += error.faults
            return None


def table_file(raw: object) -> str | None:
    """Return the file that a table is in, if it is given as ``{file: NAME}``."""
    if isinstance(raw, Mapping) and len(raw) == 1 and isinstance(raw.get("file"), str):
        return str(raw["file"])
    return None


def _outline(model: type[Type], raw: object) -> list[Type] | None:
    """Return types with the names, counts and P-states of a faulty list, if the names at least can be read.

    With them the tables and the rules can still be checked, so that all faults are told at once.
    """
    if not isinstance(raw, list | tuple) or not all(isinstance(each, Mapping) for each in raw):
        return None
    try:
        return [model.model_validate({"count": _count(each)} | _sound(each)) for each in raw]
    except ValidationError:
        return None


def _count(each: Mapping[str, object]) -> int:
    try:
        return check_count(each.get("count"))
    except PydanticCustomError:
        return 1


def _sound(each: Mapping[str, object]) -> dict[str, object]:
    return {key: each[key] for key in ("name", "p_states") if key in each}


def _as_written(fault: Fault, raw: Mapping[str, Any]) -> Fault:
    """Give a fault that a rule found in a table the path that the file uses: names instead of numbers."""
    table = raw.get(str(fault.path[0])) if fault.path else None
    if len(fault.path) < 2 or not isinstance(fault.path[1], int) or not isinstance(table, Mapping):  # noqa: PLR2004
        return fault
    lists = ("task_types", "machine_types")
    names = [raw[key][step]["name"] for key, step in zip(lists, fault.path[1:], strict=False)]
    return replace(fault, path=(fault.path[0], *names, *fault.path[1 + len(names) :]), file=table_file(table))
