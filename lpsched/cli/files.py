"""`lpsched new`, `schema`, `show`, `convert` and `expand`: commands about files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli.console import talk_of
from lpsched.cli.options import Kind, Output, TablesOption, form_of, require_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable
    from rich.table import Table
    from rich.text import Text

    from lpsched.bag.model import Bag
    from lpsched.cli.console import Talk
    from lpsched.facility.model import Facility
    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements
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
    from lpsched.bag.model import Bag
    from lpsched.cli.console import print_json
    from lpsched.facility.reading import facility_schema
    from lpsched.measure.schemas import bench_schema, measurements_schema
    from lpsched.online.cluster_reading import clusters_schema
    from lpsched.online.day_reading import day_schema
    from lpsched.studies.study import Study

    schemas = {
        Kind.BAG: Bag.model_json_schema,
        Kind.FACILITY: facility_schema,
        Kind.DAY: day_schema,
        Kind.CLUSTERS: clusters_schema,
        Kind.STUDY: Study.model_json_schema,
        Kind.BENCH: bench_schema,
        Kind.MEASUREMENTS: measurements_schema,
    }
    print_json(schemas[kind]())


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
    from lpsched.bag.model import Bag
    from lpsched.cli.console import header
    from lpsched.instances import read_shown
    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day

    shown = read_shown(file)
    content: dict[str, Any]
    tables: Sequence[ConsoleRenderable]
    match shown:
        case Bag():
            content, tables = _bag(shown)
        case Clusters():
            content, tables = _clusters(shown)
        case Day():
            content, tables = _day(shown)
        case Measurements():
            content, tables = _measurements(shown)
        case Bench():
            content, tables = _bench(shown)
        case _:
            content, tables = _facility(shown)
    talk_of(context).answer(header("lpsched-show/1", shown) | content, tables)


def _bag(bag: Bag) -> tuple[dict[str, Any], list[Table | Text]]:
    from dataclasses import asdict

    from lpsched.bag.arrays import heterogeneity
    from lpsched.report.files import bag_tables

    measures = heterogeneity(bag)
    cells = bag.seconds.rows * bag.seconds.columns
    content = {
        "tasks": bag.tasks,
        "task_types": {task.name: task.count for task in bag.task_types},
        "machines": bag.machines,
        "machine_types": {machine.name: machine.count for machine in bag.machine_types},
        "pairs": cells - len(bag.seconds.absent()),
        "has_watts": bag.watts is not None,
        "prices": bag.prices.model_dump(),
        "site": bag.site.model_dump(),
        "heterogeneity": asdict(measures),
    }
    return content, bag_tables(bag, measures)


def _facility(facility: Facility) -> tuple[dict[str, Any], list[Table | Text]]:
    from dataclasses import asdict

    from lpsched.report.facility import facility_facts, facility_file_tables

    facts = facility_facts(facility)
    return asdict(facts), facility_file_tables(facility, facts)


def _day(day: Day) -> tuple[dict[str, Any], list[Table | Text]]:
    from dataclasses import asdict

    from lpsched.report.files import day_facts, day_tables

    facts = day_facts(day)
    return asdict(facts), day_tables(day, facts)


def _clusters(clusters: Clusters) -> tuple[dict[str, Any], list[Table | Text]]:
    from dataclasses import asdict

    from lpsched.report.files import cluster_facts, cluster_tables

    facts = cluster_facts(clusters)
    return asdict(facts), cluster_tables(clusters, facts)


def _bench(bench: Bench) -> tuple[dict[str, Any], Sequence[ConsoleRenderable]]:
    from lpsched.report.facility import bench_facts, bench_tables

    return bench_facts(bench), bench_tables(bench)


def _measurements(measurements: Measurements) -> tuple[dict[str, Any], Sequence[ConsoleRenderable]]:
    from lpsched.report.measured_tables import measure_tables

    return measured_content(measurements), measure_tables(measurements)


def measured_content(measurements: Measurements) -> dict[str, Any]:
    """Return what measurements say, for an answer in JSON."""
    from lpsched.measure.files import as_dict

    told = as_dict(measurements)
    measured_by = told.pop("lpsched", None)  # the answer has a key of that name for the version that answers
    content = {key: value for key, value in told.items() if key not in ("format", "name")}
    return content | {"measured_by_lpsched": measured_by}


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
    from lpsched.bag.model import Bag
    from lpsched.cli.console import write_and_tell
    from lpsched.instances import read_shown
    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements

    instance = read_shown(file)
    if isinstance(instance, Bench):
        raise typer.BadParameter(f"{file} is a bench, which is written by hand only; copy it")
    if isinstance(instance, Measurements) and tables is not None:
        raise typer.BadParameter(f"--tables: {file} is no instance; leave the option out")
    if merge and not isinstance(instance, Bag):
        raise typer.BadParameter(f"--merge: {file} is no bag; leave the option out")
    merged = instance.merged() if merge and isinstance(instance, Bag) else instance
    write_and_tell(talk_of(context), merged, output, form_of(tables))


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
    from lpsched.bag.model import Bag
    from lpsched.facility.model import Facility
    from lpsched.instances import read_instance

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
    from lpsched.online.day import Day
    from lpsched.online.schedule_files import read_clusters_schedule, read_day_schedule
    from lpsched.traces.export import export_schedule

    if isinstance(instance, Day):
        export_schedule(instance, read_day_schedule(instance, schedule), output)
    else:
        export_schedule(instance, read_clusters_schedule(instance, schedule), output)
    answer = header("lpsched-written/1", instance) | {"files": [str(output)], "tasks": instance.tasks}
    talk.answer(answer, text=f"{output}: {instance.tasks:,} tasks\n")
