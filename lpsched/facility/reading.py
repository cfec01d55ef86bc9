"""From a mapping, as files hold it, to a facility; and the JSON Schema of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter
from pydantic_core import PydanticCustomError

from lpsched.errors import LONGEST_NAME, MOST_FAULTS, Fault, InstanceError, Place, nearest, quote
from lpsched.facility.model import FORMAT, PLAIN_AIR, Facility
from lpsched.facility.parts import (
    LEAST,
    MIXING_KEYS,
    MOST,
    Air,
    ArrivingType,
    CracUnit,
    Mixing,
    MixingForm,
    NodeType,
    check_cap,
    check_degradation,
    check_facility_watts,
    check_speed,
)
from lpsched.facility.parts import MIXING_KEYS as FORMS
from lpsched.facility.rules import (
    LONGEST_DESCRIPTION,
    MOST_CLASSES,
    MOST_NODE_TYPES,
    MOST_NODES,
    MOST_TASK_TYPES,
    MOST_UNITS,
    FacilityParts,
    broken_rules,
)
from lpsched.model.base import too_many
from lpsched.model.fields import Amount, check_count, check_name, describe, numbered
from lpsched.model.reading import Reading
from lpsched.model.table import Axes, SparseMatrix, in_a_file, table_file, table_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.model.reading import TableFileReader
    from lpsched.model.table import Table


# Lists whose entries may stand for several things: the nodes and the CRAC units of a facility file.

# what stands in for a faulty value, so that the rest can be looked at; nothing is refused because of it
UNIT: Final = {"airflow_m3_per_second": 1.0, "outlet_celsius": (20.0, 20.0), "cop": (1.0,)}


def read_nodes(reading: Reading, kinds: tuple[NodeType, ...] | None) -> tuple[int, ...] | None:
    """Read the type of each node: names, or ``{type: NAME, count: N}`` for N in a row."""
    value = reading.raw.get("nodes")
    if not isinstance(value, list | tuple):
        found = "nothing" if value is None else describe(value)
        needed = "a list of node types' names, in the order of the mixing matrix"
        reading.faults.append(Fault(("nodes",), found, needed, reading.hint))
        return None
    number = {kind.name: j for j, kind in enumerate(kinds or ())}
    nodes: list[int] = []
    faults: list[Fault] = []
    for index, entry in enumerate(value):
        name, count = entry, 1
        if isinstance(entry, Mapping) and set(entry) <= {"type", "count"} and "type" in entry:
            name = entry["type"]
            try:
                count = check_count(entry.get("count", 1))
            except PydanticCustomError as refused:
                faults.append(Fault(("nodes", index, "count"), **(refused.context or {})))
        if not isinstance(name, str):
            needed = "the name of a node type, or {type: NAME, count: NUMBER}"
            faults.append(Fault(("nodes", index), describe(entry), needed, reading.hint))
        elif kinds is not None and name not in number:
            advice = nearest(name, number) or "correct it, or add the type"
            faults.append(Fault(("nodes", index), quote(name), "a node type of the file's list", advice))
        elif len(nodes) + count > MOST_NODES:
            faults.append(too_many(("nodes",), len(nodes) + count, MOST_NODES))
            break
        else:
            nodes += [number.get(name, 0)] * count
        if len(faults) >= MOST_FAULTS:
            break
    reading.faults += faults
    return None if faults or kinds is None else tuple(nodes)


def read_units(reading: Reading) -> tuple[tuple[CracUnit, ...] | None, list[int]]:
    """Read the CRAC units, and which entry each one is of.

    An entry with ``count: N`` is N units, named NAME-1 to NAME-N.
    """
    value = reading.raw.get("crac_units")
    if not isinstance(value, list | tuple):
        return reading.entries("crac_units", CracUnit, UNIT), []
    before = len(reading.faults)
    counts = _unit_counts(reading, value)
    total = sum(1 if count is None else count for count in counts)
    if total > MOST_UNITS:
        reading.faults.append(too_many(("crac_units",), total, MOST_UNITS))
        return None, []
    miscounted = len(reading.faults) > before
    plain = [
        {key: entry[key] for key in entry if key != "count"} if isinstance(entry, Mapping) else entry for entry in value
    ]
    sub = replace(reading, raw={"crac_units": plain})  # its list of faults is the same one
    units = sub.entries("crac_units", CracUnit, UNIT)
    if units is None or miscounted:
        return None, []
    expanded: list[CracUnit] = []
    entry_of: list[int] = []
    for index, (unit, count) in enumerate(zip(units, counts, strict=True)):
        names = [unit.name] if count is None else numbered(unit.name, count)
        expanded += [replace(unit, name=name) for name in names]
        entry_of += [index] * len(names)
    return tuple(expanded), entry_of


def _unit_counts(reading: Reading, entries: Sequence[object]) -> list[int | None]:
    """Return how many units each entry is, `None` where it does not say."""
    counts: list[int | None] = []
    for index, entry in enumerate(entries):
        counts.append(None)
        if not isinstance(entry, Mapping) or "count" not in entry:
            continue
        try:
            count = check_count(entry["count"])
        except PydanticCustomError as refused:
            reading.faults.append(Fault(("crac_units", index, "count"), **(refused.context or {})))
            continue
        if count > MOST_UNITS:
            reading.faults.append(too_many(("crac_units", index, "count"), count, MOST_UNITS))
        else:
            counts[-1] = count
    return counts


# The door of mixing matrices: one of three forms, as a list of rows or in a file of its own.
MatrixFileReader = Callable[[str, Place, Amount, int], SparseMatrix]  # file, place, check of an entry, rows

CHECKS: Final[dict[MixingForm, Amount]] = {
    "inlet_mix": Amount("a share", most=1.0),
    "alpha": Amount("a share", most=1.0),
    "recirculation": Amount("kelvin per watt", most=1e6),
}


def read_mixing(
    reading: Reading,
    nodes: tuple[int, ...] | None,
    units: tuple[CracUnit, ...] | None,
    read_file: MatrixFileReader | None,
) -> Mixing | None:
    """Read the matrix: exactly one of the three forms, inside or in a file."""
    value = reading.raw.get("mixing")
    forms = ", ".join(MIXING_KEYS.values())
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in MIXING_KEYS.values():
        found = "nothing" if value is None else describe(value)
        if isinstance(value, Mapping) and value:
            found = "the keys " + ", ".join(quote(str(key)) for key in list(value)[:9])
        reading.faults.append(Fault(("mixing",), found, f"exactly one of {forms}", reading.hint))
        return None
    if not nodes or not units:
        return None  # their own faults are told
    form = next(each for each, key in MIXING_KEYS.items() if key in value)
    path, given = ("mixing", MIXING_KEYS[form]), value[MIXING_KEYS[form]]
    size = len(nodes) + (len(units) if form != "recirculation" else 0)
    file = table_file(given)
    if file is not None and read_file is None:
        do = "read the facility from a file"
        reading.faults.append(Fault((*path, "file"), describe(file), "the matrix itself", do))
        return None
    try:
        if file is None or read_file is None:
            matrix = _matrix(given, path, CHECKS[form], size)
        else:
            matrix = read_file(file, path, CHECKS[form], size)
    except InstanceError as error:
        reading.faults += error.faults
        return None
    return Mixing(form, matrix)


def _matrix(raw: object, path: Place, check: Amount, size: int) -> SparseMatrix:
    """Read a matrix given as a list of rows."""
    if not isinstance(raw, list | tuple) or len(raw) != size:
        needed = f"a matrix of {size} rows, one for each place, or {{file: NAME}}"
        raise InstanceError("mixing", (Fault(path, describe(raw), needed, "see 'lpsched schema facility'"),))
    faults: list[Fault] = []
    rows: list[list[tuple[int, float]]] = []
    for v, row in enumerate(raw):
        if len(faults) >= MOST_FAULTS:
            break
        if not isinstance(row, list | tuple) or len(row) != size:
            faults.append(Fault((*path, v), describe(row), f"a list of {size}", "write 0 for none"))
            continue
        rows.append([])
        for u, cell in enumerate(row):
            try:
                rows[-1].append((u, check(cell)))
            except PydanticCustomError as refused:
                faults.append(Fault((*path, v, u), **(refused.context or {})))
    if faults:
        raise InstanceError("mixing", tuple(faults[:MOST_FAULTS]))
    return SparseMatrix.of(rows, size)


# The door of facilities: data as it stands in a file becomes a facility, or a list of all its faults.
#
# Every part is checked by itself first; then the rules between parts, as far as their parts are sound; the
# air and the heat last, when everything else is sound. Faults come in file order.
KEYS: Final = (
    "format",
    "name",
    "description",
    "node_types",
    "nodes",
    "crac_units",
    "task_types",
    "speeds",
    "watts",
    "memory_classes",
    "degradation",
    "mixing",
    "power_cap_watts",
    "air",
)
KIND: Final = "facility"
# what stands in for a faulty value, so that the rest can be looked at; nothing is refused because of it
NODE_TYPE: Final = {
    "cores": 1, "overhead_watts": 0.0, "airflow_m3_per_second": 1.0, "redline_celsius": 25.0
}  # fmt: skip
TASK_TYPE: Final = {"arrivals_per_second": 1.0, "reward": 1.0}


@dataclass(frozen=True, slots=True)
class _Class:
    """A memory class as a row and a column of the degradation table."""

    name: str
    p_states: None = None
    modes: int = 1

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)


def facility_from_dict(
    raw: object,
    *,
    source: str = KIND,
    read_table_file: TableFileReader | None = None,
    read_matrix_file: MatrixFileReader | None = None,
) -> Facility:
    """Make a facility of a mapping with the keys of a facility file.

    Parameters
    ----------
    raw
        The mapping.
    source
        What the error's headline calls it.
    read_table_file, read_matrix_file
        Read a table or a matrix given as ``{file: NAME}``. Without them such a one is refused.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in the order of `raw`.
    """
    reading = Reading.begin(raw, FORMAT, KEYS, source)
    kinds = reading.entries("node_types", NodeType, NODE_TYPE, MOST_NODE_TYPES)
    tasks = reading.entries("task_types", ArrivingType, TASK_TYPE, MOST_TASK_TYPES)
    nodes = read_nodes(reading, kinds)
    units, entry_of = read_units(reading)
    axes = Axes(tasks, kinds, KIND, column_kind="node type") if tasks is not None and kinds is not None else None
    classes, degradation = _degradation(reading, tasks, read_table_file)
    parts = FacilityParts(
        name=reading.raw.get("name"),
        node_types=kinds,
        nodes=nodes,
        crac_units=units,
        task_types=tasks,
        speeds=reading.table("speeds", check_speed, axes, read_table_file),
        watts=reading.table("watts", check_facility_watts, axes, read_table_file),
        mixing=read_mixing(reading, nodes, units, read_matrix_file),
        power_cap_watts=_cap(reading),
        classes=classes,
        degradation=degradation,
        air=reading.section("air", Air),
        description=reading.raw.get("description", ""),
    )
    if reading.faults or parts.mixing is None:  # an empty list is for the rules to tell
        told = broken_rules(parts)
    else:
        try:
            return facility_of(parts)
        except InstanceError as error:
            told = error.faults
    reading.faults += [_as_given(fault, reading.raw, entry_of, parts.classes) for fault in told]
    raise reading.error(source, ("task_types", "node_types"))


def facility_of(parts: FacilityParts) -> Facility:
    """Make a facility of parts that are all there."""
    given = {each: getattr(parts, each) for each in FacilityParts.__dataclass_fields__}
    assert all(given[key] is not None for key in given if key not in {"name", "degradation", "air"})
    return Facility(**given | {"air": parts.air or PLAIN_AIR})


def _cap(reading: Reading) -> float | None:
    value = reading.raw.get("power_cap_watts")
    if value is None:
        do = "add it; a large number where there is none"
        reading.faults.append(Fault(("power_cap_watts",), "nothing", "the most watts, cooling included", do))
        return None
    try:
        return check_cap(value)
    except PydanticCustomError as refused:
        reading.faults.append(Fault(("power_cap_watts",), **(refused.context or {})))
        return None


def _classes(reading: Reading, tasks: tuple[ArrivingType, ...] | None) -> tuple[str, ...] | None:
    """Return the classes of the degradation table: as listed, else its own names, else the task types."""
    names, table = reading.raw.get("memory_classes"), reading.raw.get("degradation")
    key = "memory_classes"
    if names is None and table is None:
        return ()
    if names is None and isinstance(table, Mapping) and table_file(table) is None:
        names, key = list(table), "degradation"
    if names is None and tasks is not None and any(task.memory_class is not None for task in tasks):
        needed, do = "the classes in the order of degradation", "add it, or name the rows and columns"
        reading.faults.append(Fault((key,), "nothing", needed, do))
        return None
    if names is None and tasks is None:
        return None
    names = [task.name for task in tasks or ()] if names is None else names
    if not isinstance(names, list | tuple):
        needed = "a list of names, in the order of degradation"
        reading.faults.append(Fault((key,), describe(names), needed, reading.hint))
        return None
    if len(names) > MOST_CLASSES:
        reading.faults.append(too_many((key,), len(names), MOST_CLASSES))
        return None
    faults = []
    for index, name in enumerate(names):
        try:
            check_name(name)
        except PydanticCustomError as refused:
            faults.append(Fault((key, index) if key == "memory_classes" else (key,), **(refused.context or {})))
    reading.faults += faults
    return None if faults else tuple(names)


def _degradation(
    reading: Reading, tasks: tuple[ArrivingType, ...] | None, read_file: TableFileReader | None
) -> tuple[tuple[str, ...] | None, Table | None]:
    """Read the classes and the table between them; no classes where either has faults."""
    raw = reading.raw.get("degradation")
    if raw is not None and not isinstance(raw, list | tuple | Mapping):
        needed = "a table: by name, as a list of rows, or as {file: NAME}"
        reading.faults.append(Fault(("degradation",), describe(raw), needed, reading.hint))
        return None, None
    classes = _classes(reading, tasks)
    if raw is None or classes is None:
        return classes, None
    own = [_Class(name) for name in classes]
    advice = "write 0 for none"
    axes = Axes(own, own, KIND, "class", "class", absent_cell=advice, absent_in_row=advice)
    table = reading.table("degradation", check_degradation, axes, read_file)
    return (classes, table) if table is not None else (None, None)


def _as_given(fault: Fault, raw: Mapping[str, Any], entry_of: list[int], classes: tuple[str, ...] | None) -> Fault:
    """Give a fault that a rule found the path that the file uses: entries before repetition, and names."""
    key, *rest = fault.path or ("",)
    if key == "crac_units" and rest and isinstance(rest[0], int):
        return replace(fault, path=(key, entry_of[rest[0]], *rest[1:]))
    if key == "degradation" and isinstance(raw.get(key), Mapping) and classes:
        names = [classes[step] if isinstance(step, int) else step for step in rest]
        return replace(fault, path=(key, *names), file=fault.file or table_file(raw[key]))
    return fault


# The JSON Schema of a facility file, put together from the parts that check one.
NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
MODELS: Final = {"node_types": NodeType, "crac_units": CracUnit, "task_types": ArrivingType, "air": Air}


def facility_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every facility file satisfies.

    What ties the parts together (names that match, shapes, conserved air) is beyond JSON Schema; reading the
    file checks that too.
    """
    parts = {key: TypeAdapter(model).json_schema() for key, model in MODELS.items()}
    parts["crac_units"]["properties"]["count"] = {"type": "integer", "minimum": 1, "maximum": MOST_UNITS}
    properties = {
        "format": {"const": FORMAT},
        "name": NAME,
        "description": {"type": "string", "maxLength": LONGEST_DESCRIPTION},
        "node_types": _list_of("node_types"),
        "nodes": _nodes(),
        "crac_units": _list_of("crac_units"),
        "task_types": _list_of("task_types"),
        "speeds": table_schema({"type": "number", "minimum": LEAST, "maximum": MOST}, "node type"),
        "watts": table_schema({"type": "number", "minimum": 0, "maximum": MOST}, "node type"),
        "memory_classes": {"anyOf": [{"type": "array", "items": NAME}, {"type": "null"}]},
        "degradation": {"anyOf": [_degradation_schema(), {"type": "null"}]},
        "mixing": _mixing(),
        "power_cap_watts": {"type": "number", "minimum": LEAST, "maximum": MOST},
        "air": {"anyOf": [{"$ref": "#/$defs/air"}, {"type": "null"}]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched facility",
        "type": "object",
        "additionalProperties": False,
        "required": [key for key in KEYS if key not in {"description", "memory_classes", "degradation", "air"}],
        "properties": {key: properties[key] for key in KEYS},
        "$defs": parts,
    }


def _list_of(key: str) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": {"$ref": f"#/$defs/{key}"}}


def _nodes() -> dict[str, Any]:
    run = {
        "description": "as many of one type in a row",
        "type": "object",
        "required": ["type"],
        "additionalProperties": False,
        "properties": {"type": NAME, "count": {"type": "integer", "minimum": 1, "maximum": MOST_NODES}},
    }
    return {
        "description": "the node types' names, in the order of the mixing matrix",
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [NAME, run]},
    }


def _degradation_schema() -> dict[str, Any]:
    cell = {"type": "number", "minimum": 0}
    row = {"type": "object", "additionalProperties": cell}
    return {
        "description": "how much longer a task of one class takes for each other core that runs another",
        "anyOf": [
            {"type": "object", "additionalProperties": row},
            {"type": "array", "items": {"type": "array", "items": cell}},
            in_a_file("in a file of its own: .csv, .npz or .parquet"),
        ],
    }


def _mixing() -> dict[str, Any]:
    rows = {"type": "array", "items": {"type": "array", "items": {"type": "number", "minimum": 0}}}
    matrix = {"anyOf": [rows, in_a_file("in a file of its own: .npz or .csv")]}
    return {
        "description": "how air gets around: exactly one form",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": dict.fromkeys(FORMS.values(), matrix),
    }
