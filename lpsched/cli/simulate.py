"""`lpsched simulate`: policies on days and clusters as their tasks arrive."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli.console import leave, talk_of, tell, watched
from lpsched.cli.options import PICTURES, Figure, Report, Seed, refuse, require_output, require_pictures, words_of

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.parts import Period
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions


class Machines(StrEnum):
    """How machines get their tasks; as in `lpsched.online.simulate.options`, without loading it."""

    QUEUED = "queued"
    POLLED = "polled"


class Cost(StrEnum):
    """What waiting costs; as in `lpsched.online.utility`, without loading it."""

    BOUNDED_SLOWDOWN = "bounded-slowdown"
    SLOWDOWN = "slowdown"
    SECONDS = "seconds"


class Weight(StrEnum):
    """How much the waiting of a task weighs; likewise."""

    TASK = "task"
    CORES = "cores"
    CORE_SECONDS = "core-seconds"


Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy", help="Policies to run, with commas or repeated, as in max-max-upt,weighted-util:0.4; or all."
    ),
]
Bound = Annotated[bool, typer.Option("--bound", help="Prove how much any schedule of the day can earn.")]
Offline = Annotated[
    bool,
    typer.Option("--offline", help="Days: with the bound, make a schedule from its prices too, knowing the whole day."),
]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds of each bound; whenever it ends, the bound holds.", min=0.0)
]
Trials = Annotated[int, typer.Option(help="Days: the given one, and others that its generator draws.", min=1)]
Jobs = Annotated[int, typer.Option(help="Processes that share the work.", min=1)]
Placeholders = Annotated[
    bool,
    typer.Option(
        "--placeholders",
        help="Clusters: max-util, max-upt, max-upr and max-upe hold nodes for what starts later only until "
        "the next mapping event.",
    ),
]
MachinesOption = Annotated[
    Machines | None,
    typer.Option(help="Days: every machine has a queue, or idle ones are polled for one task each. By default queued."),
]
EverySeconds = Annotated[
    float | None,
    typer.Option(
        help="Seconds from a mapping event to the next. By default 60. Clusters: 0 is at every arrival and "
        "end of a task, the default where tasks are judged by what they wait."
    ),
]
EveryArrivals = Annotated[
    int | None, typer.Option(help="Days: map after so many arrivals; with --every-seconds, whichever is first.")
]
DropBelow = Annotated[float, typer.Option(help="Drop a task for good when it can earn less than this.", min=0.0)]
EnergyFilter = Annotated[
    str,
    typer.Option(
        help="What a task may take. Days: none, a fixed leniency such as 1.5, or adaptive. Clusters: none, "
        "per-task or per-resource, with a leniency as in per-resource:4."
    ),
]
Permute = Annotated[
    int | None, typer.Option(help="Days: try all orders of so many tasks at the head of each queue.", min=0)
]
EnergyGigajoules = Annotated[
    float | None, typer.Option(help="Energy constraint of the period, in place of the file's.", min=0.0)
]
CostOption = Annotated[
    Cost | None,
    typer.Option("--cost", help="Clusters judged by what tasks wait: what it costs, in place of what the file says."),
]
WeightOption = Annotated[Weight | None, typer.Option("--weight", help="Likewise: what the waiting of a task weighs.")]
ScheduleFile = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Of one policy: write the schedule of the first trial: .csv or .parquet; or what became of all "
        "tasks: .swf, .swf.gz, or _jobs.csv as Batsim writes it.",
    ),
]
Timeline = Annotated[
    Path | None,
    typer.Option(help="Draw what each machine or node runs under the best policy: a .png, .svg or .pdf file."),
]


@dataclass(frozen=True, slots=True)
class Asked:
    """How to run, as it was asked for; `None` where nothing was said."""

    machines: Machines | None
    every_seconds: float | None
    every_arrivals: int | None
    drop_below: float
    energy_filter: str
    permute: int | None
    placeholders: bool
    offline: bool


def options_of(instance: Day | Clusters, asked: Asked) -> SimulationOptions | ClusterOptions:
    """Read how to run the instance."""
    from lpsched.model.kinds import kind_of

    own: Any = _of_day if kind_of(instance).name == "day" else _of_clusters
    made: SimulationOptions | ClusterOptions = own(instance, asked)
    return made


def _of_day(_day: Day, asked: Asked) -> SimulationOptions:
    """Return the options of a day; without any other trigger, tasks are mapped every minute."""
    from lpsched.online.simulate.options import SimulationOptions

    refuse(
        {"--placeholders": asked.placeholders or None},
        "is for clusters: machines of a day have queues, and nothing is held for later",
    )
    every_seconds = asked.every_seconds
    if every_seconds is None and asked.every_arrivals is None:
        every_seconds = SimulationOptions().every_seconds
    return SimulationOptions(
        machines=(asked.machines or Machines.QUEUED).value,
        every_seconds=every_seconds,
        every_arrivals=asked.every_arrivals,
        drop_below=asked.drop_below,
        energy_filter=_leniency(asked.energy_filter),
        permute=asked.permute or 0,
    )


def _of_clusters(clusters: Clusters, asked: Asked) -> ClusterOptions:
    """Return the options of clusters."""
    from lpsched.online.compare.backend import usual_options
    from lpsched.online.simulate.options import ClusterOptions

    refuse(
        {"--machines": asked.machines, "--permute": asked.permute},
        "is for days of machines: nodes of clusters have no queues",
    )
    refuse({"--every-arrivals": asked.every_arrivals}, "is for days; clusters have --every-seconds 0")
    refuse({"--offline": asked.offline or None}, "is for days of machines: clusters have no such schedule")
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
    return _number(energy_filter, f"needs none, adaptive or a number for a day; not {energy_filter!r}")


def _cluster_filter(energy_filter: str) -> tuple[Literal["per-task", "per-resource"] | None, float | None]:
    from lpsched.online.simulate.options import PER_RESOURCE, PER_TASK

    kind, colon, leniency = energy_filter.partition(":")
    why = f"needs none, {PER_TASK} or {PER_RESOURCE} for clusters, with a number after a colon if you like"
    why = f"{why}; not {energy_filter!r}"
    if energy_filter == "none":
        return None, None
    if kind not in (PER_TASK, PER_RESOURCE):
        raise typer.BadParameter(why, param_hint="--energy-filter")
    return (PER_TASK if kind == PER_TASK else PER_RESOURCE), _number(leniency, why) if colon else None


def _number(text: str, why: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(why, param_hint="--energy-filter") from error


# Files of `lpsched simulate`: the day or clusters that are read, and what is written of the answer.
SCHEDULES = (".csv", ".parquet")
TRACES = (".swf", ".swf.gz", "_jobs.csv")  # whose rows are of all tasks


@dataclass(frozen=True, slots=True)
class Changes:
    """What is asked for in place of what the file says."""

    energy_gigajoules: float | None
    cost: Cost | None
    weight: Weight | None


def read_arriving(path: Path, changes: Changes) -> Day | Clusters:
    """Read a day or clusters, and change what is asked."""
    from lpsched.instances import read_with_kind

    instance, kind = read_with_kind(path)
    if not kind.simulate:
        needed = "needs a file with 'format: lpsched-day/1' or 'format: lpsched-clusters/1'"
        raise typer.BadParameter(f"is no day and no clusters; {needed}", param_hint="INSTANCE")
    return (_changed_day if kind.name == "day" else _changed_clusters)(instance, changes)


def _changed_day(day: Day, changes: Changes) -> Day:
    """Change the energy constraint."""
    costs = {"--cost": changes.cost, "--weight": changes.weight}
    refuse(costs, "is for clusters whose tasks are judged by what they wait")
    if changes.energy_gigajoules is None:
        return day
    return day.model_copy(update={"period": _limited(day.period, changes.energy_gigajoules)})


def _limited(period: Period, gigajoules: float) -> Period:
    """Return the period with another energy constraint."""
    from lpsched.units import GIGA

    return type(period)(**dict(period) | {"energy_constraint_joules": GIGA * gigajoules})


def _changed_clusters(clusters: Clusters, changes: Changes) -> Clusters:
    """Change the energy constraint, or what waiting costs: clusters have one or the other."""
    costs = {"--cost": changes.cost, "--weight": changes.weight}
    energy = {"--energy-gigajoules": changes.energy_gigajoules}
    if clusters.waiting is None:
        refuse(costs, "is for clusters whose tasks are judged by what they wait; these have a utility")
        if clusters.watts is None:
            refuse(energy, "needs watts, and the file has none")
        if changes.energy_gigajoules is None:
            return clusters
        return clusters.model_copy(update={"period": _limited(clusters.period, changes.energy_gigajoules)})
    refuse(energy, "is for tasks with a utility; these are judged by what they wait, and all have to run")
    waiting = clusters.waiting
    if changes.cost is not None:
        waiting = waiting.model_copy(update={"measure": changes.cost.value, "points": ()})
    if changes.weight is not None:
        waiting = waiting.model_copy(update={"weight": changes.weight.value})
    return clusters if waiting == clusters.waiting else clusters.model_copy(update={"waiting": waiting})


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write: a schedule, pictures, a page."""

    schedule: Path | None
    figure: Path | None
    timeline: Path | None
    report: Path | None

    def require(self, names: tuple[str, ...], path: Path) -> None:
        """Refuse what could not be written in the end."""
        if self.schedule is not None:
            if len(names) > 1 or names == ("all",):
                raise typer.BadParameter("goes with one policy", param_hint="--output")
            require_ending(self.schedule, (*SCHEDULES, *TRACES))
            require_output(self.schedule, (self.schedule.suffix.lower(),), path)
        drawn = ((self.figure, PICTURES), (self.timeline, PICTURES), (self.report, (".html",)))
        for output, endings in drawn:
            if output is not None:
                require_output(output, endings, path)
                require_pictures()

    def write(self, instance: Day | Clusters, result: Simulation) -> None:
        """Write them, as far as there is an answer."""
        if not any((self.schedule, self.figure, self.timeline, self.report)):
            return
        from lpsched.io.content import write_files
        from lpsched.io.pictures import write_picture
        from lpsched.report.figures.simulation import simulation_picture
        from lpsched.report.figures.timeline import times_picture
        from lpsched.report.html.days import simulation_page

        if self.report is not None:
            write_files({self.report: simulation_page(instance, result).encode()})
        best = result.best
        if best is None or best.schedule is None:
            for path in (self.schedule, self.figure, self.timeline):
                if path is not None:
                    tell(f"{path} is not written: no policy has an answer for the day")
            return
        if self.schedule is not None:
            _write_schedule(instance, best.schedule, self.schedule)
        if self.figure is not None:
            write_picture(simulation_picture(result), self.figure)
        if self.timeline is not None:
            write_picture(times_picture(instance, best), self.timeline)


