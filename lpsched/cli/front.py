"""`lpsched front`: the exact energy/makespan front of a bag; what other methods find, held against it.

A day has no exact front, but an envelope that no schedule passes: see `day_front.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.front_asked import Asked
from lpsched.cli.looks import require_looks
from lpsched.cli.options import (
    PICTURES,
    Deadline,
    EffortOfBag,
    Figure,
    PowerCap,
    Report,
    Seed,
    SolverName,
    refuse,
    require_output,
    require_pictures,
    words_of,
)
from lpsched.cli.risk_option import RiskOption, risk_asked

OF_BAG = "goes with a bag, and this is a day"
OF_DAY = "goes with a day, and this is a bag"
EVOLVED = "goes with --compare nsga2"
Machines = Annotated[
    Path | None,
    typer.Option(
        help="Of a bag: draw what each machine does at five points along nsga2's front (else along our "
        "schedules): a .png, .svg or .pdf file; or write its numbers: .json."
    ),
]


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
    seed: Seed = 0,
    seed_with: Annotated[
        list[str] | None,
        typer.Option(
            help="nsga2: heuristics whose schedules join the first population, with commas; lp: ours; none. "
            "By default min-energy,min-min (of a day max-utility,utility-per-energy as well)."
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="nsga2: go on from this .npz file if it is there; save the population to it."),
    ] = None,
    figure: Figure = None,
    report: Report = None,
    machines: Machines = None,
    falling: Annotated[
        bool, typer.Option("--falling", help="--machines: all machines in falling order, not by type.")
    ] = False,
    peak: Annotated[
        Path | None,
        typer.Option(help="Of a day: draw utility per energy and its peak: a .png, .svg or .pdf file."),
    ] = None,
    drop_below: Annotated[
        float | None, typer.Option(help="Of a day: do not run tasks that would earn less.", min=0.0)
    ] = None,
    risk: RiskOption = None,
    ellipses: Annotated[
        Path | None,
        typer.Option(help="--risk: draw how much energy and utility vary: a .png, .svg or .pdf file."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Of a bag: weights to sample as well, for comparison.", min=0)
    ] = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    effort: EffortOfBag = None,
    solver: SolverName = "highs",
) -> None:
    """Find the exact energy/makespan front with a verified schedule at each vertex; compare other methods."""
    from lpsched.cli.bag_front import BagAsked, front_of_bag
    from lpsched.cli.day_front import DayAsked, compare_day
    from lpsched.files.instances import read_instance
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.facility import Facility

    methods = tuple(filter(None, words_of(compare)))  # an empty word would be the folder it stands in
    seeds = None if seed_with is None else tuple(filter(None, words_of(seed_with)))
    asked = Asked(instance, methods, generations, time_limit, seed, seeds, state, figure)
    _require_methods(asked)
    sampled = risk_asked(risk, ranks=True)
    if sampled is None:
        refuse({"--ellipses": ellipses}, "goes with --risk")
    elif "nsga2" not in methods:
        refuse({"--risk": risk}, EVOLVED)
    for picture, more in ((figure, ()), (machines, (".json",)), (peak, ()), (ellipses, ())):
        if picture is not None:
            require_output(picture, (*PICTURES, *more), instance)
            if picture.suffix.lower() in PICTURES:
                require_pictures()
    require_looks(instance, figure=None, report=report)
    if state is not None:
        require_output(state, (".npz",), instance)
    if falling and machines is None:
        raise typer.BadParameter("goes with --machines", param_hint="--falling")
    read = read_instance(instance)
    if isinstance(read, Facility | Clusters):
        kind = "a facility" if isinstance(read, Facility) else "clusters"
        raise typer.BadParameter(f"is {kind}; needs a bag or a day", param_hint="INSTANCE")
    if isinstance(read, Day):
        refuse({"--machines": machines, "--sample": sample}, OF_BAG)
        refuse({"--power-cap": power_cap, "--deadline": deadline, "--effort": effort}, OF_BAG)
        compare_day(context, read, asked, DayAsked(peak, drop_below, sampled, ellipses, report))
        return
    refuse({"--peak": peak, "--drop-below": drop_below, "--risk": risk}, OF_DAY)
    of_bag = BagAsked(sample or 0, power_cap, deadline, effort, solver, machines, report, falling)
    front_of_bag(context, read, asked, of_bag)


def _require_methods(asked: Asked) -> None:
    """Refuse options of a method that is not compared."""
    if "nsga2" not in asked.methods:
        refuse({"--generations": asked.generations, "--time-limit": asked.time_limit}, EVOLVED)
        refuse({"--seed-with": asked.seed_with, "--state": asked.state}, EVOLVED)
