"""The JSON Schema of a file of measurements."""

from __future__ import annotations

from typing import Any, Final

from lpsched.instance.bench import COMPANIONS
from lpsched.instance.bench_checks import (
    MOST_APPLICATIONS,
    MOST_CLOCKS,
    MOST_PLACES,
    check_confidence,
    check_mhz,
)
from lpsched.instance.facility_parts import check_degradation
from lpsched.instance.fields import LARGEST, MOST, Amount, check_seconds, check_watts
from lpsched.instance.measurement_checks import (
    LONGEST_SAYING,
    check_intensity,
    check_joules,
    check_multiple,
)
from lpsched.instance.measurements import BY_MISSES, BY_SLOWDOWN, MEASUREMENTS_FORMAT
from lpsched.instance.measurements_door import KEYS, MOST_ENTRIES, MOST_SENTENCES
from lpsched.instance.schema_words import (
    COMMAND,
    NAME,
    amount,
    cores,
    list_of,
    mapping,
    names,
    optional,
    whole,
)

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
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched measurements",
    } | mapping({key: properties[key] for key in KEYS}, *needed)


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
