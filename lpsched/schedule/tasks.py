"""A schedule task by task: which machine runs it, and when it starts.

Machines of a type are numbered from 1. `expand` streams the rows of a compact schedule; nothing is held but
one group, so a billion tasks take no memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.instance.p_states import column_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule

COLUMNS = ("task_type", "machine_type", "machine", "p_state", "start_seconds")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task; P-state and start are optional."""

    task_type: str
    machine_type: str
    machine: int
    p_state: str | None = None
    start_seconds: float | None = None


def expand(bag: Bag, schedule: Schedule) -> Iterator[TaskRow]:
    """Yield every task of a valid schedule, machine by machine, in the order of its start."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column = column_numbers(bag.machine_types)
    used = dict.fromkeys((machine.name for machine in bag.machine_types), 0)
    for group in schedule.groups:
        name = group.machine_type
        starts: list[tuple[Fraction, float, str, str | None, int]] = []
        ready = Fraction(0)
        for run in group.runs:
            seconds = bag.seconds[row[run.task_type], column[name, run.p_state]]
            assert seconds is not None, "only valid schedules are expanded"
            starts.append((ready, seconds, run.task_type, run.p_state, run.count))
            ready += run.count * Fraction(seconds)
        for number in range(used[name] + 1, used[name] + group.machines + 1):
            for first, seconds, task_type, p_state, count in starts:
                begin = float(first)
                for k in range(count):
                    yield TaskRow(task_type, name, number, p_state, begin + k * seconds)
        used[name] += group.machines
