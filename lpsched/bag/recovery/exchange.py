"""Exchanging tasks between machines until no exchange helps."""

from __future__ import annotations

import math
from collections import deque
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lpsched.bag.recovery.plans import Plan
    from lpsched.cancellation import Watch
    from lpsched.model.arrays import Integers, Mask


# Exchanges: up to two tasks of one machine for up to two of another, as long as that helps.
#
# With a limit of the loads, and a weight on every second above it, a plan is the better the less
#
#     cost + weight * (seconds above the limit, summed over the machines)
#
# it has. For one machine, all exchanges with some others are looked at, and the best is taken: `repair` does
# so for the longest machine until all keep the limit, `cheapen` for machine after machine until none helps.
#
# Slack is of no use where it is spread in pieces too small for a task. `fill` gathers the slack of all
# machines of a type on one of them, by exchanges within the type, which cost nothing; there it may hold a
# whole task that is dearer elsewhere.
#
# A task keeps the number of its P-state when it moves.
MOST_ITEMS: Final = 60  # with more, tasks are exchanged one by one
PARTNERS: Final = 40  # machines looked at for one exchange
REPAIRS: Final = 400
FILLS: Final = 20
LEAST_GAIN: Final = 1e-7  # of what the bag is about
LEAST_FILL: Final = 1e-6
SMALL_SLACK: Final = 1e-6  # of the limit: not worth gathering
GATHERED: Final = 0.02  # of a machine's slack, at least, in one exchange
ABSENT: Final = 1e30
NOTHING: Final = -1e-12
LOOK: Final = 1.8e-4  # seconds of work counted for each look at one machine,
GIVE: Final = 5e-5  # for each set that it can give,
CELL: Final = 1e-8  # and for each set of others that it could take for it


