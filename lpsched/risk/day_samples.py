"""What a schedule of a day takes, drawn again and again: utility, energy, makespan and dropped tasks.

A machine runs its tasks in the order of their planned starts, each as soon as it has arrived and the machine
is free: nobody waits for a planned start that luck has made too late or too early.

    start  =  max(arrival, end of the machine's task before)          end  =  start + drawn seconds
    utility  =  sum U(end - arrival)       energy  =  sum of drawn seconds x drawn watts

A task that is not placed is dropped in all samples; one that is placed, in those in which it is expected to
earn less than a limit (`dropping.py`). One pass over the tasks, all samples at once.

Source: Friese, thesis of 2015, section 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.day_arrays import day_arrays, utility
from lpsched.instance.p_states import column_numbers
from lpsched.risk.dropping import too_late

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day import Day
    from lpsched.risk.task_draws import TaskDraws
    from lpsched.schedule.day import DaySchedule


@dataclass(frozen=True, slots=True, eq=False)
class DaySamples:
    """S samples."""

    utility: Floats
    energy_joules: Floats
    makespan_seconds: Floats
    dropped_tasks: Integers


def sample_day(
    day: Day, schedule: DaySchedule, draws: TaskDraws, *, drop_below: float | None = None
) -> DaySamples:
    """Run a valid schedule in all samples at once."""
    arrays = day_arrays(day)
    samples = draws.time_draws.shape[1]
    limits = too_late(arrays, drop_below)
    column = column_numbers(day.machine_types)
    free: dict[tuple[str, int], Floats] = {}
    earned, joules = np.zeros(samples), np.zeros(samples)
    dropped = np.full(samples, day.tasks - len(schedule.placed))
    for placed in sorted(schedule.placed, key=lambda each: (each.start_seconds, each.task)):
        n, machine = placed.task, (placed.machine_type, placed.machine)
        pair = int(arrays.task_type[n]), column[placed.machine_type, placed.p_state]
        arrival = arrays.arrivals[n]
        ready = free.setdefault(machine, np.zeros(samples))
        start = np.maximum(ready, arrival)
        runs = start - arrival + arrays.seconds[pair] < limits[arrays.function[n]]
        seconds = draws.seconds_of(n, pair)
        end = start + seconds
        earned += np.where(runs, utility(arrays, np.array(n), end - arrival), 0.0)
        joules += np.where(runs, seconds * draws.watts_of(n, pair), 0.0)
        free[machine] = np.where(runs, end, ready)
        dropped += ~runs
    makespan = np.max([*free.values(), np.zeros(samples)], axis=0)
    return DaySamples(earned, joules, makespan, dropped)
