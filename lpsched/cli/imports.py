"""`lpsched import`: files of other people's making."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.import_measurements import import_measurements
from lpsched.cli.import_slurm import import_slurm
from lpsched.cli.import_swf import import_swf
from lpsched.cli.options import Output, TablesOption, form_of
from lpsched.cli.talk import talk_of


class FirstColumn(StrEnum):
    """What the first column holds; the names of `lpsched.files.etc.FirstColumn`, without loading it."""

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
        Path,
        typer.Argument(help="Times: Braun/HCSP text, or CSV with machine names as header.", readable=False),
    ],
    output: Output,
    power: Annotated[
        Path | None, typer.Option(help="Watts, a table of the same shape.", readable=False)
    ] = None,
    name: Annotated[str | None, typer.Option(help="The bag's name; the file's name if not given.")] = None,
    first_column: Annotated[
        FirstColumn | None, typer.Option(help="Of a CSV. By default it is seen from header and cells.")
    ] = None,
    tasks_each: Annotated[int, typer.Option(help="Tasks of each type.", min=1)] = 1,
    machines_each: Annotated[int, typer.Option(help="Machines of each type.", min=1)] = 1,
    tables: TablesOption = None,
) -> None:
    """Import a table of estimated times to compute."""
    from lpsched.cli.answers import write_and_tell
    from lpsched.files import etc

    column = None if first_column is None else etc.FirstColumn(first_column.value)
    bag = etc.read_etc(
        file, power=power, name=name, first_column=column, tasks_each=tasks_each, machines_each=machines_each
    )
    write_and_tell(talk_of(context), bag, output, form_of(tables))


import_app.command("swf")(import_swf)
import_app.command("slurm")(import_slurm)
import_app.command("measurements")(import_measurements)
