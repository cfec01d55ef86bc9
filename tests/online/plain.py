"""The heuristics once more, the slow and plain way: every waiting task on every machine, one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule


@dataclass(frozen=True)
class Choice:
    """One task on one machine, in one P-state."""

    task: int
    column: int
    machine: tuple[int, int]
    free: float
    start: float
    end: float
    utility: float
    seconds: float
    watts: float

    @property
    def joules(self) -> float:
        return self.seconds * self.watts


def per(earned: float, spent: float) -> float:
    return earned / spent if spent > 0 else math.inf


SCORES: dict[str, Callable[[Choice], float]] = {
    "min-energy": lambda at: -at.joules,
    "max-utility": lambda at: at.utility,
    "utility-per-energy": lambda at: per(at.utility, at.joules),
    "mct": lambda at: -at.end,
    "max-max-utility": lambda at: at.utility,
    "max-max-utility-per-time": lambda at: per(at.utility, at.seconds),
    "max-max-utility-per-power": lambda at: per(at.utility, at.watts),
    "max-max-utility-per-energy": lambda at: per(at.utility, at.joules),
}


def rank(score: Callable[[Choice], float]) -> Callable[[Choice], tuple[float, ...]]:
    """Return the order of choices, the best first: the score, and what decides between equal ones."""
    return lambda at: (-score(at), -at.utility, at.joules, at.end, at.task, at.column, -at.free)


def earliest(at: Choice) -> tuple[float, ...]:
    return (at.end, at.joules, at.task, at.column, -at.free)


def mapped(name: str, day: Day, drop_below: float | None = None) -> list[tuple[int, int, float]]:
    """Return task, column and start of all that run, by task."""
    order = earliest if name == "min-min" else rank(SCORES[name])
    free: dict[tuple[int, int], float] = {}
    found = []

    def map_one(waiting: list[int]) -> None:
        if name.startswith("max-max"):
            best = best_of_classes(day, waiting, free, SCORES[name])
        else:
            best = min((at for task in waiting for at in choices(day, task, free)), key=order)
        waiting.remove(best.task)
        if drop_below is None or best.utility >= drop_below:
            free[best.machine] = best.end
            found.append((best.task, best.column, best.start))

    tasks = list(range(day.tasks))
    if name.startswith("max-max"):
        minute_by_minute(day, free, map_one)
    elif name == "min-min":
        while tasks:
            map_one(tasks)
    else:
        for task in tasks:
            map_one([task])
    return sorted(found)


def minute_by_minute(day: Day, free: dict[tuple[int, int], float], map_one: Callable[[list[int]], None]) -> None:
    """Map tasks once they have come, while a machine that one of them can run on is free in this minute."""
    waiting: list[int] = []
    minute, come = 0, 0
    while come < day.tasks or waiting:
        end = 60.0 * (minute + 1)
        while come < day.tasks and day.arriving.arrival_seconds[come] < end:
            waiting.append(come)
            come += 1
        while any(at.free < end for task in waiting for at in choices(day, task, free)):
            map_one(waiting)
        minute += 1


def best_of_classes(
    day: Day, waiting: list[int], free: dict[tuple[int, int], float], score: Callable[[Choice], float]
) -> Choice:
    """Return the best choice of alike tasks, spoken for by the last of them, taken by the first that earns as much."""
    functions = memoryview(day.function_numbers).cast("q")
    alike: dict[tuple[int, int], list[int]] = {}
    for task in range(day.tasks):  # so that classes are numbered as they first come
        own = alike.setdefault((day.arriving.type_numbers[task], functions[task]), [])
        if task in waiting:
            own.append(task)
    found = []
    for number, members in enumerate(alike.values()):
        if members:
            at = min(choices(day, members[-1], free), key=rank(score))
            same = [
                min((each for each in choices(day, task, free) if each.column == at.column), key=rank(score))
                for task in members
            ]
            taken = next(each for each in same if each.utility == at.utility)
            found.append((-score(at), -at.utility, at.joules, number, taken))
    return min(found, key=lambda each: each[:4])[4]


def choices(day: Day, task: int, free: dict[tuple[int, int], float]) -> Iterable[Choice]:
    """Go through all machines and P-states that can run a task."""
    kind, arrival = day.arriving.type_numbers[task], day.arriving.arrival_seconds[task]
    for column, (j, _) in enumerate(day.modes):
        seconds, watts = day.seconds[kind, column], day.watts[kind, column]
        if seconds is None or watts is None:
            continue
        for machine in range(day.machine_types[j].count):
            ready = free.get((j, machine), 0.0)
            start = max(arrival, ready)
            end = start + seconds
            utility = day.utility_of(task).at(end - arrival)
            yield Choice(task, column, (j, machine), ready, start, end, utility, seconds, watts)


def read(day: Day, schedule: DaySchedule) -> list[tuple[int, int, float]]:
    """Return task, column and start of all that run, by task."""
    column = {(day.machine_types[j].name, day.p_state(c)): c for c, (j, _) in enumerate(day.modes)}
    return sorted((each.task, column[each.machine_type, each.p_state], each.start_seconds) for each in schedule.placed)
