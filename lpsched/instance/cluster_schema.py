"""The JSON Schema of a clusters file, put together from the parts that check one."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from lpsched.instance.arrival_schema import AMOUNT, MODELS, NAME, arrival_properties, list_of, tasks_schema
from lpsched.instance.cluster_door import KEYS
from lpsched.instance.cluster_parts import Cluster
from lpsched.instance.clusters import CLUSTERS_FORMAT
from lpsched.instance.day_parts import DayTaskType
from lpsched.instance.fields import LARGEST, MOST, SMALLEST
from lpsched.instance.number_columns import MOST_JOB
from lpsched.instance.waiting import WaitingCost

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
