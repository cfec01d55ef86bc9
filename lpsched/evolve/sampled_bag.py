"""What a bag's chromosomes take in all samples at once: energy and makespan, compiled.

For each task of a chromosome all S samples are done before the next task, as in `sampled_day.py`. The rules
are those of `bag_scores.py`, with each task's own seconds and watts (`risk/task_draws.py`):

    load of a machine  =  sum of its seconds              makespan t  =  the largest load
    energy  =  sum of seconds x watts  +  sum over machines of idle watts x (t - load)

Source: Friese, thesis of 2015, section 7.2.2.2, for makespan in place of utility.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.compiled import compiled
from lpsched.schedule.genes import first_machines

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.risk.task_draws import Draws, TaskDraws
    from lpsched.schedule.genes import Numbers


class SampledBag(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a bag."""

    task_type: Integers  # N
    first_machine: Integers  # M + 1
    idle_watts: Floats  # M
    others: Floats  # M: machines of a type that have no number, because they never work
    seconds: Floats  # T x C; these and the following as in `TaskDraws`
    watts: Floats  # T x C
    bins: Floats  # K x 256
    time_spread: Integers  # T x C
    power_spread: Integers  # T x C
    time_draws: Draws  # N x S
    power_draws: Draws  # N x S


@compiled
def bag_samples(  # noqa: C901 - plain loops, one thing each
    bag: SampledBag, machines: Numbers, columns: Numbers
) -> tuple[Floats, Floats]:
    """Return energy and makespan of chromosomes, in each of S samples."""
    count, samples = len(machines), bag.time_draws.shape[1]
    joules, makespans = np.zeros((count, samples)), np.zeros((count, samples))
    load, took = np.empty((bag.first_machine[-1], samples)), np.empty(samples)
    for c in range(count):
        load[:] = 0.0
        for task in range(machines.shape[1]):
            i, column, machine = bag.task_type[task], columns[c, task], machines[c, task]
            mean, watts = bag.seconds[i, column], bag.watts[i, column]
            time, power = bag.time_spread[i, column], bag.power_spread[i, column]
            for s in range(samples):
                took[s] = mean * bag.bins[time, bag.time_draws[task, s]]
            for s in range(samples):
                joules[c, s] += took[s] * watts * bag.bins[power, bag.power_draws[task, s]]
            for s in range(samples):
                load[machine, s] += took[s]
        for machine in range(len(load)):
            for s in range(samples):
                makespans[c, s] = max(makespans[c, s], load[machine, s])
        for j in range(len(bag.idle_watts)):
            for s in range(samples):
                joules[c, s] += bag.idle_watts[j] * bag.others[j] * makespans[c, s]
            for machine in range(bag.first_machine[j], bag.first_machine[j + 1]):
                for s in range(samples):
                    joules[c, s] += bag.idle_watts[j] * (makespans[c, s] - load[machine, s])
    return joules, makespans


def sampled_bag(bag: Bag, draws: TaskDraws) -> SampledBag:
    """Return what the loops need to know."""
    counts = [machine.count for machine in bag.machine_types]
    first_machine = first_machines(counts, bag.tasks)
    return SampledBag(
        task_type=np.repeat(np.arange(len(bag.task_types)), [task.count for task in bag.task_types]),
        first_machine=first_machine,
        idle_watts=np.array([machine.idle_watts for machine in bag.machine_types]),
        others=np.array(counts, dtype=float) - np.diff(first_machine),
        seconds=draws.seconds,
        watts=draws.watts,
        bins=draws.bins,
        time_spread=draws.time_spread,
        power_spread=draws.power_spread,
        time_draws=draws.time_draws,
        power_draws=draws.power_draws,
    )
