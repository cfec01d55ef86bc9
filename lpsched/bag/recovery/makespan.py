"""Shorter schedules: an assignment, searched by moving and swapping pairs of tasks, and by neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import usable_arrays
from lpsched.bag.recovery.plans import grouped, largest_load
from lpsched.bag.schedule import Schedule, numbered
from lpsched.cancellation import CancelToken
from lpsched.lp.program import LinearProgram, LpBuilder
from lpsched.lp.solvers import whole_point

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Relaxation
    from lpsched.model.table import Floats, Integers, Mask


# Whole tasks on single machines: the state that is improved, one machine at a time.
#
# A machine h is one of the m_j machines of its type j. Where a type has P-states, each task runs in its
# fastest one, because only the makespan counts here. So a state is a table of counts x_ih with
#
#     sum_h x_ih = n_i,      load_h = sum_i l_ih x_ih.
#
# Lengths are in units of the bound that the prices y of the relaxation prove. With sum_h y_h = 1,
#
#     u_i = min_h e_ih y_h,      bound = sum_i n_i u_i,      l_ih = e_ih / bound,
#     r_ih = (e_ih y_h - u_i) / bound >= 0      (reduced costs)
#
# and every state of makespan T obeys
#
#     T - 1  =  sum_h y_h (T - load_h)  +  sum_ih r_ih x_ih.
#
# Both sums are 0 or more. So a state near the bound has even loads and cheap pairs, and one of makespan T has
# no pair with r_ih > T - 1.
@dataclass(frozen=True, slots=True)
class Fleet:
    """The machines of a bag one by one, and what each pair takes and costs; T task types, H machines."""

    bag: Bag
    bound_seconds: float
    machine_types: Integers  # H: the type of each machine
    columns: Integers  # T x H: the fastest P-state of the pair
    lengths: Floats  # T x H: in units of the bound; inf where the task cannot run
    prices: Floats  # H: marginal value of time on the machine; they sum to 1
    reduced_costs: Floats  # T x H: inf where the task cannot run

    @property
    def size(self) -> int:
        """How many machines there are."""
        return len(self.machine_types)

    def loads(self, counts: Integers) -> Floats:
        """Return how long each machine works."""
        used = np.where(counts > 0, self.lengths, 0.0)  # inf x 0 is not 0
        return np.asarray((used * counts).sum(axis=0))

    def makespan(self, counts: Integers) -> float:
        """Return how long the longest machine works."""
        return float(self.loads(counts).max())


def fleet_of(bag: Bag, machine_prices: Sequence[float]) -> Fleet:
    """Return the machines of a bag one by one; prices that prove nothing are taken as equal."""
    arrays = usable_arrays(bag)
    machine_types = np.repeat(np.arange(len(bag.machine_types)), arrays.machine_counts.astype(np.int64))
    usable = np.where(arrays.can_run, arrays.seconds, np.inf)
    fastest = [np.argmin(own, axis=1) for own in np.split(usable, arrays.firsts[1:], axis=1)]
    columns = (np.stack(fastest, axis=1) + arrays.firsts)[:, machine_types]
    seconds = np.take_along_axis(usable, columns, axis=1)
    prices = np.maximum(np.array(machine_prices), 0.0)[machine_types]
    can_run = np.isfinite(seconds)
    timed = np.where(can_run, seconds, 0.0)
    paid = np.where(can_run, timed * prices, np.inf)  # what the time of each pair costs
    if not arrays.task_counts @ paid.min(axis=1) > 0:
        prices = np.ones(len(machine_types))
        paid = np.where(can_run, timed, np.inf)
    least = paid.min(axis=1)
    value, whole = float(arrays.task_counts @ least), float(prices.sum())
    return Fleet(
        bag=bag,
        bound_seconds=value / whole,
        machine_types=machine_types,
        columns=columns,
        lengths=seconds * (whole / value),
        prices=prices / whole,
        reduced_costs=(paid - least[:, None]) / value,
    )


def counts_of(fleet: Fleet, schedule: Schedule) -> Integers:
    """Return how many tasks of each type run on each machine (T x H)."""
    free = np.searchsorted(fleet.machine_types, np.arange(len(fleet.bag.machine_types)))
    counts = np.zeros(fleet.lengths.shape, dtype=np.int64)
    for j, machines, runs in numbered(fleet.bag, schedule):
        first, free[j] = free[j], free[j] + machines
        for i, _, count in runs:
            counts[i, first : free[j]] += count
    return counts


def schedule_of(fleet: Fleet, counts: Integers) -> Schedule:
    """Return the schedule of a state, every task in its fastest P-state."""
    machines = []
    for h, j in enumerate(fleet.machine_types.tolist()):
        tasks = np.flatnonzero(counts[:, h]).tolist()
        machines.append((j, {(i, int(fleet.columns[i, h])): int(counts[i, h]) for i in tasks}))
    return grouped(fleet.bag, machines)


# Two machines at a time, against a falling target.
#
# The aim is a makespan T a little below the best so far. By the identity of `Fleet`, loads of at most T
# need cheap pairs, so this is minimised, with a penalty v_h for each machine:
#
#     sum_h y_h (load_h + v_h max(0, load_h - T)).
#
# A step takes a machine a, mostly one that is over T, and another one b. Of their tasks, those whose move to
# the other machine costs least may move. All trade-offs of the two loads come from a dynamic program over
# these tasks: with f(g) the least load of b where a has a load of about g,
#
#     f(g)  <-  min( f(g - l_qa),  f(g) + l_qb )      for each task q: on a, or on b.
#
# Loads of a differ only by the cell of a grid; the exact load is stored with it, so the grid loses trade-offs but never
# returns a wrong one. The best trade-off is taken, with a little noise.
#
# Penalties start small and grow while a machine stays over T: a search that pays for even loads with expensive pairs
# too early gets stuck. When no machine is over, T falls; after many steps without gain, the search returns to the best
# state.
ITEMS: Final = 24  # tasks that may move in a step
ALIKE: Final = 6  # of one type, at most
CELLS: Final = 3000
OFTEN: Final = 0.7  # how often a machine over the target comes first
MOST_EXTRA: Final = 4e-3  # what a move may cost, even where T - 1 is less; the bound is 1
FIRST_TARGET: Final = 1.01
SHRINK: Final = 0.9  # of the distance to the bound, from target to target
PENALTY: Final = 0.2
MOST_PENALTY: Final = 1e4
UP: Final = 1.1
DOWN: Final = 0.97
NOISE: Final = 2e-3
PATIENCE: Final = 500  # steps without a better state
LEAST_PRICE: Final = 0.05  # of the average: even a machine that was never full must not be over
NEAR: Final = 1e-9
STEP: Final = 6e-4  # seconds of work counted for a step


class PairSearch:
    """A search that can be continued: its present state and its best one, target and penalties."""

    def __init__(self, fleet: Fleet, counts: Integers, rng: np.random.Generator) -> None:
        self.fleet, self.rng = fleet, rng
        self.prices = np.maximum(fleet.prices, LEAST_PRICE / fleet.size)
        self.take(counts)
        self.target: float = min(FIRST_TARGET, self.target)

    def take(self, counts: Integers) -> None:
        """Continue from a state that another search found."""
        self.best, self.least = counts, self.fleet.makespan(counts)
        self._start_again()

    def run(self, cancel: CancelToken) -> Integers:
        """Search until the token has expired, or the bound is reached; return the best state so far."""
        while not (cancel.expired() or self.least <= 1 + NEAR or self.fleet.size == 1):
            self._step()
            cancel.count(STEP)
        return self.best

    def _start_again(self) -> None:
        self.counts, self.loads = self.best.copy(), self.fleet.loads(self.best)
        self._aim(self.least)

    def _aim(self, makespan: float) -> None:
        """Set the target below this makespan; all penalties are small again."""
        self.target = 1 + SHRINK * (makespan - 1)
        self.penalties = np.full(self.fleet.size, PENALTY)
        self.steps_in_vain = 0

    def _step(self) -> None:
        """Improve two machines."""
        if self.steps_in_vain >= PATIENCE:
            self._start_again()
        elif self.loads.max() <= self.target:
            self._aim(float(self.loads.max()))
        self.steps_in_vain += 1
        # A machine, mostly one over the target, and another one.
        over = self.prices * np.maximum(self.loads - self.target, 0.0)
        a = int(self.rng.integers(self.fleet.size))
        if self.rng.random() < OFTEN:
            drawn = np.searchsorted(np.cumsum(over), self.rng.random() * over.sum(), side="right")
            a = min(int(drawn), self.fleet.size - 1)
        b = int(self.rng.integers(self.fleet.size - 1))
        b += b >= a
        self._share_out(a, b)
        if self.loads[a] <= self.target:
            self.penalties[a] = max(self.penalties[a] * DOWN, PENALTY)
        for h in (a, b):
            if self.loads[h] > self.target:
                self.penalties[h] = min(self.penalties[h] * UP, MOST_PENALTY)
        if self.loads.max() < self.least - NEAR:
            self.best, self.least = self.counts.copy(), float(self.loads.max())
            self.steps_in_vain = 0

    def _share_out(self, a: int, b: int) -> None:
        """Share out tasks of both machines anew, as well as the target allows."""
        tasks, on_a = self._movable(a, b)
        if not len(tasks):
            return
        lengths_a, lengths_b = self.fleet.lengths[tasks, a], self.fleet.lengths[tasks, b]
        least_a = self.loads[a] - lengths_a[on_a].sum()
        least_b = self.loads[b] - lengths_b[~on_a].sum()
        room = max(self.target * 1.004, self.loads[a] * 1.0005) - least_a
        more_a, more_b, taken, cells = trade_offs(lengths_a, lengths_b, room)
        cost = self._cost(a, least_a + more_a) + self._cost(b, least_b + more_b)
        cost += NOISE * (self.target - 1) * self.rng.standard_exponential(CELLS)
        to_a = chosen(taken, cells, int(np.argmin(cost)))
        np.add.at(self.counts, (tasks, np.where(on_a, a, b)), -1)
        np.add.at(self.counts, (tasks, np.where(to_a, a, b)), 1)
        self.loads[a] = least_a + lengths_a[to_a].sum()
        self.loads[b] = least_b + lengths_b[~to_a].sum()

    def _cost(self, h: int, loads: Floats) -> Floats:
        over = np.maximum(loads - self.target, 0.0)
        return float(self.prices[h]) * (loads + float(self.penalties[h]) * over)

    def _movable(self, a: int, b: int) -> tuple[Integers, Mask]:
        """Return tasks of a and b that are cheapest to move, one entry each, and whether each is on a."""
        tasks, side = np.nonzero(self.counts[:, [a, b]])
        here, there = np.where(side == 0, a, b), np.where(side == 0, b, a)
        extra = self.fleet.reduced_costs[tasks, there] - self.fleet.reduced_costs[tasks, here]
        cheap = np.flatnonzero(extra < max(MOST_EXTRA, self.target - 1))
        noise = 0.05 * MOST_EXTRA * self.rng.random(len(cheap))
        cheap = cheap[np.argsort(extra[cheap] + noise)][:ITEMS]
        alike = np.minimum(self.counts[tasks[cheap], here[cheap]], ALIKE)
        picked = np.repeat(cheap, alike)[:ITEMS]
        return tasks[picked], side[picked] == 0


def trade_offs(lengths_a: Floats, lengths_b: Floats, room: float) -> tuple[Floats, Floats, Mask, Integers]:
    """Return loads of a up to about `room`, the least load of b with each (inf: none), and how to get there.

    The last two say for each task and cell whether the task is on a, and how many cells it takes there.
    """
    width = min(float(lengths_a.sum()), room) / (CELLS - 1)
    cells = np.rint(np.minimum(lengths_a / width, CELLS)).astype(np.int64)
    load_a, load_b = np.zeros(CELLS), np.full(CELLS, np.inf)
    load_b[0] = 0.0
    taken = np.zeros((len(cells), CELLS), dtype=bool)
    for q, step in enumerate(cells.tolist()):
        stay = load_b + lengths_b[q]
        if step < CELLS:
            before = load_b[: CELLS - step]
            take = np.less(before, stay[step:], out=taken[q, step:])
            load_a[step:] = np.where(take, load_a[: CELLS - step] + lengths_a[q], load_a[step:])
            np.minimum(before, stay[step:], out=stay[step:])
        load_b = stay
    return load_a, load_b, taken, cells


def chosen(taken: Mask, cells: Integers, cell: int) -> Mask:
    """Return which tasks are on a where its load is in this cell, traced back."""
    on_a = np.zeros(len(cells), dtype=bool)
    for q in range(len(cells) - 1, -1, -1):
        if taken[q, cell]:
            on_a[q] = True
            cell -= int(cells[q])
    return on_a


# Some machines at a time, by a short whole program over cheap pairs.
#
# The tasks of some machines (d_i of type i) are shared out anew among these machines:
#
#     min   t
#     s.t.  sum_h x_ih       =  d_i    for each task type i
#           sum_i l_ih x_ih  <= t      for each machine h
#           0 <= x_ih <= d_i whole,    only where r_ih <= most_cost and l_ih <= T, or where the pair is in use
#
# with lengths l and reduced costs r of the fleet. The present state is the start, and its makespan T the
# limit of t. On all machines, a better state has no pair with r_ih > T - 1: so if that much is allowed, and
# the program is solved to the end, nothing better is left to find.
GAP: Final = 1e-6
MOST_PAIRS: Final = 10_000  # HiGHS looks at its clock too rarely in a larger program
BETTER: Final = 1e-9


def resolved(
    fleet: Fleet, counts: Integers, machines: Integers, most_cost: float, cancel: CancelToken
) -> tuple[Integers, bool]:
    """Return a better state of these machines or the given one, and whether a program (not too large) was solved."""
    tasks = np.flatnonzero(counts[:, machines].any(axis=1))
    here = np.ix_(tasks, machines)
    present = counts[here]
    now = float(fleet.loads(counts)[machines].max())
    cheap = (fleet.reduced_costs[here] <= most_cost) & (fleet.lengths[here] <= now)
    i, h = np.nonzero(cheap | (present > 0))
    if len(i) > MOST_PAIRS:
        return counts, False
    program = _program(fleet.lengths[here][i, h], i, h, present.sum(axis=1), now)
    start = np.append(present[i, h], now).astype(float)
    whole = np.append(np.ones(len(i)), 0.0)
    point = whole_point(program, cancel=cancel, whole=whole, start=start, gap=GAP)
    if point is None:
        return counts, False
    found = counts.copy()
    found[here] = 0
    found[tasks[i], machines[h]] = point[:-1].astype(np.int64)
    kept = np.array_equal(found.sum(axis=1), counts.sum(axis=1))
    better = kept and fleet.loads(found)[machines].max() < now - BETTER
    return found if better else counts, not cancel.expired()


def cheapest(fleet: Fleet, pairs: float) -> float:
    """Return the reduced cost up to which there are that many `pairs`; inf if there are fewer."""
    costs = fleet.reduced_costs.ravel()
    return float(np.partition(costs, int(pairs))[int(pairs)]) if pairs < costs.size else np.inf


def around_the_longest(fleet: Fleet, counts: Integers, size: int, rng: np.random.Generator) -> Integers:
    """Draw `size` machines: the one that works longest, and others."""
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


# A shorter makespan, for as long as work may be counted.
#
# Two searches work in rounds, side by side, and share the best state after each:
#
#     here            pair search; it goes on from the best state where that is not its own
#     in a thread     whole programs: first on all machines over the cheapest pairs, twice as many each time,
#                     then on the machine that works longest and some others: one more after a program that
#                     was solved to the end in vain, one less after one that was not
#
# HiGHS works without Python's lock, so two cores are used; on one core they take turns. A round is a fixed amount of
# counted work for either, and the next begins when both are done: a rerun gives the same schedule, unless the clock
# cuts it.
MOST_TASKS: Final = 20_000
MOST_MACHINES: Final = 2_000
MOST_CELLS: Final = 4_000_000  # task types x machines
SECONDS: Final = 10.0  # of counted work, where the token has no limit
ROUND: Final = 0.05  # of the work
WHOLE: Final = (4, 6)  # rounds for programs on all machines: early, and from a good state
FIRST_PAIRS: Final = 2.0  # for each task type, in the first program on all machines
PAIRS: Final = 3.0  # likewise, in one on some machines
FIRST_SIZE: Final = 5  # machines
LEAST_SIZE: Final = 2


def shorten(
    bag: Bag, relaxation: Relaxation, schedule: Schedule, cancel: CancelToken, rng: np.random.Generator
) -> Schedule:
    """Return a schedule of a shorter makespan, or the given one if none is found.

    Each task runs in its fastest P-state, whatever energy that takes: so a bag with a power cap is left
    alone, and so is one with very many tasks or machines. A token without a limit on work gets `SECONDS`.
    """
    if not fits_single_tasks(bag) or cancel.expired():
        return schedule
    fleet, left = fleet_of(bag, relaxation.machine_prices), cancel.work_left()
    cancel, best = cancel.share(left if math.isfinite(left) else SECONDS), counts_of(fleet, schedule)
    ours, theirs = rng.spawn(2)
    work, least = ROUND * cancel.work_left(), fleet.makespan(best)
    pairs, programs = PairSearch(fleet, best, ours), _Programs(fleet, theirs)
    with ThreadPoolExecutor(1) as pool:
        while not (cancel.expired() or least <= 1 + NEAR or programs.nothing_better):
            if least < pairs.least:
                pairs.take(best)
            mine, other = cancel.share(work), CancelToken(cancel.remaining())  # apart: each thread counts its own
            running = pool.submit(programs.run, best, other.share(work))
            found = []
            try:
                found.append(pairs.run(mine))
            finally:
                if cancel.is_cut():
                    other.stop()
                found.append(running.result())
            for state in found:
                if fleet.makespan(state) < least:
                    best, least = state, fleet.makespan(state)
            cancel.report("single tasks", least - 1.0)
    shorter = fleet.makespan(best) * fleet.bound_seconds < largest_load(bag, schedule) * (1 - NEAR)
    return schedule_of(fleet, best) if shorter else schedule


def fits_single_tasks(bag: Bag) -> bool:
    """Return whether a bag has few enough tasks and machines, and no power cap."""
    few = bag.tasks <= MOST_TASKS and bag.machines <= MOST_MACHINES and len(bag.task_types) * bag.machines <= MOST_CELLS
    return few and bag.site.average_power_cap_watts is None


@dataclass
class _Programs:
    """Whole programs, one after the other."""

    fleet: Fleet
    rng: np.random.Generator
    nothing_better: bool = False
    _whole: int = 0  # rounds with programs on all machines
    _pairs: float = 0.0
    _size: int = FIRST_SIZE

    def run(self, counts: Integers, cancel: CancelToken) -> Integers:
        """Return the state after programs for one round, or the given one if none helps."""
        self._whole += 1
        if self._whole > sum(WHOLE):
            return self._on_some_machines(counts, cancel)
        if self._whole in {1, WHOLE[0] + 1}:
            self._pairs = FIRST_PAIRS * len(counts)
        while not cancel.expired() and not self.nothing_better:  # on all machines, over more and more pairs
            most_cost = min(cheapest(self.fleet, self._pairs), self.fleet.makespan(counts) - 1)
            counts, solved = resolved(self.fleet, counts, np.arange(self.fleet.size), most_cost, cancel)
            if not solved:
                break
            self.nothing_better = most_cost >= self.fleet.makespan(counts) - 1  # nothing was left out
            self._pairs *= 2
        return counts

    def _on_some_machines(self, counts: Integers, cancel: CancelToken) -> Integers:
        """Solve programs on the longest machine and some others."""
        most_cost = cheapest(self.fleet, PAIRS * len(counts))
        while not cancel.expired():
            some = around_the_longest(self.fleet, counts, self._size, self.rng)
            found, solved = resolved(self.fleet, counts, some, most_cost, cancel)
            if found is counts:
                grown = self._size + 1 if solved else max(LEAST_SIZE, self._size - 1)
                self._size = min(self.fleet.size, grown)
            counts = found
        return counts
