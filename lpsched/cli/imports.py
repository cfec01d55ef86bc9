"""`lpsched import`: tables, measurements and logs become instances, with an account of what became of their jobs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from lpsched.cli import options
from lpsched.cli.console import Console, console_of, header, held_by, write_and_print
from lpsched.cli.measure import named, warn
from lpsched.cli.options import Output, TablesOption, add_command, new_app, quantity_option, reject
from lpsched.errors import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.table import Table

    from lpsched.bag.model import Bag
    from lpsched.facility.model import Facility
    from lpsched.measure.bags import Joined
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
            raise options.usage_error(option, quote(word), "NAME=COUNT, each name once", "correct it")
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


def write_import(console: Console, imported: Imported, path: Path, tables: options.Tables | None) -> None:
    """Write the instance, for a bag also the samples of its cells; print the names of the files."""
    instance, account, logged = imported.instance, imported.account, imported.logged
    assert account.totals is not None, "totals of all jobs are known"
    held = write_with_cells(instance if logged is None else logged, path, tables)
    read = {
        "jobs_read": account.read,
        "jobs_kept": account.kept,
        "left_out": account.left_out,
        "changed": account.notes,
        "dirty_lines": dict(imported.skipped),
        "totals": asdict(account.totals),
    }
    shown = [_account_table(account, account.totals, imported)]
    if logged is not None:
        read["cells"] = _cells_read(logged)
        shown.append(_cell_table(logged))
    answer = header("lpsched-written/1", instance) | {"files": list(held), "log": read}
    console.answer(answer, shown, text="".join(f"{file}: {what}\n" for file, what in held.items()))


def write_with_cells(made: Bag | Clusters | LoggedBag, path: Path, tables: options.Tables | None) -> dict[str, str]:
    """Write an instance, and the samples of a bag's cells beside it; return what each file holds."""
    from lpsched.bag.model import Bag
    from lpsched.instances import write
    from lpsched.io.content import require_place, write_files
    from lpsched.io.instance_files import TableForm
    from lpsched.traces.bags import LoggedBag, cells_as_csv
    from lpsched.units import counted

    logged, instance = (made, made.bag) if isinstance(made, LoggedBag) else (None, made)
    cells = path.with_name(f"{path.name}.cells.csv")
    if logged is not None:
        require_place(cells)
    *others, own = map(str, write(instance, path, form=None if tables is None else TableForm(tables)))
    machines = counted(instance.machines, "machine") if isinstance(instance, Bag) else counted(instance.nodes, "node")
    held = {file: held_by(file) for file in others} | {own: f"{counted(instance.tasks, 'task')} on {machines}"}
    if logged is not None:
        write_files({cells: cells_as_csv(logged)})
        held = {str(cells): "samples and spread of its tables"} | held
    return held


def _cells_read(logged: LoggedBag) -> dict[str, int]:
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


def _cell_table(logged: LoggedBag, samples: str = "jobs") -> Table:
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
}


def _account_table(account: Account, totals: Totals, imported: Imported) -> Table:
    """Return in words what became of the log's jobs."""
    from lpsched.report.tables import table
    from lpsched.units import counted, duration, energy_text, number

    unit, span = imported.unit, totals.submit_span_seconds
    rows = [("jobs read", f"{account.read:,}")]
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