class Exchange:
    """A plan that is changed in place; its loads and its cost are kept up to date."""

    def __init__(self, plan: Plan, watch: Watch, rng: np.random.Generator, *, most_items: int = MOST_ITEMS) -> None:
        self.plan, self.watch, self.rng = plan, watch, rng
        items = plan.items
        size = len(items.task_of)
        pairs = list(combinations_with_replacement(range(size), 2)) if size <= most_items else []
        # A set holds the items `first - 1` and `second - 1`; 0 stands for none.
        self.first = np.array([*range(size + 1), *(1 + one for one, _ in pairs)])
        self.second = np.array([0] * (size + 1) + [1 + other for _, other in pairs])
        self.twice = (self.first == self.second) & (self.first > 0)
        self.sets = np.zeros((len(self.first), size + 1), dtype=np.int64)
        np.add.at(self.sets, (np.arange(len(self.first)), self.first), 1)
        np.add.at(self.sets, (np.arange(len(self.first)), self.second), 1)
        self.sets = self.sets[:, 1:]
        can = np.isfinite(items.seconds)
        self.seconds = (self.sets @ np.where(can, items.seconds, ABSENT)).T.copy()  # machine types x sets
        self.costs = (self.sets @ np.where(can, items.costs, ABSENT)).T.copy()
        self.loads, self.cost = plan.loads, plan.cost
        self.size = items.size(float(self.loads.max()))
        self._salt = rng.integers(1, 2**40, size)

    @property
    def score(self) -> float:
        """What the plan is worth as it stands."""
        items = self.plan.items
        return items.score(self.cost, items.end(float(self.loads.max()), self.plan.joules))

    def merit(self, limit: float, weight: float) -> float:
        """Return the sum above."""
        return self.cost + weight * float(np.maximum(0.0, self.loads - limit).sum())

    def repair(self, limit: float, weight: float) -> bool:
        """Bring every load to the limit; tell whether that was done."""
        for _ in range(REPAIRS):
            longest = int(np.argmax(self.loads))
            if self.loads[longest] <= limit or self.watch.is_over():
                break
            if not self._improve(longest, self._partners(PARTNERS), limit, weight, NOTHING):
                break
        return bool(self.loads.max() <= limit)

    def cheapen(
        self, limit: float, weight: float, machines: Iterable[int] | None = None, partners: int | None = PARTNERS
    ) -> None:
        """Exchange for these machines, or one of each kind, and again for those that have changed."""
        queue = deque(self._partners(None).tolist() if machines is None else machines)
        while queue and not self.watch.is_over():
            a = queue.popleft()
            b = self._improve(a, self._partners(partners), limit, weight, -LEAST_GAIN * self.size)
            queue += [each for each in (a, b) if b is not None and each not in queue]

    def fill(self, limit: float, weight: float, rounds: int = FILLS) -> None:
        """Gather slack on one machine of each type, and use it; again while that helps."""
        for _ in range(rounds):
            before = self.cost
            for kind in self.rng.permutation(len(self.plan.items.machines)).tolist():
                if self.watch.is_over():
                    return
                self.cheapen(limit, weight, [self._gather(kind, limit)], None)
            if self.cost > before - LEAST_FILL * self.size:
                return

    def apply(self, a: int, b: int, give: int, take: int) -> None:
        """Let machine a give one set to machine b, and take another."""
        counts, kinds = self.plan.counts, self.plan.kinds
        change = self.sets[take] - self.sets[give]
        counts[a] += change
        counts[b] -= change
        self.cost += float(self.costs[kinds[a], take] - self.costs[kinds[a], give])
        self.cost += float(self.costs[kinds[b], give] - self.costs[kinds[b], take])
        for machine in (a, b):
            use = counts[machine] > 0
            own = self.plan.items.seconds[use, kinds[machine]]
            self.loads[machine] = float(counts[machine][use] @ own)

    def _partners(self, most: int | None) -> Integers:
        """Return one machine of each group that runs the same; some of them, at random, if they are many."""
        hashed = self.plan.counts @ self._salt + self.plan.kinds * 7919
        found: Integers = np.unique(hashed, return_index=True)[1]
        if most is None or len(found) <= most:
            return found
        return self.rng.choice(found, most, replace=False)

    def _held(self, machines: Integers) -> Mask:
        """Return which sets each of these machines can give."""
        counts = self.plan.counts[machines]
        always = np.ones((len(counts), 1), dtype=bool)
        one = np.concatenate([always, counts > 0], axis=1)
        held: Mask = one[:, self.first] & one[:, self.second]
        held[:, self.twice] = (counts > 1)[:, self.first[self.twice] - 1]
        return held

    def _improve(self, a: int, others: Integers, limit: float, weight: float, least: float) -> int | None:
        """Make the best exchange of one machine, if it changes the sum by less than `least`; with whom."""
        seconds, costs, kind, kinds = self.seconds, self.costs, self.plan.kinds[a], self.plan.kinds[others]
        held = self._held(others)
        use = np.flatnonzero(held.any(axis=0))
        lost = np.where(held[:, use], self.loads[others][:, np.newaxis] - seconds[kinds][:, use], np.inf)
        paid = costs[kind][use] - costs[kinds][:, use]
        got = self.loads[a] + seconds[kind][use]
        before = np.maximum(0.0, self.loads[others] - limit)[:, np.newaxis] + max(0.0, self.loads[a] - limit)
        best, found = least, None
        gives = np.flatnonzero(self._held(np.array([a]))[0]).tolist()
        self.watch.count(LOOK + len(gives) * (GIVE + CELL * lost.size))
        for give in gives:
            change = np.maximum(lost + (seconds[kinds, give] - limit)[:, np.newaxis], 0.0)
            change += np.maximum(got - (seconds[kind, give] + limit), 0.0)
            change -= before
            change *= weight
            change += paid
            change += (costs[kinds, give] - costs[kind, give])[:, np.newaxis]
            at = int(np.argmin(change))
            other = int(others[at // change.shape[1]])
            if change.flat[at] < best and other != a:
                best, found = float(change.flat[at]), (other, give, int(use[at % change.shape[1]]))
        if found is None:
            return None
        self.apply(a, *found)
        return found[0]

    def _gather(self, kind: int, limit: float) -> int:
        """Move the slack of all machines of a type to one of them; return that one.

        The other's load rises to just below the limit, by the exchange that fits best; the collector's falls.
        """
        own = np.flatnonzero(self.plan.kinds == kind)
        own = own[np.argsort(self.loads[own], kind="stable")]
        collector = int(own[0])
        for a in own[1:].tolist():
            slack = limit - self.loads[a]
            if slack <= SMALL_SLACK * limit:
                continue
            give, take = (np.flatnonzero(row) for row in self._held(np.array([a, collector])))
            rise = self.seconds[kind, take][np.newaxis, :] - self.seconds[kind, give][:, np.newaxis]
            rise[rise > slack] = -1.0
            at = int(np.argmax(rise))
            if rise.flat[at] > GATHERED * slack:
                self.apply(a, collector, int(give[at // len(take)]), int(take[at % len(take)]))
        return collector


# Polish a plan: bring it to a makespan, make it cheaper there, then shorter, while its score rises.
#
# `wander` looks further than single exchanges: two random ones of single tasks, then exchanges of the
# machines touched; what is no better than before is undone.
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