def require_ending(output: Path, endings: tuple[str, ...]) -> None:
    """Refuse a file whose name ends otherwise."""
    from lpsched.errors import OutputError

    if not output.name.lower().endswith(endings):
        raise OutputError(f"cannot write {output}: needs the ending {' or '.join(endings)}; choose one")


def _write_schedule(instance: Day | Clusters, schedule: DaySchedule | ClustersSchedule, path: Path) -> None:
    """Write a schedule, or all tasks of a simulated trace."""
    from lpsched.online.schedule import DaySchedule
    from lpsched.online.schedule_files import write_clusters_schedule, write_day_schedule
    from lpsched.traces.export import export_schedule

    if path.name.lower().endswith(TRACES):
        export_schedule(instance, schedule, path)
    elif isinstance(schedule, DaySchedule):
        write_day_schedule(schedule, path)
    else:
        write_clusters_schedule(schedule, path)


def simulate(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A day or clusters: a .yaml or .json file.", readable=False)],
    *,
    policy: Policies = None,
    bound: Bound = False,
    offline: Offline = False,
    trials: Trials = 1,
    jobs: Jobs = 1,
    seed: Seed = 0,
    placeholders: Placeholders = False,
    machines: MachinesOption = None,
    every_seconds: EverySeconds = None,
    every_arrivals: EveryArrivals = None,
    drop_below: DropBelow = 0.0,
    energy_filter: EnergyFilter = "none",
    permute: Permute = None,
    energy_gigajoules: EnergyGigajoules = None,
    cost: CostOption = None,
    weight: WeightOption = None,
    time_limit: TimeLimit = None,
    output: ScheduleFile = None,
    figure: Figure = None,
    timeline: Timeline = None,
    report: Report = None,
) -> None:
    """Run policies on a day or clusters as tasks arrive; tell how far from the best possible they are."""
    from lpsched.model.kinds import kind_of
    from lpsched.report.online_answers import simulation_tables

    names = tuple(filter(None, words_of(policy)))
    if not names:
        raise typer.BadParameter("needs at least one, or all", param_hint="--policy")
    if not bound:
        refuse({"--time-limit": time_limit, "--offline": offline or None}, "goes with --bound")
    outputs = Outputs(output, figure, timeline, report)
    outputs.require(names, instance)
    arriving = read_arriving(instance, Changes(energy_gigajoules, cost, weight))
    options = options_of(
        arriving,
        Asked(
            machines=machines,
            every_seconds=every_seconds,
            every_arrivals=every_arrivals,
            drop_below=drop_below,
            energy_filter=energy_filter,
            permute=permute,
            placeholders=placeholders,
            offline=offline,
        ),
    )
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = kind_of(arriving).load("simulate")(
            arriving,
            names,
            options=options,
            bound=bound,
            offline=offline,
            trials=trials,
            jobs=jobs,
            seed=seed,
            time_limit=time_limit,
            watch=watch,
        )
    outputs.write(arriving, result)
    talk.answer(result.to_dict(), simulation_tables(result))
    leave(watch, valid=result.answered)
