"""Utility per energy: each task, as it arrives, where it earns the most for a joule, given the queues.

A task that would take no energy at all goes where it earns the most.

Source: Friese, thesis of 2015, section 5.5.2.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.arrivals.scores import by_utility_per_energy
from lpsched.heuristics.arrivals.single_stage import in_order_of_arrival

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


def utility_per_energy(
    day: Day, _rng: np.random.Generator, *, drop_below: float | None = None
) -> DaySchedule:
    """Return the schedule that gives each task in turn the most utility per joule."""
    return in_order_of_arrival(day, by_utility_per_energy, drop_below=drop_below)
