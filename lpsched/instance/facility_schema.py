"""The JSON Schema of a facility file, put together from the parts that check one."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from lpsched.errors import LONGEST_NAME
from lpsched.instance.facility import FORMAT
from lpsched.instance.facility_door import KEYS
from lpsched.instance.facility_parts import LEAST, MOST, Air, ArrivingType, CracUnit, NodeType
from lpsched.instance.facility_rules import LONGEST_DESCRIPTION, MOST_NODES, MOST_UNITS
from lpsched.instance.mixing import MIXING_KEYS as FORMS
from lpsched.instance.shared_schema import in_a_file, table_schema

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
        "required": [
            key for key in KEYS if key not in {"description", "memory_classes", "degradation", "air"}
        ],
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
