"""What the JSON Schemas of files with arriving tasks share: utility, tasks, periods, notes of generators."""

from __future__ import annotations

from typing import Any, Final

from lpsched.errors import LONGEST_NAME
from lpsched.instance.arriving_rows import TOLD
from lpsched.instance.fields import LARGEST
from lpsched.instance.made_by import LARGEST_SEED, LONGEST_TEXT, MOST_ENTRIES, MOST_NUMBERS
from lpsched.instance.period import Period
from lpsched.instance.shared_schema import in_a_file
from lpsched.instance.utility_door import WrittenInterval
from lpsched.instance.utility_levels import ClassInterval, Urgency
from lpsched.instance.utility_rules import MOST_INTERVALS

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
