"""`lpsched new`, `schema`, `show`, `convert` and `expand`: commands about files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.console import talk_of
from lpsched.cli.options import Kind, Output, TablesOption, form_of, require_output

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.cli.console import Talk
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


def new(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(help="What to start.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A new file; printed if not given.")] = None,
) -> None:
    """Start a file: a commented template with every key."""
    from importlib.metadata import version

    from lpsched.io.content import write_files
    from lpsched.io.templates import template

    text = template(kind.value)
    content: dict[str, object] = {"format": "lpsched-new/1", "lpsched": version("lpsched"), "kind": kind.value}
    if output is None:
        talk_of(context).answer(content | {"text": text}, text=text)
        return
    then = "study run" if kind is Kind.STUDY else "show"
    write_files({output: text.encode()}, replace=False)
    talk_of(context).answer(
        content | {"files": [str(output)]}, text=f"{output}: edit it, then 'lpsched {then} {output}'\n"
    )


def schema(kind: Annotated[Kind, typer.Argument(help="Of which kind of file.")]) -> None:
    """Print the JSON Schema of a kind of file."""
    from lpsched.cli.console import print_json
    from lpsched.model.kinds import KINDS

    print_json(KINDS[kind.value].load("schema")())


def show(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="A bag, a facility, a day, clusters, a bench or measurements: .yaml or .json.", readable=False
        ),
    ],
) -> None:
    """Show what is in a file: sizes, heterogeneity, air, load; what a bench will run, what one found out."""
    from lpsched.cli.console import header
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import SHOWN

    shown, kind = read_with_kind(file, SHOWN)
    content, tables = kind.load("show")(shown)
    talk_of(context).answer(header("lpsched-show/1", shown) | content, tables)


def convert(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A bag, a facility, a day, clusters or measurements: .yaml or .json.", readable=False)
    ],
    output: Output,
    tables: TablesOption = None,
    *,
    merge: Annotated[bool, typer.Option("--merge", help="Join types of a bag that differ only in name.")] = False,
) -> None:
    """Write a file in another format or table form, without loss."""
    from lpsched.cli.console import write_and_tell
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import INSTANCES, SHOWN

    instance, kind = read_with_kind(file, SHOWN)
    if not kind.write:
        raise typer.BadParameter(f"{file} is {kind.phrase}, which is written by hand only; copy it")
    if kind.name not in INSTANCES and tables is not None:
        raise typer.BadParameter(f"--tables: {file} is no instance; leave the option out")
    if merge and kind.name != "bag":
        raise typer.BadParameter(f"--merge: {file} is no bag; leave the option out")
    write_and_tell(talk_of(context), instance.merged() if merge else instance, output, form_of(tables))


def expand(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag, a day or clusters: a .yaml or .json file.", readable=False)],
    schedule: Annotated[
        Path,
        typer.Argument(
            help="Of a bag: a compact schedule, .json or .yaml. Of a day or clusters: .csv or .parquet.", readable=False
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
    from lpsched.instances import read_with_kind

    read, kind = read_with_kind(instance)
    if kind.name == "facility":
        raise typer.BadParameter("is a facility, whose allocations have no tasks", param_hint="INSTANCE")
    endings = (".csv", ".parquet", ".swf", ".gz") if kind.read_schedule else (".csv", ".parquet")
    require_output(output, endings, instance, schedule)
    made = _expand_arrived if kind.read_schedule else _expand_bag
    made(talk_of(context), read, schedule, output)


def _expand_bag(talk: Talk, bag: Bag, schedule: Path, output: Path) -> None:
    from lpsched.bag.files import read_schedule, write_rows
    from lpsched.bag.schedule import expand as rows_of
    from lpsched.bag.verify import examine
    from lpsched.cli.console import header
    from lpsched.errors import InvalidScheduleError, LpschedWarning

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
    from lpsched.cli.console import header
    from lpsched.model.kinds import kind_of
    from lpsched.traces.export import export_schedule

    export_schedule(instance, kind_of(instance).load("read_schedule")(instance, schedule), output)
    answer = header("lpsched-written/1", instance) | {"files": [str(output)], "tasks": instance.tasks}
    talk.answer(answer, text=f"{output}: {instance.tasks:,} tasks\n")
