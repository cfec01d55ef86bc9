"""`lpsched new`: a commented file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import Kind
from lpsched.cli.talk import talk_of


def new(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(help="What to start.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A new file; printed if not given.")
    ] = None,
) -> None:
    """Start a file: a commented template with every key."""
    from importlib.metadata import version

    from lpsched.files.templates import TEMPLATES
    from lpsched.files.writing import write_files

    text = TEMPLATES[kind.value]
    content: dict[str, object] = {
        "format": "lpsched-new/1",
        "lpsched": version("lpsched"),
        "kind": kind.value,
    }
    if output is None:
        talk_of(context).answer(content | {"text": text}, text=text)
        return
    then = "study run" if kind is Kind.STUDY else "show"
    write_files({output: text.encode()}, replace=False)
    talk_of(context).answer(
        content | {"files": [str(output)]}, text=f"{output}: edit it, then 'lpsched {then} {output}'\n"
    )
