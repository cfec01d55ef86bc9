"""Is this a schedule of that day, and when does each task really run? By plain loops, machine by machine.

Shares nothing with the code that makes schedules. Times are exact, and starts may be a little too early, for
someone rounded them (`exact_times.py`). That earns nothing: a task runs from when it really could.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from lpsched.verify.exact_times import MOST, broken_start, clearly_before, whole
from lpsched.verify.violation import UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule, PlacedTask


class Run(NamedTuple):
    """A task as it really ran; times and watts are whole numbers of 2^-160."""

    task: int
    machine_type: str
    machine: int
    start: int
    end: int
    watts: int


class Runs:
    """Puts the tasks of each machine together, then goes through every machine by itself.

    Attributes
    ----------
    violations
        Every broken rule, as far as it was looked.
    runs
        What ran, machine by machine.
    """

    def __init__(self, day: Day, schedule: DaySchedule) -> None:
        self.violations: list[Violation] = []
        self.runs: list[Run] = []
        self._day, self._tasks = day, day.tasks
        self._arrivals, self._types = day.arriving.arrival_seconds, day.arriving.type_numbers
        self._ends_at = day.period.ends_at
        self._counts = {machine.name: machine.count for machine in day.machine_types}
        self._column: dict[tuple[str, str | None], int] = {}
        for machine in day.machine_types:
            for state in machine.p_states if machine.p_states is not None else (None,):
                self._column[machine.name, state] = len(self._column)
        self._machines: dict[tuple[str, int], list[PlacedTask]] = {}
        self._seen: set[int] = set()
        self._cells: dict[tuple[int, int], tuple[int, int]] = {}  # of each pair that was seen
        self._take_all(schedule)

    def _take_all(self, schedule: DaySchedule) -> None:
        for placed in schedule.placed:
            self._take(placed)
            if len(self.violations) >= MOST:
                break
        for (name, number), own in self._machines.items():
            self._run_machine(name, number, own)

    def _take(self, placed: PlacedTask) -> None:
        """Look at one task by itself."""
        broken = self._broken(placed)
        if broken is not None:
            self.violations.append(Violation(*broken))
        else:
            self._machines.setdefault((placed.machine_type, placed.machine), []).append(placed)

    def _broken(self, placed: PlacedTask) -> tuple[str, str] | None:  # noqa: PLR0911 - one for each rule
        task, name, number = placed.task, placed.machine_type, placed.machine
        if not 0 <= task < self._tasks:
            return "unknown-task", f"there is no task {task}, only 0 to {self._tasks - 1}"
        if task in self._seen:
            return "task-twice", f"task {task} is placed more than once"
        self._seen.add(task)
        if name not in self._counts:
            return "unknown-machine-type", f"there is no machine type {name!r}"
        if not 1 <= number <= self._counts[name]:
            only = f"only 1 to {self._counts[name]}"
            return "no-such-machine", f"there is no machine {number} of type {name!r}, {only}"
        if (name, placed.p_state) not in self._column:
            return "unknown-p-state", f"{name!r} has no P-state {placed.p_state!r}"
        if self._day.seconds[self._types[task], self._column[name, placed.p_state]] is None:
            state = "" if placed.p_state is None else f" in P-state {placed.p_state!r}"
            kind = self._day.task_types[self._types[task]].name
            return "cannot-run", f"task {task} of type {kind!r} cannot run on {name!r}{state}"
        return broken_start(task, float(placed.start_seconds), self._arrivals[task], self._ends_at)

    def _run_machine(self, name: str, number: int, own: list[PlacedTask]) -> None:
        """Let a machine run its tasks by their starts."""
        own.sort(key=lambda placed: placed.start_seconds)
        free = 0
        for placed in own:
            start = whole(placed.start_seconds)
            if start < free and clearly_before(start, free):
                where = f"on machine {number} of type {name!r} task {placed.task}"
                ends = f"the one before ends at {rounded_up(Fraction(free, UNIT))!r} s"
                sentence = f"{where} starts at {float(placed.start_seconds)!r} s, but {ends}"
                self.violations.append(Violation("overlap", sentence))
            seconds, watts = self._cell(placed)
            begin = max(start, whole(self._arrivals[placed.task]), free)
            free = begin + seconds
            self.runs.append(Run(placed.task, name, number, begin, free, watts))

    def _cell(self, placed: PlacedTask) -> tuple[int, int]:
        """Return the seconds and the watts of a task."""
        key = self._types[placed.task], self._column[placed.machine_type, placed.p_state]
        if key not in self._cells:
            self._cells[key] = whole(self._day.seconds[key] or 0.0), whole(self._day.watts[key] or 0.0)
        return self._cells[key]
