"""Max-max: of each minute's tasks the one that scores highest on its best machine and P-state, then the next.

Four scores: utility, and utility per second of machine time, per watt and per joule.

Source: Friese, thesis of 2015, section 7.3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.arrivals.scores import (
    by_utility,
    by_utility_per_energy,
    by_utility_per_power,
    by_utility_per_time,
)
from lpsched.heuristics.arrivals.two_stage import best_pairs_first

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


def max_max_utility(day: Day, _rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return the schedule that maps the most utility first."""
    return best_pairs_first(day, by_utility, drop_below=drop_below)


def max_max_utility_per_time(
    day: Day, _rng: np.random.Generator, *, drop_below: float | None = None
) -> DaySchedule:
    """Return the schedule that maps the most utility per second of machine time first."""
    return best_pairs_first(day, by_utility_per_time, drop_below=drop_below)


def max_max_utility_per_power(
    day: Day, _rng: np.random.Generator, *, drop_below: float | None = None
) -> DaySchedule:
    """Return the schedule that maps the most utility per watt first."""
    return best_pairs_first(day, by_utility_per_power, drop_below=drop_below)


def max_max_utility_per_energy(
    day: Day, _rng: np.random.Generator, *, drop_below: float | None = None
) -> DaySchedule:
    """Return the schedule that maps the most utility per joule first."""
    return best_pairs_first(day, by_utility_per_energy, drop_below=drop_below)
