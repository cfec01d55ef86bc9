"""What is to come, as far as the present and the past tell: so many tasks of each kind in the time ahead.

A kind is a task type with a utility function. Without anything else to go by, tasks keep coming as they have
come since the first one arrived: with n_g of kind g in the seconds that have passed,

    expected  =  n_g * (seconds ahead) / (seconds passed).

Somebody who knows another day that is like this one, yesterday perhaps, gives it instead: then what came at
a time of that day is expected at the same time of this one, in the slots [now, now + window) and the rest.
Worth of a kind on a column: the utility of a task that starts as it arrives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day_arrays import DayArrays
    from lpsched.simulation.state import State, System

SEEN: Final = "seen"  # in the policy's memory


@dataclass(frozen=True, slots=True)
class Forecast:
    """G kinds of tasks expected in S slots, and what there is for them. C columns, M machine types."""

    system: System
    edges: Floats  # S + 1, seconds: from now to the end of the day
    types: Integers  # G
    worths: Floats  # G x C: utility if started at once; 0 where it cannot run
    expected: Floats  # G x S: tasks
    machine_seconds: Floats  # M x S that are free
    energy_joules: float  # that are left; infinite if energy is free


@dataclass(slots=True)
class Seen:
    """How many tasks of each kind have come so far; tasks have numbers by arrival."""

    numbers: Integers  # T x F
    since: float  # when the first one arrived
    last: int = -1  # the newest task that is counted

    def count(self, state: State) -> None:
        """Count the tasks that are new."""
        new = int(np.searchsorted(state.tasks, self.last, side="right"))
        np.add.at(self.numbers, (state.types[new:], state.functions[new:]), 1)
        if new < len(state.tasks):
            self.last = int(state.tasks[-1])
            self.since = min(self.since, float(state.arrivals[new:].min()))


def seen_so_far(state: State) -> Seen:
    """Return what has come, the present included; kept in the policy's memory."""
    if SEEN not in state.memory:
        shape = len(state.system.can_run), len(state.system.first_interval) - 1
        state.memory[SEEN] = Seen(np.zeros(shape, dtype=np.int64), math.inf)
    seen: Seen = state.memory[SEEN]
    seen.count(state)
    return seen


def as_so_far(state: State, seen: Seen, passed: float, ends_at: float) -> Forecast:
    """Expect that tasks keep coming as they have come in the seconds that have passed, until the end."""
    types, functions = np.nonzero(seen.numbers)
    edges = np.array([state.now, ends_at])
    expected = np.asarray(seen.numbers[types, functions] * ((ends_at - state.now) / passed), dtype=float)
    return Forecast(
        system=state.system,
        edges=edges,
        types=types,
        worths=worths(state.system, types, functions, state.system),
        expected=expected[:, np.newaxis],
        machine_seconds=free_seconds(state, edges),
        energy_joules=state.energy_left,
    )


def as_on(other: DayArrays, state: State, window: float, ends_at: float) -> Forecast:
    """Expect what came at the same times of another day; its task types must be this day's."""
    first, last = np.searchsorted(other.arrivals, (state.now, ends_at), side="left")
    edges = np.array([state.now, min(state.now + window, ends_at), ends_at])
    edges = edges if edges[1] < ends_at else edges[[0, 2]]
    width = len(other.first_interval) - 1
    keys = other.task_type[first:last] * width + other.function[first:last]
    kinds, of = np.unique(keys, return_inverse=True)
    expected = np.zeros((len(kinds), len(edges) - 1))
    np.add.at(expected, (of, np.searchsorted(edges[1:-1], other.arrivals[first:last], side="right")), 1.0)
    return Forecast(
        system=state.system,
        edges=edges,
        types=kinds // width,
        worths=worths(state.system, kinds // width, kinds % width, other),
        expected=expected,
        machine_seconds=free_seconds(state, edges),
        energy_joules=state.energy_left,
    )


def worths(system: System, types: Integers, functions: Integers, told: System | DayArrays) -> Floats:
    """Return the utility of each kind on each column, started at once; `told` has the utility functions."""
    elapsed = system.seconds[types]
    first, end = told.first_interval[functions][:, np.newaxis], told.first_interval[functions + 1]
    now = np.broadcast_to(first, elapsed.shape).copy()
    for k in range(1, int(np.diff(told.first_interval).max(initial=1))):
        reached = np.minimum(first + k, end[:, np.newaxis] - 1)
        now = np.where(told.after_seconds[reached] <= elapsed, reached, now)
    decay = np.exp(-told.rate_per_second[now] * (elapsed - told.after_seconds[now]))
    earned = told.falls_to[now] + (told.starts_at[now] - told.falls_to[now]) * decay
    return np.where(system.can_run[types], earned, 0.0)


def free_seconds(state: State, edges: Floats) -> Floats:
    """Return how long the machines of each type are free in each slot, after what they already have."""
    starts = np.maximum(state.ready[:, np.newaxis], edges[:-1])
    free = np.maximum(edges[1:] - starts, 0.0)
    first = np.concatenate(([0], np.cumsum(state.system.machine_counts)[:-1]))
    return np.asarray(np.add.reduceat(free, first, axis=0))
