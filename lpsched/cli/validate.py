"""`lpsched validate`: other people's schedules, and other methods, against the bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.options import (
    Deadline,
    Generations,
    ObjectiveOption,
    PowerCap,
    Price,
    ProfitRatio,
    Report,
    Seed,
    SolverName,
    require_output,
    require_pictures,
)
from lpsched.cli.patience import StoppedEarly, watched
from lpsched.cli.talk import talk_of

if TYPE_CHECKING:
    from lpsched.instance.facility import Facility

ALL = "all"


@dataclass(frozen=True, slots=True)
class _Options:
    """What is asked for of a facility."""

    methods: tuple[str, ...]
    time_limit: float | None
    seed: int
    generations: int | None
    solver: str
    report: Path | None


def validate(
    context: typer.Context,
    instance: Annotated[
        Path, typer.Argument(help="A bag or a facility: a .yaml or .json file.", readable=False)
    ],
    schedules: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Of a bag: schedules, compact (.json, .yaml) or one row per task (.csv, .parquet). "
            "Of a facility: allocations (.json).",
            readable=False,
        ),
    ] = None,
    *,
    objective: ObjectiveOption = None,
    price: Price = None,
    profit_ratio: ProfitRatio = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
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
            help="Of a facility: seconds of each method, by default 300 (ga: 60, nlp: 600).", min=0.0
        ),
    ] = None,
    seed: Seed = 0,
    generations: Generations = None,
    report: Report = None,
    solver: SolverName = "highs",
) -> None:
    """Check schedules, run other methods, and tell how far from the best possible they are."""
    from lpsched.compare.schedules import validate as validate_schedules
    from lpsched.files.instances import read_instance
    from lpsched.instance.facility import Facility
    from lpsched.pipeline import solver_named
    from lpsched.reports.answers import validation_tables

    of_bag = {"--objective": objective, "--price": price, "--profit-ratio": profit_ratio}
    of_bag |= {"--power-cap": power_cap, "--deadline": deadline}
    of_facility = {"--method": method, "--time-limit": time_limit, "--generations": generations}
    read, files = read_instance(instance), schedules or []
    if isinstance(read, Facility):
        _refuse(of_bag, "goes with a bag, and this is a facility")
        options = _Options(_methods(method or []), time_limit, seed, generations, solver, report)
        _judge(context, read, instance, files, options)
        return
    _refuse(of_facility | {"--report": report}, "goes with a facility, and this is a bag")
    if not files:
        raise typer.BadParameter("needs a schedule at least", param_hint="SCHEDULES")
    result = validate_schedules(
        read,
        files,
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
        solver=solver_named(solver),
    )
    talk_of(context).answer(result.to_dict(), validation_tables(result))
    if not result.valid:
        raise typer.Exit(1)


def _judge(
    context: typer.Context, facility: Facility, file: Path, files: list[Path], options: _Options
) -> None:
    """Hold methods and allocation files against the bound of a facility."""
    from lpsched.compare.allocations import validate_facility
    from lpsched.files.writing import write_files
    from lpsched.pipeline import solver_named
    from lpsched.reports.facility import methods_tables
    from lpsched.reports.facility_page import methods_page

    if not files and not options.methods:
        raise typer.BadParameter("needs an allocation, or a --method to run", param_hint="SCHEDULES")
    if options.report is not None:
        require_output(options.report, (".html",), file)
        require_pictures()
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = validate_facility(
            facility,
            files,
            methods=options.methods,
            seed=options.seed,
            generations=options.generations,
            time_limit=options.time_limit,
            watch=watch,
            solver=solver_named(options.solver),
        )
    if options.report is not None:
        write_files({options.report: methods_page(facility, result).encode()})
    talk.answer(result.to_dict(), methods_tables(result))
    if watch.is_stopped:
        raise StoppedEarly
    if not result.valid:
        raise typer.Exit(1)


def _methods(given: list[str]) -> tuple[str, ...]:
    """Read names that come with commas, with repetition, or both."""
    from lpsched.compare.allocations import NAMES

    words = [word.strip() for part in given for word in part.split(",")]
    return NAMES if ALL in words else tuple(dict.fromkeys(words))


def _refuse(options: Mapping[str, object], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=name)
