"""`lpsched simulate`: policies on days as they happen, against what no schedule can pass."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import Figure, Report, Seed, refuse, words_of
from lpsched.cli.patience import leave, watched
from lpsched.cli.simulation_files import Outputs, read_day
from lpsched.cli.simulation_options import (
    Bound,
    DropBelow,
    EnergyFilter,
    EnergyGigajoules,
    EveryArrivals,
    EverySeconds,
    Jobs,
    Machines,
    MachinesOption,
    Offline,
    Permute,
    Policies,
    ScheduleFile,
    TimeLimit,
    Timeline,
    Trials,
    options_of,
)
from lpsched.cli.talk import talk_of


def simulate(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A day: a .yaml or .json file.", readable=False)],
    *,
    policy: Policies = None,
    bound: Bound = False,
    offline: Offline = False,
    trials: Trials = 1,
    jobs: Jobs = 1,
    seed: Seed = 0,
    machines: MachinesOption = Machines.QUEUED,
    every_seconds: EverySeconds = None,
    every_arrivals: EveryArrivals = None,
    drop_below: DropBelow = 0.0,
    energy_filter: EnergyFilter = "none",
    permute: Permute = 0,
    energy_gigajoules: EnergyGigajoules = None,
    time_limit: TimeLimit = None,
    output: ScheduleFile = None,
    figure: Figure = None,
    timeline: Timeline = None,
    report: Report = None,
) -> None:
    """Run policies on a day as it happens, and tell how far from the best possible they are."""
    from lpsched.compare.simulations import simulate as simulate_policies
    from lpsched.reports.simulation import simulation_tables

    names = tuple(filter(None, words_of(policy)))
    if not names:
        raise typer.BadParameter("needs at least one, or all", param_hint="--policy")
    outputs = Outputs(output, figure, timeline, report)
    outputs.require(names, instance)
    if not bound:
        refuse({"--time-limit": time_limit, "--offline": offline or None}, "goes with --bound")
    options = options_of(
        machines=machines,
        every_seconds=every_seconds,
        every_arrivals=every_arrivals,
        drop_below=drop_below,
        energy_filter=energy_filter,
        permute=permute,
    )
    day = read_day(instance, energy_gigajoules)
    talk = talk_of(context)
    with watched(talk, None) as watch:
        result = simulate_policies(
            day,
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
    outputs.write(day, result)
    talk.answer(result.to_dict(), simulation_tables(result))
    leave(watch, valid=result.answered)
