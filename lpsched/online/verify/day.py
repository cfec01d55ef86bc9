"""Verify a schedule of a day: every rule, by plain loops and exact sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from lpsched.model.violation import UNIT, Violation, rounded_up
from lpsched.online.verify.accounts import TaskAccount, ToldUtility, if_none_waits, task_accounts, utility_by_told
from lpsched.online.verify.counting import (
    MOST,
    Counting,
    broken_start,
    clearly_before,
    seconds_of,
    too_much_energy,
    traces_of,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule, PlacedTask


# Is this a schedule of that day, and when does each task really run? By plain loops, machine by machine.
#
# Shares nothing with the code that makes schedules. Times are exact, and starts may be a little too early,
# for someone rounded them (`counting.py`). That earns nothing: a task runs from when it really could.
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


# What does a schedule of a day earn, and what does it take? By plain loops and exact sums.
#
# Whether it is one, and when each task really runs: `Runs`. What counts of it, and how much by which time:
# `counting.py`.
# Utility and energy are the sums of what counts of each task. Energy is exact, and rounded up once; the sum
# of utilities is rounded once.
#
# The counted energy may be above the energy constraint by one part in 10^9, since whoever adds up doubles is
# wrong by less. (A bound must grant as much: `Period.most_joules`.)
__all__ = [
    "DayAccount",
    "DayDetails",
    "DayMeasurement",
    "ExaminedDay",
    "ToldUtility",
    "details",
    "examine",
    "measure",
    "traces",
    "violations",
]


@dataclass(frozen=True, slots=True)
class DayMeasurement:
    """What a valid schedule of a day earns and takes; the makespan is `None` if nothing runs.

    Utility and energy are what counts of them; tasks are completed if they end in the period that counts, and
    dropped if they never run. One may be neither: it ran before, or was not done in time.
    """

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


@dataclass(frozen=True, slots=True)
class DayDetails:
    """More of a valid schedule, for reports.

    Attributes
    ----------
    utility_by_told
        In the order of `day.arriving.told`. What is earned counts as in `DayMeasurement`. If none waits:
        the naive figure of the thesis, 2.7.1; every task starts on arrival where it is fastest, its share
        counts. That is no bound: a task of the warm-up that is kept waiting may count for more.
    busy_seconds
        For each machine that ran anything, how long it was busy within the period.
    """

    utility_by_told: tuple[ToldUtility, ...]
    busy_seconds: dict[tuple[str, int], float]


class DayAccount:
    """One schedule, gone through once: what is broken, what it earns and takes, and more for reports.

    Attributes
    ----------
    violations
        Every broken rule.
    measured
        What a schedule that breaks none earns and takes; `None` of others.
    """

    def __init__(self, day: Day, schedule: DaySchedule) -> None:
        ran, counting = Runs(day, schedule), Counting(day)
        self._day, self._counting, self._runs = day, counting, ran.runs
        self._counted = list(counting.counted(ran.runs))
        joules = sum(each.joules for each in self._counted)
        self.violations = (*ran.violations, *too_much_energy(day.period, joules))[:MOST]
        self._utility = [] if self.violations else [counting.utility(each) for each in self._counted]
        self.measured = None if self.violations else self._measure(joules)

    def _measure(self, joules: int) -> DayMeasurement:
        last_end = max((run.end for run in self._runs), default=None)
        return DayMeasurement(
            utility=math.fsum(self._utility),
            energy_joules=rounded_up(Fraction(joules, UNIT * UNIT)),
            makespan_seconds=None if last_end is None else seconds_of(last_end),
            completed=sum(self._counting.ends_within(run) for run in self._runs),
            dropped=self._day.tasks - len(self._runs),
        )

    def traces(self, times: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return utility and energy, in joules, that have been counted by each of some times.

        The utility of a task is credited when it ends, or when the period does if that is earlier; its energy
        evenly while the part of it that counts runs. In the end both are as measured, but for rounding.
        """
        assert self.measured is not None, "only valid schedules are measured"
        return traces_of(self._counted, self._utility, times)

    def tasks(self) -> dict[int, TaskAccount]:
        """Return the account of each task that ran, by its number."""
        assert self.measured is not None, "only valid schedules are measured"
        return task_accounts(self._runs, self._counted, self._utility)

    def details(self) -> DayDetails:
        """Return utility by the way it is told, and how busy machines were."""
        assert self.measured is not None, "only valid schedules are measured"
        arriving = self._day.arriving
        busy: dict[tuple[str, int], int] = {}
        for run in self._runs:
            key = run.machine_type, run.machine
            busy[key] = busy.get(key, 0) + self._counting.within(run)
        fastest = [
            min((cell for cell in self._day.seconds.row(i) if cell is not None), default=0.0)
            for i in range(len(self._day.task_types))
        ]
        naive = if_none_waits(self._day, arriving.type_numbers, fastest)
        return DayDetails(
            utility_by_told(arriving, self._counted, self._utility, naive),
            {key: seconds_of(busy[key]) for key in sorted(busy)},
        )


def examine(day: Day, schedule: DaySchedule) -> ExaminedDay:
    """Check a schedule against every rule, and measure it if it breaks none."""
    account = DayAccount(day, schedule)
    return ExaminedDay(account.violations, account.measured)


def violations(day: Day, schedule: DaySchedule) -> tuple[Violation, ...]:
    """Return every broken rule; an empty tuple means that the schedule is valid."""
    return DayAccount(day, schedule).violations


def measure(day: Day, schedule: DaySchedule) -> DayMeasurement:
    """Measure a valid schedule."""
    measured = DayAccount(day, schedule).measured
    assert measured is not None, "only valid schedules are measured"
    return measured


def traces(day: Day, schedule: DaySchedule, times: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return what a valid schedule has been counted by each of some times, as in `DayAccount.traces`."""
    return DayAccount(day, schedule).traces(times)


def details(day: Day, schedule: DaySchedule) -> DayDetails:
    """Return more of a valid schedule, as in `DayAccount.details`."""
    return DayAccount(day, schedule).details()
