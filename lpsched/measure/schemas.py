"""JSON Schemas of bench and measurement files."""

from __future__ import annotations

from typing import Any, Final

from lpsched.facility.parts import check_degradation
from lpsched.measure.bench import COMPANIONS, FORMAT
from lpsched.measure.bench_checks import (
    COMMAND,
    MOST_APPLICATIONS,
    MOST_BOUNDS,
    MOST_CLOCKS,
    MOST_GROUPS,
    MOST_PLACES,
    MOST_REPEATS,
    MOST_WARM_UPS,
    NAME,
    TEXT,
    WORD,
    amount,
    check_bound,
    check_confidence,
    check_every,
    check_idle,
    check_limit,
    check_mhz,
    check_timeout,
    check_within,
    cores,
    list_of,
    mapping,
    names,
    optional,
    whole,
)
from lpsched.measure.bench_reading import COMPANION_CHOICES, COUNTERS, METERS, PAIR
from lpsched.measure.measurements import BY_MISSES, BY_SLOWDOWN, MEASUREMENTS_FORMAT
from lpsched.measure.measurements_reading import (
    KEYS,
    LONGEST_SAYING,
    MOST_ENTRIES,
    MOST_SENTENCES,
    check_intensity,
    check_joules,
    check_multiple,
)
from lpsched.model.fields import LARGEST, MOST, Amount, check_seconds, check_watts
from lpsched.model.provenance import LARGEST_SEED

# The JSON Schema of a bench file.


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
            "pairs": optional({"anyOf": [{"enum": ["all", "none"]}, list_of(names(PAIR, PAIR), MOST_GROUPS)]}),
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


# The JSON Schema of a file of measurements.

NUMBER: Final = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
SAYING: Final = {"type": "string", "maxLength": LONGEST_SAYING}


def measurements_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every file of measurements satisfies.

    That names are known and differ, that there is a number for each clock, and that the columns are what the
    evidence says, is beyond it; reading checks that too.
    """
    properties = {
        "format": {"const": MEASUREMENTS_FORMAT},
        "name": NAME,
        "description": optional(SAYING),
        "machine_type": optional(NAME),
        "taken": optional(SAYING),
        "lpsched": optional(SAYING),
        "machine": optional(_machine()),
        "meters": optional(_meters()),
        "absent": optional(list_of(SAYING, MOST_SENTENCES)),
        "idle_watts": optional(amount(check_watts)),
        "idle_watts_before": optional(amount(check_watts)),
        "idle_watts_after": optional(amount(check_watts)),
        "frequencies_mhz": optional(list_of(amount(check_mhz), MOST_CLOCKS) | {"minItems": 1}),
        "applications": list_of(_measured_application(), MOST_APPLICATIONS) | {"minItems": 1},
        "seconds": _column(check_seconds) | {"minProperties": 1},
        "watts": optional(_column(check_watts)),
        "degradation": optional(_table()),
        "degradation_in_full": optional(_table()),
        "confidence": optional(amount(check_confidence)),
        "measured": optional(list_of(_measured(), MOST_ENTRIES)),
        "failed": optional(list_of(_with_setting({"reason": SAYING}, "reason"), MOST_ENTRIES)),
        "savings": optional(list_of(_saving(), MOST_ENTRIES)),
        "additive": optional(list_of(_additive(), MOST_ENTRIES)),
    }
    needed = ("format", "name", "applications", "seconds")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "lpsched measurements"} | mapping(
        {key: properties[key] for key in KEYS}, *needed
    )


def _machine() -> dict[str, Any]:
    return mapping({"processor": optional(SAYING), "system": optional(SAYING), "cores": optional(cores())})


def _meters() -> dict[str, Any]:
    keys = ("time", "energy", "energy_covers", "counters", "frequencies")
    return mapping({key: optional(SAYING) for key in keys})


def _measured_application() -> dict[str, Any]:
    name = NAME | {"not": {"enum": list(COMPANIONS)}}
    properties = {
        "name": name,
        "command": optional(COMMAND),
        "count": optional(whole(1, MOST)),
        "memory_class": optional(NAME),
        "classified_by": optional({"enum": [BY_MISSES, BY_SLOWDOWN]}),
        "intensity": optional(amount(check_intensity)),
        "suffers": optional(NUMBER),
        "causes": optional(NUMBER),
    }
    return {"anyOf": [name, mapping(properties, "name")]}


def _column(check: Amount) -> dict[str, Any]:
    by_clock = list_of(amount(check), MOST_CLOCKS) | {"minItems": 1}
    return {"type": "object", "additionalProperties": optional({"anyOf": [amount(check), by_clock]})}


def _table() -> dict[str, Any]:
    row = {"type": "object", "additionalProperties": optional(amount(check_degradation))}
    return {"type": "object", "additionalProperties": optional(row)}


def _with_setting(properties: dict[str, Any], *needed: str) -> dict[str, Any]:
    setting = {
        "application": NAME,
        "beside": optional(names(0, MOST_PLACES)),
        "mhz": optional(amount(check_mhz)),
        "batch": optional({"type": "boolean"}),
    }
    return mapping(setting | properties, "application", *needed)


def _spread(check: Amount) -> dict[str, Any]:
    properties = {
        "mean": amount(check),
        "low": optional(NUMBER),
        "high": optional(NUMBER),
        "deviation": optional({"type": "number", "minimum": 0, "maximum": LARGEST}),
        "count": optional(whole(1, MOST)),
    }
    return mapping(properties, "mean")


def _measured() -> dict[str, Any]:
    spreads = {
        "seconds": _spread(check_seconds),
        "joules": optional(_spread(check_joules)),
        "misses_per_instruction": optional(_spread(check_intensity)),
    }
    return _with_setting(spreads, "seconds")


def _saving() -> dict[str, Any]:
    properties = {
        "together": names(0, MOST_PLACES),
        "mhz": optional(amount(check_mhz)),
        "joules_apart": amount(check_joules),
        "joules_together": amount(check_joules),
        "joules_predicted": optional(NUMBER),
    }
    return mapping(properties, "together", "joules_apart", "joules_together")


def _additive() -> dict[str, Any]:
    return _with_setting({"measured": amount(check_multiple), "predicted": NUMBER}, "measured", "predicted")
