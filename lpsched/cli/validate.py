"""`lpsched validate`: other people's schedules, and other methods, against the bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.judging import NSGA2, Options, Terms, judge_bag, judge_clusters, judge_day, judge_facility
from lpsched.cli.looks import require_looks
from lpsched.cli.options import (
    Deadline,
    EffortOfBag,
    Figure,
    Generations,
    ObjectiveOption,
    PowerCap,
    Price,
    ProfitRatio,
    Report,
    Seed,
    SolverName,
    refuse,
    words_of,
)
from lpsched.cli.risk_option import RiskOption, risk_asked
from lpsched.cli.talk import tell

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.day import Day

ALL = "all"


def validate(
    context: typer.Context,
    instance: Annotated[
        Path,
        typer.Argument(help="A bag, a day, clusters or a facility: a .yaml or .json file.", readable=False),
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
    objective: ObjectiveOption = None,
    price: Price = None,
    profit_ratio: ProfitRatio = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    effort: EffortOfBag = None,
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
    seed: Seed = 0,
    generations: Generations = None,
    drop_below: Annotated[
        float | None,
        typer.Option(help="Of a day: do not run tasks that would earn less utility than this.", min=0.0),
    ] = None,
    risk: RiskOption = None,
    figure: Figure = None,
    report: Report = None,
    solver: SolverName = "highs",
) -> None:
    """Check schedules, run other schedulers, and tell how far from the best possible they are."""
    from lpsched.files.instances import read_instance
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.facility import Facility

    terms = Terms(objective, price, profit_ratio, power_cap, deadline, effort)
    of_bag: dict[str, object] = {"--objective": objective, "--price": price, "--profit-ratio": profit_ratio}
    of_bag |= {"--power-cap": power_cap, "--deadline": deadline, "--effort": effort}
    require_looks(instance, *(schedules or []), figure=figure, report=report)
    read, files = read_instance(instance), schedules or []
    looks = (report, figure)
    if isinstance(read, Facility):
        refuse(of_bag | {"--heuristic": heuristic}, "goes with a bag, and this is a facility")
        refuse({"--drop-below": drop_below}, "goes with a day, and this is a facility")
        refuse({"--risk": risk}, "goes with a bag or a day, and this is a facility")
        options = Options(_methods(method or []), time_limit, seed, generations, solver, *looks)
        judge_facility(context, read, files, options)
        return
    if isinstance(read, Clusters):
        refuse(of_bag | {"--risk": risk, "--generations": generations}, "does not go with clusters")
        refuse(
            {"--heuristic": heuristic, "--method": method},
            "does not go with clusters; see 'lpsched simulate'",
        )
        refuse({"--drop-below": drop_below}, "does not go with clusters")
        judge_clusters(context, read, files, Options((), time_limit, seed, None, solver, *looks))
        return
    if isinstance(read, Day):
        refuse(of_bag, "goes with a bag, and this is a day")
        refuse({"--method": method}, "goes with a facility, and this is a day")
        names = _day_schedulers(heuristic or [], read)
        options = Options(names, time_limit, seed, generations, solver, *looks, risk_asked(risk))
        judge_day(context, read, files, drop_below, options)
        return
    refuse({"--method": method}, "goes with a facility, and this is a bag")
    refuse({"--drop-below": drop_below}, "goes with a day, and this is a bag")
    names = _schedulers(heuristic or [], read)
    options = Options(names, time_limit, seed, generations, solver, *looks, risk_asked(risk))
    judge_bag(context, read, files, terms, options)


def _methods(given: list[str]) -> tuple[str, ...]:
    """Read names of methods of a facility."""
    from lpsched.compare.allocations import NAMES

    words = words_of(given)
    return NAMES if ALL in words else words


def _schedulers(given: list[str], bag: Bag) -> tuple[str, ...]:
    """Read names of schedulers of a bag; `all` leaves out what cannot run, and says so."""
    from lpsched.compare.scheduler_names import everything

    words = words_of(given)
    if ALL not in words:
        return words
    found = everything(bag)
    for reason in found.left_out:
        tell(f"left out: {reason}")
    return tuple(dict.fromkeys((*found.names, *(word for word in words if word != ALL))))


def _day_schedulers(given: list[str], day: Day) -> tuple[str, ...]:
    """Read names of schedulers of a day, likewise."""
    from lpsched.heuristics.arrivals import names_for_days

    words = words_of(given)
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
    from lpsched.evolve.evolving import require_evolution

    try:
        require_evolution()
    except MissingExtraError as error:
        tell(f"left out: {error}")
        return False
    return True