def import_slurm(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The output of 'sacct -P', plain or gzip.", readable=False)],
    output: options.Output,
    to: ToOption = "bag",
    name: NameOption = None,
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns whose values are the task types, such as partition,name; also size and time. "
            "[default: bag: name; clusters: all jobs are one type]"
        ),
    ] = None,
    machines_by: Annotated[
        str, typer.Option(help="Column whose values are the machine types or clusters; 'all': one for all.")
    ] = "Partition",
    count: Annotated[
        list[str] | None,
        typer.Option(help="Number of nodes of each, such as batch=64,gpu=8. [default: the most in use at once]"),
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
    tables: options.TablesOption = None,
) -> None:
    """Import Slurm's accounting, with or without steps (-X).

    Examples
    --------
    lpsched import slurm tests/data/sacct_with_steps.txt -o bag.yaml --fill
    """
    from lpsched.traces.slurm import COMPLETED, SlurmChoice, bag_of_slurm, clusters_of_slurm, read_sacct
    from lpsched.traces.swf import name_of

    if to == "bag":
        unfit: dict[str, object] = {"--cost": cost, "--weight": weight, "--watts-per-node": watts_per_node}
        options.reject(unfit, "with --to bag", "--to clusters")
    else:
        options.reject({"--fill": fill or None, "--no-watts": no_watts or None}, "with --to clusters", "--to bag")
    counts = sizes_of("--count", count)
    log = read_sacct(file, skip_dirty=skip_dirty)
    named = name if name is not None else name_of(file)
    usual_states = (COMPLETED,) if to == "bag" else None
    choice = SlurmChoice(
        group_by=options.words_of(group_by) if group_by else (("JobName",) if to == "bag" else ()),
        machines_by=machines_by,
        states=tuple(state.upper() for state in options.words_of(keep_states)) if keep_states else usual_states,
    )
    if to == "bag":
        logged, account = bag_of_slurm(named, log, choice=choice, counts=counts, fill=fill, watts=not no_watts)
        imported = Imported(logged.bag, account, log.skipped, "node", logged)
    else:
        clusters, account = clusters_of_slurm(
            named, log, choice=choice, counts=counts, watts_per_node=watts_per_node, waiting=waiting_of(cost, weight)
        )
        imported = Imported(clusters, account, log.skipped, "node")
    write_import(console_of(context), imported, output, tables)


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


JoinTarget = Literal["bag", "facility"]  # what to make of measurements
Per = Literal["node", "core"]  # what a machine of the bag is
Degradation = Literal["classes", "full"]  # `lpsched.measure.bags.Form`, without loading it
FirstColumn = Literal["names", "times"]  # `lpsched.traces.etc.FirstColumn`, without loading it


def import_measurements(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(help="Measurements of 'lpsched measure', one file per machine type.", readable=False)
    ],
    output: Output,
    to: Annotated[JoinTarget, typer.Option("--to", help="What to make of them.")] = "bag",
    name: Annotated[str | None, typer.Option(help="The instance's name. [default: the room's or output's]")] = None,
    count: Annotated[
        list[str] | None, typer.Option(help="Nodes of each machine type, such as old=64,new=8. [default: 1 each]")
    ] = None,
    machine_type: Annotated[
        str | None, typer.Option(help="Name of the machine type; replaces the file's. With one file only.")
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="bag: tasks of each application, such as sort=100. [default: the bench's counts]"),
    ] = None,
    per: Annotated[
        Per | None, typer.Option(help="bag: what one machine of the bag is. [default: node, one task at a time]")
    ] = None,
    room: Annotated[
        Path | None,
        typer.Option(
            help="facility: a facility file that may leave out what was measured. [default: the default room]",
            readable=False,
        ),
    ] = None,
    power_cap: Annotated[
        float | None,
        quantity_option(
            "--power-cap",
            kind="power",
            help="facility: cap of nodes and cooling in watts or with a unit. [default: the room's, or full power]",
        ),
    ] = None,
    degradation: Annotated[
        Degradation | None,
        typer.Option(help="facility: degradation by memory class or in full. [default: classes where all are known]"),
    ] = None,
    tables: TablesOption = None,
) -> None:
    """Import measurements of one machine type or several.

    Examples
    --------
    lpsched import measurements tests/data/node_old.yaml -o bag.yaml
    """
    from lpsched.measure.files import read_measurements

    unfit: dict[str, object]
    if to == "bag":
        unfit = {"--room": room, "--power-cap": power_cap, "--degradation": degradation}
    else:
        unfit = {"--tasks": tasks, "--per": per}
    reject(unfit, f"with --to {to}", f"--to {'facility' if to == 'bag' else 'bag'}")
    if len(files) > 1:
        reject({"--machine-type": machine_type}, f"with {len(files)} files", "one file")
    found = [read_measurements(file) for file in files]
    if machine_type is not None:
        found = [named(found[0], machine_type)]
    counts, own = sizes_of("--count", count), output.stem if name is None else name
    joined: Joined[Bag] | Joined[Facility]
    if to == "bag":
        from lpsched.measure.bags import bag_of

        joined = bag_of(found, name=own, counts=counts, tasks=sizes_of("--tasks", tasks), per=per or "node")
    else:
        from lpsched.facility.rules import require_cap
        from lpsched.measure.facilities import facility_in, facility_of

        in_room: dict[str, Any] = {"nodes": counts, "power_cap_watts": power_cap, "degradation": degradation}
        joined = (
            facility_of(found, name=own, **in_room) if room is None else facility_in(room, found, name=name, **in_room)
        )
        require_cap(joined.instance)
    warn(joined.remarks)
    write_and_print(console_of(context), joined.instance, output, tables, remarks=list(joined.remarks))


