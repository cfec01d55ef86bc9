"""`lpsched expand`: a schedule task by task."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.options import require_output
from lpsched.cli.talk import talk_of

if TYPE_CHECKING:
    from lpsched.cli.talk import Talk
    from lpsched.instance import Bag
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day


def expand(
    context: typer.Context,
    instance: Annotated[
        Path, typer.Argument(help="A bag, a day or clusters: a .yaml or .json file.", readable=False)
    ],
    schedule: Annotated[
        Path,
        typer.Argument(
            help="Of a bag: a compact schedule, .json or .yaml. Of a day or clusters: .csv or .parquet.",
            readable=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The rows: .csv or .parquet. Of a day or clusters also .swf, .swf.gz, "
            "and _jobs.csv as Batsim writes it.",
        ),
    ],
) -> None:
    """Write a schedule task by task: where it runs, and when; of days and clusters also what it took."""
    from lpsched.files.instances import read_instance
    from lpsched.instance import Bag
    from lpsched.instance.facility import Facility

    read = read_instance(instance)
    if isinstance(read, Facility):
        raise typer.BadParameter("is a facility, whose allocations have no tasks", param_hint="INSTANCE")
    if isinstance(read, Bag):
        require_output(output, (".csv", ".parquet"), instance, schedule)
        _expand_bag(talk_of(context), read, schedule, output)
    else:
        require_output(output, (".csv", ".parquet", ".swf", ".gz"), instance, schedule)
        _expand_arrived(talk_of(context), read, schedule, output)


def _expand_bag(talk: Talk, bag: Bag, schedule: Path, output: Path) -> None:
    from lpsched.cli.answers import header
    from lpsched.errors import InvalidScheduleError, LpschedWarning
    from lpsched.files.schedules import read_schedule
    from lpsched.files.task_rows import write_rows
    from lpsched.schedule.tasks import expand as rows_of
    from lpsched.verify.bag import examine

    compact = read_schedule(schedule)
    broken = examine(bag, compact, may_wait=True).violations
    if broken:
        sentences = "".join(f"\n  {each.sentence}" for each in broken[:20])
        raise InvalidScheduleError(f"{schedule} is not a schedule of {bag.name}:{sentences}")
    if compact.makespan_seconds is not None:
        waits = f"the schedule ends at {compact.makespan_seconds:g} s, which rows of tasks cannot say"
        warnings.warn(f"{waits}; keep {schedule.name} to validate it", LpschedWarning, stacklevel=1)
    tasks = bag.tasks if compact.groups else 0
    write_rows(rows_of(bag, compact), tasks, output)
    answer = header("lpsched-written/1", bag) | {"files": [str(output)], "tasks": tasks}
    talk.answer(answer, text=f"{output}: {tasks:,} tasks\n")


def _expand_arrived(talk: Talk, instance: Day | Clusters, schedule: Path, output: Path) -> None:
    from lpsched.cli.answers import header
    from lpsched.files.cluster_schedules import read_clusters_schedule
    from lpsched.files.day_schedules import read_day_schedule
    from lpsched.instance.day import Day
    from lpsched.traces.told_tasks import export_schedule

    if isinstance(instance, Day):
        export_schedule(instance, read_day_schedule(instance, schedule), output)
    else:
        export_schedule(instance, read_clusters_schedule(instance, schedule), output)
    answer = header("lpsched-written/1", instance) | {"files": [str(output)], "tasks": instance.tasks}
    talk.answer(answer, text=f"{output}: {instance.tasks:,} tasks\n")
