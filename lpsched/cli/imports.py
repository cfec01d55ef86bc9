"""`lpsched import`: tables, measurements and logs become instances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli import options
from lpsched.cli.console import console_of, header, write_and_print
from lpsched.cli.import_logs import (
    cell_table,
    cells_read,
    import_slurm,
    import_swf,
    pairs_of,
    sizes_of,
    write_with_cells,
)
from lpsched.cli.measure import named, warn
from lpsched.cli.options import Output, TablesOption, add_command, new_app, quantity_option, reject

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.facility.model import Facility
    from lpsched.measure.bags import Joined


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
        "runs": {"read": len(runs), "kept": int(measured.cells.tasks.sum()), "cells": cells_read(measured)},
        "remarks": list(remarks),
    }
    console.answer(answer, [cell_table(measured, "runs")], [f"{file}: {what}" for file, what in held.items()])


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
