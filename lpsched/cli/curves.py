"""Curves of bags over a horizon: `lpsched front --axes cost,carbon` or `cost,deadline`, and `lpsched offer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from lpsched.cli import horizon as over_time
from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status
from lpsched.cli.options import output_option

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import ConsoleRenderable

    from lpsched.bag.horizon.curves import DeadlineCurve, HorizonFront, OfferCurve
    from lpsched.bag.horizon.level_curve import LevelCurve
    from lpsched.bag.model import Bag

Curve = TypeVar("Curve", "HorizonFront", "DeadlineCurve", "OfferCurve", "LevelCurve")
Axes = Literal["energy,makespan", "cost,carbon", "cost,deadline"]
AxesOption = Annotated[
    Axes, typer.Option("--axes", help="Between what: energy and makespan; over a --horizon, cost and another.")
]
TimeLimitOption = Annotated[
    float | None, options.time_limit_option("Time limit in seconds or with a unit; then the best curve so far.")
]
PointsOption = Annotated[
    Path | None, output_option("--output", "-o", endings=(".csv",), help="Write the points of the curve.")
]


@dataclass(frozen=True, slots=True)
class CurveOptions:
    """Options of all curves."""

    effort: str | None
    time_limit: float | None
    seed: int
    solver: str
    output: Path | None
    figure: Path | None


def front_over_time(context: typer.Context, bag: Bag, axes: str, terms: dict[str, Any], asked: CurveOptions) -> None:
    """Print the front of cost and carbon, or the least cost over the deadline."""
    from lpsched.bag.horizon.fronts import cost_carbon_front, cost_deadline
    from lpsched.report.figures.horizon_curves import deadline_figure, front_figure
    from lpsched.report.horizon_curves import deadline_tables, front_tables

    if axes == "cost,carbon":
        _answer(context, partial(cost_carbon_front, bag, **terms), asked, front_figure, front_tables)
    else:
        _answer(context, partial(cost_deadline, bag, **terms), asked, deadline_figure, deadline_tables)


def levels_over_time(context: typer.Context, bag: Bag, terms: dict[str, Any], asked: CurveOptions) -> None:
    """Print the most profit over the level of market prices."""
    from lpsched.bag.horizon.levels import profit_by_level
    from lpsched.report.figures.horizon_curves import level_figure
    from lpsched.report.horizon_curves import level_tables

    _answer(context, partial(profit_by_level, bag, **terms), asked, level_figure, level_tables)


def offer(
    context: typer.Context,
    bag: options.BagFile,
    *,
    hours: Annotated[
        str, typer.Option("--hours", help="When less is drawn, local time of each day: 17-20 or 7-9,17:30-20.")
    ],
    baseline: Annotated[
        str,
        typer.Option(
            metavar="<mean|at-once|plan|kW>",
            help="Less than what: a plan at the mean price, all at once, the plan of least cost, or kW at the meter.",
        ),
    ] = "mean",
    site: Annotated[str | None, typer.Option(help="At which site, where there are several.")] = None,
    horizon: over_time.HorizonOption = None,
    start: over_time.StartOption = None,
    tariff: over_time.TariffOption = None,
    carbon: over_time.CarbonOption = None,
    caps: over_time.CapsOption = None,
    grid_fee: over_time.GridFeeOption = None,
    carbon_price: over_time.CarbonPriceOption = None,
    switch_off: over_time.SwitchOffOption = None,
    fill: over_time.FillOption = False,
    effort: options.EffortOption = "auto",
    time_limit: TimeLimitOption = None,
    seed: options.Seed = 0,
    solver: options.SolverName = "highs",
    output: PointsOption = None,
    figure: options.Figure = None,
) -> None:
    """Price offers of drawing less power at given hours.

    The least extra cost of each kW less than a baseline: what is proved, and what verified plans achieve.

    Examples
    --------
    lpsched offer instances/tiny.yaml --hours 0-1 --horizon 2h --start 20240108
    """
    from lpsched.bag.files import read_bag
    from lpsched.bag.horizon.offers import BASELINES, offer_curve
    from lpsched.report.figures.horizon_curves import offer_figure
    from lpsched.report.horizon_curves import offer_tables

    drawn: str | float = baseline
    if baseline not in BASELINES:
        try:
            drawn = float(baseline)
        except ValueError:
            known = f"one of {', '.join(BASELINES)}, or a number of kW"
            raise options.usage_error("--baseline", repr(baseline), known, "correct it") from None
    made = over_time.bag_over_time(read_bag(bag), tariff, carbon, caps, fill=fill, grid_fee=grid_fee)
    terms: dict[str, Any] = {
        "hours": hours,
        "baseline": drawn,
        "site": site,
        "horizon": horizon,
        "start": start,
        "carbon_price": (carbon_price or 0.0) / over_time.KILOGRAMS,
        "switch_off": switch_off,
    }
    asked = CurveOptions(effort, time_limit, seed, solver, output, figure)
    _answer(context, partial(offer_curve, made, **terms), asked, offer_figure, offer_tables)


def _answer(
    context: typer.Context,
    find: Callable[..., Curve],
    asked: CurveOptions,
    draw: Callable[[Curve], Figure],
    tables: Callable[[Curve], Sequence[ConsoleRenderable]],
) -> None:
    """Find a curve, write it, and print it."""
    from lpsched.io.content import csv_bytes, write_files
    from lpsched.io.figure_files import write_figure
    from lpsched.lp.solvers import solver_named

    console = console_of(context)
    effort = {"balanced": "fast", None: "auto"}.get(asked.effort, asked.effort)
    with cancellable(console, asked.time_limit) as cancel:
        result = find(effort=effort, cancel=cancel, seed=asked.seed, solver=solver_named(asked.solver))
    if asked.output is not None:
        rows = result.csv_rows()
        write_files({asked.output: csv_bytes(rows[0], [row.values() for row in rows])})
    if asked.figure is not None:
        write_figure(draw(result), asked.figure)
    console.log_timings(result.timings, result.provenance.solver)
    console.answer(result.to_dict(), tables(result))
    exit_with_status(cancel)
