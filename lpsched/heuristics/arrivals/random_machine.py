"""Random: each task, as it arrives, on any machine that can run it, in any of its P-states.

Every machine is as likely as any other, not every machine type; so are a machine's P-states that can run the
task. This is what the first population of a genetic algorithm is made of, and what a rule must beat.

Source: Friese, thesis of 2015, section 2.4.2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.heuristics.arrivals.placing import Placing
from lpsched.instance.day_arrays import day_arrays

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


def random_machine(day: Day, rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return a schedule by chance; the queues are in the order of arrival."""
    arrays, placing = day_arrays(day), Placing(day)
    ready: dict[tuple[int, int], float] = {}  # of the machines that have run something
    for task, (kind, arrival) in enumerate(
        zip(arrays.task_type.tolist(), arrays.arrivals.tolist(), strict=True)
    ):
        columns = np.flatnonzero(arrays.can_run[kind])
        types = np.unique(arrays.mode_type[columns])
        ends_at = np.cumsum(arrays.machine_counts[types])
        drawn = int(rng.integers(ends_at[-1]))
        place = int(np.searchsorted(ends_at, drawn, side="right"))
        used = int(types[place])
        machine = drawn - int(ends_at[place]) + int(arrays.machine_counts[used]) + 1
        column = int(rng.choice(columns[arrays.mode_type[columns] == used]))
        start = max(arrival, ready.get((used, machine), 0.0))
        end = start + float(arrays.seconds[kind, column])
        if drop_below is None or day.utility_of(task).at(end - arrival) >= drop_below:
            ready[used, machine] = end
            placing.place(task, column, machine, start)
    return placing.schedule()
