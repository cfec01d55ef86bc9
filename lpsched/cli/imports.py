"""`lpsched import`: tables, measurements and logs become instances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli.console import talk_of, write_and_tell
from lpsched.cli.import_logs import import_slurm, import_swf, sizes_of
from lpsched.cli.measure import named, warn
from lpsched.cli.options import ENDINGS, Output, TablesOption, refuse, require_output

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
        list[Path], typer.Argument(help="What 'lpsched measure' wrote, a file per machine type.", readable=False)
    ],
    output: Output,
    to: Annotated[JoinTarget, typer.Option("--to", help="For 'lpsched solve', or 'lpsched facility'.")] = "bag",
    name: Annotated[str | None, typer.Option(help="The instance's name. [default: the room's or output's]")] = None,
    count: Annotated[
        list[str] | None, typer.Option(help="Nodes of each machine type, such as old=64,new=8. [default: 1 each]")
    ] = None,
    machine_type: Annotated[
        str | None, typer.Option(help="What the machine type is called, in place of the file's; of one file.")
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="bag: tasks of each application, such as sort=100. [default: the bench's counts]"),
    ] = None,
    per: Annotated[Per | None, typer.Option(help="bag: what a machine is. [default: node, one task at a time]")] = None,
    room: Annotated[
        Path | None,
        typer.Option(
            help="facility: a facility file that may leave out what was measured. [default: a plain room]",
            readable=False,
        ),
    ] = None,
    power_cap: Annotated[
        float | None, typer.Option(help="facility: watts of nodes and cooling. [default: the room's, or full power]")
    ] = None,
    degradation: Annotated[
        Degradation | None,
        typer.Option(help="facility: by memory class or in full. [default: classes where all are known]"),
    ] = None,
    tables: TablesOption = None,
) -> None:
    """Import what 'lpsched measure' found out, on one machine or on several."""
    from lpsched.measure.files import read_measurements

    unfit: dict[str, object]
    if to == "bag":
        unfit = {"--room": room, "--power-cap": power_cap, "--degradation": degradation}
    else:
        unfit = {"--tasks": tasks, "--per": per}
    refuse(unfit, f"only with --to {'facility' if to == 'bag' else 'bag'}; drop it")
    if len(files) > 1:
        refuse({"--machine-type": machine_type}, "names one file's; drop it, or name one file")
    require_output(output, ENDINGS, *files, *([room] if room is not None else []))
    found = [read_measurements(file) for file in files]
    if machine_type is not None:
        found = [named(found[0], machine_type)]
    counts, own = sizes_of("--count", count), output.stem if name is None else name
    joined: Joined[Bag] | Joined[Facility]
    if to == "bag":
        from lpsched.measure.bags import bag_of

        joined = bag_of(found, name=own, counts=counts, tasks=sizes_of("--tasks", tasks), per=per or "node")
    else:
        from lpsched.measure.facilities import facility_in, facility_of

        in_room: dict[str, Any] = {"nodes": counts, "power_cap_watts": power_cap, "degradation": degradation}
        joined = (
            facility_of(found, name=own, **in_room) if room is None else facility_in(room, found, name=name, **in_room)
        )
    warn(joined.remarks)
    write_and_tell(talk_of(context), joined.instance, output, tables, remarks=list(joined.remarks))


import_app = typer.Typer(
    help="Make an lpsched file of other people's files.", no_args_is_help=True, rich_markup_mode=None
)


@import_app.command("etc")
def import_etc(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="Times: Braun/HCSP text, or CSV with machine names as header.", readable=False)
    ],
    output: Output,
    power: Annotated[Path | None, typer.Option(help="Watts, a table of the same shape.", readable=False)] = None,
    name: Annotated[str | None, typer.Option(help="The bag's name; the file's name if not given.")] = None,
    first_column: Annotated[
        FirstColumn | None, typer.Option(help="Of a CSV. By default it is seen from header and cells.")
    ] = None,
    tasks_each: Annotated[int, typer.Option(help="Tasks of each type.", min=1)] = 1,
    machines_each: Annotated[int, typer.Option(help="Machines of each type.", min=1)] = 1,
    tables: TablesOption = None,
) -> None:
    """Import a table of estimated times to compute."""
    from lpsched.traces import etc

    column = None if first_column is None else etc.FirstColumn(first_column)
    bag = etc.read_etc(
        file, power=power, name=name, first_column=column, tasks_each=tasks_each, machines_each=machines_each
    )
    write_and_tell(talk_of(context), bag, output, tables)


import_app.command("swf")(import_swf)
import_app.command("slurm")(import_slurm)
import_app.command("measurements")(import_measurements)
