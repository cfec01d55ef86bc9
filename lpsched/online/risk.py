"""The risk of a schedule of a day: samples of utility, energy and makespan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.model.fields import column_numbers
from lpsched.model.risk import Risk, RiskOptions, TaskDraws, risk_of_samples, task_draws
from lpsched.online.arrays import DayArrays, day_arrays
from lpsched.online.parts import require_whole
from lpsched.online.utility import utilities

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers
    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule
    from lpsched.online.verify.day import DayMeasurement


# When a task is dropped: if it would earn less than a limit d. When the machine is free is known in a sample, but not
# how long the task will take: the decision is by the table's mean seconds, start + e (the thesis does not say how it
# decides). Utility never rises, so U(t) >= d exactly for all t below one moment. The first interval k whose values fall
# below d has it: at once if its start s_k < d, at t_k + log((s_k - f_k) / (d - f_k)) / r_k if it falls below d before
# its end, else at its end.
# Source: Friese, thesis of 2015, section 7.3.3.
def too_late(arrays: DayArrays, drop_below: float | None) -> Floats:
    """Return for each utility function the seconds since arrival from which on it earns too little; else infinite."""
    functions = len(arrays.first_interval) - 1
    if drop_below is None:
        return np.full(functions, math.inf)
    return np.array([_falls_below(arrays, f, drop_below) for f in range(functions)])


def _falls_below(curves: DayArrays, function: int, limit: float) -> float:
    """Return the seconds since arrival from which on utility is below a limit; infinite if it never is."""
    first, last = int(curves.first_interval[function]), int(curves.first_interval[function + 1])
    for p in range(first, last):
        after, start = float(curves.after_seconds[p]), float(curves.starts_at[p])
        floor, rate = float(curves.falls_to[p]), float(curves.rate_per_second[p])
        end = float(curves.after_seconds[p + 1]) if p + 1 < last else math.inf
        if start < limit:
            return after
        if rate > 0.0 and floor < limit:
            crossing = after + math.log((start - floor) / (limit - floor)) / rate
            if crossing < end:
                return math.nextafter(crossing, math.inf)  # at the crossing itself it still earns enough
    return math.inf


# Samples of a schedule: a machine runs its tasks in the order of their planned starts, each as soon as it has arrived
# and the machine is free, whatever its planned start.
#     start  =  max(arrival, end of the machine's task before)          end  =  start + drawn seconds
#     utility  =  sum U(end - arrival)       energy  =  sum of drawn seconds x drawn watts
# A task that is not placed is dropped in all samples; one that is placed, in those in which it is expected to earn less
# than a limit (above). One pass over the tasks, all samples at once.
# Source: Friese, thesis of 2015, section 7.4.
@dataclass(frozen=True, slots=True, eq=False)
class DaySamples:
    """S samples."""

    utility: Floats
    energy_joules: Floats
    makespan_seconds: Floats
    dropped_tasks: Integers


def sample_day(day: Day, schedule: DaySchedule, draws: TaskDraws, *, drop_below: float | None = None) -> DaySamples:
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
        earned += np.where(runs, utilities(arrays, arrays.function[np.array(n)], end - arrival), 0.0)
        joules += np.where(runs, seconds * draws.watts_of(n, pair), 0.0)
        free[machine] = np.where(runs, end, ready)
        dropped += ~runs
    makespan = np.max([*free.values(), np.zeros(samples)], axis=0)
    return DaySamples(earned, joules, makespan, dropped)


def day_risk(  # noqa: PLR0913 - what was asked
    day: Day,
    schedule: DaySchedule,
    planned: DayMeasurement,
    options: RiskOptions,
    seed: int,
    *,
    drop_below: float | None = None,
) -> Risk:
    """Sample a schedule of a day that is known to be valid, and what it was measured to take."""
    require_whole(day.name, day.period, "sampling")
    arrays = day_arrays(day)
    draws = task_draws(day.tasks, arrays.seconds, arrays.watts, options, seed)
    drawn = sample_day(day, schedule, draws, drop_below=drop_below)
    quantities = {
        "utility": (planned.utility, drawn.utility),
        "energy_joules": (planned.energy_joules, drawn.energy_joules),
        "makespan_seconds": (planned.makespan_seconds, drawn.makespan_seconds),
        "dropped_tasks": (float(planned.dropped), drawn.dropped_tasks.astype(float)),
    }
    return risk_of_samples(quantities, {}, options, seed)
