"""`lpsched validate`: other people's schedules against the bound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import (
    BagFile,
    Deadline,
    ObjectiveOption,
    PowerCap,
    Price,
    ProfitRatio,
    SolverName,
)
from lpsched.cli.talk import talk_of


def validate(
    context: typer.Context,
    bag: BagFile,
    schedules: Annotated[
        list[Path],
        typer.Argument(
            help="Schedules: compact (.json, .yaml), or one row per task (.csv, .parquet).", readable=False
        ),
    ],
    objective: ObjectiveOption = None,
    price: Price = None,
    profit_ratio: ProfitRatio = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    solver: SolverName = "highs",
) -> None:
    """Check schedules, measure them, and tell how far from the best possible they are."""
    from lpsched.compare import validate as validate_schedules
    from lpsched.files.bags import read_bag
    from lpsched.pipeline import solver_named
    from lpsched.reports.answers import validation_tables

    result = validate_schedules(
        read_bag(bag),
        schedules,
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
        solver=solver_named(solver),
    )
    talk_of(context).answer(result.to_dict(), validation_tables(result))
    if not result.valid:
        raise typer.Exit(1)
