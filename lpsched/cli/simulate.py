"""`lpsched simulate`: policies on days and clusters as their tasks arrive; bags by forecasts, see `replan.py`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli import horizon as over_time
from lpsched.cli import options, replan
from lpsched.cli.console import cancellable, console_of, exit_with_status, print_notice
from lpsched.cli.options import FIGURES, Cost, Weight, output_option, reject
from lpsched.errors import quote

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions


OF_DAY = "for clusters", "a day"
OF_CLUSTERS = "for a day", "clusters"
Machines = Literal["queued", "polled"]  # `lpsched.online.simulate.options`, without loading it


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run days and clusters; `None` where an option is not given."""

    machines: Machines | None
    every_seconds: float | None
    every_arrivals: int | None
    drop_below: float
    energy_filter: str
    permute: int | None
    placeholders: bool
    offline: bool


def _of_day(asked: RunOptions) -> SimulationOptions:
    """Return the options of a day; without any other trigger, tasks are mapped every minute."""
    from lpsched.online.simulate.options import SimulationOptions

    reject({"--placeholders": asked.placeholders or None}, *OF_CLUSTERS)
    every_seconds = asked.every_seconds
    if every_seconds is None and asked.every_arrivals is None:
        every_seconds = SimulationOptions().every_seconds
    return SimulationOptions(
        machines=asked.machines or "queued",
        every_seconds=every_seconds,
        every_arrivals=asked.every_arrivals,
        drop_below=asked.drop_below,
        energy_filter=_leniency(asked.energy_filter),
        permute=asked.permute or 0,
    )


def _of_clusters(clusters: Clusters, asked: RunOptions) -> ClusterOptions:
    """Return the options of clusters."""
    from lpsched.online.compare.backend import usual_options
    from lpsched.online.simulate.options import ClusterOptions

    reject({"--machines": asked.machines, "--permute": asked.permute}, *OF_DAY)
    if clusters.waiting is None:
        reject({"--offline": asked.offline or None}, "for clusters with utilities", "a day, or a cost of waiting")
    reject({"--every-arrivals": asked.every_arrivals}, *OF_DAY, "use --every 0")
    energy_filter, leniency = _cluster_filter(asked.energy_filter)
    usual, seconds = usual_options(clusters).every_seconds, asked.every_seconds
    return ClusterOptions(
        every_seconds=usual if seconds is None else seconds or None,
        drop_below=asked.drop_below,
        energy_filter=energy_filter,
        leniency=leniency,
        placeholders=asked.placeholders,
    )


def _leniency(energy_filter: str) -> float | Literal["adaptive"] | None:
    from lpsched.online.simulate.options import ADAPTIVE

    if energy_filter == "none":
        return None
    if energy_filter == ADAPTIVE:
        return ADAPTIVE
    return _number(energy_filter, energy_filter, "none, adaptive or a number for a day")


def _cluster_filter(energy_filter: str) -> tuple[Literal["per-task", "per-resource"] | None, float | None]:
    from lpsched.online.simulate.options import PER_RESOURCE, PER_TASK

    kind, colon, leniency = energy_filter.partition(":")
    expected = f"none, {PER_TASK} or {PER_RESOURCE} for clusters, the last two also with a number after a colon"
    if energy_filter == "none":
        return None, None
    if kind not in (PER_TASK, PER_RESOURCE):
        raise _filter_error(energy_filter, expected)
    chosen: Literal["per-task", "per-resource"] = PER_TASK if kind == PER_TASK else PER_RESOURCE
    return chosen, _number(leniency, energy_filter, expected) if colon else None


