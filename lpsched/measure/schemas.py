"""JSON Schemas of bench and measurement files."""

from __future__ import annotations

from typing import Any, Final

from lpsched.facility.parts import check_degradation
from lpsched.measure import bench_checks as checks
from lpsched.measure.bench import COMPANIONS, FORMAT
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
            "name": checks.NAME,
            "description": checks.optional(checks.TEXT),
            "machine_type": checks.optional(checks.NAME),
            "cores": checks.cores(),
            "frequencies_mhz": checks.optional(checks.list_of(checks.amount(checks.check_mhz), checks.MOST_CLOCKS)),
            "applications": checks.list_of(_bench_application(), checks.MOST_APPLICATIONS) | {"minItems": 1},
            "pairs": checks.optional(
                {"anyOf": [{"enum": ["all", "none"]}, checks.list_of(checks.names(PAIR, PAIR), checks.MOST_GROUPS)]}
            ),
            "groups": checks.optional(checks.list_of(checks.names(PAIR + 1, checks.MOST_PLACES), checks.MOST_GROUPS)),
            "batches": checks.optional({"type": "boolean"}),
            "repeats": checks.optional(_repeats()),
            "energy": checks.optional({"anyOf": [{"enum": list(METERS)}, _energy()]}),
            "counters": checks.optional({"enum": list(COUNTERS)}),
            "companions": checks.optional({"enum": list(COMPANION_CHOICES)}),
            "class_bounds": checks.optional(checks.list_of(checks.amount(checks.check_bound), checks.MOST_BOUNDS)),
            "share_bounds": checks.optional(checks.list_of(checks.amount(checks.check_bound), checks.MOST_BOUNDS)),
            "seed": checks.optional(checks.whole(0, LARGEST_SEED)),
            "limit_seconds": checks.optional(checks.amount(checks.check_limit)),
        },
    }


def _bench_application() -> dict[str, Any]:
    properties = {
        "name": checks.NAME | {"not": {"enum": list(COMPANIONS)}},
        "command": checks.COMMAND,
        "count": checks.optional(checks.whole(1, MOST)),
        "timeout_seconds": checks.optional(checks.amount(checks.check_timeout)),
        "folder": checks.optional(checks.TEXT | {"minLength": 1}),
        "environment": checks.optional({"type": "object", "additionalProperties": checks.WORD}),
    }
    return checks.mapping(properties, "name", "command")


def _repeats() -> dict[str, Any]:
    return checks.mapping(
        {
            "least": checks.optional(checks.whole(2, checks.MOST_REPEATS)),
            "most": checks.optional(checks.whole(2, checks.MOST_REPEATS)),
            "within": checks.optional(checks.amount(checks.check_within)),
            "confidence": checks.optional(checks.amount(checks.check_confidence)),
            "warm_ups": checks.optional(checks.whole(0, checks.MOST_WARM_UPS)),
        }
    )


def _energy() -> dict[str, Any]:
    return checks.mapping(
        {
            "meter": checks.optional({"enum": list(METERS)}),
            "command": checks.optional(checks.COMMAND),
            "stream": checks.optional(checks.COMMAND),
            "every_seconds": checks.optional(checks.amount(checks.check_every)),
            "covers": checks.optional(checks.TEXT),
            "idle_seconds": checks.optional(checks.amount(checks.check_idle)),
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
        "name": checks.NAME,
        "description": checks.optional(SAYING),
        "machine_type": checks.optional(checks.NAME),
        "taken": checks.optional(SAYING),
        "lpsched": checks.optional(SAYING),
        "machine": checks.optional(_machine()),
        "meters": checks.optional(_meters()),
        "absent": checks.optional(checks.list_of(SAYING, MOST_SENTENCES)),
        "idle_watts": checks.optional(checks.amount(check_watts)),
        "idle_watts_before": checks.optional(checks.amount(check_watts)),
        "idle_watts_after": checks.optional(checks.amount(check_watts)),
        "frequencies_mhz": checks.optional(
            checks.list_of(checks.amount(checks.check_mhz), checks.MOST_CLOCKS) | {"minItems": 1}
        ),
        "applications": checks.list_of(_measured_application(), checks.MOST_APPLICATIONS) | {"minItems": 1},
        "seconds": _column(check_seconds) | {"minProperties": 1},
        "watts": checks.optional(_column(check_watts)),
        "degradation": checks.optional(_table()),
        "degradation_in_full": checks.optional(_table()),
        "confidence": checks.optional(checks.amount(checks.check_confidence)),
        "measured": checks.optional(checks.list_of(_measured(), MOST_ENTRIES)),
        "failed": checks.optional(checks.list_of(_with_setting({"reason": SAYING}, "reason"), MOST_ENTRIES)),
        "savings": checks.optional(checks.list_of(_saving(), MOST_ENTRIES)),
        "additive": checks.optional(checks.list_of(_additive(), MOST_ENTRIES)),
    }
    needed = ("format", "name", "applications", "seconds")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched measurements",
    } | checks.mapping({key: properties[key] for key in KEYS}, *needed)


