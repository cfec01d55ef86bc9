"""A mapping event of a day, straight from the definitions: drop, filter, line up, permute.

A machine is a dictionary: its executing task (task, column, end), its pending task and its virtual queue,
each entry as (task, column). What `lpsched/online/simulate/` does with arrays, written out for reading.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.online.arrays import day_arrays
from lpsched.online.simulate.days import system_of
from lpsched.online.simulate.state import State

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.simulate.options import SimulationOptions


def pieces_of(day: Day | Clusters) -> list[tuple[float, float, float, float]]:
    """Return (begin, end, joules, end of starts) of each piece of the day that has an account of its own."""
    period = day.period
    begin, end = period.begins_at, period.ends_at
    joules = math.inf if period.energy_constraint_joules is None else period.energy_constraint_joules
    pieces = [(begin, end, joules, end)]
    earlier = 1
    while period.length_seconds and begin - earlier * period.length_seconds >= 0.0:
        first = begin - earlier * period.length_seconds
        pieces.insert(0, (first, pieces[0][0], joules, pieces[0][0]))
        earlier += 1
    if pieces[0][0] > 0.0:
        pieces.insert(0, (0.0, pieces[0][0], math.inf, end))
    return pieces


class MappingEvents:
    """The machines of a day, and what a mapping event needs to know of them."""

    def __init__(self, day: Day, options: SimulationOptions) -> None:
        self.day, self.options = day, options
        self.arrays = day_arrays(day)
        self.system = system_of(self.arrays)
        self.pieces = pieces_of(day)
        self.used = [0.0] * len(self.pieces)  # joules of executing, pending and finished tasks
        types = [j for j, kind in enumerate(day.machine_types) for _ in range(kind.count)]
        self.machines: list[dict[str, Any]] = [
            {"number": m, "type": j, "executing": None, "pending": None, "queue": []} for m, j in enumerate(types)
        ]
        self.memory: dict[str, Any] = {}
        self.refused = 0

    def kind(self, task: int) -> int:
        """Return the type of a task."""
        return self.day.arriving.type_numbers[task]

    def seconds(self, task: int, column: int) -> float:
        """Return how long a task runs."""
        return self.day.seconds[self.kind(task), column] or 0.0

    def joules(self, task: int, column: int) -> float:
        """Return the energy of a task."""
        return self.seconds(task, column) * (self.day.watts[self.kind(task), column] or 0.0)

    def arrival(self, task: int) -> float:
        """Return when a task arrives."""
        return self.day.arriving.arrival_seconds[task]

    def utility(self, task: int, end: float) -> float:
        """Return what a task earns that ends at a time."""
        return self.day.utility_of(task).at(end - self.arrival(task))

    def share(self, piece: int, start: float, end: float) -> float:
        """Return which part of a run counts in a piece."""
        begin, finish = self.pieces[piece][:2]
        if self.day.period.edge == "completed":
            return 1.0 if begin < end <= finish else 0.0
        return max(0.0, min(end, finish) - max(start, begin)) / (end - start)

    def piece(self, now: float) -> int:
        """Return the number of the piece that a time is in."""
        return max(p for p, (begin, *_) in enumerate(self.pieces) if begin <= now)

    def ready(self, machine: dict[str, Any], now: float) -> float:
        """Return when a machine has done its unmovable tasks."""
        if machine["executing"] is None:
            return now
        end: float = machine["executing"][2]
        return end if machine["pending"] is None else end + self.seconds(*machine["pending"])

    def state(self, now: float, until: float, tasks: list[int]) -> State:
        """Return what the policy sees."""
        polled = self.options.machines == "polled"
        ready = [self.ready(machine, now) for machine in self.machines]
        pending_at = [now if machine["pending"] is None else machine["executing"][2] for machine in self.machines]
        piece = self.piece(now)
        begin, _, limit, ends_at = self.pieces[piece]
        arrays = self.arrays
        return State(
            self.system, now, begin, ends_at, until, limit - self.used[piece], self.allowed(piece, ready),
            np.array(tasks), arrays.arrivals[tasks], arrays.task_type[tasks], arrays.function[tasks], polled,
            np.array([m for m, time in enumerate(ready) if time <= now or not polled], dtype=np.int64),
            np.array(ready),
            np.array(ready if polled else pending_at),
            self.memory,
        )  # fmt: skip

    def allowed(self, piece: int, ready: list[float]) -> Any:  # noqa: ANN401 - an array
        """Return which pairs pass the energy filter."""
        begin, end, limit, _ = self.pieces[piece]
        leniency = self.options.energy_filter
        time_left = sum(max(0.0, end - time) for time in ready)
        if leniency is None or math.isinf(limit) or time_left == 0.0:
            return self.system.can_run
        pairs = list(map(tuple, np.argwhere(self.system.can_run).tolist()))
        mean_seconds = sum(self.system.seconds[pair] for pair in pairs) / len(pairs)
        mean_joules = sum(self.system.joules[pair] for pair in pairs) / len(pairs)
        used, all_time = self.used[piece], len(ready) * (end - begin)
        left, tasks = limit - used, time_left / mean_seconds
        budget = math.inf
        if leniency != "adaptive":
            budget = leniency * left / tasks
        elif used > 0.0:
            tasks = min(tasks, left / mean_joules)
            fair = left / tasks if tasks > 0.0 else mean_joules
            budget = (limit / all_time) / (used / (all_time - time_left)) * fair
        return self.system.can_run & (self.system.joules < budget)

    def most_utility(self, task: int, now: float) -> float:
        """Return the most that a task could earn if it were the next on some machine."""
        return max(
            self.utility(task, self.ready(machine, now) + self.seconds(task, column))
            for machine in self.machines
            for column, (j, _) in enumerate(self.day.modes)
            if j == machine["type"] and self.day.seconds[self.kind(task), column] is not None
        )

    def line_up(self, decided: list[tuple[int, int, int]], state: State) -> list[tuple[int, int, int]]:
        """Return the decisions that fit time and energy, one after the other."""
        ready = state.ready.tolist()
        used = list(self.used)
        fit = []
        for task, m, column in decided:
            start, end = ready[m], ready[m] + self.seconds(task, column)
            takes = [self.joules(task, column) * self.share(p, start, end) for p in range(len(self.pieces))]
            limits = [limit for _, _, limit, _ in self.pieces]
            if start < state.ends_at and all(u + t <= e for u, t, e in zip(used, takes, limits, strict=True)):
                used = [u + t for u, t in zip(used, takes, strict=True)]
                ready[m] = end
                fit.append((task, m, column))
            else:
                self.refused += 1
        return fit

    def permuted(self, lined_up: list[tuple[int, int, int]], state: State) -> list[tuple[int, int, int]]:
        """Return the decisions with the head of each virtual queue in the order that earns most."""
        new = list(lined_up)
        for m, machine in enumerate(self.machines):
            places = [n for n, (_, on, _) in enumerate(lined_up) if on == m]
            slots = (machine["executing"] is None) + (machine["pending"] is None)  # not of the virtual queue
            head = places[slots : slots + self.options.permute]
            if len(head) > 1:
                begin = state.ready[m]
                for n in places[:slots]:
                    begin += self.seconds(lined_up[n][0], lined_up[n][2])
                best, most = tuple(head), -1.0
                for order in permutations(head):
                    earned = self.earned([lined_up[n] for n in order], begin, state.ends_at)
                    if earned is not None and earned > most * (1.0 + 1e-12):
                        best, most = order, earned
                for n, taken in zip(head, best, strict=True):
                    new[n] = lined_up[taken]
        return new

    def earned(self, order: list[tuple[int, int, int]], begin: float, ends_at: float) -> float | None:
        """Return what tasks earn one after the other; none if one of them starts too late."""
        total = 0.0
        for task, _, column in order:
            if begin >= ends_at:
                return None
            begin += self.seconds(task, column)
            total += self.utility(task, begin)
        return total
