"""`lpsched solve`, `whatif`, `price` and `export`, and the figures and pages of a bag."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import options
from lpsched.cli.console import StoppedEarly, talk_of, tell, watched

if TYPE_CHECKING:
    from lpsched.bag.model import Bag


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
    effort: options.EffortOption = "auto",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best schedule and bound so far.", min=0.0)
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of the search that auto and tight make, and of what --risk draws.", min=0)
    ] = 0,
    marginals: options.MarginalsOption = "top",
    risk: options.RiskOption = None,
    solver: options.SolverName = "highs",
    device: Annotated[
        options.Device, typer.Option(help="Where huge bags are looked through: cuda needs the extra gpu.")
    ] = "cpu",
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
    options.require_looks(bag, figure=figure, report=report)
    read, terms = read_bag(bag), options.terms_of(price, profit_ratio, power_cap, deadline)
    talk = talk_of(context)
    with watched(talk, time_limit) as watch:
        result = solve_bag(
            read,
            objective=objective,
            effort=effort,
            gap=gap,
            watch=watch,
            seed=seed,
            risk=sampled,
            solver=solver_named(solver, device),
            **terms,
        )
        if marginals != "lp":
            result = with_one_more(
                read, result, marginals=marginals, watch=watch, seed=seed, solver=solver_named(solver, device), **terms
            )
    if output is not None:
        write_schedule(result.schedule, read, output, result.provenance.lpsched)
    if figure is not None:
        from lpsched.io.pictures import write_picture
        from lpsched.report.figures.schedule import schedule_picture

        if result.schedule.groups:
            write_picture(schedule_picture(read, result.schedule), figure)
        else:
            tell(f"{figure} is not drawn: nothing runs")
    if report is not None:
        write_page(read, terms, solver, report, result=result, seed=seed)
    talk.tell_timings(result.timings, result.provenance.solver)
    talk.answer(result.to_dict(), result_tables(result))
    if watch.is_stopped:
        raise StoppedEarly


# `lpsched whatif`: what other machines would change.
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
    effort: options.EffortOption = "auto",
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
        effort=effort,
        time_limit=time_limit,
        seed=seed,
        solver=solver_named(solver),
        **options.terms_of(price, profit_ratio, power_cap, deadline),
    )
    talk_of(context).answer(result.to_dict(), what_if_tables(result))


def _counts(changes: list[str], names: list[str]) -> dict[str, int]:
    """Read NAME=COUNT; a name that has a comma in it must have an option of its own."""
    counts: dict[str, int] = {}
    for given in changes:
        whole = given.rpartition("=")[0]
        for word in [given] if whole in names else given.split(","):
            name, _, count = (part.strip() for part in word.rpartition("="))
            if not name or not (count.isascii() and count.isdigit() and len(count) <= options.LONGEST_COUNT):
                raise typer.BadParameter(f"found {word[:60]!r}, needs NAME=COUNT, e.g. gpu=8", param_hint="--set")
            if name in counts:
                raise typer.BadParameter(f"{name!r} is set twice; leave one out", param_hint="--set")
            counts[name] = int(count)
    return counts


# What commands about a bag give to look at: pictures and pages.
#
# Where they go is checked before the work begins, and they are written after it, whole or not at all.
def write_page(bag: Bag, terms: dict[str, Any], solver: str, report: Path, **found: Any) -> None:  # noqa: ANN401
    """Find what else the page shows, and write it: of the result, else of the curve, else of the front."""
    from lpsched.bag.overview import overview
    from lpsched.bag.terms import Terms
    from lpsched.io.content import write_files
    from lpsched.lp.solvers import solver_named
    from lpsched.report.html.bag import front_page, price_page, solve_page

    draw = solve_page if "result" in found else price_page if "curve" in found else front_page
    shown = overview(bag, Terms(None, *terms.values()), solver=solver_named(solver), **found)
    write_files({report: draw(shown).encode()})


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
    terms = options.terms_of(price, profit_ratio, power_cap, deadline)
    text = export_bag(read, kind, objective=objective, **terms)
    write_files({output: text.encode()})
    answer = header("lpsched-written/1", read) | {"files": [str(output)]}
    talk_of(context).answer(answer, text=f"{output}: the linear program, {text.count(chr(10)):,} lines\n")


# `lpsched price`: the most profit at every price, and what that depends on.
ENDS = 2  # points that a picture needs: it shows where the last piece goes


def price(
    context: typer.Context,
    bag: options.BagFile,
    from_ratio: Annotated[
        float | None, typer.Option(help="Profit ratio to begin at; by default 0, a price of nothing.")
    ] = None,
    to_ratio: Annotated[float | None, typer.Option(help="Profit ratio to end at; by default never.")] = None,
    points: Annotated[int, typer.Option(help="Points to sample for drawing.", min=0)] = 0,
    price: Annotated[
        float | None, typer.Option(help="What the bag sells for, where electricity and machines are asked about.")
    ] = None,
    profit_ratio: Annotated[
        float | None, typer.Option(help="That price, as a multiple of what the least energy costs.")
    ] = None,
    lifetime_hours: Annotated[
        float | None, typer.Option(help="How long a machine lasts whose type does not say.")
    ] = None,
    marginals: options.MarginalsOption = "top",
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: Annotated[options.Effort, typer.Option(help="As in solve.")] = "auto",
    seed: options.Seed = 0,
    figure: options.Figure = None,
    report: options.Report = None,
    solver: options.SolverName = "highs",
) -> None:
    """Find the whole profit curve over the price, piece by piece.

    The profit ratio is the price as a multiple of what the least energy of the bag costs. Also: which price
    is needed for profit, what electricity may cost, and how many more machines are worthwhile.
    """
    from lpsched.bag.files import read_bag
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.pricing.sensitivity import sensitivity
    from lpsched.io.pictures import write_picture
    from lpsched.lp.solvers import solver_named
    from lpsched.report.answers import price_tables, sensitivity_tables
    from lpsched.report.figures.prices import pricing_picture

    options.require_looks(bag, figure=figure, report=report)
    read, terms = read_bag(bag), options.terms_of(price, profit_ratio, power_cap, deadline)
    searched: dict[str, Any] = {"effort": effort, "seed": seed, "solver": solver_named(solver)}
    drawn = price_curve(
        read,
        from_ratio=from_ratio,
        to_ratio=to_ratio,
        points=points if figure is None and report is None else max(points, ENDS),
        **terms,
        **searched,
    )
    curve = drawn if points else replace(drawn, points=())
    needs = sensitivity(read, lifetime_hours=lifetime_hours, marginals=marginals, **terms, **searched)
    if figure is not None:
        write_picture(pricing_picture(drawn, needs), figure)
    if report is not None:
        write_page(read, terms, solver, report, curve=drawn, sensitivity=needs, seed=seed)
    talk = talk_of(context)
    talk.tell_timings(curve.timings, curve.provenance.solver)
    talk.answer(curve.to_dict() | {"sensitivity": needs.to_dict()}, [*price_tables(curve), *sensitivity_tables(needs)])
