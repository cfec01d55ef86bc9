"""`lpsched import slurm` and `swf`: logs become instances, with an account of what became of their jobs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from lpsched.cli import options
from lpsched.cli.console import Console, console_of, header, held_by
from lpsched.cli.measure import warn
from lpsched.errors import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import ConsoleRenderable
    from rich.table import Table

    from lpsched.bag.model import Bag
    from lpsched.online.clusters import Clusters
    from lpsched.online.utility import WaitingCost
    from lpsched.traces.bags import LoggedBag
    from lpsched.traces.jobs import Account, Totals


# Options that imports of logs share.
MOST = 10**15  # nodes or machines, as everywhere


Target = Literal["clusters", "bag"]
ToOption = Annotated[
    Target, typer.Option("--to", help="What to make of the log: clusters to simulate, or a bag to solve.")
]
NameOption = Annotated[str | None, typer.Option(help="Name of the instance; by default that of the file.")]
CostOption = Annotated[options.Cost | None, typer.Option(help="clusters: cost of waiting. [default: bounded-slowdown]")]
WeightOption = Annotated[
    options.Weight | None, typer.Option(help="clusters: weight of a task's waiting. [default: task]")
]
WattsOption = Annotated[
    float | None,
    options.quantity_option(
        "--watts-per-node", kind="power", help="Power of a busy node in watts or with a unit; by default unknown."
    ),
]
SkipOption = Annotated[bool, typer.Option("--skip-dirty", help="Skip malformed lines, and count them.")]


def waiting_of(cost: options.Cost | None, weight: options.Weight | None) -> WaitingCost:
    """Return what waiting costs."""
    from lpsched.online.utility import WaitingCost

    return WaitingCost(cost or "bounded-slowdown", weight or "task")


def sizes_of(option: str, given: list[str] | None) -> dict[str, int]:
    """Read pairs such as batch=64, with commas, with repetition, or both."""
    sizes: dict[str, int] = {}
    for word in [word.strip() for part in given or [] for word in part.split(",")]:
        name, _, count = word.rpartition("=")
        valid = name and count.isascii() and count.isdecimal() and len(count) <= options.LONGEST_COUNT
        if not valid or name in sizes or not 1 <= int(count) <= MOST:
            expected = f"NAME=COUNT, each name once, and counts from 1 to {MOST:,}"
            raise options.usage_error(option, quote(word), expected, "correct it")
        sizes[name] = int(count)
    return sizes


def pairs_of(option: str, given: list[str] | None) -> dict[str, str]:
    """Read pairs such as task=model, with commas, with repetition, or both."""
    pairs: dict[str, str] = {}
    for each in [each.strip() for part in given or [] for each in part.split(",")]:
        name, sign, value = (part.strip() for part in each.partition("="))
        if not (name and sign and value) or name in pairs:
            raise options.usage_error(option, quote(each), "NAME=VALUE, each name once", "correct it")
        pairs[name] = value
    return pairs


# What an import of a log answers: which files hold it now, and what was read, kept, changed and left out.
MOST_CELLS = 20  # that are shown


@dataclass(frozen=True, slots=True)
class Imported:
    """An instance made of a log, and what became of the log's jobs and lines."""

    instance: Bag | Clusters
    account: Account
    skipped: Mapping[str, int]  # dirty lines, by reason
    unit: str  # what the width of a job counts
    logged: LoggedBag | None = None
    repaired: Mapping[str, int] = field(default_factory=dict)  # lines, likewise


def write_import(console: Console, imported: Imported, path: Path, tables: options.Tables | None) -> None:
    """Write the instance, for a bag also the samples of its cells; print the names of the files."""
    from lpsched.report.tables import line
    from lpsched.units import counted

    instance, account, logged = imported.instance, imported.account, imported.logged
    assert account.totals is not None, "totals of all jobs are known"
    held = write_with_cells(instance if logged is None else logged, path, tables)
    read: dict[str, Any] = {
        "jobs_read": account.read,
        "jobs_kept": account.kept,
        "left_out": account.left_out,
        "changed": account.notes,
        "dirty_lines": dict(imported.skipped),
        "repaired_lines": dict(imported.repaired),
        "totals": asdict(account.totals),
        "unit": imported.unit,
        "capacity": account.capacity,
        "facts": account.facts,
    }
    shown: list[ConsoleRenderable] = [_account_table(account, account.totals, imported)]
    if account.facts:
        shown.append(line(*account.facts))
    if logged is not None:
        read["cells"] = cells_read(logged)
        shown.append(cell_table(logged))
    skipped = sum(imported.skipped.values())
    lines = f"{counted(skipped, 'line')} skipped: {'; '.join(imported.skipped)}"
    warnings = [*account.warnings, *([lines] if skipped else [])]
    warn(warnings)
    answer = header("lpsched-written/1", instance) | {"files": list(held), "log": read, "remarks": warnings}
    console.answer(answer, shown, lines=[f"{file}: {what}" for file, what in held.items()])


