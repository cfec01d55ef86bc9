"""Tight answers for bags with few tasks a machine: bounds by patterns, schedules by patterns and exchanges.

The fast pipeline splits tasks. With few of them a machine, that leaves a gap: a machine cannot run half a
task. Here the makespans are searched by intervals, best first (`search/makespan_intervals.py`); each time a
narrow interval is the best one left, schedules of its makespan are looked for, and verified like any other.
Both sides only ever get better than what the fast pipeline found, so the work may end at any time.

A power cap is left out of the patterns: without it the bound is still a bound. Schedules have to keep it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.certificate.bounds import SECONDS_PER_HOUR, Prover, rounded_down, rounded_up
from lpsched.errors import InvalidScheduleError, SolverError
from lpsched.instance.items import Items, items_of
from lpsched.pipeline.objectives import Makespan
from lpsched.pipeline.packing_proofs import packing_prover
from lpsched.pipeline.recovering import LIMITS, Recovered
from lpsched.recovery.dive import FIRST_ROUNDS, Cover, choose, dive
from lpsched.recovery.plans import Plan
from lpsched.recovery.polish import polish
from lpsched.recovery.waiting import ended
from lpsched.result.solve import relative_gap
from lpsched.search.makespan_intervals import IntervalSearch
from lpsched.verify.bag import examine

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.packing_proofs import PackingProver
    from lpsched.pipeline.proving import Proved
    from lpsched.pipeline.questions import Question
    from lpsched.search.makespan_intervals import Leaf
    from lpsched.watch import Watch

MOST_MACHINES: Final = 5_000
MOST_TYPES: Final = 400
MOST_TASKS: Final = 1_000_000
FEW_TASKS: Final = 5  # a machine: an integer program over patterns is tried, and no time kept back
SEARCHING: Final = 0.7  # of the time, where there are more
CELLS: Final = 20_000  # of the grid for schedules, and more for each task a machine runs
MORE_CELLS: Final = 200.0
MOST_CELLS: Final = 40_000
NEAR: Final = 1_500  # patterns of the bound that schedules begin with
POLISHING: Final = 1.2  # seconds for a plan
DEEPENING: Final = 2.0  # seconds for the best plan, again and again
MOST_FAILS: Final = 4
SLACK_WORTH: Final = 1e-2  # what all seconds together cost, as a share of the makespan


@dataclass(slots=True)
class Tightening:
    """The best bound and the best schedule so far, and the search for better ones."""

    question: Question
    bound: float
    found: Recovered
    solver: Solver
    watch: Watch
    rng: np.random.Generator
    standing: Fraction  # K: what the score of a profit has more than the profit
    plan: Plan | None = None  # that of the schedule, once it is ours

    def run(self, gap: float) -> None:
        """Search until bound and value meet, time is up, or nothing more is to be gained."""
        bag = self.question.bag
        prover = packing_prover(bag, self.question.objective.name)
        items = _items(bag, prover)
        low, high = self._least_makespan(prover), bag.site.deadline_seconds or math.inf
        if low >= high:
            return
        search = IntervalSearch(items, prover, self.solver, low, high, float(self.standing))
        left, few = self.watch.left(), search.per_machine <= FEW_TASKS
        watch = self.watch if left is None or few else self.watch.part(SEARCHING * left)
        while (leaf := search.refine(self._score(), gap, watch)) is not None:
            self._take(search.bound)
            self._attempt(_workable(items), search, leaf, gap)
        self._take(search.bound)
        self._deepen(items, gap)

    def _attempt(self, items: Items, search: IntervalSearch, leaf: Leaf, gap: float) -> None:
        """Look for schedules that end with a leaf."""
        limit, enough = leaf.end, partial(self._is_enough, search.items, gap)
        cells = min(MOST_CELLS, CELLS + int(MORE_CELLS * search.per_machine))
        near = search.near(leaf, NEAR)
        cover = Cover(items, limit, self.solver, self.watch, cells, [items.pattern(*each) for each in near])
        cover.improve(FIRST_ROUNDS)
        ways = (choose, dive) if search.per_machine <= FEW_TASKS else (dive,)
        for way in ways:
            plan = way(cover, self.rng)
            if plan is not None:
                self._keep(polish(plan, limit, enough, self.watch.part(POLISHING), self.rng))

    def _deepen(self, items: Items, gap: float) -> None:
        """Spend what time is left on the best plan."""
        fails, enough = 0, partial(self._is_enough, items, gap)
        while self.plan is not None and fails < MOST_FAILS and not self.watch.is_over():
            if self._is_close(gap):
                return
            limit = float(self.plan.loads.max())
            plan = polish(self.plan, limit, enough, self.watch.part(DEEPENING), self.rng)
            fails = 0 if self._keep(plan) else fails + 1

    def _keep(self, plan: Plan) -> bool:
        """Verify a plan, and keep its schedule if it is better than the best; tell whether it is.

        Raises
        ------
        InvalidScheduleError
            If it breaks a rule other than a limit, which is a bug of ours.
        """
        bag, asked = self.question.bag, self.question.objective
        counts, schedule = plan.by_column(bag), plan.schedule(bag)
        better = False
        for late in (False, True) if asked.maximise and bag.site.deadline_seconds is not None else (False,):
            ending = ended(bag, counts, schedule, late=late)
            examined = examine(bag, ending)
            if examined.measured is None:
                if not {each.code for each in examined.violations} <= LIMITS:
                    raise InvalidScheduleError("; ".join(each.sentence for each in examined.violations[:9]))
                continue
            gain = asked.value(examined.measured) - asked.value(self.found.measured)
            if gain > 0 if asked.maximise else gain < 0:
                self.found, self.plan, better = Recovered(ending, examined.measured), plan, True
        return better

    def _is_close(self, gap: float) -> bool:
        distance = relative_gap(self.question.objective.value(self.found.measured), self.bound)
        return distance is not None and distance <= gap

    def _is_enough(self, items: Items, gap: float, plan: Plan) -> bool:
        """Tell whether a plan, counted in these items, is as close to the bound as the gap."""
        score = Plan(items, plan.kinds, plan.counts).score
        if not self.question.objective.maximise:
            return score >= -self.bound * (1 + gap)
        rate = (score - float(self.standing)) * SECONDS_PER_HOUR
        return rate >= self.bound - gap * abs(self.bound)

    def _least_makespan(self, prover: PackingProver) -> float:
        """Return a makespan that no schedule undercuts: the plain one, or that of the longest task."""
        bag = self.question.bag.without_deadline()
        prices = Makespan().relax(bag, self.solver, self.watch).multipliers
        return rounded_down(max(Prover(bag).makespan(prices), prover.longest))

    def _score(self) -> float:
        """Return the score of the best schedule."""
        asked = self.question.objective
        value = asked.value(self.found.measured)
        if asked.maximise:
            return value / SECONDS_PER_HOUR + float(self.standing)
        return -value

    def _take(self, score: Fraction | None) -> None:
        """Take a bound of the score, if it is better than what is known."""
        if score is None:
            return
        bag = self.question.bag
        if self.question.objective.maximise:
            if bag.site.deadline_seconds is None:
                score = max(score, Fraction(0))  # to wait
            rate = SECONDS_PER_HOUR * (score - self.standing)
            self.bound = min(self.bound, rounded_up(rate))
        else:
            self.bound = max(self.bound, rounded_down(-score))


def tighten(  # noqa: PLR0913, PLR0917 - what the fast pipeline knows, and the options of `solve`
    question: Question,
    proved: Proved,
    found: Recovered,
    solver: Solver,
    watch: Watch,
    gap: float,
    rng: np.random.Generator,
) -> tuple[float, Recovered]:
    """Return a bound and a verified schedule, both at least as good as those given."""
    if proved.relaxed is None or _is_too_large(question.bag):
        return proved.bound, found
    standing = Prover(question.bag).standing() if question.objective.maximise else Fraction(0)
    tightening = Tightening(question, proved.bound, found, solver, watch, rng, standing)
    with suppress(SolverError):  # what there is stays true
        tightening.run(gap)
    return tightening.bound, tightening.found


def _is_too_large(bag: Bag) -> bool:
    return bag.machines > MOST_MACHINES or len(bag.task_types) > MOST_TYPES or bag.tasks > MOST_TASKS


def _items(bag: Bag, prover: PackingProver) -> Items:
    """Return the items in doubles, as the prover counts them."""
    return items_of(
        bag,
        per_joule=float(prover.per_joule),
        wear=prover.wear,
        income=None if prover.income is None else float(prover.income),
        per_second=float(prover.per_second),
    )


def _workable(items: Items) -> Items:
    """Return items for schedules: where nothing has a cost, time gets a little, so that slack is of worth."""
    if items.costs[np.isfinite(items.costs)].any():
        return items
    return replace(items, costs=SLACK_WORTH * items.seconds / float(items.machines.sum()))
