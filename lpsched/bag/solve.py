"""Solve a bag: relax, price, recover, verify, report; and how hard to try."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.breakdown import breakdown
from lpsched.bag.column_generation import is_huge
from lpsched.bag.cost import cost_model
from lpsched.bag.model import Bag, Terms
from lpsched.bag.pricing.marginals import marginal_values
from lpsched.bag.problem import MAKESPAN, Objective, Problem, Proved, build_problem, prove
from lpsched.bag.recovery import stages
from lpsched.bag.recovery.makespan import fits_single_tasks, shorten
from lpsched.bag.recovery.stages import Recovered, Searching, gap_of, is_close
from lpsched.bag.recovery.tighten import balance, fits_counting, fits_patterns, recount, tighten
from lpsched.bag.relaxation import Regime, Relaxation
from lpsched.bag.result import Effort, Result
from lpsched.bag.risk import bag_risk
from lpsched.bag.search.frontier import best_rate
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import NotFoundError, SolverError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Status, provenance_of

if TYPE_CHECKING:
    from types import ModuleType

    from lpsched.bag.search.makespan_intervals import IntervalSearch
    from lpsched.bag.search.single_tasks import TargetSearch
    from lpsched.lp.program import Solver
    from lpsched.model.risk import RiskOptions


# More effort: better schedules and bounds than one rounded linear program gives. In order, each from the best so far:
#
#  neighbours    the relaxations of somewhat higher and lower incomes round differently; one may be better
#  whole counts  where machines run many tasks, an integer program by machine types (`bag/recovery/tighten.py`)
#  patterns      bounds and schedules that know that tasks are whole (`bag/recovery/tighten.py`)
#  targets       with `tight`, for the makespan of different machines: one makespan after the other, proved impossible
#                or reached (`bag/search/single_tasks.py`)
#  single tasks  for the makespan, tasks moved from machine to machine (`bag/recovery/makespan.py`)
#
# Bound and value only get better, so the work may end at any time. It is counted, not timed: the same seed gives the
# same result, unless a time limit or a stop signal cuts it.
TIGHT: Final = 30.0  # seconds of counted work, where no time limit is given
AUTO: Final = 1.0  # likewise, by default
INCOMES: Final = (0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.5)
RELAXING: Final = 2.5e-5  # seconds of work counted for each pair, whenever a relaxation is solved
COUNTING: Final = 0.5  # of the work, where machines run many tasks
WITH_PATTERNS: Final = 0.6  # of the work, where single tasks can be moved as well
WITH_TARGETS: Final = 0.5  # of the work, where times have no common unit
WORTHWHILE: Final = 1e-3  # a gap above this, and above the one asked for


def effort_named(name: str) -> Effort:
    """Return the effort of a name."""
    if name not in {each.value for each in Effort}:
        raise ValueError(f"effort is {name!r}, expected one of {', '.join(Effort)}")
    return Effort(name)


def is_worthwhile(problem: Problem, distance: float | None, gap: float) -> bool:
    """Return whether a search is likely to bring value and bound closer; without a value it always is."""
    small = fits_patterns(problem.bag) or _moves_single_tasks(problem)
    return small and (distance is None or distance > max(gap, WORTHWHILE))


def try_harder(
    problem: Problem, relaxed: Relaxation, bound: float, found: Recovered | None, how: Searching
) -> tuple[float, Recovered | None, IntervalSearch | TargetSearch | None, bool]:
    """Return a bound and a schedule at least as good as those given, the search by patterns, and whether it was cut."""
    bag, objective, cancel, gap = problem.bag, problem.objective, how.cancel, how.gap
    for relaxation in _neighbours(problem, how.solver, cancel):
        found = _better(objective, found, stages.verified_schedule(bag, relaxation))
    if found is not None and fits_counting(bag) and not is_close(problem, found, bound, gap):
        with suppress(SolverError):  # what there is will do
            found = recount(problem, found, how.solver, cancel.share(COUNTING * cancel.work_left()))
    moves, is_cut = _moves_single_tasks(problem), False
    search: IntervalSearch | TargetSearch | None = None
    if how.is_thorough and objective.name == "makespan" and single_tasks().fits_targets(bag):
        targets: TargetSearch = single_tasks().target_search(
            bag, relaxed, bound, None if found is None else found.schedule, how.seed
        )
        part = cancel if targets.is_whole else _part(cancel, WITH_TARGETS)
        targets.run(gap, part)
        bound, search, is_cut = max(bound, targets.bound_seconds), targets, part.is_cut()
        if targets.found is not None:
            found = _better(objective, found, stages.examined_schedule(bag, targets.found))
    if fits_patterns(bag) and not is_close(problem, found, bound, gap):
        part, before = _part(cancel, WITH_PATTERNS) if moves else cancel.share(cancel.work_left()), bound
        bound, found, patterns = tighten(problem, bound, found, replace(how, cancel=part))
        search = patterns if search is None or bound != before else search
        is_cut |= part.is_cut()
    if moves and found is not None and not is_close(problem, found, bound, gap):
        shorter = shorten(bag, relaxed, found.schedule, cancel, how.rng)
        found = _better(objective, found, stages.examined_schedule(bag, shorter))
    return bound, found, search, is_cut


def _part(cancel: CancelToken, share: float) -> CancelToken:
    """Return a share of the work and of the time that are left: on a slow machine, too, what is next gets its turn."""
    part, seconds = cancel.share(share * cancel.work_left()), cancel.remaining()
    return part if seconds is None else part.part(share * seconds)


def single_tasks() -> ModuleType:
    """Return the module of compiled searches: Numba is loaded only where it is used."""
    module: ModuleType = pkgutil.resolve_name("lpsched.bag.search.single_tasks")
    return module


def _better(objective: Objective, found: Recovered | None, other: Recovered | str) -> Recovered | None:
    """Return the better of two schedules, either of which may be missing."""
    valid = [each for each in (found, other) if isinstance(each, Recovered)]
    return stages.best_of(objective, valid) if valid else None


def _moves_single_tasks(problem: Problem) -> bool:
    return problem.objective.name == "makespan" and fits_single_tasks(problem.bag)


def _neighbours(problem: Problem, solver: Solver, cancel: CancelToken) -> Iterator[Relaxation]:
    """Yield the relaxations of other incomes: neighbouring points of the energy/makespan front."""
    bag = problem.bag
    if not problem.objective.maximise or is_huge(bag) or bag.site.deadline_seconds is not None:
        return
    income = cost_model(bag).income
    for share in INCOMES:
        if cancel.expired():
            return
        cancel.count(RELAXING * len(bag.task_types) * len(bag.modes))
        with suppress(SolverError):  # what there is will do
            yield best_rate(bag, solver, income=share * income, cancel=cancel)[0]


# The stages in order: relax, price, recover, verify, report.
DEFAULT_GAP: Final = 1e-4


def solve(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
    gap: float = DEFAULT_GAP,
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    marginals: str = "lp",
    risk: RiskOptions | None = None,
    solver: Solver | None = None,
) -> Result:
    """Find a verified schedule and a proved bound.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
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
        the time limit says. Work is counted, so a rerun with the same seed and limit gives the same answer
        unless the clock cuts it; then the status is `limit`.
    gap
        The relative distance from value to bound within which the answer is called optimal; a search stops
        there.
    time_limit
        Seconds. What is known by then still gives a verified schedule and a proved bound. Compiling the search for
        different machines, once after an installation, is not counted.
    cancel
        In place of a time limit: a token that other threads may stop, and that reports progress to them.
    seed
        Random seed of the search of `tight` and of the samples of `risk`.
    marginals
        What to compute about one more machine or task. `lp`: for profit, the marginal values of the LP bound (money
        per hour). `top`: and for the three machine types and the three task types of largest value, with little
        effort, what one whole machine more changes (`one_more`, in the unit of the value, proved on both sides), the
        break-even price of one more task (money), and whether fewer machines earn more (`fewer_machines`). `proved`:
        for all types, with the effort of the result, and for every objective. What the time limit leaves no time
        for is left out.
    risk
        Sample makespan, energy and profit of the schedule if tasks do not take what the tables say.
    solver
        Solves the linear program; HiGHS if not given.

    Raises
    ------
    ValueError
        If the objective, the effort or `marginals` is not known.
    InstanceError
        If an option is not valid, the bag lacks what the objective needs, or `risk` needs too many draws.
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
    >>> from lpsched import Bag, MachineType, Table, TaskType
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=4)
    >>> result = solve(Bag("b", (cpu,), (render,), Table.of([[3.0]])))
    >>> result.value, result.bound, result.status.value
    (6.0, 6.0, 'optimal')

    Twelve tasks of 3 seconds on two machines take 18 seconds, on three 12: one machine more saves 6 seconds, proved.

    >>> many = TaskType(name="render", count=12)
    >>> result = solve(Bag("b", (cpu,), (many,), Table.of([[3.0]])), marginals="proved")
    >>> result.one_more.machine_types["cpu"]
    Between(at_least=-6.0, at_most=-6.0)
    """
    bag = Bag.given(bag)
    solver = solver if solver is not None else default_solver()
    cancel, tried = cancel or CancelToken(time_limit), effort_named(effort)
    terms = Terms(objective, price, profit_ratio, power_cap, deadline)
    one_more = None
    if marginals != "lp":
        one_more = pkgutil.resolve_name("lpsched.bag.pricing.one_more")  # above this module: it solves again
        one_more.marginals_named(marginals)
    problem = build_problem(bag, terms, solver)
    result = solve_problem(problem, solver, gap=gap, cancel=cancel, effort=tried, seed=seed, risk=risk)
    if one_more is None:
        return result
    more: Result = one_more.with_marginals(
        bag, result, terms, marginals=marginals, cancel=cancel, seed=seed, solver=solver
    )
    return more


def solve_problem(  # noqa: PLR0913 - the options of `solve`
    problem: Problem,
    solver: Solver,
    *,
    gap: float,
    cancel: CancelToken,
    effort: Effort,
    seed: int,
    risk: RiskOptions | None = None,
) -> Result:
    """Run the stages; where no schedule meets the deadline, again from the shortest found without it."""
    try:
        found = run_stages(problem, solver, gap=gap, cancel=cancel, effort=effort, seed=seed, risk=risk)
        return _measured(found, problem)
    except NotFoundError:
        if problem.bag.site.deadline_seconds is None or effort not in {Effort.AUTO, Effort.TIGHT}:
            raise
    free = replace(problem, bag=problem.bag.without_deadline(), objective=MAKESPAN)
    soonest = find(free, solver, gap=gap, cancel=cancel, effort=Effort.AUTO, seed=seed)
    start = stages.examined_schedule(problem.bag, soonest.found.schedule)
    if isinstance(start, str):
        shortest = soonest.found.measured.makespan_seconds
        assert shortest is not None
        raise stages.too_late(problem.bag, shortest, soonest.bound)
    found = run_stages(problem, solver, gap=gap, cancel=cancel, effort=effort, seed=seed, risk=risk, start=start)
    return _measured(found, problem)


def _measured(result: Result, problem: Problem) -> Result:
    """Return a result with the costs and the allocation of its schedule."""
    return replace(result, bag=problem.bag, breakdown=breakdown(problem.bag, result.schedule))


def run_stages(  # noqa: PLR0913 - the options of `solve`
    problem: Problem,
    solver: Solver,
    *,
    gap: float,
    cancel: CancelToken | None = None,
    effort: Effort = Effort.AUTO,
    seed: int = 0,
    risk: RiskOptions | None = None,
    start: Recovered | None = None,
) -> Result:
    """Run the stages for a problem."""
    bag, objective, cancel = problem.bag, problem.objective, cancel or CancelToken()
    timings: dict[str, float] = {}
    best = find(problem, solver, gap=gap, cancel=cancel, effort=effort, seed=seed, start=start, timings=timings)
    found, bound, relaxed = best.found, best.bound, best.proved.relaxed
    value, distance = objective.value(found.measured), gap_of(problem, found, bound)
    late = best.is_cut or (relaxed is not None and not relaxed.optimal)
    earns, sampled = objective.maximise, None
    if risk is not None and found.schedule.groups:
        with timed(timings, "risk"):
            sampled = bag_risk(bag, found.schedule, found.measured, risk, seed)
    return Result(
        objective=objective.name,
        unit=objective.unit(bag),
        effort=effort,
        effort_used=best.used,
        status=Status.OPTIMAL if is_close(problem, found, bound, gap) else Status.LIMIT if late else Status.FEASIBLE,
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
        provenance=provenance_of(problem.given, solver.name),
        tight_may_help=effort is not Effort.TIGHT and not late and is_worthwhile(problem, distance, gap),
        risk_asked=risk is not None,
        risk=sampled,
        stopped=cancel.why_cut() if late else "",
    )


@dataclass(frozen=True, slots=True)
class Best:
    """The best that is known of a problem: what proves the bound, and a verified schedule."""

    proved: Proved
    bound: float
    found: Recovered
    used: Effort
    search: IntervalSearch | TargetSearch | None  # its leaves prove the bound where the program's prices do not
    is_cut: bool  # whether the clock, or a stop signal, ended the work


def find(  # noqa: PLR0913 - the options of `solve`
    problem: Problem,
    solver: Solver,
    *,
    gap: float,
    cancel: CancelToken,
    effort: Effort,
    seed: int = 0,
    work: float | None = None,
    start: Recovered | None = None,
    timings: dict[str, float] | None = None,
) -> Best:
    """Run the stages up to a verified schedule: relax, price, recover, and search with the given effort.

    `work` are the seconds of search that `auto` may count, in place of its own; `start` is a schedule to begin with,
    where no other is found.
    """
    bag, objective, timings = problem.bag, problem.objective, {} if timings is None else timings
    proved = prove(problem, solver, cancel=cancel, timings=timings)
    bound, relaxed = proved.bound, proved.relaxed
    if relaxed is None:  # better not run, and that is proved
        return Best(proved, bound, stages.do_not_run_schedule(bag), Effort.FAST, None, cancel.is_cut())
    found, missed, used, search, is_cut = None, None, Effort.FAST, None, False
    with timed(timings, "recover"):
        try:
            found = stages.recover(bag, objective, relaxed, solver)
        except NotFoundError as error:
            found, missed = start, error
    if effort is not Effort.FAST and found is not None:
        used = Effort.BALANCED
        with timed(timings, "balance"):
            found = balance(problem, found, bound, gap, cancel)
    pays = effort is Effort.AUTO and is_worthwhile(problem, gap_of(problem, found, bound), gap)
    if pays or (effort is Effort.TIGHT and not is_close(problem, found, bound, gap)):
        used = Effort.TIGHT
        limit = cancel.work_within()
        tight = TIGHT if limit is None else limit
        budget = cancel.share(tight if effort is Effort.TIGHT else AUTO if work is None else work)
        with timed(timings, "tighten"):
            how = Searching(solver, budget, gap, np.random.default_rng(seed), seed, is_thorough=effort is Effort.TIGHT)
            bound, found, search, is_cut = try_harder(problem, relaxed, bound, found, how)
    if found is None:
        assert missed is not None
        raise missed
    return Best(proved, bound, found, used, search, is_cut or cancel.is_cut())


def regime_of(money: float, *, runs: bool) -> Regime:
    """Return whether that much money per hour is profit, loss or do-not-run."""
    if not runs:
        return Regime.DO_NOT_RUN
    return Regime.PROFIT if money > 0 else Regime.LOSS
