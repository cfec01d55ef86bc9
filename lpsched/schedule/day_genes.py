"""From a schedule of a day to a chromosome, and back.

Machines of a type are alike, so the way there numbers those that work in the order of their first mention.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.p_states import column_numbers
from lpsched.schedule.day import DaySchedule, PlacedTask
from lpsched.schedule.genes import Genes, first_machines

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day import Day
    from lpsched.instance.day_arrays import DayArrays


def genes_of_day(day: Day, schedule: DaySchedule) -> Genes:
    """Return the chromosome of N genes that runs tasks where a schedule does, in the order of their starts.

    Tasks that are not placed come last, each where it takes the least energy: a chromosome leaves none out.

    Raises
    ------
    ValueError
        If it is no schedule of this day; the message says why.
    """
    arrays = day_arrays(day)
    tasks = len(arrays.arrivals)
    first = first_machines(arrays.machine_counts.tolist(), tasks)
    machines, columns = _thriftiest(arrays, first)
    starts = np.full(tasks, np.inf)
    numbers: dict[tuple[int, int], int] = {}
    working: Counter[int] = Counter()
    column_of = column_numbers(day.machine_types)
    for placed in schedule.placed:
        mode = placed.machine_type, placed.p_state
        if not 0 <= placed.task < tasks or starts[placed.task] < np.inf:
            raise ValueError(f"there is no task {placed.task}, or it runs twice")
        if mode not in column_of or not arrays.can_run[arrays.task_type[placed.task], column_of[mode]]:
            raise ValueError(f"task {placed.task} cannot run on {mode[0]!r} in P-state {mode[1]!r}")
        j = arrays.mode_type[column_of[mode]]
        if not 1 <= placed.machine <= arrays.machine_counts[j]:
            raise ValueError(f"there is no machine {placed.machine} of type {placed.machine_type!r}")
        if (j, placed.machine) not in numbers:
            numbers[j, placed.machine] = working[j]
            working[j] += 1
        machines[placed.task] = first[j] + numbers[j, placed.machine]
        columns[placed.task], starts[placed.task] = column_of[mode], placed.start_seconds
    orders = np.empty(tasks, dtype=np.int32)
    orders[np.argsort(starts, kind="stable")] = np.arange(tasks)
    return Genes(machines.astype(np.int32), columns.astype(np.int32), orders)


def _thriftiest(arrays: DayArrays, first: Integers) -> tuple[Integers, Integers]:
    """Return the column of each task that takes the least energy, and the first machine that has it."""
    joules = np.where(arrays.can_run, arrays.seconds * arrays.watts, np.inf)
    columns = joules.argmin(axis=1)[arrays.task_type]
    return first[arrays.mode_type[columns]], columns


def to_day_schedule(day: Day, genes: Genes, starts: Floats) -> DaySchedule:
    """Return what a chromosome of N genes says, in the day's words; a task that starts at NaN is left out."""
    first = first_machines([machine.count for machine in day.machine_types], day.tasks).tolist()
    states = [state for machine in day.machine_types for state in machine.p_states or (None,)]
    placed = []
    for task, (machine, column, start) in enumerate(
        zip(genes.machines.tolist(), genes.columns.tolist(), starts.tolist(), strict=True)
    ):
        if start == start:  # noqa: PLR0124 - not NaN
            j = day.modes[column][0]
            number = machine - first[j] + 1
            placed.append(PlacedTask(task, day.machine_types[j].name, number, start, states[column]))
    return DaySchedule(tuple(placed))