def _number(text: str, energy_filter: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _filter_error(energy_filter, expected) from None


def _filter_error(energy_filter: str, expected: str) -> typer.BadParameter:
    return options.usage_error("--energy-filter", quote(energy_filter), expected, "correct it")


# Files of `lpsched simulate`: the day or clusters that are read, and the outputs.
SCHEDULES = (".csv", ".parquet", ".json")
TRACES = (".swf", ".swf.gz", "_jobs.csv")  # whose rows are of all tasks


def changed(instance: Any, energy: float | None, cost: Cost | None, weight: Weight | None) -> Any:  # noqa: ANN401
    """Change the energy constraint (in gigajoules) or the cost of waiting of a day or clusters."""
    from lpsched.model.fields import Amount
    from lpsched.model.kinds import kind_of
    from lpsched.model.problems import checked
    from lpsched.units import GIGA

    costs = {"--cost": cost, "--weight": weight}
    constraint = {"--energy": energy}
    waits = "clusters whose cost of waiting is minimised"
    if kind_of(instance).name == "day":
        reject(costs, "for a day", waits)
    elif instance.waiting is None:
        reject(costs, "for clusters with utilities", waits)
        if instance.watts is None:
            reject(constraint, "for clusters without watts", "clusters with watts", "add them, or leave it out")
    else:
        reject(constraint, f"for {waits}", "tasks with utilities")
        given: dict[str, Any] = {} if cost is None else {"measure": cost, "points": ()}
        given |= {} if weight is None else {"weight": weight}
        waiting = instance.waiting.model_copy(update=given)
        return instance if waiting == instance.waiting else instance.model_copy(update={"waiting": waiting})
    if energy is None:
        return instance
    joules = {"energy_constraint_joules": checked("energy", GIGA * energy, Amount("joules"))}
    return instance.model_copy(update={"period": type(instance.period)(**dict(instance.period) | joules)})


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write: a schedule, figures, a page."""

    schedule: Path | None
    figure: Path | None
    timeline: Path | None
    report: Path | None

    def write(self, instance: Day | Clusters, result: Simulation) -> None:
        """Write them, if there is an answer."""
        if not any((self.schedule, self.figure, self.timeline, self.report)):
            return
        from lpsched.io.content import write_files
        from lpsched.io.figure_files import write_figure
        from lpsched.report.figures.simulation import simulation_figure
        from lpsched.report.figures.timeline import times_figure
        from lpsched.report.html.comparisons import simulation_page

        if self.report is not None:
            write_files({self.report: simulation_page(instance, result).encode()})
        best = result.best
        if best is None or best.schedule is None:
            for path in (self.schedule, self.figure, self.timeline):
                if path is not None:
                    print_notice(f"{path} is not written: no scheduler has an answer for the day")
            return
        if self.schedule is not None:
            _write_schedule(instance, best.schedule, self.schedule)
        if self.figure is not None:
            write_figure(simulation_figure(result), self.figure)
        if self.timeline is not None:
            write_figure(times_figure(instance, best), self.timeline)


def _write_schedule(instance: Day | Clusters, schedule: DaySchedule | ClustersSchedule, path: Path) -> None:
    """Write a schedule, or all tasks of a simulated trace."""
    from lpsched.model.provenance import version_of_lpsched
    from lpsched.online.files import write_arriving_schedule
    from lpsched.traces.export import export_schedule

    if path.name.lower().endswith(TRACES):
        export_schedule(instance, schedule, path)
    else:
        write_arriving_schedule(schedule, instance, path, version_of_lpsched())


DEFAULT = {  # by kind of instance: policies that run if none is named
    "day": ("min-min", "max-max-util", "max-max-upt", "max-max-upe", "fcfs"),
    "clusters": ("fcfs", "easy", "conservative", "sjf"),
    "clusters with utilities": ("max-util", "max-upt", "max-upr", "easy"),
}


def simulate(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A day, clusters or a bag: a .yaml or .json file.", readable=False)],
    *,
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Scheduling policies to run, e.g. max-max-upt,weighted-util:0.4; all; or FILE.py:FUNCTION. By default "
            + "; ".join(f"{kind}: {', '.join(names)}" for kind, names in DEFAULT.items())
            + ".",
        ),
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Prove what any schedule earns at most, or what waiting costs at least.")
    ] = False,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline",
            help="With --bound: also schedule with all tasks known beforehand; not for clusters with utility.",
        ),
    ] = False,
    trials: Annotated[
        int, typer.Option(help="Days: number of days; the given one, and others drawn by its generator.", min=1)
    ] = 1,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    placeholders: Annotated[
        bool,
        typer.Option(
            "--placeholders",
            help="Clusters: max-util, max-upt, max-upr and max-upe keep reservations only until the next scheduling "
            "event.",
        ),
    ] = False,
    machines: Annotated[
        Machines | None,
        typer.Option(
            help="Days: every machine has a queue, or idle ones are polled for one task each.", show_default="queued"
        ),
    ] = None,
    every: Annotated[
        float | None,
        options.time_option(
            "--every",
            help="Time between scheduling events in seconds or with a unit, by default 60. Clusters: 0 is at every "
            "arrival and end of a task, the default where the cost of waiting is minimised.",
        ),
    ] = None,
    every_arrivals: Annotated[
        int | None,
        typer.Option(help="Days: scheduling event after this number of arrivals; with --every, whichever is first."),
    ] = None,
    drop_below: Annotated[float, typer.Option(help="Drop tasks that can no longer earn this utility.", min=0.0)] = 0.0,
    energy_filter: Annotated[
        str,
        typer.Option(
            help="Energy that a task may take. Days: none, a fixed leniency such as 1.5, or adaptive. Clusters: none, "
            "per-task or per-resource, with a leniency as in per-resource:4."
        ),
    ] = "none",
    permute: Annotated[
        int | None, typer.Option(help="Days: try all orders of this number of tasks at the head of each queue.", min=0)
    ] = None,
    energy: Annotated[
        float | None,
        options.quantity_option(
            "--energy",
            kind="energy",
            help="Energy constraint of the period in gigajoules or with a unit, e.g. 400kWh; replaces the file's.",
            unit=10**9,
            least=0.0,
        ),
    ] = None,
    cost: Annotated[
        Cost | None, typer.Option("--cost", help="Clusters without utilities: cost of waiting; replaces the file's.")
    ] = None,
    weight: Annotated[
        Weight | None,
        typer.Option("--weight", help="Clusters without utilities: weight of a task's waiting; replaces the file's."),
    ] = None,
    time_limit: Annotated[
        float | None,
        options.time_limit_option(
            "Time limit in seconds or with a unit: of each --bound, at any time; of a bag, of all; then as it is."
        ),
    ] = None,
    forecast: replan.ForecastOption = None,
    objective: replan.ObjectiveOption = "cost",
    horizon: over_time.HorizonOption = None,
    start: over_time.StartOption = None,
    tariff: over_time.TariffOption = None,
    carbon: over_time.CarbonOption = None,
    caps: over_time.CapsOption = None,
    grid_fee: over_time.GridFeeOption = None,
    carbon_price: over_time.CarbonPriceOption = None,
    switch_off: over_time.SwitchOffOption = None,
    fill: over_time.FillOption = False,
    effort: replan.EffortOption = "fast",
    solver: options.SolverName = "highs",
    output: Annotated[
        Path | None,
        output_option(
            "-o",
            "--output",
            endings=(*SCHEDULES, *TRACES),
            help="Write the schedule of the best scheduler (first trial), one row per task that runs; .swf and "
            "_jobs.csv (as Batsim writes it) have all tasks. Bags: the plan.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        output_option("--certificate", endings=(".json",), help="Bags: the proof of the bound, for verify."),
    ] = None,
    figure: options.Figure = None,
    timeline: Annotated[
        Path | None,
        output_option("--timeline", endings=FIGURES, help="Draw each machine or node under the best scheduler."),
    ] = None,
    report: options.Report = None,
) -> None:
    r"""Run policies on arriving tasks, or plan a bag by a forecast.

    Each policy is compared with a reference in which no task waits, and with --bound with a proved bound. A bag is
    planned again at the start of every slot of its prices, with a --forecast of later ones, and judged by a bound that
    is proved with the actual prices.

    Examples
    --------
    lpsched simulate instances/energy-2k.yaml
    lpsched simulate instances/clusters-small.yaml --scheduler easy -o plan.csv
    lpsched simulate instances/tiny.yaml --horizon 3h --start 20240109 \
      --tariff instances/prices-de-2024-01-08.csv --forecast previous-day
    """
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import kinds_with
    from lpsched.report.online_answers import simulation_tables

    read, kind = read_with_kind(instance, (*kinds_with("simulate"), "bag"))
    replan.reject_others(context, is_bag=kind.name == "bag")
    if kind.name == "bag":
        over = over_time.TimeOptions(horizon, start, tariff, carbon, caps, grid_fee, carbon_price, switch_off, fill)
        replan.simulate_bag(
            context,
            over.bag(read),
            forecast,
            terms={"objective": objective} | over.terms(),
            effort=effort,
            fill=fill,
            time_limit=time_limit,
            seed=seed,
            solver=solver,
            output=output,
            certificate=certificate,
            figure=figure,
        )
        return
    if not bound:
        options.reject_without({"--time-limit": time_limit, "--offline": offline or None}, "--bound")
    arriving = changed(read, energy, cost, weight)
    asked = RunOptions(machines, every, every_arrivals, drop_below, energy_filter, permute, placeholders, offline)
    chosen = _of_day(asked) if kind.name == "day" else _of_clusters(arriving, asked)
    has_utility = kind.name == "clusters" and arriving.waiting is None
    names = options.scheduler_words(scheduler) or DEFAULT["clusters with utilities" if has_utility else kind.name]
    if trials > 1 and arriving.made_by is None:
        expected, make = "1, as no generator made this file", f"make one with 'lpsched generate {kind.name}'"
        raise options.usage_error("--trials", str(trials), expected, make)
    console = console_of(context)
    with cancellable(console, None) as cancel, options.errors_about("--scheduler", "all", "FILE.py:FUNCTION"):
        result = kind.load("simulate")(
            arriving,
            tuple(map(options.scheduler_named, names)),
            options=chosen,
            bound=bound,
            offline=offline,
            trials=trials,
            jobs=jobs,
            seed=seed,
            time_limit=time_limit,
            cancel=cancel,
        )
    Outputs(output, figure, timeline, report).write(arriving, result)
    console.answer(result.to_dict(), simulation_tables(result.ranked() if not scheduler or "all" in names else result))
    exit_with_status(cancel, valid=result.answered)
