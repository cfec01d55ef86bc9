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
        Path, typer.Argument(help="A bag, a facility, a day or clusters: .yaml or .json.", readable=False)
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
    from lpsched.files.instances import read_instance
    from lpsched.instance import Bag

    instance = read_instance(file)
    if merge and not isinstance(instance, Bag):
        raise typer.BadParameter(f"--merge: {file} is no bag; leave the option out")
    merged = instance.merged() if merge and isinstance(instance, Bag) else instance
    write_and_tell(talk_of(context), merged, output, form_of(tables))
