"""Whole counts of tasks for each machine type, by a small integer program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.recovery.load_balancing import levelled
from lpsched.bag.recovery.plans import plan_of_schedule
from lpsched.bag.recovery.rounding import place
from lpsched.bag.recovery.tighten import better_ending
from lpsched.bag.search.packing_proofs import scoring_of
from lpsched.lp.highs import whole_point
from lpsched.lp.program import LpBuilder

if TYPE_CHECKING:
    from lpsched.bag.arrays import Items
    from lpsched.bag.model import Bag
    from lpsched.bag.problem import Question
    from lpsched.bag.recovery.plans import Plan
    from lpsched.bag.recovery.stages import Recovered
    from lpsched.cancellation import Watch
    from lpsched.lp.program import LinearProgram, Solver
    from lpsched.model.arrays import Floats, Integers


# Whole counts: how many tasks of each type every machine type runs, by a small integer program.
#
# Machines that run many tasks can be levelled (`load_balancing.py`) until all of a type work nearly equally long.
# What is lost then is lost in the counts: rounded ones leave a machine type with a task too many or too few,
# and with a deadline all types have to fit at once.
#
# Data       n_i    tasks of type i                m_j  machines of type j
#            e_ijk  seconds in P-state k           kappa_ijk  what a task costs above idle
#            d_ijk  joules above idle              H    P - I, what the power cap leaves above the idle floor
#            w      what a second costs            D    deadline
#            f_j    slack that levelling needs, as a share of the makespan: a little more than 0
# Variables  x_ijk  whole tasks of type i on machine type j in P-state k,  t  makespan
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
GAP: Final = 1e-6
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
        point = whole_point(program, watch=watch, whole=whole, start=start, gap=GAP)
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
MOST_MACHINES: Final = 5_000
MOST_ROUNDS: Final = 8
ROUND: Final = 0.5  # of the work that is left, for each program,
LEAST_ROUND: Final = 0.1  # seconds of it at least
LEAST_SLACK: Final = 2e-5  # of the makespan: levelling comes no closer


def fits_counting(bag: Bag) -> bool:
    """Tell whether a bag has many tasks a machine, and is small enough."""
    small = len(bag.task_types) * len(bag.modes) <= MOST_PAIRS and bag.machines <= MOST_MACHINES
    return small and bag.tasks >= FEWEST_TASKS * bag.machines


def recount(question: Question, found: Recovered, solver: Solver, watch: Watch) -> Recovered:
    """Return a verified schedule that is at least as good as the one given."""
    bag, items = question.bag, scoring_of(question).items
    if not found.schedule.groups:  # waiting is best
        return found
    slack = np.full(len(items.machines), LEAST_SLACK)
    program = _program(bag, items, found, solver)
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
            found, program = better, _program(bag, items, better, solver)
        elif not excess.any():
            break
        slack = np.where(excess > 0, slack + excess + LEAST_SLACK, slack)
    return found


def _program(bag: Bag, items: Items, found: Recovered, solver: Solver) -> WholeCounts:
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
    excess: Floats = np.maximum(np.maximum.reduceat(loads, firsts) / limit - 1.0, 0.0)
    return excess


def _by_column(bag: Bag, counts: Integers) -> list[dict[int, int]]:
    """Return counts of items by machine types as counts of task types by columns."""
    states = len(counts) // len(bag.task_types)
    return [
        {column: int(counts[i * states + k, j]) for column, (j, k) in enumerate(bag.modes) if counts[i * states + k, j]}
        for i in range(len(bag.task_types))
    ]
