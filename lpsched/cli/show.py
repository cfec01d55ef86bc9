"""`lpsched show`: what is in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.talk import talk_of


def show(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A bag: a .yaml or .json file.", readable=False)],
) -> None:
    """Show what is in a file: sizes, prices, and how heterogeneous tasks and machines are."""
    from dataclasses import asdict

    from lpsched.cli.answers import header
    from lpsched.files.bags import read_bag
    from lpsched.instance.heterogeneity import heterogeneity
    from lpsched.reports.bag import bag_tables

    bag = read_bag(file)
    measures = heterogeneity(bag)
    cells = bag.seconds.rows * bag.seconds.columns
    content = header("lpsched-show/1", bag) | {
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
    talk_of(context).answer(content, bag_tables(bag, measures))
