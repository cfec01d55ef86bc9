"""Schemas that all kinds of instances share: tables of pairs, in their three forms."""

from __future__ import annotations

from typing import Any


def table_schema(number: dict[str, Any], column_kind: str = "machine type") -> dict[str, Any]:
    """Return the schema of a table in its three forms."""
    cell = {"anyOf": [number, {"type": "null"}]}
    entry = {
        "anyOf": [*cell["anyOf"], {"type": "array", "items": cell, "minItems": 1}]
    }  # a list: per P-state
    return {
        "anyOf": [
            {
                "description": f"by name: task type -> {column_kind} -> number; what is not named cannot run",
                "type": "object",
                "additionalProperties": {
                    "anyOf": [{"type": "object", "additionalProperties": entry}, {"type": "null"}]
                },
            },
            {
                "description": "rows and columns in the order of the lists; null cannot run",
                "type": "array",
                "items": {"type": "array", "items": entry},
            },
            in_a_file("in a file of its own: .csv, .npz or .parquet"),
        ]
    }


def in_a_file(description: str) -> dict[str, Any]:
    """Return the schema of ``{file: NAME}``."""
    return {
        "description": description,
        "type": "object",
        "required": ["file"],
        "additionalProperties": False,
        "properties": {"file": {"type": "string"}},
    }
