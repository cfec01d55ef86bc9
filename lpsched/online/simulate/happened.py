"""What happened in a day, task by task, and the schedule that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from lpsched.online.schedule import DaySchedule, PlacedTask

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.day import Day
    from lpsched.online.simulate.machines import LinedUp
    from lpsched.online.simulate.state import System


class Fate(IntEnum):
    """What became of a task by the end of the day."""

    WAITING = 0  # never mapped, or mapped but not begun
    RAN = 1
    DROPPED = 2


@dataclass(frozen=True, slots=True)
class SimulatedDay:
    """What happened: a schedule for the verifier, the fate of every task, and what mapping took."""

    schedule: DaySchedule  # of all tasks that began, warm-up included
    fates: Integers  # N, of Fate
    dropped_at: Floats  # N: when each dropped task was dropped; NaN for the others
    event_at: Floats  # when each mapping event was
    event_seconds: Floats  # how long the policy (with dropping and filter) took at each
    is_whole: bool  # False: stopped by the watch before the day was over
    refused: int = 0  # assignments that were not done, for they did not fit energy or time


class Record:
    """What engines note while a day runs: what became of tasks, and what mapping took."""

    def __init__(self, tasks: int) -> None:
        self.fates = np.full(tasks, Fate.WAITING, dtype=np.int64)
        self.dropped_at, self.starts = np.full(tasks, np.nan), np.zeros(tasks)
        self.columns = np.zeros(tasks, np.int64)
        self.event_at: list[float] = []
        self.event_seconds: list[float] = []
        self.refused = 0

    def drop(self, tasks: Integers, now: float) -> None:
        """Note tasks that are given up."""
        self.fates[tasks] = Fate.DROPPED
        self.dropped_at[tasks] = now

    def event(self, now: float, seconds: float) -> None:
        """Note a mapping event, and how long it took."""
        self.event_at.append(now)
        self.event_seconds.append(seconds)

    def columns_of_result(self) -> tuple[Integers, Floats, Floats, Floats]:
        """Return fates, times of dropping, times of events and what they took, not to be changed any more."""
        arrays = (self.fates, self.dropped_at, np.array(self.event_at), np.array(self.event_seconds))
        for array in arrays:
            array.flags.writeable = False
        return arrays

    def by_start(self) -> Integers:
        """Return the tasks that ran, by start."""
        ran = np.flatnonzero(self.fates == Fate.RAN)
        return ran[np.argsort(self.starts[ran], kind="stable")]


class Happened(Record):
    """The record of a day of tasks that take one machine each."""

    def __init__(self, tasks: int) -> None:
        super().__init__(tasks)
        self.machines = np.zeros(tasks, np.int64)

    def run(self, made: LinedUp) -> None:
        """Note tasks that have got unmovable: they will run."""
        self.fates[made.tasks] = Fate.RAN
        self.starts[made.tasks] = made.starts
        self.machines[made.tasks], self.columns[made.tasks] = made.machines, made.columns

    def simulated(self, day: Day, system: System, *, is_whole: bool) -> SimulatedDay:
        """Return what happened."""
        schedule = self._schedule(day, system)
        return SimulatedDay(schedule, *self.columns_of_result(), is_whole, self.refused)

    def _schedule(self, day: Day, system: System) -> DaySchedule:
        """Return the tasks that run, by start."""
        ran = self.by_start()
        machines, columns = self.machines[ran], self.columns[ran]
        first = np.cumsum(system.machine_counts) - system.machine_counts
        numbers = machines - first[system.machine_type[machines]] + 1 if len(ran) else machines
        names = [day.machine_types[j].name for j, _ in day.modes]
        states = [day.p_state(column) for column in range(len(names))]
        return DaySchedule(
            tuple(
                PlacedTask(task, names[column], number, start, states[column])
                for task, column, number, start in zip(
                    ran.tolist(), columns.tolist(), numbers.tolist(), self.starts[ran].tolist(), strict=True
                )
            )
        )