Source = Literal["table", "zeus", "veed", "mlperf"]  # `lpsched.traces.published.SOURCES`, without loading it
NamedOption = Annotated[str | None, typer.Option(help="Name of the instance; by default that of the output.")]
CountOption = Annotated[
    list[str] | None, typer.Option(help="Machines of each type, such as a100=8,v100=16; others by --machines-each.")
]


def import_runs(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(help="Tables with one row per run: .csv, plain or gzip, or .parquet.", readable=False),
    ],
    output: Output,
    source: Annotated[Source, typer.Option(help="Whose tables they are: your own, or a published data set.")] = "table",
    columns: Annotated[
        list[str] | None,
        typer.Option(help="table: what columns are called there, such as task=model,machine=gpu,seconds=runtime."),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Keep only rows with these values, such as version=v3.1,Scenario=Offline.")
    ] = None,
    name: NamedOption = None,
    count: CountOption = None,
    machines_each: Annotated[int, typer.Option(help="Number of machines of each type.", min=1)] = 1,
    tasks: Annotated[
        list[str] | None, typer.Option(help="Tasks of each type, such as encode=500; others by --tasks-each.")
    ] = None,
    tasks_each: Annotated[int, typer.Option(help="Number of tasks of each type.", min=1)] = 1,
    complete: Annotated[  # noqa: FBT002 - Typer's way
        bool, typer.Option("--complete", help="Keep only task types with a run on every machine and in every P-state.")
    ] = False,
    distinct: Annotated[  # noqa: FBT002
        bool, typer.Option("--distinct", help="Count rows that agree in every digit once.")
    ] = False,
    fill: Annotated[  # noqa: FBT002
        bool, typer.Option("--fill", help="Estimate cells without runs; they are marked.")
    ] = False,
    no_watts: Annotated[bool, typer.Option("--no-watts", help="Leave powers out.")] = False,  # noqa: FBT002
    tables: TablesOption = None,
) -> None:
    """Import measured runs: a bag of their means, with their spread.

    Examples
    --------
    lpsched import runs tests/data/runs.csv -o bag.yaml --count cpu=8,gpu=2
    """
    from lpsched.traces.published import read_runs
    from lpsched.traces.runs import RunChoice, bag_of_runs

    if source != "table":
        reject({"--columns": columns}, f"with --source {source}", "--source table")
    pairs = {option: pairs_of(option, given) for option, given in (("--columns", columns), ("--where", where))}
    runs = read_runs(files, source, columns=pairs["--columns"], where=pairs["--where"], distinct=distinct)
    choice = RunChoice(
        tasks=sizes_of("--tasks", tasks),
        tasks_each=tasks_each,
        machines=sizes_of("--count", count),
        machines_each=machines_each,
        complete=complete,
        fill=fill,
        watts=not no_watts,
    )
    measured, remarks = bag_of_runs(output.stem if name is None else name, runs, choice)
    for what, given, those in (
        ("task", tasks or tasks_each > 1, "tasks"),
        ("machine", count or machines_each > 1, "count"),
    ):
        if not given:
            remarks = (*remarks, f"one {what} of each type: set how many with --{what}s-each and --{those}")
    warn(remarks)
    console = console_of(context)
    held = write_with_cells(measured, output, tables)
    answer = header("lpsched-written/1", measured.bag) | {
        "files": list(held),
        "runs": {"read": len(runs), "kept": int(measured.cells.tasks.sum()), "cells": _cells_read(measured)},
        "remarks": list(remarks),
    }
    console.answer(
        answer, [_cell_table(measured, "runs")], text="".join(f"{file}: {what}\n" for file, what in held.items())
    )


