"""The tasks of clusters as they stand in a file: arrival, type, cores, work, request, job and utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.instance.arriving_rows import TOLD, TYPE, TaskRows
from lpsched.instance.number_columns import ARRIVAL, CORES, JOB, REQUESTED, WORK
from lpsched.instance.parallel_tasks import ParallelTasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance.day_parts import DayTaskType
    from lpsched.instance.utility_levels import UtilityLevels

NUMBERS: Final = (ARRIVAL, CORES, WORK, REQUESTED, JOB)
CLUSTER_NEEDED: Final = (ARRIVAL.key, TYPE, CORES.key)
CLUSTER_COLUMNS: Final = (*CLUSTER_NEEDED, WORK.key, REQUESTED.key, JOB.key, *TOLD)


def cluster_rows(
    task_types: Sequence[DayTaskType] | None,
    levels: UtilityLevels | None,
    functions: Mapping[str, object] | None,
    *,
    worth: bool,
) -> TaskRows:
    """Return what gathers the tasks of clusters; `worth` says whether they have a utility."""
    return TaskRows(task_types, levels, functions, NUMBERS, worth=worth)


def parallel_tasks(rows: TaskRows) -> ParallelTasks | None:
    """Return the tasks that were gathered, if there was no fault."""
    gathered = rows.gathered()
    if gathered is None:
        return None
    columns, told = gathered
    return ParallelTasks(
        arrivals=columns[ARRIVAL.key],
        types=columns[TYPE],
        cores=columns[CORES.key],
        work=columns[WORK.key],
        requested=columns[REQUESTED.key],
        utilities=columns["utility"],
        told=told,
        jobs=columns[JOB.key] or None,
    )
