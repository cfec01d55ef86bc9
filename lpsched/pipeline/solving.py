"""The stages in order: relax, price, recover, verify, report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import NotFoundError
from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.balancing import balance
from lpsched.pipeline.marginals import marginal_values
from lpsched.pipeline.objectives import Makespan
from lpsched.pipeline.proving import prove
from lpsched.pipeline.questions import Question, ask
from lpsched.pipeline.recovering import examined_schedule, recover, too_late, waiting
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.pipeline.trying import AUTO, TIGHT, effort_named, is_worthwhile, try_harder
from lpsched.relaxation import Regime
from lpsched.result.provenance import provenance_of
from lpsched.result.solve import Effort, Result
from lpsched.result.status import Status, relative_gap
from lpsched.risk.bag_risk import bag_risk
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.proving import Proved
    from lpsched.pipeline.recovering import Recovered
    from lpsched.risk.options import RiskOptions
    from lpsched.search.makespan_intervals import IntervalSearch

DEFAULT_GAP: Final = 1e-4


def solve(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
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
        `fast`: one linear program, rounded, as in the papers. `balanced`: and tasks exchanged until the loads
        are even; some milliseconds. `auto`: balanced; then, if the gap is above 0.1 % and the bag is small
        enough, patterns and search of about a second. `tight`: as much as 30 seconds of that, or as long as
        the time limit says. Work is counted, so a rerun gives the same answer unless the clock cuts it.
    gap
        The relative distance from value to bound within which the answer is called optimal; a search stops
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
    try:
        return answer(question, solver, gap=gap, watch=watch, effort=tried, seed=seed, risk=risk)
    except NotFoundError:
        if question.bag.site.deadline_seconds is None or tried not in {Effort.AUTO, Effort.TIGHT}:
            raise
    free = replace(question, bag=question.bag.without_deadline(), objective=Makespan())
    soonest = find(free, solver, gap=gap, watch=watch, effort=Effort.AUTO, seed=seed)
    start = _in_time(question.bag, soonest)
    return answer(question, solver, gap=gap, watch=watch, effort=tried, seed=seed, risk=risk, start=start)


def answer(  # noqa: PLR0913 - the options of `solve`
    question: Question,
    solver: Solver,
    *,
    gap: float,
    watch: Watch | None = None,
    effort: Effort = Effort.AUTO,
    seed: int = 0,
    risk: RiskOptions | None = None,
    start: Recovered | None = None,
) -> Result:
    """Run the stages for a question that is settled.

    Raises
    ------
    InstanceError, InfeasibleError, NotFoundError, SolverError, InvalidScheduleError
        As `solve` does.
    """
    bag, asked, watch = question.bag, question.objective, watch or Watch()
    timings: dict[str, float] = {}
    best = find(
        question, solver, gap=gap, watch=watch, effort=effort, seed=seed, start=start, timings=timings
    )
    found, bound, relaxed = best.found, best.bound, best.proved.relaxed
    value = asked.value(found.measured)
    distance = relative_gap(value, bound)
    close = distance is not None and distance <= gap
    late = best.is_cut or (relaxed is not None and not relaxed.optimal)
    earns, sampled = asked.maximise, None
    if risk is not None and found.schedule.groups:
        with timed(timings, "risk"):
            sampled = bag_risk(bag, found.schedule, found.measured, risk, seed)
    return Result(
        objective=asked.name,
        unit=asked.unit(bag),
        effort=effort,
        effort_used=best.used,
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


@dataclass(frozen=True, slots=True)
class Best:
    """The best that is known of a question: what proves the bound, and a verified schedule.

    `search` is there if patterns were searched: its leaves prove the bound where the prices of the linear
    program do not. `is_cut` tells whether the clock, or a stop signal, ended the work.
    """

    proved: Proved
    bound: float
    found: Recovered
    used: Effort
    search: IntervalSearch | None
    is_cut: bool


def find(  # noqa: PLR0913 - the options of `solve`
    question: Question,
    solver: Solver,
    *,
    gap: float,
    watch: Watch,
    effort: Effort,
    seed: int = 0,
    work: float | None = None,
    start: Recovered | None = None,
    timings: dict[str, float] | None = None,
) -> Best:
    """Run the stages up to a verified schedule: relax, price, recover, and search as hard as asked for.

    `work` is how many seconds of search `auto` may count, in place of its own; `start` is a schedule to go on
    from, where no other is found.

    Raises
    ------
    InstanceError, InfeasibleError, NotFoundError, SolverError, InvalidScheduleError
        As `solve` does.
    """
    bag, asked, timings = question.bag, question.objective, {} if timings is None else timings
    proved = prove(question, solver, watch=watch, timings=timings)
    bound, relaxed = proved.bound, proved.relaxed
    if relaxed is None:  # better not run, and that is proved
        return Best(proved, bound, waiting(bag), Effort.FAST, None, watch.is_cut())
    found, missed, used, search, is_cut = None, None, Effort.FAST, None, False
    with timed(timings, "recover"):
        try:
            found = recover(bag, asked, relaxed.relaxation, solver)
        except NotFoundError as error:
            found, missed = start, error
    if effort is not Effort.FAST and found is not None:
        used = Effort.BALANCED
        with timed(timings, "balance"):
            found = balance(question, found, bound, gap, watch)
    if _searches(question, effort, found, bound, gap):
        used = Effort.TIGHT
        limit = watch.left()
        tight = TIGHT if limit is None else limit
        budget = watch.share(tight if effort is Effort.TIGHT else AUTO if work is None else work)
        with timed(timings, "tighten"):
            rng = np.random.default_rng(seed)
            tried = try_harder(question, relaxed, bound, found, solver, budget, gap, rng)
            bound, found, search, is_cut = tried.bound, tried.found, tried.search, tried.is_cut
    if found is None:
        assert missed is not None
        raise missed
    return Best(proved, bound, found, used, search, is_cut or watch.is_cut())


def _in_time(bag: Bag, soonest: Best) -> Recovered:
    """Return the schedule of the least makespan found, if it ends by the deadline of the bag.

    Raises
    ------
    InfeasibleError
        If the bound proves that none does.
    NotFoundError
        If one may.
    """
    found = examined_schedule(bag, soonest.found.schedule)
    if isinstance(found, str):
        shortest = soonest.found.measured.makespan_seconds
        assert shortest is not None
        raise too_late(bag, shortest, soonest.bound)
    return found


def _searches(question: Question, effort: Effort, found: Recovered | None, bound: float, gap: float) -> bool:
    """Tell whether to search for a better bound and schedule."""
    if effort not in {Effort.AUTO, Effort.TIGHT}:
        return False
    distance = None if found is None else relative_gap(question.objective.value(found.measured), bound)
    if effort is Effort.TIGHT:
        return distance is None or distance > gap
    return is_worthwhile(question, distance, gap)


def regime_of(money: float, *, runs: bool) -> Regime:
    """Return whether that much money per hour is profit, loss or waiting."""
    if not runs:
        return Regime.DO_NOT_RUN
    return Regime.PROFIT if money > 0 else Regime.LOSS
