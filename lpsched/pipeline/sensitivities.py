"""Three questions about a bag: the price it needs, what electricity may cost, how many machines to add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.formulations.profit import revenue_of
from lpsched.instance.fields import SMALLEST, Amount
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.terms import checked
from lpsched.pipeline.electricity_needs import electricity_need
from lpsched.pipeline.feasibility import require_power, require_time
from lpsched.pipeline.machine_needs import Present, is_large, machine_needs
from lpsched.pipeline.marginals import marginal_values
from lpsched.pipeline.price_needs import price_need
from lpsched.pipeline.proving import prove, prover_of
from lpsched.pipeline.questions import ask
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.solving import DEFAULT_GAP, answer
from lpsched.pipeline.steps import marginals_named
from lpsched.pipeline.timing import timed
from lpsched.pipeline.trying import effort_named
from lpsched.result.provenance import provenance_of
from lpsched.result.sensitivity import Sensitivity

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.questions import Question
    from lpsched.pipeline.steps import Marginals
    from lpsched.result.sensitivity import ElectricityNeed, MachineNeed
    from lpsched.result.solve import Effort, Result

CHECK_HOURS: Final = Amount("hours", least=SMALLEST)
MOST_PAIRS: Final = 5_000  # some 200 pieces, each some programs of 0.1 s
NO_PRICE: Final = "without a price only the first question has an answer; give one (--price, --profit-ratio)"


def sensitivity(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    *,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    lifetime_hours: float | None = None,
    effort: str | None = None,
    marginals: str = "top",
    seed: int = 0,
    solver: Solver | None = None,
) -> Sensitivity:
    """Return which price the bag needs, what electricity may cost, and how many more machines are worthwhile.

    Parameters
    ----------
    price, profit_ratio
        What the whole bag sells for, in place of the bag's own prices; or that as a multiple of what its
        least energy costs now. Without any price, only the first question has an answer.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    lifetime_hours
        How long machines last whose type does not say.
    effort
        As in `solve`, for the machines there are; by default as there.
    marginals
        `top`: what one whole machine more changes, proved, of the three types of largest marginal value.
        `proved`: of all types, with that effort. `lp`: of none.
    seed
        As in `solve`, for the machines there are.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    ValueError
        If there are no such effort or marginals.
    InstanceError
        If an option is not sound, or the bag lacks watts or the price of electricity.
    InfeasibleError
        If no schedule keeps the power cap or the deadline.
    SolverError
        If the solver fails.
    InvalidScheduleError
        If a schedule found does not pass verification, which is a bug of ours.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, Prices, Table, TaskType
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=4)
    >>> prices = Prices(per_bag=10.0, electricity_per_kwh=1.0)
    >>> one = Bag("b", (cpu,), (render,), Table.of([[3600.0]]), Table.of([[1000.0]]), prices)
    >>> found = sensitivity(one)  # 4 kWh; worth 10 USD until a kWh costs 2.5; 2 more machines halve 2 hours
    >>> found.price_need.needed, found.electricity.no_profit_from, found.machines[0].most_more
    (4.0, 2.5, 2)
    """
    solver = solver if solver is not None else default_solver()
    tried = None if effort is None else effort_named(effort)
    steps = marginals_named(marginals)
    hours = checked("lifetime_hours", lifetime_hours, CHECK_HOURS)
    known = price is not None or profit_ratio is not None or bag.prices.per_bag is not None
    question = ask(
        bag,
        solver=solver,
        objective="profit",
        price=price if known or bag.prices.per_task else 0.0,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
    )
    has_price = known or bool(bag.prices.per_task)
    timings: dict[str, float] = {}
    with timed(timings, "price"):
        prover = prover_of(question.bag)
        require_power(prover)
        require_time(prover, solver)
        revenue = revenue_of(question.bag) if has_price else None
        needed = price_need(question.bag, prover, solver, price=revenue)
        ratio = None
        if revenue is not None and needed.needed_ratio:
            ratio = revenue * needed.needed_ratio / needed.needed
    answers = _AtPrice(notes=(NO_PRICE,))
    if has_price:
        answers = _at_price(question, solver, _Asked(hours, tried, steps, seed), timings)
    return Sensitivity(
        unit=question.objective.unit(bag),
        price=revenue,
        profit_ratio=ratio,
        bound=answers.bound,
        value=answers.value,
        price_need=needed,
        electricity=answers.electricity,
        machines=answers.machines,
        notes=answers.notes,
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )


@dataclass(frozen=True, slots=True)
class _AtPrice:
    """What can be told only at a price."""

    bound: float | None = None
    value: float | None = None
    electricity: ElectricityNeed | None = None
    machines: tuple[MachineNeed, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Asked:
    """How long machines last, how hard to try, and the seed of that."""

    lifetime_hours: float | None
    effort: Effort | None
    marginals: Marginals
    seed: int


def _at_price(question: Question, solver: Solver, asked: _Asked, timings: dict[str, float]) -> _AtPrice:
    """Return what there is to say about electricity and machines at the bag's price."""
    bag, notes = question.bag, []
    with timed(timings, "present"):
        proved = prove(question, solver)
        found = _answered(question, solver, asked)
    bound, value = (proved.bound, None) if found is None else (found.bound, found.value)
    electricity = None
    machines: tuple[MachineNeed, ...] = ()
    pairs = len(bag.task_types) * len(bag.modes)
    if pairs > MOST_PAIRS:
        notes.append(
            f"{pairs:,} pairs are too many to ask about electricity and machines: {MOST_PAIRS:,} at most"
        )
        return _AtPrice(bound, value, notes=tuple(notes))
    if bag.watts is None:
        notes.append("without watts nothing is known about electricity")
    else:
        with timed(timings, "electricity"):
            electricity = electricity_need(bag, None if found is None else found.schedule, solver)
    with timed(timings, "machines"):
        makespan = None if proved.relaxed is None else proved.relaxed.relaxation.makespan_seconds
        worth = marginal_values(bag, proved.relaxed, solver) if found is None else found.worth
        present = Present(bound, found, worth, makespan)
        hours, steps = asked.lifetime_hours, asked.marginals
        machines = machine_needs(question, present, solver, lifetime_hours=hours, marginals=steps)
    if is_large(bag):
        notes.append(f"with {pairs:,} pairs, the pieces up to the best number of machines are left out")
    return _AtPrice(bound, value, electricity, machines, tuple(notes))


def _answered(question: Question, solver: Solver, asked: _Asked) -> Result | None:
    """Return what `solve` says at the bag's price, if a schedule is found."""
    try:
        if asked.effort is None:
            return answer(question, solver, gap=DEFAULT_GAP, seed=asked.seed)
        return answer(question, solver, gap=DEFAULT_GAP, effort=asked.effort, seed=asked.seed)
    except (InfeasibleError, NotFoundError):  # whole tasks miss the deadline
        return None
