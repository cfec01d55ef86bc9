"""A schedule of a day: which machine runs which task, in which P-state, and from when on.

Tasks are numbered from 0 in the order of the day's file, machines of a type from 1. A task that is not placed
is dropped: it earns nothing and takes no energy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlacedTask:
    """One task on one machine; the P-state is `None` where the machine type has none."""

    task: int
    machine_type: str
    machine: int
    start_seconds: float
    p_state: str | None = None


@dataclass(frozen=True, slots=True)
class DaySchedule:
    """All tasks that run, in any order."""

    placed: tuple[PlacedTask, ...]
