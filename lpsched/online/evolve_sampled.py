"""What a day's chromosomes take and earn in all samples at once: energy and utility, compiled.

A chromosome's tasks are sorted once. Then they are taken in turn, and for each of them all S samples are done
before the next: the machine's S free moments, the S draws of the task and the bins of its pair lie side by
side in the first-level cache. The rules are those of `evolve.py`, with each task's own seconds and watts
(`model/risk.py`); tasks are dropped as `online/risk.py` says:

    start = max(arrival, end before)      energy = sum of seconds x watts      utility = sum U(end - arrival)

Utility is added up in short loops over the samples, each doing one thing, which a processor does for several
samples at a time: which interval, how far into it, the exponential, what it is worth. Exponentials are

    exp(-x)  =  E[m] exp(-r),      m = the whole part of 64 x,    r = x - m / 64 < 1 / 64

with a table E and exp(-r) up to its third power: right to 3e-9, and several times as fast as the library's.

Source: Friese, thesis of 2015, sections 7.2.2.2 and 7.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.evolve.genes import first_machines
from lpsched.jit import compiled, compiled_inside
from lpsched.online.arrays import day_arrays
from lpsched.online.risk import too_late

if TYPE_CHECKING:
    from lpsched.evolve.genes import Numbers
    from lpsched.model.arrays import Floats, Integers
    from lpsched.model.risk import Draws, TaskDraws
    from lpsched.online.day import Day

STEPS: Final = 64  # of the table of exponentials, for each 1 of x
PART: Final = 1.0 / STEPS
LONGEST: Final = 40.0 * STEPS  # exp(-40) is nothing beside 1
EXPONENTIALS: Final = np.exp(-np.arange(LONGEST + 1) / STEPS)
AFTER, RATE, FLOOR, FALL = range(4)  # columns of the intervals


class SampledDay(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a day."""

    arrivals: Floats  # N
    task_type: Integers  # N
    function: Integers  # N
    machines: int
    too_late: Floats  # F: seconds since arrival from which on a task is dropped
    first_interval: Integers  # F + 1
    intervals: Floats  # P x 4: begin, steps of the exponential in a second, what it falls to, and by how much
    exponentials: Floats
    seconds: Floats  # T x C; these and the following as in `TaskDraws`
    watts: Floats  # T x C
    bins: Floats  # K x 256
    time_spread: Integers  # T x C
    power_spread: Integers  # T x C
    time_draws: Draws  # N x S
    power_draws: Draws  # N x S


@compiled_inside
def sort_tasks(orders: Numbers, place: Integers, in_turn: Integers) -> None:
    """Sort tasks by rising order, ties by their number, by counting; the orders are 0 to N - 1."""
    place[:] = 0
    for task in range(len(orders)):
        place[orders[task] + 1] += 1
    for order in range(len(orders)):
        place[order + 1] += place[order]
    for task in range(len(orders)):
        in_turn[place[orders[task]]] = task
        place[orders[task]] += 1


@compiled
def add_utility(  # noqa: C901, PLR0913, PLR0917 - plain loops; compiled functions take no options by name
    since: Floats, intervals: Floats, exponentials: Floats, which: Draws, steps: Numbers, decay: Floats, earned: Floats
) -> None:
    """Add what a task earns in each sample; `since` its arrival, below 0 where it does not run."""
    soonest, latest = 0, 0  # intervals in which it ends
    for s in range(len(since)):
        which[s] = 0
    for k in range(1, len(intervals)):
        edge, beyond = intervals[k, AFTER], 0
        for s in range(len(since)):
            beyond += since[s] >= edge
            which[s] += since[s] >= edge
        if beyond == 0:
            break
        soonest, latest = k if beyond == len(since) else soonest, k
    decays = False
    for k in range(soonest, latest + 1):
        decays |= intervals[k, RATE] > 0.0 and intervals[k, FALL] > 0.0
    for s in range(len(since)):
        decay[s] = 1.0
    if decays:
        for s in range(len(since)):
            decay[s] = (since[s] - intervals[which[s], AFTER]) * intervals[which[s], RATE]
        for s in range(len(since)):
            x = min(max(decay[s], 0.0), LONGEST)
            steps[s] = np.int32(x)
            decay[s] = (x - steps[s]) * PART
        for s in range(len(since)):
            r = decay[s]
            decay[s] = exponentials[steps[s]] * ((1.0 - r) + (r * r) * (0.5 - r / 6.0))
    for s in range(len(since)):
        worth = intervals[which[s], FLOOR] + intervals[which[s], FALL] * decay[s]
        earned[s] += worth if since[s] >= 0.0 else 0.0


