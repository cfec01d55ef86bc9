"""Some machines at a time, by a short whole program over cheap pairs.

The tasks of some machines (d_i of type i) are shared out anew among these machines:

    min   t
    s.t.  sum_h x_ih       =  d_i    for each task type i
          sum_i l_ih x_ih  <= t      for each machine h
          0 <= x_ih <= d_i whole,    only where r_ih <= dearest and l_ih <= T, or where the pair is in use

with lengths l and reduced costs r of `assignment.py`. The present state is the start, and its makespan T the
limit of t. On all machines, a better state has no pair with r_ih > T - 1: so if that much is allowed, and the
program is solved to the end, nothing better is left to find.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.lp.builder import LpBuilder
from lpsched.lp.integer import whole_point

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.lp.program import LinearProgram
    from lpsched.recovery.assignment import Fleet
    from lpsched.watch import Watch

GAP: Final = 1e-6
MOST_PAIRS: Final = 10_000  # HiGHS looks at its clock too rarely in a larger program
BETTER: Final = 1e-9


def resolved(
    fleet: Fleet, counts: Integers, machines: Integers, dearest: float, watch: Watch
) -> tuple[Integers, bool]:
    """Return the state with these machines' tasks shared out anew, or the given one if that is no better.

    The second answer tells whether the program was solved to the end; a large one is not even tried.
    """
    tasks = np.flatnonzero(counts[:, machines].any(axis=1))
    here = np.ix_(tasks, machines)
    present = counts[here]
    now = float(fleet.loads(counts)[machines].max())
    cheap = (fleet.reduced_costs[here] <= dearest) & (fleet.lengths[here] <= now)
    i, h = np.nonzero(cheap | (present > 0))
    if len(i) > MOST_PAIRS:
        return counts, False
    program = _program(fleet.lengths[here][i, h], i, h, present.sum(axis=1), now)
    start = np.append(present[i, h], now).astype(float)
    whole = np.append(np.ones(len(i)), 0.0)
    point = whole_point(program, watch=watch, whole=whole, start=start, gap=GAP)
    if point is None:
        return counts, False
    found = counts.copy()
    found[here] = 0
    found[tasks[i], machines[h]] = point[:-1].astype(np.int64)
    kept = np.array_equal(found.sum(axis=1), counts.sum(axis=1))
    better = kept and fleet.loads(found)[machines].max() < now - BETTER
    return found if better else counts, not watch.is_over()


def cheapest(fleet: Fleet, pairs: float) -> float:
    """Return the reduced cost up to which there are so many pairs; inf if there are no more."""
    costs = fleet.reduced_costs.ravel()
    return float(np.partition(costs, int(pairs))[int(pairs)]) if pairs < costs.size else np.inf


def around_the_longest(fleet: Fleet, counts: Integers, size: int, rng: np.random.Generator) -> Integers:
    """Draw so many machines: the one that works longest, and others."""
    longest = int(np.argmax(fleet.loads(counts)))
    others = rng.permutation(np.delete(np.arange(fleet.size), longest))
    return np.append(longest, others[: size - 1])


def _program(lengths: Floats, i: Integers, h: Integers, demand: Integers, now: float) -> LinearProgram:
    """Return the program above over the pairs (i, h)."""
    lp = LpBuilder("neighbourhood")
    x = lp.variables("x", upper=demand[i].astype(float))
    t = lp.variables("t", upper=now)
    lp.objective([(t, 1.0)])
    for count in np.unique(demand):
        alike = np.flatnonzero(demand == count)
        pairs = np.flatnonzero(demand[i] == count)
        rows = np.searchsorted(alike, i[pairs])
        lp.equal_each([f"demand[{task}]" for task in alike], [(rows, x[pairs], 1.0)], float(count))
    for machine in range(int(h.max()) + 1):
        own = np.flatnonzero(h == machine)
        lp.at_most(f"load[{machine}]", [(x[own], lengths[own]), (t, -1.0)], 0.0)
    return lp.build()
