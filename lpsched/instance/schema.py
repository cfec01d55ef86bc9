"""The JSON Schema of a bag file, put together from the parts that check one."""

from __future__ import annotations

from typing import Any

from lpsched.errors import LONGEST_NAME
from lpsched.instance.bag import FORMAT
from lpsched.instance.door import KEYS, MODELS
from lpsched.instance.fields import LARGEST, SMALLEST
from lpsched.instance.shared_schema import table_schema


def bag_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every bag file satisfies.

    What ties the parts together (names that match, shapes, totals) is beyond JSON Schema; reading the
    file checks that too.
    """
    parts = {
        key: model.model_json_schema(ref_template=f"#/$defs/{key}/$defs/{{model}}")
        for key, model in MODELS.items()
    }
    properties = {
        "format": {"const": FORMAT},
        "name": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
        "machine_types": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/machine_types"}},
        "task_types": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/task_types"}},
        "seconds": table_schema({"type": "number", "minimum": SMALLEST, "maximum": LARGEST}),
        "watts": {
            "anyOf": [table_schema({"type": "number", "minimum": 0, "maximum": LARGEST}), {"type": "null"}]
        },
        "prices": {"anyOf": [{"$ref": "#/$defs/prices"}, {"type": "null"}]},
        "site": {"anyOf": [{"$ref": "#/$defs/site"}, {"type": "null"}]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched bag",
        "type": "object",
        "additionalProperties": False,
        "required": ["format", "name", "machine_types", "task_types", "seconds"],
        "properties": {key: properties[key] for key in KEYS},
        "$defs": parts,
    }
