"""Reading a bench as it stands in a file: its parts, then what they say of each other; all faults at once.

applications    a list of {name, command, count, timeout_seconds, folder, environment}
cores           how many places there are, or a list of places: a processor each, or several
pairs           all, none, or a list of two names each
groups          a list of three names or more each, no more than there are places
energy          auto, rapl, none, or {command: ...} or {stream: ...} with every_seconds, covers, idle_seconds
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, Literal, cast

from lpsched.errors import InstanceError, quote
from lpsched.instance.bench import CLASS_BOUNDS, FORMAT, SHARE_BOUNDS, Bench
from lpsched.instance.bench_checks import (
    MOST_BOUNDS,
    MOST_GROUPS,
    MOST_PLACES,
    MOST_SETTINGS,
    OneOf,
    Whole,
    check_bound,
    check_limit,
    check_text,
    check_yes,
)
from lpsched.instance.bench_entry import Entry
from lpsched.instance.bench_parts import read_applications, read_clocks, read_cores, read_energy, read_repeats
from lpsched.instance.bench_size import size_of
from lpsched.instance.fields import check_name, describe
from lpsched.instance.made_by import LARGEST_SEED
from lpsched.instance.reading import Reading, in_file_order

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
    """Return the bench that a mapping asks for.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    """
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
        batches=whole.value("batches", check_yes, default=True),
        repeats=read_repeats(whole),
        energy=read_energy(whole),
        counters=cast("Literal['auto', 'none']", whole.value("counters", OneOf(COUNTERS), "auto")),
        companions=cast(
            "Literal['auto', 'always', 'never']", whole.value("companions", OneOf(COMPANION_CHOICES), "auto")
        ),
        class_bounds=_bounds(whole, "class_bounds", CLASS_BOUNDS),
        share_bounds=_bounds(whole, "share_bounds", SHARE_BOUNDS),
        seed=whole.value("seed", Whole(0, LARGEST_SEED), 0),
        limit_seconds=whole.value("limit_seconds", check_limit, 0.0) or None,
        description=whole.value("description", check_text, ""),
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
    return _together(whole, "groups", names, (PAIR + 1, MOST_PLACES), places)


def _together(
    whole: Entry, key: str, names: set[str], sizes: tuple[int, int], places: int
) -> tuple[tuple[str, ...], ...]:
    """Read which applications run together: so many, known, and not more than there are places."""
    few = "two names" if sizes[0] == sizes[1] else f"{sizes[0]} names or more"
    found: dict[tuple[str, ...], None] = {}
    for index, entry in enumerate(whole.items(key, f"lists of {few}", MOST_GROUPS)):
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
            whole.refuse(
                (key, index), f"{len(entry)} applications at once", needed, "add cores, or drop some"
            )
        elif not unknown:
            found[tuple(sorted(entry))] = None
    return tuple(found)


def _bounds(whole: Entry, key: str, usual: tuple[float, ...]) -> tuple[float, ...]:
    if whole.raw.get(key) is None:
        return usual
    bounds = whole.amounts(key, check_bound, "rising bounds between classes", MOST_BOUNDS)
    for index, (low, high) in enumerate(pairwise(bounds)):
        if high <= low:
            found = f"{high:g} after {low:g}"
            whole.refuse((key, index + 1), found, "a larger bound than the one before", "put them in order")
    return bounds


def _refuse_endless(whole: Entry, bench: Bench) -> None:
    """Refuse more settings than anybody will ever run."""
    settings = size_of(bench).most_settings
    if settings > MOST_SETTINGS:
        found = f"{settings:,} settings in all"
        advice = "list the pairs that matter, or divide the bench"
        whole.refuse(("applications",), found, f"at most {MOST_SETTINGS:,}", advice)
