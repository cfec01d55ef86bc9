"""`lpsched show`: what is in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli.talk import talk_of

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from lpsched.instance import Bag
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.facility import Facility


def show(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A bag, a facility, a day or clusters: .yaml or .json.", readable=False)
    ],
) -> None:
    """Show what is in a file: sizes, heterogeneity of a bag, air of a facility, load of a day or clusters."""
    from lpsched.cli.answers import header
    from lpsched.files.instances import read_instance
    from lpsched.instance import Bag
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day

    instance = read_instance(file)
    if isinstance(instance, Bag):
        content, tables = _bag(instance)
    elif isinstance(instance, Clusters):
        content, tables = _clusters(instance)
    else:
        content, tables = _day(instance) if isinstance(instance, Day) else _facility(instance)
    talk_of(context).answer(header("lpsched-show/1", instance) | content, tables)


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
