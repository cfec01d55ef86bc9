"""Options of commands about bags over a horizon, and what `solve` and `verify` do with them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

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
EffortOption = Annotated[
    Literal["fast", "auto", "tight"],
    typer.Option("--effort", help="Search for plans: about 1, 10 or 40 s for all of them together."),
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


@dataclass(frozen=True, slots=True)
class TimeOptions:
    """What a command is given about a horizon, and what the library and other commands make of it."""

    horizon: float | None = None
    start: str | None = None
    tariff: str | None = None
    carbon: str | None = None
    caps: str | None = None
    grid_fee: float | None = None
    carbon_price: float | None = None
    switch_off: bool | None = None
    fill: bool = False

    def flags(self) -> dict[str, Any]:
        """Return the options by their names; `None` are those that are not given."""
        found = {f"--{each.name.replace('_', '-')}": getattr(self, each.name) for each in fields(self)}
        return found | {"--fill": self.fill or None}

    def bag(self, bag: Bag) -> Bag:
        """Return the bag with the given series."""
        from lpsched.bag.horizon.slots import with_series

        given = {"tariff": self.tariff, "carbon": self.carbon, "power_cap": self.caps}
        series = {key: series_given(bag, key, text, fill=self.fill) for key, text in given.items()}
        return with_series(bag, **series, grid_fee=self.grid_fee)

    def until(self, deadline: float | None) -> TimeOptions:
        """Return the options with a deadline as the horizon, unless one is given."""
        return replace(self, horizon=self.horizon if self.horizon is not None else deadline)

    def terms(self) -> dict[str, Any]:
        """Return the other options as the library takes them."""
        return {
            "horizon": self.horizon,
            "start": self.start,
            "carbon_price": (self.carbon_price or 0.0) / KILOGRAMS,
            "switch_off": self.switch_off,
        }

    def words(self, **changed: Any) -> str:  # noqa: ANN401 - values of the fields
        """Return the options as a user types them, some of them changed; each begins with a blank."""
        given = replace(self, **changed)
        words = [
            f" {flag} {shlex.quote(value) if isinstance(value, str) else plain_number(value)}"
            for flag, value in given.flags().items()
            if value is not None and not isinstance(value, bool)
        ]
        if given.switch_off is not None:
            words.append(" --switch-off" if given.switch_off else " --stay-on")
        return "".join([*words, " --fill" if given.fill else ""])


def plain_number(value: float) -> str:
    """Write a number as a user types it.

    >>> plain_number(86400.0), plain_number(0.1)
    ('86400', '0.1')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def solve_and_verify(
    bag: Path,
    given: TimeOptions,
    words: str = " --objective cost",
    *,
    at: str = "",
    output: Path | None = None,
    certificate: Path | None = None,
) -> list[tuple[str, str]]:
    """Return the commands that make a plan with its proof, and that check both."""
    plan, proof = output if output is not None and output.suffix == ".json" else Path("plan.json"), certificate
    files = f"{shlex.quote(str(plan))} {shlex.quote(str(proof or 'proof.json'))}"
    made = f"-o {shlex.quote(str(plan))} --certificate {shlex.quote(str(proof or 'proof.json'))}"
    name, series = shlex.quote(str(bag)), given.words()
    return [
        (f"lpsched solve {name}{words}{given.words()} {made}", f"find a plan and its bound{at}"),
        (f"lpsched verify {name} {files}{series}", "check both, without a solver"),
    ]


def solve_horizon(
    context: typer.Context,
    path: Path,
    bag: Bag,
    *,
    objective: str,
    given: TimeOptions,
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

    console, found = console_of(context), solver_named(solver)
    searched: dict[str, Any] = {
        "effort": "fast" if effort == "balanced" else effort,
        "marginals": marginals,
        "gap": gap,
        "seed": seed,
        "solver": found,
    }
    with cancellable(console, time_limit) as cancel:
        result = plan(given.bag(bag), objective=objective, **given.terms(), **searched, cancel=cancel)
        beside = None
        if report is not None:
            from lpsched.bag.horizon.bounds import bounds_beside

            beside = bounds_beside(result, solver=found, cancel=cancel)
    if output is not None:
        made = HorizonPlan(result.plan, result.horizon_seconds, result.start)
        write_plan(made, result.bag, output, result.provenance.lpsched)
    if certificate is not None:
        write_horizon_certificate(result.certificate, certificate, result.provenance.lpsched)
    if figure is not None or report is not None:
        from lpsched.report.figures.horizon import plan_figure
        from lpsched.report.html.horizon import plan_page

        words = f" --objective {objective}" + ("" if effort == "auto" else f" --effort {effort}")
        words += f" --seed {seed}" if seed else ""
        commands = solve_and_verify(path, given, words, output=output, certificate=certificate)
        options.write_figure_and_page(
            figure, report, lambda: plan_figure(result), lambda: plan_page(result, bounds=beside, commands=commands)
        )
    console.log_timings(result.timings, result.provenance.solver)
    console.answer(result.to_dict(), plan_tables(result))
    exit_with_status(cancel)
