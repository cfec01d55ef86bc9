"""What does a schedule of a day earn, and what does it take? By plain loops and exact sums.

Whether it is one, and when each task really runs, `day_runs.py` says; what counts of it, `day_counting.py`;
how much by which time, `day_traces.py`.
Utility and energy are the sums of what counts of each task. Energy is exact, and rounded up once; the sum of
utilities is rounded once.

The counted energy may be above the energy constraint by one part in 10^9, since whoever adds up doubles is
wrong by less. (A bound must grant as much: `Period.most_joules`.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.verify.day_counting import Counting, too_much_energy
from lpsched.verify.day_runs import Runs
from lpsched.verify.day_traces import traces_of
from lpsched.verify.exact_times import MOST, seconds_of
from lpsched.verify.task_accounts import TaskAccount, task_accounts
from lpsched.verify.told_utility import ToldUtility, if_none_waits, utility_by_told
from lpsched.verify.violation import UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule

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


def traces(
    day: Day, schedule: DaySchedule, times: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return what a valid schedule has been counted by each of some times, as in `DayAccount.traces`."""
    return DayAccount(day, schedule).traces(times)


def details(day: Day, schedule: DaySchedule) -> DayDetails:
    """Return more of a valid schedule, as in `DayAccount.details`."""
    return DayAccount(day, schedule).details()