def write_with_cells(made: Bag | Clusters | LoggedBag, path: Path, tables: options.Tables | None) -> dict[str, str]:
    """Write an instance, and the samples of a bag's cells beside it; return what each file holds."""
    from lpsched.bag.model import Bag
    from lpsched.instances import write
    from lpsched.io.content import require_place, write_files
    from lpsched.io.instance_files import TableForm
    from lpsched.traces.bags import LoggedBag, cells_as_csv
    from lpsched.traces.jobs import written_unit
    from lpsched.units import counted

    logged, instance = (made, made.bag) if isinstance(made, LoggedBag) else (None, made)
    cells = path.with_name(f"{path.name}.cells.csv")
    if logged is not None:
        require_place(cells)
    *others, own = map(str, write(instance, path, form=None if tables is None else TableForm(tables)))
    if isinstance(instance, Bag):
        machines = counted(instance.machines, "machine")
    else:
        machines = counted(instance.nodes, written_unit(instance.unit))
    held = {file: held_by(file) for file in others} | {own: f"{counted(instance.tasks, 'task')} on {machines}"}
    if logged is not None:
        write_files({cells: cells_as_csv(logged)})
        held = {str(cells): "samples and spread of its tables"} | held
    return held


def cells_read(logged: LoggedBag) -> dict[str, int]:
    """Return how many cells there are, and how many of them are estimated."""
    return {
        "pairs": _pairs(logged),
        "estimated_seconds": int(logged.estimated_seconds.sum()),
        "estimated_watts": int(logged.estimated_watts.sum()),
    }


def _pairs(logged: LoggedBag) -> int:
    """Return how many pairs can run."""
    seconds = logged.bag.seconds
    return seconds.rows * seconds.columns - len(seconds.absent())


def cell_table(logged: LoggedBag, samples: str = "jobs") -> Table:
    """Return the first cells of a bag's tables, with samples, called so, and spread."""
    from lpsched.report.tables import table
    from lpsched.traces.bags import COLUMNS, cell_rows
    from lpsched.units import number, percent

    columns: dict[str, tuple[str, Callable[[Any], str]]] = {
        "task_type": ("task type", str),
        "machine_type": ("on", str),
        "jobs": (samples, "{:,}".format),
        "seconds": ("seconds", number),
        "seconds_variation": ("spread", percent),
        "watts": ("watts", number),
        "watts_variation": ("spread", percent),
        "estimated": ("estimated", str),
    }
    cells = [dict(zip(COLUMNS, row, strict=True)) for row in islice(cell_rows(logged), MOST_CELLS)]
    rows = [tuple(written(cell[name]) for name, (_, written) in columns.items()) for cell in cells]
    more = _pairs(logged) - len(rows)
    if more:
        rows.append((f"... and {more:,} more", *[""] * (len(columns) - 1)))
    return table([title for title, _ in columns.values()], rows, numbers=range(2, 7))


CHANGED: Final = {  # what became of jobs, by its key in JSON, for people
    "jobs submitted before one that stands above them: sorted": "jobs out of order by submission: sorted",
    "jobs of 0 seconds: half a second stands for it": "jobs of 0 s: counted as 0.5 s",
    "jobs without a requested time: the run time stands for it": "jobs without a requested time: the run time is used",
    "jobs that could not start when submitted (dependency, begin time): they arrive when they could": "jobs eligible "
    "after submission: they arrive then",
}


def _account_table(account: Account, totals: Totals, imported: Imported) -> Table:
    """Return in words what became of the log's jobs."""
    from lpsched.report.tables import table
    from lpsched.traces.jobs import written_unit
    from lpsched.units import counted, duration, energy_text, number

    unit, span = written_unit(imported.unit), totals.submit_span_seconds
    rows = [("jobs read", f"{account.read:,}")]
    rows += [(f"line repaired: {reason}", f"{count:,}") for reason, count in imported.repaired.items()]
    rows += [(f"line skipped: {reason}", f"{count:,}") for reason, count in imported.skipped.items()]
    rows += [(f"left out: {reason}", f"{count:,}") for reason, count in account.left_out.items()]
    rows.append(("jobs kept", f"{account.kept:,}"))
    rows += [(f"of them, {CHANGED.get(note, note)}", f"{count:,}") for note, count in account.notes.items()]
    rows.append((f"{unit}-seconds in all", number(totals.width_seconds)))
    rows.append((f"most {unit}s of one job", f"{totals.widest:,}"))
    if span is not None:
        rows.append(("from the first submission to the last", duration(span)))
    if totals.joules is not None:
        rows.append((f"total energy ({counted(totals.jobs_with_joules, 'job')} with data)", energy_text(totals.joules)))
    return table(("", ""), rows, numbers=(1,))


