"""From a mapping, as files hold it, to measurements: values, entries, tables, and the rules between them."""

from __future__ import annotations

import math
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, TypeVar

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, quote
from lpsched.facility.parts import check_degradation
from lpsched.measure import bench_checks as checks
from lpsched.measure.bench import COMPANIONS
from lpsched.measure.bench_reading import Entry, read_cores
from lpsched.measure.measurements import (
    BY_MISSES,
    BY_SLOWDOWN,
    MEASUREMENTS_FORMAT,
    NOT_TOLD,
    AdditiveCheck,
    Failed,
    Measured,
    MeasuredApplication,
    MeasuredMachine,
    Measurements,
    Meters,
    Saving,
    Setting,
    Spread,
)
from lpsched.model.base import in_file_order, repeats, too_many
from lpsched.model.fields import (
    LARGEST,
    SMALLEST,
    Amount,
    FrozenDict,
    check_count,
    check_name,
    check_seconds,
    check_watts,
    describe,
    refusal,
    shown_number,
)
from lpsched.model.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from lpsched.errors import Place
    from lpsched.measure.measurements import Degradation


# Single values of a file of measurements: numbers of any sign, texts as programs say them, names.
LONGEST_SAYING: Final = 100_000  # characters

check_joules: Final = Amount("joules")
check_intensity: Final = Amount("misses per instruction")
check_multiple: Final = Amount("a multiple of the time alone", least=SMALLEST)


def check_number(value: object) -> float:
    """Return a number of any sign, however small."""
    needed = f"a number from {-LARGEST:g} to {LARGEST:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(describe(value), needed, "write it as a plain number")
    if not -LARGEST <= value <= LARGEST:  # false for NaN too
        raise refusal(shown_number(value), needed, "correct it")
    return float(value)


def check_deviation(value: object) -> float:
    """Return a number that is not negative, however small."""
    number = check_number(value)
    if number < 0:
        raise refusal(shown_number(number), "a deviation of 0 or more", "correct it")
    return number


def check_saying(value: object) -> str:
    """Return a text, which may be whatever a program said."""
    needed = f"a text of at most {LONGEST_SAYING:,} characters"
    if not isinstance(value, str):
        raise refusal(describe(value), needed, "put it in quotes")
    if len(value) > LONGEST_SAYING:
        raise refusal(f"{len(value):,} characters", needed, "shorten it")
    return value


def check_names(value: object) -> tuple[str, ...]:
    """Return names, sorted, so that equal settings are equal."""
    if not isinstance(value, list | tuple):
        raise refusal(describe(value), "a list of applications", "write [ ] around it")
    if len(value) > checks.MOST_PLACES:
        raise refusal(f"{len(value):,} of them", f"at most {checks.MOST_PLACES:,}", "correct it")
    return tuple(sorted(map(check_name, value)))


# The entries of a file of measurements: applications, the machine, the meters, settings and spreads.
#
# A spread needs its mean only, as somebody who writes a file by hand has it: it then counts as one
# measurement.
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
        classified_by=entry.value("classified_by", checks.OneOf((BY_MISSES, BY_SLOWDOWN)), None),
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
    beside, batch = entry.value("beside", check_names, nobody), entry.value("batch", checks.check_yes, default=False)
    if batch and not beside:
        entry.refuse(("batch",), "nothing beside it", "what ran with it", "add 'beside', or leave it out")
    name = entry.needed("application", check_name, "a name")
    return Setting(name or "", beside, entry.value("mhz", checks.check_mhz, None), batch)


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
        entry.value("mhz", checks.check_mhz, None),
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


# Tables of a file of measurements: columns by application, and degradation by class or by application.
#
# What is not named was not measured. Where the names of applications, or the clocks, are not sound
# themselves, any name and any number of them will do.
def column_from(
    reading: Reading, key: str, check: Amount, known: Collection[str] | None, clocks: int | None
) -> FrozenDict[str, tuple[float, ...]]:
    """Read the numbers of each application, one for each clock."""
    found = {}
    for entry, name in _rows(reading, reading.raw.get(key), (key,), known):
        row = entry.value(name, _numbers(check, clocks), None)
        if row is not None:
            found[name] = row
    return FrozenDict(found)


def _numbers(check: Amount, clocks: int | None) -> Callable[[object], tuple[float, ...]]:
    def checked(value: object) -> tuple[float, ...]:
        if not clocks and not isinstance(value, list | tuple):
            return (check(value),)
        wanted = 1 if clocks == 0 else clocks
        if not isinstance(value, list | tuple) or wanted not in (None, len(value)):
            needed = f"a list of {clocks}, one for each clock" if clocks else "one number: there are no clocks"
            raise refusal(describe(value), needed, "give one for each of frequencies_mhz")
        return tuple(map(check, value))

    return checked


def degradation_from(reading: Reading, key: str, known: Collection[str] | None) -> Degradation:
    """Read who is slowed by whom, and by how much."""
    found = {}
    for entry, name in _rows(reading, reading.raw.get(key), (key,), known):
        row = {}
        for inner, other in _rows(reading, entry.raw[name], (key, name), known):
            share = inner.value(other, check_degradation, None)
            if share is not None:
                row[other] = share
        found[name] = FrozenDict(row)
    return FrozenDict(found)


def _rows(reading: Reading, raw: object, place: Place, known: Collection[str] | None) -> Iterator[tuple[Entry, str]]:
    """Yield the names that a mapping has, with the mapping; refuse those that nobody knows."""
    entry = Entry(reading, raw, place)
    for name in entry.raw:
        if known is None or not isinstance(name, str):
            if entry.checked(name, check_name, str(name)) is not None:
                yield entry, name
        elif name in known:
            yield entry, name
        else:
            do = entry.advice(name, known) or "add it to applications, or remove it"
            entry.refuse((name,), quote(name), "the name of an application", do)


