"""`lpsched verify`: the check that trusts nobody; it loads no solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import BagFile
from lpsched.cli.talk import talk_of


def verify(
    context: typer.Context,
    bag: BagFile,
    files: Annotated[list[Path], typer.Argument(help="Certificates and schedules to check.", readable=False)],
) -> None:
    """Check certificates and schedules against the bag, without any solver."""
    from lpsched.auditing import audit
    from lpsched.files.bags import read_bag
    from lpsched.reports.answers import audit_tables

    result = audit(read_bag(bag), files)
    talk_of(context).answer(result.to_dict(), audit_tables(result))
    if not result.accepted:
        raise typer.Exit(1)
