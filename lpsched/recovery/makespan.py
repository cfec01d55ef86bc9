"""A shorter makespan, for as long as there is time.

Two loops run side by side, and share the best state:

    here            pair search; it goes on from the best state where that is not its own
    in a thread     whole programs: first on all machines over the cheapest pairs, twice as many each time,
                    then on the machine that works longest and some others: one more after a program that
                    was solved to the end in vain, one less after one that was not

HiGHS works without Python's lock, so two cores are used; on one core the loops take turns. How far each gets
depends on the clock: a rerun gives a schedule as good, but not always the same one.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.recovery.assignment import counts_of, fleet_of, schedule_of
from lpsched.recovery.neighbourhoods import around_the_longest, cheapest, resolved
from lpsched.recovery.pair_search import NEAR, PairSearch
from lpsched.recovery.waiting import largest_load

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.arrays import Integers
    from lpsched.recovery.assignment import Fleet
    from lpsched.relaxation import Relaxation
    from lpsched.schedule.bag import Schedule
    from lpsched.watch import Watch

MOST_TASKS: Final = 20_000
MOST_MACHINES: Final = 2_000
MOST_CELLS: Final = 4_000_000  # task types x machines
SECONDS: Final = 10.0  # where the watch has no limit
TURN: Final = 0.02  # of the time, until the loops compare
WHOLE: Final = (0.2, 0.3)  # of the time, for programs on all machines: early, and from a good state
SHORT: Final = 0.05  # of the time, for a program on some machines
FIRST_PAIRS: Final = 2.0  # for each task type, in the first program on all machines
PAIRS: Final = 3.0  # likewise, in one on some machines
FIRST_SIZE: Final = 5  # machines
LEAST_SIZE: Final = 2


def shorten(
    bag: Bag, relaxation: Relaxation, schedule: Schedule, watch: Watch, rng: np.random.Generator
) -> Schedule:
    """Return a schedule of a shorter makespan, or the given one if none is found.

    Each task runs in its fastest P-state, whatever energy that takes: so a bag with a power cap is left
    alone, and so is one with very many tasks or machines. A watch without a limit gets `SECONDS`.
    """
    if not fits_single_tasks(bag) or watch.is_over():
        return schedule
    fleet = fleet_of(bag, relaxation.machine_prices)
    best = _Best(fleet, counts_of(fleet, schedule))
    _improve(best, watch.part(SECONDS if watch.left() is None else np.inf), rng)
    shorter = best.makespan * fleet.bound_seconds < largest_load(bag, schedule) * (1 - NEAR)
    return schedule_of(fleet, best.counts) if shorter else schedule


def fits_single_tasks(bag: Bag) -> bool:
    """Tell whether a bag has few enough tasks and machines, and no power cap."""
    few = bag.tasks <= MOST_TASKS and bag.machines <= MOST_MACHINES
    cells = len(bag.task_types) * bag.machines
    return few and cells <= MOST_CELLS and bag.site.average_power_cap_watts is None


class _Best:
    """The best state so far, for both loops."""

    def __init__(self, fleet: Fleet, counts: Integers) -> None:
        self.fleet, self.counts, self.makespan = fleet, counts, fleet.makespan(counts)
        self._lock = threading.Lock()

    def offer(self, counts: Integers) -> None:
        """Keep a state if it is better."""
        makespan = self.fleet.makespan(counts)
        with self._lock:
            if makespan < self.makespan:
                self.counts, self.makespan = counts, makespan


def _improve(best: _Best, watch: Watch, rng: np.random.Generator) -> None:
    """Run both loops until the watch is over, or nothing better can be found."""
    ours, theirs = rng.spawn(2)
    seconds = watch.left() or 0.0
    with ThreadPoolExecutor(1) as pool:
        programs = pool.submit(_solve_programs, best, watch, theirs, seconds)
        try:
            _search_pairs(best, watch, ours, seconds)
        finally:
            watch.stop()
    programs.result()


def _search_pairs(best: _Best, watch: Watch, rng: np.random.Generator, seconds: float) -> None:
    """Search until the watch is over, or the bound is reached."""
    search = PairSearch(best.fleet, best.counts, rng)
    while not (watch.is_over() or best.makespan <= 1 + NEAR):
        best.offer(search.run(watch.part(TURN * seconds)))
        watch.tell("single tasks", best.makespan - 1.0)
        if best.makespan < search.least:
            search.take(best.counts)


def _solve_programs(best: _Best, watch: Watch, rng: np.random.Generator, seconds: float) -> None:
    """Solve programs until the watch is over, or stop it where nothing better is left to find."""
    for share in WHOLE:
        _solve_whole(best, watch, watch.part(share * seconds))
    dearest, size = cheapest(best.fleet, PAIRS * len(best.counts)), FIRST_SIZE
    while not watch.is_over():
        given, part = best.counts, watch.part(SHORT * seconds)
        some = around_the_longest(best.fleet, given, size, rng)
        found, solved = resolved(best.fleet, given, some, dearest, part)
        best.offer(found)
        if not solved and size == LEAST_SIZE:
            return  # two machines at a time are for the pair search
        if found is given:
            size = min(best.fleet.size, size + 1) if solved else size - 1


def _solve_whole(best: _Best, watch: Watch, part: Watch) -> None:
    """Solve programs on all machines, over more and more pairs."""
    every, pairs = np.arange(best.fleet.size), FIRST_PAIRS * len(best.counts)
    while not part.is_over():
        dearest = min(cheapest(best.fleet, pairs), best.makespan - 1)
        found, solved = resolved(best.fleet, best.counts, every, dearest, part)
        best.offer(found)
        if not solved:
            return
        if dearest >= best.makespan - 1:  # nothing was left out
            watch.stop()
        pairs *= 2
