"""The option `--risk` of several commands: what to sample, in one text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lpsched.risk.options import RiskOptions

RiskOption = Annotated[
    str | None,
    typer.Option(
        "--risk",
        metavar="samples=N,cov=X",
        help="Sample times and powers around the tables' means: samples=1000,cov=0.3, or a range, "
        "cov=0.1-1.5; also power-cov=0.1 and percentiles=5/50/95.",
    ),
]


def risk_asked(text: str | None, *, ranks: bool = False) -> RiskOptions | None:
    """Read the option; `ranks` says whether the command may rank by a percentile.

    Raises
    ------
    InstanceError
        If it does not say what to sample.
    """
    from lpsched.risk.options import RiskOptions

    return None if text is None else RiskOptions.read(text, ranks=ranks)
