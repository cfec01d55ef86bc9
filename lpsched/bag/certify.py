"""From a problem to a certificate, and to an LP or MPS file for other solvers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.bag import front, profit
from lpsched.bag.certificate import patterns
from lpsched.bag.certificate.bounds import Multipliers, Number, Prover
from lpsched.bag.certificate.claim import Certificate, check
from lpsched.bag.certificate.patterns import Interval, IntervalProver, Line
from lpsched.bag.model import Bag, Terms
from lpsched.bag.problem import (
    MAKESPAN,
    Problem,
    Proved,
    build_problem,
    prove,
    prover_of,
    require_power,
    require_time,
    screen_of,
)
from lpsched.bag.relaxation import least_makespan, scaling_of
from lpsched.bag.solve import DEFAULT_GAP, effort_named, find
from lpsched.cancellation import CancelToken
from lpsched.errors import NotFoundError, SolverError
from lpsched.lp.solvers import default_solver, model_text
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.search.makespan_intervals import Leaf
    from lpsched.lp.program import Solver


# A certificate for a bag: the bound of a solve, and the prices that prove it, to be checked independently.
#
# Where the multipliers of the linear program do not prove the bound, the leaves of the search over intervals of the
# makespan do (`bag/search/makespan_intervals.py`). There are many, each proved on its own; a certificate needs few.
# They are chosen from the longest makespan down: of all prices at hand, those are taken that prove the bound for the
# longest interval that ends where the one before begins. The prices of a leaf prove it at least for that leaf, so the
# choice comes to an end; more often they reach over several leaves.
#
# What is written is what the checker proves (`bag/certificate/patterns.py`). Its knapsacks are finer than those of the
# search, so this is no less than the bound of the search; if it should be, the certificate claims less.
CELLS: Final = (1_000_000, 100_000, 20_000, 4_000)  # tried in turn, while knapsacks take too many steps
NEAREST: Final = 6  # leaves below a makespan whose patterns are tried for it
FURTHER: Final = 40  # leaves below and above whose plain proofs are tried for it
ROUNDED_UP: Final = Fraction(1, 1 << 20)  # of a unit: from there the whole unit is proved


def certify(  # noqa: PLR0913 - options are keyword-only
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
    solver: Solver | None = None,
) -> Certificate:
    """Find a bound that no schedule can pass, and the prices that prove it; options and errors as in `solve`."""
    bag = Bag.given(bag)
    solver = solver if solver is not None else default_solver()
    cancel, tried = cancel or CancelToken(time_limit), effort_named(effort)
    problem = build_problem(bag, Terms(objective, price, profit_ratio, power_cap, deadline), solver)
    try:
        best = find(problem, solver, gap=gap, cancel=cancel, effort=tried, seed=seed)
    except NotFoundError:  # a bound needs no schedule
        return certificate_of(problem, prove(problem, solver, cancel=cancel), ())
    leaves = [] if best.search is None else best.search.all_leaves()
    return certificate_of(problem, best.proved, leaves, best.bound, solver)


def certificate_of(
    problem: Problem, proved: Proved, leaves: Sequence[Leaf], bound: float | None = None, solver: Solver | None = None
) -> Certificate:
    """Return the certificate of a bound: that of `proved`, if not given, else one that leaves prove.

    The leaves lie end to end, from a makespan that no schedule undercuts up to the deadline, or without end.
    If the checker does not prove the bound from them, the certificate claims what it does prove.
    """
    bag, objective = problem.given, problem.objective
    names = [machine.name for machine in bag.machine_types]
    plain = Certificate(
        instance_name=bag.name,
        instance_hash=bag.content_hash,
        objective=objective.name,
        unit=objective.unit(bag),
        bound=Fraction(proved.bound if bound is None else bound),
        terms=replace(problem.terms, objective=None),
        machine_prices=_named(names, proved.prices.machines),
        cap_price=Fraction(proved.prices.cap),
    )
    by_prices = objective.prove(Prover(problem.bag, screen_of(problem.bag)), proved.prices)
    if plain.bound >= by_prices if objective.maximise else plain.bound <= by_prices:
        return plain
    longest = replace(plain, least_makespan=_longest(problem.bag))
    by_whole = check(bag, longest)
    if by_whole.accepted:
        return longest
    packed = _with_intervals(problem, plain, proved, leaves, solver or default_solver()) if leaves else None
    found = [replace(plain, bound=Fraction(by_prices))] + ([] if packed is None else [packed])
    if by_whole.proved is not None:
        found.append(_claiming(longest, by_whole.proved))
    return (min if objective.maximise else max)(found, key=lambda made: made.bound)


def _with_intervals(
    problem: Problem, plain: Certificate, proved: Proved, leaves: Sequence[Leaf], solver: Solver
) -> Certificate | None:
    """Return the certificate with intervals; `None` if they prove no more than the multipliers."""
    bag, leaves = problem.bag, sorted(leaves, key=lambda leaf: leaf.start)
    least = _least(bag, leaves[0].start, solver)
    choice = _IntervalSelection(IntervalProver(bag, plain.objective), proved.prices, leaves, plain.bound)
    intervals = choice.intervals(least.seconds)
    if intervals is None:
        return None
    from_0 = replace(plain, intervals=(replace(intervals[0], start=Fraction(0)), *intervals[1:]))
    if check(problem.given, from_0).accepted:  # the least makespan is not needed
        return from_0
    made = replace(plain, least_makespan=least, intervals=intervals)
    verdict = check(problem.given, made)
    if verdict.accepted or verdict.proved is None:
        return made if verdict.accepted else None
    return _claiming(made, verdict.proved)


def _claiming(made: Certificate, proved: Fraction) -> Certificate:
    """Return the certificate with a bound that is proved, rounded to the side on which it stays true."""
    return replace(made, bound=Fraction((rounded_up if made.objective == "profit" else rounded_down)(proved)))


class _IntervalSelection:
    """Chooses few intervals that prove a bound; prices of tasks are needed where they prove it by patterns."""

    def __init__(
        self, prover: IntervalProver, multipliers: Multipliers, leaves: Sequence[Leaf], bound: Fraction
    ) -> None:
        self.prover, self.leaves = prover, leaves
        self.score = -bound
        if prover.objective == "profit":
            self.score = bound / SECONDS_PER_HOUR + prover.known.fixed_rate()
        elif (step := prover.joules) is not None:  # of energy, just enough to be rounded up to the bound
            self.score = -(math.ceil(bound / step) - 1 + ROUNDED_UP) * step
        machines = [machine.name for machine in prover.bag.machine_types]
        tasks = [task.name for task in prover.bag.task_types]
        always = Fraction(0), None, None  # from 0 on, without prices of tasks
        self.whole = Interval(*always, _named(machines, multipliers.machines), Fraction(multipliers.cap))
        self.plain: list[Interval] = []
        self.packed: list[Interval | None] = []
        for leaf in leaves:
            prices, cap = leaf.proof.prices, Fraction(leaf.proof.prices.cap)
            self.plain.append(Interval(*always, _named(machines, prices.machines.tolist()), cap))
            by_patterns = replace(
                self.plain[-1], task_prices=_named(tasks, prices.tasks.tolist()), cells=leaf.proof.cells
            )
            self.packed.append(by_patterns if leaf.proof.cells else None)
        self.steps = patterns.MOST_STEPS // (4 + sum(each is not None for each in self.packed))

    def intervals(self, low: Fraction) -> tuple[Interval, ...] | None:
        """Return intervals from `low` on, by rising makespan; of a weaker bound, where the bound has none."""
        for _ in range(len(self.leaves) + 1):
            chosen: list[Interval] = []
            end = self.prover.known.deadline
            while not chosen or chosen[-1].start > low:
                starts = [(self._earliest(line, low, end), interval) for interval, line in self._lines(end)]
                proving = [replace(interval, start=start) for start, interval in starts if start is not None]
                if not proving:
                    break
                chosen.append(min(proving, key=lambda each: each.start))
                end = chosen[-1].start
            else:
                return tuple(reversed(chosen))
            start = self._below(end, low)  # go on with the best score that can be proved for the leaf below the end
            scores = [self.prover.score(line, start, end) for _, line in self._lines(end) if line is not None]
            known = [score for score in scores if score is not None and score > self.score]
            if not known:
                return None
            self.score = min(known)
        return None

    def _lines(self, end: Fraction | None) -> Iterator[tuple[Interval, Line | None]]:
        """Yield intervals from 0 to an end with the prices at hand, and what these say of such makespans."""
        last = len(self.leaves) - 1
        at = last if end is None else next((k for k, leaf in enumerate(self.leaves) if leaf.end >= end), last)
        tried: list[Interval] = []
        for prices in (self.whole, *self.plain[max(0, at - FURTHER) : at + FURTHER + 1]):
            if prices not in tried:
                tried.append(prices)
                plain = replace(prices, end=end)
                yield plain, self.prover.line(plain, end)
        for by_patterns in self.packed[max(0, at - NEAREST) : at + 2]:
            if by_patterns is not None and end is not None:
                yield from self._packed(replace(by_patterns, end=end))

    def _packed(self, interval: Interval) -> Iterator[tuple[Interval, Line | None]]:
        for cells in CELLS if interval.cells <= CELLS[0] else (interval.cells, *CELLS):
            self.prover.steps_left = self.steps
            finer = replace(interval, cells=cells)
            with suppress(patterns.TooManyStepsError):
                yield finer, self.prover.line(finer, interval.end)
                return

    def _earliest(self, line: Line | None, low: Fraction, end: Fraction | None) -> Fraction | None:
        """Return from where on the bound is proved; `None` if it is nowhere."""
        if line is None or self._holds(line, low, end):
            return low
        wanted = self._wanted(line)
        starts = [self._below(end, low)] if wanted is None else [self._double(wanted), self._below(end, low)]
        fitting = [each for each in starts if each > low and (end is None or each < end)]
        return min((each for each in fitting if self._holds(line, each, end)), default=None)

    def _wanted(self, line: Line) -> Fraction | None:
        """Return from where on a line is good enough, if it gets better with the makespan."""
        prover = self.prover
        if prover.objective == "makespan":
            return -self.score
        if prover.objective == "energy":
            slope = line.b - prover.per_second
            return (self.score + line.a) / slope if slope < 0 else None
        left = prover.income - line.a
        return left / (self.score - line.b) if left > 0 and self.score > line.b else None

    def _below(self, end: Fraction | None, low: Fraction) -> Fraction:
        """Return where the leaf that is cut by an end begins."""
        starts = [leaf.start for leaf in self.leaves if end is None or leaf.start < end]
        return max(low, Fraction(max(starts))) if starts else low

    def _double(self, seconds: Fraction) -> Fraction:
        """Return a double after which schedules end no sooner than `seconds`."""
        unit = self.prover.unit
        if unit is not None:  # they end after whole units: the first double after the last unit before
            units = math.ceil(seconds / unit)
            after = Fraction(math.nextafter(rounded_up((units - 1) * unit), math.inf))
            if after <= units * unit:
                return after
        return Fraction(rounded_up(seconds))

    def _holds(self, line: Line, start: Fraction, end: Fraction | None) -> bool:
        score = self.prover.score(line, start, end)
        return score is None or score <= self.score


def _least(bag: Bag, low: float, solver: Solver) -> patterns.LeastMakespan:
    """Return a proof that no schedule is shorter than `low`, or than a little less."""
    longest = _longest(bag)
    if longest.seconds >= low:
        return replace(longest, seconds=Fraction(low))
    with suppress(SolverError):
        free = bag.without_deadline()
        prices = MAKESPAN.relax(free, solver).multipliers
        seconds = min(low, rounded_down(Prover(free).makespan(prices)))
        if seconds > longest.seconds:
            names = [machine.name for machine in bag.machine_types]
            return patterns.LeastMakespan(Fraction(seconds), None, _named(names, prices.machines), Fraction(prices.cap))
    return longest


def _longest(bag: Bag) -> patterns.LeastMakespan:
    """Return the makespan that some task types need, however they run; as a double, which a file holds exactly."""
    seconds, types = least_makespan(bag)
    return patterns.LeastMakespan(Fraction(rounded_down(seconds)), tuple(bag.task_types[i].name for i in types))


def _named(names: Sequence[str], numbers: Sequence[Number]) -> FrozenDict[str, Fraction]:
    return FrozenDict(zip(names, (Fraction(each) for each in numbers), strict=True))


# The linear program of a problem, for other solvers: its optimum is the objective in its own unit, minimised: of a
# profit program it is the negative of the money per hour.
KINDS: Final = ("lp", "mps")


def export(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    kind: str,
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
) -> str:
    """Return the linear program as the text of an `lp` or `mps` file; options and errors as in `solve`.

    Raises
    ------
    ValueError
        If the kind is not known.
    InfeasibleError
        If it is proved that no schedule meets the deadline or the power cap.
    MissingExtraError
        If PuLP is not installed.
    """
    bag = Bag.given(bag)
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}, expected one of {', '.join(KINDS)}")
    problem = build_problem(bag, Terms(objective, price, profit_ratio, power_cap, deadline), default_solver())
    prover = prover_of(problem.bag)
    require_power(prover)
    require_time(prover, default_solver())
    scaling, weights = scaling_of(problem.bag), problem.objective.weights
    if weights is None:
        money = profit.profit_model(scaling)
        program = profit.compile_lp(scaling, money)
        hourly = SECONDS_PER_HOUR * money.unit / scaling.seconds
        program = replace(program, costs=program.costs * hourly, offset=SECONDS_PER_HOUR * money.fixed_rate)
    else:
        program = front.compile_lp(scaling, weights)
        costs = program.costs * front.unit_of(scaling, weights)
        program = replace(program, name=problem.objective.name, costs=costs)
    return model_text(program, kind)
