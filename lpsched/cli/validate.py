"""`lpsched validate`: schedules and schedulers of others against the bound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.console import leave, talk_of, tell, watched
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
    RiskOption,
    Seed,
    SolverName,
    refuse,
    risk_asked,
    words_of,
)
from lpsched.cli.solve import require_looks

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.facility.model import Facility
    from lpsched.model.risk import RiskOptions
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.report.html.validation import Judged


# What `lpsched validate` does with an instance of any kind: call the judge, print, tell how it went.
NSGA2 = "nsga2"


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked for of a bag."""

    objective: str | None
    price: float | None
    profit_ratio: float | None
    power_cap: float | None
    deadline: float | None
    effort: str | None = None  # the library's own


@dataclass(frozen=True, slots=True)
class Options:
    """Which schedulers or methods to run, and how."""

    names: tuple[str, ...]
    time_limit: float | None
    seed: int
    generations: int | None
    solver: str
    report: Path | None
    figure: Path | None = None
    risk: RiskOptions | None = None


def _show(result: Judged, options: Options, bag: Bag | None = None) -> None:
    """Draw and write what is asked for to look at."""
    from lpsched.io.content import write_files
    from lpsched.io.pictures import write_picture
    from lpsched.report.figures.validation import validation_picture
    from lpsched.report.html.validation import validation_page

    if options.figure is not None:
        write_picture(validation_picture(result), options.figure)
    if options.report is not None:
        write_files({options.report: validation_page(result, bag).encode()})


def judge_bag(context: typer.Context, bag: Bag, files: list[Path], terms: Terms, options: Options) -> None:
    """Hold schedulers and schedule files against the bound of a bag."""
    from lpsched.bag.compare.schedules import validate as validate_schedules
    from lpsched.lp.solvers import solver_named
    from lpsched.report.answers import validation_tables

    _require_work(files, options)
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = validate_schedules(
            bag,
            files,
            heuristics=options.names,
            objective=terms.objective,
            price=terms.price,
            profit_ratio=terms.profit_ratio,
            power_cap=terms.power_cap,
            deadline=terms.deadline,
            **({} if terms.effort is None else {"effort": terms.effort}),
            seed=options.seed,
            generations=options.generations,
            time_limit=options.time_limit,
            risk=options.risk,
            watch=watch,
            solver=solver_named(options.solver),
        )
    _show(result, options, bag)
    talk.answer(result.to_dict(), validation_tables(result))
    leave(watch, valid=result.valid)


def judge_day(context: typer.Context, day: Day, files: list[Path], drop_below: float | None, options: Options) -> None:
    """Hold schedulers and schedule files against the bound of a day."""
    from lpsched.online.compare.days import validate_day
    from lpsched.report.online_answers import day_validation_tables

    _require_work(files, options)
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = validate_day(
            day,
            files,
            heuristics=options.names,
            seed=options.seed,
            generations=options.generations,
            time_limit=options.time_limit,
            drop_below=drop_below,
            risk=options.risk,
            watch=watch,
        )
    _show(result, options)
    talk.answer(result.to_dict(), day_validation_tables(result))
    leave(watch, valid=result.valid)


def judge_clusters(context: typer.Context, clusters: Clusters, files: list[Path], options: Options) -> None:
    """Hold schedule files against the bound of clusters."""
    from lpsched.online.compare.clusters import validate_clusters
    from lpsched.report.online_answers import clusters_validation_tables

    if not files:
        raise typer.BadParameter("needs a schedule; policies are run by 'lpsched simulate'", param_hint="SCHEDULES")
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = validate_clusters(clusters, files, time_limit=options.time_limit, watch=watch)
    _show(result, options)
    talk.answer(result.to_dict(), clusters_validation_tables(result))
    leave(watch, valid=result.valid)


def _require_work(files: list[Path], options: Options) -> None:
    """Refuse a bag or a day of which nothing is asked, or something that nobody would do."""
    if not files and not options.names:
        raise typer.BadParameter("needs a schedule, or a --heuristic to run", param_hint="SCHEDULES")
    if options.generations is not None and NSGA2 not in options.names:
        raise typer.BadParameter("goes with --heuristic nsga2", param_hint="--generations")


def judge_facility(context: typer.Context, facility: Facility, files: list[Path], options: Options) -> None:
    """Hold methods and allocation files against the bound of a facility."""
    from lpsched.facility.compare import validate_facility
    from lpsched.io.content import write_files
    from lpsched.io.pictures import write_picture
    from lpsched.lp.solvers import solver_named
    from lpsched.report.facility import methods_tables
    from lpsched.report.figures.validation import validation_picture
    from lpsched.report.html.facility import methods_page

    if not files and not options.names:
        raise typer.BadParameter("needs an allocation, or a --method to run", param_hint="SCHEDULES")
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = validate_facility(
            facility,
            files,
            methods=options.names,
            seed=options.seed,
            generations=options.generations,
            time_limit=options.time_limit,
            watch=watch,
            solver=solver_named(options.solver),
        )
    if options.figure is not None:
        write_picture(validation_picture(result), options.figure)
    if options.report is not None:
        write_files({options.report: methods_page(facility, result).encode()})
    talk.answer(result.to_dict(), methods_tables(result))
    leave(watch, valid=result.valid)


# `lpsched validate`: other people's schedules, and other methods, against the bound.
ALL = "all"


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
        float | None, typer.Option(help="Of a day: do not run tasks that would earn less utility than this.", min=0.0)
    ] = None,
    risk: RiskOption = None,
    figure: Figure = None,
    report: Report = None,
    solver: SolverName = "highs",
) -> None:
    """Check schedules, run other schedulers, and tell how far from the best possible they are."""
    from lpsched.facility.model import Facility
    from lpsched.instances import read_instance
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day

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
        refuse({"--heuristic": heuristic, "--method": method}, "does not go with clusters; see 'lpsched simulate'")
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
    from lpsched.facility.compare import NAMES

    words = words_of(given)
    return NAMES if ALL in words else words


def _schedulers(given: list[str], bag: Bag) -> tuple[str, ...]:
    """Read names of schedulers of a bag; `all` leaves out what cannot run, and says so."""
    from lpsched.bag.compare.schedulers import everything

    words = words_of(given)
    if ALL not in words:
        return words
    found = everything(bag)
    for reason in found.left_out:
        tell(f"left out: {reason}")
    return tuple(dict.fromkeys((*found.names, *(word for word in words if word != ALL))))


def _day_schedulers(given: list[str], day: Day) -> tuple[str, ...]:
    """Read names of schedulers of a day, likewise."""
    from lpsched.online.heuristics import names_for_days

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
    from lpsched.evolve.running import require_evolution

    try:
        require_evolution()
    except MissingExtraError as error:
        tell(f"left out: {error}")
        return False
    return True
