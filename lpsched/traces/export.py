"""Schedules out: one row per task, the Standard Workload Format, and the files of Batsim."""

from __future__ import annotations

import csv
import io
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from lpsched.errors import InvalidScheduleError, OutputError
from lpsched.io.content import load_arrow, whole_file
from lpsched.online.day import Day
from lpsched.online.schedule import ClustersSchedule, DaySchedule, Ran, ToldPlace, ToldSystem, ToldTask, written_nodes
from lpsched.online.verify.clusters import ClustersAccount
from lpsched.online.verify.day import DayAccount
from lpsched.traces.swf import FIELDS, MISSING, write_lines, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lpsched.online.clusters import Clusters
    from lpsched.online.schedule import Nodes


# A schedule of a day or of clusters, task by task, as the verifier finds that it ran.
#
# Tasks come by their numbers, that is by arrival; dropped ones too.
MOST_TOLD: Final = 20  # broken rules in a message


def told_tasks_of_day(day: Day, schedule: DaySchedule, account: DayAccount) -> Iterator[ToldTask]:
    """Yield the tasks of a day by their numbers; `account` is that of the schedule, which is valid."""
    number = {machine.name: j for j, machine in enumerate(day.machine_types)}
    column = {(number_of, day.p_state(place)): place for place, (number_of, _) in enumerate(day.modes)}
    placed = {each.task: each for each in schedule.placed}
    accounts = account.tasks()
    types = day.arriving.type_numbers
    for task, arrival in enumerate(day.arriving.arrival_seconds):
        ran, seconds = None, None
        if task in placed:
            own, found = placed[task], accounts[task]
            j = number[own.machine_type]
            seconds = day.seconds[types[task], column[j, own.p_state]]
            assert seconds is not None, "the schedule is valid"
            nodes = ((own.machine, own.machine),)
            ran = Ran(
                j, nodes, own.p_state, found.start_seconds, found.end_seconds, seconds, found.joules, found.earned
            )
        yield ToldTask(task, None, types[task], 1, arrival, ran, seconds)


def told_tasks_of_clusters(
    clusters: Clusters, schedule: ClustersSchedule, account: ClustersAccount
) -> Iterator[ToldTask]:
    """Yield the tasks of clusters by their numbers; `account` is that of the schedule, which is valid."""
    number = {cluster.name: c for c, cluster in enumerate(clusters.clusters)}
    column = {(c, clusters.p_state(place)): place for place, (c, _) in enumerate(clusters.modes)}
    placed = {each.task: each for each in schedule.placed}
    accounts = account.tasks()
    arriving = clusters.arriving
    jobs, kinds = arriving.job_numbers, memoryview(clusters.kind_numbers).cast("q")

    @cache
    def spans(kind_number: int, place: int) -> tuple[float, float]:
        """Return how long a kind runs there, and how long it is announced to."""
        kind = clusters.kinds[kind_number]
        run = clusters.seconds_of(kind, place)
        asked = clusters.seconds_of(kind._replace(work=kind.requested), place)
        assert run is not None, "the schedule is valid"
        assert asked is not None, "what runs can be announced"
        return run, asked

    for task, arrival in enumerate(arriving.arrival_seconds):
        ran, asked = None, None
        if task in placed:
            own, found = placed[task], accounts[task]
            c = number[own.cluster]
            run, asked = spans(kinds[task], column[c, own.p_state])
            ran = Ran(
                c,
                tuple(sorted(own.nodes)),
                own.p_state,
                found.start_seconds,
                found.end_seconds,
                run,
                None if clusters.watts is None else found.joules,
                found.earned,
            )
        job = None if jobs is None else jobs[task]
        yield ToldTask(task, job, arriving.type_numbers[task], arriving.core_counts[task], arrival, ran, asked)


def export_schedule(instance: Day | Clusters, schedule: DaySchedule | ClustersSchedule, path: Path | str) -> None:
    """Write a schedule task by task, in the form that the file's ending says."""
    if isinstance(instance, Day):
        assert isinstance(schedule, DaySchedule), "a day has schedules of days"
        day_account = DayAccount(instance, schedule)
        violations, tasks = day_account.violations, told_tasks_of_day(instance, schedule, day_account)
        places = tuple(ToldPlace(each.name, each.count) for each in instance.machine_types)
    else:
        assert isinstance(schedule, ClustersSchedule), "clusters have schedules of clusters"
        account = ClustersAccount(instance, schedule)
        violations, tasks = account.violations, told_tasks_of_clusters(instance, schedule, account)
        places = tuple(ToldPlace(each.name, each.nodes, each.cores_per_node) for each in instance.clusters)
    if violations:
        sentences = "".join(f"\n  {each.sentence}" for each in violations[:MOST_TOLD])
        raise InvalidScheduleError(f"this is not a schedule of {instance.name}:{sentences}")
    write_tasks(ToldSystem(instance.name, places, tuple(each.name for each in instance.task_types)), tasks, path)


