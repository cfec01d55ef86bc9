"""Max utility: each task, as it arrives, where it earns the most, given the queues.

Utility never rises, so where a task ends first it earns the most. Often it earns the same elsewhere, because
its utility has not begun to fall, or is down to nothing: then it goes where that takes the least energy.

Source: Friese, thesis of 2015, section 5.5.2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.arrivals.scores import by_utility
from lpsched.heuristics.arrivals.single_stage import in_order_of_arrival

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


def max_utility(day: Day, _rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return the schedule that gives each task in turn the most utility."""
    return in_order_of_arrival(day, by_utility, drop_below=drop_below)
