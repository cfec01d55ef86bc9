"""`lpsched front BAG`: the exact energy/makespan front, and what other methods find above it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lpsched.cli.front_asked import saved
from lpsched.cli.looks import Asked as Terms
from lpsched.cli.looks import write_page
from lpsched.cli.patience import leave, watched
from lpsched.cli.talk import talk_of, tell

if TYPE_CHECKING:
    from pathlib import Path

    import typer

    from lpsched.cli.front_asked import Asked
    from lpsched.instance import Bag
    from lpsched.result import FrontResult
    from lpsched.result.front_comparison import FrontComparison


@dataclass(frozen=True, slots=True)
class BagAsked:
    """What is asked for of a bag only."""

    sample: int
    power_cap: float | None
    deadline: float | None
    effort: str | None  # none: the library's own
    solver: str
    machines: Path | None
    report: Path | None
    falling: bool

    def efforts(self) -> dict[str, Any]:
        """Return the effort, if one is given."""
        return {} if self.effort is None else {"effort": self.effort}


def front_of_bag(context: typer.Context, bag: Bag, asked: Asked, of_bag: BagAsked) -> None:
    """Print the exact front of a bag, and what is compared with it."""
    from lpsched.pipeline import front, solver_named
    from lpsched.reports.answers import front_tables

    if asked.methods:
        _compared(context, bag, asked, of_bag)
        return
    with watched(talk_of(context), None) as watch:
        exact = front(
            bag,
            sample=of_bag.sample,
            power_cap=of_bag.power_cap,
            deadline=of_bag.deadline,
            seed=asked.seed,
            watch=watch,
            solver=solver_named(of_bag.solver),
            **of_bag.efforts(),
        )
    _draw(bag, exact, asked.figure, of_bag)
    _tell_timings(context, exact)
    talk_of(context).answer(exact.to_dict(), front_tables(exact))
    leave(watch, valid=True)


def _compared(context: typer.Context, bag: Bag, asked: Asked, of_bag: BagAsked) -> None:
    """Print the exact front and the methods beside it."""
    from lpsched.compare.fronts import compare_fronts
    from lpsched.evolve.evolving import SEEDS, Evolving
    from lpsched.pipeline import solver_named
    from lpsched.reports.front_answers import comparison_tables

    population, keep = saved(asked.state, bag.without_limits())
    seeds = asked.seed_with if asked.seed_with is not None else SEEDS
    with watched(talk_of(context), None) as watch:
        result = compare_fronts(
            bag,
            asked.methods,
            evolving=Evolving(asked.generations, asked.time_limit, seeds, population, keep),
            seed=asked.seed,
            watch=watch,
            sample=of_bag.sample,
            power_cap=of_bag.power_cap,
            deadline=of_bag.deadline,
            solver=solver_named(of_bag.solver),
            **of_bag.efforts(),
        )
    _draw(bag, result, asked.figure, of_bag)
    _tell_timings(context, result.front)
    talk_of(context).answer(result.to_dict(), comparison_tables(result))
    leave(watch, valid=result.valid)


def _tell_timings(context: typer.Context, exact: FrontResult) -> None:
    talk_of(context).tell_timings(exact.timings, f"{exact.provenance.solver}, {exact.solves} programs")


def _draw(bag: Bag, result: FrontResult | FrontComparison, figure: Path | None, of_bag: BagAsked) -> None:
    """Draw the front, and draw or write what each machine does along it."""
    from lpsched.compare.machines import machine_points
    from lpsched.files.pictures import write_picture
    from lpsched.files.writing import write_files
    from lpsched.reports.fronts import front_picture
    from lpsched.reports.machine_bars import machine_picture
    from lpsched.result.front_comparison import shown_front

    if figure is not None:
        write_picture(front_picture(result), figure)
    if of_bag.report is not None:
        asked = Terms(None, None, of_bag.power_cap, of_bag.deadline, of_bag.solver)
        write_page(bag, asked, of_bag.report, front=result)
    if of_bag.machines is None:
        return
    points = machine_points(bag, *shown_front(result))
    if of_bag.machines.suffix.lower() == ".json":
        told = {"format": "lpsched-machines/1", "points": [point.to_dict() for point in points]}
        write_files({of_bag.machines: (json.dumps(told, indent=2) + "\n").encode()})
    elif points:
        write_picture(machine_picture(result, points, falling=of_bag.falling), of_bag.machines)
    else:
        tell(f"{of_bag.machines} is not drawn: there is no schedule to look into")
