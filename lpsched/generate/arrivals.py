"""Arriving tasks: arrival rates over a day, arrival times, and utility functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.generate.options import AMPLITUDES
from lpsched.online.parts import Levels
from lpsched.online.utility import ClassInterval, Urgency, UtilityLevels
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers


def even_arrivals(rng: np.random.Generator, number: int, span_seconds: float) -> Floats:
    """Draw arrivals evenly from 0 to the span, each by itself; return them rising, to a hundredth of a second.

    >>> even_arrivals(np.random.default_rng(0), 3, 60.0).tolist()
    [2.46, 16.19, 38.22]
    """
    return np.round(np.sort(rng.random(number)) * span_seconds, 2)


# Rates of arrivals by the time of day: a multiple of the type's mean rate, with a mean of 1 over the day of length L,
# which repeats: the hours before it are like its last ones.
#
# *Waves* (general-purpose task types): 1 + a sin(2 pi c t / L + p), with c whole cycles a day, one an hour at most, the
# amplitude a from 0.25 to 0.9 and any phase p. *Bursts* (special-purpose task types): a baseline of 3 to 5 hours at 0.5
# to 0.75, a burst of 30 to 90 minutes at 1.25 to 1.5, and so on around the clock from a random hour; the last interval
# is cut where the first began. That has a mean of about 0.78, so all is divided by its mean. *Arrivals* are a Poisson
# process of that rate: candidates are drawn evenly at the highest rate, and kept with probability rate / highest rate.
#
# The thesis steps from arrival to arrival instead, by exponential draws with the rate where it stands, and cuts a step
# at 1/50 of the day, because a draw in a trough may lead past the next wave. At 330 and 500 tasks of a type, waves have
# 3 % and 1.5 % too few tasks without the cut; the cut happens to make up for it, to half a percent. With few tasks it
# makes too many: never fewer than 50 of a type. The process here needs no cut. Source: Friese, thesis of 2015, appendix
# F.
HUNDREDTHS: Final = 100
BASELINE_HOURS: Final = (3.0, 5.0)
BASELINE_RATES: Final = (0.5, 0.75)
BURST_HOURS: Final = (0.5, 1.5)
BURST_RATES: Final = (1.25, 1.5)


@dataclass(frozen=True, slots=True)
class Waves:
    """A sine around 1."""

    day_seconds: float
    cycles: int
    amplitude: float
    phase: float

    @property
    def most(self) -> float:
        """The highest rate of all."""
        return 1.0 + self.amplitude

    def at(self, seconds: Floats) -> Floats:
        """Return the rate at times since the day's begin; earlier ones are negative.

        >>> Waves(86_400.0, 2, 0.5, 0.0).at(np.array([0.0, 10_800.0, -10_800.0])).round(6).tolist()
        [1.0, 1.5, 0.5]
        """
        angle = 2.0 * np.pi * self.cycles * seconds / self.day_seconds + self.phase
        return 1.0 + self.amplitude * np.sin(angle)


@dataclass(frozen=True, slots=True)
class Bursts:
    """Intervals around the clock: where each begins (the first at 0), and its rate."""

    day_seconds: float
    begins: Floats
    rates: Floats
    offset_seconds: float  # of the day's begin, in the time of `begins`

    @property
    def most(self) -> float:
        """The highest rate of all."""
        return float(self.rates.max())

    def at(self, seconds: Floats) -> Floats:
        """Return the rate at times, as `Waves.at` does.

        >>> quiet_then_busy = Bursts(100.0, np.array([0.0, 75.0]), np.array([0.8, 1.6]), 50.0)
        >>> quiet_then_busy.at(np.array([0.0, 25.0, 49.9, 50.0, -75.0])).tolist()
        [0.8, 1.6, 1.6, 0.8, 1.6]
        """
        clock = np.mod(seconds + self.offset_seconds, self.day_seconds)
        return self.rates[np.searchsorted(self.begins, clock, side="right") - 1]


Rates = Waves | Bursts


def draw_waves(rng: np.random.Generator, day_seconds: float) -> Waves:
    """Draw the waves of a task type."""
    most_cycles = max(1, int(day_seconds / SECONDS_PER_HOUR))
    cycles = int(rng.integers(1, most_cycles, endpoint=True))
    return Waves(day_seconds, cycles, rng.uniform(*AMPLITUDES), rng.uniform(0.0, 2.0 * np.pi))


def draw_bursts(rng: np.random.Generator, day_seconds: float) -> Bursts:
    """Draw the bursts of a task type."""
    begins: list[float] = [0.0]
    rates: list[float] = []
    while begins[-1] < day_seconds:
        quiet = len(rates) % 2 == 0
        rates.append(rng.uniform(*(BASELINE_RATES if quiet else BURST_RATES)))
        hours = rng.uniform(*(BASELINE_HOURS if quiet else BURST_HOURS))
        begins.append(begins[-1] + SECONDS_PER_HOUR * hours)
    begins[-1] = day_seconds
    mean = float(np.diff(begins) @ np.array(rates)) / day_seconds
    return Bursts(day_seconds, np.array(begins[:-1]), np.array(rates) / mean, rng.uniform(0.0, day_seconds))


def draw_tasks(
    rng: np.random.Generator, draw: Callable[[], Iterable[tuple[Rates, float]]], length: float, warm_up: float
) -> tuple[Floats, Integers]:
    """Draw arrivals in rising order, and their types, until there are some; `draw` gives rates and tasks per second."""
    while True:
        found = [
            draw_arrivals(rng, rates, per_second=per_second, begin=-warm_up, end=length) for rates, per_second in draw()
        ]
        if any(len(each) for each in found):
            return in_order(found, warm_up)


def draw_arrivals(rng: np.random.Generator, rates: Rates, *, per_second: float, begin: float, end: float) -> Floats:
    """Draw arrivals in [begin, end), in seconds since the day's begin, in no order; `per_second` is the mean rate."""
    candidates = rng.uniform(begin, end, size=rng.poisson(rates.most * per_second * (end - begin)))
    return candidates[rng.random(len(candidates)) * rates.most < rates.at(candidates)]