Unit = Literal["auto", "node", "core", "gpu"]  # `lpsched.traces.slurm_units.Unit`, without loading it


def import_slurm(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="The output of 'sacct -P' or 'sacct --json', plain or gzip.", readable=False)
    ],
    output: options.Output,
    to: ToOption = "clusters",
    name: NameOption = None,
    unit: Annotated[
        Unit, typer.Option(help="What a machine is. auto: a node, but a core where jobs share nodes.")
    ] = "auto",
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            "--capacity",
            "--count",
            help="Units of the whole system, or of each cluster, such as batch=64,gpu=8. "
            "[default: as --system says, else the most in use at once]",
        ),
    ] = None,
    nodes: Annotated[list[str] | None, typer.Option(help="The same in nodes: --capacity with --unit node.")] = None,
    system: Annotated[
        Path | None,
        typer.Option(
            help="List of nodes: the output of 'scontrol show node' or sinfo -N -o '%N|%c|%G|%P|%t'.", readable=False
        ),
    ] = None,
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns whose values are the task types, such as partition,qos,name; also size and time. "
            "[default: clusters: one type for each partition; bag: name]"
        ),
    ] = None,
    machines_by: Annotated[
        str | None,
        typer.Option(
            help="Column whose values are the machine types or clusters; 'all': one for all. "
            "[default: partitions; those with nodes in common are one]"
        ),
    ] = None,
    keep_states: Annotated[
        list[str] | None, typer.Option(help="States to keep. [default: clusters: all that ended; bag: COMPLETED]")
    ] = None,
    fill: Annotated[  # noqa: FBT002 - Typer's way
        bool, typer.Option("--fill", help="bag: estimate cells without samples; they are marked.")
    ] = False,
    no_watts: Annotated[  # noqa: FBT002
        bool, typer.Option("--no-watts", help="Leave out powers, which come from the energy of jobs.")
    ] = False,
    watts_per_node: Annotated[
        float | None,
        options.quantity_option(
            "--watts-per-node",
            kind="power",
            help="clusters: power of a busy node (core or GPU, as --unit says) in watts or with a unit; "
            "by default from the energy of jobs.",
        ),
    ] = None,
    cost: CostOption = None,
    weight: WeightOption = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What separates cells. [default: what separates the names of the header]")
    ] = None,
    skip_dirty: Annotated[
        bool | None,
        typer.Option(
            "--skip-dirty/--no-skip-dirty",
            help="Skip malformed lines, and count them, or reject the file. [default: reject if half are malformed]",
        ),
    ] = None,
    tables: options.TablesOption = None,
) -> None:
    """Import Slurm's accounting, with or without steps (-X) and repeated runs (-D).

    Examples
    --------
    lpsched import slurm tests/data/sacct_shared.txt -o log.yaml
    lpsched import slurm tests/data/sacct_shared.txt --to bag --fill -o bag.yaml
    """
    from lpsched.traces.slurm import (
        COMPLETED,
        SlurmChoice,
        SlurmSize,
        bag_of_slurm,
        clusters_of_slurm,
        read_sacct,
        read_system,
    )
    from lpsched.traces.swf import name_of

    if to == "bag":
        unfit: dict[str, object] = {"--cost": cost, "--weight": weight, "--watts-per-node": watts_per_node}
        options.reject(unfit, "with --to bag", "--to clusters")
    else:
        options.reject({"--fill": fill or None}, "with --to clusters", "--to bag")
    if nodes:
        options.reject({"--capacity": capacity}, "with --nodes", "one of them")
        options.reject(
            {"--nodes": nodes if unit not in {"auto", "node"} else None}, f"with --unit {unit}", "--capacity"
        )
        unit = "node"
    if delimiter == "":
        raise options.usage_error("--delimiter", "nothing", "at least one character", "leave it out")
    total, counts = _capacity_of("--nodes" if nodes else "--capacity", nodes or capacity)
    size = SlurmSize(counts=counts, total=total, system=None if system is None else read_system(system))
    log = read_sacct(file, skip_dirty=skip_dirty, delimiter=delimiter)
    named = name if name is not None else name_of(file)
    usual_states = (COMPLETED,) if to == "bag" else None
    choice = SlurmChoice(
        group_by=options.words_of(group_by) if group_by else (("JobName",) if to == "bag" else None),
        machines_by=machines_by,
        states=tuple(state.upper() for state in options.words_of(keep_states)) if keep_states else usual_states,
        unit=unit,
    )
    if to == "bag":
        logged, account = bag_of_slurm(named, log, choice=choice, size=size, fill=fill, watts=not no_watts)
        imported = Imported(logged.bag, account, log.skipped, account.unit or "node", logged, log.repaired)
    else:
        clusters, account = clusters_of_slurm(
            named,
            log,
            choice=choice,
            size=size,
            watts_per_node=watts_per_node,
            watts=not no_watts,
            waiting=waiting_of(cost, weight),
        )
        imported = Imported(clusters, account, log.skipped, clusters.unit, repaired=log.repaired)
    write_import(console_of(context), imported, output, tables)


