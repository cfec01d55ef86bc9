"""What a policy sees at a mapping event: the system, the tasks that wait, the machines. Never the future.

Machines are numbered from 0 over all types, in the order of the types; columns are those of the tables
(machine type and P-state). A policy answers with assignments in the order in which it makes them: the tasks
of one machine queue up in that order behind what is already there. What it leaves out waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers, Mask


class Assignment(NamedTuple):
    """One decision: this task on this machine, in the P-state of this column."""

    task: int
    machine: int
    column: int


@dataclass(frozen=True, slots=True)
class Assignments:
    """Many decisions as three columns of equal length, in the order in which they were made."""

    tasks: Integers
    machines: Integers
    columns: Integers


@dataclass(frozen=True, slots=True)
class System:
    """What does not change while a day runs. T task types, C columns, M machine types, m machines in all."""

    machine_counts: Integers  # M
    machine_type: Integers  # m: the type of each machine
    first_column: Integers  # M + 1: machine type j has the columns first_column[j] to first_column[j + 1]
    column_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C, 0 where it cannot run
    joules: Floats  # T x C, likewise
    first_interval: Integers  # utility functions, as in DayArrays
    after_seconds: Floats
    starts_at: Floats
    falls_to: Floats
    rate_per_second: Floats


@dataclass(frozen=True, slots=True)
class State:
    """The present. All arrays are read-only; B tasks may be mapped, by rising number, that is by arrival."""

    system: System
    now: float  # seconds
    begins_at: float  # of the period that `now` belongs to, for energy; see `accounts.py`
    ends_at: float  # nothing may start then or later; infinite if the day never ends
    until: float  # the next mapping event is then at the latest; what is not pending by then is mapped anew
    energy_left: float  # joules of this period that neither are taken nor belong to unmovable tasks
    allowed: Mask  # T x C: can run, and passes the energy filter
    tasks: Integers  # B: numbers of the tasks that may be mapped
    arrivals: Floats  # B
    types: Integers  # B
    functions: Integers  # B: utility functions
    polled: bool  # whether an available machine takes one task only, which starts at once
    available: Integers  # machines that may get tasks, by rising number
    ready: Floats  # m: when each machine has done its unmovable tasks; never before `now`
    pending_at: (
        Floats  # m: when the next task mapped to it gets unmovable: as its pending task starts, or `now`
    )
    memory: dict[str, Any]  # the policy's own, empty when the day begins; the only thing here it may change
