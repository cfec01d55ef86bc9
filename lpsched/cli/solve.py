"""`lpsched solve`: a verified schedule and a proved bound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.looks import Asked, draw_schedule, require_looks, write_page
from lpsched.cli.options import (
    BagFile,
    Deadline,
    Device,
    Effort,
    EffortOption,
    Figure,
    Marginals,
    MarginalsOption,
    ObjectiveOption,
    PowerCap,
    Price,
    ProfitRatio,
    Report,
    SolverName,
    require_output,
)
from lpsched.cli.patience import StoppedEarly, watched
from lpsched.cli.risk_option import RiskOption, risk_asked
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
        float,
        typer.Option(
            help="Call the answer optimal within this relative gap; search stops there.", min=0.0, max=1.0
        ),
    ] = 1e-4,
    effort: EffortOption = Effort.AUTO,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best schedule and bound so far.", min=0.0)
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of the search that auto and tight make, and of what --risk draws.", min=0)
    ] = 0,
    marginals: MarginalsOption = Marginals.TOP,
    risk: RiskOption = None,
    solver: SolverName = "highs",
    device: Annotated[
        Device, typer.Option(help="Where huge bags are looked through: cuda needs the extra gpu.")
    ] = Device.CPU,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the schedule, compact: a .json file.")
    ] = None,
    figure: Figure = None,
    report: Report = None,
) -> None:
    """Find a verified schedule and a bound that no schedule can pass."""
    from lpsched.files.bags import read_bag
    from lpsched.files.schedules import write_schedule
    from lpsched.pipeline import solve as solve_bag
    from lpsched.pipeline import solver_named
    from lpsched.pipeline.steps import with_one_more
    from lpsched.reports.answers import result_tables

    sampled = risk_asked(risk)
    if output is not None:
        require_output(output, (".json",), bag)
    require_looks(bag, figure=figure, report=report)
    read = read_bag(bag)
    talk = talk_of(context)
    with watched(talk, time_limit) as watch:
        result = solve_bag(
            read,
            objective=objective,
            price=price,
            profit_ratio=profit_ratio,
            power_cap=power_cap,
            deadline=deadline,
            effort=effort.value,
            gap=gap,
            watch=watch,
            seed=seed,
            risk=sampled,
            solver=solver_named(solver, device.value),
        )
        if marginals is not Marginals.LP:
            result = with_one_more(
                read,
                result,
                marginals=marginals.value,
                price=price,
                profit_ratio=profit_ratio,
                power_cap=power_cap,
                deadline=deadline,
                watch=watch,
                seed=seed,
                solver=solver_named(solver, device.value),
            )
    if output is not None:
        write_schedule(result.schedule, read, output, result.provenance.lpsched)
    if figure is not None:
        draw_schedule(read, result.schedule, figure)
    if report is not None:
        asked = Asked(price, profit_ratio, power_cap, deadline, solver)
        write_page(read, asked, report, result=result, seed=seed)
    talk.tell_timings(result.timings, result.provenance.solver)
    talk.answer(result.to_dict(), result_tables(result))
    if watch.is_stopped:
        raise StoppedEarly
