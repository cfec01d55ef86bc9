"""`lpsched front`: the energy/makespan front of a bag, utility over energy of a day, and other methods."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import options
from lpsched.cli.console import leave, talk_of, tell, watched
from lpsched.cli.solve import write_page

if TYPE_CHECKING:
    from lpsched.bag.compare.result import FrontComparison
    from lpsched.bag.model import Bag
    from lpsched.bag.result import FrontResult
    from lpsched.evolve.nsga2 import EvolvedFront
    from lpsched.evolve.running import Evolving
    from lpsched.model.risk import RiskOptions
    from lpsched.online.day import Day


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, of a bag or a day."""

    methods: tuple[str, ...]
    generations: int | None
    time_limit: float | None
    seed: int
    seed_with: tuple[str, ...] | None
    state: Path | None
    figure: Path | None

    def evolving(
        self, instance: Bag | Day, seeds: tuple[str, ...], found: list[EvolvedFront] | None = None
    ) -> Evolving:
        """Return how long nsga2 runs, from which population, and what becomes of its last one."""
        from lpsched.evolve.running import Evolving

        state, population, keep = self.state, None, None
        if state is not None:
            from lpsched.io.populations import read_task_population, write_task_population

            population = read_task_population(state, instance) if state.exists() else None
            keep = partial(write_task_population, instance=instance, path=state)
        joined = self.seed_with if self.seed_with is not None else seeds
        hears = None if found is None else found.append
        return Evolving(self.generations, self.time_limit, joined, population, keep, hears)


@dataclass(frozen=True, slots=True)
class BagAsked:
    """What is asked for of a bag only."""

    options: dict[str, Any]  # of the library's functions
    solver: str
    machines: Path | None
    report: Path | None
    falling: bool


def front_of_bag(context: typer.Context, bag: Bag, asked: Asked, of_bag: BagAsked) -> None:
    """Print the exact front of a bag, and what is compared with it."""
    from lpsched.bag.exact_front import front
    from lpsched.lp.solvers import solver_named
    from lpsched.report.answers import comparison_tables, front_tables

    result: FrontResult | FrontComparison
    with watched(talk_of(context), None) as watch:
        given = of_bag.options | {"seed": asked.seed, "watch": watch, "solver": solver_named(of_bag.solver)}
        if not asked.methods:
            result = exact = front(bag, **given)
            told, valid = front_tables(exact), True
        else:
            from lpsched.bag.compare.fronts import compare_fronts
            from lpsched.evolve.running import SEEDS

            result = compare_fronts(bag, asked.methods, evolving=asked.evolving(bag.without_limits(), SEEDS), **given)
            exact, told, valid = result.front, comparison_tables(result), result.valid
    _draw(bag, result, asked.figure, of_bag)
    talk_of(context).tell_timings(exact.timings, f"{exact.provenance.solver}, {exact.solves} programs")
    talk_of(context).answer(result.to_dict(), told)
    leave(watch, valid=valid)


def _draw(bag: Bag, result: FrontResult | FrontComparison, figure: Path | None, of_bag: BagAsked) -> None:
    """Draw the front, and draw or write what each machine does along it."""
    from lpsched.bag.compare.result import machine_points, shown_front
    from lpsched.io.content import write_files
    from lpsched.io.pictures import write_picture
    from lpsched.report.figures.fronts import front_picture, machine_picture

    if figure is not None:
        write_picture(front_picture(result), figure)
    if of_bag.report is not None:
        terms = options.terms_of(None, None, of_bag.options["power_cap"], of_bag.options["deadline"])
        write_page(bag, terms, of_bag.solver, of_bag.report, front=result)
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


@dataclass(frozen=True, slots=True)
class DayAsked:
    """What is asked for of a day only."""

    peak: Path | None
    drop_below: float | None
    risk: RiskOptions | None
    ellipses: Path | None
    report: Path | None


def compare_day(context: typer.Context, day: Day, asked: Asked, of_day: DayAsked) -> None:
    """Print what methods find on a day, beside its envelope."""
    from lpsched.io.content import write_files
    from lpsched.io.pictures import write_picture
    from lpsched.online.compare.day_fronts import SEEDS, compare_day_fronts
    from lpsched.online.result.fronts import evolved_or_first
    from lpsched.report.figures.day_fronts import NamedFront, day_front_picture, peak_picture
    from lpsched.report.html.days import day_front_page
    from lpsched.report.online_answers import day_front_tables

    if not asked.methods:
        raise typer.BadParameter(
            "a day has no exact front; name methods to hold against its envelope, as in --compare nsga2,max-utility",
            param_hint="--compare",
        )
    talk = talk_of(context)
    found: list[EvolvedFront] = []
    evolving = asked.evolving(day, SEEDS, found)
    scorer = None  # what to rank by in place of expected values
    if of_day.risk is not None and of_day.risk.percentile is not None:
        from lpsched.online.evolve import SampledDayScorer

        scorer = SampledDayScorer(day, of_day.risk, seed=asked.seed, drop_below=of_day.drop_below)
    with watched(talk, None) as watch:
        result = compare_day_fronts(
            day,
            asked.methods,
            evolving=evolving,
            drop_below=of_day.drop_below,
            scorer=scorer,
            seed=asked.seed,
            watch=watch,
        )
    fuzzy = None
    if of_day.risk is not None and found:
        from lpsched.online.compare.day_fronts import fuzzy_front

        by_percentile = of_day.risk.percentile is not None
        fuzzy = fuzzy_front(found[0], of_day.risk, seed=asked.seed, name="nsga2", by_percentile=by_percentile)
    if asked.figure is not None and fuzzy is None:
        write_picture(day_front_picture(result), asked.figure)
    if of_day.peak is not None:
        entry = evolved_or_first(result)
        write_picture(peak_picture(NamedFront(entry.name, entry.points)), of_day.peak)
    if of_day.report is not None:
        write_files({of_day.report: day_front_page(result).encode()})
    told, tables = result.to_dict(), day_front_tables(result)
    if fuzzy is not None:
        from lpsched.report.figures.day_fronts import fuzzy_front_picture, fuzzy_front_tables, variance_picture

        if asked.figure is not None:
            write_picture(fuzzy_front_picture([fuzzy]), asked.figure)
        if of_day.ellipses is not None:
            write_picture(variance_picture(fuzzy), of_day.ellipses)
        told, tables = told | {"fuzzy": fuzzy.to_dict()}, [*tables, *fuzzy_front_tables(fuzzy)]
    talk.answer(told, tables)
    leave(watch, valid=result.valid)


