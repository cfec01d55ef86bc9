"""Utility levels of the thesis, and how often tasks have them.

Priorities are worth 8, 4, 2 and 1. Urgencies decay by 0.6, 0.2, 0.1 and 0.01 a minute, and keep the most for
0.8, 0.9, 1.0 and 1.1 of the task type's mean seconds. The four utility classes fall in steps over half an
hour to 50 minutes and reach 0 after 10,000 minutes. Priority and urgency are drawn together, by a table of
chances; the class is drawn evenly.

The Jobs paper has the same chances, but draws utilities from ranges, and has 20 classes that it does not
print. Here they are the thesis's four, each with its steps at 0.5, 0.75, 1, 1.5 and 2 times their minutes:
A1 to A5 and so on, of which A3 to D3 are the thesis's own.

Sources: Friese, thesis of 2015, section 2.6.2 and appendices B, C and D; Machovec et al. (2016), table I.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.day_tasks import Levels
from lpsched.instance.utility_levels import ClassInterval, Urgency, UtilityLevels

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers

THESIS_LEVELS: Final = UtilityLevels(
    priorities={"critical": 8.0, "high": 4.0, "medium": 2.0, "low": 1.0},
    urgencies={
        "extreme": Urgency(0.6, 0.8),
        "high": Urgency(0.2, 0.9),
        "medium": Urgency(0.1, 1.0),
        "low": Urgency(0.01, 1.1),
    },
    utility_classes={
        name: tuple(ClassInterval(*each) for each in zip(minutes, shares, rates, strict=True))
        for name, minutes, shares, rates in (
            ("A", (0, 5, 10, 20, 30, 10_000), (1, 0.6, 0.3, 0.2, 0.1, 0), (1.1, 1.15, 1.2, 1.1, 1.2, 10)),
            ("B", (0, 7, 15, 22.5, 30, 10_000), (1, 0.5, 0.25, 0.12, 0.05, 0), (0.9, 0.9, 0.9, 0.9, 0.9, 10)),
            (
                "C",
                (0, 10, 20, 30, 40, 10_000),
                (1, 0.75, 0.5, 0.25, 0.12, 0),
                (0.9, 0.85, 0.85, 0.8, 0.8, 10),
            ),
            (
                "D",
                (0, 12.5, 25, 37, 50, 10_000),
                (1, 0.8, 0.66, 0.33, 0.11, 0),
                (1.2, 1.1, 1.1, 0.9, 0.9, 10),
            ),
        )
    },
)
CHANCES: Final = {  # in percent, of extreme, high, medium and low urgency
    "critical": (2.0, 2.0, 0.05, 0.0),
    "high": (3.45, 5.0, 1.5, 3.0),
    "medium": (0.0, 10.0, 10.0, 10.0),
    "low": (0.0, 0.0, 20.0, 33.0),
}
UTILITY_RANGES: Final = {  # of the Jobs paper, the end included
    "critical": (6.0, 8.0),
    "high": (4.0, 6.0),
    "medium": (2.0, 4.0),
    "low": (1.0, 2.0),
}
STRETCHES: Final = (0.5, 0.75, 1.0, 1.5, 2.0)
TWENTY_CLASSES: Final = {
    f"{name}{number}": (
        *(replace(each, after_minutes=stretch * each.after_minutes) for each in intervals[:-1]),
        intervals[-1],  # nothing is left after 10,000 minutes
    )
    for name, intervals in THESIS_LEVELS.utility_classes.items()
    for number, stretch in enumerate(STRETCHES, start=1)
}


def draw_levels(rng: np.random.Generator, number: int) -> list[Levels]:
    """Draw the levels of some tasks."""
    classes = tuple(THESIS_LEVELS.utility_classes)
    every = [
        Levels(priority, urgency, kind)
        for priority in CHANCES
        for urgency in THESIS_LEVELS.urgencies
        for kind in classes
    ]
    pairs = _pair_numbers(rng, number)
    return [every[k] for k in (len(classes) * pairs + rng.integers(len(classes), size=number)).tolist()]


def draw_pairs(rng: np.random.Generator, number: int) -> list[tuple[str, str]]:
    """Draw priority and urgency, by the table of chances."""
    every = [(priority, urgency) for priority in CHANCES for urgency in THESIS_LEVELS.urgencies]
    return [every[k] for k in _pair_numbers(rng, number).tolist()]


def _pair_numbers(rng: np.random.Generator, number: int) -> Integers:
    return rng.choice(len(CHANCES) * len(THESIS_LEVELS.urgencies), size=number, p=_chances())


def _chances() -> Floats:
    percent = np.array([chance for row in CHANCES.values() for chance in row])
    return percent / 100.0