# What the parts of a file of measurements must satisfy together: one small function per rule.
#
# The columns are what the evidence says: where a file has the setting of an application alone, its `seconds`
# are the mean of that setting, its `watts` the energy of it by its time; and `idle_watts` are the mean of
# before and after.
CLOSE: Final = 1e-9  # relative
OTHERS: Final = "correct it; to use other numbers than those measured, remove the evidence"


def broken_rules(told: Measurements, faulty: frozenset[str]) -> Iterator[Fault]:
    """Return the faults of every rule whose keys are sound by themselves."""
    for keys, rule in RULES:
        if not faulty.intersection(keys):
            yield from rule(told)


def _applications_have_names_of_their_own(told: Measurements) -> Iterator[Fault]:
    names = [each.name for each in told.applications]
    yield from repeats(names, ("applications",), ("name",))
    for index, name in enumerate(names):
        if name in COMPANIONS:
            found = f"{quote(name)}, a companion of lpsched"
            yield Fault(("applications", index, "name"), found, "a name of your own", "rename it")


def _clocks_fall_and_can_be_told_apart(told: Measurements) -> Iterator[Fault]:
    clocks = told.frequencies_mhz
    for index, (faster, slower) in enumerate(pairwise(clocks), 1):
        if slower >= faster or f"{slower:g}" == f"{faster:g}":
            found = f"{slower!r} after {faster!r}"
            needed = "clocks from fast to slow that differ in six digits"
            yield Fault(("frequencies_mhz", index), found, needed, "sort them, and their columns")


def _idle_power_is_what_was_measured(told: Measurements) -> Iterator[Fault]:
    seen = [each for each in (told.idle_watts_before, told.idle_watts_after) if each is not None]
    if not seen:
        return
    mean = sum(seen) / len(seen)
    if told.idle_watts is None or not _is_close(told.idle_watts, mean):
        found = "nothing" if told.idle_watts is None else repr(told.idle_watts)
        needed = f"{mean!r}, the mean of idle_watts_before and idle_watts_after"
        yield Fault(("idle_watts",), found, needed, OTHERS)


def _columns_are_what_the_evidence_says(told: Measurements) -> Iterator[Fault]:
    clocks: tuple[float | None, ...] = told.frequencies_mhz or (None,)
    for each in told.measured:
        setting = each.setting
        if setting.beside or setting.mhz not in clocks:
            continue
        index = clocks.index(setting.mhz)
        for key, column, value in (("seconds", told.seconds, each.seconds.mean), ("watts", told.watts, _watts(each))):
            row = column.get(setting.application)
            if row is None or value is None or _is_close(row[index], value):
                continue
            found, needed = repr(row[index]), f"{value!r}, as measured for {quote(str(setting))}"
            place = (key, setting.application, index) if told.frequencies_mhz else (key, setting.application)
            yield Fault(place, found, needed, OTHERS)


def _watts(each: Measured) -> float | None:
    return None if each.joules is None else each.joules.mean / each.seconds.mean


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=CLOSE)


def _each_setting_stands_once(told: Measurements) -> Iterator[Fault]:
    seen = set()
    lists: tuple[tuple[str, tuple[Measured | Failed, ...]], ...] = (
        ("measured", told.measured),
        ("failed", told.failed),
    )
    for key, entries in lists:
        for index, each in enumerate(entries):
            if each.setting in seen:
                found = f"{quote(str(each.setting))} once more"
                yield Fault((key, index), found, "each setting once", "remove one of the two")
            seen.add(each.setting)


Rule = tuple[tuple[str, ...], "Callable[[Measurements], Iterator[Fault]]"]
RULES: Final[tuple[Rule, ...]] = (
    (("applications",), _applications_have_names_of_their_own),
    (("frequencies_mhz",), _clocks_fall_and_can_be_told_apart),
    (("idle_watts", "idle_watts_before", "idle_watts_after"), _idle_power_is_what_was_measured),
    (("frequencies_mhz", "seconds", "watts", "measured"), _columns_are_what_the_evidence_says),
    (("measured", "failed"), _each_setting_stands_once),
)


# The door of measurements: data as it stands in a file becomes measurements, or a list of all its faults.
#
# head            name, machine_type, machine, meters, idle power, clocks
# applications    a list of {name, command, count, memory_class ...}, or of names
# seconds, watts  by application: a number, or a list of one for each clock
# degradation     by memory class, as a facility has it;    degradation_in_full   by application
# evidence        measured, failed, savings, additive: lists of settings with what was found
#
# Only name, applications and seconds must be there. The rules between the parts are
# those of `broken_rules`.
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
    """Return the measurements that a mapping with the keys of a file tells."""
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
    applications = _entries(whole, "applications", application_from, checks.MOST_APPLICATIONS)
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
        confidence=whole.value("confidence", checks.check_confidence, USUAL_CONFIDENCE),
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
    needed = f"a list of 1 to {checks.MOST_CLOCKS} clocks in MHz, fastest first"
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= checks.MOST_CLOCKS:
        raise refusal(describe(value), needed, "write [ ] around it; leave it out where no clock was set")
    return tuple(map(checks.check_mhz, value))


def _check_sentences(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST_SENTENCES:
        raise refusal(describe(value), f"a list of at most {MOST_SENTENCES:,} sentences", "correct it")
    return tuple(map(check_saying, value))
