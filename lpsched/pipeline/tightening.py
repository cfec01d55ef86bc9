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
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.certificate.bounds import Prover, rounded_down
from lpsched.errors import SolverError
from lpsched.pipeline.objectives import Makespan
from lpsched.pipeline.recovering import Recovered, best_of, examined_schedule
from lpsched.pipeline.scoring import Scoring, scoring_of
from lpsched.recovery.dive import FIRST_ROUNDS, Cover, choose, dive
from lpsched.recovery.plans import Plan
from lpsched.recovery.polish import polish
from lpsched.recovery.waiting import ended
from lpsched.result.solve import relative_gap
from lpsched.search.makespan_intervals import IntervalSearch

if TYPE_CHECKING:
    from fractions import Fraction

    from lpsched.instance import Bag
    from lpsched.instance.items import Items
    from lpsched.lp.program import Solver
    from lpsched.pipeline.proving import Proved
    from lpsched.pipeline.questions import Question
    from lpsched.search.makespan_intervals import Leaf
    from lpsched.watch import Watch

STAGE: Final = "patterns"
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
    scoring: Scoring
    bound: float
    found: Recovered
    solver: Solver
    watch: Watch
    rng: np.random.Generator
    gap: float
    plan: Plan | None = None  # that of the schedule, once it is ours

    def run(self) -> None:
        """Search until bound and value meet, time is up, or nothing more is to be gained."""
        scoring = self.scoring
        low, high = self._least_makespan(), self.question.bag.site.deadline_seconds or math.inf
        if low >= high:
            return
        standing = float(scoring.standing)
        search = IntervalSearch(scoring.items, scoring.prover, self.solver, low, high, standing)
        left, few = self.watch.left(), search.per_machine <= FEW_TASKS
        watch = self.watch if left is None or few else self.watch.part(SEARCHING * left)
        while (leaf := search.refine(scoring.of_value(self.value), self.gap, watch)) is not None:
            self._take(search.bound)
            self._attempt(search, leaf)
        self._take(search.bound)
        self._deepen()

    @property
    def value(self) -> float:
        """What the best schedule achieves."""
        return self.question.objective.value(self.found.measured)

    def _attempt(self, search: IntervalSearch, leaf: Leaf) -> None:
        """Look for schedules that end with a leaf."""
        items = _workable(search.items)
        near = [items.pattern(*each) for each in search.near(leaf, NEAR)]
        cells = min(MOST_CELLS, CELLS + int(MORE_CELLS * search.per_machine))
        cover = Cover(items, leaf.end, self.solver, self.watch, cells, near)
        cover.improve(FIRST_ROUNDS)
        for way in (choose, dive) if search.per_machine <= FEW_TASKS else (dive,):
            plan = way(cover, self.rng)
            if plan is not None:
                self._polish(plan, leaf.end, POLISHING)

    def _deepen(self) -> None:
        """Spend what time is left on the best plan, while that helps."""
        fails = 0
        while self.plan is not None and fails < MOST_FAILS and not self.watch.is_over():
            if self._is_enough(self.plan):
                return
            better = self._polish(self.plan, float(self.plan.loads.max()), DEEPENING)
            fails = 0 if better else fails + 1

    def _polish(self, plan: Plan, limit: float, seconds: float) -> bool:
        """Polish a plan and keep what comes of it, if that is better; tell whether it is."""
        polished = polish(plan, limit, self._is_enough, self.watch.part(seconds), self.rng)
        better = self._keep(polished)
        self.watch.tell(STAGE, relative_gap(self.value, self.bound))
        return better

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
            examined = examined_schedule(bag, ending)
            if isinstance(examined, Recovered) and best_of(asked, [self.found, examined]) is examined:
                self.found, self.plan, better = examined, plan, True
        return better

    def _is_enough(self, plan: Plan) -> bool:
        """Tell whether a plan is as close to the bound as the gap."""
        score = Plan(self.scoring.items, plan.kinds, plan.counts).score
        away = abs(self.bound - self.scoring.to_value(score))
        return away <= self.gap * abs(self.bound)

    def _least_makespan(self) -> float:
        """Return a makespan that no schedule undercuts: the plain one, or that of the longest task."""
        bag = self.question.bag.without_deadline()
        prices = Makespan().relax(bag, self.solver, self.watch).multipliers
        return rounded_down(max(Prover(bag).makespan(prices), self.scoring.prover.longest))

    def _take(self, score: Fraction | None) -> None:
        """Take a bound of the score, if it is better than what is known."""
        if score is not None:
            proved = self.scoring.to_bound(score)
            self.bound = min(self.bound, proved) if self.scoring.maximise else max(self.bound, proved)
            self.watch.tell(STAGE, relative_gap(self.value, self.bound))


def tighten(  # noqa: PLR0913, PLR0917 - what the fast pipeline knows, and the options of `solve`
    question: Question,
    proved: Proved,
    found: Recovered,
    solver: Solver,
    watch: Watch,
    gap: float,
    rng: np.random.Generator,
) -> tuple[float, Recovered]:
    """Return a bound and a verified schedule, both at least as good as those given.

    Raises
    ------
    InvalidScheduleError
        If a schedule breaks a rule other than a limit, which is a bug of ours.
    """
    if proved.relaxed is None or not fits_patterns(question.bag):
        return proved.bound, found
    scoring = scoring_of(question)
    tightening = Tightening(question, scoring, proved.bound, found, solver, watch, rng, gap)
    with suppress(SolverError):  # what there is stays true
        tightening.run()
    return tightening.bound, tightening.found


def fits_patterns(bag: Bag) -> bool:
    """Tell whether a bag is small enough for patterns."""
    few = bag.machines <= MOST_MACHINES and len(bag.task_types) <= MOST_TYPES
    return few and bag.tasks <= MOST_TASKS


def _workable(items: Items) -> Items:
    """Return items for schedules: where nothing has a cost, time gets a little, so that slack is of worth."""
    if items.costs[np.isfinite(items.costs)].any():
        return items
    return replace(items, costs=SLACK_WORTH * items.seconds / float(items.machines.sum()))
