"""Polish a plan: bring it to a makespan, make it cheaper there, then shorter, while its score rises.

`wander` looks further than single exchanges: two random ones of single tasks, then exchanges of the machines
touched; what is no better than before is undone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.recovery.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from lpsched.recovery.plans import Plan
    from lpsched.watch import Watch


Enough: TypeAlias = "Callable[[Plan], bool]"

OVERLOAD: Final = 40.0  # times what a second is worth: one above the limit
KICKS: Final = 2
KICK: Final = 1e-4  # seconds of work counted for one
MOST_KICKS: Final = 20  # for each machine, before it gives up
WANDER_SECONDS: Final = 0.3  # of counted work, like all shares below
WANDERING: Final = 0.7  # of the time for a plan
LONGER: Final = (1.0, 1.0005, 1.001, 1.003, 1.01, 1.03)
FIRST_STEP: Final = 3e-3  # by how much to be shorter
LAST_STEP: Final = 2e-5
SMALLER: Final = 2.5
FEW_FILLS: Final = 3
BETTER: Final = 1e-9
IMPOSSIBLE: Final = 1e29


def polish(plan: Plan, limit: float, is_enough: Enough, watch: Watch, rng: np.random.Generator) -> Plan:
    """Return a plan that is no worse. One that is good enough, or the end of the watch, ends the work."""
    best = plan.copy()
    weight = OVERLOAD * plan.items.second_worth(plan.cost, limit)
    work = Exchange(plan.copy(), watch, rng)
    work.repair(limit, weight)
    best = _better(best, work)
    work.cheapen(limit, weight)
    work.fill(limit, weight)
    best = _better(best, work)
    early = watch.share(watch.work_left() * WANDERING)
    while not is_enough(best) and _wander(work, limit, weight, early):
        work.fill(limit, weight)
        best = _better(best, work)
    for longer in LONGER:
        if work.repair(longer * limit, weight):
            break
    work.cheapen(float(work.loads.max()), weight)
    best = _better(best, work)
    return _shortened(best, weight, is_enough, watch, rng)


def _better(best: Plan, work: Exchange) -> Plan:
    """Return the plan at work if it is worth more."""
    least = best.score + BETTER * abs(best.score) if math.isfinite(best.score) else best.score
    return work.plan.copy() if work.score > least else best


def _shortened(best: Plan, weight: float, is_enough: Enough, watch: Watch, rng: np.random.Generator) -> Plan:
    """Return the plan after steps to shorter makespans, smaller ones where they fail."""
    step = FIRST_STEP
    while step > LAST_STEP and not is_enough(best) and not watch.is_over():
        work = Exchange(best.copy(), watch, rng)
        limit = float(work.loads.max()) * (1 - step)
        work.repair(limit, weight)
        work.cheapen(max(limit, float(work.loads.max())), weight)
        work.fill(float(work.loads.max()), weight, FEW_FILLS)
        better = _better(best, work)
        if better is best:
            step /= SMALLER
        best = better
    return best


def _wander(work: Exchange, limit: float, weight: float, watch: Watch) -> bool:
    """Kick and cheapen, again and again for a while; tell whether to go on."""
    part, first = watch.share(WANDER_SECONDS), work.merit(limit, weight)
    for _ in range(MOST_KICKS * len(work.plan.kinds)):
        if part.is_over():
            return not watch.is_over()
        part.count(KICK)
        counts, loads, cost = work.plan.counts.copy(), work.loads.copy(), work.cost
        before = work.merit(limit, weight)
        work.cheapen(limit, weight, _kick(work, limit))
        if work.merit(limit, weight) > before:
            work.plan.counts[:], work.loads, work.cost = counts, loads, cost
    return work.merit(limit, weight) < first


def _kick(work: Exchange, limit: float) -> list[int]:
    """Exchange single tasks of random machines, one too long among them; return the machines."""
    rng, plan, touched = work.rng, work.plan, []
    late = np.flatnonzero(work.loads > limit)
    for kick in range(KICKS if len(plan.kinds) > 1 else 0):
        a, b = rng.choice(len(plan.kinds), 2, replace=False).tolist()
        a = int(rng.choice(late)) if len(late) and kick == 0 else a
        mine, theirs = np.flatnonzero(plan.counts[a]), np.flatnonzero(plan.counts[b])
        if a == b or not len(mine) or not len(theirs):
            continue
        give, take = 1 + int(rng.choice(mine)), 1 + int(rng.choice(theirs))
        if max(work.seconds[plan.kinds[b], give], work.seconds[plan.kinds[a], take]) < IMPOSSIBLE:
            work.apply(a, b, give, take)
            touched += [a, b]
    return list(dict.fromkeys(touched))
