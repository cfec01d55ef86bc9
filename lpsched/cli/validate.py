"""`lpsched validate`: schedules and schedulers of others against the bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status, print_notice

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.online.day import Day


ALL = "all"
NSGA2 = "nsga2"
OF_BAG = ("objective", "price", "profit_ratio", "power_cap", "deadline", "effort")
REJECTED = {  # by kind: options that do not go with it, and what they go with
    "bag": ((("drop_below",), "a day"),),
    "day": ((OF_BAG, "a bag"),),
    "clusters": (
        (OF_BAG, "a bag"),
        (("risk",), "a bag or a day"),
        (("scheduler", "generations"), "a bag, a day or a facility"),
        (("drop_below",), "a day"),
    ),
    "facility": ((OF_BAG, "a bag"), (("drop_below",), "a day"), (("risk",), "a bag or a day")),
}
TAKEN = {  # by kind: options that its validation takes
    "bag": "heuristics objective price profit_ratio power_cap deadline effort seed generations time_limit risk solver",
    "day": "heuristics seed generations time_limit drop_below risk",
    "clusters": "time_limit",
    "facility": "methods seed generations time_limit solver",
}
DEFAULT = {  # by kind: what runs if neither a file nor a scheduler is named
    "bag": ("lp", "min-min", "max-min", "sufferage", "mct"),
    "day": ("max-utility", "utility-per-energy", "min-energy", "min-min", "mct"),
    "facility": ("lp", "greedy"),
}

MORE = {  # by kind: what `--scheduler` takes besides registered names
    "bag": ("lp", "nsga2", "all", "FILE.py:FUNCTION"),
    "day": ("nsga2", "all", "FILE.py:FUNCTION"),
    "clusters": (),
    "facility": ("all",),
}


def validate(
    context: typer.Context,
    instance: Annotated[
        Path, typer.Argument(help="A bag, a day, clusters or a facility: a .yaml or .json file.", readable=False)
    ],
    schedules: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Schedules of a bag in groups (.json, .yaml) or one row per task (.csv, .parquet); schedules of a day "
            "or clusters, one row per task (.csv, .parquet, .json); allocations of a facility (.json). Clusters need "
            "at least one.",
            readable=False,
        ),
    ] = None,
    *,
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Schedulers to run, all, or FILE.py:FUNCTION. Bags: lp, min-min, max-min, sufferage, met, mct, olb, "
            "k-percent-best, min-energy, random, nsga2. Facilities: lp, lp-cores, lp-blind, greedy, ga, ga-blind, nlp, "
            "nlp-blind; 'blind' ones ignore co-location. Days: see docs/guides/days.md. Without schedules, by default "
            + "; ".join(f"{kind}: {', '.join(names)}" for kind, names in DEFAULT.items())
            + ".",
        ),
    ] = None,
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: options.EffortOfBag = None,
    time_limit: Annotated[
        float | None,
        options.time_limit_option(
            "Time limit of each scheduler in seconds or with a unit, by default 5min (nsga2, ga: 1min, nlp: 10min). "
            "Bags and clusters: also of the bound."
        ),
    ] = None,
    seed: options.Seed = 0,
    generations: Annotated[int | None, options.generations_option("ga, nsga2")] = None,
    drop_below: Annotated[
        float | None, typer.Option(help="Days: drop tasks that would earn less utility than this.", min=0.0)
    ] = None,
    risk: options.RiskOption = None,
    solver: options.SolverName = "highs",
    figure: options.Figure = None,
    report: options.Report = None,
) -> None:
    """Check schedules, run schedulers, and compare all with the bound.

    Examples
    --------
    lpsched validate instances/tiny.yaml
    lpsched validate instances/tiny.yaml --scheduler lp,mct --objective energy
    """
    from lpsched.instances import read_with_kind
    from lpsched.lp.solvers import solver_named

    (read, kind), files = read_with_kind(instance), schedules or []
    given = {
        "objective": objective,
        **options.terms_of(price, profit_ratio, power_cap, deadline),
        "effort": effort,
        "scheduler": scheduler,
        "generations": generations,
        "drop_below": drop_below,
        "risk": risk,
    }
    for names, expected in REJECTED[kind.name]:
        hint = "run policies with 'lpsched simulate'" if names[0] == "scheduler" else "leave it out"
        options.reject({options.flags_of([name]): given[name] for name in names}, f"for {kind.phrase}", expected, hint)
    taken = TAKEN[kind.name].split()
    asked: dict[str, Any] = {name: given.get(name) for name in taken} | {"time_limit": time_limit}
    asked |= {"seed": seed} if "seed" in taken else {}
    if asked.get("effort", "") is None:
        del asked["effort"]  # the library's own
    words = options.scheduler_words(scheduler)
    if not words and not files:
        if kind.name not in DEFAULT:
            policies = "add some, or run policies with 'lpsched simulate'"
            raise options.usage_error("schedules", "none", f"files of schedules of {kind.phrase}", policies)
        words = DEFAULT[kind.name]
    if "methods" in taken:
        from lpsched.facility.compare import NAMES

        asked["methods"] = NAMES if ALL in words else words
    if "heuristics" in taken:
        found = (_schedulers if kind.name == "bag" else _day_schedulers)(words, read)
        asked["heuristics"] = tuple(map(options.scheduler_named, found))
        asked["risk"] = options.parse_risk(risk)
        if generations is not None and NSGA2 not in found:
            options.reject_without({"--generations": generations}, "--scheduler nsga2")
    console = console_of(context)
    with cancellable(console, None) as cancel:
        if "solver" in taken:
            asked["solver"] = solver_named(solver)
        with options.errors_about("--scheduler", *MORE[kind.name]):
            result = kind.load("validate")(read, files, **asked, cancel=cancel)
    _write_files(kind.name, read, result, figure, report)
    ranks = not scheduler or ALL in words  # else in the order in which schedulers are named
    console.answer(result.to_dict(), kind.load("validation_tables")(result.ranked() if ranks else result))
    exit_with_status(cancel, valid=result.valid)


def _write_files(kind: str, instance: Any, result: Any, figure: Path | None, report: Path | None) -> None:  # noqa: ANN401
    """Draw the figure and write the page that are asked for."""
    if figure is None and report is None:
        return
    from lpsched.report.figures.comparisons import validation_figure
    from lpsched.report.html.comparisons import validation_page
    from lpsched.report.html.facility import methods_page

    def page() -> str:
        if kind == "facility":
            return methods_page(instance, result)
        return validation_page(result, instance if kind == "bag" else None)

    options.write_figure_and_page(figure, report, lambda: validation_figure(result), page)


def _schedulers(words: tuple[str, ...], bag: Bag) -> tuple[str, ...]:
    """Return names of schedulers of a bag; `all` leaves out those that cannot run, and prints why."""
    from lpsched.bag.compare.schedules import everything

    if ALL not in words:
        return words
    found = everything(bag)
    for reason in found.left_out:
        print_notice(*f"left out: {reason}".split("\n"))
    return tuple(dict.fromkeys((*found.names, *(word for word in words if word != ALL))))


def _day_schedulers(words: tuple[str, ...], day: Day) -> tuple[str, ...]:
    """Return names of schedulers of a day, likewise."""
    from lpsched.errors import MissingExtraError
    from lpsched.evolve.nsga2 import require_evolution
    from lpsched.online.heuristics import names_for_days

    if ALL not in words:
        return words
    others = tuple(word for word in words if word != ALL)
    if NSGA2 not in words:
        try:
            require_evolution()
            reason = None if day.period.is_whole else "nsga2, which does not support periods"
        except MissingExtraError as error:
            reason = str(error)
        if reason is not None:
            print_notice(*f"left out: {reason}".split("\n"))
            return tuple(dict.fromkeys((*names_for_days(), *others)))
    return tuple(dict.fromkeys((*names_for_days(), NSGA2, *others)))
