"""Curves of bags over a horizon: `lpsched front --axes cost,carbon` or `cost,deadline`, and `lpsched offer`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from lpsched.cli import horizon as over_time
from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status
from lpsched.cli.options import output_option
from lpsched.units import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import ConsoleRenderable

    from lpsched.bag.horizon.curves import DeadlineCurve, HorizonFront, OfferCurve
    from lpsched.bag.horizon.level_curve import LevelCurve
    from lpsched.bag.model import Bag

FRONT_AGAIN, CURVE_AGAIN, OFFERS_AGAIN = "find the front again", "find the curve again", "find the offers again"
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

    path: Path  # of the bag
    over: over_time.TimeOptions
    effort: str | None
    time_limit: float | None
    seed: int
    solver: str
    output: Path | None
    figure: Path | None
    report: Path | None

    def again(self, command: str) -> str:
        """Return the command that finds the curve again."""
        words = f"lpsched {command.format(shlex.quote(str(self.path)))}{self.over.words()}"
        words += "" if self.effort in {None, "auto"} else f" --effort {self.effort}"
        return words + (f" --seed {self.seed}" if self.seed else "")


def front_over_time(context: typer.Context, bag: Bag, axes: str, asked: CurveOptions) -> None:
    """Print the front of cost and carbon, or the least cost over the deadline."""
    from lpsched.bag.horizon.fronts import cost_carbon_front, cost_deadline
    from lpsched.report.figures.horizon_curves import deadline_figure, front_figure
    from lpsched.report.horizon_curves import deadline_tables, front_tables

    made, terms = asked.over.bag(bag), asked.over.terms()
    again = asked.again(f"front {{}} --axes {axes}")

    def carbon_page(front: HorizonFront) -> str:
        from lpsched.report.html.horizon_curves import carbon_front_page

        middle = front.vertices[len(front.vertices) // 2].best_from_per_kg * over_time.KILOGRAMS
        own = replace(asked.over, carbon_price=float(number(middle, 3).replace(",", "")))
        one = over_time.solve_and_verify(asked.path, own, at=" at one of its carbon prices")
        return carbon_front_page(front, [(again, FRONT_AGAIN), *one])

    def deadlines_page(curve: DeadlineCurve) -> str:
        from lpsched.report.html.horizon_curves import deadline_page

        own = replace(asked.over, horizon=curve.points[len(curve.points) // 2].deadline_seconds)
        one = over_time.solve_and_verify(asked.path, own, at=" for one of its deadlines")
        return deadline_page(curve, [(again, CURVE_AGAIN), *one])

    if axes == "cost,carbon":
        _answer(context, partial(cost_carbon_front, made, **terms), asked, front_figure, front_tables, carbon_page)
    else:
        find = partial(cost_deadline, made, **terms)
        _answer(context, find, asked, deadline_figure, deadline_tables, deadlines_page)


def levels_over_time(context: typer.Context, bag: Bag, to_level: float | None, asked: CurveOptions) -> None:
    """Print the most profit over the level of market prices."""
    from lpsched.bag.horizon.levels import profit_by_level
    from lpsched.report.figures.horizon_curves import level_figure
    from lpsched.report.horizon_curves import level_tables

    over = asked.over
    terms: dict[str, Any] = {"horizon": over.horizon, "start": over.start, "switch_off": over.switch_off}
    find = partial(profit_by_level, over.bag(bag), **terms, highest=to_level)
    _answer(context, find, asked, level_figure, level_tables)


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
    effort: over_time.EffortOption = "auto",
    time_limit: TimeLimitOption = None,
    seed: options.Seed = 0,
    solver: options.SolverName = "highs",
    output: PointsOption = None,
    figure: options.Figure = None,
    report: options.Report = None,
) -> None:
    """Price offers of drawing less power at given hours.

    The least extra cost of each kW less than a baseline: what is proved, and what verified plans achieve.

    Examples
    --------
    lpsched offer instances/tiny.yaml --hours 0-1 --horizon 2h --start 20240108
    """
    from lpsched.bag.files import read_bag
    from lpsched.bag.horizon.events import BASELINES
    from lpsched.bag.horizon.offers import offer_curve
    from lpsched.report.figures.horizon_curves import offer_figure
    from lpsched.report.horizon_curves import offer_tables

    drawn: str | float = baseline
    if baseline not in BASELINES:
        try:
            drawn = float(baseline)
        except ValueError:
            known = f"one of {', '.join(BASELINES)}, or a number of kW"
            raise options.usage_error("--baseline", repr(baseline), known, "correct it") from None
    read = read_bag(bag)
    over = over_time.TimeOptions(horizon, start, tariff, carbon, caps, grid_fee, carbon_price, switch_off, fill)
    asked = CurveOptions(bag, over, effort, time_limit, seed, solver, output, figure, report)
    find = partial(offer_curve, over.bag(read), hours=hours, baseline=drawn, site=site, **over.terms())

    def page(offers: OfferCurve) -> str:
        from lpsched.report.html.horizon_curves import offer_page

        words = f"offer {{}} --hours {hours} --baseline {baseline}"
        words += "" if site is None else f" --site {shlex.quote(site).replace('{', '{{').replace('}', '}}')}"
        without = over_time.solve_and_verify(bag, over, at=" without an event")
        return offer_page(offers, read.site.time_zone, [(asked.again(words), OFFERS_AGAIN), *without])

    _answer(context, find, asked, offer_figure, offer_tables, page)


def _answer(
    context: typer.Context,
    find: Callable[..., Curve],
    asked: CurveOptions,
    draw: Callable[[Curve], Figure],
    tables: Callable[[Curve], Sequence[ConsoleRenderable]],
    page: Callable[[Curve], str] | None = None,
) -> None:
    """Find a curve, write it, and print it."""
    from lpsched.io.content import csv_bytes, write_files
    from lpsched.lp.solvers import solver_named

    console = console_of(context)
    effort = {"balanced": "fast", None: "auto"}.get(asked.effort, asked.effort)
    with cancellable(console, asked.time_limit) as cancel:
        result = find(effort=effort, cancel=cancel, seed=asked.seed, solver=solver_named(asked.solver))
    if asked.output is not None:
        rows = result.csv_rows()
        write_files({asked.output: csv_bytes(rows[0], [row.values() for row in rows], for_people=True)})
    write_page = (lambda: "") if page is None else (lambda: page(result))
    options.write_figure_and_page(asked.figure, asked.report, lambda: draw(result), write_page)
    console.log_timings(result.timings, result.provenance.solver)
    console.answer(result.to_dict(), tables(result))
    exit_with_status(cancel)