def in_order(found: Sequence[Floats], warm_up_seconds: float) -> tuple[Floats, Integers]:
    """Return the arrivals of all task types, counted from the warm-up's begin, and the type of each.

    They rise, have hundredths of a second, and those of the same hundredth are in the order of their types.

    >>> in_order([np.array([2.005]), np.array([-3.0, 2.0])], 10.0)
    (array([ 7., 12., 12.]), array([1, 0, 1]))
    """
    types = np.repeat(np.arange(len(found)), [len(each) for each in found])
    arrivals = np.floor(HUNDREDTHS * (np.concatenate(found) + warm_up_seconds)) / HUNDREDTHS
    order = np.argsort(arrivals, kind="stable")
    return arrivals[order], types[order]


# Utility levels of the thesis, and how often tasks have them. Priorities are worth 8, 4, 2 and 1. Urgencies decay by
# 0.6, 0.2, 0.1 and 0.01 a minute, and keep the most for 0.8, 0.9, 1.0 and 1.1 of the task type's mean seconds. The four
# utility classes fall in steps over half an hour to 50 minutes and reach 0 after 10,000 minutes. Priority and urgency
# are drawn together, by a table of chances; the class is drawn evenly. The Jobs paper has the same chances, but draws
# utilities from ranges, and has 20 classes that it does not print. Here they are the thesis's four, each with its steps
# at 0.5, 0.75, 1, 1.5 and 2 times their minutes: A1 to A5 and so on, of which A3 to D3 are the thesis's own. Sources:
# Friese, thesis of 2015, section 2.6.2 and appendices B, C and D; Machovec et al. (2016), table I.
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
            ("C", (0, 10, 20, 30, 40, 10_000), (1, 0.75, 0.5, 0.25, 0.12, 0), (0.9, 0.85, 0.85, 0.8, 0.8, 10)),
            ("D", (0, 12.5, 25, 37, 50, 10_000), (1, 0.8, 0.66, 0.33, 0.11, 0), (1.2, 1.1, 1.1, 0.9, 0.9, 10)),
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
TIME_SCALES: Final = (0.5, 0.75, 1.0, 1.5, 2.0)
TWENTY_CLASSES: Final = {
    f"{name}{number}": (
        *(each.model_copy(update={"after_minutes": scale * each.after_minutes}) for each in intervals[:-1]),
        intervals[-1],  # nothing is left after 10,000 minutes
    )
    for name, intervals in THESIS_LEVELS.utility_classes.items()
    for number, scale in enumerate(TIME_SCALES, start=1)
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
    chances = np.array([chance for row in CHANCES.values() for chance in row]) / 100.0
    return rng.choice(len(chances), size=number, p=chances)
