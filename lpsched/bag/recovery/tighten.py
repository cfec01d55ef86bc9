"""Closing the gap: even loads; whole counts, where machines run many tasks; patterns and search, where they run few."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from lpsched.bag.problem import Problem, proved_makespan
from lpsched.bag.recovery import plans, stages
from lpsched.bag.recovery.exchange import OVERLOAD, load_balanced, local_search
from lpsched.bag.recovery.plans import Plan
from lpsched.bag.recovery.rounding import place
from lpsched.bag.recovery.stages import Recovered, Searching, is_close
from lpsched.bag.search.makespan_intervals import IntervalSearch, Leaf, Scoring, scoring_of
from lpsched.errors import SolverError
from lpsched.lp.program import LinearProgram, LpBuilder, Solver
from lpsched.lp.solvers import whole_point

if TYPE_CHECKING:
    from lpsched.bag.arrays import Items
    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats, Integers


# Load balancing after rounding, in some milliseconds.
#
# What a rounded program loses, it loses mostly where tasks are placed one by one on machines of a type: where
# each runs few, the longest machine works for longer than the others, and everything waits for it. In order,
# each starting from the best so far:
#
#     balance    tasks change places between machines of a type, at no cost (`bag/recovery/exchange.py`)
#     exchange   single tasks change places between machines of all types, until none is longer than the mean
#                of the fullest type and a little (`bag/recovery/exchange.py`); then balance again
#
# The bound stays as it is, and the value only gets better. Work is counted, not timed: a rerun gives the same schedule.
ABOVE: Final = 1.003  # times the mean load of the fullest machine type: what exchanges aim at


def balance(problem: Problem, found: Recovered, bound: float, gap: float, cancel: CancelToken) -> Recovered:
    """Return a verified schedule that is at least as good as the one given."""
    bag = problem.bag
    if not found.schedule.groups or cancel.expired() or is_close(problem, found, bound, gap):  # no groups: do not run
        return found
    balanced = load_balanced(bag, found.schedule)
    found = better_ending(problem, found, balanced)
    if cancel.expired() or is_close(problem, found, bound, gap) or not stages.fits_exchanges(bag):
        return found
    items = scoring_of(problem).items
    plan = plans.plan_of_schedule(bag, items, balanced)
    limit = ABOVE * float((np.bincount(plan.kinds, weights=plan.loads) / items.machines).max())
    if plan.loads.max() <= limit:
        return found
    exchanged = stages.repaired(bag, plan, limit, OVERLOAD * items.value_of_second(plan.cost, limit))
    return better_ending(problem, found, load_balanced(bag, exchanged))


Maybe = TypeVar("Maybe", Recovered, Recovered | None)


def better_ending(problem: Problem, found: Maybe, schedule: Schedule) -> Maybe:
    """Return the better of two schedules; the second has yet to be ended and verified."""
    bag, objective = problem.bag, problem.objective
    endings = (False, True) if objective.maximise and bag.site.deadline_seconds is not None else (False,)
    tried = (stages.examined_schedule(bag, plans.ended(bag, schedule, late=late)) for late in endings)
    valid = [found] if found is not None else []
    valid += [each for each in tried if isinstance(each, Recovered)]
    return stages.best_of(objective, valid) if valid else found


# Whole counts: how many tasks of each type every machine type runs, by a small integer program.
#
# The loads of machines that run many tasks can be balanced (`exchange.py`) until all of a type work nearly equally
# long. What is lost then is lost in the counts: rounded ones leave a machine type with a task too many or too few, and
# with a deadline all types have to fit at once.
#
# With n, m, e, d, t and x, which is whole, of `bag/front.py`, kappa, H and D of `bag/recovery/deadline.py`, and besides
# w, what a second costs, and f_j, slack that load balancing needs, as a share of the makespan, a little more than 0:
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

    def best(self, slack: Floats, cancel: CancelToken) -> Integers | None:
        """Return the best counts found, items x machine types; `None` if there are none."""
        program = self._program(self.pairs, slack)
        start = np.append(self.counts[tuple(self.pairs)].astype(float), 1.0)
        whole = np.append(np.ones(len(start) - 1), 0.0)
        point = whole_point(program, cancel=cancel, whole=whole, start=start, gap=COUNTING_GAP)
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
        lp.objective([(x, costs / size), (t, items.value_of_second(cost, unit) * unit / size)])
        types = items.task_of[own]
        each = np.arange(len(items.machines))
        names = [f"demand {i}" for i in range(len(items.tasks))]
        lp.equal_each(names, [(types, x, 1.0 / items.tasks[types])], 1.0)
        loads = items.seconds[own, machine] / (items.machines[machine] * unit)
        lp.at_most_each([f"capacity {j}" for j in each], [(machine, x, loads), (each, t, slack - 1.0)], 0.0)
        if items.joules is not None and items.headroom > 0:
            lp.at_most("cap", [(x, items.joules[own, machine] / (items.headroom * unit)), (t, -1.0)], 0.0)
        return lp.build()


# Better whole counts, where machines run many tasks: an integer program by machine types, then load balancing.
# The program (`WholeCounts`) assumes that the machines of a type can share their tasks evenly.
# Where load balancing leaves one longer than that, its type gets a little less to do, and the program is solved
# again. Every schedule is verified, and the best is kept. All work is counted.
FEWEST_TASKS: Final = 8  # a machine: with fewer, load balancing leaves too much
MOST_PAIRS: Final = 3_000
MOST_COUNTED_MACHINES: Final = 5_000
MOST_ROUNDS: Final = 8
ROUND: Final = 0.5  # of the work that is left, for each program,
LEAST_ROUND: Final = 0.1  # seconds of it at least
LEAST_SLACK: Final = 2e-5  # of the makespan: load balancing comes no closer


def fits_counting(bag: Bag) -> bool:
    """Return whether a bag has many tasks a machine, and is small enough."""
    small = len(bag.task_types) * len(bag.modes) <= MOST_PAIRS and bag.machines <= MOST_COUNTED_MACHINES
    return small and bag.tasks >= FEWEST_TASKS * bag.machines


def recount(problem: Problem, found: Recovered, solver: Solver, cancel: CancelToken) -> Recovered:
    """Return a verified schedule that is at least as good as the one given."""
    bag, items = problem.bag, scoring_of(problem).items
    if not found.schedule.groups:  # best not to run
        return found
    slack = np.full(len(items.machines), LEAST_SLACK)
    program = _around(bag, items, found, solver)
    for _ in range(MOST_ROUNDS):
        if cancel.work_left() < LEAST_ROUND:
            break
        counts = program.best(slack, cancel.share(ROUND * cancel.work_left()))
        if counts is None:
            break
        states = items.states
        by_column = [
            {c: int(counts[i * states + k, j]) for c, (j, k) in enumerate(bag.modes) if counts[i * states + k, j]}
            for i in range(len(bag.task_types))
        ]
        schedule = load_balanced(bag, place(bag, by_column))
        better = better_ending(problem, found, schedule)
        # By how much each machine type is later than the deadline or, without one, than the program.
        loads = plans.plan_of_schedule(bag, items, schedule).loads
        firsts = np.concatenate(([0], np.cumsum(items.machines)[:-1]))
        means = np.add.reduceat(loads, firsts) / items.machines
        limit = items.latest if np.isfinite(items.latest) else float((means / (1.0 - slack)).max())
        excess = np.maximum(np.maximum.reduceat(loads, firsts) / limit - 1.0, 0.0)
        if better is not found:
            found, program = better, _around(bag, items, better, solver)
        elif not excess.any():
            break
        slack = np.where(excess > 0, slack + excess + LEAST_SLACK, slack)
    return found


def _around(bag: Bag, items: Items, found: Recovered, solver: Solver) -> WholeCounts:
    """Return the program around a schedule."""
    plan = plans.plan_of_schedule(bag, items, found.schedule)
    own = np.eye(len(items.machines), dtype=np.int64)[plan.kinds]
    return WholeCounts(items, solver, plan.counts.T @ own, float(plan.loads.max()))


# Tight results for bags with few tasks a machine: bounds by patterns, schedules by patterns and exchanges.
# The fast pipeline splits tasks. With few of them a machine, that leaves a gap: a machine cannot run half a
# task. Here the makespans are searched by intervals, best first (`bag/search/makespan_intervals.py`); each time
# a narrow interval is the best one left, schedules of its makespan are looked for, and verified like any other.
# At the end, the best schedule of all is searched around for as long as that helps. Both sides only get
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
LOCAL_SEARCH: Final = (1.2, 0.15)  # seconds of work for a plan, and the most of all work
DEEPENING: Final = (2.0, 0.2)  # likewise for the best plan, again and again
FIRST: Final = (0.5, 0.1)  # likewise for the schedule that is there
MOST_FAILS: Final = 4
READING: Final = 2.5e-5  # seconds of work counted for each pair that the prover reads
SLACK_PRICE: Final = 1e-2  # what all seconds together cost, as a share of the makespan


@dataclass(slots=True)
class Tightening:
    """The best bound and the best schedule so far, and the search for better ones."""

    problem: Problem
    scoring: Scoring
    bound: float
    found: Recovered | None  # `None` if no schedule is known yet
    how: Searching
    plan: Plan | None = None  # that of the schedule, once it is ours
    search: IntervalSearch | None = None
    work: float = 0.0  # all that may be counted

    def run(self) -> None:
        """Search until bound and value meet, the work is done, or nothing more is to be gained."""
        scoring, bag, cancel = self.scoring, self.problem.bag, self.how.cancel
        self.work = cancel.work_left()
        if self.found is not None and self.found.schedule.groups:  # first around the schedule that is there
            plan = plans.plan_of_schedule(bag, _workable(scoring.items), self.found.schedule)
            self._improve(plan, float(plan.loads.max()), FIRST)
            self.plan = self.plan if self.plan is not None else plan
        low, high = proved_makespan(bag, self.how.solver, cancel), bag.site.deadline_seconds or math.inf
        if low < high:
            rate = float(scoring.fixed_rate)
            self.search = IntervalSearch(scoring.items, scoring.prover, self.how.solver, low, high, rate)
            self._search(self.search)
        fails = 0  # what is left is spent on the best plan, while that helps
        while self.plan is not None and fails < MOST_FAILS and not cancel.expired():
            if self._is_enough(self.plan):
                return
            better = self._improve(self.plan, float(self.plan.loads.max()), DEEPENING)
            fails = 0 if better else fails + 1

    def _is_closed(self) -> bool:
        return is_close(self.problem, self.found, self.bound, self.how.gap)

    def _report(self) -> None:
        self.how.cancel.report(STAGE, stages.gap_of(self.problem, self.found, self.bound))

    def _search(self, search: IntervalSearch) -> None:
        """Raise the bound, and look for schedules where it is least certain."""
        cancel = self.how.cancel.share(SEARCHING * self.how.cancel.work_left())
        while not self._is_closed():
            value = -math.inf
            if self.found is not None:
                value = self.scoring.of_value(self.problem.objective.value(self.found.measured))
            leaf = search.refine(value, self.how.gap, cancel)
            score = search.bound
            if score is not None:
                proved = self.scoring.to_bound(score)
                self.bound = min(self.bound, proved) if self.scoring.maximise else max(self.bound, proved)
                self._report()
            if leaf is None or self._is_closed():
                return
            self._attempt(search, leaf)

    def _attempt(self, search: IntervalSearch, leaf: Leaf) -> None:
        """Look for schedules that end with a leaf."""
        items = _workable(search.items.with_cap_price(leaf.proof.prices.cap))
        near = [items.pattern(*each) for each in search.near(leaf, NEAR)]
        cells = int(min(MOST_CELLS, max(FEWEST_CELLS, CELLS_A_TASK * search.per_machine)))
        cover = plans.Cover(items, leaf.end, self.how.solver, self.how.cancel, cells, near)
        cover.improve(plans.FIRST_ROUNDS)
        first = (plans.restricted_master_heuristic,) if search.per_machine <= FEW_TASKS else ()
        for heuristic in (*first, plans.diving_heuristic):
            plan = heuristic(cover, self.how.rng)
            if plan is not None:
                self._improve(plan, leaf.end, LOCAL_SEARCH)

    def _improve(self, plan: Plan, limit: float, share: tuple[float, float]) -> bool:
        """Search around a plan, verify the result, and keep it if it is better than the best; return whether it is."""
        part = self.how.cancel.share(min(share[0], share[1] * self.work))
        plan = local_search(plan, limit, self._is_enough, part, self.how.rng)
        better = better_ending(self.problem, self.found, plan.schedule(self.problem.bag))
        is_better = better is not self.found
        if is_better:
            self.found, self.plan = better, plan
        self._report()
        return is_better

    def _is_enough(self, plan: Plan) -> bool:
        """Return whether a plan is as close to the bound as the gap."""
        score = Plan(self.scoring.items, plan.kinds, plan.counts).score
        return abs(self.bound - self.scoring.to_value(score)) <= self.how.gap * abs(self.bound)


def tighten(
    problem: Problem, bound: float, found: Recovered | None, how: Searching
) -> tuple[float, Recovered | None, IntervalSearch | None]:
    """Return a bound and a verified schedule, both at least as good as those given, and the search."""
    if not fits_patterns(problem.bag) or how.cancel.expired():
        return bound, found, None
    how.cancel.count(READING * len(problem.bag.task_types) * len(problem.bag.modes))
    tightening = Tightening(problem, scoring_of(problem), bound, found, how)
    with suppress(SolverError):  # what there is stays true
        tightening.run()
    return tightening.bound, tightening.found, tightening.search


def fits_patterns(bag: Bag) -> bool:
    """Return whether a bag is small enough for patterns."""
    return bag.machines <= MOST_MACHINES and len(bag.task_types) <= MOST_TYPES and bag.tasks <= MOST_TASKS


def _workable(items: Items) -> Items:
    """Return items for schedules: where nothing has a cost, time gets a little, so that slack has a value."""
    if items.costs[np.isfinite(items.costs)].any():
        return items
    return replace(items, costs=SLACK_PRICE * items.seconds / float(items.machines.sum()))
