"""From a mapping to clusters; and the JSON Schema of that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from lpsched.errors import Fault, InstanceError
from lpsched.model.fields import LARGEST, MOST, SMALLEST, check_seconds, check_watts
from lpsched.model.reading import Reading
from lpsched.online.arriving_rows import cluster_rows, parallel_tasks
from lpsched.online.cluster_rules import ClusterParts, broken_rules
from lpsched.online.clusters import CLUSTERS_FORMAT, Clusters
from lpsched.online.day_reading import AMOUNT, MODELS, NAME, arrival_properties, list_of, tasks_schema
from lpsched.online.day_rules import MOST_JOB
from lpsched.online.parts import Cluster, DayTaskType, Period
from lpsched.online.reading import gather_tasks, read_curves, read_functions, read_levels
from lpsched.online.utility import WaitingCost

if TYPE_CHECKING:
    from lpsched.model.table import Check
    from lpsched.online.arriving_rows import TaskRows
    from lpsched.online.parts import NodeCurves
    from lpsched.online.reading import TaskFileReader


# The door of clusters: data as it stands in a file becomes clusters, or a list of all its faults.
#
# Every part is checked by itself first; then the rules between parts, as far as their parts are sound. Faults
# come in file order.
KEYS: Final = (
    "format",
    "name",
    "clusters",
    "task_types",
    "seconds",
    "watts",
    "period",
    "waiting",
    "priorities",
    "urgencies",
    "utility_classes",
    "utility_functions",
    "tasks",
    "made_by",
)
KIND: Final = "clusters"
MOST_PARTS: Final = 100_000  # clusters, or task types


def clusters_from_dict(raw: object, *, source: str = KIND, read_task_file: TaskFileReader | None = None) -> Clusters:
    """Make clusters of a mapping with the keys of a clusters file.

    Parameters
    ----------
    raw
        The mapping.
    source
        What the error's headline calls it.
    read_task_file
        Reads the tasks given as ``{file: NAME}``. Without it such are refused.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in the order of `raw`.

    Examples
    --------
    >>> clusters_from_dict({"format": "lpsched-clusters/1", "name": "c", "waiting": {},
    ...     "clusters": [{"name": "all", "nodes": 4}], "task_types": [{"name": "job"}],
    ...     "seconds": {"job": {"all": {1: 60.0, 4: 20.0}}},
    ...     "tasks": [{"arrival_seconds": 0, "task_type": "job", "cores": 3}]})
    Clusters('c': 1 tasks on 4 nodes; 1 task types, 1 clusters)
    """
    reading = Reading.begin(raw, CLUSTERS_FORMAT, KEYS, source)
    clusters = reading.entries("clusters", Cluster, {"nodes": 1}, MOST_PARTS)
    sizes_are_known = not any(fault.path[0] == "clusters" for fault in reading.faults)
    types = reading.entries("task_types", DayTaskType, {}, MOST_PARTS)
    levels, functions = read_levels(reading), read_functions(reading)
    waiting, period = _waiting(reading), reading.section("period", Period)
    rows = cluster_rows(types, levels, functions, worth=waiting is None)
    gather_tasks(reading, rows, read_task_file)
    seconds = _curves(reading, "seconds", check_seconds, clusters, types)
    watts = _curves(reading, "watts", check_watts, clusters, types)
    if watts is None and reading.raw.get("watts") is not None and period is not None:
        period = replace(period, energy_constraint_joules=None)  # watts are told, if badly
    parts = ClusterParts(
        name=reading.raw.get("name"),
        clusters=clusters,
        task_types=types,
        seconds=seconds,
        watts=watts,
        arriving=parallel_tasks(rows) if sizes_are_known else None,
        levels=levels,
        utility_functions=functions,
        waiting=waiting,
        period=period,
        made_by=reading.raw.get("made_by"),
    )
    if reading.faults:
        reading.faults += broken_rules(parts)
    else:
        try:
            return _clusters_of(parts)
        except InstanceError as error:
            reading.faults += error.faults
    reading.faults[:] = [_in_its_file(fault, rows) for fault in reading.faults]
    raise reading.error(source, ("task_types", "clusters"))


def _clusters_of(parts: ClusterParts) -> Clusters:
    """Make clusters of parts that are all there."""
    given = {each: getattr(parts, each) for each in ClusterParts.__dataclass_fields__}
    optional = {"name", "watts", "waiting", "made_by"}
    assert all(given[key] is not None for key in given if key not in optional)
    return Clusters(**given)


def _waiting(reading: Reading) -> WaitingCost | None:
    """Read how waiting is judged, if it is; where that has faults, something stands in for it."""
    raw = reading.raw.get("waiting")
    if raw is None:
        return None
    return reading.part(raw, WaitingCost, ("waiting",), reading.faults) or WaitingCost()


def _curves(
    reading: Reading,
    key: str,
    check: Check,
    clusters: tuple[Cluster, ...] | None,
    types: tuple[DayTaskType, ...] | None,
) -> NodeCurves | None:
    """Read curves; `None` where there are none, or they or their lists have faults."""
    raw = reading.raw.get(key)
    reading.tables.add(key)
    if raw is None:
        if key == "seconds":
            needed = "curves of seconds, by task type, cluster and number of nodes"
            reading.faults.append(Fault((key,), "nothing", needed, "add them"))
        return None
    if clusters is None or types is None:
        return None  # the lists' own faults are told; without names curves say nothing
    curves, faults = read_curves(raw, key, check, clusters, types)
    reading.faults += faults
    return curves


def _in_its_file(fault: Fault, rows: TaskRows) -> Fault:
    """Give a fault of a task that a rule found the line and the file of the task."""
    match fault.path:
        case ("tasks", int(n), *_) if fault.file is None:
            line, file = rows.place_of(n)
            return replace(fault, line=line, file=file)
    return fault


# The JSON Schema of a clusters file, put together from the parts that check one.
NEEDED_KEYS: Final = ("format", "name", "clusters", "task_types", "seconds", "tasks")
POSITIVE: Final = {"type": "number", "minimum": SMALLEST, "maximum": LARGEST}
COUNT: Final = {"type": "integer", "minimum": 1, "maximum": MOST}
JOB: Final = {"type": "integer", "minimum": -MOST_JOB, "maximum": MOST_JOB}


def clusters_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every clusters file satisfies.

    What ties the parts together (names that match, numbers of nodes within the curves, arrivals and utilities
    in order) is beyond JSON Schema; reading the file checks that too.
    """
    properties = arrival_properties() | {
        "format": {"const": CLUSTERS_FORMAT},
        "name": NAME,
        "clusters": list_of("clusters"),
        "task_types": list_of("task_types"),
        "seconds": _curves_schema(POSITIVE),
        "watts": {"anyOf": [_curves_schema(AMOUNT), {"type": "null"}]},
        "waiting": {"anyOf": [{"$ref": "#/$defs/waiting"}, {"type": "null"}]},
        "tasks": tasks_schema(
            {"arrival_seconds": AMOUNT, "cores": COUNT},
            {"work": POSITIVE, "requested_work": POSITIVE, "job": JOB},
            worth=False,
        ),
    }
    models = {"clusters": Cluster, "task_types": DayTaskType, "waiting": WaitingCost} | MODELS
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched clusters",
        "type": "object",
        "additionalProperties": False,
        "required": list(NEEDED_KEYS),
        "properties": {key: properties[key] for key in KEYS},
        "$defs": {key: TypeAdapter(model).json_schema() for key, model in models.items()},
    }


def _curves_schema(number: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of curves by name; what is not named cannot run."""
    states = {"type": "array", "items": {"anyOf": [number, {"type": "null"}]}, "minItems": 1}
    value = {"anyOf": [number, states]}
    curve = {
        "description": "by number of nodes; in place of a number a list, one for each P-state",
        "type": "object",
        "propertyNames": {"pattern": "^[0-9]+$"},
        "minProperties": 1,
        "additionalProperties": value,
    }
    cells = {"type": "object", "additionalProperties": {"anyOf": [curve, *value["anyOf"], {"type": "null"}]}}
    return {
        "description": "task type -> cluster -> number of nodes -> number; what is not named cannot run",
        "type": "object",
        "additionalProperties": {"anyOf": [cells, {"type": "null"}]},
    }
