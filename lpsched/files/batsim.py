"""Batsim's `_jobs.csv`: one line per job, with the columns and the order of its documentation.

Resources are all nodes of all clusters, numbered from 0: those of the first cluster first. A task that was
dropped is REJECTED and has no times. Energy is empty where nobody knows it, `metadata` always is.

Source: Batsim's documentation, "Jobs" among the outputs, and "Interval set".
"""

from __future__ import annotations

import csv
import io
from itertools import accumulate
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lpsched.schedule.clusters import Nodes
    from lpsched.schedule.ran import ToldSystem, ToldTask

BATSIM_COLUMNS: Final = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)
DONE: Final = "COMPLETED_SUCCESSFULLY"
REJECTED: Final = "REJECTED"


def write_batsim(system: ToldSystem, tasks: Iterable[ToldTask], file: BinaryIO) -> None:
    """Write tasks as they come; a job's identifier is its number elsewhere, else that of the task."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(BATSIM_COLUMNS)
    writer.writerows(_batsim_rows(system, tasks))
    text.flush()
    text.detach()


def _batsim_rows(system: ToldSystem, tasks: Iterable[ToldTask]) -> Iterator[tuple[Any, ...]]:
    before = [0, *accumulate(place.nodes for place in system.places)]
    for each in tasks:
        job = each.task if each.job is None else each.job
        own = (job, system.name, system.task_types[each.type_number], each.arrival_seconds)
        ran = each.ran
        if ran is None:
            yield (*own, each.cores, None, 0, REJECTED, *[None] * 9)
            continue
        run, stay = ran.run_seconds, ran.end_seconds - each.arrival_seconds
        yield (
            *own,
            ran.node_count,
            each.requested_seconds,
            1,
            DONE,
            ran.start_seconds,
            run,
            ran.end_seconds,
            ran.start_seconds - each.arrival_seconds,
            stay,
            stay / run,
            interval_set(ran.nodes, before[ran.place]),
            ran.joules,
            None,
        )


def interval_set(nodes: Nodes, before: int) -> str:
    """Return nodes as resources, of which so many come before; ranges that touch are one.

    >>> interval_set(((1, 2), (3, 4), (9, 9)), 0)
    '0-3 8'
    """
    joined: list[list[int]] = []
    for first, last in sorted(nodes):
        if joined and first == joined[-1][1] + 1:
            joined[-1][1] = last
        else:
            joined.append([first, last])
    low = before - 1
    return " ".join(
        f"{first + low}-{last + low}" if last > first else str(first + low) for first, last in joined
    )
