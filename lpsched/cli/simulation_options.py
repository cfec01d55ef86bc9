"""Options of `lpsched simulate`: which policies on which days, and how days are run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from lpsched.simulation.options import SimulationOptions


class Machines(StrEnum):
    """How machines get their tasks; as in `lpsched.simulation.options`, without loading it."""

    QUEUED = "queued"
    POLLED = "polled"


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
        "--offline", help="With the bound: make a schedule from its prices too, knowing the whole day."
    ),
]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds of each bound; whenever it ends, the bound holds.", min=0.0)
]
Trials = Annotated[int, typer.Option(help="Days: the given one, and others that its generator draws.", min=1)]
Jobs = Annotated[int, typer.Option(help="Processes that share the work.", min=1)]
MachinesOption = Annotated[
    Machines, typer.Option(help="Every machine has a queue, or idle ones are polled for one task each.")
]
EverySeconds = Annotated[
    float | None, typer.Option(help="Seconds from a mapping event to the next. By default 60.")
]
EveryArrivals = Annotated[
    int | None, typer.Option(help="Map after so many arrivals; with --every-seconds, whichever is first.")
]
DropBelow = Annotated[
    float, typer.Option(help="Drop a task for good when it can earn less than this.", min=0.0)
]
EnergyFilter = Annotated[
    str, typer.Option(help="What a task may take: none, a fixed leniency such as 1.5, or adaptive.")
]
Permute = Annotated[
    int, typer.Option(help="Try all orders of so many tasks at the head of each queue.", min=0)
]
EnergyGigajoules = Annotated[
    float | None, typer.Option(help="Energy constraint of the period, in place of the file's.", min=0.0)
]
ScheduleFile = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Of one policy: write the schedule of the day: .csv or .parquet."),
]
Timeline = Annotated[
    Path | None,
    typer.Option(help="Draw what each machine runs under the best policy: a .png, .svg or .pdf file."),
]


def options_of(
    *,
    machines: Machines,
    every_seconds: float | None,
    every_arrivals: int | None,
    drop_below: float,
    energy_filter: str,
    permute: int,
) -> SimulationOptions:
    """Read how to run days; without any other trigger, tasks are mapped every minute.

    Raises
    ------
    InstanceError
        If a number is not possible.
    """
    from lpsched.simulation.options import SimulationOptions

    if every_seconds is None and every_arrivals is None:
        every_seconds = SimulationOptions().every_seconds
    return SimulationOptions(
        machines=machines.value,
        every_seconds=every_seconds,
        every_arrivals=every_arrivals,
        drop_below=drop_below,
        energy_filter=_leniency(energy_filter),
        permute=permute,
    )


def _leniency(energy_filter: str) -> float | Literal["adaptive"] | None:
    from lpsched.simulation.options import ADAPTIVE

    if energy_filter == "none":
        return None
    if energy_filter == ADAPTIVE:
        return ADAPTIVE
    try:
        return float(energy_filter)
    except ValueError as error:
        raise typer.BadParameter(
            f"needs none, adaptive or a number; not {energy_filter!r}", param_hint="--energy-filter"
        ) from error