def _capacity_of(option: str, given: list[str] | None) -> tuple[int | None, dict[str, int]]:
    """Read one number for the whole system, or pairs such as batch=64."""
    whole = given[0].strip() if given and len(given) == 1 else ""
    if whole.isascii() and whole.isdecimal() and len(whole) <= options.LONGEST_COUNT and 1 <= int(whole) <= MOST:
        return int(whole), {}
    if whole and "=" not in whole:
        expected = f"a whole number from 1 to {MOST:,}, or NAME=COUNT"
        raise options.usage_error(option, quote(whole), expected, "correct it")
    return None, sizes_of(option, given)


Times = Literal["real", "requested"]  # how long jobs run: `lpsched.traces.swf`, without loading it
USUAL_GROUPS: dict[Target, tuple[str, ...]] = {"clusters": (), "bag": ("size", "time")}


def import_swf(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The log: .swf, plain or gzip.", readable=False)],
    output: options.Output,
    to: ToOption = "clusters",
    name: NameOption = None,
    times: Annotated[Times, typer.Option(help="Run times of the jobs: as logged, or as requested.")] = "real",
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            help="Fields whose values are the task types: user, group, executable, queue, partition, size, time. "
            "[default: clusters: all jobs are one type; bag: size,time]"
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            help="Number of nodes of the system. [default: MaxProcs of the header, else MaxNodes]", min=1, max=MOST
        ),
    ] = None,
    cores_per_node: Annotated[
        int, typer.Option(help="Processors per node; a job takes whole nodes.", min=1, max=MOST)
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
            help="Whether to keep jobs that failed or were cancelled while running. [default: clusters keep them]",
        ),
    ] = None,
    skip_dirty: SkipOption = False,  # noqa: FBT002 - Typer's way
    first: Annotated[int | None, typer.Option(help="Read only this number of jobs.", min=1)] = None,
    begin: Annotated[
        float,
        options.time_option(
            "--begin", help="Skip jobs submitted before this time of the log, in seconds or with a unit.", least=0.0
        ),
    ] = 0.0,
    end: Annotated[
        float | None,
        options.time_option("--end", help="Skip jobs submitted from this time of the log on, likewise.", least=0.0),
    ] = None,
    tables: options.TablesOption = None,
) -> None:
    """Import a log in the Standard Workload Format.

    Examples
    --------
    lpsched import swf tests/data/small.swf -o clusters.yaml
    """
    from lpsched.traces.swf import SwfChoice, SystemSize, bag_of_swf, clusters_of_swf, name_of, read_swf

    if to == "bag":
        options.reject({"--cost": cost, "--weight": weight}, "with --to bag", "--to clusters")
    if partitions:
        options.reject({"--nodes": nodes}, "with --partitions", "one of them")
    trace = read_swf(file, skip_dirty=skip_dirty, first=first)
    sizes = sizes_of("--partitions", partitions)
    if not all(each.isascii() and each.isdecimal() and len(each) <= options.LONGEST_COUNT for each in sizes):
        expected = "numbers of partitions, such as 1=64,2=128"
        raise options.usage_error("--partitions", quote(",".join(sizes)), expected, "correct it")
    choice = SwfChoice(
        times=times,
        group_by=options.words_of(group_by) if group_by else USUAL_GROUPS[to],
        partitions={int(name): count for name, count in sizes.items()},
        keep_failed=to == "clusters" if keep_failed is None else keep_failed,
        begin_seconds=begin,
        end_seconds=math.inf if end is None else end,
    )
    machines = SystemSize(nodes=nodes, cores_per_node=cores_per_node, watts_per_node=watts_per_node)
    named = name if name is not None else name_of(file)
    if to == "clusters":
        clusters, account = clusters_of_swf(
            named, trace, choice=choice, machines=machines, waiting=waiting_of(cost, weight)
        )
        imported = Imported(clusters, account, trace.skipped, "processor")
    else:
        logged, account = bag_of_swf(named, trace, choice=choice, machines=machines)
        unit = "processor" if cores_per_node == 1 else "node"
        imported = Imported(logged.bag, account, trace.skipped, unit, logged)
    write_import(console_of(context), imported, output, tables)
