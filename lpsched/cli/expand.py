"""`lpsched expand`: a schedule task by task."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import BagFile, require_output
from lpsched.cli.talk import talk_of


def expand(
    context: typer.Context,
    bag: BagFile,
    schedule: Annotated[Path, typer.Argument(help="A compact schedule: .json or .yaml.", readable=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The rows: .csv or .parquet.")],
) -> None:
    """Write a schedule task by task: which machine runs it, and when it starts."""
    from lpsched.cli.answers import header
    from lpsched.errors import InvalidScheduleError, LpschedWarning
    from lpsched.files.bags import read_bag
    from lpsched.files.schedules import read_schedule
    from lpsched.files.task_rows import write_rows
    from lpsched.schedule.tasks import expand as rows_of
    from lpsched.verify.bag import examine

    require_output(output, (".csv", ".parquet"), bag, schedule)
    read = read_bag(bag)
    compact = read_schedule(schedule)
    broken = examine(read, compact, may_wait=True).violations
    if broken:
        sentences = "".join(f"\n  {each.sentence}" for each in broken[:20])
        raise InvalidScheduleError(f"{schedule} is not a schedule of {read.name}:{sentences}")
    if compact.makespan_seconds is not None:
        waits = f"the schedule ends at {compact.makespan_seconds:g} s, which rows of tasks cannot say"
        warnings.warn(f"{waits}; keep {schedule.name} to validate it", LpschedWarning, stacklevel=1)
    tasks = read.tasks if compact.groups else 0
    write_rows(rows_of(read, compact), tasks, output)
    answer = header("lpsched-written/1", read) | {"files": [str(output)], "tasks": tasks}
    talk_of(context).answer(answer, text=f"{output}: {tasks:,} tasks\n")
