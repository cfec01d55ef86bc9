"""The door: data as it stands in a file becomes a bag, or a list of everything that is wrong with it.

Every part is checked by itself first; then the rules between parts, as far as their parts are sound.
Faults come in file order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, Place
from lpsched.instance.bag import FORMAT, Bag
from lpsched.instance.fields import (
    check_seconds,
    check_watts,
    describe,
    nearest,
    quote,
)
from lpsched.instance.parts import MachineType, Prices, Site, TaskType
from lpsched.instance.rules import Parts, broken_rules
from lpsched.instance.table import MOST_ADVISED, Check, Table, read_table

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

TableFileReader = Callable[[str, str, Sequence[TaskType], Sequence[MachineType]], Table]
Model = TypeVar("Model", bound=BaseModel)
Type = TypeVar("Type", MachineType, TaskType)

KEYS: Final = ("format", "name", "machine_types", "task_types", "seconds", "watts", "prices", "site")
MODELS: Final[dict[str, type[BaseModel]]] = {
    "machine_types": MachineType,
    "task_types": TaskType,
    "prices": Prices,
    "site": Site,
}
MOST_KEYS: Final = 100  # of a machine type, a task type, prices or site
_SHAPES: Final = {"list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping"}


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
    faults = _faults_of_format_and_keys(raw)
    machines = _types(raw, "machine_types", MachineType, faults)
    tasks = _types(raw, "task_types", TaskType, faults)
    prices = _section(raw, "prices", Prices, faults)
    site = _section(raw, "site", Site, faults)
    tables = _Tables(raw, read_file, faults, machines=machines, tasks=tasks)
    seconds = tables.read("seconds", check_seconds)
    watts = tables.read("watts", check_watts) if raw.get("watts") is not None else None
    parts = Parts(raw.get("name"), machines, tasks, seconds, watts, prices, site)
    if faults:
        faults += broken_rules(parts)
    else:
        try:
            return Bag.of(parts)
        except InstanceError as error:
            faults += error.faults
    raise InstanceError(source, in_file_order([_as_written(fault, raw) for fault in faults], raw))


def in_file_order(faults: Sequence[Fault], raw: object) -> tuple[Fault, ...]:
    """Sort faults by where their paths stand in `raw`; a missing key comes after its siblings."""
    orders: dict[int, dict[str, int]] = {}  # of each mapping on the way, the position of its keys

    def position(fault: Fault) -> tuple[int, ...]:
        here, steps = raw, []
        for step in fault.path:
            if isinstance(here, Mapping):
                order = orders.setdefault(id(here), {})
                if not order:
                    order.update({key: index for index, key in enumerate(here)})
                steps.append(order.get(str(step), len(order)))
                here = here.get(step)
            else:
                steps.append(step if isinstance(step, int) else 0)
                inside = isinstance(here, list | tuple) and isinstance(step, int) and step < len(here)
                here = here[step] if inside else None  # type: ignore[index]
        return tuple(steps)

    return tuple(sorted(dict.fromkeys(faults), key=position))


def _refuse_other_formats(raw: Mapping[str, object], source: str) -> None:
    """Stop at a format that this version cannot know; its other faults would mean nothing."""
    found = raw.get("format")
    if not isinstance(found, str) or found == FORMAT:
        return
    kind, _, version = found.partition("/")
    ours, _, present = FORMAT.partition("/")
    newer = kind == ours and version.isascii() and version.isdigit() and version > present
    do = "install a newer lpsched" if newer else "bring a file of this kind"
    raise InstanceError(source, (Fault(("format",), describe(found), f"'{FORMAT}'", do),))


def _faults_of_format_and_keys(raw: Mapping[str, object]) -> list[Fault]:
    faults = []
    if not isinstance(raw.get("format"), str):
        found = describe(raw["format"]) if "format" in raw else "no format"
        faults.append(Fault(("format",), found, f"'format: {FORMAT}'", "write it as the first key"))
    for key in islice((key for key in raw if key not in KEYS), MOST_FAULTS):
        advice = nearest(str(key), KEYS) if len(faults) < MOST_ADVISED else ""
        needed = "one of " + ", ".join(KEYS)
        faults.append(Fault((str(key),), "an unknown key", needed, advice or "remove it"))
    return faults


def _section(raw: Mapping[str, object], key: str, model: type[Model], faults: list[Fault]) -> Model | None:
    """Read an optional section; a missing one is the default."""
    value = raw.get(key)
    return _model({} if value is None else value, model, (key,), faults)


def _types(
    raw: Mapping[str, object], key: str, model: type[Type], faults: list[Fault]
) -> tuple[Type, ...] | None:
    """Read a list of types, entry by entry: a list of junk then costs no more than its first faults.

    Where an entry is faulty but its name at least can be read, the outline that remains still serves to
    check the tables and the rules, so that all faults are told at once. Else the answer is `None`.
    """
    value = raw.get(key)
    if not isinstance(value, list | tuple):
        found = "nothing" if value is None else describe(value)
        needed = f"a list of {key.replace('_', ' ')}"
        faults.append(Fault((key,), found, needed, "see 'lpsched schema bag'"))
        return None
    types: list[Type] = []
    own: list[Fault] = []
    for index, entry in enumerate(value):
        each = _model(entry, model, (key, index), own) or _outline(model, entry)
        types += [each] if each is not None else []
        if len(own) >= MOST_FAULTS:
            break
    faults += own[:MOST_FAULTS]
    return tuple(types) if len(types) == len(value) else None


def _model(value: object, model: type[Model], place: Place, faults: list[Fault]) -> Model | None:
    if isinstance(value, model):
        return value
    if isinstance(value, Mapping) and len(value) > MOST_KEYS:
        faults.append(Fault(place, describe(value), f"at most {MOST_KEYS} keys", "see 'lpsched schema bag'"))
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            faults += _faults_of(detail, model, place)
        return None


def _faults_of(detail: ErrorDetails, model: type[BaseModel], place: Place) -> list[Fault]:
    """Turn what Pydantic found into faults; the one place where that happens."""
    path: Place = (*place, *detail["loc"])
    match detail["type"]:
        case "fault":
            return [Fault(path, **detail["ctx"])]
        case "faults":
            return [Fault((*path, *inner), **why) for inner, why in detail["ctx"]["inner"]]
        case "missing":
            return [Fault(path, "nothing", f"the key {quote(str(path[-1]))}", "add it")]
        case "extra_forbidden":
            known = list(model.model_fields)
            advice = nearest(str(path[-1]), known) or "remove it"
            return [Fault(path, "an unknown key", "one of " + ", ".join(known), advice)]
        case kind:
            needed = _SHAPES.get(kind, "a value of another kind")
            return [Fault(path, describe(detail["input"]), needed, "see 'lpsched schema bag'")]


def _outline(model: type[Type], entry: object) -> Type | None:
    """Return what can be used of a faulty entry: its name and P-states, and its count if that is sound."""
    if not isinstance(entry, Mapping):
        return None
    usable = {key: entry[key] for key in ("name", "p_states") if key in entry}
    for count in (entry.get("count"), 1):
        try:
            return model.model_validate(usable | {"count": count})
        except ValidationError:
            continue
    return None


class _Tables:
    """Reads the tables against the lists of types."""

    def __init__(
        self,
        raw: Mapping[str, object],
        read_file: TableFileReader | None,
        faults: list[Fault],
        *,
        machines: tuple[MachineType, ...] | None,
        tasks: tuple[TaskType, ...] | None,
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


def _as_written(fault: Fault, raw: Mapping[str, Any]) -> Fault:
    """Give a fault that a rule found in a table the path that the file uses: names instead of numbers."""
    table = raw.get(str(fault.path[0])) if fault.path else None
    if len(fault.path) < 2 or not isinstance(fault.path[1], int) or not isinstance(table, Mapping):  # noqa: PLR2004
        return fault
    lists = ("task_types", "machine_types")
    names = [raw[key][step]["name"] for key, step in zip(lists, fault.path[1:], strict=False)]
    return replace(fault, path=(fault.path[0], *names, *fault.path[1 + len(names) :]), file=table_file(table))
