"""Three questions about a bag: the price it needs, what electricity may cost, which machines pay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.display import number
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.formulations.machine_counts import longest_task
from lpsched.formulations.profit import revenue_of
from lpsched.instance.fields import SMALLEST, Amount
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.terms import checked
from lpsched.pipeline.electricity_needs import electricity_need
from lpsched.pipeline.feasibility import require_power, require_time
from lpsched.pipeline.machine_needs import Present, is_large, machine_needs
from lpsched.pipeline.price_needs import price_need
from lpsched.pipeline.proving import prove, prover_of
from lpsched.pipeline.questions import ask
from lpsched.pipeline.recovering import recover, waiting
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.result.provenance import provenance_of
from lpsched.result.sensitivity import Sensitivity

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.proving import Proved
    from lpsched.pipeline.questions import Question
    from lpsched.pipeline.recovering import Recovered
    from lpsched.result.sensitivity import ElectricityNeed, MachineNeed

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
    solver: Solver | None = None,
) -> Sensitivity:
    """Tell which price the bag needs, what electricity may cost, and how many more machines pay.

    Parameters
    ----------
    price, profit_ratio
        What the whole bag sells for, in place of the bag's own prices; or that as a multiple of what its
        least energy costs now. Without any price, only the first question has an answer.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    lifetime_hours
        How long machines last whose type does not say.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
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
    answers = _at_price(question, solver, hours, timings) if has_price else _AtPrice(notes=(NO_PRICE,))
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


def _at_price(
    question: Question, solver: Solver, lifetime_hours: float | None, timings: dict[str, float]
) -> _AtPrice:
    """Return what there is to say about electricity and machines at the bag's price."""
    bag, notes = question.bag, []
    with timed(timings, "present"):
        proved = prove(question, solver)
        found = _recovered(question, proved, solver)
    value = None if found is None else found.measured.profit_per_hour
    electricity = None
    machines: tuple[MachineNeed, ...] = ()
    pairs = len(bag.task_types) * len(bag.modes)
    if pairs > MOST_PAIRS:
        notes.append(
            f"{pairs:,} pairs are too many to ask about electricity and machines: {MOST_PAIRS:,} at most"
        )
        return _AtPrice(proved.bound, value, notes=tuple(notes))
    if bag.watts is None:
        notes.append("without watts nothing is known about electricity")
    else:
        with timed(timings, "electricity"):
            electricity = electricity_need(bag, None if found is None else found.schedule, solver)
    limit, longest = bag.site.deadline_seconds, longest_task(bag)
    if limit is not None and limit < longest:
        notes.append(
            f"no number of machines keeps the deadline of {number(limit)} s: "
            f"there is a task that takes {number(longest)} s"
        )
    else:
        with timed(timings, "machines"):
            makespan = None if proved.relaxed is None else proved.relaxed.relaxation.makespan_seconds
            present = Present(proved.bound, value, makespan)
            machines = machine_needs(question, present, solver, lifetime_hours=lifetime_hours)
        if is_large(bag):
            notes.append(f"with {pairs:,} pairs, the pieces up to the best number of machines are left out")
    return _AtPrice(proved.bound, value, electricity, machines, tuple(notes))


def _recovered(question: Question, proved: Proved, solver: Solver) -> Recovered | None:
    """Return the verified schedule at the bag's price, if one is found."""
    if proved.relaxed is None:
        return waiting(question.bag)
    try:
        return recover(question.bag, question.objective, proved.relaxed.relaxation, solver)
    except (InfeasibleError, NotFoundError):  # whole tasks miss the deadline
        return None
