"""Immediate mode: every task is mapped as it comes, and stays where it is.

Each arrival is a mapping event about that one task; tasks of one instant come by their numbers, each when the
one before has its place. A task that would earn too little where the policy puts it is dropped. One that the
policy does not map, or that does not fit there, is never asked about again: it waits for ever.

Source: Friese, thesis of 2015, 2.4.1, 2.4.2 and 2.4.4.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from lpsched.simulation.answers import answer_of

if TYPE_CHECKING:
    from lpsched.simulation.machines import LinedUp
    from lpsched.simulation.running import RunningDay


def run_one_by_one(running: RunningDay) -> bool:
    """Run a day arrival by arrival; tell whether it came to its end."""
    for task, now in enumerate(running.arrays.arrivals.tolist()):
        if now >= running.ends_at:
            break
        if running.watch.is_over():
            return False
        running.tell(now)
        _event(running, task, now)
    return True


def _event(running: RunningDay, task: int, now: float) -> None:
    """Ask the policy where the task shall go, and let it stay there."""
    began = time.perf_counter()
    tasks, ready = np.arange(task, task + 1), running.machines.ready(now)
    pending_at = np.full(len(ready), now)
    state = running.seen(
        now, tasks, until=math.inf, available=running.all_machines, ready=ready, pending_at=pending_at
    )
    decided = answer_of(running.policy, state, running.rng)
    running.happened.event(now, time.perf_counter() - began)
    made = running.line_up(decided, state)
    if len(made.tasks):
        if _earns_too_little(running, task, made):
            running.happened.drop(tasks, now)
        else:
            running.fix(made)


def _earns_too_little(running: RunningDay, task: int, made: LinedUp) -> bool:
    if running.options.drop_below <= 0.0:
        return False
    function = running.day.functions[running.arrays.function[task]]
    earned: float = function.at(float(made.ends[0]) - float(running.arrays.arrivals[task]))
    return earned < running.options.drop_below
