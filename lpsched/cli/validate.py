"""`lpsched validate`: schedules and schedulers of others against the bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import options
from lpsched.cli.console import leave, talk_of, tell, watched

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.online.day import Day


ALL = "all"
NSGA2 = "nsga2"
OF_BAG = ("objective", "price", "profit_ratio", "power_cap", "deadline", "effort")
REFUSED = {  # by kind: options that do not go with it, and why not, in the order in which they are looked at
    "bag": (
        (("method",), "goes with a facility, and this is a bag"),
        (("drop_below",), "goes with a day, and this is a bag"),
    ),
    "day": ((OF_BAG, "goes with a bag, and this is a day"), (("method",), "goes with a facility, and this is a day")),
    "clusters": (
        ((*OF_BAG, "risk", "generations"), "does not go with clusters"),
        (("heuristic", "method"), "does not go with clusters; see 'lpsched simulate'"),
        (("drop_below",), "does not go with clusters"),
    ),
    "facility": (
        ((*OF_BAG, "heuristic"), "goes with a bag, and this is a facility"),
        (("drop_below",), "goes with a day, and this is a facility"),
        (("risk",), "goes with a bag or a day, and this is a facility"),
    ),
}
TAKEN = {  # by kind: what its validation is given
    "bag": "heuristics objective price profit_ratio power_cap deadline effort seed generations time_limit risk solver",
    "day": "heuristics seed generations time_limit drop_below risk",
    "clusters": "time_limit",
    "facility": "methods seed generations time_limit solver",
}
NOTHING = {  # where neither a file nor a scheduler is named
    "bag": "needs a schedule, or a --heuristic to run",
    "day": "needs a schedule, or a --heuristic to run",
    "clusters": "needs a schedule; policies are run by 'lpsched simulate'",
    "facility": "needs an allocation, or a --method to run",
}


def validate(
    context: typer.Context,
    instance: Annotated[
        Path, typer.Argument(help="A bag, a day, clusters or a facility: a .yaml or .json file.", readable=False)
    ],
    schedules: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Of a bag: schedules, compact (.json, .yaml) or one row per task (.csv, .parquet). "
            "Of a day or clusters: one row per task. Of a facility: allocations (.json).",
            readable=False,
        ),
    ] = None,
    *,
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: options.EffortOfBag = None,
    heuristic: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a bag: schedulers to run, with commas or repeated: lp, min-min, max-min, sufferage, "
            "met, mct, olb, k-percent-best, min-energy, random, nsga2, those of installed packages, or all."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a facility: methods to run, with commas or repeated: lp, lp-cores, lp-blind, greedy, "
            "ga, ga-blind, nlp, nlp-blind, or all. 'blind' ones do not count co-location."
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds of each scheduler or method that takes long, by default 300 (nsga2, ga: 60, "
            "nlp: 600). Of a bag or clusters: also of the bound.",
            min=0.0,
        ),
    ] = None,
    seed: options.Seed = 0,
    generations: options.Generations = None,
    drop_below: Annotated[
        float | None, typer.Option(help="Of a day: do not run tasks that would earn less utility than this.", min=0.0)
    ] = None,
    risk: options.RiskOption = None,
    figure: options.Figure = None,
    report: options.Report = None,
    solver: options.SolverName = "highs",
) -> None:
    """Check schedules, run other schedulers, and tell how far from the best possible they are."""
    from lpsched.instances import read_with_kind
    from lpsched.lp.solvers import solver_named

    options.require_looks(instance, *(schedules or []), figure=figure, report=report)
    (read, kind), files = read_with_kind(instance), schedules or []
    given = {
        "objective": objective,
        **options.terms_of(price, profit_ratio, power_cap, deadline),
        "effort": effort,
        "heuristic": heuristic,
        "method": method,
        "generations": generations,
        "drop_below": drop_below,
        "risk": risk,
    }
    for names, why in REFUSED[kind.name]:
        options.refuse({options.flags_of([name]): given[name] for name in names}, why)
    taken = TAKEN[kind.name].split()
    asked: dict[str, Any] = {name: given.get(name) for name in taken} | {"time_limit": time_limit}
    asked |= {"seed": seed} if "seed" in taken else {}
    if asked.get("effort", "") is None:
        del asked["effort"]  # the library's own
    ran: tuple[str, ...] = ()
    if "methods" in taken:
        from lpsched.facility.compare import NAMES

        words = options.words_of(method)
        ran = asked["methods"] = NAMES if ALL in words else words
    if "heuristics" in taken:
        ran = asked["heuristics"] = (_schedulers if kind.name == "bag" else _day_schedulers)(heuristic or [], read)
        asked["risk"] = options.risk_asked(risk)
    if not files and not ran:
        raise typer.BadParameter(NOTHING[kind.name], param_hint="SCHEDULES")
    if "heuristics" in taken and generations is not None and NSGA2 not in ran:
        raise typer.BadParameter("goes with --heuristic nsga2", param_hint="--generations")
    talk = talk_of(context)
    with watched(talk, None) as watch:
        if "solver" in taken:
            asked["solver"] = solver_named(solver)
        result = kind.load("validate")(read, files, **asked, watch=watch)
    _show(kind.name, read, result, figure, report)
    talk.answer(result.to_dict(), kind.load("validation_tables")(result))
    leave(watch, valid=result.valid)


def _show(kind: str, instance: Any, result: Any, figure: Path | None, report: Path | None) -> None:  # noqa: ANN401
    """Draw and write what is asked for to look at."""
    if figure is not None:
        from lpsched.io.pictures import write_picture
        from lpsched.report.figures.comparisons import validation_picture

        write_picture(validation_picture(result), figure)
    if report is not None:
        from lpsched.io.content import write_files
        from lpsched.report.html.facility import methods_page
        from lpsched.report.html.validation import validation_page

        if kind == "facility":
            page = methods_page(instance, result)
        else:
            page = validation_page(result, instance if kind == "bag" else None)
        write_files({report: page.encode()})


def _schedulers(given: list[str], bag: Bag) -> tuple[str, ...]:
    """Read names of schedulers of a bag; `all` leaves out what cannot run, and says so."""
    from lpsched.bag.compare.schedules import everything

    words = options.words_of(given)
    if ALL not in words:
        return words
    found = everything(bag)
    for reason in found.left_out:
        tell(f"left out: {reason}")
    return tuple(dict.fromkeys((*found.names, *(word for word in words if word != ALL))))


def _day_schedulers(given: list[str], day: Day) -> tuple[str, ...]:
    """Read names of schedulers of a day, likewise."""
    from lpsched.online.heuristics import names_for_days

    words = options.words_of(given)
    if ALL not in words:
        return words
    if not day.period.is_whole and NSGA2 not in words:
        tell("left out: nsga2, which knows of no period that counts")
        return names_for_days()
    evolves = _evolves() or NSGA2 in words
    return (*names_for_days(), *((NSGA2,) if evolves else ()))


def _evolves() -> bool:
    """Tell whether the genetic algorithm can run; if not, say why."""
    from lpsched.errors import MissingExtraError
    from lpsched.evolve.running import require_evolution

    try:
        require_evolution()
    except MissingExtraError as error:
        tell(f"left out: {error}")
        return False
    return True
