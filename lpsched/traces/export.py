"""Schedules out: one row per task, the Standard Workload Format, and the files of Batsim."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from lpsched.errors import InvalidScheduleError, OutputError
from lpsched.io.content import whole_file, write_csv
from lpsched.io.parquet import load_arrow
from lpsched.online import schedule as schedules
from lpsched.online.day import Day
from lpsched.online.parts import ParallelTasks
from lpsched.online.verify.clusters import ClustersAccount
from lpsched.online.verify.day import DayAccount
from lpsched.traces.swf import FIELDS, MISSING, write_lines

if TYPE_CHECKING:
    from lpsched.model.table import Column
    from lpsched.online.clusters import Clusters
    from lpsched.online.schedule import Nodes


MOST_LISTED: Final = 20  # broken rules in a message


def task_records(
    instance: Day | Clusters,
    schedule: schedules.DaySchedule | schedules.ClustersSchedule,
    account: DayAccount | ClustersAccount,
) -> Iterator[schedules.TaskRecord]:
    """Yield all tasks by their numbers, that is by arrival, as the `account` of a valid schedule has them."""
    machines: Sequence[Column] = instance.runs_on()
    number = {each.name: j for j, each in enumerate(machines)}
    column = {(j, instance.p_state(place)): place for place, (j, _) in enumerate(instance.modes)}
    placed, accounts = {each.task: each for each in schedule.placed}, account.tasks()
    arriving, jobs, cores = instance.arriving, None, None
    if isinstance(arriving, ParallelTasks):
        jobs, cores = arriving.job_numbers, arriving.core_counts
    kinds = arriving.type_numbers if isinstance(instance, Day) else memoryview(instance.kind_numbers).cast("q")

    @cache
    def spans(kind: int, place: int) -> tuple[float, float]:
        """Return how long a task type (of clusters a kind) runs there, and how long it is requested to."""
        if isinstance(instance, Day):
            run = requested = instance.seconds[kind, place]
        else:
            run = instance.seconds_of(instance.kinds[kind], place)
            requested = instance.requested_seconds_of(instance.kinds[kind], place)
        assert run is not None, "the schedule is valid"
        assert requested is not None, "what runs can be requested"
        return run, requested

    for task, arrival in enumerate(arriving.arrival_seconds):
        ran, requested = None, None
        if task in placed:
            own, found = placed[task], accounts[task]
            nodes: Nodes = (
                ((own.machine, own.machine),) if isinstance(own, schedules.PlacedTask) else tuple(sorted(own.nodes))
            )
            j = number[own.machine_type if isinstance(own, schedules.PlacedTask) else own.cluster]
            run, requested = spans(kinds[task], column[j, own.p_state])
            joules = None if instance.watts is None else found.joules
            ran = schedules.Ran(
                j, nodes, own.p_state, found.start_seconds, found.end_seconds, run, joules, found.earned
            )
        job, width = None if jobs is None else jobs[task], 1 if cores is None else cores[task]
        yield schedules.TaskRecord(task, job, arriving.type_numbers[task], width, arrival, ran, requested)


def export_schedule(
    instance: Day | Clusters, schedule: schedules.DaySchedule | schedules.ClustersSchedule, path: Path | str
) -> None:
    """Write a schedule task by task, in the form that the file's ending says."""
    account: DayAccount | ClustersAccount
    if isinstance(instance, Day):
        assert isinstance(schedule, schedules.DaySchedule), "a day has schedules of days"
        account = DayAccount(instance, schedule)
        places = tuple(schedules.PlaceRecord(each.name, each.count) for each in instance.machine_types)
    else:
        assert isinstance(schedule, schedules.ClustersSchedule), "clusters have schedules of clusters"
        account = ClustersAccount(instance, schedule)
        places = tuple(schedules.PlaceRecord(each.name, each.nodes, each.cores_per_node) for each in instance.clusters)
    if account.violations:
        sentences = "".join(f"\n  {each.sentence}" for each in account.violations[:MOST_LISTED])
        raise InvalidScheduleError(f"this is not a schedule of {instance.name}:{sentences}")
    epoch = None if isinstance(instance, Day) else instance.epoch
    jobs = instance.arriving.job_numbers if isinstance(instance.arriving, ParallelTasks) else None
    system = schedules.SystemRecord(
        instance.name,
        places,
        tuple(each.name for each in instance.task_types),
        epoch,
        has_own_numbers=jobs is None or len(set(jobs)) == len(jobs),
    )
    write_tasks(system, task_records(instance, schedule, account), path)


