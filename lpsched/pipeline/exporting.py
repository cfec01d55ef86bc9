"""The linear program behind a question, for other solvers: its optimum is the objective in its own unit.

Minimised, as the program is: the optimum of a profit program is the negative of the money per hour.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.formulations import front, profit
from lpsched.formulations.scales import scales_of
from lpsched.lp.pulp import model_text
from lpsched.pipeline.questions import ask
from lpsched.pipeline.solvers import default_solver

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import LinearProgram

KINDS: Final = ("lp", "mps")


def export(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    kind: str,
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
) -> str:
    """Return the linear program as the text of an `lp` or `mps` file; options as in `solve`.

    Raises
    ------
    ValueError
        If the kind or the objective is not known.
    InstanceError
        If an option is not sound, or the bag lacks what the objective needs.
    MissingExtraError
        If PuLP is not installed.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}, needs one of {', '.join(KINDS)}")
    question = ask(
        bag,
        solver=default_solver(),
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
    )
    return model_text(_program(question.bag, question.objective.name), kind)


def _program(bag: Bag, objective: str) -> LinearProgram:
    scales = scales_of(bag)
    if objective == "profit":
        money = profit.money_of(scales)
        program = profit.compile_lp(scales, money)
        hourly = profit.SECONDS_PER_HOUR * money.unit / scales.seconds
        return replace(program, costs=program.costs * hourly, offset=profit.SECONDS_PER_HOUR * money.standing)
    weights = front.MAKESPAN if objective == "makespan" else front.ENERGY
    program = front.compile_lp(scales, weights)
    return replace(program, name=objective, costs=program.costs * front.unit_of(scales, weights))
