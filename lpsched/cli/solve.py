"""`lpsched solve`: a verified schedule and a proved bound."""

from __future__ import annotations

import logging
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.talk import talk_of


class Objective(StrEnum):
    """What to optimise."""

    MAKESPAN = "makespan"


def solve(
    context: typer.Context,
    bag: Annotated[Path, typer.Argument(help="The bag: a .yaml or .json file.", readable=False)],
    objective: Annotated[Objective, typer.Option(help="What to minimise.")] = Objective.MAKESPAN,
    gap: Annotated[
        float, typer.Option(help="Call the answer optimal within this relative gap.", min=0.0, max=1.0)
    ] = 1e-4,
) -> None:
    """Find a verified schedule and a bound that no schedule can pass."""
    from lpsched.files.bags import read_bag
    from lpsched.pipeline import solve as solve_bag
    from lpsched.reports.tables import result_tables

    result = solve_bag(read_bag(bag), objective=objective.value, gap=gap)
    stages = ", ".join(f"{stage} {1000 * seconds:.1f} ms" for stage, seconds in result.timings.items())
    logging.getLogger("lpsched").info("%s (%s)", stages, result.provenance.solver)
    talk_of(context).answer(result.to_dict(), result_tables(result))
