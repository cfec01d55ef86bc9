"""`lpsched import`: tables, measurements and logs become instances."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.console import talk_of
from lpsched.cli.import_logs import import_slurm, import_swf
from lpsched.cli.import_options import ENDINGS, sizes_of
from lpsched.cli.options import Output, TablesOption, form_of, refuse, require_output
from lpsched.errors import LpschedWarning

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.facility.model import Facility
    from lpsched.measure.bags import Form, Joined
    from lpsched.measure.measurements import Measurements


class JoinTarget(StrEnum):
    """What to make of measurements."""

    BAG = "bag"
    FACILITY = "facility"


class Per(StrEnum):
    """What a machine of the bag is."""

    NODE = "node"
    CORE = "core"


class Degradation(StrEnum):
    """How to write degradation; the words of `lpsched.measure.bags`, without loading it."""

    CLASSES = "classes"
    FULL = "full"


def import_measurements(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(help="What 'lpsched measure' wrote, a file per machine type.", readable=False)
    ],
    output: Output,
    to: Annotated[
        JoinTarget, typer.Option("--to", help="For 'lpsched solve', or 'lpsched facility'.")
    ] = JoinTarget.BAG,
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
    from lpsched.cli.console import write_and_tell
    from lpsched.measure.files import read_measurements

    unfit: dict[str, object]
    if to is JoinTarget.BAG:
        unfit = {"--room": room, "--power-cap": power_cap, "--degradation": degradation}
    else:
        unfit = {"--tasks": tasks, "--per": per}
    other = JoinTarget.FACILITY if to is JoinTarget.BAG else JoinTarget.BAG
    refuse(unfit, f"only with --to {other}; drop it")
    if len(files) > 1:
        refuse({"--machine-type": machine_type}, "names one file's; drop it, or name one file")
    require_output(output, ENDINGS, *files, *([room] if room is not None else []))
    found = [read_measurements(file) for file in files]
    if machine_type is not None:
        found = [found[0].model_copy(update={"machine_type": _named(machine_type)})]
    joined: Joined[Bag] | Joined[Facility]
    if to is JoinTarget.BAG:
        joined = _bag(found, output, name=name, count=count, tasks=tasks, per=per)
    else:
        form: Form | None = None
        if degradation is not None:
            form = "classes" if degradation is Degradation.CLASSES else "full"
        joined = _facility(found, output, name=name, count=count, room=room, cap=power_cap, form=form)
    for remark in joined.remarks:
        warnings.warn(remark, LpschedWarning, stacklevel=1)
    write_and_tell(talk_of(context), joined.instance, output, form_of(tables), remarks=list(joined.remarks))


def _named(machine_type: str) -> str:
    from pydantic_core import PydanticCustomError

    from lpsched.model.fields import check_name

    try:
        return check_name(machine_type)
    except PydanticCustomError as refused:
        raise typer.BadParameter(refused.message(), param_hint="--machine-type") from None


def _bag(
    found: list[Measurements],
    output: Path,
    *,
    name: str | None,
    count: list[str] | None,
    tasks: list[str] | None,
    per: Per | None,
) -> Joined[Bag]:
    from lpsched.measure.bags import bag_of

    return bag_of(
        found,
        name=output.stem if name is None else name,
        counts=sizes_of("--count", count),
        tasks=sizes_of("--tasks", tasks),
        per="core" if per is Per.CORE else "node",
    )


def _facility(
    found: list[Measurements],
    output: Path,
    *,
    name: str | None,
    count: list[str] | None,
    room: Path | None,
    cap: float | None,
    form: Form | None,
) -> Joined[Facility]:
    from lpsched.measure.facilities import facility_in, facility_of

    counts = sizes_of("--count", count)
    if room is not None:
        return facility_in(room, found, name=name, nodes=counts, power_cap_watts=cap, degradation=form)
    own = output.stem if name is None else name
    return facility_of(found, name=own, nodes=counts, power_cap_watts=cap, degradation=form)


class FirstColumn(StrEnum):
    """What the first column holds; the names of `lpsched.traces.etc.FirstColumn`, without loading it."""

    NAMES = "names"
    TIMES = "times"


import_app = typer.Typer(
    help="Make an lpsched file of other people's files.", no_args_is_help=True, rich_markup_mode=None
)


@import_app.callback()
def _kinds() -> None:
    """Make an lpsched file of other people's files."""


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
    from lpsched.cli.console import write_and_tell
    from lpsched.traces import etc

    column = None if first_column is None else etc.FirstColumn(first_column.value)
    bag = etc.read_etc(
        file, power=power, name=name, first_column=column, tasks_each=tasks_each, machines_each=machines_each
    )
    write_and_tell(talk_of(context), bag, output, form_of(tables))


import_app.command("swf")(import_swf)
import_app.command("slurm")(import_slurm)
import_app.command("measurements")(import_measurements)
