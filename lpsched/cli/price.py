"""`lpsched price`: the most profit at every price."""

from __future__ import annotations

from typing import Annotated

import typer

from lpsched.cli.options import BagFile, Deadline, PowerCap, SolverName
from lpsched.cli.talk import talk_of


def price(
    context: typer.Context,
    bag: BagFile,
    from_ratio: Annotated[
        float | None, typer.Option(help="Profit ratio to begin at; by default 0, a price of nothing.")
    ] = None,
    to_ratio: Annotated[float | None, typer.Option(help="Profit ratio to end at; by default never.")] = None,
    points: Annotated[int, typer.Option(help="Points to sample for drawing.", min=0)] = 0,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    solver: SolverName = "highs",
) -> None:
    """Find the whole profit curve over the price, piece by piece.

    The profit ratio is the price as a multiple of what the least energy of the bag costs.
    """
    from lpsched.files.bags import read_bag
    from lpsched.pipeline import price_curve, solver_named
    from lpsched.reports.answers import price_tables

    curve = price_curve(
        read_bag(bag),
        from_ratio=from_ratio,
        to_ratio=to_ratio,
        points=points,
        power_cap=power_cap,
        deadline=deadline,
        solver=solver_named(solver),
    )
    talk = talk_of(context)
    talk.tell_timings(curve.timings, curve.provenance.solver)
    talk.answer(curve.to_dict(), price_tables(curve))
