"""The JSON Schema of a bench file."""

from __future__ import annotations

from typing import Any

from lpsched.instance.bench import COMPANIONS, FORMAT
from lpsched.instance.bench_checks import (
    MOST_APPLICATIONS,
    MOST_BOUNDS,
    MOST_CLOCKS,
    MOST_GROUPS,
    MOST_PLACES,
    MOST_REPEATS,
    MOST_WARM_UPS,
    check_bound,
    check_confidence,
    check_every,
    check_idle,
    check_limit,
    check_mhz,
    check_timeout,
    check_within,
)
from lpsched.instance.bench_door import COMPANION_CHOICES, COUNTERS, PAIR
from lpsched.instance.bench_parts import METERS
from lpsched.instance.fields import MOST
from lpsched.instance.made_by import LARGEST_SEED
from lpsched.instance.schema_words import (
    COMMAND,
    NAME,
    TEXT,
    WORD,
    amount,
    cores,
    list_of,
    mapping,
    names,
    optional,
    whole,
)


def bench_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every bench file satisfies.

    That names are known and differ, that groups fit on the cores and that bounds rise is beyond it; reading
    checks that too.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched bench",
        "type": "object",
        "additionalProperties": False,
        "required": ["format", "name", "cores", "applications"],
        "properties": {
            "format": {"const": FORMAT},
            "name": NAME,
            "description": optional(TEXT),
            "machine_type": optional(NAME),
            "cores": cores(),
            "frequencies_mhz": optional(list_of(amount(check_mhz), MOST_CLOCKS)),
            "applications": list_of(_bench_application(), MOST_APPLICATIONS) | {"minItems": 1},
            "pairs": optional(
                {"anyOf": [{"enum": ["all", "none"]}, list_of(names(PAIR, PAIR), MOST_GROUPS)]}
            ),
            "groups": optional(list_of(names(PAIR + 1, MOST_PLACES), MOST_GROUPS)),
            "batches": optional({"type": "boolean"}),
            "repeats": optional(_repeats()),
            "energy": optional({"anyOf": [{"enum": list(METERS)}, _energy()]}),
            "counters": optional({"enum": list(COUNTERS)}),
            "companions": optional({"enum": list(COMPANION_CHOICES)}),
            "class_bounds": optional(list_of(amount(check_bound), MOST_BOUNDS)),
            "share_bounds": optional(list_of(amount(check_bound), MOST_BOUNDS)),
            "seed": optional(whole(0, LARGEST_SEED)),
            "limit_seconds": optional(amount(check_limit)),
        },
    }


def _bench_application() -> dict[str, Any]:
    properties = {
        "name": NAME | {"not": {"enum": list(COMPANIONS)}},
        "command": COMMAND,
        "count": optional(whole(1, MOST)),
        "timeout_seconds": optional(amount(check_timeout)),
        "folder": optional(TEXT | {"minLength": 1}),
        "environment": optional({"type": "object", "additionalProperties": WORD}),
    }
    return mapping(properties, "name", "command")


def _repeats() -> dict[str, Any]:
    return mapping(
        {
            "least": optional(whole(2, MOST_REPEATS)),
            "most": optional(whole(2, MOST_REPEATS)),
            "within": optional(amount(check_within)),
            "confidence": optional(amount(check_confidence)),
            "warm_ups": optional(whole(0, MOST_WARM_UPS)),
        }
    )


def _energy() -> dict[str, Any]:
    return mapping(
        {
            "meter": optional({"enum": list(METERS)}),
            "command": optional(COMMAND),
            "stream": optional(COMMAND),
            "every_seconds": optional(amount(check_every)),
            "covers": optional(TEXT),
            "idle_seconds": optional(amount(check_idle)),
        }
    )
