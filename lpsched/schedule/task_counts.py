"""How many tasks of each type a schedule runs in each mode, all machines together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.instance.p_states import column_numbers

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def task_counts(bag: Bag, schedule: Schedule) -> list[dict[int, int]]:
    """Return ``counts[i][column]`` of a valid schedule, as recovery starts from."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column = column_numbers(bag.machine_types)
    counts: list[dict[int, int]] = [{} for _ in bag.task_types]
    for group in schedule.groups:
        for run in group.runs:
            own, cell = counts[row[run.task_type]], column[group.machine_type, run.p_state]
            own[cell] = own.get(cell, 0) + group.machines * run.count
    return counts
