"""`lpsched verify`: the check that trusts nobody; it loads no solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.talk import talk_of


def verify(
    context: typer.Context,
    instance: Annotated[
        Path,
        typer.Argument(help="A bag, a facility, a day or clusters: a .yaml or .json file.", readable=False),
    ],
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Certificates and schedules of a bag, proofs and allocations of a facility, "
            "or certificates and schedules of a day or of clusters.",
            readable=False,
        ),
    ],
) -> None:
    """Check certificates, schedules, proofs and allocations, without any solver."""
    from lpsched.auditing import audit
    from lpsched.files.instances import read_instance
    from lpsched.reports.answers import audit_tables

    result = audit(read_instance(instance), files)
    talk_of(context).answer(result.to_dict(), audit_tables(result))
    if not result.accepted:
        raise typer.Exit(1)
