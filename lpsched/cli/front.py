"""`lpsched front`: every vertex of the energy/makespan front."""

from __future__ import annotations

from typing import Annotated

import typer

from lpsched.cli.options import BagFile, Deadline, PowerCap, SolverName
from lpsched.cli.talk import talk_of


def front(
    context: typer.Context,
    bag: BagFile,
    sample: Annotated[int, typer.Option(help="Weights to sample as well, for comparison.", min=0)] = 0,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    solver: SolverName = "highs",
) -> None:
    """Find the exact energy/makespan front, and a verified schedule at each of its vertices."""
    from lpsched.files.bags import read_bag
    from lpsched.pipeline import front as front_of
    from lpsched.pipeline import solver_named
    from lpsched.reports.answers import front_tables

    result = front_of(
        read_bag(bag), sample=sample, power_cap=power_cap, deadline=deadline, solver=solver_named(solver)
    )
    talk = talk_of(context)
    talk.tell_timings(result.timings, f"{result.provenance.solver}, {result.solves} programs")
    talk.answer(result.to_dict(), front_tables(result))
