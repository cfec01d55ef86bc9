"""`lpsched solve`: a verified schedule and a proved bound."""

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
    require_output,
)
from lpsched.cli.talk import talk_of


def solve(
    context: typer.Context,
    bag: BagFile,
    objective: ObjectiveOption = None,
    price: Price = None,
    profit_ratio: ProfitRatio = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    gap: Annotated[
        float, typer.Option(help="Call the answer optimal within this relative gap.", min=0.0, max=1.0)
    ] = 1e-4,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for each linear program.", min=0.0)
    ] = None,
    solver: SolverName = "highs",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the schedule, compact: a .json file.")
    ] = None,
) -> None:
    """Find a verified schedule and a bound that no schedule can pass."""
    from lpsched.files.bags import read_bag
    from lpsched.files.schedules import write_schedule
    from lpsched.pipeline import solve as solve_bag
    from lpsched.pipeline import solver_named
    from lpsched.reports.answers import result_tables

    if output is not None:
        require_output(output, (".json",), bag)
    read = read_bag(bag)
    result = solve_bag(
        read,
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
        gap=gap,
        time_limit=time_limit,
        solver=solver_named(solver),
    )
    if output is not None:
        write_schedule(result.schedule, read, output, result.provenance.lpsched)
    talk = talk_of(context)
    talk.tell_timings(result.timings, result.provenance.solver)
    talk.answer(result.to_dict(), result_tables(result))
