"""`lpsched import slurm`: what `sacct -P` tells, as a bag or as clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.import_options import (
    ENDINGS,
    CostOption,
    NameOption,
    SkipOption,
    Target,
    ToOption,
    WattsOption,
    WeightOption,
    sizes_of,
    waiting_of,
)
from lpsched.cli.imported import Imported, write_import
from lpsched.cli.options import Output, TablesOption, form_of, refuse, require_output, words_of
from lpsched.cli.talk import talk_of


def import_slurm(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="What 'sacct -P' wrote, plain or gzip.", readable=False)],
    output: Output,
    to: ToOption = Target.BAG,
    name: NameOption = None,
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns that make the task types, such as partition,name; also size and time. "
            "[default: bag: name; clusters: all jobs are one type]"
        ),
    ] = None,
    machines_by: Annotated[
        str, typer.Option(help="The column that makes machine types or clusters; 'all': there is one.")
    ] = "Partition",
    count: Annotated[
        list[str] | None,
        typer.Option(help="Nodes of each, such as batch=64,gpu=8. [default: the most in use at once]"),
    ] = None,
    keep_states: Annotated[
        list[str] | None,
        typer.Option(help="States to keep. [default: bag: COMPLETED; clusters: all that ended]"),
    ] = None,
    fill: Annotated[  # noqa: FBT002 - Typer's way
        bool, typer.Option("--fill", help="bag: estimate cells without samples; they are marked.")
    ] = False,
    no_watts: Annotated[bool, typer.Option("--no-watts", help="bag: leave powers out.")] = False,  # noqa: FBT002
    watts_per_node: WattsOption = None,
    cost: CostOption = None,
    weight: WeightOption = None,
    skip_dirty: SkipOption = False,  # noqa: FBT002
    tables: TablesOption = None,
) -> None:
    """Import Slurm's accounting, with or without steps (-X)."""
    from lpsched.files.slurm import read_sacct
    from lpsched.traces.slurm import bag_of_slurm, clusters_of_slurm
    from lpsched.traces.slurm_jobs import COMPLETED, SlurmChoice
    from lpsched.traces.swf import name_of

    if to is Target.BAG:
        unfit: dict[str, object] = {"--cost": cost, "--weight": weight, "--watts-per-node": watts_per_node}
        refuse(unfit, "only with --to clusters; drop it")
    else:
        refuse({"--fill": fill or None, "--no-watts": no_watts or None}, "only with --to bag; drop it")
    require_output(output, ENDINGS, file)
    counts = sizes_of("--count", count)
    log = read_sacct(file, skip_dirty=skip_dirty)
    named = name if name is not None else name_of(file)
    usual_states = (COMPLETED,) if to is Target.BAG else None
    choice = SlurmChoice(
        group_by=words_of(group_by) if group_by else (("JobName",) if to is Target.BAG else ()),
        machines_by=machines_by,
        states=tuple(state.upper() for state in words_of(keep_states)) if keep_states else usual_states,
    )
    if to is Target.BAG:
        logged, account = bag_of_slurm(
            named, log, choice=choice, counts=counts, fill=fill, watts=not no_watts
        )
        imported = Imported(logged.bag, account, log.skipped, "node", logged)
    else:
        clusters, account = clusters_of_slurm(
            named,
            log,
            choice=choice,
            counts=counts,
            watts_per_node=watts_per_node,
            waiting=waiting_of(cost, weight),
        )
        imported = Imported(clusters, account, log.skipped, "node")
    write_import(talk_of(context), imported, output, form_of(tables))
