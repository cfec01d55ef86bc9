"""Lists whose entries may stand for several things: the nodes and the CRAC units of a facility file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, nearest, quote
from lpsched.instance.facility_parts import CracUnit, NodeType
from lpsched.instance.facility_rules import MOST_NODES, MOST_UNITS
from lpsched.instance.fields import check_count, describe, numbered
from lpsched.instance.reading import too_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.reading import Reading

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
        {key: entry[key] for key in entry if key != "count"} if isinstance(entry, Mapping) else entry
        for entry in value
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