@compiled
def day_samples(  # noqa: C901, PLR0912 - plain loops, one thing each
    day: SampledDay, machines: Numbers, columns: Numbers, orders: Numbers
) -> tuple[Floats, Floats, Floats, Integers]:
    """Return energy, utility, makespan and dropped tasks of chromosomes, in each of S samples."""
    count, tasks = machines.shape
    samples = day.time_draws.shape[1]
    joules, earned = np.zeros((count, samples)), np.zeros((count, samples))
    makespans, dropped = np.zeros((count, samples)), np.zeros((count, samples), dtype=np.int64)
    free, took, since = np.empty((day.machines, samples)), np.empty(samples), np.empty(samples)
    which, steps = np.empty(samples, dtype=np.uint8), np.empty(samples, dtype=np.int32)
    place, in_turn = np.empty(tasks + 1, dtype=np.int64), np.empty(tasks, dtype=np.int64)
    for c in range(count):
        sort_tasks(orders[c], place, in_turn)
        free[:] = 0.0
        for task in in_turn:
            i, column, machine = day.task_type[task], columns[c, task], machines[c, task]
            arrival, f = day.arrivals[task], day.function[task]
            mean, watts = day.seconds[i, column], day.watts[i, column]
            time, power = day.time_spread[i, column], day.power_spread[i, column]
            latest, late = arrival + (day.too_late[f] - mean), 0
            if latest < np.inf:
                for s in range(samples):
                    late += max(free[machine, s], arrival) >= latest
            if late == samples:
                for s in range(samples):
                    dropped[c, s] += 1
                continue
            for s in range(samples):
                took[s] = mean * day.bins[time, day.time_draws[task, s]]
            if late == 0:
                for s in range(samples):
                    joules[c, s] += took[s] * watts * day.bins[power, day.power_draws[task, s]]
                for s in range(samples):
                    free[machine, s] = max(free[machine, s], arrival) + took[s]
                    since[s] = free[machine, s] - arrival
            else:
                for s in range(samples):
                    since[s] = -1.0
                    if max(free[machine, s], arrival) < latest:
                        joules[c, s] += took[s] * watts * day.bins[power, day.power_draws[task, s]]
                        free[machine, s] = max(free[machine, s], arrival) + took[s]
                        since[s] = free[machine, s] - arrival
                    else:
                        dropped[c, s] += 1
            own = day.intervals[day.first_interval[f] : day.first_interval[f + 1]]
            add_utility(since, own, day.exponentials, which, steps, took, earned[c])
        for machine in range(day.machines):
            for s in range(samples):
                makespans[c, s] = max(makespans[c, s], free[machine, s])
    return joules, earned, makespans, dropped


def sampled_day(day: Day, draws: TaskDraws, drop_below: float | None) -> SampledDay:
    """Return what the loops need to know, each array in the order in which it is read."""
    arrays = day_arrays(day)
    intervals = np.empty((len(arrays.after_seconds), 4))
    intervals[:, AFTER], intervals[:, FLOOR] = arrays.after_seconds, arrays.falls_to
    intervals[:, RATE] = arrays.rate_per_second * STEPS
    intervals[:, FALL] = arrays.starts_at - arrays.falls_to
    return SampledDay(
        arrivals=arrays.arrivals,
        task_type=arrays.task_type,
        function=arrays.function,
        machines=int(first_machines(arrays.machine_counts.tolist(), day.tasks)[-1]),
        too_late=too_late(arrays, drop_below),
        first_interval=arrays.first_interval,
        intervals=intervals,
        exponentials=EXPONENTIALS,
        seconds=draws.seconds,
        watts=draws.watts,
        bins=draws.bins,
        time_spread=draws.time_spread,
        power_spread=draws.power_spread,
        time_draws=draws.time_draws,
        power_draws=draws.power_draws,
    )
