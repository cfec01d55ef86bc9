"""`lpsched simulate`: policies on days and clusters as they happen, against what no schedule can pass."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import Figure, Report, Seed, refuse, words_of
from lpsched.cli.patience import leave, watched
from lpsched.cli.simulation_files import Changes, Outputs, read_arriving
from lpsched.cli.simulation_options import (
    Asked,
    Bound,
    CostOption,
    DropBelow,
    EnergyFilter,
    EnergyGigajoules,
    EveryArrivals,
    EverySeconds,
    Jobs,
    MachinesOption,
    Offline,
    Permute,
    Placeholders,
    Policies,
    ScheduleFile,
    TimeLimit,
    Timeline,
    Trials,
    WeightOption,
    options_of,
)
from lpsched.cli.talk import talk_of


def simulate(
    context: typer.Context,
    instance: Annotated[
        Path, typer.Argument(help="A day or clusters: a .yaml or .json file.", readable=False)
    ],
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
    from lpsched.compare.simulations import simulate as simulate_policies
    from lpsched.reports.simulation import simulation_tables

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
        result = simulate_policies(
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
