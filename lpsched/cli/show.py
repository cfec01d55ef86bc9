"""`lpsched show`: what is in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli.talk import talk_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable
    from rich.table import Table
    from rich.text import Text

    from lpsched.instance import Bag
    from lpsched.instance.bench import Bench
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.facility import Facility
    from lpsched.instance.measurements import Measurements


def show(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="A bag, a facility, a day, clusters, a bench or measurements: .yaml or .json.",
            readable=False,
        ),
    ],
) -> None:
    """Show what is in a file: sizes, heterogeneity, air, load; what a bench will run, what one found out."""
    from lpsched.cli.answers import header
    from lpsched.files.shown import read_shown
    from lpsched.instance import Bag
    from lpsched.instance.bench import Bench
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.measurements import Measurements

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

    from lpsched.instance.heterogeneity import heterogeneity
    from lpsched.reports.bag import bag_tables

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

    from lpsched.reports.facility_file import facility_facts, facility_tables

    facts = facility_facts(facility)
    return asdict(facts), facility_tables(facility, facts)


def _day(day: Day) -> tuple[dict[str, Any], list[Table | Text]]:
    from dataclasses import asdict

    from lpsched.reports.day import day_facts, day_tables

    facts = day_facts(day)
    return asdict(facts), day_tables(day, facts)


def _clusters(clusters: Clusters) -> tuple[dict[str, Any], list[Table | Text]]:
    from dataclasses import asdict

    from lpsched.reports.clusters import cluster_facts, cluster_tables

    facts = cluster_facts(clusters)
    return asdict(facts), cluster_tables(clusters, facts)


def _bench(bench: Bench) -> tuple[dict[str, Any], Sequence[ConsoleRenderable]]:
    from lpsched.reports.bench_file import bench_facts, bench_tables

    return bench_facts(bench), bench_tables(bench)


def _measurements(measurements: Measurements) -> tuple[dict[str, Any], Sequence[ConsoleRenderable]]:
    from lpsched.reports.measure_tables import measure_tables

    return measured_content(measurements), measure_tables(measurements)


def measured_content(measurements: Measurements) -> dict[str, Any]:
    """Return what measurements say, for an answer in JSON."""
    from lpsched.files.measurements import as_dict

    told = as_dict(measurements)
    measured_by = told.pop("lpsched", None)  # the answer has a key of that name for the version that answers
    content = {key: value for key, value in told.items() if key not in ("format", "name")}
    return content | {"measured_by_lpsched": measured_by}
