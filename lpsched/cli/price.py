"""`lpsched price`: the most profit at every price, and what that depends on."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from lpsched.cli import options
from lpsched.cli.console import talk_of
from lpsched.cli.solve import Asked, require_looks, write_page

ENDS = 2  # points that a picture needs: it shows where the last piece goes


def price(
    context: typer.Context,
    bag: options.BagFile,
    from_ratio: Annotated[
        float | None, typer.Option(help="Profit ratio to begin at; by default 0, a price of nothing.")
    ] = None,
    to_ratio: Annotated[float | None, typer.Option(help="Profit ratio to end at; by default never.")] = None,
    points: Annotated[int, typer.Option(help="Points to sample for drawing.", min=0)] = 0,
    price: Annotated[
        float | None, typer.Option(help="What the bag sells for, where electricity and machines are asked about.")
    ] = None,
    profit_ratio: Annotated[
        float | None, typer.Option(help="That price, as a multiple of what the least energy costs.")
    ] = None,
    lifetime_hours: Annotated[
        float | None, typer.Option(help="How long a machine lasts whose type does not say.")
    ] = None,
    marginals: options.MarginalsOption = options.Marginals.TOP,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: Annotated[options.Effort, typer.Option(help="As in solve.")] = options.Effort.AUTO,
    seed: options.Seed = 0,
    figure: options.Figure = None,
    report: options.Report = None,
    solver: options.SolverName = "highs",
) -> None:
    """Find the whole profit curve over the price, piece by piece.

    The profit ratio is the price as a multiple of what the least energy of the bag costs. Also: which price
    is needed for profit, what electricity may cost, and how many more machines are worthwhile.
    """
    from lpsched.bag.files import read_bag
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.pricing.sensitivity import sensitivity
    from lpsched.io.pictures import write_picture
    from lpsched.lp.solvers import solver_named
    from lpsched.report.answers import price_tables, sensitivity_tables
    from lpsched.report.figures.pricing import pricing_picture

    require_looks(bag, figure=figure, report=report)
    read, solves = read_bag(bag), solver_named(solver)
    drawn = price_curve(
        read,
        from_ratio=from_ratio,
        to_ratio=to_ratio,
        points=points if figure is None and report is None else max(points, ENDS),
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
        effort=effort.value,
        seed=seed,
        solver=solves,
    )
    curve = drawn if points else replace(drawn, points=())
    needs = sensitivity(
        read,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
        lifetime_hours=lifetime_hours,
        marginals=marginals.value,
        effort=effort.value,
        seed=seed,
        solver=solves,
    )
    if figure is not None:
        write_picture(pricing_picture(drawn, needs), figure)
    if report is not None:
        asked = Asked(price, profit_ratio, power_cap, deadline, solver)
        write_page(read, asked, report, curve=drawn, sensitivity=needs, seed=seed)
    talk = talk_of(context)
    talk.tell_timings(curve.timings, curve.provenance.solver)
    talk.answer(curve.to_dict() | {"sensitivity": needs.to_dict()}, [*price_tables(curve), *sensitivity_tables(needs)])
