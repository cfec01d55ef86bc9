"""Closing the gap: tasks exchanged until loads are even, then patterns and search for bags with few tasks a machine."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.problem import Makespan
from lpsched.bag.proving import prover_of
from lpsched.bag.recovery.exchange import OVERLOAD, polish
from lpsched.bag.recovery.load_balancing import levelled
from lpsched.bag.recovery.patterns import FIRST_ROUNDS, Cover, choose, dive
from lpsched.bag.recovery.plans import Plan, ended, plan_of_schedule
from lpsched.bag.recovery.stages import Recovered, best_of, examined_schedule, fits_exchanges, repaired
from lpsched.bag.schedule import task_counts
from lpsched.bag.search.makespan_intervals import IntervalSearch
from lpsched.bag.search.packing_proofs import Scoring, scoring_of
from lpsched.errors import SolverError
from lpsched.model.fixed_point import rounded_down
from lpsched.model.provenance import relative_gap

if TYPE_CHECKING:
    from fractions import Fraction

    from lpsched.bag.arrays import Items
    from lpsched.bag.model import Bag
    from lpsched.bag.problem import Question
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.search.makespan_intervals import Leaf
    from lpsched.cancellation import Watch
    from lpsched.lp.program import Solver


# Balanced answers: a rounded linear program whose loads are evened out, in some milliseconds.
#
# What a rounded program loses, it loses mostly where tasks are placed one by one on machines of a type: where
# each runs few, the longest machine works for longer than the others, and everything waits for it. In order,
# each starting from the best so far:
#
#     level      tasks change places between machines of a type, at no cost (`bag/recovery/load_balancing.py`)
#     exchange   single tasks change places between machines of all types, until none is longer than the mean
#                of the fullest type and a little (`bag/recovery/exchange.py`); then level again
#
# The bound stays as it is, and the value only ever gets better. All work is counted, none is timed: a rerun
# gives the same schedule on every machine.
ABOVE: Final = 1.003  # times the mean load of the fullest machine type: what exchanges aim at


def balance(question: Question, found: Recovered, bound: float, gap: float, watch: Watch) -> Recovered:
    """Return a verified schedule that is at least as good as the one given."""
    bag, asked = question.bag, question.objective

    def is_enough() -> bool:
        distance = relative_gap(asked.value(found.measured), bound)
        return watch.is_over() or (distance is not None and distance <= gap)

    if not found.schedule.groups or is_enough():  # no groups: waiting is best
        return found
    level = levelled(bag, found.schedule)
    found = better_ending(question, found, level)
    if is_enough() or not fits_exchanges(bag):
        return found
    exchanged = _exchanged(question, level)
    return found if exchanged is None else better_ending(question, found, levelled(bag, exchanged))


def better_ending(question: Question, found: Recovered, schedule: Schedule) -> Recovered:
    """Return the better of two schedules; the second has yet to be ended and verified."""
    bag, asked = question.bag, question.objective
    counts = task_counts(bag, schedule)
    forced = asked.maximise and bag.site.deadline_seconds is not None
    tried = [
        examined_schedule(bag, ended(bag, counts, schedule, late=late))
        for late in ((False, True) if forced else (False,))
    ]
    return best_of(asked, [found, *(each for each in tried if isinstance(each, Recovered))])


def _exchanged(question: Question, schedule: Schedule) -> Schedule | None:
    """Return the schedule after exchanges between machines of all types; `None` if none is too long."""
    bag, items = question.bag, scoring_of(question).items
    plan = plan_of_schedule(bag, items, schedule)
    means = np.bincount(plan.kinds, weights=plan.loads) / items.machines
    limit = ABOVE * float(means.max())
    if plan.loads.max() <= limit:
        return None
    return repaired(bag, plan, limit, OVERLOAD * items.second_worth(plan.cost, limit))


# Tight answers for bags with few tasks a machine: bounds by patterns, schedules by patterns and exchanges.
#
# The fast pipeline splits tasks. With few of them a machine, that leaves a gap: a machine cannot run half a
# task. Here the makespans are searched by intervals, best first (`bag/search/makespan_intervals.py`); each time
# a narrow interval is the best one left, schedules of its makespan are looked for, and verified like any other.
# At the end, the best schedule of all is searched around for as long as that helps. Both sides only ever get
# better than what is known already, so the work may end at any time; all of it is counted (`cancellation.py`).
STAGE: Final = "patterns"
MOST_MACHINES: Final = 5_000
MOST_TYPES: Final = 400
MOST_TASKS: Final = 1_000_000
FEW_TASKS: Final = 5  # a machine: an integer program over patterns is tried
SEARCHING: Final = 0.7  # of the work: for bounds, and schedules at their makespans; the rest is for the best
FEWEST_CELLS: Final = 5_000  # of the grid for schedules,
CELLS_A_TASK: Final = 2_000  # for each that a machine runs
MOST_CELLS: Final = 40_000
NEAR: Final = 1_500  # patterns of the bound that schedules begin with
POLISHING: Final = (1.2, 0.15)  # seconds of work for a plan, and the most of all work
DEEPENING: Final = (2.0, 0.2)  # likewise for the best plan, again and again
FIRST: Final = (0.5, 0.1)  # likewise for the schedule that is there
MOST_FAILS: Final = 4
READING: Final = 2.5e-5  # seconds of work counted for each pair that the prover reads
SLACK_WORTH: Final = 1e-2  # what all seconds together cost, as a share of the makespan


@dataclass(slots=True)
class Tightening:
    """The best bound and the best schedule so far, and the search for better ones."""

    question: Question
    scoring: Scoring
    bound: float
    found: Recovered | None  # `None` if no schedule is known yet
    solver: Solver
    watch: Watch
    rng: np.random.Generator
    gap: float
    plan: Plan | None = None  # that of the schedule, once it is ours
    search: IntervalSearch | None = None
    work: float = field(init=False)  # all that may be counted

    def __post_init__(self) -> None:
        """Look how much work there is."""
        self.work = self.watch.work_left()

    def run(self) -> None:
        """Search until bound and value meet, the work is done, or nothing more is to be gained."""
        scoring = self.scoring
        self._polish_first()
        low, high = self._least_makespan(), self.question.bag.site.deadline_seconds or math.inf
        if low < high:
            standing = float(scoring.standing)
            self.search = IntervalSearch(scoring.items, scoring.prover, self.solver, low, high, standing)
            self._search(self.search)
        self._deepen()

    @property
    def value(self) -> float | None:
        """What the best schedule achieves; `None` if there is none yet."""
        return None if self.found is None else self.question.objective.value(self.found.measured)

    @property
    def gap_left(self) -> float | None:
        """The relative gap between value and bound."""
        return None if self.value is None else relative_gap(self.value, self.bound)

    def _is_closed(self) -> bool:
        gap_left = self.gap_left
        return gap_left is not None and gap_left <= self.gap

    def _search(self, search: IntervalSearch) -> None:
        """Raise the bound, and look for schedules where it is least certain."""
        watch = self.watch.share(SEARCHING * self.watch.work_left())
        while not self._is_closed():
            value = -math.inf if self.value is None else self.scoring.of_value(self.value)
            leaf = search.refine(value, self.gap, watch)
            self._take(search.bound)
            if leaf is None or self._is_closed():
                return
            self._attempt(search, leaf)

    def _attempt(self, search: IntervalSearch, leaf: Leaf) -> None:
        """Look for schedules that end with a leaf."""
        items = _workable(search.items.with_cap_price(leaf.proof.prices.cap))
        near = [items.pattern(*each) for each in search.near(leaf, NEAR)]
        cells = int(min(MOST_CELLS, max(FEWEST_CELLS, CELLS_A_TASK * search.per_machine)))
        cover = Cover(items, leaf.end, self.solver, self.watch, cells, near)
        cover.improve(FIRST_ROUNDS)
        for way in (choose, dive) if search.per_machine <= FEW_TASKS else (dive,):
            plan = way(cover, self.rng)
            if plan is not None:
                self._polish(plan, leaf.end, POLISHING)

    def _polish_first(self) -> None:
        """Search around the schedule that is there."""
        if self.found is not None and self.found.schedule.groups:
            items = _workable(self.scoring.items)
            plan = plan_of_schedule(self.question.bag, items, self.found.schedule)
            self._polish(plan, float(plan.loads.max()), FIRST)
            self.plan = self.plan if self.plan is not None else plan

    def _deepen(self) -> None:
        """Spend what is left on the best plan, while that helps."""
        fails = 0
        while self.plan is not None and fails < MOST_FAILS and not self.watch.is_over():
            if self._is_enough(self.plan):
                return
            better = self._polish(self.plan, float(self.plan.loads.max()), DEEPENING)
            fails = 0 if better else fails + 1

    def _polish(self, plan: Plan, limit: float, share: tuple[float, float]) -> bool:
        """Polish a plan and keep what comes of it, if that is better; tell whether it is."""
        part = self.watch.share(min(share[0], share[1] * self.work))
        polished = polish(plan, limit, self._is_enough, part, self.rng)
        better = self._keep(polished)
        self.watch.tell(STAGE, self.gap_left)
        return better

    def _keep(self, plan: Plan) -> bool:
        """Verify a plan, and keep its schedule if it is better than the best; tell whether it is."""
        bag, asked = self.question.bag, self.question.objective
        counts, schedule = plan.by_column(bag), plan.schedule(bag)
        better = False
        for late in (False, True) if asked.maximise and bag.site.deadline_seconds is not None else (False,):
            ending = ended(bag, counts, schedule, late=late)
            examined = examined_schedule(bag, ending)
            if not isinstance(examined, Recovered):
                continue
            if self.found is None or best_of(asked, [self.found, examined]) is examined:
                self.found, self.plan, better = examined, plan, True
        return better

    def _is_enough(self, plan: Plan) -> bool:
        """Tell whether a plan is as close to the bound as the gap."""
        score = Plan(self.scoring.items, plan.kinds, plan.counts).score
        away = abs(self.bound - self.scoring.to_value(score))
        return away <= self.gap * abs(self.bound)

    def _least_makespan(self) -> float:
        """Return a makespan that no schedule undercuts."""
        bag = self.question.bag.without_deadline()
        prices = Makespan().relax(bag, self.solver, self.watch).multipliers
        return rounded_down(prover_of(bag).makespan(prices))

    def _take(self, score: Fraction | None) -> None:
        """Take a bound of the score, if it is better than what is known."""
        if score is not None:
            proved = self.scoring.to_bound(score)
            self.bound = min(self.bound, proved) if self.scoring.maximise else max(self.bound, proved)
            self.watch.tell(STAGE, self.gap_left)


def tighten(  # noqa: PLR0913, PLR0917 - what is known already, and the options of `solve`
    question: Question,
    bound: float,
    found: Recovered | None,
    solver: Solver,
    watch: Watch,
    gap: float,
    rng: np.random.Generator,
) -> tuple[float, Recovered | None, IntervalSearch | None]:
    """Return a bound and a verified schedule, both at least as good as those given, and the search."""
    if not fits_patterns(question.bag) or watch.is_over():
        return bound, found, None
    watch.count(READING * len(question.bag.task_types) * len(question.bag.modes))
    tightening = Tightening(question, scoring_of(question), bound, found, solver, watch, rng, gap)
    with suppress(SolverError):  # what there is stays true
        tightening.run()
    return tightening.bound, tightening.found, tightening.search


def fits_patterns(bag: Bag) -> bool:
    """Tell whether a bag is small enough for patterns."""
    few = bag.machines <= MOST_MACHINES and len(bag.task_types) <= MOST_TYPES
    return few and bag.tasks <= MOST_TASKS


def _workable(items: Items) -> Items:
    """Return items for schedules: where nothing has a cost, time gets a little, so that slack is of worth."""
    if items.costs[np.isfinite(items.costs)].any():
        return items
    return replace(items, costs=SLACK_WORTH * items.seconds / float(items.machines.sum()))
