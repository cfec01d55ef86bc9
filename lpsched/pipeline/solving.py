"""The stages in order: relax, price, recover, verify, report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.balancing import balance
from lpsched.pipeline.marginals import marginal_values
from lpsched.pipeline.proving import prove
from lpsched.pipeline.questions import Question, ask
from lpsched.pipeline.recovering import recover, waiting
from lpsched.pipeline.risks import bag_risk
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.pipeline.trying import effort_named, is_worthwhile, try_harder
from lpsched.relaxation import Regime
from lpsched.result.provenance import provenance_of
from lpsched.result.solve import Effort, Result, Status, relative_gap
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.risk.options import RiskOptions

DEFAULT_GAP: Final = 1e-4


def solve(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "fast",
    gap: float = DEFAULT_GAP,
    time_limit: float | None = None,
    watch: Watch | None = None,
    seed: int = 0,
    risk: RiskOptions | None = None,
    solver: Solver | None = None,
) -> Result:
    """Find a verified schedule and a proved bound.

    Parameters
    ----------
    objective
        `profit`, `makespan` or `energy`; by default profit where a price is known, else makespan.
    price, profit_ratio
        What the whole bag sells for, in place of the bag's own prices; or that as a multiple of what its
        least energy costs.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    effort
        `fast`: one linear program, rounded. `balanced`: and tasks exchanged until the loads are even; some
        milliseconds, and the same answer everywhere. `tight`: patterns and search as well, for bags with few
        tasks a machine; 30 seconds, if no limit is given.
    gap
        The relative distance from value to bound within which the answer is called optimal; `tight` stops
        there.
    time_limit
        Seconds. What is known by then still gives a verified schedule and a proved bound.
    watch
        In place of a time limit: a watch that others may stop, and that tells them how far the work is.
    seed
        Of the search that `tight` makes, and of what `risk` draws.
    risk
        Sample how the schedule fares if tasks do not take what the tables say.
    solver
        Solves the linear program; HiGHS if not given.

    Raises
    ------
    ValueError
        If the objective or the effort is not known.
    InstanceError
        If an option is not sound, the bag lacks what the objective needs, or the risk asked for needs too
        many draws.
    InfeasibleError
        If no schedule keeps the power cap or the deadline.
    NotFoundError
        If none was found that does, and none proved impossible.
    SolverError
        If the solver fails.
    InvalidScheduleError
        If the schedule found does not pass verification, which is a bug of ours.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=4)
    >>> result = solve(Bag("b", (cpu,), (render,), Table.of([[3.0]])))
    >>> result.value, result.bound, result.status.value
    (6.0, 6.0, 'optimal')
    """
    solver = solver if solver is not None else default_solver()
    watch, tried = watch or Watch(time_limit), effort_named(effort)
    question = ask(
        bag,
        solver=solver,
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
    )
    return answer(question, solver, gap=gap, watch=watch, effort=tried, seed=seed, risk=risk)


def answer(  # noqa: PLR0913 - the options of `solve`
    question: Question,
    solver: Solver,
    *,
    gap: float,
    watch: Watch | None = None,
    effort: Effort = Effort.FAST,
    seed: int = 0,
    risk: RiskOptions | None = None,
) -> Result:
    """Run the stages for a question that is settled.

    Raises
    ------
    InstanceError, InfeasibleError, NotFoundError, SolverError, InvalidScheduleError
        As `solve` does.
    """
    bag, asked, watch = question.bag, question.objective, watch or Watch()
    timings: dict[str, float] = {}
    proved = prove(question, solver, watch=watch, timings=timings)
    relaxed, bound = proved.relaxed, proved.bound
    with timed(timings, "recover"):
        found = waiting(bag) if relaxed is None else recover(bag, asked, relaxed.relaxation, solver)
    if effort is not Effort.FAST:
        with timed(timings, "balance"):
            found = balance(question, found, bound, gap, watch)
    if effort is Effort.TIGHT:
        with timed(timings, "tighten"):
            rng = np.random.default_rng(seed)
            bound, found = try_harder(question, proved, found, solver, watch, gap, rng)
    value = asked.value(found.measured)
    distance = relative_gap(value, bound)
    close = distance is not None and distance <= gap
    late = (relaxed is not None and not relaxed.optimal) or (effort is Effort.TIGHT and watch.is_over())
    earns, sampled = asked.maximise, None
    if risk is not None and found.schedule.groups:
        with timed(timings, "risk"):
            sampled = bag_risk(bag, found.schedule, found.measured, risk, seed)
    return Result(
        objective=asked.name,
        unit=asked.unit(bag),
        effort=effort,
        status=Status.OPTIMAL if close else Status.LIMIT if late else Status.FEASIBLE,
        regime=regime_of(value, runs=bool(found.schedule.groups)) if earns else None,
        bound_regime=regime_of(bound, runs=relaxed is not None) if earns else None,
        value=value,
        bound=bound,
        gap=distance,
        tasks=bag.tasks,
        machines=bag.machines,
        measured=found.measured,
        schedule=found.schedule,
        worth=marginal_values(bag, relaxed, solver) if earns else None,
        timings=FrozenDict(timings),
        provenance=provenance_of(question.given, solver.name),
        tight_may_help=effort is not Effort.TIGHT and not late and is_worthwhile(question, distance, gap),
        risk_asked=risk is not None,
        risk=sampled,
    )


def regime_of(money: float, *, runs: bool) -> Regime:
    """Return whether that much money per hour is profit, loss or waiting."""
    if not runs:
        return Regime.DO_NOT_RUN
    return Regime.PROFIT if money > 0 else Regime.LOSS
