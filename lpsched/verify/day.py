"""Is this a schedule of that day, and what does it earn? By plain loops, machine by machine.

Shares nothing with the code that makes schedules. Every time in a day, being 0 or at least 1e-30, is a whole
number of 2^-160, so ends are exact sums of integers, and so is energy:

    utility  =  sum over the tasks that run of U(end - arrival)      U: the task's utility function
    energy   =  sum over the tasks that run of seconds * watts       idle machines take none

Start times are decimal numbers that someone rounded, so a task may start before its arrival, or before the
end of the one before it, by a billionth of that time. That earns nothing: it is measured as if it started
when it really could. Times are rounded to the worse side; utilities are doubles, their sum is rounded once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.verify.bag import LONGEST, UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule, PlacedTask

ROUNDING: Final = 10**9  # one of so many parts of a time is rounding
MOST: Final = 1000  # violations of one schedule; more would not help anybody


@dataclass(frozen=True, slots=True)
class DayMeasurement:
    """What a valid schedule of a day earns and takes; the makespan is `None` if nothing runs."""

    utility: float
    energy_joules: float
    makespan_seconds: float | None  # the end of the last task
    completed: int
    dropped: int


@dataclass(frozen=True, slots=True)
class ExaminedDay:
    """Every broken rule; if there is none, what the schedule earns and takes."""

    violations: tuple[Violation, ...]
    measured: DayMeasurement | None


def examine(day: Day, schedule: DaySchedule) -> ExaminedDay:
    """Check a schedule against every rule, and measure it if it breaks none."""
    tally = _Tally(day)
    for placed in schedule.placed:
        tally.take(placed)
        if len(tally.found) >= MOST:
            break
    tally.run_machines()
    if tally.found:
        return ExaminedDay(tuple(tally.found[:MOST]), None)
    return ExaminedDay((), tally.measured())


def violations(day: Day, schedule: DaySchedule) -> tuple[Violation, ...]:
    """Return every broken rule; an empty tuple means that the schedule is valid."""
    return examine(day, schedule).violations


def measure(day: Day, schedule: DaySchedule) -> DayMeasurement:
    """Measure a valid schedule."""
    measured = examine(day, schedule).measured
    assert measured is not None, "only valid schedules are measured"
    return measured


class _Tally:
    """Puts the tasks of each machine together, then goes through every machine by itself."""

    def __init__(self, day: Day) -> None:
        self.day = day
        self.arrivals, self.types = day.arriving.arrival_seconds, day.arriving.type_numbers
        self.found: list[Violation] = []
        self.counts = {machine.name: machine.count for machine in day.machine_types}
        self.column: dict[tuple[str, str | None], int] = {}
        for machine in day.machine_types:
            for state in machine.p_states if machine.p_states is not None else (None,):
                self.column[machine.name, state] = len(self.column)
        self.machines: dict[tuple[str, int], list[PlacedTask]] = {}
        self.seen: set[int] = set()
        self.utilities: list[float] = []
        self.joules = 0  # in UNIT * UNIT
        self.last_end = 0  # in UNIT
        self.cells: dict[tuple[int, int], tuple[int, int]] = {}  # of each pair that was seen

    def take(self, placed: PlacedTask) -> None:
        """Look at one task by itself."""
        broken = self._broken(placed)
        if broken is not None:
            self.found.append(Violation(*broken))
        else:
            self.machines.setdefault((placed.machine_type, placed.machine), []).append(placed)

    def _broken(self, placed: PlacedTask) -> tuple[str, str] | None:  # noqa: PLR0911 - one for each rule
        task, name, number = placed.task, placed.machine_type, placed.machine
        start = float(placed.start_seconds)  # NumPy writes its own numbers in another way
        if not 0 <= task < self.day.tasks:
            return "unknown-task", f"there is no task {task}, only 0 to {self.day.tasks - 1}"
        if task in self.seen:
            return "task-twice", f"task {task} is placed more than once"
        self.seen.add(task)
        if name not in self.counts:
            return "unknown-machine-type", f"there is no machine type {name!r}"
        if not 1 <= number <= self.counts[name]:
            only = f"only 1 to {self.counts[name]}"
            return "no-such-machine", f"there is no machine {number} of type {name!r}, {only}"
        if (name, placed.p_state) not in self.column:
            return "unknown-p-state", f"{name!r} has no P-state {placed.p_state!r}"
        if self.day.seconds[self.types[task], self.column[name, placed.p_state]] is None:
            state = "" if placed.p_state is None else f" in P-state {placed.p_state!r}"
            kind = self.day.task_types[self.types[task]].name
            return "cannot-run", f"task {task} of type {kind!r} cannot run on {name!r}{state}"
        if not 0 <= start <= LONGEST:
            return "bad-start", f"task {task} starts at {start!r} s"
        arrival = self.arrivals[task]
        if _clearly_before(_whole(start), _whole(arrival)):
            return "before-arrival", f"task {task} starts at {start!r} s, but arrives at {arrival!r} s"
        return None

    def run_machines(self) -> None:
        """Let every machine run its tasks by their starts."""
        for (name, number), own in self.machines.items():
            own.sort(key=lambda placed: placed.start_seconds)
            free = 0
            for placed in own:
                start, arrival = _whole(placed.start_seconds), _whole(self.arrivals[placed.task])
                if _clearly_before(start, free):
                    where = f"on machine {number} of type {name!r} task {placed.task}"
                    ends = f"the one before ends at {rounded_up(Fraction(free, UNIT))!r} s"
                    sentence = f"{where} starts at {float(placed.start_seconds)!r} s, but {ends}"
                    self.found.append(Violation("overlap", sentence))
                seconds, joules = self._cell(placed)
                free = max(start, arrival, free) + seconds
                self._end(placed.task, free - arrival, joules)
            self.last_end = max(self.last_end, free)

    def _end(self, task: int, since_arrival: int, joules: int) -> None:
        """Count what a task earns and takes."""
        seconds = rounded_up(Fraction(since_arrival, UNIT))
        self.utilities.append(self.day.utility_of(task).at(seconds))
        self.joules += joules

    def measured(self) -> DayMeasurement:
        """Return the sums."""
        completed = len(self.utilities)
        return DayMeasurement(
            utility=math.fsum(self.utilities),
            energy_joules=rounded_up(Fraction(self.joules, UNIT * UNIT)),
            makespan_seconds=rounded_up(Fraction(self.last_end, UNIT)) if completed else None,
            completed=completed,
            dropped=self.day.tasks - completed,
        )

    def _cell(self, placed: PlacedTask) -> tuple[int, int]:
        """Return the seconds and the joules of a task: in UNIT, and in UNIT * UNIT."""
        key = self.types[placed.task], self.column[placed.machine_type, placed.p_state]
        if key not in self.cells:
            seconds = _whole(self.day.seconds[key] or 0.0)
            self.cells[key] = seconds, seconds * _whole(self.day.watts[key] or 0.0)
        return self.cells[key]


def _clearly_before(time: int, limit: int) -> bool:
    """Tell whether a time is before a limit by more than rounding."""
    return ROUNDING * (limit - time) > limit


def _whole(number: float) -> int:
    """Return how many 2^-160 a number is: exactly, for 0 and from 1e-30 up; rounded down below."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * UNIT // denominator
