"""`lpsched certify`: a proof that travels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli.options import (
    BagFile,
    Deadline,
    ObjectiveOption,
    PowerCap,
    Price,
    ProfitRatio,
    SolverName,
    require_output,
)
from lpsched.cli.talk import talk_of


def certify(
    context: typer.Context,
    bag: BagFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="The certificate: a .json file.")],
    objective: ObjectiveOption = None,
    price: Price = None,
    profit_ratio: ProfitRatio = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
    solver: SolverName = "highs",
) -> None:
    """Write the bound and the prices that prove it, for anybody to check."""
    from lpsched.files.bags import read_bag
    from lpsched.files.certificates import as_dict, write_certificate
    from lpsched.pipeline import certify as certify_bag
    from lpsched.pipeline import solver_named
    from lpsched.reports.answers import certificate_line
    from lpsched.result.provenance import version_of_lpsched

    require_output(output, (".json",), bag)
    made = certify_bag(
        read_bag(bag),
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
        solver=solver_named(solver),
    )
    write_certificate(made, output, version_of_lpsched())
    answer = as_dict(made, version_of_lpsched()) | {"files": [str(output)]}
    talk_of(context).answer(answer, text=certificate_line(made, str(output)))
