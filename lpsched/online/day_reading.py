"""From a mapping to a day; and the JSON Schema of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from lpsched.errors import LONGEST_NAME, Fault, InstanceError
from lpsched.model.fields import LARGEST, SMALLEST, check_seconds, check_watts
from lpsched.model.provenance import LARGEST_SEED, LONGEST_TEXT, MOST_ENTRIES, MOST_NUMBERS
from lpsched.model.reading import Reading
from lpsched.model.table import Axes, in_a_file, table_schema
from lpsched.online.arriving_rows import TOLD, arriving_tasks, day_rows
from lpsched.online.day import FORMAT, Day
from lpsched.online.day_rules import DayParts, broken_rules
from lpsched.online.parts import DayMachineType, DayTaskType, Period
from lpsched.online.reading import WrittenInterval, gather_tasks, read_functions, read_levels
from lpsched.online.utility import MOST_INTERVALS, ClassInterval, Urgency

if TYPE_CHECKING:
    from lpsched.model.reading import TableFileReader
    from lpsched.model.table import Table
    from lpsched.online.reading import TaskFileReader


# What the JSON Schemas of files with arriving tasks share: utility, tasks, periods, notes of generators.
NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
AMOUNT: Final = {"type": "number", "minimum": 0, "maximum": LARGEST}
MODELS: Final = {
    "period": Period,
    "urgencies": Urgency,
    "utility_classes": ClassInterval,
    "utility_functions": WrittenInterval,
}


def arrival_properties() -> dict[str, Any]:
    """Return the keys that say what counts, what tasks are worth, and what made the file."""
    return {
        "period": {"anyOf": [{"$ref": "#/$defs/period"}, {"type": "null"}]},
        "priorities": _named(AMOUNT, "the most utility of each priority"),
        "urgencies": _named({"$ref": "#/$defs/urgencies"}, "how soon and how fast utility decays"),
        "utility_classes": _named(_intervals("utility_classes"), "how utility falls, interval by interval"),
        "utility_functions": _named(_intervals("utility_functions"), "functions of the file's own"),
        "made_by": {"anyOf": [_made_by(), {"type": "null"}]},
    }


def list_of(key: str) -> dict[str, Any]:
    """Return the schema of a list of parts."""
    return {"type": "array", "minItems": 1, "items": {"$ref": f"#/$defs/{key}"}}


def tasks_schema(needed: dict[str, Any], optional: dict[str, Any], *, worth: bool) -> dict[str, Any]:
    """Return the schema of tasks, with these columns besides type and utility; `worth`: all have one."""
    row: dict[str, Any] = {
        "type": "object",
        "required": [*needed, "task_type"],
        "additionalProperties": False,
        "properties": needed
        | {"task_type": NAME}
        | {key: {"anyOf": [value, {"type": "null"}]} for key, value in optional.items()}
        | {key: {"anyOf": [NAME, {"type": "null"}]} for key in TOLD},
    }
    if worth:
        row["anyOf"] = [{"required": list(TOLD[:-1])}, {"required": list(TOLD[-1:])}]
    return {
        "anyOf": [
            {"description": "by never-falling arrival", "type": "array", "minItems": 1, "items": row},
            in_a_file("in a file of its own: .csv or .parquet"),
        ]
    }


def _named(value: dict[str, Any], description: str) -> dict[str, Any]:
    named = {"description": description, "type": "object", "additionalProperties": value}
    return {"anyOf": [named, {"type": "null"}]}


def _intervals(key: str) -> dict[str, Any]:
    return list_of(key) | {"maxItems": MOST_INTERVALS}


def _made_by() -> dict[str, Any]:
    numbers = {"type": "array", "items": {"type": "number"}, "maxItems": MOST_NUMBERS}
    text = {"type": "string", "maxLength": LONGEST_TEXT}
    return {
        "description": "what a generator notes of itself",
        "type": "object",
        "required": ["generator", "seed"],
        "maxProperties": MOST_ENTRIES,
        "properties": {
            "generator": text | {"minLength": 1},
            "seed": {"type": "integer", "minimum": 0, "maximum": LARGEST_SEED},
        },
        "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "boolean"}, text, numbers]},
    }


# The door of days: data as it stands in a file becomes a day, or a list of all its faults.
#
# Every part is checked by itself first; then the rules between parts, as far as their parts are sound. Faults
# come in file order.
KEYS: Final = (
    "format",
    "name",
    "machine_types",
    "task_types",
    "seconds",
    "watts",
    "period",
    "priorities",
    "urgencies",
    "utility_classes",
    "utility_functions",
    "tasks",
    "made_by",
)
KIND: Final = "day"


def day_from_dict(
    raw: object,
    *,
    source: str = KIND,
    read_table_file: TableFileReader | None = None,
    read_task_file: TaskFileReader | None = None,
) -> Day:
    """Make a day of a mapping with the keys of a day file.

    Parameters
    ----------
    raw
        The mapping.
    source
        What the error's headline calls it.
    read_table_file, read_task_file
        Read a table or the tasks given as ``{file: NAME}``. Without them such a one is refused.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in the order of `raw`.

    Examples
    --------
    >>> day_from_dict({"format": "lpsched-day/1", "name": "d", "machine_types": [{"name": "cpu", "count": 1}],
    ...     "task_types": [{"name": "zip"}], "seconds": [[2.0]], "watts": [[50.0]],
    ...     "utility_functions": {"film": [{"after_seconds": 0, "starts_at": 3}]},
    ...     "tasks": [{"arrival_seconds": 0, "task_type": "zip", "utility": "film"}]})
    Day('d': 1 tasks on 1 machines; 1 task types, 1 machine types)
    """
    reading = Reading.begin(raw, FORMAT, KEYS, source)
    machines = reading.entries("machine_types", DayMachineType, {"count": 1})
    types = reading.entries("task_types", DayTaskType, {})
    axes = Axes(types, machines, KIND) if types is not None and machines is not None else None
    levels, functions = read_levels(reading), read_functions(reading)
    rows = day_rows(types, levels, functions)
    gather_tasks(reading, rows, read_task_file)
    parts = DayParts(
        name=reading.raw.get("name"),
        machine_types=machines,
        task_types=types,
        seconds=reading.table("seconds", check_seconds, axes, read_table_file),
        watts=_watts(reading, axes, read_table_file),
        arriving=arriving_tasks(rows),
        levels=levels,
        utility_functions=functions,
        period=reading.section("period", Period),
        made_by=reading.raw.get("made_by"),
    )
    if reading.faults:
        reading.faults += broken_rules(parts)
    else:
        try:
            return _day_of(parts)
        except InstanceError as error:
            reading.faults += error.faults
    raise reading.error(source, ("task_types", "machine_types"))


def _day_of(parts: DayParts) -> Day:
    """Make a day of parts that are all there."""
    given = {each: getattr(parts, each) for each in DayParts.__dataclass_fields__}
    assert all(given[key] is not None for key in given if key not in {"name", "made_by"})
    return Day(**given)


def _watts(reading: Reading, axes: Axes | None, read_file: TableFileReader | None) -> Table | None:
    if reading.raw.get("watts") is not None:
        return reading.table("watts", check_watts, axes, read_file)
    needed = "a table of watts: what a day's schedule earns is judged by the energy that it takes"
    reading.faults.append(Fault(("watts",), "nothing", needed, "add it; 0 where energy costs nothing"))
    return None


# The JSON Schema of a day file, put together from the parts that check one.
NEEDED_KEYS: Final = ("format", "name", "machine_types", "task_types", "seconds", "watts", "tasks")


def day_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every day file satisfies.

    What ties the parts together (names that match, shapes, arrivals and utilities in order) is beyond JSON
    Schema; reading the file checks that too.
    """
    properties = arrival_properties() | {
        "format": {"const": FORMAT},
        "name": NAME,
        "machine_types": list_of("machine_types"),
        "task_types": list_of("task_types"),
        "seconds": table_schema({"type": "number", "minimum": SMALLEST, "maximum": LARGEST}),
        "watts": table_schema(AMOUNT),
        "tasks": tasks_schema({"arrival_seconds": AMOUNT}, {}, worth=True),
    }
    models = {"machine_types": DayMachineType, "task_types": DayTaskType} | MODELS
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched day",
        "type": "object",
        "additionalProperties": False,
        "required": list(NEEDED_KEYS),
        "properties": {key: properties[key] for key in KEYS},
        "$defs": {key: TypeAdapter(model).json_schema() for key, model in models.items()},
    }
