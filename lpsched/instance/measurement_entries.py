"""The entries of a file of measurements: applications, the machine, the meters, settings and spreads.

A spread needs its mean only, as somebody who writes a file by hand has it: it then counts as one measurement.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.instance.bench_checks import OneOf, check_mhz, check_yes
from lpsched.instance.bench_entry import Entry
from lpsched.instance.bench_parts import read_cores
from lpsched.instance.fields import check_count, check_name, check_seconds
from lpsched.instance.measurement_checks import (
    check_deviation,
    check_intensity,
    check_joules,
    check_multiple,
    check_names,
    check_number,
    check_saying,
)
from lpsched.instance.measurements import (
    BY_MISSES,
    BY_SLOWDOWN,
    NOT_TOLD,
    AdditiveCheck,
    Failed,
    Measured,
    MeasuredApplication,
    MeasuredMachine,
    Meters,
    Saving,
    Spread,
)
from lpsched.instance.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.errors import Place
    from lpsched.instance.reading import Reading

APPLICATION_KEYS: Final = (
    "name", "command", "count", "memory_class", "classified_by", "intensity", "suffers", "causes"
)  # fmt: skip
MACHINE_KEYS: Final = ("processor", "system", "cores")
METER_KEYS: Final = ("time", "energy", "energy_covers", "counters", "frequencies")
SETTING_KEYS: Final = ("application", "beside", "mhz", "batch")
SPREAD_KEYS: Final = ("mean", "low", "high", "deviation", "count")
MEASURED_KEYS: Final = (*SETTING_KEYS, "seconds", "joules", "misses_per_instruction")
FAILED_KEYS: Final = (*SETTING_KEYS, "reason")
SAVING_KEYS: Final = ("together", "mhz", "joules_apart", "joules_together", "joules_predicted")
ADDITIVE_KEYS: Final = (*SETTING_KEYS, "measured", "predicted")


def application_from(reading: Reading, raw: object, place: Place) -> MeasuredApplication:
    """Read an application, or just its name."""
    entry = Entry(reading, {"name": raw} if isinstance(raw, str) else raw, place, APPLICATION_KEYS)
    return MeasuredApplication(
        name=entry.needed("name", check_name, "a name") or "",
        command=entry.command("command") if entry.raw.get("command") is not None else (),
        count=entry.value("count", check_count, 1),
        memory_class=entry.value("memory_class", check_name, None),
        classified_by=entry.value("classified_by", OneOf((BY_MISSES, BY_SLOWDOWN)), None),
        intensity=entry.value("intensity", check_intensity, None),
        suffers=entry.value("suffers", check_number, None),
        causes=entry.value("causes", check_number, None),
    )


def machine_from(reading: Reading, raw: object) -> MeasuredMachine:
    """Read what is told of the machine; a number of cores stands for the first ones."""
    entry = Entry(reading, raw, ("machine",), MACHINE_KEYS)
    count, places = read_cores(entry) if entry.raw.get("cores") is not None else (0, ())
    return MeasuredMachine(
        entry.value("processor", check_saying, NOT_TOLD),
        entry.value("system", check_saying, NOT_TOLD),
        places or tuple((number,) for number in range(count)),
    )


def meters_from(reading: Reading, raw: object) -> Meters:
    """Read what was measured with."""
    entry = Entry(reading, raw, ("meters",), METER_KEYS)
    return Meters(
        entry.value("time", check_saying, NOT_TOLD),
        entry.value("energy", check_saying, None),
        entry.value("energy_covers", check_saying, ""),
        entry.value("counters", check_saying, None),
        entry.value("frequencies", check_saying, None),
    )


def _setting(entry: Entry) -> Setting:
    nobody: tuple[str, ...] = ()
    beside, batch = entry.value("beside", check_names, nobody), entry.value("batch", check_yes, default=False)
    if batch and not beside:
        entry.refuse(("batch",), "nothing beside it", "what ran with it", "add 'beside', or leave it out")
    name = entry.needed("application", check_name, "a name")
    return Setting(name or "", beside, entry.value("mhz", check_mhz, None), batch)


def _spread(entry: Entry, key: str, check: Callable[[object], float]) -> Spread | None:
    if entry.raw.get(key) is None:
        return None
    own = Entry(entry.reading, entry.raw[key], (*entry.place, key), SPREAD_KEYS)
    mean = own.needed("mean", check, "a number")
    low, high = own.value("low", check_number, None), own.value("high", check_number, None)
    if mean is not None and not (mean if low is None else low) <= mean <= (mean if high is None else high):
        found = f"{low!r} to {high!r}, and a mean of {mean!r}"
        own.refuse((), found, "a mean between low and high", "correct it")
    count, deviation = own.value("count", check_count, 1), own.value("deviation", check_deviation, None)
    return Spread(math.nan if mean is None else mean, count, deviation, low, high)


def measured_from(reading: Reading, raw: object, place: Place) -> Measured:
    """Read a setting with what its runs told."""
    entry = Entry(reading, raw, place, MEASURED_KEYS)
    setting, seconds = _setting(entry), _spread(entry, "seconds", check_seconds)
    if seconds is None and entry.is_mapping:
        do = "add it, or move the setting to 'failed'"
        entry.refuse(("seconds",), "nothing", "at least {mean: ...}", do)
    joules = _spread(entry, "joules", check_joules)
    intensity = _spread(entry, "misses_per_instruction", check_intensity)
    return Measured(setting, seconds or Spread(math.nan, 1), joules, intensity)


def failed_from(reading: Reading, raw: object, place: Place) -> Failed:
    """Read a setting that could not be measured."""
    entry = Entry(reading, raw, place, FAILED_KEYS)
    return Failed(_setting(entry), entry.needed("reason", check_saying, "a sentence") or "")


def saving_from(reading: Reading, raw: object, place: Place) -> Saving:
    """Read what running together saved."""
    entry = Entry(reading, raw, place, SAVING_KEYS)
    return Saving(
        entry.needed("together", check_names, "a list of applications") or (),
        entry.value("mhz", check_mhz, None),
        entry.needed("joules_apart", check_joules, "joules") or 0.0,
        entry.needed("joules_together", check_joules, "joules") or 0.0,
        entry.value("joules_predicted", check_number, None),
    )


def additive_from(reading: Reading, raw: object, place: Place) -> AdditiveCheck:
    """Read how well the additive model predicts a group."""
    entry = Entry(reading, raw, place, ADDITIVE_KEYS)
    return AdditiveCheck(
        _setting(entry),
        entry.needed("measured", check_multiple, "a multiple of the time alone") or math.nan,
        entry.needed("predicted", check_number, "a multiple of the time alone") or 0.0,
    )
