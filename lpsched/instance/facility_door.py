"""The door of facilities: data as it stands in a file becomes a facility, or a list of all its faults.

Every part is checked by itself first; then the rules between parts, as far as their parts are sound; the air
and the heat last, when everything else is sound. Faults come in file order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import Fault, InstanceError
from lpsched.instance.counted_entries import read_nodes, read_units
from lpsched.instance.facility import FORMAT, PLAIN_AIR, Facility
from lpsched.instance.facility_parts import (
    Air,
    ArrivingType,
    NodeType,
    check_cap,
    check_degradation,
    check_facility_watts,
    check_speed,
)
from lpsched.instance.facility_rules import (
    MOST_CLASSES,
    MOST_NODE_TYPES,
    MOST_TASK_TYPES,
    FacilityParts,
    broken_rules,
)
from lpsched.instance.fields import check_name, describe
from lpsched.instance.mixing_door import read_mixing
from lpsched.instance.reading import Reading, table_file, too_many
from lpsched.instance.table import Axes

if TYPE_CHECKING:
    from lpsched.instance.mixing_door import MatrixFileReader
    from lpsched.instance.reading import TableFileReader
    from lpsched.instance.table import Table

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
    axes = (
        Axes(tasks, kinds, KIND, column_kind="node type") if tasks is not None and kinds is not None else None
    )
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
    """Make a facility of parts that are all there.

    Raises
    ------
    InstanceError
        If they do not fit together.
    """
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
            faults.append(
                Fault((key, index) if key == "memory_classes" else (key,), **(refused.context or {}))
            )
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


def _as_given(
    fault: Fault, raw: Mapping[str, Any], entry_of: list[int], classes: tuple[str, ...] | None
) -> Fault:
    """Give a fault that a rule found the path that the file uses: entries before repetition, and names."""
    key, *rest = fault.path or ("",)
    if key == "crac_units" and rest and isinstance(rest[0], int):
        return replace(fault, path=(key, entry_of[rest[0]], *rest[1:]))
    if key == "degradation" and isinstance(raw.get(key), Mapping) and classes:
        names = [classes[step] if isinstance(step, int) else step for step in rest]
        return replace(fault, path=(key, *names), file=fault.file or table_file(raw[key]))
    return fault
