"""Max Util, UPT, UPR and UPE for parallel tasks as they are defined: for reading, and as a second road.

At a mapping event tasks are placed one after another. Before each, every column of every task that is left is
looked at, at its earliest start there; the highest objective of all is placed. This goes on until no task is
left that fits anywhere and would earn something.

    fits        the column is allowed, the start is before the day ends, and the joules of the run, times the
                part of it before the day's end, are within what is left of the day's energy
    objective   utility at the planned end, over 1, seconds, core-seconds, or joules (equations 2 to 5)

The fast road, `lpsched/online/nodes/`, looks at few of them, and stops once nothing can start
by `state.until`: what it places is the beginning of what is placed here, to the last bit.

Source: Machovec et al. (2016), sections III.E and III.F, algorithm 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from lpsched.online.nodes.state import Placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.online.nodes.state import ClusterState


class Choice(NamedTuple):
    """A task (by its place in the state) in a column, at its earliest start there."""

    place: int
    column: int
    start: float
    utility: float
    seconds: float
    core_seconds: float
    joules: float
    counted_joules: float


def utility_at(state: ClusterState, place: int, end: float) -> float:
    """Return what a task earns that ends then."""
    arrays, task = state.arrays, int(state.tasks[place])
    function, elapsed = int(arrays.function[task]), end - float(arrays.arrivals[task])
    pieces = range(int(arrays.first_interval[function]), int(arrays.first_interval[function + 1]))
    piece = [p for p in pieces if p == pieces[0] or arrays.after_seconds[p] <= elapsed][-1]
    decay = math.exp(-float(arrays.rate_per_second[piece]) * (elapsed - float(arrays.after_seconds[piece])))
    low = float(arrays.falls_to[piece])
    return low + (float(arrays.starts_at[piece]) - low) * decay


class Event:
    """A mapping event: what is still free, and what has been placed."""

    def __init__(self, state: ClusterState) -> None:
        self.state, self.energy_left = state, state.energy_left
        self.profiles = [profile.copy() for profile in state.profiles]
        for profile in self.profiles:
            profile.forget_before(state.now)
        self.waiting = list(range(len(state.tasks)))
        self.placed: list[Placement] = []

    def choice(self, place: int, column: int) -> Choice | None:
        """Return a choice, if it fits and earns something."""
        state, arrays = self.state, self.state.arrays
        kind, cluster = int(arrays.kind[state.tasks[place]]), int(arrays.column_cluster[column])
        nodes, seconds = int(arrays.nodes[kind, column]), float(arrays.requested_seconds[kind, column])
        if not state.allowed[place, column]:
            return None
        start = self.profiles[cluster].earliest(nodes, seconds, state.now, state.ends_at)
        if math.isinf(start):
            return None
        joules = float(arrays.watts[kind, column]) * seconds
        counted = joules
        if start + seconds > state.ends_at:
            counted = joules * min(1.0, (state.ends_at - start) / seconds)
        earned = utility_at(state, place, start + seconds)
        if counted > self.energy_left or earned <= 0.0:
            return None
        cores = nodes * int(arrays.cores_per_node[cluster])
        return Choice(place, column, start, earned, seconds, seconds * cores, joules, counted)

    def choices(self) -> list[Choice]:
        """Return all choices, by rising task and column."""
        columns = range(len(self.state.arrays.column_cluster))
        found = (self.choice(place, column) for place in self.waiting for column in columns)
        return [each for each in found if each is not None]

    def place(self, choice: Choice) -> None:
        """Decide on a choice."""
        arrays, task = self.state.arrays, int(self.state.tasks[choice.place])
        profile = self.profiles[int(arrays.column_cluster[choice.column])]
        count = int(arrays.nodes[arrays.kind[task], choice.column])
        nodes = profile.choose(count, choice.seconds, choice.start)
        if choice.start < choice.start + choice.seconds:
            profile.insert(task, choice.start, choice.start + choice.seconds, nodes)
        self.energy_left -= choice.counted_joules
        self.waiting.remove(choice.place)
        self.placed.append(Placement(task, choice.column, choice.start, nodes))


def over(utility: float, amount: float) -> float:
    """Return utility per something; infinite per nothing."""
    return utility / amount if amount > 0.0 else math.inf


OBJECTIVES: dict[str, Callable[[Choice], float]] = {
    "max-util": lambda choice: choice.utility,
    "max-upt": lambda choice: over(choice.utility, choice.seconds),
    "max-upr": lambda choice: over(choice.utility, choice.core_seconds),
    "max-upe": lambda choice: over(choice.utility, choice.joules),
}


def highest_first(state: ClusterState, objective: Callable[[Choice], float]) -> list[Placement]:
    """Place what is highest of all, again and again; of equals the lowest task, then the lowest column."""
    event = Event(state)
    while choices := event.choices():
        event.place(max(choices, key=objective))  # the first of equals
    return event.placed
