"""`lpsched facility`: the most a facility can earn under its power cap and redlines."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli import options
from lpsched.cli.console import StoppedEarly, talk_of, watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.facility.genes import Population
    from lpsched.facility.model import Facility
    from lpsched.facility.result import FacilityResult, MethodResult


class Form(StrEnum):
    """What an allocation file holds."""

    GANG = "gang"
    CORES = "cores"


class Method(StrEnum):
    """How to allocate; ours, or one of `lpsched.facility.compare.METHODS`, without loading it."""

    LP = "lp"
    GREEDY = "greedy"
    GA = "ga"
    NLP = "nlp"


class Start(StrEnum):
    """What the first population holds; `lpsched.facility.compare.STARTS`, without loading it."""

    RANDOM = "random"
    GREEDY = "greedy"
    LP = "lp"


def facility(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A facility: .yaml or .json.", readable=False)],
    *,
    method: Annotated[
        Method, typer.Option(help="lp: ours, with its bound. The others are the paper's, held against it.")
    ] = Method.LP,
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

    gangs = form if form is Form.GANG else None
    _fits(method, Method.LP, {"--outlets": outlets, "--certificate": certificate, "--form": gangs})
    _fits(method, Method.GA, {"--generations": generations, "--start": start, "--state": state})
    endings = {".json": (output, certificate), ".npz": (state,), ".html": (report,)}
    for ending, written in endings.items():
        for path in written:
            if path is not None:
                options.require_output(path, (ending,), file)
    if figure is not None:
        options.require_output(figure, options.PICTURES, file)
    if figure is not None or report is not None:
        options.require_pictures()
    read = read_facility(file)
    talk = talk_of(context)
    result: FacilityResult | MethodResult
    with watched(talk, time_limit if method is Method.LP else None) as watch:
        if method is Method.LP:
            result = solve_facility(
                read,
                colocation=colocation,
                outlets=None if outlets is None else _temperatures(outlets, len(read.crac_units)),
                gap=gap,
                prove=certificate is not None,
                watch=watch,
                solver=solver_named(solver),
            )
        else:
            from lpsched.facility.compare import allocate

            population, keep = _saved(state, read, colocation=colocation)
            result = allocate(
                read,
                method=method.value,
                colocation=colocation,
                seed=seed,
                bound=bound,
                gap=gap,
                generations=generations,
                start=(start or Start.RANDOM).value,
                population=population,
                keep=keep,
                time_limit=time_limit,
                watch=watch,
                solver=solver_named(solver),
            )
    cores = result.cores if isinstance(result, FacilityResult) else result.allocation
    if output is not None:
        write_allocation(cores if form is Form.CORES else result.allocation, read, output, result.provenance.lpsched)
    if certificate is not None and isinstance(result, FacilityResult) and result.certificate is not None:
        write_proof(result.certificate, certificate, result.provenance.lpsched)
    _draw(read, result, figure, report)
    talk.tell_timings(result.timings, result.provenance.solver)
    talk.answer(result.to_dict(), facility_tables(read, result))
    if watch.is_stopped:
        raise StoppedEarly


def _draw(facility: Facility, result: FacilityResult | MethodResult, figure: Path | None, report: Path | None) -> None:
    """Draw the room into a file of its own, and into a page."""
    if figure is None and report is None:
        return
    from lpsched.io.content import write_files
    from lpsched.io.pictures import write_picture
    from lpsched.report.html.facility import facility_page, room_of

    if figure is not None:
        write_picture(room_of(facility, result), figure)
    if report is not None:
        write_files({report: facility_page(facility, result).encode()})


def _fits(method: Method, fitting: Method, given: dict[str, object]) -> None:
    """Refuse options of another method."""
    for option, value in given.items():
        if value is not None and method is not fitting:
            raise typer.BadParameter(f"goes with --method {fitting.value}, not with {method.value}", param_hint=option)


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
