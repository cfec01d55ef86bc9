"""One stage: tasks in the order of their arrival, each for good on what scores best for it at that time.

A queue is never changed afterwards. With `drop_below`, a task that would earn less than that where it is sent
is dropped, and takes no machine's time.

Source: Friese, thesis of 2015, section 5.5.2; 2.4.4 for dropping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.arrivals.machines import FreeMachines
from lpsched.heuristics.arrivals.offers import best_choice
from lpsched.heuristics.arrivals.placing import Placing
from lpsched.instance.day_arrays import day_arrays

if TYPE_CHECKING:
    from lpsched.heuristics.arrivals.offers import Score
    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


def in_order_of_arrival(day: Day, score: Score, *, drop_below: float | None) -> DaySchedule:
    """Return the schedule that sends each task, as it arrives, where its score is highest."""
    arrays = day_arrays(day)
    machines, placing = FreeMachines(arrays), Placing(day)
    mode_type: list[int] = arrays.mode_type.tolist()
    for task, arrival in enumerate(arrays.arrivals.tolist()):
        best = best_choice(arrays, task, machines.ready, score)
        if drop_below is not None and best.utility < drop_below:
            continue
        start = max(arrival, float(machines.ready[best.column]))
        placing.place(task, best.column, machines.take(mode_type[best.column], start, best.end), start)
    return placing.schedule()
