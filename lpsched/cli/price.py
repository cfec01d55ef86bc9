"""`lpsched price`: the most profit at every price, or at every level of market prices over a horizon."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any

import typer

from lpsched.cli import curves, options
from lpsched.cli import horizon as over_time
from lpsched.cli.console import console_of
from lpsched.cli.solve import write_page

ENDS = 2  # points that a figure needs: it shows where the last segment goes


def price(
    context: typer.Context,
    bag: options.BagFile,
    from_ratio: Annotated[
        float | None, typer.Option(help="First profit ratio of the curve; by default 0, a price of 0.")
    ] = None,
    to_ratio: Annotated[
        float | None, typer.Option(help="Last profit ratio of the curve; by default there is none.")
    ] = None,
    points: Annotated[int, typer.Option(help="Number of evenly spaced points to add to the result.", min=0)] = 0,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    lifetime: Annotated[
        float | None,
        options.time_option(
            "--lifetime",
            help="Lifetime of machines without one in the file, in hours or with a unit, e.g. 1500d.",
            unit=3600,
        ),
    ] = None,
    marginals: Annotated[
        options.Marginals | None, typer.Option("--marginals", help=options.MARGINALS_HELP, show_default="top")
    ] = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    horizon: over_time.HorizonOption = None,
    start: over_time.StartOption = None,
    tariff: over_time.TariffOption = None,
    caps: over_time.CapsOption = None,
    grid_fee: over_time.GridFeeOption = None,
    switch_off: over_time.SwitchOffOption = None,
    fill: over_time.FillOption = False,  # noqa: FBT002 - an option
    to_level: Annotated[
        float | None,
        typer.Option(help="With --horizon: the last level of market prices; by default where no plan earns anything."),
    ] = None,
    effort: options.EffortOption = "auto",
    time_limit: Annotated[float | None, options.time_limit_option("With --horizon: time limit, e.g. 5min.")] = None,
    seed: options.Seed = 0,
    output: curves.PointsOption = None,
    figure: options.Figure = None,
    report: options.Report = None,
    solver: options.SolverName = "highs",
) -> None:
    """Find the break-even price, and the most profit at every price.

    Also: what electricity may cost, and how many more machines of each type are worthwhile. The profit ratio is the
    price as a multiple of the cost of the bag's least energy. With --horizon: the most profit at every level of the
    market prices of electricity, where each task that runs earns its price (prices.per_task).

    Examples
    --------
    lpsched price instances/profit-30x9.yaml
    lpsched price instances/tiny.yaml --price 0.03 --lifetime 1500d
    lpsched price instances/render-day.yaml --horizon 24h
    """
    from lpsched.bag.files import read_bag
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.pricing.sensitivity import sensitivity
    from lpsched.io.figure_files import write_figure
    from lpsched.lp.solvers import solver_named
    from lpsched.report.figures.prices import pricing_figure
    from lpsched.report.solution import price_tables

    read, terms = read_bag(bag), options.terms_of(price, profit_ratio, power_cap, deadline)
    over = over_time.TimeOptions(horizon, start, tariff, caps=caps, grid_fee=grid_fee, switch_off=switch_off, fill=fill)
    only: dict[str, object] = {"--to-level": to_level, "--time-limit": time_limit, "--output": output}
    if horizon is not None:
        plain: dict[str, object] = {"--from-ratio": from_ratio, "--to-ratio": to_ratio, "--points": points or None}
        plain |= {"--price": price, "--profit-ratio": profit_ratio, "--lifetime": lifetime, "--marginals": marginals}
        plain |= {"--power-cap": power_cap, "--deadline": deadline, "--report": report}
        options.reject(
            plain, "with a horizon", "other options", "see --to-level, --caps and prices.per_task in the file"
        )
        if to_level is not None and not 0 < to_level < math.inf:
            raise options.usage_error("--to-level", f"{to_level:g}", "a positive number", "correct it")
        asked = curves.CurveOptions(bag, over, effort, time_limit, seed, solver, output, figure, None)
        curves.levels_over_time(context, read, to_level, asked)
        return
    options.reject_without(over.flags() | only, "--horizon")
    searched: dict[str, Any] = {"effort": effort, "seed": seed, "solver": solver_named(solver)}
    drawn = price_curve(
        read,
        from_ratio=from_ratio,
        to_ratio=to_ratio,
        points=points if figure is None and report is None else max(points, ENDS),
        **terms,
        **searched,
    )
    curve = drawn if points else replace(drawn, points=())
    needs = sensitivity(read, lifetime_hours=lifetime, marginals=marginals or "top", **terms, **searched)
    if figure is not None:
        write_figure(pricing_figure(drawn, needs), figure)
    if report is not None:
        write_page(read, terms, solver, report, curve=drawn, sensitivity=needs, seed=seed)
    console = console_of(context)
    console.log_timings(curve.timings, curve.provenance.solver)
    console.answer(curve.to_dict() | {"sensitivity": needs.to_dict()}, price_tables(curve, needs))
