"""`lpsched front`: the energy/makespan front of a bag, utility over energy of a day, and other methods."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import curves, options
from lpsched.cli import horizon as over_time
from lpsched.cli.console import cancellable, console_of, exit_with_status, print_notice
from lpsched.cli.options import FIGURES, STATE, output_option
from lpsched.cli.solve import write_page

if TYPE_CHECKING:
    from lpsched.bag.compare.result import FrontComparison
    from lpsched.bag.model import Bag
    from lpsched.bag.result import FrontResult
    from lpsched.evolve.nsga2 import EvolvedFront, Evolving
    from lpsched.model.risk import RiskOptions
    from lpsched.online.day import Day


@dataclass(frozen=True, slots=True)
class FrontOptions:
    """Options for bags and days."""

    schedulers: tuple[str, ...]
    generations: int | None
    time_limit: float | None
    seed: int
    seed_with: tuple[str, ...] | None
    state: Path | None
    figure: Path | None

    def evolving(
        self, instance: Bag | Day, seeds: tuple[str, ...], found: list[EvolvedFront] | None = None
    ) -> Evolving:
        """Return how nsga2 runs: limits, first population, and the function that saves the last one."""
        from lpsched.evolve.nsga2 import Evolving

        state, population, keep = self.state, None, None
        if state is not None:
            from lpsched.io.populations import read_task_population, write_task_population

            population = read_task_population(state, instance) if state.exists() else None
            keep = partial(write_task_population, instance=instance, path=state)
        joined = self.seed_with if self.seed_with is not None else seeds
        collect = None if found is None else found.append
        return Evolving(self.generations, self.time_limit, joined, population, keep, collect)


@dataclass(frozen=True, slots=True)
class BagOptions:
    """Options for bags only."""

    options: dict[str, Any]  # of the library's functions
    solver: str
    machines: Path | None
    report: Path | None
    falling: bool


def front_of_bag(context: typer.Context, bag: Bag, asked: FrontOptions, of_bag: BagOptions) -> None:
    """Print the exact front of a bag, and schedulers compared with it."""
    from lpsched.bag.exact_front import front
    from lpsched.lp.solvers import solver_named
    from lpsched.report.solution import comparison_tables, front_tables
    from lpsched.units import counted

    result: FrontResult | FrontComparison
    with cancellable(console_of(context), None) as cancel, options.errors_about("--scheduler", "lp-dense", *MORE):
        given = of_bag.options | {"seed": asked.seed, "cancel": cancel, "solver": solver_named(of_bag.solver)}
        if not asked.schedulers:
            result = exact = front(bag, **given)
            tables, valid = front_tables(exact), True
        else:
            from lpsched.bag.compare.fronts import compare_fronts
            from lpsched.evolve.nsga2 import SEEDS

            result = compare_fronts(
                bag, asked.schedulers, evolving=asked.evolving(bag.without_limits(), SEEDS), **given
            )
            exact, tables, valid = result.front, comparison_tables(result), result.valid
    _draw(bag, result, asked.figure, of_bag)
    console_of(context).log_timings(exact.timings, f"{exact.provenance.solver}, {counted(exact.solves, 'program')}")
    console_of(context).answer(result.to_dict(), tables)
    exit_with_status(cancel, valid=valid)


def _draw(bag: Bag, result: FrontResult | FrontComparison, figure: Path | None, of_bag: BagOptions) -> None:
    """Draw the front, and draw or write the use of each machine along it."""
    from lpsched.bag.compare.result import machine_points, shown_front
    from lpsched.io.content import write_files
    from lpsched.io.figure_files import write_figure
    from lpsched.report.figures.fronts import front_figure, machine_figure

    if figure is not None:
        write_figure(front_figure(result), figure)
    if of_bag.report is not None:
        terms = options.terms_of(None, None, of_bag.options["power_cap"], of_bag.options["deadline"])
        write_page(bag, terms, of_bag.solver, of_bag.report, front=result)
    if of_bag.machines is None:
        return
    points = machine_points(bag, *shown_front(result))
    if of_bag.machines.suffix.lower() == ".json":
        content = {"format": "lpsched-machines/1", "points": [point.to_dict() for point in points]}
        write_files({of_bag.machines: (json.dumps(content, indent=2) + "\n").encode()})
    elif points:
        write_figure(machine_figure(result, points, falling=of_bag.falling), of_bag.machines)
    else:
        print_notice(f"{of_bag.machines} is not drawn: there is no schedule")


@dataclass(frozen=True, slots=True)
class DayOptions:
    """Options for days only."""

    peak: Path | None
    drop_below: float | None
    risk: RiskOptions | None
    ellipses: Path | None
    report: Path | None


def compare_day(context: typer.Context, day: Day, asked: FrontOptions, of_day: DayOptions) -> None:
    """Print the fronts of schedulers on a day, compared with its envelope."""
    from lpsched.io.content import write_files
    from lpsched.io.figure_files import write_figure
    from lpsched.online.compare.day_fronts import SEEDS, compare_day_fronts
    from lpsched.online.result.comparisons import evolved_or_first
    from lpsched.report.figures.day_fronts import NamedFront, day_front_figure, peak_figure
    from lpsched.report.html.comparisons import day_front_page
    from lpsched.report.online_answers import day_front_tables

    if not asked.schedulers:
        names = "schedulers to compare with the envelope of a day, which has no exact front"
        raise options.usage_error("--scheduler", "none", names, "add some, e.g. nsga2,max-utility")
    console = console_of(context)
    found: list[EvolvedFront] = []
    evolving = asked.evolving(day, SEEDS, found)
    scorer = None  # what to rank by in place of expected values
    if of_day.risk is not None and of_day.risk.percentile is not None:
        from lpsched.online.evolve import SampledDayScorer

        scorer = SampledDayScorer(day, of_day.risk, seed=asked.seed, drop_below=of_day.drop_below)
    with cancellable(console, None) as cancel, options.errors_about("--scheduler", *MORE):
        result = compare_day_fronts(
            day,
            asked.schedulers,
            evolving=evolving,
            drop_below=of_day.drop_below,
            scorer=scorer,
            seed=asked.seed,
            cancel=cancel,
        )
    fuzzy = None
    if of_day.risk is not None and found:
        from lpsched.online.compare.day_fronts import fuzzy_front

        by_percentile = of_day.risk.percentile is not None
        fuzzy = fuzzy_front(found[0], of_day.risk, seed=asked.seed, name="nsga2", by_percentile=by_percentile)
    if asked.figure is not None and fuzzy is None:
        write_figure(day_front_figure(result), asked.figure)
    if of_day.peak is not None:
        entry = evolved_or_first(result)
        write_figure(peak_figure(NamedFront(entry.name, entry.points)), of_day.peak)
    if of_day.report is not None:
        write_files({of_day.report: day_front_page(result).encode()})
    content, tables = result.to_dict(), day_front_tables(result)
    if fuzzy is not None:
        from lpsched.report.figures.day_fronts import fuzzy_front_figure, fuzzy_front_tables, variance_figure

        if asked.figure is not None:
            write_figure(fuzzy_front_figure([fuzzy]), asked.figure)
        if of_day.ellipses is not None:
            write_figure(variance_figure(fuzzy), of_day.ellipses)
        content, tables = content | {"fuzzy": fuzzy.to_dict()}, [*tables, *fuzzy_front_tables(fuzzy)]
    console.answer(content, tables)
    exit_with_status(cancel, valid=result.valid)


# `lpsched front`: the exact energy/makespan front of a bag, and other schedulers compared with it.
#
# A day has no exact front, but an envelope that no schedule can exceed.
OF_BAG = "for a day", "a bag"
OF_DAY = "for a bag", "a day"
EVOLVED = "--scheduler nsga2"
OWN_SEEDS = ("lp", "none")
MORE = ("nsga2", "FILE.py:FUNCTION", "files or folders of schedules")  # what `--scheduler` takes besides heuristics


def front(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag or a day: a .yaml or .json file.", readable=False)],
    *,
    axes: curves.AxesOption = "energy,makespan",
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Schedulers to compare with the front: nsga2, lp-dense (ours, also between vertices), heuristics, "
            "FILE.py:FUNCTION, files of schedules, folders of such files.",
        ),
    ] = None,
    generations: Annotated[int | None, options.generations_option("nsga2")] = None,
    time_limit: Annotated[
        float | None,
        options.time_limit_option(
            "nsga2: time limit in seconds or with a unit; by default 1min without --generations."
        ),
    ] = None,
    seed: options.Seed = 0,
    seed_with: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="nsga2: heuristics whose schedules are in the first population; lp: ours; none. "
            "By default min-energy,min-min; days: also max-utility,utility-per-energy.",
        ),
    ] = None,
    state: Annotated[
        Path | None,
        output_option(
            "--state", endings=(STATE,), help="nsga2: save the population; resume from it if the file exists."
        ),
    ] = None,
    falling: Annotated[
        bool, typer.Option("--falling", help="--machines: sort all machines in descending order, not by type.")
    ] = False,
    drop_below: Annotated[
        float | None, typer.Option(help="Days: drop tasks that would earn less utility than this.", min=0.0)
    ] = None,
    risk: options.RiskOption = None,
    sample: Annotated[
        int | None, typer.Option(help="Bags: number of weights to sample as well, for comparison.", min=0)
    ] = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: options.EffortOfBag = None,
    horizon: over_time.HorizonOption = None,
    start: over_time.StartOption = None,
    tariff: over_time.TariffOption = None,
    carbon: over_time.CarbonOption = None,
    caps: over_time.CapsOption = None,
    grid_fee: over_time.GridFeeOption = None,
    carbon_price: over_time.CarbonPriceOption = None,
    switch_off: over_time.SwitchOffOption = None,
    fill: over_time.FillOption = False,
    solver: options.SolverName = "highs",
    output: curves.PointsOption = None,
    figure: options.Figure = None,
    report: options.Report = None,
    machines: Annotated[
        Path | None,
        output_option(
            "--machines",
            endings=(*FIGURES, ".json"),
            help="Bags: draw the use of each machine at five points along nsga2's front, else along ours.",
        ),
    ] = None,
    peak: Annotated[
        Path | None, output_option("--peak", endings=FIGURES, help="Days: draw utility per energy and its peak.")
    ] = None,
    ellipses: Annotated[
        Path | None, output_option("--ellipses", endings=FIGURES, help="--risk: draw the spread of energy and utility.")
    ] = None,
) -> None:
    """Find the exact energy/makespan front; compare other schedulers.

    Each vertex of the front has a verified schedule. Days have an envelope instead, which no schedule can exceed.
    With --axes cost,carbon or cost,deadline: plans of a bag over a horizon with prices over time.

    Examples
    --------
    lpsched front instances/tiny.yaml
    lpsched front instances/tiny.yaml --scheduler min-min,min-energy
    """
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import kinds_with

    names = options.scheduler_words(scheduler)
    seeds = None if seed_with is None else options.words_of(seed_with)
    over = over_time.TimeOptions(horizon, start, tariff, carbon, caps, grid_fee, carbon_price, switch_off, fill)
    if axes != "energy,makespan":
        plain: dict[str, object] = {
            "--scheduler": scheduler,
            "--generations": generations,
            "--seed-with": seeds,
            "--state": state,
        }
        plain |= {"--falling": falling or None, "--drop-below": drop_below, "--risk": risk, "--sample": sample}
        plain |= {"--power-cap": power_cap, "--machines": machines, "--peak": peak}
        plain |= {"--ellipses": ellipses, "--deadline": deadline if horizon is not None else None}
        plain |= {"--carbon-price": carbon_price} if axes == "cost,carbon" else {}
        options.reject(plain, f"with --axes {axes}", "other options")
        read, _ = read_with_kind(instance, ("bag",))
        asked_curve = curves.CurveOptions(
            instance, over.until(deadline), effort, time_limit, seed, solver, output, figure, report
        )
        curves.front_over_time(context, read, axes, asked_curve)
        return
    options.reject_without(over.flags() | {"--output": output}, "--axes cost,carbon or cost,deadline")
    if "nsga2" not in names:
        of_nsga2 = {"--generations": generations, "--time-limit": time_limit, "--seed-with": seeds, "--state": state}
        options.reject_without(of_nsga2, EVOLVED)
    sampled = options.parse_risk(risk, ranks=True)
    if sampled is None:
        options.reject_without({"--ellipses": ellipses}, "--risk")
    elif "nsga2" not in names:
        options.reject_without({"--risk": risk}, EVOLVED)
    if machines is None:
        options.reject_without({"--falling": falling or None}, "--machines")
    read, kind = read_with_kind(instance, kinds_with("front"))
    named = tuple(_known(word, of_day=kind.name == "day") for word in names)
    with options.errors_about("--seed-with", *OWN_SEEDS):
        for word in seeds or ():
            if word not in OWN_SEEDS:
                _registry(of_day=kind.name == "day").get(word)
    asked = FrontOptions(named, generations, time_limit, seed, seeds, state, figure)
    if kind.name == "day":
        options.reject({"--machines": machines, "--sample": sample}, *OF_BAG)
        options.reject({"--power-cap": power_cap, "--deadline": deadline, "--effort": effort}, *OF_BAG)
        compare_day(context, read, asked, DayOptions(peak, drop_below, sampled, ellipses, report))
        return
    options.reject({"--peak": peak, "--drop-below": drop_below, "--risk": risk}, *OF_DAY)
    given: dict[str, Any] = {"sample": sample or 0, "power_cap": power_cap, "deadline": deadline}
    given |= {} if effort is None else {"effort": effort}  # else the library's own
    front_of_bag(context, read, asked, BagOptions(given, solver, machines, report, falling))


def _known(word: str, *, of_day: bool) -> str:
    """Return the name of a scheduler; a function of a user's file is registered under its own."""
    found = options.scheduler_named(word)
    if isinstance(found, str):
        return found
    registry = _registry(of_day=of_day)
    name: str = getattr(found, "__name__", "function").lower().strip("_").replace("_", "-")
    registry.forget(name)
    registry.register(name, found)
    return name


def _registry(*, of_day: bool) -> Any:  # noqa: ANN401 - of heuristics of bags or of days
    import pkgutil

    return pkgutil.resolve_name("lpsched.online.heuristics:OF_DAYS" if of_day else "lpsched.bag.heuristics:OF_BAGS")
