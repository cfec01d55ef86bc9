"""Load balancing and local search: exchange tasks between machines of one type, then of all, until none helps."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations_with_replacement
from operator import add, mul, sub
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.bag.schedule import MachineGroup, Schedule, numbered, run_of

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.recovery.plans import Plan
    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Integers, Mask


# Even loads: tasks change places between machines of one type, until the longest cannot be made shorter.
#
# Where a machine runs few tasks, longest first leaves machines of a type uneven, and the longest of all is the
# makespan. Machines of a type are alike, so their tasks may change places at no cost.
#
#     c_g  how many tasks of each kind a machine of group g runs        m_g  how many machines that are
#     e    seconds of a task of each kind on the machine type           l_g  = e c_g, the load of each
#
# An exchange is a vector d: a machine gives the tasks of its positive parts and takes those of its negative
# ones, a few of each. A step takes the longest machine a of a type; of its other machines b and the
# exchanges with c_a - d >= 0 and c_b + d >= 0, the best is the one with the least
#
#     max(l_a - e d, l_b + e d).
#
# It is made for min(m_a, m_b) pairs at once, so the work does not depend on how many machines there are. A type
# is done when its longest machine finds no exchange that helps, or is no longer than the mean load of the
# fullest type: below that no exchange within types can bring the makespan. Steps are counted, not timed, so a
# schedule is the same everywhere.
#
# Guarantee: the makespan is no longer than before; how many tasks of each kind a machine type runs stays the
# same, and so does the energy above idle.
STEPS: Final = 2_000  # of all machine types, the longest first
MOST_EXCHANGES: Final = 5_000
MOST_KINDS: Final = 100  # of a machine type; with more, its machines are left as they are
MOST_TAKEN: Final = 3  # tasks of each side of an exchange
SHORT_PARTNERS: Final = 16  # the shortest machines
LEAST_SHORTER: Final = 1e-9  # of the longest load
ENOUGH: Final = 1e-6  # above the mean load of the fullest type

Counts: TypeAlias = tuple[int, ...]  # of each kind of task: a task type in a column


def load_balanced(bag: Bag, schedule: Schedule, enough: float = 0.0) -> Schedule:
    """Return a schedule with balanced loads in each machine type; a makespan of `enough` seconds is short enough."""
    types = _types_of(bag, schedule)
    least = max(enough, *(each.mean * (1 + ENOUGH) for each in types))
    steps = STEPS
    for each in sorted(types, key=lambda one: -one.longest):
        while steps and each.longest > least and each.step():
            steps -= 1
    return Schedule(tuple(group for each in types for group in each.groups(bag)))


class _LikeMachines:
    """The machines of one type, in groups that run the same: tasks of each kind -> number of machines."""

    def __init__(self, name: str, kinds: list[tuple[int, int]], seconds: list[float]) -> None:
        order = sorted(range(len(kinds)), key=lambda k: (-seconds[k], k))
        self.name, self.kinds = name, [kinds[k] for k in order]
        self.seconds = [seconds[k] for k in order]
        self.machines: Counter[Counts] = Counter()
        self.loads: dict[Counts, float] = {}
        exchanges = _exchanges(len(kinds))
        sizes = exchanges @ np.array(self.seconds)
        self._shorter, self._sizes = exchanges[sizes > 0].T.copy(), sizes[sizes > 0]  # kinds come first

    @property
    def longest(self) -> float:
        return max(self.loads.values())

    @property
    def mean(self) -> float:
        busy = sum(machines * self.loads[counts] for counts, machines in self.machines.items())
        return busy / self.machines.total()

    def add(self, counts: Counts, machines: int) -> None:
        """Add machines that run these tasks of each kind; remove some if `machines` is negative."""
        self.machines[counts] += machines
        self.loads[counts] = sum(map(mul, counts, self.seconds))
        if not self.machines[counts]:
            del self.machines[counts], self.loads[counts]

    def step(self) -> bool:
        """Make the best exchange of the longest machine with as many others as there are; return whether one helps."""
        *others, longest = sorted(self.loads, key=lambda counts: (self.loads[counts], counts))
        others, load = others[:SHORT_PARTNERS], self.loads[longest]
        able = np.flatnonzero((np.array(longest)[:, np.newaxis] - self._shorter).min(axis=0) >= 0)
        if not len(able) or not others:
            return False
        changes, sizes = self._shorter[:, able], self._sizes[able]
        after = np.maximum(load - sizes, np.array([[self.loads[each]] for each in others]) + sizes)
        after[(np.array(others).T[:, :, np.newaxis] + changes[:, np.newaxis]).min(axis=0) < 0] = np.inf
        best = int(after.argmin())
        if after.flat[best] >= load * (1 - LEAST_SHORTER):
            return False
        partner, change = others[best // len(able)], changes[:, best % len(able)].tolist()
        pairs = min(self.machines[longest], self.machines[partner])
        self.add(longest, -pairs)
        self.add(partner, -pairs)
        self.add(tuple(map(sub, longest, change)), pairs)
        self.add(tuple(map(add, partner, change)), pairs)
        return True

    def groups(self, bag: Bag) -> Iterator[MachineGroup]:
        """Yield the groups that run something, longest first."""
        for counts in sorted(self.machines, key=lambda counts: (-self.loads[counts], counts)):
            runs = (run_of(bag, *kind, count) for kind, count in zip(self.kinds, counts, strict=True) if count)
            if any(counts):
                yield MachineGroup(self.name, self.machines[counts], tuple(runs))


def _types_of(bag: Bag, schedule: Schedule) -> list[_LikeMachines]:
    """Return the machine types that run something, idle machines included."""
    own: list[list[tuple[int, dict[tuple[int, int], int]]]] = [[] for _ in bag.machine_types]
    for j, machines, runs in numbered(bag, schedule):
        own[j].append((machines, {(i, column): count for i, column, count in runs}))
    types = []
    for machine, groups in zip(bag.machine_types, own, strict=True):
        kinds = list(dict.fromkeys(kind for _, counts in groups for kind in counts))
        if not kinds:
            continue
        alike = _LikeMachines(machine.name, kinds, [bag.seconds[kind] or 0.0 for kind in kinds])
        for machines, counts in groups:
            alike.add(tuple(counts.get(kind, 0) for kind in alike.kinds), machines)
        idle = machine.count - sum(machines for machines, _ in groups)
        if idle:
            alike.add((0,) * len(kinds), idle)
        types.append(alike)
    return types


@cache
def _exchanges(kinds: int) -> Integers:
    """Return all exchanges of as many tasks as there is room for."""
    if kinds > MOST_KINDS:
        return np.zeros((0, kinds), dtype=np.int64)
    sets = [np.zeros(kinds, dtype=np.int64)]
    for size in range(1, MOST_TAKEN + 1):
        more = [np.bincount(chosen, minlength=kinds) for chosen in combinations_with_replacement(range(kinds), size)]
        if size > 1 and (len(sets) + len(more)) ** 2 > MOST_EXCHANGES:
            break
        sets += more
    each = np.array(sets)
    return np.unique((each[:, np.newaxis] - each).reshape(-1, kinds), axis=0)


# Exchanges: up to two tasks of one machine for up to two of another, as long as that helps.
#
# With a limit of the loads, and a weight on every second above it, a plan is the better the less
#
#     cost + weight * (seconds above the limit, summed over the machines)
#
# it has. For one machine, all exchanges with some others are looked at, and the best is taken: `repair` does
# so for the longest machine until all keep the limit, `cheapen` for machine after machine until none helps.
#
# Slack is of no use where it is spread in parts too small for a task. `fill` gathers the slack of all machines of a
# type on one of them, by exchanges within the type, which cost nothing; there it may hold a whole task that costs more
# elsewhere.
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

    def __init__(
        self, plan: Plan, cancel: CancelToken, rng: np.random.Generator, *, most_items: int = MOST_ITEMS
    ) -> None:
        self.plan, self.cancel, self.rng = plan, cancel, rng
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
        """The score of the plan as it stands."""
        items = self.plan.items
        return items.score(self.cost, items.end(float(self.loads.max()), self.plan.joules))

    def merit(self, limit: float, weight: float) -> float:
        """Return the sum above."""
        return self.cost + weight * float(np.maximum(0.0, self.loads - limit).sum())

    def repair(self, limit: float, weight: float) -> bool:
        """Bring every load to the limit; return whether that was done."""
        for _ in range(REPAIRS):
            longest = int(np.argmax(self.loads))
            if self.loads[longest] <= limit or self.cancel.expired():
                break
            if not self._improve(longest, self._partners(PARTNERS), limit, weight, NOTHING):
                break
        return bool(self.loads.max() <= limit)

    def cheapen(
        self, limit: float, weight: float, machines: Iterable[int] | None = None, partners: int | None = PARTNERS
    ) -> None:
        """Exchange for these machines, or one of each kind, and again for those that have changed."""
        queue = deque(self._partners(None).tolist() if machines is None else machines)
        while queue and not self.cancel.expired():
            a = queue.popleft()
            b = self._improve(a, self._partners(partners), limit, weight, -LEAST_GAIN * self.size)
            queue += [each for each in (a, b) if b is not None and each not in queue]

    def fill(self, limit: float, weight: float, rounds: int = FILLS) -> None:
        """Gather slack on one machine of each type, and use it; again while that helps."""
        for _ in range(rounds):
            before = self.cost
            for kind in self.rng.permutation(len(self.plan.items.machines)).tolist():
                if self.cancel.expired():
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
        """Make the best exchange of one machine, if it changes the sum by less than `least`; return the other one."""
        seconds, costs, kind, kinds = self.seconds, self.costs, self.plan.kinds[a], self.plan.kinds[others]
        held = self._held(others)
        use = np.flatnonzero(held.any(axis=0))
        lost = np.where(held[:, use], self.loads[others][:, np.newaxis] - seconds[kinds][:, use], np.inf)
        paid = costs[kind][use] - costs[kinds][:, use]
        got = self.loads[a] + seconds[kind][use]
        before = np.maximum(0.0, self.loads[others] - limit)[:, np.newaxis] + max(0.0, self.loads[a] - limit)
        best, found = least, None
        gives = np.flatnonzero(self._held(np.array([a]))[0]).tolist()
        self.cancel.count(LOOK + len(gives) * (GIVE + CELL * lost.size))
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
        """Move the slack of all machines of a type to one, by exchanges that fill the others best; return that one."""
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


# Local search: bring a plan to a makespan, make it cheaper there, then shorter, while its score rises.
# `_wander` looks further than single exchanges: two random ones of single tasks, then exchanges of the
# machines touched; what is no better than before is undone.
Enough: TypeAlias = "Callable[[Plan], bool]"

OVERLOAD: Final = 40.0  # times the value of a second: the price of one above the limit
PERTURBATIONS: Final = 2
PERTURBATION: Final = 1e-4  # seconds of work counted for one
MOST_PERTURBATIONS: Final = 20  # for each machine, before it gives up
WANDER_SECONDS: Final = 0.3  # of counted work, like all shares below
WANDERING: Final = 0.7  # of the time for a plan
LONGER: Final = (1.0, 1.0005, 1.001, 1.003, 1.01, 1.03)
FIRST_STEP: Final = 3e-3  # by how much to be shorter
LAST_STEP: Final = 2e-5
SMALLER: Final = 2.5
FEW_FILLS: Final = 3
BETTER: Final = 1e-9
IMPOSSIBLE: Final = 1e29


def local_search(plan: Plan, limit: float, is_enough: Enough, cancel: CancelToken, rng: np.random.Generator) -> Plan:
    """Return a plan that is no worse. One that is good enough, or the end of the token, ends the work."""
    best, weight = plan.copy(), OVERLOAD * plan.items.value_of_second(plan.cost, limit)
    work = Exchange(plan.copy(), cancel, rng)
    work.repair(limit, weight)
    best = _better(best, work)
    work.cheapen(limit, weight)
    work.fill(limit, weight)
    best = _better(best, work)
    early = cancel.share(cancel.work_left() * WANDERING)
    while not is_enough(best) and _wander(work, limit, weight, early):
        work.fill(limit, weight)
        best = _better(best, work)
    for longer in LONGER:
        if work.repair(longer * limit, weight):
            break
    work.cheapen(float(work.loads.max()), weight)
    best = _better(best, work)
    step = FIRST_STEP  # to shorter makespans, smaller ones where they fail
    while step > LAST_STEP and not is_enough(best) and not cancel.expired():
        work = Exchange(best.copy(), cancel, rng)
        limit = float(work.loads.max()) * (1 - step)
        work.repair(limit, weight)
        work.cheapen(max(limit, float(work.loads.max())), weight)
        work.fill(float(work.loads.max()), weight, FEW_FILLS)
        better = _better(best, work)
        if better is best:
            step /= SMALLER
        best = better
    return best


def _better(best: Plan, work: Exchange) -> Plan:
    """Return the plan at work if its score is higher."""
    least = best.score + BETTER * abs(best.score) if math.isfinite(best.score) else best.score
    return work.plan.copy() if work.score > least else best


def _wander(work: Exchange, limit: float, weight: float, cancel: CancelToken) -> bool:
    """Perturb and improve repeatedly for a while; return whether to go on."""
    part, first = cancel.share(WANDER_SECONDS), work.merit(limit, weight)
    for _ in range(MOST_PERTURBATIONS * len(work.plan.kinds)):
        if part.expired():
            return not cancel.expired()
        part.count(PERTURBATION)
        counts, loads, cost = work.plan.counts.copy(), work.loads.copy(), work.cost
        before = work.merit(limit, weight)
        work.cheapen(limit, weight, _perturbed(work, limit))
        if work.merit(limit, weight) > before:
            work.plan.counts[:], work.loads, work.cost = counts, loads, cost
    return work.merit(limit, weight) < first


def _perturbed(work: Exchange, limit: float) -> list[int]:
    """Exchange single tasks of random machines, one too long among them; return the machines."""
    rng, plan, touched = work.rng, work.plan, []
    late = np.flatnonzero(work.loads > limit)
    for number in range(PERTURBATIONS if len(plan.kinds) > 1 else 0):
        a, b = rng.choice(len(plan.kinds), 2, replace=False).tolist()
        a = int(rng.choice(late)) if len(late) and number == 0 else a
        mine, theirs = np.flatnonzero(plan.counts[a]), np.flatnonzero(plan.counts[b])
        if a == b or not len(mine) or not len(theirs):
            continue
        give, take = 1 + int(rng.choice(mine)), 1 + int(rng.choice(theirs))
        if max(work.seconds[plan.kinds[b], give], work.seconds[plan.kinds[a], take]) < IMPOSSIBLE:
            work.apply(a, b, give, take)
            touched += [a, b]
    return list(dict.fromkeys(touched))
