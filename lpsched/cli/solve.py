"""`lpsched solve`, `whatif` and `export`, and the figures and pages of a bag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli import options
from lpsched.cli.console import StoppedEarly, talk_of, tell, watched

if TYPE_CHECKING:
    from lpsched.bag.compare.result import FrontComparison
    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity
    from lpsched.bag.result import FrontResult, Result
    from lpsched.bag.schedule import Schedule


def solve(
    context: typer.Context,
    bag: options.BagFile,
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    gap: Annotated[
        float,
        typer.Option(help="Call the answer optimal within this relative gap; search stops there.", min=0.0, max=1.0),
    ] = 1e-4,
    effort: options.EffortOption = options.Effort.AUTO,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best schedule and bound so far.", min=0.0)
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of the search that auto and tight make, and of what --risk draws.", min=0)
    ] = 0,
    marginals: options.MarginalsOption = options.Marginals.TOP,
    risk: options.RiskOption = None,
    solver: options.SolverName = "highs",
    device: Annotated[
        options.Device, typer.Option(help="Where huge bags are looked through: cuda needs the extra gpu.")
    ] = options.Device.CPU,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the schedule, compact: a .json file.")
    ] = None,
    figure: options.Figure = None,
    report: options.Report = None,
) -> None:
    """Find a verified schedule and a bound that no schedule can pass."""
    from lpsched.bag.files import read_bag, write_schedule
    from lpsched.bag.pricing.one_more import with_one_more
    from lpsched.bag.solve import solve as solve_bag
    from lpsched.lp.solvers import solver_named
    from lpsched.report.answers import result_tables

    sampled = options.risk_asked(risk)
    if output is not None:
        options.require_output(output, (".json",), bag)
    require_looks(bag, figure=figure, report=report)
    read = read_bag(bag)
    talk = talk_of(context)
    with watched(talk, time_limit) as watch:
        result = solve_bag(
            read,
            objective=objective,
            price=price,
            profit_ratio=profit_ratio,
            power_cap=power_cap,
            deadline=deadline,
            effort=effort.value,
            gap=gap,
            watch=watch,
            seed=seed,
            risk=sampled,
            solver=solver_named(solver, device.value),
        )
        if marginals is not options.Marginals.LP:
            result = with_one_more(
                read,
                result,
                marginals=marginals.value,
                price=price,
                profit_ratio=profit_ratio,
                power_cap=power_cap,
                deadline=deadline,
                watch=watch,
                seed=seed,
                solver=solver_named(solver, device.value),
            )
    if output is not None:
        write_schedule(result.schedule, read, output, result.provenance.lpsched)
    if figure is not None:
        draw_schedule(read, result.schedule, figure)
    if report is not None:
        asked = Asked(price, profit_ratio, power_cap, deadline, solver)
        write_page(read, asked, report, result=result, seed=seed)
    talk.tell_timings(result.timings, result.provenance.solver)
    talk.answer(result.to_dict(), result_tables(result))
    if watch.is_stopped:
        raise StoppedEarly


# `lpsched whatif`: what other machines would change.
LONGEST_COUNT = 18  # digits


def whatif(
    context: typer.Context,
    bag: options.BagFile,
    changes: Annotated[
        list[str], typer.Option("--set", help="NAME=COUNT: so many machines of a type, 0 for none; commas or repeated.")
    ],
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: options.EffortOption = options.Effort.AUTO,
    time_limit: Annotated[float | None, typer.Option(help="Seconds of each of the two solves.", min=0.0)] = None,
    seed: options.Seed = 0,
    solver: options.SolverName = "highs",
) -> None:
    """Compare value, bound and prices of a bag with those it would have on other machines."""
    from lpsched.bag.files import read_bag
    from lpsched.bag.pricing.one_more import what_if
    from lpsched.lp.solvers import solver_named
    from lpsched.report.answers import what_if_tables

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
                raise typer.BadParameter(f"found {word[:60]!r}, needs NAME=COUNT, e.g. gpu=8", param_hint="--set")
            if name in counts:
                raise typer.BadParameter(f"{name!r} is set twice; leave one out", param_hint="--set")
            counts[name] = int(count)
    return counts


# What commands about a bag give to look at: pictures and pages.
#
# Where they go is checked before the work begins, and they are written after it, whole or not at all.
@dataclass(frozen=True, slots=True)
class Asked:
    """The terms of a bag, and who solves."""

    price: float | None
    profit_ratio: float | None
    power_cap: float | None
    deadline: float | None
    solver: str


def require_looks(*inputs: Path, figure: Path | None, report: Path | None) -> None:
    """Refuse a picture or a page that could not be written in the end."""
    if figure is not None:
        options.require_output(figure, options.PICTURES, *inputs)
    if report is not None:
        options.require_output(report, (".html",), *inputs)
    if figure is not None or report is not None:
        options.require_pictures()


def draw_schedule(bag: Bag, schedule: Schedule, figure: Path) -> None:
    """Draw when machines are done, what they take, and which tasks run where."""
    from lpsched.io.pictures import write_picture
    from lpsched.report.figures.shares import schedule_picture

    if schedule.groups:
        write_picture(schedule_picture(bag, schedule), figure)
    else:
        tell(f"{figure} is not drawn: nothing runs")


def write_page(
    bag: Bag,
    asked: Asked,
    report: Path,
    *,
    result: Result | None = None,
    front: FrontResult | FrontComparison | None = None,
    curve: PriceCurve | None = None,
    sensitivity: Sensitivity | None = None,
    seed: int = 0,
) -> None:
    """Find what else the page shows, and write it: of the result, else of the curve, else of the front."""
    from lpsched.bag.overview import overview
    from lpsched.bag.terms import Terms
    from lpsched.io.content import write_files
    from lpsched.lp.solvers import solver_named
    from lpsched.report.html.bag import front_page, price_page, solve_page

    found = overview(
        bag,
        Terms(None, asked.price, asked.profit_ratio, asked.power_cap, asked.deadline),
        result=result,
        front=front,
        curve=curve,
        sensitivity=sensitivity,
        seed=seed,
        solver=solver_named(asked.solver),
    )
    draw = solve_page if result is not None else price_page if curve is not None else front_page
    write_files({report: draw(found).encode()})


def export(
    context: typer.Context,
    bag: options.BagFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model: .lp or .mps.")],
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
) -> None:
    """Write the linear program for other solvers; its optimum is the objective, to be minimised."""
    from lpsched.bag.certify import export as export_bag
    from lpsched.bag.files import read_bag
    from lpsched.cli.console import header
    from lpsched.io.content import write_files

    options.require_output(output, (".lp", ".mps"), bag)
    kind = output.suffix.lower().removeprefix(".")
    read = read_bag(bag)
    text = export_bag(
        read, kind, objective=objective, price=price, profit_ratio=profit_ratio, power_cap=power_cap, deadline=deadline
    )
    write_files({output: text.encode()})
    answer = header("lpsched-written/1", read) | {"files": [str(output)]}
    talk_of(context).answer(answer, text=f"{output}: the linear program, {text.count(chr(10)):,} lines\n")
