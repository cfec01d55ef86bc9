"""From a mapping, as files hold it, to a bench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeVar, cast

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, nearest, quote
from lpsched.measure import bench_checks as checks
from lpsched.measure.bench import (
    CLASS_BOUNDS,
    COMPANIONS,
    FORMAT,
    SHARE_BOUNDS,
    TIMEOUT_SECONDS,
    Application,
    Bench,
    EnergyChoice,
    Repeats,
    size_of,
)
from lpsched.model.base import MOST_ADVISED, MOST_KEYS, in_file_order, too_many
from lpsched.model.fields import FrozenDict, check_count, check_name, describe
from lpsched.model.provenance import LARGEST_SEED
from lpsched.model.reading import Reading

if TYPE_CHECKING:
    from lpsched.errors import Place
    from lpsched.measure.bench import EnergyKind


# Reading one mapping of a bench or of measurements key by key, and noting the faults on the way.
Checked = TypeVar("Checked")


class Entry:
    """A mapping at a place of the file; a key without a value counts as not given.

    Parameters
    ----------
    keys
        Those that it may have; `None`: any.
    """

    def __init__(self, reading: Reading, raw: object, place: Place = (), keys: tuple[str, ...] | None = None) -> None:
        self.reading, self.place = reading, place
        self.is_mapping = raw is None or isinstance(raw, Mapping)
        self.raw: Mapping[str, object] = raw if isinstance(raw, Mapping) else {}
        if not self.is_mapping:
            self.refuse((), describe(raw), "a mapping" + (f" with the keys {', '.join(keys)}" if keys else ""))
        if keys is not None:
            for key in islice((key for key in self.raw if key not in keys), MOST_FAULTS):
                needed = "one of " + ", ".join(keys)
                self.refuse((str(key),), "an unknown key", needed, self.advice(str(key), keys) or "remove it")

    def refuse(self, inner: Place, found: str, needed: str, do: str = "") -> None:
        """Note a fault."""
        if len(self.reading.faults) < MOST_FAULTS:
            self.reading.faults.append(Fault((*self.place, *inner), found, needed, do or self.reading.hint))

    def advice(self, word: str, known: Iterable[str]) -> str:
        """Return the known word nearest to a mistaken one, for the first faults; finding one takes time."""
        return nearest(word, known) if len(self.reading.faults) < MOST_ADVISED else ""

    def checked(self, value: object, check: Callable[[object], Checked], *inner: str | int) -> Checked | None:
        """Return a value that passes a check; else `None`, and a fault."""
        try:
            return check(value)
        except PydanticCustomError as refused:
            self.refuse(inner, **(refused.context or {}))
            return None

    def value(self, key: str, check: Callable[[object], Checked], default: Checked) -> Checked:
        """Return the value of a key, or what stands for it."""
        if self.raw.get(key) is None:
            return default
        found = self.checked(self.raw[key], check, key)
        return default if found is None else found

    def needed(self, key: str, check: Callable[[object], Checked], what: str) -> Checked | None:
        """Return the value of a key that must be there."""
        if self.raw.get(key) is None:
            if self.is_mapping:  # what is no mapping was told as a whole
                self.refuse((key,), "nothing", what, "add it")
            return None
        return self.checked(self.raw[key], check, key)

    def items(self, key: str, what: str, most: int, *, least: int = 0) -> list[object]:
        """Return a list as it stands, if it is one of a sound length."""
        value = self.raw.get(key)
        if value is None and not least:
            return []
        if not isinstance(value, list | tuple) or len(value) < least:
            found = "nothing" if value is None else describe(value)
            self.refuse((key,), found, f"a list of {what}" + (f", at least {least}" if least else ""))
            return []
        if len(value) > most:
            fault = too_many((*self.place, key), len(value), most)
            self.refuse((key,), fault.found, fault.needed, "divide the bench")
            return []
        return list(value)

    def amounts(self, key: str, check: Callable[[object], float], what: str, most: int) -> tuple[float, ...]:
        """Return a list of numbers; those that are none are left out, with a fault."""
        given = self.items(key, what, most)
        found = (self.checked(each, check, key, index) for index, each in enumerate(given))
        return tuple(each for each in found if each is not None)

    def command(self, key: str) -> tuple[str, ...]:
        """Return a program and its arguments, given as a list or as one text."""
        value = self.raw.get(key)
        if isinstance(value, str):
            words = self.checked(value, lambda text: checks.split_command(str(text)), key)
            if words is None:
                return ()
        else:
            given = self.items(key, "words: a program and its arguments", checks.MOST_WORDS, least=1)
            checked = [self.checked(each, checks.check_word, key, index) for index, each in enumerate(given)]
            words = tuple(each for each in checked if each is not None)
            if len(words) < len(given) or not given:
                return ()
        if not words or not words[0]:
            self.refuse((key,), "no program", "a program and its arguments", "name the program first")
        return words


# The parts of a bench file: applications, cores, clocks, repeats and the energy meter; each by itself.
APPLICATION_KEYS: Final = ("name", "command", "count", "timeout_seconds", "folder", "environment")
REPEATS_KEYS: Final = ("least", "most", "within", "confidence", "warm_ups")
ENERGY_KEYS: Final = ("meter", "command", "stream", "every_seconds", "covers", "idle_seconds")
METERS: Final = ("auto", "rapl", "none")


def read_applications(whole: Entry) -> tuple[Application, ...]:
    """Read the applications, those of each name once."""
    entries = whole.items("applications", "applications", checks.MOST_APPLICATIONS, least=1)
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
            timeout_seconds=entry.value("timeout_seconds", checks.check_timeout, TIMEOUT_SECONDS),
            folder=entry.value("folder", checks.check_folder, "") or None,
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
        name = entry.checked(key, checks.check_variable, "environment", str(key))
        text = entry.checked(value, checks.check_word, "environment", str(key))
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
        return whole.checked(value, checks.Whole(1, checks.MOST_PLACES), "cores") or 0, ()
    places: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for index, entry in enumerate(whole.items("cores", "places", checks.MOST_PLACES)):
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
    check = checks.Whole(0, checks.LAST_PROCESSOR)
    if not isinstance(given, list | tuple):
        only = whole.checked(given, check, *place)
        return () if only is None else (only,)
    if not 1 <= len(given) <= checks.LAST_PROCESSOR:
        whole.refuse(place, describe(given), "the numbers of one processor or more", "name them")
        return ()
    found = [whole.checked(each, check, *place, index) for index, each in enumerate(given)]
    return tuple(dict.fromkeys(each for each in found if each is not None))


def read_clocks(whole: Entry) -> tuple[float, ...]:
    """Read the clocks, fastest first."""
    clocks = whole.amounts("frequencies_mhz", checks.check_mhz, "clocks in MHz", checks.MOST_CLOCKS)
    if len({f"{clock:g}" for clock in clocks}) < len(clocks):  # they name P-states
        whole.refuse(("frequencies_mhz",), "a clock twice", "clocks that differ", "drop one of the two")
    return tuple(sorted(clocks, reverse=True))


def read_repeats(whole: Entry) -> Repeats:
    """Read how often each setting is run."""
    entry = Entry(whole.reading, whole.raw.get("repeats"), ("repeats",), REPEATS_KEYS)
    usual = Repeats()
    check = checks.Whole(2, checks.MOST_REPEATS)
    most = entry.value("most", check, checks.MOST_REPEATS)
    least = entry.value("least", check, min(usual.least, most))
    most = max(usual.most, least) if entry.raw.get("most") is None else most
    if least > most:
        found = f"{least}, but most is {most}"
        entry.refuse(("least",), found, f"at most {most}", "lower it, or raise most")
    return Repeats(
        least,
        most,
        entry.value("within", checks.check_within, usual.within),
        entry.value("confidence", checks.check_confidence, usual.confidence),
        entry.value("warm_ups", checks.Whole(0, checks.MOST_WARM_UPS), usual.warm_ups),
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
        kind = _meter(entry.value("meter", checks.OneOf(METERS), "auto"))
    elif ways:
        kind, command = cast("EnergyKind", ways[0]), entry.command(ways[0])
    return EnergyChoice(
        kind,
        command,
        entry.value("every_seconds", checks.check_every, usual.every_seconds),
        entry.value("covers", checks.check_text, usual.covers),
        entry.value("idle_seconds", checks.check_idle, usual.idle_seconds),
    )


def _meter(word: str) -> EnergyKind:
    return cast("EnergyKind", word)


# Reading a bench as it stands in a file: its parts, then what they say of each other; all faults at once.
#
# applications    a list of {name, command, count, timeout_seconds, folder, environment}
# cores           how many places there are, or a list of places: a processor each, or several
# pairs           all, none, or a list of two names each
# groups          a list of three names or more each, no more than there are places energy          auto,
# rapl, none, or {command: ...} or {stream: ...} with every_seconds, covers, idle_seconds
KEYS: Final = (
    "format",
    "name",
    "description",
    "machine_type",
    "cores",
    "frequencies_mhz",
    "applications",
    "pairs",
    "groups",
    "batches",
    "repeats",
    "energy",
    "counters",
    "companions",
    "class_bounds",
    "share_bounds",
    "seed",
    "limit_seconds",
)
COUNTERS: Final = ("auto", "none")
COMPANION_CHOICES: Final = ("auto", "always", "never")
PAIR: Final = 2


def bench_from(raw: object, source: str = "bench") -> Bench:
    """Return the bench that a mapping asks for."""
    reading = Reading.begin(raw, FORMAT, KEYS, source)
    whole = Entry(reading, reading.raw)
    name = whole.needed("name", check_name, "a name") or "bench"
    applications = read_applications(whole)
    names = {each.name for each in applications}
    places, cores = read_cores(whole)
    at_once = places or len(cores)
    bench = Bench(
        name=name,
        machine_type=whole.value("machine_type", check_name, name),
        applications=applications,
        places=places,
        cores=cores,
        frequencies_mhz=read_clocks(whole),
        pairs=cast("tuple[tuple[str, str], ...] | None", _pairs(whole, names, at_once)),
        groups=_groups(whole, names, at_once),
        batches=whole.value("batches", checks.check_yes, default=True),
        repeats=read_repeats(whole),
        energy=read_energy(whole),
        counters=cast("Literal['auto', 'none']", whole.value("counters", checks.OneOf(COUNTERS), "auto")),
        companions=cast(
            "Literal['auto', 'always', 'never']", whole.value("companions", checks.OneOf(COMPANION_CHOICES), "auto")
        ),
        class_bounds=_bounds(whole, "class_bounds", CLASS_BOUNDS),
        share_bounds=_bounds(whole, "share_bounds", SHARE_BOUNDS),
        seed=whole.value("seed", checks.Whole(0, LARGEST_SEED), 0),
        limit_seconds=whole.value("limit_seconds", checks.check_limit, 0.0) or None,
        description=whole.value("description", checks.check_text, ""),
    )
    _refuse_endless(whole, bench)
    if reading.faults:
        raise InstanceError(source, in_file_order(reading.faults, reading.raw))
    return bench


def _pairs(whole: Entry, names: set[str], places: int) -> tuple[tuple[str, ...], ...] | None:
    value = whole.raw.get("pairs")
    if value is None or value == "all":
        return None
    if value == "none":
        return ()
    if not isinstance(value, list | tuple):
        whole.refuse(("pairs",), describe(value), "all, none, or a list of two names each")
        return ()
    return _together(whole, "pairs", names, (PAIR, PAIR), places)


def _groups(whole: Entry, names: set[str], places: int) -> tuple[tuple[str, ...], ...]:
    return _together(whole, "groups", names, (PAIR + 1, checks.MOST_PLACES), places)


def _together(
    whole: Entry, key: str, names: set[str], sizes: tuple[int, int], places: int
) -> tuple[tuple[str, ...], ...]:
    """Read which applications run together: so many, known, and not more than there are places."""
    few = "two names" if sizes[0] == sizes[1] else f"{sizes[0]} names or more"
    found: dict[tuple[str, ...], None] = {}
    for index, entry in enumerate(whole.items(key, f"lists of {few}", checks.MOST_GROUPS)):
        if not isinstance(entry, list | tuple) or not sizes[0] <= len(entry) <= sizes[1]:
            whole.refuse((key, index), describe(entry), f"a list of {few}", "a copy is named again: [a, a]")
            continue
        unknown = False
        for place, name in enumerate(entry):
            if not isinstance(name, str) or name not in names:
                unknown = True
                near = whole.advice(name, sorted(names)) if isinstance(name, str) else ""
                advice = near or "correct it, or add the application"
                told = quote(name) if isinstance(name, str) else describe(name)
                whole.refuse((key, index, place), told, "the name of an application", advice)
        if places and len(entry) > places:
            needed = f"at most {places}, as many as there are cores"
            whole.refuse((key, index), f"{len(entry)} applications at once", needed, "add cores, or drop some")
        elif not unknown:
            found[tuple(sorted(entry))] = None
    return tuple(found)


def _bounds(whole: Entry, key: str, usual: tuple[float, ...]) -> tuple[float, ...]:
    if whole.raw.get(key) is None:
        return usual
    bounds = whole.amounts(key, checks.check_bound, "rising bounds between classes", checks.MOST_BOUNDS)
    for index, (low, high) in enumerate(pairwise(bounds)):
        if high <= low:
            found = f"{high:g} after {low:g}"
            whole.refuse((key, index + 1), found, "a larger bound than the one before", "put them in order")
    return bounds


def _refuse_endless(whole: Entry, bench: Bench) -> None:
    """Refuse more settings than anybody will ever run."""
    settings = size_of(bench).most_settings
    if settings > checks.MOST_SETTINGS:
        found = f"{settings:,} settings in all"
        advice = "list the pairs that matter, or divide the bench"
        whole.refuse(("applications",), found, f"at most {checks.MOST_SETTINGS:,}", advice)
