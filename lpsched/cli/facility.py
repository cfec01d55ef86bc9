"""`lpsched facility`: the most a facility can earn under its power cap and redlines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status
from lpsched.cli.options import STATE, output_option
from lpsched.errors import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.facility.genes import Population
    from lpsched.facility.model import Facility
    from lpsched.facility.result import FacilityResult, MethodResult


Form = Literal["gang", "cores"]  # what an allocation file holds
Scheduler = Literal[
    "lp", "greedy", "ga", "nlp"
]  # ours, or one of `lpsched.facility.compare.METHODS`, without loading it
Start = Literal["random", "greedy", "lp"]  # `lpsched.facility.compare.STARTS`, without loading it


def facility(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A facility: .yaml or .json.", readable=False)],
    *,
    scheduler: Annotated[
        Scheduler, typer.Option(help="lp: ours, with its bound. The others are of the literature, compared with it.")
    ] = "lp",
    colocation: Annotated[
        bool, typer.Option("--colocation/--no-colocation", help="Whether cores of a node slow each other down.")
    ] = True,
    outlets: Annotated[
        str | None,
        typer.Option(help="Fixed outlet temperatures of the CRAC units in Celsius, with commas; one for all."),
    ] = None,
    gap: Annotated[
        float,
        typer.Option(
            help="Relative gap, e.g. 0.01, at which the search stops: the status is then optimal.", min=0.0, max=1.0
        ),
    ] = 0.001,
    time_limit: Annotated[
        float | None,
        options.time_limit_option("Time limit in seconds or with a unit; by default 5min (ga: 1min, nlp: 10min)."),
    ] = None,
    seed: options.Seed = 0,
    generations: Annotated[int | None, options.generations_option("ga")] = None,
    start: Annotated[
        Start | None, typer.Option(help="ga: schedule in the first population.", show_default="random")
    ] = None,
    state: Annotated[
        Path | None,
        output_option("--state", endings=(STATE,), help="ga: save the population; resume from it if the file exists."),
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound/--no-bound", help="greedy, ga, nlp: whether to prove the bound, too.")
    ] = True,
    solver: options.SolverName = "highs",
    form: Annotated[
        Form | None,
        typer.Option(help="-o: patterns of whole nodes, or the fractions of each core.", show_default="gang"),
    ] = None,
    output: Annotated[
        Path | None,
        output_option(
            "-o",
            "--output",
            endings=(".json", ".csv", ".parquet"),
            help="Write the allocation; .csv and .parquet have rows without the outlet temperatures.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        output_option("--certificate", endings=(".json",), help="Write the exact proof of the bound for verify."),
    ] = None,
    figure: options.Figure = None,
    report: options.Report = None,
) -> None:
    """Find an allocation of a facility under power cap and redlines.

    The allocation is verified, and the bound on its reward rate is proved.

    Examples
    --------
    lpsched facility instances/facility-tiny.yaml
    lpsched facility instances/facility-tiny.yaml --certificate proof.json
    """
    from lpsched.facility.files import read_facility, write_allocation, write_proof
    from lpsched.facility.result import FacilityResult
    from lpsched.facility.solve import facility as solve_facility
    from lpsched.lp.solvers import solver_named
    from lpsched.report.facility import facility_tables

    gangs = form if form == "gang" else None
    _require_scheduler("lp", scheduler, {"--outlets": outlets, "--certificate": certificate, "--form": gangs})
    _require_scheduler("ga", scheduler, {"--generations": generations, "--start": start, "--state": state})
    read = read_facility(file)
    console = console_of(context)
    result: FacilityResult | MethodResult
    given: dict[str, Any] = {"colocation": colocation, "gap": gap, "solver": solver_named(solver)}
    with cancellable(console, time_limit if scheduler == "lp" else None) as cancel:
        if scheduler == "lp":
            celsius = None if outlets is None else temperatures(outlets, len(read.crac_units))
            result = solve_facility(read, outlets=celsius, prove=certificate is not None, cancel=cancel, **given)
        else:
            from lpsched.facility.compare import allocate

            population, keep = _saved(state, read, colocation=colocation)
            result = allocate(
                read,
                method=scheduler,
                seed=seed,
                bound=bound,
                generations=generations,
                start=start or "random",
                population=population,
                keep=keep,
                time_limit=time_limit,
                cancel=cancel,
                **given,
            )
    cores = result.cores if isinstance(result, FacilityResult) else result.allocation
    if output is not None:
        write_allocation(cores if form == "cores" else result.allocation, read, output, result.provenance.lpsched)
    if certificate is not None and isinstance(result, FacilityResult) and result.certificate is not None:
        write_proof(result.certificate, certificate, result.provenance.lpsched)
    if figure is not None or report is not None:
        from lpsched.report.html.facility import facility_page, room_of

        options.write_figure_and_page(
            figure, report, lambda: room_of(read, result), lambda: facility_page(read, result)
        )
    console.log_timings(result.timings, result.provenance.solver)
    console.answer(result.to_dict(), facility_tables(read, result))
    exit_with_status(cancel)


def _require_scheduler(fitting: Scheduler, scheduler: Scheduler, given: dict[str, object]) -> None:
    """Reject options of another scheduler."""
    if scheduler != fitting:
        options.reject(given, f"with --scheduler {scheduler}", f"--scheduler {fitting}")


def _saved(
    state: Path | None, facility: Facility, *, colocation: bool
) -> tuple[Population | None, Callable[[Population], object] | None]:
    """Return the population to resume from, if there is one, and the function that saves it."""
    if state is None:
        return None, None
    from lpsched.facility.genes import read_population, write_population

    found = read_population(state, facility, colocation=colocation) if state.exists() else None
    return found, lambda population: write_population(population, facility, state)


def temperatures(text: str, units: int) -> list[float]:
    """Read numbers with commas between them; a single one is for all units."""
    try:
        read = [float(each) for each in text.split(",")]
    except ValueError:
        expected = "temperatures in °C with commas between them, e.g. 18,20"
        raise options.usage_error("--outlets", quote(text), expected, "correct it") from None
    return read * units if len(read) == 1 else read
