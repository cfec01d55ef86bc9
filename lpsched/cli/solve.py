"""`lpsched solve` and `export`, and the figures and pages of a bag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import horizon as over_time
from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status, print_notice
from lpsched.cli.options import output_option

if TYPE_CHECKING:
    from lpsched.bag.model import Bag


def solve(
    context: typer.Context,
    bag: options.BagFile,
    objective: options.SolveObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    gap: Annotated[
        float,
        typer.Option(
            help="Relative gap, e.g. 0.001, at which the search stops: the status is then optimal.", min=0.0, max=1.0
        ),
    ] = 1e-4,
    effort: options.EffortOption = "auto",
    time_limit: Annotated[
        float | None,
        options.time_limit_option("Time limit in seconds or with a unit, e.g. 5min; then the best answer so far."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed for --effort auto and tight, and for --risk.", min=0)] = 0,
    marginals: options.MarginalsOption = "top",
    risk: options.RiskOption = None,
    horizon: over_time.HorizonOption = None,
    start: over_time.StartOption = None,
    tariff: over_time.TariffOption = None,
    carbon: over_time.CarbonOption = None,
    caps: over_time.CapsOption = None,
    grid_fee: over_time.GridFeeOption = None,
    carbon_price: over_time.CarbonPriceOption = None,
    switch_off: over_time.SwitchOffOption = None,
    fill: over_time.FillOption = False,  # noqa: FBT002 - an option
    solver: options.SolverName = "highs",
    device: Annotated[
        options.Device, typer.Option(help="Device for column generation of huge bags; cuda needs the extra 'gpu'.")
    ] = "cpu",
    output: Annotated[
        Path | None,
        output_option(
            "-o",
            "--output",
            endings=(".json", ".csv", ".parquet"),
            help="Write the schedule: .json in groups of machines, .csv and .parquet with one row per task.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None, output_option("--certificate", endings=(".json",), help="With --horizon: the proof, for verify.")
    ] = None,
    figure: options.Figure = None,
    report: options.Report = None,
) -> None:
    """Find a verified schedule of a bag of tasks, and a proved bound.

    With --horizon or --objective cost or carbon: a plan over hours with prices, carbon and power caps over time;
    --effort fast, auto and tight then search for about 1, 10 and 40 s.

    Examples
    --------
    lpsched solve instances/ai-service.yaml
    lpsched solve instances/tiny.yaml --deadline 1min -o plan.csv
    lpsched solve instances/tiny.yaml --horizon 1h --objective cost --tariff 0.2
    """
    from lpsched.bag.files import read_bag, write_schedule
    from lpsched.bag.solve import solve as solve_bag
    from lpsched.lp.solvers import solver_named
    from lpsched.report.solution import result_tables

    sampled = options.parse_risk(risk)
    read, terms = read_bag(bag), options.terms_of(price, profit_ratio, power_cap, deadline)
    given = over_time.TimeOptions(horizon, start, tariff, carbon, caps, grid_fee, carbon_price, switch_off, fill)
    if horizon is not None or objective in over_time.OBJECTIVES:
        plain = {"--price": price, "--profit-ratio": profit_ratio, "--power-cap": power_cap, "--risk": risk}
        if objective in {"makespan", "energy"}:
            hint = "use --deadline in place of --horizon"
            raise options.usage_error("--objective", objective, "cost, carbon or profit with --horizon", hint)
        hint = "see --caps, --horizon, and prices.per_task in the file"
        options.reject(plain, "with a horizon", "other terms", hint)
        over_time.solve_horizon(
            context,
            bag,
            read,
            objective=objective or "cost",
            given=given.until(deadline),
            marginals=marginals,
            effort=effort,
            gap=gap,
            time_limit=time_limit,
            seed=seed,
            solver=solver,
            output=output,
            certificate=certificate,
            figure=figure,
            report=report,
        )
        return
    options.reject_without(given.flags() | {"--certificate": certificate}, "--horizon")
    console = console_of(context)
    with cancellable(console, time_limit) as cancel:
        result = solve_bag(
            read,
            objective=objective,
            effort=effort,
            gap=gap,
            cancel=cancel,
            seed=seed,
            marginals=marginals,
            risk=sampled,
            solver=solver_named(solver, device),
            **terms,
        )
    if output is not None:
        write_schedule(result.schedule, read, output, result.provenance.lpsched)
    if figure is not None:
        from lpsched.io.figure_files import write_figure
        from lpsched.report.figures.schedule import schedule_figure

        if result.schedule.groups:
            write_figure(schedule_figure(read, result.schedule), figure)
        else:
            print_notice(f"{figure} is not drawn: nothing runs")
    if report is not None:
        write_page(read, terms, solver, report, result=result, seed=seed)
    console.log_timings(result.timings, result.provenance.solver)
    console.answer(result.to_dict(), result_tables(result))
    exit_with_status(cancel)


def write_page(bag: Bag, terms: dict[str, Any], solver: str, report: Path, **found: Any) -> None:  # noqa: ANN401
    """Find what else the page shows, and write it: of the result, else of the curve, else of the front."""
    from lpsched.bag.model import Terms
    from lpsched.bag.overview import overview
    from lpsched.io.content import write_files
    from lpsched.lp.solvers import solver_named
    from lpsched.report.html.bag import front_page, price_page, solve_page

    draw = solve_page if "result" in found else price_page if "curve" in found else front_page
    shown = overview(bag, Terms(None, *terms.values()), solver=solver_named(solver), **found)
    write_files({report: draw(shown).encode()})


def export(
    context: typer.Context,
    bag: options.BagFile,
    output: Annotated[Path, output_option("-o", "--output", endings=(".lp", ".mps"), help="The linear program.")],
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
) -> None:
    """Write the linear program of a bag for other solvers.

    Its objective is to be minimised.

    Examples
    --------
    lpsched export instances/tiny.yaml -o tiny.lp
    """
    from lpsched.bag.certify import export as export_bag
    from lpsched.bag.files import read_bag
    from lpsched.cli.console import header
    from lpsched.io.content import write_files

    kind = output.suffix.lower().removeprefix(".")
    read = read_bag(bag)
    terms = options.terms_of(price, profit_ratio, power_cap, deadline)
    text = export_bag(read, kind, objective=objective, **terms)
    write_files({output: text.encode()})
    answer = header("lpsched-written/1", read) | {"files": [str(output)]}
    console_of(context).answer(answer, lines=[f"{output}: the linear program, {text.count(chr(10)):,} lines"])
