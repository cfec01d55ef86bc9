"""The words that schemas of benches and measurements are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import LONGEST_NAME
from lpsched.instance.bench_checks import LAST_PROCESSOR, LONGEST_TEXT, MOST_PLACES, MOST_WORDS

if TYPE_CHECKING:
    from lpsched.instance.fields import Amount

NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
TEXT: Final = {"type": "string", "maxLength": LONGEST_TEXT}
WORD: Final = {"anyOf": [TEXT, {"type": "integer"}]}
PROCESSOR: Final = {"type": "integer", "minimum": 0, "maximum": LAST_PROCESSOR}
COMMAND: Final = {
    "anyOf": [
        TEXT | {"minLength": 1},
        {"type": "array", "items": WORD, "minItems": 1, "maxItems": MOST_WORDS},
    ]
}
NOTHING: Final = {"type": "null"}


def optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also takes null, for a key without a value."""
    return {"anyOf": [schema, NOTHING]}


def list_of(item: dict[str, Any], most: int) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": item, "maxItems": most}


def amount(check: Amount) -> dict[str, Any]:
    """Return the schema of an amount."""
    return {"type": "number", "minimum": check.least, "maximum": check.most}


def whole(least: int, most: int) -> dict[str, Any]:
    """Return the schema of a whole number."""
    return {"type": "integer", "minimum": least, "maximum": most}


def names(least: int, most: int) -> dict[str, Any]:
    """Return the schema of a list of names."""
    return {"type": "array", "items": NAME, "minItems": least, "maxItems": most}


def mapping(properties: dict[str, Any], *needed: str) -> dict[str, Any]:
    """Return the schema of a mapping with these keys and no others."""
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | ({"required": list(needed)} if needed else {})


def cores() -> dict[str, Any]:
    """Return the schema of places: how many, or the processors of each."""
    several = {"type": "array", "items": PROCESSOR, "minItems": 1}
    places = list_of({"anyOf": [PROCESSOR, several]}, MOST_PLACES) | {"minItems": 1}
    return {"anyOf": [whole(1, MOST_PLACES), places]}
