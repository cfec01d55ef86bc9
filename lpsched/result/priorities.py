"""Kinds of tasks by what they are worth: those of each priority, and those of each own utility function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.instance.day_tasks import Levels

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.instance.day_tasks import Told


def kind_of(told: Told) -> str:
    """Return the kind of a task that tells its utility so.

    >>> kind_of(Levels("high", "low", "A")), kind_of("film")
    ('high', 'own function film')
    """
    return told.priority if isinstance(told, Levels) else f"own function {told}"


def kinds_by_worth(day: Day) -> tuple[str, ...]:
    """Return all kinds that tasks of the day have, from the one that is worth the most."""
    worth = {kind_of(told): _most(day, told) for told in day.arriving.told}
    return tuple(sorted(worth, key=lambda kind: -worth[kind]))


def _most(day: Day, told: Told) -> float:
    if isinstance(told, Levels):
        return day.levels.priorities[told.priority]
    return day.utility_functions[told].at(0.0)
