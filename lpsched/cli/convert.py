"""`lpsched convert`: the same instance in another format or table form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import Output, TablesOption, form_of
from lpsched.cli.talk import talk_of


def convert(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="A bag, a facility, a day, clusters or measurements: .yaml or .json.", readable=False
        ),
    ],
    output: Output,
    tables: TablesOption = None,
    *,
    merge: Annotated[
        bool, typer.Option("--merge", help="Join types of a bag that differ only in name.")
    ] = False,
) -> None:
    """Write a file in another format or table form, without loss."""
    from lpsched.cli.answers import write_and_tell
    from lpsched.files.shown import read_shown
    from lpsched.instance import Bag
    from lpsched.instance.bench import Bench
    from lpsched.instance.measurements import Measurements

    instance = read_shown(file)
    if isinstance(instance, Bench):
        raise typer.BadParameter(f"{file} is a bench, which is written by hand only; copy it")
    if isinstance(instance, Measurements) and tables is not None:
        raise typer.BadParameter(f"--tables: {file} is no instance; leave the option out")
    if merge and not isinstance(instance, Bag):
        raise typer.BadParameter(f"--merge: {file} is no bag; leave the option out")
    merged = instance.merged() if merge and isinstance(instance, Bag) else instance
    write_and_tell(talk_of(context), merged, output, form_of(tables))
