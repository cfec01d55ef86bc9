"""The JSON Schema of a day file, put together from the parts that check one."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from lpsched.instance.arrival_schema import AMOUNT, MODELS, NAME, arrival_properties, list_of, tasks_schema
from lpsched.instance.day import FORMAT
from lpsched.instance.day_door import KEYS
from lpsched.instance.day_parts import DayMachineType, DayTaskType
from lpsched.instance.fields import LARGEST, SMALLEST
from lpsched.instance.shared_schema import table_schema

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
