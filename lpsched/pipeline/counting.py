"""Better whole counts, where machines run many tasks: an integer program by machine types, then levelling.

The program (`recovery/whole_counts.py`) assumes that the machines of a type can share their tasks evenly.
Where levelling leaves one longer than that, its type gets a little less to do, and the program is solved
again. Every schedule is verified, and the best is kept. All work is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.pipeline.balancing import better_ending
from lpsched.pipeline.scoring import scoring_of
from lpsched.recovery.levelling import levelled
from lpsched.recovery.lpt import place
from lpsched.recovery.plans import plan_of_schedule
from lpsched.recovery.whole_counts import WholeCounts

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.items import Items
    from lpsched.lp.program import Solver
    from lpsched.pipeline.questions import Question
    from lpsched.pipeline.recovering import Recovered
    from lpsched.recovery.plans import Plan
    from lpsched.watch import Watch

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
    """Return a verified schedule that is at least as good as the one given.

    Raises
    ------
    SolverError
        If the solver fails.
    InvalidScheduleError
        If a schedule breaks a rule other than a limit, which is a bug of ours.
    """
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
        {
            column: int(counts[i * states + k, j])
            for column, (j, k) in enumerate(bag.modes)
            if counts[i * states + k, j]
        }
        for i in range(len(bag.task_types))
    ]