def _machine() -> dict[str, Any]:
    return checks.mapping(
        {
            "processor": checks.optional(SAYING),
            "system": checks.optional(SAYING),
            "cores": checks.optional(checks.cores()),
        }
    )


def _meters() -> dict[str, Any]:
    keys = ("time", "energy", "energy_covers", "counters", "frequencies")
    return checks.mapping({key: checks.optional(SAYING) for key in keys})


def _measured_application() -> dict[str, Any]:
    name = checks.NAME | {"not": {"enum": list(COMPANIONS)}}
    properties = {
        "name": name,
        "command": checks.optional(checks.COMMAND),
        "count": checks.optional(checks.whole(1, MOST)),
        "memory_class": checks.optional(checks.NAME),
        "classified_by": checks.optional({"enum": [BY_MISSES, BY_SLOWDOWN]}),
        "intensity": checks.optional(checks.amount(check_intensity)),
        "suffers": checks.optional(NUMBER),
        "causes": checks.optional(NUMBER),
    }
    return {"anyOf": [name, checks.mapping(properties, "name")]}


def _column(check: Amount) -> dict[str, Any]:
    by_clock = checks.list_of(checks.amount(check), checks.MOST_CLOCKS) | {"minItems": 1}
    return {"type": "object", "additionalProperties": checks.optional({"anyOf": [checks.amount(check), by_clock]})}


def _table() -> dict[str, Any]:
    row = {"type": "object", "additionalProperties": checks.optional(checks.amount(check_degradation))}
    return {"type": "object", "additionalProperties": checks.optional(row)}


def _with_setting(properties: dict[str, Any], *needed: str) -> dict[str, Any]:
    setting = {
        "application": checks.NAME,
        "beside": checks.optional(checks.names(0, checks.MOST_PLACES)),
        "mhz": checks.optional(checks.amount(checks.check_mhz)),
        "batch": checks.optional({"type": "boolean"}),
    }
    return checks.mapping(setting | properties, "application", *needed)


def _spread(check: Amount) -> dict[str, Any]:
    properties = {
        "mean": checks.amount(check),
        "low": checks.optional(NUMBER),
        "high": checks.optional(NUMBER),
        "deviation": checks.optional({"type": "number", "minimum": 0, "maximum": LARGEST}),
        "count": checks.optional(checks.whole(1, MOST)),
    }
    return checks.mapping(properties, "mean")


def _measured() -> dict[str, Any]:
    spreads = {
        "seconds": _spread(check_seconds),
        "joules": checks.optional(_spread(check_joules)),
        "misses_per_instruction": checks.optional(_spread(check_intensity)),
    }
    return _with_setting(spreads, "seconds")


def _saving() -> dict[str, Any]:
    properties = {
        "together": checks.names(0, checks.MOST_PLACES),
        "mhz": checks.optional(checks.amount(checks.check_mhz)),
        "joules_apart": checks.amount(check_joules),
        "joules_together": checks.amount(check_joules),
        "joules_predicted": checks.optional(NUMBER),
    }
    return checks.mapping(properties, "together", "joules_apart", "joules_together")


def _additive() -> dict[str, Any]:
    return _with_setting({"measured": checks.amount(check_multiple), "predicted": NUMBER}, "measured", "predicted")
