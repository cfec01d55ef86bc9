"""A schedule of a bag: groups of machines that do the same.

A machine runs its tasks one after the other from time 0, in the order of its runs. A billion tasks is a
few hundred groups. All machines stay on until the makespan, which may be later than the last task's end:
waiting lowers the average power.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """Some tasks of one type in a row, in one P-state (`None` where the machine type has none)."""

    task_type: str
    count: int
    p_state: str | None = None


@dataclass(frozen=True, slots=True)
class MachineGroup:
    """How many machines of a type run the same, and what each of them runs, in order."""

    machine_type: str
    machines: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """All groups; machines in none of them stay idle. No groups at all: nothing runs.

    `makespan_seconds` is when all machines may be switched off; `None` means with the end of the last task.
    """

    groups: tuple[MachineGroup, ...]
    makespan_seconds: float | None = None


NOTHING = Schedule(())