def import_gavel(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Gavel's throughputs: .json, plain or gzip.", readable=False)],
    output: Output,
    gpu: Annotated[str, typer.Option(help="Which GPU type of the file.")] = "v100",
    count: Annotated[int, typer.Option(help="Number of GPUs.", min=1, max=20_000)] = 16,
    load: Annotated[float, typer.Option(help="Arriving work, by what all GPUs could do.", min=0.01, max=1e6)] = 2.0,
    idle_watts: Annotated[
        float, quantity_option("--idle-watts", kind="power", help="Assumed power of an idle GPU.")
    ] = 40.0,
    full_watts: Annotated[
        float, quantity_option("--full-watts", kind="power", help="Assumed power of a GPU with two jobs.")
    ] = 250.0,
    name: NamedOption = None,
    tables: TablesOption = None,
) -> None:
    """Import training jobs that share GPUs in pairs, as a facility.

    Examples
    --------
    lpsched import gavel tests/data/gavel.json -o shared.yaml --count 4
    """
    from lpsched.traces.published import SharedGpus, read_gavel

    if full_watts < idle_watts:
        raise options.usage_error(
            "--full-watts", f"{full_watts:g} W", f"at least --idle-watts, {idle_watts:g} W", "raise it"
        )
    choice = SharedGpus(gpu=gpu, count=count, load=load, idle_watts=idle_watts, full_watts=full_watts)
    facility = read_gavel(file, output.stem if name is None else name, choice)
    remarks = ["power, room and arrivals are assumed; only speeds are measured"]
    warn(remarks)
    write_and_print(console_of(context), facility, output, tables, remarks=remarks)


import_app = new_app(
    help="Make instances from tables, logs and measurements.",
    epilog=options.epilog_of("lpsched import swf tests/data/small.swf -o clusters.yaml"),
)


def import_etc(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help="Times in seconds: Braun/HCSP text, or CSV with machine names as header.", readable=False),
    ],
    output: Output,
    power: Annotated[
        Path | None, typer.Option(help="Table of powers in watts, of the same shape.", readable=False)
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the bag; by default that of the file.")] = None,
    first_column: Annotated[
        FirstColumn | None, typer.Option(help="CSV: content of the first column; by default detected.")
    ] = None,
    tasks_each: Annotated[int, typer.Option(help="Number of tasks of each type.", min=1)] = 1,
    machines_each: Annotated[int, typer.Option(help="Number of machines of each type.", min=1)] = 1,
    zero_as: Annotated[
        float | None,
        quantity_option(
            "--zero-as", kind="time", help="Replace times of 0 by this time; by default they are an error."
        ),
    ] = None,
    tables: TablesOption = None,
) -> None:
    """Import a table of estimated times to compute (ETC).

    Examples
    --------
    lpsched convert instances/tiny.yaml -o tiny.yaml --tables csv
    lpsched import etc tiny.yaml.seconds.csv -o bag.yaml
    """
    from lpsched.traces import etc

    column = None if first_column is None else etc.FirstColumn(first_column)
    bag = etc.read_etc(
        file,
        power=power,
        name=name,
        first_column=column,
        tasks_each=tasks_each,
        machines_each=machines_each,
        zero_as=zero_as,
    )
    write_and_print(console_of(context), bag, output, tables)


add_command(import_app, import_etc, "etc")
add_command(import_app, import_swf, "swf")
add_command(import_app, import_slurm, "slurm")
add_command(import_app, import_measurements, "measurements")
add_command(import_app, import_runs, "runs")
add_command(import_app, import_gavel, "gavel")
