"""Closing the gap: even loads; whole counts, where machines run many tasks; patterns and search, where they run few."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from lpsched.bag.problem import Question, proved_makespan
from lpsched.bag.recovery.exchange import OVERLOAD, levelled, polish
from lpsched.bag.recovery.plans import FIRST_ROUNDS, Cover, Plan, choose, dive, ended, plan_of_schedule
from lpsched.bag.recovery.rounding import place
from lpsched.bag.recovery.stages import (
    Recovered,
    best_of,
    examined_schedule,
    fits_exchanges,
    gap_of,
    is_close,
    repaired,
)
from lpsched.bag.search.makespan_intervals import IntervalSearch, Leaf, Scoring, scoring_of
from lpsched.errors import SolverError
from lpsched.lp.highs import whole_point
from lpsched.lp.program import LinearProgram, LpBuilder, Solver

if TYPE_CHECKING:
    from fractions import Fraction

    from lpsched.bag.arrays import Items
    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.cancellation import Watch
    from lpsched.model.arrays import Floats, Integers


# Balanced answers: a rounded linear program whose loads are evened out, in some milliseconds.
#
# What a rounded program loses, it loses mostly where tasks are placed one by one on machines of a type: where
# each runs few, the longest machine works for longer than the others, and everything waits for it. In order,
# each starting from the best so far:
#
#     level      tasks change places between machines of a type, at no cost (`bag/recovery/exchange.py`)
#     exchange   single tasks change places between machines of all types, until none is longer than the mean
#                of the fullest type and a little (`bag/recovery/exchange.py`); then level again
#
# The bound stays as it is, and the value only ever gets better. All work is counted, none is timed: a rerun
# gives the same schedule on every machine.
ABOVE: Final = 1.003  # times the mean load of the fullest machine type: what exchanges aim at


def balance(question: Question, found: Recovered, bound: float, gap: float, watch: Watch) -> Recovered:
    """Return a verified schedule that is at least as good as the one given."""
    bag = question.bag
    if not found.schedule.groups or watch.is_over() or is_close(question, found, bound, gap):  # no groups: waiting
        return found
    level = levelled(bag, found.schedule)
    found = better_ending(question, found, level)
    if watch.is_over() or is_close(question, found, bound, gap) or not fits_exchanges(bag):
        return found
    items = scoring_of(question).items
    plan = plan_of_schedule(bag, items, level)
    limit = ABOVE * float((np.bincount(plan.kinds, weights=plan.loads) / items.machines).max())
    if plan.loads.max() <= limit:
        return found
    exchanged = repaired(bag, plan, limit, OVERLOAD * items.second_worth(plan.cost, limit))
    return better_ending(question, found, levelled(bag, exchanged))


Maybe = TypeVar("Maybe", Recovered, Recovered | None)


def better_ending(question: Question, found: Maybe, schedule: Schedule) -> Maybe:
    """Return the better of two schedules; the second has yet to be ended and verified."""
    bag, asked = question.bag, question.objective
    endings = (False, True) if asked.maximise and bag.site.deadline_seconds is not None else (False,)
    tried: list[Recovered | str] = [examined_schedule(bag, ended(bag, schedule, late=late)) for late in endings]
    valid = [each for each in (found, *tried) if isinstance(each, Recovered)]
    return best_of(asked, valid) if valid else found


# Whole counts: how many tasks of each type every machine type runs, by a small integer program.
#
# Machines that run many tasks can be levelled (`exchange.py`) until all of a type work nearly equally long.
# What is lost then is lost in the counts: rounded ones leave a machine type with a task too many or too few,
# and with a deadline all types have to fit at once.
#
# With n, m, e, d, t and x, which is whole, of `bag/front.py`, kappa, H and D of `bag/recovery/deadline.py`, and besides
# w, what a second costs, and f_j, slack that levelling needs, as a share of the makespan, a little more than 0:
#
#     min   kappa x + w t
#     s.t.  sum_jk x_ijk        =  n_i            for each task type i      (demand)
#           sum_ik e_ijk x_ijk  <= m_j (1 - f_j) t  for each machine type j   (capacity)
#           sum d_ijk x_ijk     <= H t              where H > 0               (cap)
#           t <= D
#
# A bag that brings an income N earns (N - kappa x) / t; with w the rate of the best schedule known, a point
# with kappa x + w t < N earns more. Only pairs that the linear program uses or nearly uses, and those of the
# schedule known, are variables. Nothing is proved by it: it only suggests counts.
NAME: Final = "whole counts"
MORE_PAIRS: Final = 0.8  # of the rows: pairs beyond those that the linear program uses
COUNTING_GAP: Final = 1e-6
LONGEST: Final = 2.0  # times the makespan known


@dataclass(slots=True)
class WholeCounts:
    """The program of one bag around one schedule, solved for one slack after the other."""

    items: Items
    solver: Solver
    counts: Integers  # of the schedule known: items x machine types
    seconds: float  # its makespan, the unit of t
    pairs: Integers = field(init=False)  # two rows: the items and the machine types of the variables

    def __post_init__(self) -> None:
        """Choose the pairs that are variables."""
        items = self.items
        everywhere = np.array(np.nonzero(np.isfinite(items.seconds)))
        program = self._program(everywhere, np.zeros(len(items.machines)))
        solution = self.solver.solve(program)
        rows = np.repeat(np.arange(len(program.row_names)), np.diff(program.starts))
        reduced = program.costs.copy()
        np.subtract.at(reduced, program.columns, program.values * solution.multipliers[rows])
        most = int((1.0 + MORE_PAIRS) * len(program.row_names))
        near = np.zeros(len(reduced) - 1, dtype=bool)
        near[np.argsort(reduced[:-1], kind="stable")[:most]] = True
        near |= (solution.values[:-1] > 0) | (self.counts[tuple(everywhere)] > 0)
        self.pairs = everywhere[:, near]

    def best(self, slack: Floats, watch: Watch) -> Integers | None:
        """Return the best counts found, items x machine types; `None` if there are none."""
        program = self._program(self.pairs, slack)
        start = np.append(self.counts[tuple(self.pairs)].astype(float), 1.0)
        whole = np.append(np.ones(len(start) - 1), 0.0)
        point = whole_point(program, watch=watch, whole=whole, start=start, gap=COUNTING_GAP)
        if point is None:
            return None
        counts = np.zeros_like(self.counts)
        counts[tuple(self.pairs)] = point[:-1].astype(np.int64)
        return counts if (self.items.tasks_in(counts.sum(axis=1)) == self.items.tasks).all() else None

    def _program(self, pairs: Integers, slack: Floats) -> LinearProgram:
        """Return the program with t in the makespan known."""
        items, (own, machine) = self.items, pairs
        unit = self.seconds
        costs = items.costs[own, machine]
        used = self.counts > 0
        cost = float((self.counts[used] * items.costs[used]).sum())
        size = items.size(unit)
        lp = LpBuilder(NAME)
        x = lp.variables("x", upper=items.limits[own].astype(float))
        t = lp.variables("t", upper=np.array([min(LONGEST, items.latest / unit)]))
        lp.objective([(x, costs / size), (t, items.second_worth(cost, unit) * unit / size)])
        types = items.task_of[own]
        each = np.arange(len(items.machines))
        names = [f"demand {i}" for i in range(len(items.tasks))]
        lp.equal_each(names, [(types, x, 1.0 / items.tasks[types])], 1.0)
        lp.at_most_each(
            [f"capacity {j}" for j in each],
            [
                (machine, x, items.seconds[own, machine] / (items.machines[machine] * unit)),
                (each, np.broadcast_to(t, each.shape), slack - 1.0),
            ],
            0.0,
        )
        if items.joules is not None and items.headroom > 0:
            lp.at_most("cap", [(x, items.joules[own, machine] / (items.headroom * unit)), (t, -1.0)], 0.0)
        return lp.build()


# Better whole counts, where machines run many tasks: an integer program by machine types, then levelling.
#
# The program (`WholeCounts`) assumes that the machines of a type can share their tasks evenly.
# Where levelling leaves one longer than that, its type gets a little less to do, and the program is solved
# again. Every schedule is verified, and the best is kept. All work is counted.
FEWEST_TASKS: Final = 8  # a machine: with fewer, levelling leaves too much
MOST_PAIRS: Final = 3_000
MOST_COUNTED_MACHINES: Final = 5_000
MOST_ROUNDS: Final = 8
ROUND: Final = 0.5  # of the work that is left, for each program,
LEAST_ROUND: Final = 0.1  # seconds of it at least
LEAST_SLACK: Final = 2e-5  # of the makespan: levelling comes no closer


def fits_counting(bag: Bag) -> bool:
    """Tell whether a bag has many tasks a machine, and is small enough."""
    small = len(bag.task_types) * len(bag.modes) <= MOST_PAIRS and bag.machines <= MOST_COUNTED_MACHINES
    return small and bag.tasks >= FEWEST_TASKS * bag.machines


def recount(question: Question, found: Recovered, solver: Solver, watch: Watch) -> Recovered:
    """Return a verified schedule that is at least as good as the one given."""
    bag, items = question.bag, scoring_of(question).items
    if not found.schedule.groups:  # waiting is best
        return found
    slack = np.full(len(items.machines), LEAST_SLACK)
    program = _around(bag, items, found, solver)
    for _ in range(MOST_ROUNDS):
        if watch.work_left() < LEAST_ROUND:
            break
        counts = program.best(slack, watch.share(ROUND * watch.work_left()))
        if counts is None:
            break
        schedule = levelled(bag, place(bag, _by_column(bag, counts)))
        better = better_ending(question, found, schedule)
        excess = _excess(plan_of_schedule(bag, items, schedule), slack)
        if better is not found:
            found, program = better, _around(bag, items, better, solver)
        elif not excess.any():
            break
        slack = np.where(excess > 0, slack + excess + LEAST_SLACK, slack)
    return found


def _around(bag: Bag, items: Items, found: Recovered, solver: Solver) -> WholeCounts:
    """Return the program around a schedule."""
    plan = plan_of_schedule(bag, items, found.schedule)
    own = np.eye(len(items.machines), dtype=np.int64)[plan.kinds]
    return WholeCounts(items, solver, plan.counts.T @ own, float(plan.loads.max()))


def _excess(plan: Plan, slack: Floats) -> Floats:
    """Return by how much each machine type is later than the deadline or, without one, than the program."""
    items, loads = plan.items, plan.loads
    firsts = np.concatenate(([0], np.cumsum(items.machines)[:-1]))
    means = np.add.reduceat(loads, firsts) / items.machines
    limit = items.latest if np.isfinite(items.latest) else float((means / (1.0 - slack)).max())
    return np.maximum(np.maximum.reduceat(loads, firsts) / limit - 1.0, 0.0)


def _by_column(bag: Bag, counts: Integers) -> list[dict[int, int]]:
    """Return counts of items by machine types as counts of task types by columns."""
    states = len(counts) // len(bag.task_types)
    return [
        {column: int(counts[i * states + k, j]) for column, (j, k) in enumerate(bag.modes) if counts[i * states + k, j]}
        for i in range(len(bag.task_types))
    ]


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
    work: float = 0.0  # all that may be counted

    def run(self) -> None:
        """Search until bound and value meet, the work is done, or nothing more is to be gained."""
        scoring, bag = self.scoring, self.question.bag
        self.work = self.watch.work_left()
        if self.found is not None and self.found.schedule.groups:  # first around the schedule that is there
            plan = plan_of_schedule(bag, _workable(scoring.items), self.found.schedule)
            self._polish(plan, float(plan.loads.max()), FIRST)
            self.plan = self.plan if self.plan is not None else plan
        low, high = proved_makespan(bag, self.solver, self.watch), bag.site.deadline_seconds or math.inf
        if low < high:
            standing = float(scoring.standing)
            self.search = IntervalSearch(scoring.items, scoring.prover, self.solver, low, high, standing)
            self._search(self.search)
        fails = 0  # what is left is spent on the best plan, while that helps
        while self.plan is not None and fails < MOST_FAILS and not self.watch.is_over():
            if self._is_enough(self.plan):
                return
            better = self._polish(self.plan, float(self.plan.loads.max()), DEEPENING)
            fails = 0 if better else fails + 1

    def _is_closed(self) -> bool:
        return is_close(self.question, self.found, self.bound, self.gap)

    def _tell(self) -> None:
        self.watch.tell(STAGE, gap_of(self.question, self.found, self.bound))

    def _search(self, search: IntervalSearch) -> None:
        """Raise the bound, and look for schedules where it is least certain."""
        watch = self.watch.share(SEARCHING * self.watch.work_left())
        while not self._is_closed():
            value = -math.inf
            if self.found is not None:
                value = self.scoring.of_value(self.question.objective.value(self.found.measured))
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

    def _polish(self, plan: Plan, limit: float, share: tuple[float, float]) -> bool:
        """Polish a plan and keep what comes of it, if that is better; tell whether it is."""
        part = self.watch.share(min(share[0], share[1] * self.work))
        polished = polish(plan, limit, self._is_enough, part, self.rng)
        better = self._keep(polished)
        self._tell()
        return better

    def _keep(self, plan: Plan) -> bool:
        """Verify a plan, and keep its schedule if it is better than the best; tell whether it is."""
        better = better_ending(self.question, self.found, plan.schedule(self.question.bag))
        if better is self.found:
            return False
        self.found, self.plan = better, plan
        return True

    def _is_enough(self, plan: Plan) -> bool:
        """Tell whether a plan is as close to the bound as the gap."""
        score = Plan(self.scoring.items, plan.kinds, plan.counts).score
        away = abs(self.bound - self.scoring.to_value(score))
        return away <= self.gap * abs(self.bound)

    def _take(self, score: Fraction | None) -> None:
        """Take a bound of the score, if it is better than what is known."""
        if score is not None:
            proved = self.scoring.to_bound(score)
            self.bound = min(self.bound, proved) if self.scoring.maximise else max(self.bound, proved)
            self._tell()


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
