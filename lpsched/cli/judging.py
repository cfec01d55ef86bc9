"""What `lpsched validate` does with an instance of any kind: call the judge, print, tell how it went."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lpsched.cli.patience import leave, watched
from lpsched.cli.talk import talk_of

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.facility import Facility
    from lpsched.reports.validation_page import Judged
    from lpsched.risk.options import RiskOptions

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
    from lpsched.files.pictures import write_picture
    from lpsched.files.writing import write_files
    from lpsched.reports.validation_page import validation_page
    from lpsched.reports.validation_picture import validation_picture

    if options.figure is not None:
        write_picture(validation_picture(result), options.figure)
    if options.report is not None:
        write_files({options.report: validation_page(result, bag).encode()})


def judge_bag(context: typer.Context, bag: Bag, files: list[Path], terms: Terms, options: Options) -> None:
    """Hold schedulers and schedule files against the bound of a bag."""
    from lpsched.compare.schedules import validate as validate_schedules
    from lpsched.pipeline import solver_named
    from lpsched.reports.answers import validation_tables

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


def judge_day(
    context: typer.Context, day: Day, files: list[Path], drop_below: float | None, options: Options
) -> None:
    """Hold schedulers and schedule files against the bound of a day."""
    from lpsched.compare.days import validate_day
    from lpsched.reports.day_answers import day_validation_tables

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
    from lpsched.compare.clusters import validate_clusters
    from lpsched.reports.cluster_answers import clusters_validation_tables

    if not files:
        raise typer.BadParameter(
            "needs a schedule; policies are run by 'lpsched simulate'", param_hint="SCHEDULES"
        )
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
    from lpsched.compare.allocations import validate_facility
    from lpsched.files.pictures import write_picture
    from lpsched.files.writing import write_files
    from lpsched.pipeline import solver_named
    from lpsched.reports.facility import methods_tables
    from lpsched.reports.facility_page import methods_page
    from lpsched.reports.validation_picture import validation_picture

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
