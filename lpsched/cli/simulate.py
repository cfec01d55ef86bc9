"""`lpsched simulate`: policies on days and clusters as their tasks arrive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli.console import leave, talk_of, tell, watched
from lpsched.cli.options import Cost, Figure, Report, Seed, Weight, refuse, require_looks, require_output, words_of
from lpsched.errors import OutputError

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions


Machines = Literal["queued", "polled"]  # `lpsched.online.simulate.options`, without loading it


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


def _of_day(asked: Asked) -> SimulationOptions:
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
        machines=asked.machines or "queued",
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


def read_arriving(path: Path, energy_gigajoules: float | None, cost: Cost | None, weight: Weight | None) -> Any:  # noqa: ANN401
    """Read a day or clusters, and change what is asked: the energy constraint, or what waiting costs."""
    from lpsched.instances import read_with_kind
    from lpsched.units import GIGA

    instance, kind = read_with_kind(path)
    if not kind.simulate:
        needed = "needs a file with 'format: lpsched-day/1' or 'format: lpsched-clusters/1'"
        raise typer.BadParameter(f"is no day and no clusters; {needed}", param_hint="INSTANCE")
    costs = {"--cost": cost, "--weight": weight}
    energy = {"--energy-gigajoules": energy_gigajoules}
    waits = "is for clusters whose tasks are judged by what they wait"
    if kind.name == "day":
        refuse(costs, waits)
    elif instance.waiting is None:
        refuse(costs, f"{waits}; these have a utility")
        if instance.watts is None:
            refuse(energy, "needs watts, and the file has none")
    else:
        refuse(energy, "is for tasks with a utility; these are judged by what they wait, and all have to run")
        given: dict[str, Any] = {} if cost is None else {"measure": cost, "points": ()}
        given |= {} if weight is None else {"weight": weight}
        waiting = instance.waiting.model_copy(update=given)
        return instance if waiting == instance.waiting else instance.model_copy(update={"waiting": waiting})
    if energy_gigajoules is None:
        return instance
    joules = {"energy_constraint_joules": GIGA * energy_gigajoules}
    return instance.model_copy(update={"period": type(instance.period)(**dict(instance.period) | joules)})


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
            if not self.schedule.name.lower().endswith((*SCHEDULES, *TRACES)):
                endings = " or ".join((*SCHEDULES, *TRACES))
                raise OutputError(f"cannot write {self.schedule}: needs the ending {endings}; choose one")
            require_output(self.schedule, (self.schedule.suffix.lower(),), path)
        require_looks(path, figure=self.figure)
        require_looks(path, figure=self.timeline, report=self.report)

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
    policy: Annotated[
        list[str] | None,
        typer.Option(help="Policies to run, with commas or repeated, as in max-max-upt,weighted-util:0.4; or all."),
    ] = None,
    bound: Annotated[bool, typer.Option("--bound", help="Prove how much any schedule of the day can earn.")] = False,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline", help="Days: with the bound, make a schedule from its prices too, knowing the whole day."
        ),
    ] = False,
    trials: Annotated[int, typer.Option(help="Days: the given one, and others that its generator draws.", min=1)] = 1,
    jobs: Annotated[int, typer.Option(help="Processes that share the work.", min=1)] = 1,
    seed: Seed = 0,
    placeholders: Annotated[
        bool,
        typer.Option(
            "--placeholders",
            help="Clusters: max-util, max-upt, max-upr and max-upe hold nodes for what starts later only until "
            "the next mapping event.",
        ),
    ] = False,
    machines: Annotated[
        Machines | None,
        typer.Option(
            help="Days: every machine has a queue, or idle ones are polled for one task each. By default queued."
        ),
    ] = None,
    every_seconds: Annotated[
        float | None,
        typer.Option(
            help="Seconds from a mapping event to the next. By default 60. Clusters: 0 is at every arrival and "
            "end of a task, the default where tasks are judged by what they wait."
        ),
    ] = None,
    every_arrivals: Annotated[
        int | None, typer.Option(help="Days: map after so many arrivals; with --every-seconds, whichever is first.")
    ] = None,
    drop_below: Annotated[
        float, typer.Option(help="Drop a task for good when it can earn less than this.", min=0.0)
    ] = 0.0,
    energy_filter: Annotated[
        str,
        typer.Option(
            help="What a task may take. Days: none, a fixed leniency such as 1.5, or adaptive. Clusters: none, "
            "per-task or per-resource, with a leniency as in per-resource:4."
        ),
    ] = "none",
    permute: Annotated[
        int | None, typer.Option(help="Days: try all orders of so many tasks at the head of each queue.", min=0)
    ] = None,
    energy_gigajoules: Annotated[
        float | None, typer.Option(help="Energy constraint of the period, in place of the file's.", min=0.0)
    ] = None,
    cost: Annotated[
        Cost | None,
        typer.Option(
            "--cost", help="Clusters judged by what tasks wait: what it costs, in place of what the file says."
        ),
    ] = None,
    weight: Annotated[
        Weight | None, typer.Option("--weight", help="Likewise: what the waiting of a task weighs.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds of each bound; whenever it ends, the bound holds.", min=0.0)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Of one policy: write the schedule of the first trial: .csv or .parquet; or what became of all "
            "tasks: .swf, .swf.gz, or _jobs.csv as Batsim writes it.",
        ),
    ] = None,
    figure: Figure = None,
    timeline: Annotated[
        Path | None,
        typer.Option(help="Draw what each machine or node runs under the best policy: a .png, .svg or .pdf file."),
    ] = None,
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
    arriving = read_arriving(instance, energy_gigajoules, cost, weight)
    kind = kind_of(arriving)
    asked = Asked(machines, every_seconds, every_arrivals, drop_below, energy_filter, permute, placeholders, offline)
    chosen = _of_day(asked) if kind.name == "day" else _of_clusters(arriving, asked)
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = kind.load("simulate")(
            arriving,
            names,
            options=chosen,
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
