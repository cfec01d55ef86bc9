"""Writing down who runs what: from numbers of tasks, columns and machines to a schedule of a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.schedule.day import DaySchedule, PlacedTask

if TYPE_CHECKING:
    from lpsched.instance.day import Day


class Placing:
    """Collects tasks as they are placed; a task that never is, is dropped."""

    def __init__(self, day: Day) -> None:
        self._modes = []
        for j, k in day.modes:
            kind = day.machine_types[j]
            self._modes.append((kind.name, None if kind.p_states is None else kind.p_states[k]))
        self._placed: list[PlacedTask] = []

    def place(self, task: int, column: int, machine: int, start_seconds: float) -> None:
        """Run a task on a machine of a column's type, in that column's P-state."""
        machine_type, p_state = self._modes[column]
        self._placed.append(PlacedTask(task, machine_type, machine, start_seconds, p_state))

    def schedule(self) -> DaySchedule:
        """Return all of it, by task."""
        return DaySchedule(tuple(sorted(self._placed, key=lambda each: each.task)))