# Schedules task by task: CSV, Parquet, the Standard Workload Format, Batsim's CSV. The ending of the file says which:
# `.csv`, `.parquet`, `.swf` or `.swf.gz`, and `_jobs.csv` for Batsim. Tasks stand by their numbers, that is by arrival;
# dropped ones without a start in CSV and Parquet, as cancelled (status 5) in SWF, as REJECTED for Batsim.
#
# Columns of `.csv` and `.parquet` (an empty cell is not known):
#     task, job                the number of the task, from 0, and the one that it has elsewhere
#     task_type, cluster       names; of a day, the machine type
#     nodes, node_count        which, from 1, as ranges such as 1-4;9, and how many
#     cores, p_state           the cores it asked for, and the P-state it ran in
#     arrival_seconds, start_seconds, end_seconds
#     wait_seconds             start - arrival
#     run_seconds              how long it ran, as the instance says
#     requested_seconds        how long it was requested to run there
#     energy_joules            of the whole run
#     utility                  what counts of it; where waiting has a cost, minus that
ENDINGS: Final = (".csv", ".parquet", ".swf", ".swf.gz")
BATSIM: Final = "_jobs.csv"
COLUMNS: Final = {  # and what stands in them, as PyArrow calls it
    "task": "int64", "job": "int64", "task_type": "string", "cluster": "string", "nodes": "string",
    "node_count": "int64", "cores": "int64", "p_state": "string", "arrival_seconds": "float64",
    "start_seconds": "float64", "end_seconds": "float64", "wait_seconds": "float64", "run_seconds": "float64",
    "requested_seconds": "float64", "energy_joules": "float64", "utility": "float64",
}  # fmt: skip
CHUNK_ROWS: Final = 65_536  # rows of Parquet that are written at once


def write_tasks(system: schedules.SystemRecord, tasks: Iterable[schedules.TaskRecord], path: Path | str) -> None:
    """Write tasks as they come, in the form that the file's ending says."""
    path = Path(path)
    name = path.name.lower()
    if not name.endswith(ENDINGS):
        raise OutputError(f"cannot write {path}: expected the ending {' or '.join(ENDINGS)}; choose one")
    with whole_file(path) as file:
        if name.endswith(BATSIM):
            write_csv(BATSIM_COLUMNS, _batsim_rows(system, tasks), file)
        elif name.endswith(".csv"):
            write_csv(COLUMNS, _rows(system, tasks), file)
        elif name.endswith(".parquet"):
            _write_parquet(system, tasks, file, path)
        else:
            write_lines(_lines(system, tasks), file, packed=name.endswith(".gz"))


def _rows(system: schedules.SystemRecord, tasks: Iterable[schedules.TaskRecord]) -> Iterator[tuple[Any, ...]]:
    for each in tasks:
        own = (each.task, each.job, system.task_types[each.type_number])
        ran = each.ran
        if ran is None:
            yield (*own, None, None, None, each.cores, None, each.arrival_seconds, *[None] * 7)
            continue
        place = system.places[ran.place].name, schedules.written_nodes(ran.nodes), ran.node_count
        times = each.arrival_seconds, ran.start_seconds, ran.end_seconds, ran.start_seconds - each.arrival_seconds
        spans = ran.run_seconds, each.requested_seconds
        yield (*own, *place, each.cores, ran.p_state, *times, *spans, ran.joules, ran.earned)


def _write_parquet(
    system: schedules.SystemRecord, tasks: Iterable[schedules.TaskRecord], file: BinaryIO, path: Path
) -> None:
    pa, pq = load_arrow(f"writing {path.name}")
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])
    rows = _rows(system, tasks)
    with pq.ParquetWriter(file, schema) as writer:
        while chunk := list(islice(rows, CHUNK_ROWS)):
            writer.write_table(pa.table(list(zip(*chunk, strict=True)), schema=schema))


# A schedule as a log in the Standard Workload Format. Clusters are partitions and task types executables, both numbered
# from 1 and named in the header. The allocated processors are the cores of the nodes that a task took, the requested
# ones what it asked for. A dropped task is cancelled: status 5, no wait, no run time. A job's number is the one that it
# has elsewhere, if no two have the same (runs of a requeued job have), else the task's plus 1.
#
# Times are whole seconds, as the format wants them: arrival, start and end are each rounded to the nearest second, and
# wait and run time are the differences. Rounding keeps the order of moments: what does not overlap before does not
# after, and no second has more processors in use than there are. Requests are rounded up. Where second 0 has a date,
# the header has it.
COMPLETED, CANCELLED = 1, 5
HALF: Final = 0.5


