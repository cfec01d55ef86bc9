"""One whole machine or task more, or fewer machines: solved again, and proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from lpsched.bag.certificate.bounds import Prover
from lpsched.bag.cost import cost_model, exact_cost_model
from lpsched.bag.model import Bag, Terms, with_machines
from lpsched.bag.problem import OBJECTIVES, Problem, build_problem, prove
from lpsched.bag.result import Between, Effort, Fewer, OneMore, Result, changes_between
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.solve import DEFAULT_GAP, run_stages
from lpsched.bag.verify import examine
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError, SolverError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import MOST, FrozenDict, column_numbers
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.lp.program import Solver


Number = TypeVar("Number", float, Fraction)

# From a number in doubles to the nearest one for which something is proved or verified.
FINEST: Final = 2.0**-52
TRIES: Final = 40  # the last is some 1e-4 away


def nearby(number: float, holds: Callable[[float], bool], *, upwards: bool = True) -> float | None:
    """Return the number, or one just above (below) it, for which a statement holds; `None` if none is near.

    >>> nearby(0.1, lambda x: 3 * x <= 0.3, upwards=False) < 0.1, nearby(1.0, lambda x: x < 0)
    (True, None)
    """
    if holds(number):
        return number
    step = FINEST if upwards else -FINEST
    for _ in range(TRIES):
        tried = number * (1.0 + step) if number else abs(step)
        if holds(tried):
            return tried
        step *= 2.0
    return None


# One whole machine or task more: between which two numbers the best possible changes, proved on both sides.
#
# A marginal value is a derivative of the LP bound (`bag/pricing/marginals.py`); whole tasks move in steps.
# Here the bag is solved again with one more; the best possible lies between value and bound, before and after.
#
# One more task is sold for a price q. With P the best possible without it and P(q) the best with it, which never
# falls in q, its break-even price is where P(q) passes P:
#
#    at least  q where a proved bound on P(q) is no more than the value without the task. Also the least that
#              the task itself costs, kappa: any schedule earns more without it, as long as q < kappa (under a
#              power cap only if the task draws no less than an idle machine).
#    at most   q where a verified schedule with the task earns as much as the bound without it.
#
# One more machine costs no more than its idle power and depreciation, since it may idle; under a power cap that
# leaves less for the others. It adds no more than minus that where no task is left for it.
TOP: Final = 3  # machine types, and task types, by default
TINY: Final = 24  # tasks: up to here the effort of the result itself is quick
SECONDS: Final = 0.3  # of counted work for each step by default
NEWTON: Final = 30
BACK: Final = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)  # below a price in doubles, until the proof holds
ROUNDS: Final = 4  # of bisection between the two prices, with `Marginals.PROVED`
NOTHING_KNOWN: Final = Between(None, None)


class Marginals(StrEnum):
    """What to compute about one more."""

    LP = "lp"  # marginal values only
    TOP = "top"  # and proved changes with one more of the three types of largest value; profit only
    PROVED = "proved"  # for all types, with the effort of the result itself


def marginals_named(name: str) -> Marginals:
    """Return the marginals of a name."""
    if name not in set(Marginals):
        raise ValueError(f"marginals is {name!r}, expected one of {', '.join(Marginals)}")
    return Marginals(name)


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """How to solve with one more."""

    solver: Solver
    effort: Effort
    cancel: CancelToken
    seed: int = 0
    rounds: int = 0

    def solve(self, question: Problem) -> Result | None:
        """Return the result; `None` if there is no schedule, or none was found."""
        try:
            return run_stages(
                question, self.solver, gap=DEFAULT_GAP, effort=self.effort, cancel=self.cancel, seed=self.seed
            )
        except (InfeasibleError, NotFoundError):
            return None


def with_one_more(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    result: Result,
    *,
    marginals: str = "top",
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    solver: Solver | None = None,
) -> Result:
    """Return a result of `solve` with the proved changes by one more machine or task.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    price, profit_ratio, power_cap, deadline, seed, solver
        The options of that `solve`.
    marginals
        `top`: for profit, the three machine types and the three task types of largest marginal value, with
        little effort. `proved`: all types, with the effort of the result. `lp`: none.
    cancel
        When to stop; the remaining types are left out.

    Raises
    ------
    ValueError
        If `marginals` is unknown.
    InstanceError, SolverError, InvalidScheduleError
        As `solve` does.

    Examples
    --------
    Twelve tasks of 3 seconds on two machines take 18 seconds, on three 12.

    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> from lpsched.bag.solve import solve
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=12)
    >>> bag = Bag("b", (cpu,), (render,), Table.of([[3.0]]))
    >>> with_one_more(bag, solve(bag), marginals="proved").one_more.machine_types["cpu"]
    Between(at_least=-6.0, at_most=-6.0)
    """
    bag = Bag.given(bag)
    which = marginals_named(marginals)
    solver = solver if solver is not None else default_solver()
    question = build_problem(bag, Terms(result.objective, price, profit_ratio, power_cap, deadline), solver)
    bag, worth, earns = question.bag, result.worth, question.objective.maximise
    if which is Marginals.LP or not (which is Marginals.PROVED or earns) or (earns and worth is None):
        return result
    machines, tasks = [each.name for each in bag.machine_types], [each.name for each in bag.task_types]
    if worth is not None:
        machines, tasks = (selected_types(which, each) for each in (worth.machine_types, worth.task_types))
    if earns and not result.schedule.groups:
        tasks = []  # nothing runs, nor would one more task: it has no price
    options = solve_options(bag, result, solver, marginals=which, cancel=cancel, seed=seed)

    def steps(
        names: list[str], step: Callable[[Problem, Result, str, SolveOptions], Between]
    ) -> FrozenDict[str, Between]:
        found = {}
        for name in names:
            if options.cancel.expired():
                break
            own = options if options.rounds else replace(options, cancel=options.cancel.share(SECONDS))
            found[name] = step(question, result, name, own)
        return FrozenDict(found)

    timings = dict(result.timings)
    with timed(timings, "one more"):
        found = OneMore(
            unit=result.unit,
            machine_types=steps(machines, machine_step),
            task_types=steps(tasks, task_step),
            sells=earns,
            effort=options.effort.value,
        )
    return replace(result, one_more=found, timings=FrozenDict(timings))


def with_marginals(  # noqa: PLR0913 - the options of `solve`
    bag: Bag, result: Result, terms: Terms, *, marginals: str, cancel: CancelToken, seed: int, solver: Solver
) -> Result:
    """Return a result of `solve` with what its option `marginals` adds: one more, and fewer machines."""
    more = with_one_more(
        bag,
        result,
        marginals=marginals,
        price=terms.price,
        profit_ratio=terms.profit_ratio,
        power_cap=terms.power_cap_watts,
        deadline=terms.deadline_seconds,
        cancel=cancel,
        seed=seed,
        solver=solver,
    )
    return with_fewer(more, cancel=cancel, seed=seed, solver=solver)


def selected_types(marginals: Marginals, values: FrozenDict[str, float | None]) -> list[str]:
    """Return the names of all values, or of the three largest, in their order."""
    if marginals is Marginals.PROVED:
        return list(values)
    known = {name: value for name, value in values.items() if value is not None}
    top = sorted(known, key=lambda name: -known[name])[:TOP]
    return [name for name in known if name in top]


def solve_options(  # noqa: PLR0913 - likewise
    bag: Bag, result: Result, solver: Solver, *, marginals: Marginals, cancel: CancelToken | None, seed: int
) -> SolveOptions:
    """Return the effort: that of the result with `Marginals.PROVED`, or if the bag is tiny."""
    cancel = cancel if cancel is not None else CancelToken()
    if marginals is Marginals.PROVED:
        return SolveOptions(solver, result.effort, cancel, seed, ROUNDS)
    quick = result.effort is Effort.FAST or bag.tasks > TINY
    return SolveOptions(solver, Effort.BALANCED if quick else result.effort, cancel, seed)


def machine_step(question: Problem, before: Result, name: str, options: SolveOptions) -> Between:
    """Return the change of the best possible with one more machine of a type."""
    bag = question.bag
    j = [machine.name for machine in bag.machine_types].index(name)
    if bag.machines >= MOST:
        return NOTHING_KNOWN
    more = replace(question, bag=with_machines(bag, {name: bag.machine_types[j].count + 1}))
    change = _change(more, before, options)
    if change == NOTHING_KNOWN:
        return change
    capped, useless = bag.site.average_power_cap_watts is not None, useful_machines(bag, j) == 0
    if question.objective.maximise:
        idle = SECONDS_PER_HOUR * (Prover(bag).fixed_rate() - Prover(more.bag).fixed_rate())
        least = change.at_least if capped else _largest([change.at_least, rounded_down(idle)])
        return Between(least, _least([change.at_most, rounded_up(idle)]) if useless else change.at_most)
    if question.objective.name == "makespan":
        least = _largest([change.at_least, 0.0]) if useless else change.at_least
        return Between(least, change.at_most if capped else _least([change.at_most, 0.0]))
    return change


def useful_machines(bag: Bag, j: int) -> int:
    """Return how many more machines of type j could have a task each; at most the largest count of a file."""
    columns = [column for column, (owner, _) in enumerate(bag.modes) if owner == j]
    rows = zip(bag.task_types, bag.seconds, strict=True)
    tasks = sum(task.count for task, row in rows if any(row[column] is not None for column in columns))
    return max(0, min(tasks - bag.machine_types[j].count, MOST - bag.machines - 1))


def _change(more: Problem, before: Result, options: SolveOptions) -> Between:
    """Return the change of the best possible from the result before to the problem with one more."""
    objective, known = more.objective, (before.value, before.bound)
    after = options.solve(more)
    if after is None:
        return NOTHING_KNOWN
    values = [after.value]
    same = examine(more.bag, before.schedule, may_wait=objective.maximise).measured  # the new one idles
    if same is not None and before.schedule.groups:
        values.append(objective.value(same))
    best = max(values) if objective.maximise else min(values)
    return changes_between(known, (best, after.bound))


def task_step(question: Problem, before: Result, name: str, options: SolveOptions) -> Between:
    """Return the range of the break-even price of one more task; for other objectives than profit, of the change."""
    tasks = tuple(
        task.model_copy(update={"count": task.count + 1}) if task.name == name else task
        for task in question.bag.task_types
    )
    more = replace(question, bag=question.bag.model_copy(update={"task_types": tasks}))
    if not question.objective.maximise:
        return _change(more, before, options)
    return _BreakEven(question, more, before, name, options).between()


class _BreakEven:
    """Brackets the break-even price of one more task; all prices here are those of the whole bag."""

    def __init__(self, question: Problem, more: Problem, before: Result, name: str, options: SolveOptions) -> None:
        self.bag, self.more, self.before, self.name, self.options = question.bag, more, before, name, options
        self.i = [task.name for task in question.bag.task_types].index(name)
        self.prover = Prover(question.bag)
        self.revenue = exact_cost_model(question.bag).revenue

    def between(self) -> Between:
        lows, highs = [self._own_cost()], []
        best = min(self._places(), key=lambda place: place[0], default=None)
        if best is not None:  # the schedule before, with the task at the end of a machine where it costs least
            highs.append(self._needed(_added(self.before.schedule, self.name, *best[1:])))
        try:
            lows.append(self._proved_at())
        except (InfeasibleError, NotFoundError):  # no schedule with the task keeps the limits
            return NOTHING_KNOWN
        except (InstanceError, SolverError):
            pass
        start = _least(highs)
        price = float(self.revenue) if start is None else start
        for _ in range(1 + self.options.rounds):
            try:
                after = self.options.solve(self._priced(price))
            except InstanceError:  # a price out of the range of files
                break
            if after is None:
                break
            if after.bound <= self.before.value:
                lows.append(Fraction(price) - self.revenue)
            if after.schedule.groups:
                highs.append(self._needed(after.schedule))
            high, low = _least(highs), _largest(lows)
            if high is None or low is None:
                break
            price = float((Fraction(high) + self.revenue + low) / 2)
        high, low = _least(highs), _largest(lows)
        return Between(
            None if low is None else rounded_down(low),
            None if high is None else rounded_up(Fraction(high) - self.revenue),
        )

    def _own_cost(self) -> Fraction | None:
        """Return kappa, the least cost of the task; `None` under a cap if it may draw less than idle."""
        if self.prover.headroom is not None:
            assert self.bag.watts is not None, "a cap needs watts"
            idle = [self.bag.machine_types[j].idle_watts for j, _ in self.bag.modes]
            if any(w is not None and w < own for w, own in zip(self.bag.watts.row(self.i), idle, strict=True)):
                return None
        return Prover(self.more.bag).least_running_cost() - Prover(self.bag).least_running_cost()

    def _proved_at(self) -> Fraction | None:
        """Return the price of the task at which the bound is down to the value without it, by Newton's method.

        The bound is convex in the price, with slope one over the makespan: after the first step prices decrease.
        """
        worth = self.before.worth
        first = None if worth is None else worth.task_types[self.name]
        price = float(self.revenue + Fraction(first or 0.0))
        for _ in range(NEWTON):
            proved = prove(self._priced(price), self.options.solver)
            if proved.relaxed is None:
                break
            seconds = proved.relaxed.makespan_seconds
            lower = price - (proved.bound - self.before.value) * seconds / SECONDS_PER_HOUR
            if abs(lower - price) <= BACK[1] * abs(price):
                break
            price = max(0.0, lower)
        for share in BACK:
            tried = (1.0 - share) * price
            if prove(self._priced(tried), self.options.solver).bound <= self.before.value:
                return Fraction(tried) - self.revenue
        return None

    def _places(self) -> Iterator[tuple[float, str, int | None, str | None]]:
        """Yield the cost of the task at the end of each group or on an idle machine, and the place."""
        bag, schedule, columns = self.bag, self.before.schedule, column_numbers(self.bag.machine_types)
        rate = self.before.bound / SECONDS_PER_HOUR + float(self.prover.fixed_rate())
        row = {each.name: k for k, each in enumerate(bag.task_types)}
        ends = self.before.measured.makespan_seconds or 0.0
        places: list[tuple[str, int | None, float]] = []
        for k, group in enumerate(schedule.groups):
            load = sum(
                run.count * (bag.seconds[row[run.task_type], columns[group.machine_type, run.p_state]] or 0.0)
                for run in group.runs
            )
            places.append((group.machine_type, k, load))
        for machine in bag.machine_types:
            used = sum(each.machines for each in schedule.groups if each.machine_type == machine.name)
            if used < machine.count:
                places.append((machine.name, None, 0.0))
        machines, prices = {each.name: each for each in bag.machine_types}, cost_model(bag)
        per_joule = float(self.prover.per_joule)
        for name, place, load in places:
            for (owner, state), column in columns.items():
                seconds = bag.seconds[self.i, column] if owner == name else None
                if seconds is None:
                    continue
                watts = 0.0 if bag.watts is None else (bag.watts[self.i, column] or 0.0) - machines[name].idle_watts
                cost = seconds * (prices.wear(machines[name]) + per_joule * watts)
                yield cost + rate * max(0.0, load + seconds - ends), name, place, state

    def _needed(self, schedule: Schedule) -> float | None:
        """Return a price at which a schedule is verified to earn as much as the bound without the task."""
        price = max(0.0, float(self.revenue))
        measured = self._measured(schedule, price)
        if measured is None:
            return None
        earned, seconds = measured
        missing = (self.before.bound - earned) * seconds / SECONDS_PER_HOUR

        def is_enough(price: float) -> bool:
            found = self._measured(schedule, price)
            return found is not None and found[0] >= self.before.bound

        return nearby(max(0.0, price + missing), is_enough)

    def _measured(self, schedule: Schedule, price: float) -> tuple[float, float] | None:
        try:
            measured = examine(self._priced(price).bag, schedule).measured
        except InstanceError:  # a price out of the range of files
            return None
        if measured is None or measured.profit_per_hour is None or measured.makespan_seconds is None:
            return None
        return measured.profit_per_hour, measured.makespan_seconds

    def _priced(self, price: float) -> Problem:
        return replace(self.more, bag=Terms(price=price).applied_to(self.more.bag))


def _added(schedule: Schedule, task: str, machine_type: str, group: int | None, p_state: str | None) -> Schedule:
    """Return a schedule with one task more, at the end of one machine of a group, or on an idle one."""
    groups = list(schedule.groups)
    run = Run(task, 1, p_state)
    if group is None:
        groups.append(MachineGroup(machine_type, 1, (run,)))
        return Schedule(tuple(groups))
    own = groups[group]
    if own.machines > 1:
        groups[group] = replace(own, machines=own.machines - 1)
        groups.append(replace(own, machines=1, runs=(*own.runs, run)))
    else:
        groups[group] = replace(own, runs=(*own.runs, run))
    return Schedule(tuple(groups))


def _largest(numbers: Iterable[Number | None]) -> Number | None:
    return max((each for each in numbers if each is not None), default=None)


def _least(numbers: Iterable[Number | None]) -> Number | None:
    return min((each for each in numbers if each is not None), default=None)


WHOLE: Final = 1e-9  # of a machine: rounding of the busy share


def with_fewer(
    result: Result, *, cancel: CancelToken | None = None, seed: int = 0, solver: Solver | None = None
) -> Result:
    """Return an answer of `solve` for profit with what fewer machines would earn, where that is proved to be more.

    Of each machine type of which one fewer raises the LP bound, as many are kept as the busy time of the schedule
    needs. The bag is solved again with those: its verified schedule earns more than the bound with all machines, or
    nothing is said. So nothing is said either where other numbers of machines would do.
    """
    bag, found, worth = result.bag, result.breakdown, result.worth
    if bag is None or found is None or worth is None or not result.schedule.groups:
        return result
    fewer = (worth.one_fewer or worth).machine_types
    counts = {}
    for name, use in found.machine_types.items():
        value, needed = fewer[name], math.ceil(use.busy_share * use.count - WHOLE)
        if value is not None and value < 0 and needed < use.count:
            counts[name] = needed
    solver, cancel = solver if solver is not None else default_solver(), cancel or CancelToken()
    if not counts or cancel.expired():
        return result
    options = solve_options(bag, result, solver, marginals=Marginals.TOP, cancel=cancel, seed=seed)
    timings = dict(result.timings)
    with timed(timings, "fewer machines"):
        question = Problem(bag, with_machines(bag, counts), Terms(), OBJECTIVES[result.objective])
        after = replace(options, cancel=cancel.share(SECONDS)).solve(question)
    result = replace(result, timings=FrozenDict(timings))
    if after is None:
        return result
    change = changes_between((result.value, result.bound), (after.value, after.bound))
    if change.at_least is None or change.at_least <= 0:
        return result
    return replace(result, fewer_machines=Fewer(FrozenDict(counts), change))
