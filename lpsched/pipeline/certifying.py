"""A certificate for a bag: the bound of a solve, and the prices that prove it to anybody."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.certificate.claim import Certificate
from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.proving import prove
from lpsched.pipeline.questions import ask
from lpsched.pipeline.solvers import default_solver

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver


def certify(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    solver: Solver | None = None,
) -> Certificate:
    """Find a bound that no schedule can pass, and the prices that prove it; options as in `solve`.

    Raises
    ------
    ValueError, InstanceError, InfeasibleError, SolverError
        As `solve` does.
    """
    solver = solver if solver is not None else default_solver()
    question = ask(
        bag,
        solver=solver,
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
    )
    asked, proved = question.objective, prove(question, solver)
    names = (machine.name for machine in bag.machine_types)
    return Certificate(
        instance_name=bag.name,
        instance_hash=bag.content_hash,
        objective=asked.name,
        unit=asked.unit(bag),
        bound=Fraction(proved.bound),
        terms=question.terms,
        machine_prices=FrozenDict(
            zip(names, (Fraction(each) for each in proved.prices.machines), strict=True)
        ),
        cap_price=Fraction(proved.prices.cap),
    )
