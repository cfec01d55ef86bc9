"""Verify a schedule of a day: every rule, by plain loops and exact sums."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.model.violation import UNIT, Violation, rounded_up
from lpsched.online.verify.accounts import (
    Account,
    PlacedRuns,
    Run,
    UtilityTotals,
    broken_start,
    clearly_before,
    seconds_of,
    whole,
)

if TYPE_CHECKING:
    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule, PlacedTask
    from lpsched.online.verify.accounts import Broken


# Is this a schedule of that day, and when does each task really run? Machine by machine.
class Runs(PlacedRuns["PlacedTask"]):
    """Puts the tasks of each machine together, then goes through every machine by itself."""

    def __init__(self, day: Day, schedule: DaySchedule) -> None:
        self._day, self._types = day, day.arriving.type_numbers
        self._counts = {machine.name: machine.count for machine in day.machine_types}
        super().__init__(day, schedule.placed)

    def _broken(self, placed: PlacedTask) -> Broken:
        task, name, number = placed.task, placed.machine_type, placed.machine
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

    def _run(self, valid: list[PlacedTask]) -> None:
        machines: dict[tuple[str, int], list[PlacedTask]] = {}
        for placed in valid:
            machines.setdefault((placed.machine_type, placed.machine), []).append(placed)
        for (name, number), own in machines.items():
            self._run_machine(name, number, own)

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
            self.runs.append(Run(placed.task, self._number[name], number, 1, begin, free, watts))

    def _cell(self, placed: PlacedTask) -> tuple[int, int]:
        """Return the seconds and the watts of a task."""
        key = self._types[placed.task], self._column[placed.machine_type, placed.p_state]
        found = self._cells.get(key)
        if found is None:
            found = self._cells[key] = whole(self._day.seconds[key] or 0.0), whole(self._day.watts[key] or 0.0)
        return found


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
class DayDetails:
    """More of a valid schedule, for reports; what is earned counts as in `DayMeasurement`."""

    utility_by_declaration: tuple[UtilityTotals, ...]  # in the order of the declared utilities
    busy_seconds: dict[tuple[str, int], float]  # in the period, of each machine that ran anything


class DayAccount(Account[DayMeasurement]):
    """A schedule of a day, gone through once."""

    def __init__(self, day: Day, schedule: DaySchedule) -> None:
        self._day = day
        super().__init__(day, Runs(day, schedule))

    def _measure(self, joules: int) -> DayMeasurement:
        return DayMeasurement(**self._sums(joules))

    def details(self) -> DayDetails:
        """Return utility by declaration, and how busy machines were."""
        self.require_measured()
        busy: dict[tuple[str, int], int] = {}
        for run in self._runs:
            key = self._day.machine_types[run.place].name, run.machine
            busy[key] = busy.get(key, 0) + self._counting.within(run)
        fastest = [
            min((cell for cell in self._day.seconds.row(i) if cell is not None), default=0.0)
            for i in range(len(self._day.task_types))
        ]
        declared, _ = self._by_declaration(self._day.arriving.type_numbers, fastest)
        return DayDetails(declared, {key: seconds_of(busy[key]) for key in sorted(busy)})


examine = DayAccount  # checks a schedule against every rule, and measures it if it breaks none


def measure(day: Day, schedule: DaySchedule) -> DayMeasurement:
    """Measure a valid schedule."""
    return DayAccount(day, schedule).require_measured()
