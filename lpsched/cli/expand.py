"""`lpsched expand`: a schedule task by task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import BagFile
from lpsched.cli.talk import talk_of


def expand(
    context: typer.Context,
    bag: BagFile,
    schedule: Annotated[Path, typer.Argument(help="A compact schedule: .json or .yaml.", readable=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The rows: .csv or .parquet.")],
) -> None:
    """Write a schedule task by task: which machine runs it, and when it starts."""
    from lpsched.cli.answers import header
    from lpsched.errors import InvalidScheduleError
    from lpsched.files.bags import read_bag
    from lpsched.files.schedules import read_schedule
    from lpsched.files.task_rows import write_rows
    from lpsched.schedule.tasks import expand as rows_of
    from lpsched.verify.bag import examine

    read = read_bag(bag)
    compact = read_schedule(schedule)
    broken = examine(read, compact, may_wait=True).violations
    if broken:
        sentences = "".join(f"\n  {each.sentence}" for each in broken[:20])
        raise InvalidScheduleError(f"{schedule} is not a schedule of {read.name}:{sentences}")
    tasks = read.tasks if compact.groups else 0
    write_rows(rows_of(read, compact), tasks, output)
    answer = header("lpsched-written/1", read) | {"files": [str(output)], "tasks": tasks}
    talk_of(context).answer(answer, text=f"{output}: {tasks:,} tasks\n")