def _lines(system: schedules.SystemRecord, tasks: Iterable[schedules.TaskRecord]) -> Iterator[bytes]:
    header = [
        "Version: 2.2",
        f"Computer: {system.name}",
        "Conversion: lpsched, from a schedule",
        f"MaxNodes: {sum(place.nodes for place in system.places)}",
        f"MaxProcs: {sum(place.nodes * place.cores_per_node for place in system.places)}",
        f"MaxPartitions: {len(system.places)}",
        *_unix_start(system.epoch),
        *([] if system.has_own_numbers else ["Note: jobs are numbered from 1, since some had the same number"]),
        *(f"Partition: {number} {place.name}" for number, place in enumerate(system.places, 1)),
        *(f"Note: executable {number} is {name}" for number, name in enumerate(system.task_types, 1)),
    ]
    yield from (f"; {line}\n".encode() for line in header)
    for each in tasks:
        known = _known_fields(system, each)
        yield (" ".join(known.get(name, str(MISSING)) for name in FIELDS) + "\n").encode()


def _known_fields(system: schedules.SystemRecord, each: schedules.TaskRecord) -> dict[str, str]:
    known = {
        "job": str(each.task + 1 if each.job is None or not system.has_own_numbers else each.job),
        "submit_seconds": str(whole_second(each.arrival_seconds)),
        "requested_processors": str(each.cores),
        "executable": str(each.type_number + 1),
        "status": str(CANCELLED),
    }
    ran = each.ran
    if ran is not None:
        arrival, start, end = map(whole_second, (each.arrival_seconds, ran.start_seconds, ran.end_seconds))
        known |= {
            "wait_seconds": str(start - arrival),
            "run_seconds": str(end - start),
            "processors": str(ran.node_count * system.places[ran.place].cores_per_node),
            "status": str(COMPLETED),
            "partition": str(ran.place + 1),
        }
        if each.requested_seconds is not None:
            known["requested_seconds"] = str(max(math.ceil(each.requested_seconds), end - start))
    return known


def whole_second(seconds: float) -> int:
    """Return the nearest whole second, of two the later one: a function that never falls, other than `round`.

    >>> [whole_second(seconds) for seconds in (0.49, 0.5, 1.5, 2.5)]
    [0, 1, 2, 3]
    """
    below = math.floor(seconds)
    return below + (seconds - below >= HALF)


def _unix_start(epoch: str | None) -> list[str]:
    """Return what the header says of second 0, if it has a date from 1970 on with whole seconds."""
    seconds = 0.0 if epoch is None else datetime.fromisoformat(epoch).timestamp()
    return [f"UnixStartTime: {int(seconds)}"] if seconds > 0 and seconds.is_integer() else []


# Batsim's `_jobs.csv`: one line per job, with the columns and the order of its documentation.
#
# Resources are all nodes of all clusters, numbered from 0: those of the first cluster first. A task that was dropped is
# REJECTED and has no times. A job's identifier is its number elsewhere, if
# no two have the same, else that of the task. Energy is empty where
# it is not known, `metadata` always.
# Source: Batsim's documentation, "Jobs" among the outputs, and "Interval set".
BATSIM_COLUMNS: Final = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
    "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
    "stretch", "allocated_resources", "consumed_energy", "metadata",
)  # fmt: skip
DONE: Final = "COMPLETED_SUCCESSFULLY"
REJECTED: Final = "REJECTED"


def _batsim_rows(system: schedules.SystemRecord, tasks: Iterable[schedules.TaskRecord]) -> Iterator[tuple[Any, ...]]:
    before = [0, *accumulate(place.nodes for place in system.places)]
    for each in tasks:
        job = each.task if each.job is None or not system.has_own_numbers else each.job
        own = (job, system.name, system.task_types[each.type_number], each.arrival_seconds)
        ran = each.ran
        if ran is None:
            yield (*own, each.cores, None, 0, REJECTED, *[None] * 9)
            continue
        run, stay = ran.run_seconds, ran.end_seconds - each.arrival_seconds
        wait, nodes = ran.start_seconds - each.arrival_seconds, interval_set(ran.nodes, before[ran.place])
        times = ran.start_seconds, run, ran.end_seconds, wait, stay, stay / run
        yield (*own, ran.node_count, each.requested_seconds, 1, DONE, *times, nodes, ran.joules, None)


def interval_set(nodes: Nodes, before: int) -> str:
    """Return nodes as resources, of which `before` come before; ranges that touch are one.

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
    return " ".join(f"{first + low}-{last + low}" if last > first else str(first + low) for first, last in joined)
