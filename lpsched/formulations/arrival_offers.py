"""What arrives, as plain arrays: real tasks of a day, or expected ones, each standing for so many.

A price policy plans with expected tasks, thinned: one of them may weigh as much as ten. A day's own tasks
weigh 1 each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.period import COMPLETED

if TYPE_CHECKING:
    from lpsched.instance.arrays import Floats, Integers, Mask
    from lpsched.instance.day import Day


@dataclass(frozen=True, slots=True)
class Offers:
    """N offers, T task types, C columns of M machine types, utility functions as in `DayArrays`."""

    arrivals: Floats  # N, seconds
    task_type: Integers  # N
    function: Integers  # N
    weights: Floats  # N: how many tasks each stands for
    machine_counts: Integers  # M
    mode_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    joules: Floats  # T x C
    first_interval: Integers  # F + 1
    after_seconds: Floats
    starts_at: Floats
    falls_to: Floats
    rate_per_second: Floats
    begins_at: float  # of the period that counts
    ends_at: float  # infinite if it never ends
    completed: bool  # only tasks that end in the period count, and wholly; else runs are prorated
    energy_joules: float | None  # that may be taken in the period, rounding granted

    @property
    def count(self) -> int:
        """How many offers there are."""
        return len(self.arrivals)

    def thinned(self, number: int) -> Offers:
        """Return about so many of them, evenly, heavier by as much."""
        step = max(1, self.count // number)
        return replace(
            self,
            arrivals=self.arrivals[::step],
            task_type=self.task_type[::step],
            function=self.function[::step],
            weights=self.weights[::step] * (self.weights.sum() / self.weights[::step].sum()),
        )


def offers_of(day: Day) -> Offers:
    """Return the tasks of a day."""
    arrays, period = day_arrays(day), day.period
    return Offers(
        arrivals=arrays.arrivals,
        task_type=arrays.task_type,
        function=arrays.function,
        weights=np.ones(day.tasks),
        machine_counts=arrays.machine_counts,
        mode_type=arrays.mode_type,
        can_run=arrays.can_run,
        seconds=arrays.seconds,
        joules=arrays.seconds * arrays.watts,
        first_interval=arrays.first_interval,
        after_seconds=arrays.after_seconds,
        starts_at=arrays.starts_at,
        falls_to=arrays.falls_to,
        rate_per_second=arrays.rate_per_second,
        begins_at=period.begins_at,
        ends_at=period.ends_at,
        completed=period.edge == COMPLETED,
        energy_joules=None if math.isinf(period.most_joules) else period.most_joules,
    )
