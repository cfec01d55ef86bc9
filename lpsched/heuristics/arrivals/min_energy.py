"""Min energy: each task, as it arrives, where it takes the least energy.

If no task is dropped, no schedule of all tasks takes less. Of machine types and P-states that take the same,
the one on which the task earns most.

Source: Friese, thesis of 2015, section 5.5.2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.arrivals.scores import by_energy
from lpsched.heuristics.arrivals.single_stage import in_order_of_arrival

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


def min_energy(day: Day, _rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return the schedule of least energy."""
    return in_order_of_arrival(day, by_energy, drop_below=drop_below)
