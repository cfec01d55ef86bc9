"""`lpsched convert`: the same bag in another format or table form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import Output, TablesOption, form_of
from lpsched.cli.talk import talk_of


def convert(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A bag: a .yaml or .json file.", readable=False)],
    output: Output,
    tables: TablesOption = None,
    *,
    merge: Annotated[bool, typer.Option("--merge", help="Join types that differ only in name.")] = False,
) -> None:
    """Write a file in another format or table form, without loss."""
    from lpsched.cli.answers import write_and_tell
    from lpsched.files.bags import read_bag

    bag = read_bag(file)
    write_and_tell(talk_of(context), bag.merged() if merge else bag, output, form_of(tables))
