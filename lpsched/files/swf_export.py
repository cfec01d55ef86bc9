"""A schedule as a log in the Standard Workload Format: what would have been logged, had it been run.

Clusters are partitions and task types executables, both numbered from 1; the header names them. The allocated
processors are the cores of the nodes that a task took, the requested ones what it asked for. A task that was
dropped is cancelled: status 5, no wait, no run time. Times may have fractions.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, BinaryIO

from lpsched.files.swf_lines import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lpsched.schedule.ran import ToldSystem, ToldTask

COMPLETED, CANCELLED = 1, 5


def write_swf_tasks(system: ToldSystem, tasks: Iterable[ToldTask], file: BinaryIO, *, packed: bool) -> None:
    """Write tasks as they come; a job's number is the one that it has elsewhere, else the task's plus 1."""
    if packed:
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as unpacked:
            unpacked.writelines(_lines(system, tasks))
    else:
        file.writelines(_lines(system, tasks))


def _lines(system: ToldSystem, tasks: Iterable[ToldTask]) -> Iterator[bytes]:
    header = [
        "Version: 2.2",
        f"Computer: {system.name}",
        "Conversion: lpsched, from a schedule",
        f"MaxNodes: {sum(place.nodes for place in system.places)}",
        f"MaxProcs: {sum(place.nodes * place.cores_per_node for place in system.places)}",
        f"MaxPartitions: {len(system.places)}",
        *(f"Partition: {number} {place.name}" for number, place in enumerate(system.places, 1)),
        *(f"Note: executable {number} is {name}" for number, name in enumerate(system.task_types, 1)),
    ]
    yield from (f"; {line}\n".encode() for line in header)
    for each in tasks:
        yield (" ".join(_fields(system, each)) + "\n").encode()


def _fields(system: ToldSystem, each: ToldTask) -> list[str]:
    job = each.task + 1 if each.job is None else each.job
    ran = each.ran
    wait, run, processors, asked, status, partition = -1.0, -1.0, MISSING, -1.0, CANCELLED, MISSING
    if ran is not None:
        wait, run = ran.start_seconds - each.arrival_seconds, ran.run_seconds
        processors = ran.node_count * system.places[ran.place].cores_per_node
        asked = -1.0 if each.requested_seconds is None else each.requested_seconds
        status, partition = COMPLETED, ran.place + 1
    unknown = str(MISSING)
    return [
        str(job),
        _seconds(each.arrival_seconds),
        _seconds(wait),
        _seconds(run),
        str(processors),
        unknown,
        unknown,
        str(each.cores),
        _seconds(asked),
        unknown,
        str(status),
        unknown,
        unknown,
        str(each.type_number + 1),
        unknown,
        str(partition),
        unknown,
        unknown,
    ]


def _seconds(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
