"""What the parts of a file of measurements must satisfy together: one small function per rule.

The columns are what the evidence says: where a file has the setting of an application alone, its `seconds`
are the mean of that setting, its `watts` the energy of it by its time; and `idle_watts` are the mean of
before and after.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, quote
from lpsched.instance.bench import COMPANIONS
from lpsched.instance.shared_rules import repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lpsched.instance.measurements import Failed, Measured, Measurements

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
        for key, column, value in (
            ("seconds", told.seconds, each.seconds.mean),
            ("watts", told.watts, _watts(each)),
        ):
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
