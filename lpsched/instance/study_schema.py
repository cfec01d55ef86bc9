"""The JSON Schema of a study file."""

from __future__ import annotations

from typing import Any, Final

from lpsched.errors import LONGEST_NAME
from lpsched.instance.made_by import LARGEST_SEED
from lpsched.instance.study import FORMAT
from lpsched.instance.study_door import LONGEST_TEXT, MOST_RUNS, check_limit

NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
TEXT: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
SEED: Final = {"type": "integer", "minimum": 0, "maximum": LARGEST_SEED}
VALUE: Final = {"type": ["string", "number", "boolean", "null"]}
VALUES: Final = {"anyOf": [VALUE, {"type": "array", "items": VALUE, "minItems": 1, "maxItems": MOST_RUNS}]}
OPTION: Final = {"anyOf": [VALUE, {"type": "array", "items": {"type": "number"}}]}
LIMITS: Final = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"seconds": {"type": "number", "minimum": check_limit.least, "maximum": check_limit.most}},
}


def study_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every study file satisfies.

    Which generators, methods and parameters there are is beyond it; running the study checks that too.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched study",
        "type": "object",
        "additionalProperties": False,
        "required": ["format", "name", "instances", "methods"],
        "properties": {
            "format": {"const": FORMAT},
            "name": NAME,
            "description": {"type": "string", "maxLength": LONGEST_TEXT},
            "instances": _list_of({"anyOf": [_file(), _generator()]}),
            "methods": _list_of({"anyOf": [{"type": "string"}, _method()]}),
            "parameters": {"anyOf": [{"type": "object", "additionalProperties": VALUES}, {"type": "null"}]},
            "seeds": _seeds(),
            "limits": LIMITS,
        },
    }


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_RUNS}


def _file() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["file"],
        "properties": {"file": TEXT},
    }


def _generator() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["generate", "seeds"],
        "not": {"required": ["file"]},
        "properties": {"generate": TEXT, "seeds": _seeds()},
        "additionalProperties": OPTION,
    }


def _method() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "limits": LIMITS},
        "additionalProperties": VALUES,
    }


def _seeds() -> dict[str, Any]:
    counted = {
        "type": "object",
        "additionalProperties": False,
        "required": ["count"],
        "properties": {"from": SEED, "count": {"type": "integer", "minimum": 1, "maximum": MOST_RUNS}},
    }
    listed = {"type": "array", "items": SEED, "minItems": 1, "maxItems": MOST_RUNS}
    return {"anyOf": [listed, counted]}