# `lpsched front`: the exact energy/makespan front of a bag; what other methods find, held against it.
#
# A day has no exact front, but an envelope that no schedule passes: see below.
OF_BAG = "goes with a bag, and this is a day"
OF_DAY = "goes with a day, and this is a bag"
EVOLVED = "goes with --compare nsga2"


def front(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag or a day: a .yaml or .json file.", readable=False)],
    *,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods to hold against the front, with commas or repeated: nsga2, lp-dense (ours, also "
            "between vertices), names of heuristics, files of schedules, folders of them."
        ),
    ] = None,
    generations: Annotated[int | None, typer.Option(help="nsga2: stop after so many.", min=0)] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="nsga2: seconds, 60 where generations are not limited.", min=0.0)
    ] = None,
    seed: options.Seed = 0,
    seed_with: Annotated[
        list[str] | None,
        typer.Option(
            help="nsga2: heuristics whose schedules join the first population, with commas; lp: ours; none. "
            "By default min-energy,min-min (of a day max-utility,utility-per-energy as well)."
        ),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="nsga2: go on from this .npz file if it is there; save the population to it.")
    ] = None,
    figure: options.Figure = None,
    report: options.Report = None,
    machines: Annotated[
        Path | None,
        typer.Option(
            help="Of a bag: draw what each machine does at five points along nsga2's front (else along our "
            "schedules): a .png, .svg or .pdf file; or write its numbers: .json."
        ),
    ] = None,
    falling: Annotated[
        bool, typer.Option("--falling", help="--machines: all machines in falling order, not by type.")
    ] = False,
    peak: Annotated[
        Path | None, typer.Option(help="Of a day: draw utility per energy and its peak: a .png, .svg or .pdf file.")
    ] = None,
    drop_below: Annotated[
        float | None, typer.Option(help="Of a day: do not run tasks that would earn less.", min=0.0)
    ] = None,
    risk: options.RiskOption = None,
    ellipses: Annotated[
        Path | None, typer.Option(help="--risk: draw how much energy and utility vary: a .png, .svg or .pdf file.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Of a bag: weights to sample as well, for comparison.", min=0)
    ] = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: options.EffortOfBag = None,
    solver: options.SolverName = "highs",
) -> None:
    """Find the exact energy/makespan front with a verified schedule at each vertex; compare other methods."""
    from lpsched.instances import read_with_kind

    methods = tuple(filter(None, options.words_of(compare)))  # an empty word would be the folder it stands in
    seeds = None if seed_with is None else tuple(filter(None, options.words_of(seed_with)))
    asked = Asked(methods, generations, time_limit, seed, seeds, state, figure)
    if "nsga2" not in methods:
        of_nsga2 = {"--generations": generations, "--time-limit": time_limit, "--seed-with": seeds, "--state": state}
        options.refuse(of_nsga2, EVOLVED)
    sampled = options.risk_asked(risk, ranks=True)
    if sampled is None:
        options.refuse({"--ellipses": ellipses}, "goes with --risk")
    elif "nsga2" not in methods:
        options.refuse({"--risk": risk}, EVOLVED)
    for picture, more in ((figure, ()), (machines, (".json",)), (peak, ()), (ellipses, ())):
        if picture is not None:
            options.require_output(picture, (*options.PICTURES, *more), instance)
            options.require_looks(instance, figure=None if picture.suffix.lower() == ".json" else picture)
    options.require_looks(instance, report=report)
    if state is not None:
        options.require_output(state, (".npz",), instance)
    if falling and machines is None:
        raise typer.BadParameter("goes with --machines", param_hint="--falling")
    read, kind = read_with_kind(instance)
    if not kind.front:
        raise typer.BadParameter(f"is {kind.phrase}; needs a bag or a day", param_hint="INSTANCE")
    if kind.name == "day":
        options.refuse({"--machines": machines, "--sample": sample}, OF_BAG)
        options.refuse({"--power-cap": power_cap, "--deadline": deadline, "--effort": effort}, OF_BAG)
        compare_day(context, read, asked, DayAsked(peak, drop_below, sampled, ellipses, report))
        return
    options.refuse({"--peak": peak, "--drop-below": drop_below, "--risk": risk}, OF_DAY)
    given: dict[str, Any] = {"sample": sample or 0, "power_cap": power_cap, "deadline": deadline}
    given |= {} if effort is None else {"effort": effort}  # else the library's own
    front_of_bag(context, read, asked, BagAsked(given, solver, machines, report, falling))
