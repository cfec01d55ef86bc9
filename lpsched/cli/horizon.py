"""Options of commands about bags over a horizon, and what `solve` and `verify` do with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status
from lpsched.cli.options import time_option

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.series import Series

OBJECTIVES: Final = ("cost", "carbon")  # of a horizon alone; profit has its own meaning with one
SERIES: Final = "a number, or a .csv or .parquet file"
WORDS: Final = re.compile(r",(time|value|unit)=")

HorizonOption = Annotated[
    float | None,
    time_option("--horizon", help="Plan over a horizon in seconds or with a unit, e.g. 24h: all tasks end within it."),
]
StartOption = Annotated[
    str | None,
    typer.Option("--start", help="When the horizon begins, e.g. 2024-07-01T00:00Z; without a zone, the site's or UTC."),
]
TariffOption = Annotated[
    str | None,
    typer.Option(
        "--tariff",
        metavar="<price|file>",
        help="Price of a kWh: a number, or a file with times and a column such as usd_per_mwh; "
        "FILE,time=COLUMN,value=COLUMN,unit=usd_per_mwh names them.",
    ),
]
CarbonOption = Annotated[
    str | None,
    typer.Option("--carbon", metavar="<g/kWh|file>", help="Carbon intensity: g/kWh, or a file, as for --tariff."),
]
CapsOption = Annotated[
    str | None,
    typer.Option("--caps", metavar="<kW|file>", help="Power cap of each slot, on average: kW, or a file likewise."),
]
GridFeeOption = Annotated[
    float | None,
    typer.Option("--grid-fee", help="Grid fees and taxes, money for each kWh on top of the tariff.", min=0.0),
]
CarbonPriceOption = Annotated[
    float | None, typer.Option("--carbon-price", help="Money for each tonne of CO2, as a part of the cost.", min=0.0)
]
SwitchOffOption = Annotated[
    bool | None,
    typer.Option("--switch-off/--stay-on", help="Whether idle machines may be off; by default as the file says."),
]
FillOption = Annotated[
    bool, typer.Option("--fill", help="Let missing times of series have the value before, in place of an error.")
]
KILOGRAMS: Final = 1000.0  # of a tonne


def series_given(bag: Bag, key: str, text: str | None, *, fill: bool) -> float | Series | None:
    """Return a number or the series of a file, as an option gives it."""
    from lpsched.io.series_files import read_series

    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    name, *words = WORDS.split(text)
    named: dict[str, Any] = dict(zip(words[::2], words[1::2], strict=True))
    zone = bag.site.time_zone
    return read_series(Path(name), key, currency=bag.prices.currency, time_zone=zone, fill=fill, **named)


def bag_over_time(
    bag: Bag, tariff: str | None, carbon: str | None, caps: str | None, *, fill: bool, grid_fee: float | None = None
) -> Bag:
    """Return the bag with the series and the fee that options give."""
    from lpsched.bag.horizon.slots import with_series

    given = {"tariff": tariff, "carbon": carbon, "power_cap": caps}
    series = {key: series_given(bag, key, text, fill=fill) for key, text in given.items()}
    return with_series(bag, **series, grid_fee=grid_fee)


def solve_horizon(
    context: typer.Context,
    bag: Bag,
    *,
    terms: dict[str, Any],
    marginals: str,
    effort: str,
    gap: float,
    time_limit: float | None,
    seed: int,
    solver: str,
    output: Path | None,
    certificate: Path | None,
    figure: Path | None,
    report: Path | None,
) -> None:
    """Plan a bag over a horizon, and write and print the answer."""
    from lpsched.bag.horizon.files import HorizonPlan, write_horizon_certificate, write_plan
    from lpsched.bag.horizon.solve import plan
    from lpsched.lp.solvers import solver_named
    from lpsched.report.horizon import plan_tables

    console = console_of(context)
    with cancellable(console, time_limit) as cancel:
        effort = "fast" if effort == "balanced" else effort
        searched: dict[str, Any] = {"effort": effort, "marginals": marginals, "gap": gap, "seed": seed}
        result = plan(bag, **terms, **searched, cancel=cancel, solver=solver_named(solver))
    if output is not None:
        made = HorizonPlan(result.plan, result.horizon_seconds, result.start)
        write_plan(made, result.bag, output, result.provenance.lpsched)
    if certificate is not None:
        write_horizon_certificate(result.certificate, certificate, result.provenance.lpsched)
    if figure is not None or report is not None:
        from lpsched.report.figures.horizon import plan_figure
        from lpsched.report.html.horizon import plan_page

        options.write_figure_and_page(figure, report, lambda: plan_figure(result), lambda: plan_page(result))
    console.log_timings(result.timings, result.provenance.solver)
    console.answer(result.to_dict(), plan_tables(result))
    exit_with_status(cancel)
