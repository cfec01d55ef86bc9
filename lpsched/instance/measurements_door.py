"""The door of measurements: data as it stands in a file becomes measurements, or a list of all its faults.

head            name, machine_type, machine, meters, idle power, clocks
applications    a list of {name, command, count, memory_class ...}, or of names
seconds, watts  by application: a number, or a list of one for each clock
degradation     by memory class, as a facility has it;    degradation_in_full   by application
evidence        measured, failed, savings, additive: lists of settings with what was found

Only name, applications and seconds must be there. The rules between the parts are in `measurement_rules.py`.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from lpsched.errors import MOST_FAULTS, InstanceError
from lpsched.instance.bench_checks import MOST_APPLICATIONS, MOST_CLOCKS, check_confidence, check_mhz
from lpsched.instance.bench_entry import Entry
from lpsched.instance.fields import check_name, check_seconds, check_watts, describe, refusal
from lpsched.instance.measurement_checks import check_saying
from lpsched.instance.measurement_entries import (
    additive_from,
    application_from,
    failed_from,
    machine_from,
    measured_from,
    meters_from,
    saving_from,
)
from lpsched.instance.measurement_rules import broken_rules
from lpsched.instance.measurement_tables import column_from, degradation_from
from lpsched.instance.measurements import MEASUREMENTS_FORMAT, Measurements
from lpsched.instance.reading import Reading, in_file_order, too_many

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.errors import Place

KEYS: Final = (
    "format",
    "name",
    "description",
    "machine_type",
    "taken",
    "lpsched",
    "machine",
    "meters",
    "absent",
    "idle_watts",
    "idle_watts_before",
    "idle_watts_after",
    "frequencies_mhz",
    "applications",
    "seconds",
    "watts",
    "degradation",
    "degradation_in_full",
    "confidence",
    "measured",
    "failed",
    "savings",
    "additive",
)
MOST_ENTRIES: Final = 1_000_000  # of the evidence
MOST_SENTENCES: Final = 1_000
USUAL_CONFIDENCE: Final = 0.95
Part = TypeVar("Part")


def measurements_from(raw: object, source: str = "measurements") -> Measurements:
    """Return the measurements that a mapping with the keys of a file tells.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in the order of `raw`.
    """
    reading = Reading.begin(raw, MEASUREMENTS_FORMAT, KEYS, source)
    told = _measurements(reading)
    faulty = frozenset(str(fault.path[0]) for fault in reading.faults if fault.path)
    reading.faults += islice(broken_rules(told, faulty), MOST_FAULTS)
    if reading.faults:
        raise InstanceError(source, in_file_order(reading.faults, reading.raw))
    return told


def _measurements(reading: Reading) -> Measurements:
    """Read all parts; where one is wrong, something stands in for it."""
    raw, whole = reading.raw, Entry(reading, reading.raw)
    name = whole.needed("name", check_name, "a name") or ""
    clocks = whole.value("frequencies_mhz", _check_clocks, None)
    modes = len(clocks) if clocks is not None else 0 if raw.get("frequencies_mhz") is None else None
    applications = _entries(whole, "applications", application_from, MOST_APPLICATIONS)
    names = dict.fromkeys(each.name for each in applications)
    known = None if "" in names or not names else names  # faulty names say nothing about the tables
    for key, needed in (("applications", "a list of applications"), ("seconds", "seconds by application")):
        if raw.get(key) is None or (isinstance(raw[key], list | tuple | dict) and not raw[key]):
            whole.refuse((key,), "nothing", f"{needed}, at least one", "add it")
    return Measurements(
        name=name,
        machine_type=whole.value("machine_type", check_name, name),
        machine=machine_from(reading, raw.get("machine")),
        meters=meters_from(reading, raw.get("meters")),
        applications=applications,
        seconds=column_from(reading, "seconds", check_seconds, known, modes),
        watts=column_from(reading, "watts", check_watts, known, modes),
        frequencies_mhz=clocks or (),
        idle_watts=whole.value("idle_watts", check_watts, None),
        idle_watts_before=whole.value("idle_watts_before", check_watts, None),
        idle_watts_after=whole.value("idle_watts_after", check_watts, None),
        degradation=degradation_from(reading, "degradation_in_full", known),
        class_degradation=degradation_from(reading, "degradation", None),
        measured=_entries(whole, "measured", measured_from),
        failed=_entries(whole, "failed", failed_from),
        savings=_entries(whole, "savings", saving_from),
        additive=_entries(whole, "additive", additive_from),
        confidence=whole.value("confidence", check_confidence, USUAL_CONFIDENCE),
        taken=whole.value("taken", check_saying, ""),
        lpsched=whole.value("lpsched", check_saying, ""),
        description=whole.value("description", check_saying, ""),
        absent=whole.value("absent", _check_sentences, ()),
    )


def _entries(
    whole: Entry, key: str, read: Callable[[Reading, object, Place], Part], most: int = MOST_ENTRIES
) -> tuple[Part, ...]:
    """Read a list, entry by entry; a list of junk costs no more than its first faults."""
    value = whole.raw.get(key)
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        whole.refuse((key,), describe(value), f"a list of {key}")
        return ()
    if len(value) > most:
        whole.reading.faults.append(too_many((key,), len(value), most))
        return ()
    found = []
    for index, entry in enumerate(value):
        if len(whole.reading.faults) >= MOST_FAULTS:
            break
        found.append(read(whole.reading, entry, (key, index)))
    return tuple(found)


def _check_clocks(value: object) -> tuple[float, ...]:
    needed = f"a list of 1 to {MOST_CLOCKS} clocks in MHz, fastest first"
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_CLOCKS:
        raise refusal(describe(value), needed, "write [ ] around it; leave it out where no clock was set")
    return tuple(map(check_mhz, value))


def _check_sentences(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST_SENTENCES:
        raise refusal(describe(value), f"a list of at most {MOST_SENTENCES:,} sentences", "correct it")
    return tuple(map(check_saying, value))