# Schedules task by task in forms that others read: CSV, Parquet, the Standard Workload Format, Batsim's CSV.
#
# The ending says which: `.csv`, `.parquet`, `.swf` or `.swf.gz`, and `_jobs.csv` for Batsim. Tasks stand by
# their numbers, that is by arrival. Those that were dropped stand there too: without a start in CSV and
# Parquet, as cancelled (status 5) in SWF, as REJECTED for Batsim.
#
# Columns of `.csv` and `.parquet` (an empty cell is not known):
#
#     task, job                the number of the task, from 0, and the one that it has elsewhere
#     task_type, cluster       names; of a day, the machine type
#     nodes, node_count        which, from 1, as ranges such as 1-4;9, and how many
#     cores, p_state           the cores it asked for, and the P-state it ran in
#     arrival_seconds, start_seconds, end_seconds
#     wait_seconds             start - arrival
#     run_seconds              how long it ran, as the instance says
#     requested_seconds        how long it was announced to run there
#     energy_joules            of the whole run
#     utility                  what counts of it; where waiting is judged, minus what it costs
ENDINGS: Final = (".csv", ".parquet", ".swf", ".swf.gz")
BATSIM: Final = "_jobs.csv"
COLUMNS: Final = {  # and what stands in them, as PyArrow calls it
    "task": "int64", "job": "int64", "task_type": "string", "cluster": "string", "nodes": "string",
    "node_count": "int64", "cores": "int64", "p_state": "string", "arrival_seconds": "float64",
    "start_seconds": "float64", "end_seconds": "float64", "wait_seconds": "float64", "run_seconds": "float64",
    "requested_seconds": "float64", "energy_joules": "float64", "utility": "float64",
}  # fmt: skip
PIECE: Final = 65_536  # rows of Parquet that are written at once


def write_tasks(system: ToldSystem, tasks: Iterable[ToldTask], path: Path | str) -> None:
    """Write tasks as they come, in the form that the file's ending says."""
    path = Path(path)
    name = path.name.lower()
    if not name.endswith(ENDINGS):
        raise OutputError(f"cannot write {path}: needs the ending {' or '.join(ENDINGS)}; choose one")
    with whole_file(path) as file:
        if name.endswith(BATSIM):
            _write_csv(BATSIM_COLUMNS, _batsim_rows(system, tasks), file)
        elif name.endswith(".csv"):
            _write_csv(COLUMNS, _rows(system, tasks), file)
        elif name.endswith(".parquet"):
            _write_parquet(system, tasks, file, path)
        else:
            write_lines(_lines(system, tasks), file, packed=name.endswith(".gz"))


def _rows(system: ToldSystem, tasks: Iterable[ToldTask]) -> Iterator[tuple[Any, ...]]:
    for each in tasks:
        own = (each.task, each.job, system.task_types[each.type_number])
        ran = each.ran
        if ran is None:
            yield (*own, None, None, None, each.cores, None, each.arrival_seconds, *[None] * 7)
            continue
        yield (
            *own,
            system.places[ran.place].name,
            written_nodes(ran.nodes),
            ran.node_count,
            each.cores,
            ran.p_state,
            each.arrival_seconds,
            ran.start_seconds,
            ran.end_seconds,
            ran.start_seconds - each.arrival_seconds,
            ran.run_seconds,
            each.requested_seconds,
            ran.joules,
            ran.earned,
        )


def _write_csv(header: Iterable[str], rows: Iterable[tuple[Any, ...]], file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)  # a double is written with all its digits
    text.flush()
    text.detach()


def _write_parquet(system: ToldSystem, tasks: Iterable[ToldTask], file: BinaryIO, path: Path) -> None:
    pa, pq = load_arrow(f"writing {path.name}")
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])
    rows = _rows(system, tasks)
    with pq.ParquetWriter(file, schema) as writer:
        while piece := list(islice(rows, PIECE)):
            writer.write_table(pa.table(list(zip(*piece, strict=True)), schema=schema))


# A schedule as a log in the Standard Workload Format: what would have been logged, had it been run.
#
# Clusters are partitions and task types executables, both numbered from 1; the header names them. The allocated
# processors are the cores of the nodes that a task took, the requested ones what it asked for. A task that was dropped
# is cancelled: status 5, no wait, no run time. Times may have fractions. A job's number is the one that it has
# elsewhere, else the task's plus 1.
COMPLETED, CANCELLED = 1, 5


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
        known = _known_fields(system, each)
        yield (" ".join(known.get(name, str(MISSING)) for name in FIELDS) + "\n").encode()


def _known_fields(system: ToldSystem, each: ToldTask) -> dict[str, str]:
    known = {
        "job": str(each.task + 1 if each.job is None else each.job),
        "submit_seconds": written(each.arrival_seconds),
        "requested_processors": str(each.cores),
        "executable": str(each.type_number + 1),
        "status": str(CANCELLED),
    }
    ran = each.ran
    if ran is not None:
        known |= {
            "wait_seconds": written(ran.start_seconds - each.arrival_seconds),
            "run_seconds": written(ran.run_seconds),
            "processors": str(ran.node_count * system.places[ran.place].cores_per_node),
            "status": str(COMPLETED),
            "partition": str(ran.place + 1),
        }
        if each.requested_seconds is not None:
            known["requested_seconds"] = written(each.requested_seconds)
    return known


# Batsim's `_jobs.csv`: one line per job, with the columns and the order of its documentation.
#
# Resources are all nodes of all clusters, numbered from 0: those of the first cluster first. A task that was dropped is
# REJECTED and has no times. A job's identifier is its number elsewhere, else that of the task. Energy is empty where
# nobody knows it, `metadata` always is.
#
# Source: Batsim's documentation, "Jobs" among the outputs, and "Interval set".
BATSIM_COLUMNS: Final = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
    "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
    "stretch", "allocated_resources", "consumed_energy", "metadata",
)  # fmt: skip
DONE: Final = "COMPLETED_SUCCESSFULLY"
REJECTED: Final = "REJECTED"


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
    return " ".join(f"{first + low}-{last + low}" if last > first else str(first + low) for first, last in joined)
