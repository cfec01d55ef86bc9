"""MCT: each task, as it arrives, where it ends first.

It looks neither at utility nor, but for ties, at energy.

Source: Maheswaran and others, "Dynamic mapping of a class of independent tasks onto heterogeneous computing
systems", 1999.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.arrivals.scores import by_end
from lpsched.heuristics.arrivals.single_stage import in_order_of_arrival

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


def mct(day: Day, _rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return the schedule that lets each task in turn end as early as it can."""
    return in_order_of_arrival(day, by_end, drop_below=drop_below)
