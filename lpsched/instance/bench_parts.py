"""The parts of a bench file: applications, cores, clocks, repeats and the energy meter; each by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from lpsched.errors import quote
from lpsched.instance.bench import COMPANIONS, TIMEOUT_SECONDS, Application, EnergyChoice, Repeats
from lpsched.instance.bench_checks import (
    LAST_PROCESSOR,
    MOST_APPLICATIONS,
    MOST_CLOCKS,
    MOST_PLACES,
    MOST_REPEATS,
    MOST_WARM_UPS,
    OneOf,
    Whole,
    check_confidence,
    check_every,
    check_folder,
    check_idle,
    check_mhz,
    check_text,
    check_timeout,
    check_variable,
    check_within,
    check_word,
)
from lpsched.instance.bench_entry import Entry
from lpsched.instance.fields import check_count, check_name, describe
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.reading import MOST_KEYS

if TYPE_CHECKING:
    from lpsched.errors import Place
    from lpsched.instance.bench import EnergyKind

APPLICATION_KEYS: Final = ("name", "command", "count", "timeout_seconds", "folder", "environment")
REPEATS_KEYS: Final = ("least", "most", "within", "confidence", "warm_ups")
ENERGY_KEYS: Final = ("meter", "command", "stream", "every_seconds", "covers", "idle_seconds")
METERS: Final = ("auto", "rapl", "none")


def read_applications(whole: Entry) -> tuple[Application, ...]:
    """Read the applications, those of each name once."""
    entries = whole.items("applications", "applications", MOST_APPLICATIONS, least=1)
    found: dict[str, Application] = {}
    for index, raw in enumerate(entries):
        place = ("applications", index)
        if raw is None:
            raw = {}  # noqa: PLW2901 - so that what is missing is told
        entry = Entry(whole.reading, raw, place, APPLICATION_KEYS)
        if not isinstance(raw, Mapping):
            continue
        name = entry.needed("name", check_name, "a name")
        if name in COMPANIONS:
            entry.refuse(("name",), quote(name), "a name that no companion has", "choose another")
        elif name in found:
            entry.refuse(("name",), f"{quote(name)} a second time", "names that differ", "rename one")
        application = Application(
            name=name or "",
            command=entry.command("command"),
            count=entry.value("count", check_count, 1),
            timeout_seconds=entry.value("timeout_seconds", check_timeout, TIMEOUT_SECONDS),
            folder=entry.value("folder", check_folder, "") or None,
            environment=_environment(entry),
        )
        if name is not None:
            found.setdefault(name, application)
    return tuple(found.values())


def _environment(entry: Entry) -> FrozenDict[str, str]:
    raw = entry.raw.get("environment")
    if raw is None:
        return FrozenDict({})
    if not isinstance(raw, Mapping) or len(raw) > MOST_KEYS:
        needed = f"a mapping of at most {MOST_KEYS} variables to texts"
        entry.refuse(("environment",), describe(raw), needed)
        return FrozenDict({})
    found: dict[str, str] = {}
    for key, value in raw.items():
        name = entry.checked(key, check_variable, "environment", str(key))
        text = entry.checked(value, check_word, "environment", str(key))
        if name is not None and text is not None:
            found[name] = text
    return FrozenDict(found)


def read_cores(whole: Entry) -> tuple[int, tuple[tuple[int, ...], ...]]:
    """Read the places: how many, or the processors of each; 0 and none where they have faults."""
    value = whole.raw.get("cores")
    needed = "how many applications run at once, such as 2, or a list of processors for each place"
    if not isinstance(value, list | tuple) or not value:
        if isinstance(value, bool) or not isinstance(value, int | float):
            found = "nothing" if value is None else describe(value)
            whole.refuse(("cores",), found, needed, "add it" if value is None else "write it as a number")
            return 0, ()
        return whole.checked(value, Whole(1, MOST_PLACES), "cores") or 0, ()
    places: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for index, entry in enumerate(whole.items("cores", "places", MOST_PLACES)):
        own = _processors(whole, entry, ("cores", index))
        for processor in own:
            if processor in taken:
                found = f"processor {processor} a second time"
                whole.refuse(("cores", index), found, "each processor in one place only", "drop it here")
            taken.add(processor)
        places.append(own)
    return 0, tuple(places) if all(places) else ()


def _processors(whole: Entry, given: object, place: Place) -> tuple[int, ...]:
    """Read the processors of a place: one, or a list of them."""
    check = Whole(0, LAST_PROCESSOR)
    if not isinstance(given, list | tuple):
        only = whole.checked(given, check, *place)
        return () if only is None else (only,)
    if not 1 <= len(given) <= LAST_PROCESSOR:
        whole.refuse(place, describe(given), "the numbers of one processor or more", "name them")
        return ()
    found = [whole.checked(each, check, *place, index) for index, each in enumerate(given)]
    return tuple(dict.fromkeys(each for each in found if each is not None))


def read_clocks(whole: Entry) -> tuple[float, ...]:
    """Read the clocks, fastest first."""
    clocks = whole.amounts("frequencies_mhz", check_mhz, "clocks in MHz", MOST_CLOCKS)
    if len({f"{clock:g}" for clock in clocks}) < len(clocks):  # they name P-states
        whole.refuse(("frequencies_mhz",), "a clock twice", "clocks that differ", "drop one of the two")
    return tuple(sorted(clocks, reverse=True))


def read_repeats(whole: Entry) -> Repeats:
    """Read how often each setting is run."""
    entry = Entry(whole.reading, whole.raw.get("repeats"), ("repeats",), REPEATS_KEYS)
    usual = Repeats()
    check = Whole(2, MOST_REPEATS)
    most = entry.value("most", check, MOST_REPEATS)
    least = entry.value("least", check, min(usual.least, most))
    most = max(usual.most, least) if entry.raw.get("most") is None else most
    if least > most:
        found = f"{least}, but most is {most}"
        entry.refuse(("least",), found, f"at most {most}", "lower it, or raise most")
    return Repeats(
        least,
        most,
        entry.value("within", check_within, usual.within),
        entry.value("confidence", check_confidence, usual.confidence),
        entry.value("warm_ups", Whole(0, MOST_WARM_UPS), usual.warm_ups),
    )


def read_energy(whole: Entry) -> EnergyChoice:
    """Read where energy is read."""
    value = whole.raw.get("energy")
    if isinstance(value, str):
        if value not in METERS:
            needed = ", ".join(METERS) + ", or {command: ...} or {stream: ...}"
            whole.refuse(("energy",), describe(value), needed)
        return EnergyChoice(_meter(value))
    entry = Entry(whole.reading, value, ("energy",), ENERGY_KEYS)
    usual = EnergyChoice()
    ways = [key for key in ("meter", "command", "stream") if entry.raw.get(key) is not None]
    if len(ways) > 1:
        entry.refuse((), "the keys " + " and ".join(ways), "one of them", "drop the other")
    kind, command = usual.kind, usual.command
    if ways[:1] == ["meter"]:
        kind = _meter(entry.value("meter", OneOf(METERS), "auto"))
    elif ways:
        kind, command = cast("EnergyKind", ways[0]), entry.command(ways[0])
    return EnergyChoice(
        kind,
        command,
        entry.value("every_seconds", check_every, usual.every_seconds),
        entry.value("covers", check_text, usual.covers),
        entry.value("idle_seconds", check_idle, usual.idle_seconds),
    )


def _meter(word: str) -> EnergyKind:
    return cast("EnergyKind", word)
