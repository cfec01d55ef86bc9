"""Array views of a day for the numerics: read-only, absent pairs masked and 0.

Shapes: N tasks in the order of their arrival, T task types, M machine types, C columns (machine type and
P-state), F utility functions with P intervals in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers, Mask
    from lpsched.instance.day import Day


@dataclass(frozen=True, slots=True)
class DayArrays:
    """The numbers of a day; an absent pair has `can_run` False and 0 elsewhere."""

    arrivals: Floats  # N, seconds, never falling
    task_type: Integers  # N
    function: Integers  # N: the utility function of each task
    machine_counts: Integers  # M
    mode_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    watts: Floats  # T x C
    first_interval: Integers  # F + 1: function f has the intervals first_interval[f] to first_interval[f + 1]
    after_seconds: Floats  # P, since arrival
    starts_at: Floats  # P
    falls_to: Floats  # P
    rate_per_second: Floats  # P


def day_arrays(day: Day) -> DayArrays:
    """Return the views of a day."""
    shape = (day.seconds.rows, day.seconds.columns)
    seconds = np.frombuffer(day.seconds.packed).reshape(shape)
    can_run = ~np.isnan(seconds)
    intervals = [each for function in day.functions for each in function.intervals]
    lengths = [0, *(len(function.intervals) for function in day.functions)]
    made = DayArrays(
        arrivals=np.frombuffer(day.arriving.arrivals),
        task_type=np.frombuffer(day.arriving.types, dtype=np.int64),
        function=np.frombuffer(day.function_numbers, dtype=np.int64),
        machine_counts=np.array([machine.count for machine in day.machine_types], dtype=np.int64),
        mode_type=np.array([j for j, _ in day.modes], dtype=np.int64),
        can_run=can_run,
        seconds=np.where(can_run, seconds, 0.0),
        watts=np.where(can_run, np.frombuffer(day.watts.packed).reshape(shape), 0.0),
        first_interval=np.cumsum(lengths, dtype=np.int64),
        after_seconds=np.array([each.after_seconds for each in intervals], dtype=float),
        starts_at=np.array([each.starts_at for each in intervals], dtype=float),
        falls_to=np.array([each.falls_to for each in intervals], dtype=float),
        rate_per_second=np.array([each.rate_per_second for each in intervals], dtype=float),
    )
    for name in DayArrays.__dataclass_fields__:
        getattr(made, name).flags.writeable = False
    return made


def utility(arrays: DayArrays, tasks: int | Integers, seconds_since_arrival: Floats) -> Floats:
    """Return the utility of tasks that end so long after their arrival; shapes are broadcast.

    One task at many times takes a quarter of the time that an array of one task would.
    """
    seconds = np.asarray(seconds_since_arrival, dtype=float)
    now = (
        _interval_of_one(arrays, tasks, seconds)
        if isinstance(tasks, int)
        else _intervals(arrays, tasks, seconds)
    )
    decay = np.exp(-arrays.rate_per_second[now] * (seconds - arrays.after_seconds[now]))
    earned: Floats = arrays.falls_to[now] + (arrays.starts_at[now] - arrays.falls_to[now]) * decay
    return earned


def _interval_of_one(arrays: DayArrays, task: int, seconds: Floats) -> Integers:
    """Return the interval of a task's utility function in which each time is."""
    first, end = arrays.first_interval[arrays.function[task] :][:2].tolist()
    now: Integers = first + np.searchsorted(arrays.after_seconds[first:end], seconds, side="right") - 1
    return now


def _intervals(arrays: DayArrays, tasks: Integers, seconds: Floats) -> Integers:
    """Return the interval of each task's utility function in which its time is."""
    function = arrays.function[tasks]
    first, end = arrays.first_interval[function], arrays.first_interval[function + 1]
    first, end, seconds = np.broadcast_arrays(first, end, seconds)
    now = first.copy()
    for k in range(1, int(np.diff(arrays.first_interval).max())):
        reached = np.minimum(first + k, end - 1)
        now = np.where(arrays.after_seconds[reached] <= seconds, reached, now)
    return now
