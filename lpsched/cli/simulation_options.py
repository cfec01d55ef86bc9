"""Options of `lpsched simulate`: which policies on which days or clusters, and how these are run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lpsched.cli.options import refuse

if TYPE_CHECKING:
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.simulation.clusters.options import ClusterOptions
    from lpsched.simulation.options import SimulationOptions


class Machines(StrEnum):
    """How machines get their tasks; as in `lpsched.simulation.options`, without loading it."""

    QUEUED = "queued"
    POLLED = "polled"


class Cost(StrEnum):
    """What waiting costs; as in `lpsched.instance.waiting`, without loading it."""

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
        "--policy",
        help="Policies to run, with commas or repeated, as in max-max-upt,weighted-util:0.4; or all.",
    ),
]
Bound = Annotated[bool, typer.Option("--bound", help="Prove how much any schedule of the day can earn.")]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Days: with the bound, make a schedule from its prices too, knowing the whole day.",
    ),
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
    typer.Option(
        help="Days: every machine has a queue, or idle ones are polled for one task each. By default queued."
    ),
]
EverySeconds = Annotated[
    float | None,
    typer.Option(
        help="Seconds from a mapping event to the next. By default 60. Clusters: 0 is at every arrival and "
        "end of a task, the default where tasks are judged by what they wait."
    ),
]
EveryArrivals = Annotated[
    int | None,
    typer.Option(help="Days: map after so many arrivals; with --every-seconds, whichever is first."),
]
DropBelow = Annotated[
    float, typer.Option(help="Drop a task for good when it can earn less than this.", min=0.0)
]
EnergyFilter = Annotated[
    str,
    typer.Option(
        help="What a task may take. Days: none, a fixed leniency such as 1.5, or adaptive. Clusters: none, "
        "per-task or per-resource, with a leniency as in per-resource:4."
    ),
]
Permute = Annotated[
    int | None,
    typer.Option(help="Days: try all orders of so many tasks at the head of each queue.", min=0),
]
EnergyGigajoules = Annotated[
    float | None, typer.Option(help="Energy constraint of the period, in place of the file's.", min=0.0)
]
CostOption = Annotated[
    Cost | None,
    typer.Option(
        "--cost", help="Clusters judged by what tasks wait: what it costs, in place of what the file says."
    ),
]
WeightOption = Annotated[
    Weight | None, typer.Option("--weight", help="Likewise: what the waiting of a task weighs.")
]
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
    typer.Option(
        help="Draw what each machine or node runs under the best policy: a .png, .svg or .pdf file."
    ),
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
    """Read how to run the instance.

    Raises
    ------
    typer.BadParameter
        If something has no meaning for such an instance.
    InstanceError
        If a number is not possible.
    """
    from lpsched.instance.day import Day

    return _of_day(asked) if isinstance(instance, Day) else _of_clusters(instance, asked)


def _of_day(asked: Asked) -> SimulationOptions:
    """Return the options of a day; without any other trigger, tasks are mapped every minute."""
    from lpsched.simulation.options import SimulationOptions

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
    from lpsched.compare.cluster_stage import usual_options
    from lpsched.simulation.clusters.options import ClusterOptions

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
    from lpsched.simulation.options import ADAPTIVE

    if energy_filter == "none":
        return None
    if energy_filter == ADAPTIVE:
        return ADAPTIVE
    return _number(energy_filter, f"needs none, adaptive or a number for a day; not {energy_filter!r}")


def _cluster_filter(
    energy_filter: str,
) -> tuple[Literal["per-task", "per-resource"] | None, float | None]:
    from lpsched.simulation.clusters.options import PER_RESOURCE, PER_TASK

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
