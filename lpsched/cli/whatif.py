"""`lpsched whatif`: what other machines would change."""

from __future__ import annotations

from typing import Annotated

import typer

from lpsched.cli.options import (
    BagFile,
    Deadline,
    Effort,
    EffortOption,
    ObjectiveOption,
    PowerCap,
    Price,
    ProfitRatio,
    Seed,
    SolverName,
)
from lpsched.cli.talk import talk_of

LONGEST_COUNT = 18  # digits


def whatif(
    context: typer.Context,
    bag: BagFile,
    changes: Annotated[
        list[str],
        typer.Option("--set", help="NAME=COUNT: so many machines of a type, 0 for none; commas or repeated."),
    ],
    objective: ObjectiveOption = None,
    price: Price = None,
    profit_ratio: ProfitRatio = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    effort: EffortOption = Effort.AUTO,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds of each of the two solves.", min=0.0)
    ] = None,
    seed: Seed = 0,
    solver: SolverName = "highs",
) -> None:
    """Compare value, bound and prices of a bag with those it would have on other machines."""
    from lpsched.files.bags import read_bag
    from lpsched.pipeline import solver_named, what_if
    from lpsched.reports.answers import what_if_tables

    read = read_bag(bag)
    result = what_if(
        read,
        _counts(changes, [machine.name for machine in read.machine_types]),
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
        effort=effort.value,
        time_limit=time_limit,
        seed=seed,
        solver=solver_named(solver),
    )
    talk_of(context).answer(result.to_dict(), what_if_tables(result))


def _counts(changes: list[str], names: list[str]) -> dict[str, int]:
    """Read NAME=COUNT; a name that has a comma in it must have an option of its own."""
    counts: dict[str, int] = {}
    for given in changes:
        whole = given.rpartition("=")[0]
        for word in [given] if whole in names else given.split(","):
            name, _, count = (part.strip() for part in word.rpartition("="))
            if not name or not (count.isascii() and count.isdigit() and len(count) <= LONGEST_COUNT):
                raise typer.BadParameter(
                    f"found {word[:60]!r}, needs NAME=COUNT, e.g. gpu=8", param_hint="--set"
                )
            if name in counts:
                raise typer.BadParameter(f"{name!r} is set twice; leave one out", param_hint="--set")
            counts[name] = int(count)
    return counts
