"""A draft of an answer: what own policies need while they decide, and nothing about how they do.

A draft keeps what the state says and what was taken since: when machines are ready, which may still get
tasks, and what is left of the day's energy. Tasks are meant by their place in the state.

    def latest_first(state, rng):
        draft = Draft(state)
        for place in reversed(range(len(state.tasks))):
            choices = draft.choices(place)
            if choices:
                draft.take(place, *max(choices, key=lambda choice: draft.utility(place, *choice)))
        return draft.assignments
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.simulation.state import Assignment

if TYPE_CHECKING:
    from lpsched.simulation.state import State


class Draft:
    """Assignments in the making; `assignments` is the answer."""

    def __init__(self, state: State) -> None:
        self.state, self.system = state, state.system
        self.ready = state.ready.copy()
        self.free = np.zeros(len(state.ready), dtype=bool)
        self.free[state.available] = True
        self.energy_left = state.energy_left
        self.assignments: list[Assignment] = []
        self._first: dict[int, int | None] = {}  # of each machine type, as far as it was asked for

    def choices(self, place: int) -> list[tuple[int, int]]:
        """Return machines and columns where a task fits; of a machine type the one that is ready first."""
        columns = np.flatnonzero(self.state.allowed[self.state.types[place]])
        types = self.system.column_type[columns]
        pairs = zip(map(self.first_ready, types.tolist()), columns.tolist(), strict=True)
        return [(m, column) for m, column in pairs if m is not None and self.fits(place, m, column)]

    def first_ready(self, machine_type: int) -> int | None:
        """Return the machine of a type that is ready first, the lowest of several; `None`: there is none."""
        if machine_type not in self._first:
            first, last = np.searchsorted(self.system.machine_type, [machine_type, machine_type + 1]).tolist()
            ready = np.where(self.free[first:last], self.ready[first:last], math.inf)
            found = first + int(np.argmin(ready))
            self._first[machine_type] = found if self.free[found] else None
        return self._first[machine_type]

    def fits(self, place: int, machine: int, column: int) -> bool:
        """Tell whether a task may run there, starts before the day ends, and has the energy it needs."""
        allowed = self.free[machine] and self.state.allowed[self.state.types[place], column]
        starts = self.ready[machine] < self.state.ends_at
        return bool(allowed and starts and self.joules(place, machine, column) <= self.energy_left)

    def end(self, place: int, machine: int, column: int) -> float:
        """Return when a task would end there."""
        return float(self.ready[machine] + self.system.seconds[self.state.types[place], column])

    def utility(self, place: int, machine: int, column: int) -> float:
        """Return what a task would earn there."""
        system, f = self.system, self.state.functions[place]
        elapsed = self.end(place, machine, column) - float(self.state.arrivals[place])
        first, last = system.first_interval[f : f + 2].tolist()
        p = first + int(np.searchsorted(system.after_seconds[first:last], elapsed, side="right")) - 1
        decay = math.exp(-float(system.rate_per_second[p]) * (elapsed - float(system.after_seconds[p])))
        falls_to = float(system.falls_to[p])
        return falls_to + (float(system.starts_at[p]) - falls_to) * decay

    def joules(self, place: int, machine: int, column: int) -> float:
        """Return the energy of a task there that counts today: the part of its run before the day ends."""
        i, start = self.state.types[place], float(self.ready[machine])
        seconds, joules = float(self.system.seconds[i, column]), float(self.system.joules[i, column])
        within = (self.state.ends_at - start) / seconds if start + seconds > self.state.ends_at else 1.0
        return joules * within

    def take(self, place: int, machine: int, column: int) -> None:
        """Decide on this: the machine is busy for so much longer, and the energy is gone."""
        self.energy_left -= self.joules(place, machine, column)
        self.ready[machine] = self.end(place, machine, column)
        self.free[machine] = not self.state.polled
        self._first.pop(int(self.system.machine_type[machine]), None)
        self.assignments.append(Assignment(int(self.state.tasks[place]), machine, column))
