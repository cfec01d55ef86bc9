"""`lpsched export`: the linear program for other solvers."""

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
    require_output,
)
from lpsched.cli.talk import talk_of


def export(
    context: typer.Context,
    bag: BagFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model: .lp or .mps.")],
    objective: ObjectiveOption = None,
    price: Price = None,
    profit_ratio: ProfitRatio = None,
    power_cap: PowerCap = None,
    deadline: Deadline = None,
) -> None:
    """Write the linear program for other solvers; its optimum is the objective, to be minimised."""
    from lpsched.cli.answers import header
    from lpsched.files.bags import read_bag
    from lpsched.files.writing import write_files
    from lpsched.pipeline import export as export_bag

    require_output(output, (".lp", ".mps"), bag)
    kind = output.suffix.lower().removeprefix(".")
    read = read_bag(bag)
    text = export_bag(
        read,
        kind,
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
    )
    write_files({output: text.encode()})
    answer = header("lpsched-written/1", read) | {"files": [str(output)]}
    talk_of(context).answer(answer, text=f"{output}: the linear program, {text.count(chr(10)):,} lines\n")
