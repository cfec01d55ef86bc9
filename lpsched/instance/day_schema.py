"""The JSON Schema of a day file, put together from the parts that check one."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from lpsched.instance.day import FORMAT
from lpsched.instance.day_door import KEYS
from lpsched.instance.day_parts import DayMachineType, DayTaskType
from lpsched.instance.day_rows import COLUMNS, NEEDED
from lpsched.instance.fields import LARGEST, LONGEST_NAME, SMALLEST
from lpsched.instance.made_by import LARGEST_SEED, LONGEST_TEXT, MOST_ENTRIES, MOST_NUMBERS
from lpsched.instance.period import Period
from lpsched.instance.schema import in_a_file, table_schema
from lpsched.instance.utility_door import WrittenInterval
from lpsched.instance.utility_levels import ClassInterval, Urgency
from lpsched.instance.utility_rules import MOST_INTERVALS

NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
MODELS: Final = {
    "machine_types": DayMachineType,
    "task_types": DayTaskType,
    "period": Period,
    "urgencies": Urgency,
    "utility_classes": ClassInterval,
    "utility_functions": WrittenInterval,
}
AMOUNT: Final = {"type": "number", "minimum": 0, "maximum": LARGEST}
NEEDED_KEYS: Final = ("format", "name", "machine_types", "task_types", "seconds", "watts", "tasks")


def day_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every day file satisfies.

    What ties the parts together (names that match, shapes, arrivals and utilities in order) is beyond JSON
    Schema; reading the file checks that too.
    """
    properties = {
        "format": {"const": FORMAT},
        "name": NAME,
        "machine_types": _list_of("machine_types"),
        "task_types": _list_of("task_types"),
        "seconds": table_schema({"type": "number", "minimum": SMALLEST, "maximum": LARGEST}),
        "watts": table_schema(AMOUNT),
        "period": {"anyOf": [{"$ref": "#/$defs/period"}, {"type": "null"}]},
        "priorities": _named(AMOUNT, "the most utility of each priority"),
        "urgencies": _named({"$ref": "#/$defs/urgencies"}, "how soon and how fast utility decays"),
        "utility_classes": _named(_intervals("utility_classes"), "how utility falls, interval by interval"),
        "utility_functions": _named(_intervals("utility_functions"), "functions of the file's own"),
        "tasks": _tasks(),
        "made_by": {"anyOf": [_made_by(), {"type": "null"}]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched day",
        "type": "object",
        "additionalProperties": False,
        "required": list(NEEDED_KEYS),
        "properties": {key: properties[key] for key in KEYS},
        "$defs": {key: TypeAdapter(model).json_schema() for key, model in MODELS.items()},
    }


def _list_of(key: str) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": {"$ref": f"#/$defs/{key}"}}


def _named(value: dict[str, Any], description: str) -> dict[str, Any]:
    named = {"description": description, "type": "object", "additionalProperties": value}
    return {"anyOf": [named, {"type": "null"}]}


def _intervals(key: str) -> dict[str, Any]:
    return _list_of(key) | {"maxItems": MOST_INTERVALS}


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


def _tasks() -> dict[str, Any]:
    names = [key for key in COLUMNS if key not in NEEDED]
    by_levels, own = {"required": names[:-1]}, {"required": names[-1:]}
    row = {
        "type": "object",
        "required": list(NEEDED),
        "additionalProperties": False,
        "properties": {"arrival_seconds": AMOUNT, "task_type": NAME}
        | {key: {"anyOf": [NAME, {"type": "null"}]} for key in names},
        "anyOf": [by_levels, own],
    }
    return {
        "anyOf": [
            {
                "description": "by never-falling arrival",
                "type": "array",
                "minItems": 1,
                "items": row,
            },
            in_a_file("in a file of its own: .csv or .parquet"),
        ]
    }
