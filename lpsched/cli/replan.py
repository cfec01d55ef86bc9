"""`lpsched simulate` of a bag: planned again in every slot by a forecast."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status
from lpsched.cli.horizon import WORDS, series_given

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

ForecastOption = Annotated[
    str | None,
    typer.Option(
        "--forecast",
        metavar="<previous-day|price|file>",
        help="Bags: forecast of the tariff, or of carbon with --objective carbon: the same time on the last known day, "
        "a number, or a file as for --tariff. All other series are taken as known.",
    ),
]
ObjectiveOption = Annotated[
    Literal["cost", "carbon", "profit"], typer.Option("--objective", help="Bags: what to optimise.")
]
EffortOption = Annotated[
    Literal["fast", "auto", "tight"],
    typer.Option("--effort", help="Bags: about 1, 10 or 40 s of search for the plan of each slot."),
]
FOR_ALL: Final = ("instance", "seed", "time_limit", "output", "figure")
SERIES: Final = ("horizon", "start", "tariff", "carbon", "caps", "grid_fee", "carbon_price", "switch_off", "fill")
OF_BAGS: Final = ("forecast", "objective", *SERIES, "effort", "solver", "certificate")  # all others: of arriving tasks
PLANS: Final = (".json", ".csv", ".parquet")


def reject_others(context: typer.Context, *, is_bag: bool) -> None:
    """Reject options that are given and belong to the other kind of file."""
    params: list[Any] = [each for each in context.command.params if each.name not in FOR_ALL]
    where, expected = ("for a bag", "a day or clusters") if is_bag else ("for arriving tasks", "a bag")
    for param in params:
        source = context.get_parameter_source(param.name)
        if (param.name in OF_BAGS) is not is_bag and source is not None and source.name == "COMMANDLINE":
            options.reject({options.place_of(param): True}, where, expected)


def simulate_bag(
    context: typer.Context,
    bag: Bag,
    forecast: str | None,
    *,
    terms: dict[str, Any],
    effort: str,
    fill: bool,
    time_limit: float | None,
    seed: int,
    solver: str,
    output: Path | None,
    certificate: Path | None,
    figure: Path | None,
) -> None:
    """Plan a bag again in every slot, and write and print the answer."""
    from lpsched.bag.horizon.files import HorizonPlan, write_horizon_certificate, write_plan
    from lpsched.bag.horizon.forecasts.forecast import PREVIOUS_DAY, forecast_key
    from lpsched.bag.horizon.forecasts.replan import replan
    from lpsched.lp.solvers import solver_named
    from lpsched.report.replan import replan_tables

    if output is not None and output.suffix.lower() not in PLANS:
        expected = f"a file name that ends in {' or '.join(PLANS)} for a bag"
        raise options.usage_error("--output", repr(output.name), expected, "choose another name")
    given: Any = forecast
    if forecast not in (None, PREVIOUS_DAY):
        given = series_given(bag, forecast_key(terms["objective"]), forecast, fill=fill)
    console = console_of(context)
    with cancellable(console, time_limit) as cancel:
        result = replan(
            bag, forecast=given, **terms, effort=effort, cancel=cancel, seed=seed, solver=solver_named(solver)
        )
    result = replace(result, forecast=Path(WORDS.split(forecast or "")[0]).name)
    if output is not None:
        made = HorizonPlan(result.plan, result.horizon_seconds, result.start)
        write_plan(made, result.bag, output, result.provenance.lpsched)
    if certificate is not None:
        write_horizon_certificate(result.certificate, certificate, result.provenance.lpsched)
    if figure is not None:
        from lpsched.io.figure_files import write_figure
        from lpsched.report.figures.replan import replan_figure

        write_figure(replan_figure(result), figure)
    console.log_timings(result.timings, result.provenance.solver)
    console.answer(result.to_dict(), replan_tables(result))
    exit_with_status(cancel)
