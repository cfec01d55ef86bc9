"""A schedule of a day or of clusters, task by task, as the verifier finds that it ran.

Tasks come by their numbers, that is by arrival; dropped ones too.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from lpsched.errors import InvalidScheduleError
from lpsched.files.exports import write_tasks
from lpsched.instance.day import Day
from lpsched.schedule.clusters import ClustersSchedule
from lpsched.schedule.day import DaySchedule
from lpsched.schedule.ran import Ran, ToldPlace, ToldSystem, ToldTask
from lpsched.verify.clusters import ClustersAccount
from lpsched.verify.day import DayAccount

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lpsched.instance.clusters import Clusters
    from lpsched.verify.violation import Violation

MOST_TOLD: Final = 20  # broken rules in a message


def told_system(instance: Day | Clusters) -> ToldSystem:
    """Return what the tasks of an instance run on."""
    if isinstance(instance, Day):
        places = [ToldPlace(each.name, each.count) for each in instance.machine_types]
    else:
        places = [ToldPlace(each.name, each.nodes, each.cores_per_node) for each in instance.clusters]
    return ToldSystem(instance.name, tuple(places), tuple(task.name for task in instance.task_types))


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
                j,
                nodes,
                own.p_state,
                found.start_seconds,
                found.end_seconds,
                seconds,
                found.joules,
                found.earned,
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
        yield ToldTask(
            task, job, arriving.type_numbers[task], arriving.core_counts[task], arrival, ran, asked
        )


def require_valid(violations: Sequence[Violation], what: str) -> None:
    """Refuse a schedule that is none.

    Raises
    ------
    InvalidScheduleError
        If it breaks a rule.
    """
    if violations:
        sentences = "".join(f"\n  {each.sentence}" for each in violations[:MOST_TOLD])
        raise InvalidScheduleError(f"{what}:{sentences}")


def export_schedule(
    instance: Day | Clusters, schedule: DaySchedule | ClustersSchedule, path: Path | str
) -> None:
    """Write a schedule task by task, in the form that the file's ending says (`files/exports.py`).

    Raises
    ------
    InvalidScheduleError
        If it is no schedule of the instance.
    OutputError
        If the file cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    if isinstance(instance, Day):
        assert isinstance(schedule, DaySchedule), "a day has schedules of days"
        day_account = DayAccount(instance, schedule)
        require_valid(day_account.violations, f"this is not a schedule of {instance.name}")
        tasks = told_tasks_of_day(instance, schedule, day_account)
    else:
        assert isinstance(schedule, ClustersSchedule), "clusters have schedules of clusters"
        account = ClustersAccount(instance, schedule)
        require_valid(account.violations, f"this is not a schedule of {instance.name}")
        tasks = told_tasks_of_clusters(instance, schedule, account)
    write_tasks(told_system(instance), tasks, path)
