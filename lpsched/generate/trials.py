"""Another day of the same kind: trial t of a day that a generator made.

Trial 0 is the day itself. Trial t is made by the day's generator with its options, from random numbers of its
own: new tables, new tasks. The period is the day's as it stands, so that an energy constraint that was put in
later holds in all trials. Trials of a trial are other days again.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import Fault, InstanceError
from lpsched.generate.essc import NAME, essc_day
from lpsched.generate.essc_options import EsscOptions
from lpsched.instance.fields import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lpsched.instance.day import Day

COUNT: Final = "a whole number from 0"
COUNTS: Final = "a list of whole numbers from 0"
NUMBER: Final = "a number"
WORD: Final = "a word"
KINDS: Final = {
    "generator": WORD,
    "seed": COUNT,
    "trial": COUNTS,
    "tasks": COUNT,
    "hours": NUMBER,
    "warm_up_hours": NUMBER,
    "p_states": COUNT,
    "affinity": WORD,
    "edge": WORD,
    "energy_gigajoules": NUMBER,
    "task_types": COUNT,
    "machines": COUNTS,
    "special_machines": COUNTS,
    "special_task_types": COUNT,
}
NO_TRIALS: Final = "run it alone, or generate a day with `lpsched generate day --tasks N --seed S -o FILE`"


def another_day(day: Day, trial: int) -> Day:
    """Return trial number `trial` of a day.

    Raises
    ------
    InstanceError
        If the day does not say how it was made, or was changed since.
    """
    if trial == 0:
        return day
    made_by = _sound(day)
    before = tuple(made_by.get("trial", ()))
    given = {each.name: made_by[each.name] for each in fields(EsscOptions) if each.name in made_by}
    name = day.name.removesuffix(_suffix(before))
    made = essc_day(name, made_by["seed"], EsscOptions(**given), (*before, trial))
    if made.machine_types != day.machine_types or made.task_types != day.task_types:
        found = "machine types or task types that were changed later"
        advice = "generate a day with the machines it should have"
        raise InstanceError(day.name, (Fault(("made_by",), found, "those of the generator", advice),))
    return replace(made, name=name + _suffix((*before, trial)), period=day.period)


def _suffix(trial: tuple[int, ...]) -> str:
    return f"-trial-{'-'.join(map(str, trial))}" if trial else ""


def _sound(day: Day) -> dict[str, Any]:
    """Return what a day says of how it was made, with tuples for lists."""
    if day.made_by is None:
        fault = Fault(("made_by",), "nothing", "a generator, which makes others like it", NO_TRIALS)
        raise InstanceError(day.name, (fault,))
    if day.made_by.get("generator") != NAME:
        found = quote(str(day.made_by.get("generator")))
        raise InstanceError(day.name, (Fault(("made_by", "generator"), found, quote(NAME), NO_TRIALS),))
    faults = tuple(_bad_values(day.made_by))
    if faults:
        raise InstanceError(day.name, faults)
    return {key: tuple(value) if KINDS[key] == COUNTS else value for key, value in day.made_by.items()}


def _bad_values(made_by: Mapping[str, Any]) -> Iterator[Fault]:
    advice = "correct it, or drop made_by"
    for key, value in made_by.items():
        if key not in KINDS:
            yield Fault(("made_by", key), "a key that this generator does not know", "none such", advice)
        elif not _is(KINDS[key], value):
            yield Fault(("made_by", key), quote(str(value)), KINDS[key], advice)


def _is(kind: str, value: object) -> bool:
    """Return whether a value is of a kind; true and false are no numbers."""
    if kind == WORD:
        return isinstance(value, str)
    if kind == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == COUNTS:
        return isinstance(value, list | tuple) and all(_is(COUNT, each) for each in value)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
