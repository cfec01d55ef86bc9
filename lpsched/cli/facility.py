"""`lpsched facility`: the most a facility can earn under its power cap and redlines."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import SolverName, require_output
from lpsched.cli.patience import StoppedEarly, watched
from lpsched.cli.talk import talk_of


class Form(StrEnum):
    """What an allocation file holds."""

    GANG = "gang"
    CORES = "cores"


def facility(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A facility: .yaml or .json.", readable=False)],
    *,
    colocation: Annotated[
        bool, typer.Option("--colocation/--no-colocation", help="Whether cores of a node slow each other.")
    ] = True,
    outlets: Annotated[
        str | None,
        typer.Option(help="Celsius of the CRAC units, with commas (one for all of them); not searched then."),
    ] = None,
    gap: Annotated[
        float,
        typer.Option(help="Stop, and call the answer optimal, within this relative gap.", min=0.0, max=1.0),
    ] = 0.001,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds, by default 300; then the best allocation and bound so far.", min=0.0),
    ] = None,
    solver: SolverName = "highs",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the allocation: a .json file.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the bound's exact proof, for 'lpsched verify': a .json file.")
    ] = None,
    form: Annotated[
        Form, typer.Option(help="gang: patterns of whole nodes. cores: every core's own fractions of time.")
    ] = Form.GANG,
) -> None:
    """Find a verified allocation under power cap and redlines, and a bound that none can pass."""
    from lpsched.files.allocations import write_allocation
    from lpsched.files.facilities import read_facility
    from lpsched.files.proofs import write_proof
    from lpsched.pipeline import facility as solve_facility
    from lpsched.pipeline import solver_named
    from lpsched.reports.facility import facility_tables

    for written in (output, certificate):
        if written is not None:
            require_output(written, (".json",), file)
    read = read_facility(file)
    talk = talk_of(context)
    with watched(talk, time_limit) as watch:
        result = solve_facility(
            read,
            colocation=colocation,
            outlets=None if outlets is None else _temperatures(outlets, len(read.crac_units)),
            gap=gap,
            prove=certificate is not None,
            watch=watch,
            solver=solver_named(solver),
        )
    if output is not None:
        chosen = result.allocation if form is Form.GANG else result.cores
        write_allocation(chosen, read, output, result.provenance.lpsched)
    if certificate is not None and result.certificate is not None:
        write_proof(result.certificate, certificate, result.provenance.lpsched)
    talk.tell_timings(result.timings, result.provenance.solver)
    talk.answer(result.to_dict(), facility_tables(read, result))
    if watch.is_stopped:
        raise StoppedEarly


def _temperatures(text: str, units: int) -> list[float]:
    """Read numbers with commas between them; a single one is for all units."""
    try:
        read = [float(each) for each in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r}: needs numbers with commas between them", param_hint="--outlets"
        ) from None
    return read * units if len(read) == 1 else read
