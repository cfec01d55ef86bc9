"""Kinds of tasks by what they are worth: those of each priority, and those of each own utility function.

Where there are more priorities than anybody would read, those whose names differ only in a number at the end,
as in critical-010 and critical-076, are one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lpsched.instance.day_tasks import Levels

if TYPE_CHECKING:
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.day_tasks import Told

MOST_KINDS: Final = 8
NUMBERED: Final = re.compile(r"[-_ ]?\d+$")


def kind_of(told: Told) -> str:
    """Return the kind of a task that tells its utility so.

    >>> kind_of(Levels("high", "low", "A")), kind_of("film")
    ('high', 'own function film')
    """
    return told.priority if isinstance(told, Levels) else f"own function {told}"


def kinds_of(instance: Day | Clusters) -> tuple[str, ...]:
    """Return the kind of each way in which tasks tell their utility."""
    kinds = tuple(kind_of(told) for told in instance.arriving.told)
    if len(set(kinds)) <= MOST_KINDS:
        return kinds
    return tuple(NUMBERED.sub("", kind) or kind for kind in kinds)


def kinds_by_worth(instance: Day | Clusters) -> tuple[str, ...]:
    """Return all kinds that tasks have, from the one of which some are worth the most."""
    worth: dict[str, float] = {}
    for kind, told in zip(kinds_of(instance), instance.arriving.told, strict=True):
        worth[kind] = max(worth.get(kind, 0.0), _most(instance, told))
    return tuple(sorted(worth, key=lambda kind: -worth[kind]))


def _most(instance: Day | Clusters, told: Told) -> float:
    if isinstance(told, Levels):
        return instance.levels.priorities[told.priority]
    return instance.utility_functions[told].at(0.0)
