"""`lpsched import slurm` and `lpsched import swf`."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.console import talk_of
from lpsched.cli.import_options import (
    ENDINGS,
    MOST,
    CostOption,
    Imported,
    NameOption,
    SkipOption,
    Target,
    ToOption,
    WattsOption,
    WeightOption,
    sizes_of,
    waiting_of,
    write_import,
)
from lpsched.cli.options import LONGEST_COUNT, Output, TablesOption, form_of, refuse, require_output, words_of


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
        list[str] | None, typer.Option(help="Nodes of each, such as batch=64,gpu=8. [default: the most in use at once]")
    ] = None,
    keep_states: Annotated[
        list[str] | None, typer.Option(help="States to keep. [default: bag: COMPLETED; clusters: all that ended]")
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
    from lpsched.traces.sacct import read_sacct
    from lpsched.traces.slurm_jobs import COMPLETED, SlurmChoice, bag_of_slurm, clusters_of_slurm
    from lpsched.traces.swf_jobs import name_of

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
        logged, account = bag_of_slurm(named, log, choice=choice, counts=counts, fill=fill, watts=not no_watts)
        imported = Imported(logged.bag, account, log.skipped, "node", logged)
    else:
        clusters, account = clusters_of_slurm(
            named, log, choice=choice, counts=counts, watts_per_node=watts_per_node, waiting=waiting_of(cost, weight)
        )
        imported = Imported(clusters, account, log.skipped, "node")
    write_import(talk_of(context), imported, output, form_of(tables))


class Times(StrEnum):
    """How long jobs run; the words of `lpsched.traces.swf_jobs`, without loading it."""

    REAL = "real"
    REQUESTED = "requested"


USUAL_GROUPS: dict[Target, tuple[str, ...]] = {Target.CLUSTERS: (), Target.BAG: ("size", "time")}


def import_swf(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The log: .swf, plain or gzip.", readable=False)],
    output: Output,
    to: ToOption = Target.CLUSTERS,
    name: NameOption = None,
    times: Annotated[
        Times, typer.Option(help="Let jobs run as long as they did, or as long as they asked for.")
    ] = Times.REAL,
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            help="What makes the task types: user, group, executable, queue, partition, size, time. "
            "[default: clusters: all jobs are one type; bag: size,time]"
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(help="Nodes of the system. [default: MaxProcs of the header, else MaxNodes]", min=1, max=MOST),
    ] = None,
    cores_per_node: Annotated[
        int, typer.Option(help="A job takes whole nodes of so many processors.", min=1, max=MOST)
    ] = 1,
    partitions: Annotated[
        list[str] | None, typer.Option(help="Nodes of each partition, such as 1=64,2=128: each becomes a cluster.")
    ] = None,
    watts_per_node: WattsOption = None,
    cost: CostOption = None,
    weight: WeightOption = None,
    keep_failed: Annotated[
        bool | None,
        typer.Option(
            "--keep-failed/--only-completed",
            help="Jobs that failed, or were cancelled while running. [default: clusters keep them]",
        ),
    ] = None,
    skip_dirty: SkipOption = False,  # noqa: FBT002 - Typer's way
    first: Annotated[int | None, typer.Option(help="Read no more than so many jobs.", min=1)] = None,
    begin: Annotated[float, typer.Option(help="Keep jobs submitted from this second of the log on.", min=0.0)] = 0.0,
    end: Annotated[float | None, typer.Option(help="Keep jobs submitted before this second.", min=0.0)] = None,
    tables: TablesOption = None,
) -> None:
    """Import a log in the Standard Workload Format."""
    from lpsched.traces.swf import read_swf
    from lpsched.traces.swf_jobs import SwfChoice, SystemSize, bag_of_swf, clusters_of_swf, name_of

    if to is Target.BAG:
        refuse({"--cost": cost, "--weight": weight}, "a bag knows no waiting; drop it, or use --to clusters")
    if nodes is not None and partitions:
        raise typer.BadParameter("--nodes: not with --partitions, which say it; drop one")
    require_output(output, ENDINGS, file)
    trace = read_swf(file, skip_dirty=skip_dirty, first=first)
    choice = SwfChoice(
        times=times.value,
        group_by=words_of(group_by) if group_by else USUAL_GROUPS[to],
        partitions=_partitions(partitions),
        keep_failed=to is Target.CLUSTERS if keep_failed is None else keep_failed,
        begin_seconds=begin,
        end_seconds=math.inf if end is None else end,
    )
    machines = SystemSize(nodes=nodes, cores_per_node=cores_per_node, watts_per_node=watts_per_node)
    named = name if name is not None else name_of(file)
    if to is Target.CLUSTERS:
        clusters, account = clusters_of_swf(
            named, trace, choice=choice, machines=machines, waiting=waiting_of(cost, weight)
        )
        imported = Imported(clusters, account, trace.skipped, "processor")
    else:
        logged, account = bag_of_swf(named, trace, choice=choice, machines=machines)
        unit = "processor" if cores_per_node == 1 else "node"
        imported = Imported(logged.bag, account, trace.skipped, unit, logged)
    write_import(talk_of(context), imported, output, form_of(tables))


def _partitions(given: list[str] | None) -> dict[int, int]:
    sizes = sizes_of("--partitions", given)
    if not all(name.isascii() and name.isdecimal() and len(name) <= LONGEST_COUNT for name in sizes):
        raise typer.BadParameter("--partitions: needs the partitions' numbers, such as 1=64,2=128")
    return {int(name): nodes for name, nodes in sizes.items()}
