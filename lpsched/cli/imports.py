"""`lpsched import`: tables, measurements and logs become instances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli.commands import add_command, new_app
from lpsched.cli.console import console_of, write_and_print
from lpsched.cli.import_logs import import_slurm, import_swf, sizes_of
from lpsched.cli.measure import named, warn
from lpsched.cli.options import Output, TablesOption, quantity_option, reject

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
    reject(unfit, f"only with --to {'facility' if to == 'bag' else 'bag'}; drop it")
    if len(files) > 1:
        reject({"--machine-type": machine_type}, "names one file's; drop it, or name one file")
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


import_app = new_app(help="Make instances of tables, logs and measurements.")


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
        file, power=power, name=name, first_column=column, tasks_each=tasks_each, machines_each=machines_each
    )
    write_and_print(console_of(context), bag, output, tables)


add_command(import_app, import_etc, "etc")
add_command(import_app, import_swf, "swf")
add_command(import_app, import_slurm, "slurm")
add_command(import_app, import_measurements, "measurements")
