"""The tasks of clusters as columns of a file: what says nothing is left out.

Columns: arrival_seconds, task_type, cores; work where it is not always 1, requested_work where it is not the
work, job where tasks have such a number; then utility as for days (`day_tasks.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lpsched.files.task_columns import told_columns
from lpsched.instance.number_columns import ARRIVAL, CORES, JOB, REQUESTED, WORK

if TYPE_CHECKING:
    from lpsched.instance.clusters import Clusters


def cluster_columns(clusters: Clusters) -> dict[str, list[Any]]:
    """Return the columns that the tasks use; `None` where a task has nothing to say."""
    tasks = clusters.arriving
    names = [task.name for task in clusters.task_types]
    columns: dict[str, list[Any]] = {
        ARRIVAL.key: tasks.arrival_seconds.tolist(),
        "task_type": [names[i] for i in tasks.type_numbers],
        CORES.key: tasks.core_counts.tolist(),
    }
    work, requested = tasks.work_factors.tolist(), tasks.requested_factors.tolist()
    if set(work) != {1.0}:
        columns[WORK.key] = work
    if requested != work:
        columns[REQUESTED.key] = requested
    if tasks.job_numbers is not None:
        columns[JOB.key] = tasks.job_numbers.tolist()
    return columns | told_columns(tasks.told, tasks.utility_numbers)
