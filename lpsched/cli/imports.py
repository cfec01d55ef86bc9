"""`lpsched import`: files of other people's making."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import Output, TablesOption, form_of
from lpsched.cli.talk import talk_of

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
        Path, typer.Argument(help="Times: Braun/HCSP text, or CSV with machine names as header.")
    ],
    output: Output,
    power: Annotated[Path | None, typer.Option(help="Watts, a table of the same shape.")] = None,
    name: Annotated[str | None, typer.Option(help="The bag's name; the file's name if not given.")] = None,
    tasks_each: Annotated[int, typer.Option(help="Tasks of each type.", min=1)] = 1,
    machines_each: Annotated[int, typer.Option(help="Machines of each type.", min=1)] = 1,
    tables: TablesOption = None,
) -> None:
    """Import a table of estimated times to compute."""
    from lpsched.cli.answers import write_and_tell
    from lpsched.files.etc import read_etc

    bag = read_etc(file, power=power, name=name, tasks_each=tasks_each, machines_each=machines_each)
    write_and_tell(talk_of(context), bag, output, form_of(tables))
