"""A shorter makespan, for as long as work may be counted.

Two searches work in rounds, side by side, and share the best state after each:

    here            pair search; it goes on from the best state where that is not its own
    in a thread     whole programs: first on all machines over the cheapest pairs, twice as many each time,
                    then on the machine that works longest and some others: one more after a program that
                    was solved to the end in vain, one less after one that was not

HiGHS works without Python's lock, so two cores are used; on one core they take turns. A round is so much
counted work for either, and the next begins when both are done: a rerun gives the same schedule, unless the
clock cuts it.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.recovery.assignment import counts_of, fleet_of, schedule_of
from lpsched.recovery.neighbourhoods import around_the_longest, cheapest, resolved
from lpsched.recovery.pair_search import NEAR, PairSearch
from lpsched.recovery.waiting import largest_load
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Integers
    from lpsched.recovery.assignment import Fleet
    from lpsched.relaxation import Relaxation
    from lpsched.schedule.bag import Schedule

MOST_TASKS: Final = 20_000
MOST_MACHINES: Final = 2_000
MOST_CELLS: Final = 4_000_000  # task types x machines
SECONDS: Final = 10.0  # of counted work, where the watch has no limit
ROUND: Final = 0.05  # of the work
WHOLE: Final = (4, 6)  # rounds for programs on all machines: early, and from a good state
FIRST_PAIRS: Final = 2.0  # for each task type, in the first program on all machines
PAIRS: Final = 3.0  # likewise, in one on some machines
FIRST_SIZE: Final = 5  # machines
LEAST_SIZE: Final = 2


def shorten(
    bag: Bag, relaxation: Relaxation, schedule: Schedule, watch: Watch, rng: np.random.Generator
) -> Schedule:
    """Return a schedule of a shorter makespan, or the given one if none is found.

    Each task runs in its fastest P-state, whatever energy that takes: so a bag with a power cap is left
    alone, and so is one with very many tasks or machines. A watch without a limit on work gets `SECONDS`.
    """
    if not fits_single_tasks(bag) or watch.is_over():
        return schedule
    fleet = fleet_of(bag, relaxation.machine_prices)
    best = _Best(fleet, counts_of(fleet, schedule))
    left = watch.work_left()
    _improve(best, watch.share(left if math.isfinite(left) else SECONDS), rng)
    shorter = best.makespan * fleet.bound_seconds < largest_load(bag, schedule) * (1 - NEAR)
    return schedule_of(fleet, best.counts) if shorter else schedule


def fits_single_tasks(bag: Bag) -> bool:
    """Tell whether a bag has few enough tasks and machines, and no power cap."""
    few = bag.tasks <= MOST_TASKS and bag.machines <= MOST_MACHINES
    cells = len(bag.task_types) * bag.machines
    return few and cells <= MOST_CELLS and bag.site.average_power_cap_watts is None


class _Best:
    """The best state so far."""

    def __init__(self, fleet: Fleet, counts: Integers) -> None:
        self.fleet, self.counts, self.makespan = fleet, counts, fleet.makespan(counts)

    def offer(self, counts: Integers) -> None:
        """Keep a state if it is better."""
        makespan = self.fleet.makespan(counts)
        if makespan < self.makespan:
            self.counts, self.makespan = counts, makespan


def _improve(best: _Best, watch: Watch, rng: np.random.Generator) -> None:
    """Work in rounds until the watch is over, or nothing better can be found."""
    ours, theirs = rng.spawn(2)
    work = ROUND * watch.work_left()
    pairs, programs = PairSearch(best.fleet, best.counts, ours), _Programs(best.fleet, theirs)
    with ThreadPoolExecutor(1) as pool:
        while not (watch.is_over() or best.makespan <= 1 + NEAR or programs.nothing_better):
            if best.makespan < pairs.least:
                pairs.take(best.counts)
            mine, other = watch.share(work), Watch(watch.left())  # apart: two threads must not count as one
            running = pool.submit(programs.run, best.counts, other.share(work))
            try:
                best.offer(pairs.run(mine))
            finally:
                if watch.is_cut():
                    other.stop()
                found = running.result()
            best.offer(found)
            watch.tell("single tasks", best.makespan - 1.0)


@dataclass
class _Programs:
    """Whole programs, one after the other."""

    fleet: Fleet
    rng: np.random.Generator
    nothing_better: bool = False
    _whole: int = 0  # rounds with programs on all machines
    _pairs: float = 0.0
    _size: int = FIRST_SIZE

    def run(self, counts: Integers, watch: Watch) -> Integers:
        """Return the state after programs for one round, or the given one if none helps."""
        self._whole += 1
        if self._whole <= sum(WHOLE):
            if self._whole in {1, WHOLE[0] + 1}:
                self._pairs = FIRST_PAIRS * len(counts)
            return self._on_all_machines(counts, watch)
        return self._on_some_machines(counts, watch)

    def _on_all_machines(self, counts: Integers, watch: Watch) -> Integers:
        """Solve programs on all machines, over more and more pairs."""
        every = np.arange(self.fleet.size)
        while not watch.is_over() and not self.nothing_better:
            makespan = self.fleet.makespan(counts)
            dearest = min(cheapest(self.fleet, self._pairs), makespan - 1)
            counts, solved = resolved(self.fleet, counts, every, dearest, watch)
            if not solved:
                break
            self.nothing_better = dearest >= self.fleet.makespan(counts) - 1  # nothing was left out
            self._pairs *= 2
        return counts

    def _on_some_machines(self, counts: Integers, watch: Watch) -> Integers:
        """Solve programs on the longest machine and some others."""
        dearest = cheapest(self.fleet, PAIRS * len(counts))
        while not watch.is_over():
            some = around_the_longest(self.fleet, counts, self._size, self.rng)
            found, solved = resolved(self.fleet, counts, some, dearest, watch)
            if found is counts:
                grown = self._size + 1 if solved else max(LEAST_SIZE, self._size - 1)
                self._size = min(self.fleet.size, grown)
            counts = found
        return counts
