"""`lpsched facility`: the most a facility can earn under its power cap and redlines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli import options
from lpsched.cli.console import StoppedEarly, talk_of, watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.facility.genes import Population
    from lpsched.facility.model import Facility
    from lpsched.facility.result import FacilityResult, MethodResult


Form = Literal["gang", "cores"]  # what an allocation file holds
Method = Literal["lp", "greedy", "ga", "nlp"]  # ours, or one of `lpsched.facility.compare.METHODS`, without loading it
Start = Literal["random", "greedy", "lp"]  # `lpsched.facility.compare.STARTS`, without loading it


def facility(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A facility: .yaml or .json.", readable=False)],
    *,
    method: Annotated[
        Method, typer.Option(help="lp: ours, with its bound. The others are the paper's, held against it.")
    ] = "lp",
    colocation: Annotated[
        bool, typer.Option("--colocation/--no-colocation", help="Whether cores of a node slow each other.")
    ] = True,
    outlets: Annotated[
        str | None,
        typer.Option(help="Celsius of the CRAC units, with commas (one for all of them); not searched then."),
    ] = None,
    gap: Annotated[
        float, typer.Option(help="Stop, and call the answer optimal, within this relative gap.", min=0.0, max=1.0)
    ] = 0.001,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds, by default 300 (ga: 60, nlp: 600); then the best so far.", min=0.0)
    ] = None,
    seed: options.Seed = 0,
    generations: options.Generations = None,
    start: Annotated[
        Start | None, typer.Option(help="ga: what joins the first population, by default nothing but chance.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="ga: go on from this .npz file if it is there; save the population to it.")
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound/--no-bound", help="greedy, ga, nlp: whether to prove the bound as well.")
    ] = True,
    solver: options.SolverName = "highs",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the allocation: a .json file.")] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the bound's exact proof, for 'lpsched verify': a .json file.")
    ] = None,
    form: Annotated[
        Form | None, typer.Option(help="gang: patterns of whole nodes (by default). cores: every core's own fractions.")
    ] = None,
    figure: options.Figure = None,
    report: options.Report = None,
) -> None:
    """Find a verified allocation under power cap and redlines, and a bound that none can pass."""
    from lpsched.facility.certificate.files import write_proof
    from lpsched.facility.files import read_facility, write_allocation
    from lpsched.facility.result import FacilityResult
    from lpsched.facility.solve import facility as solve_facility
    from lpsched.lp.solvers import solver_named
    from lpsched.report.facility import facility_tables

    gangs = form if form == "gang" else None
    _fits(method, "lp", {"--outlets": outlets, "--certificate": certificate, "--form": gangs})
    _fits(method, "ga", {"--generations": generations, "--start": start, "--state": state})
    for path, ending in ((output, ".json"), (certificate, ".json"), (state, ".npz"), (report, ".html")):
        if path is not None:
            options.require_output(path, (ending,), file)
    options.require_looks(file, figure=figure, report=report)
    read = read_facility(file)
    talk = talk_of(context)
    result: FacilityResult | MethodResult
    given: dict[str, Any] = {"colocation": colocation, "gap": gap, "solver": solver_named(solver)}
    with watched(talk, time_limit if method == "lp" else None) as watch:
        if method == "lp":
            celsius = None if outlets is None else _temperatures(outlets, len(read.crac_units))
            result = solve_facility(read, outlets=celsius, prove=certificate is not None, watch=watch, **given)
        else:
            from lpsched.facility.compare import allocate

            population, keep = _saved(state, read, colocation=colocation)
            result = allocate(
                read,
                method=method,
                seed=seed,
                bound=bound,
                generations=generations,
                start=start or "random",
                population=population,
                keep=keep,
                time_limit=time_limit,
                watch=watch,
                **given,
            )
    cores = result.cores if isinstance(result, FacilityResult) else result.allocation
    if output is not None:
        write_allocation(cores if form == "cores" else result.allocation, read, output, result.provenance.lpsched)
    if certificate is not None and isinstance(result, FacilityResult) and result.certificate is not None:
        write_proof(result.certificate, certificate, result.provenance.lpsched)
    if figure is not None or report is not None:
        from lpsched.io.content import write_files
        from lpsched.io.pictures import write_picture
        from lpsched.report.html.facility import facility_page, room_of

        if figure is not None:
            write_picture(room_of(read, result), figure)
        if report is not None:
            write_files({report: facility_page(read, result).encode()})
    talk.tell_timings(result.timings, result.provenance.solver)
    talk.answer(result.to_dict(), facility_tables(read, result))
    if watch.is_stopped:
        raise StoppedEarly


def _fits(method: Method, fitting: Method, given: dict[str, object]) -> None:
    """Refuse options of another method."""
    if method != fitting:
        options.refuse(given, f"goes with --method {fitting}, not with {method}")


def _saved(
    state: Path | None, facility: Facility, *, colocation: bool
) -> tuple[Population | None, Callable[[Population], object] | None]:
    """Return the population to go on from, if there is one, and the function that saves it."""
    if state is None:
        return None, None
    from lpsched.facility.genes import read_population, write_population

    found = read_population(state, facility, colocation=colocation) if state.exists() else None
    return found, lambda population: write_population(population, facility, state)


def _temperatures(text: str, units: int) -> list[float]:
    """Read numbers with commas between them; a single one is for all units."""
    try:
        read = [float(each) for each in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r}: needs numbers with commas between them", param_hint="--outlets") from None
    return read * units if len(read) == 1 else read
