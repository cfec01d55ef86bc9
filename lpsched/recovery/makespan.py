"""A shorter makespan, for as long as there is time.

Two loops run side by side over one best state, each starting from it again and again:

    here            pair search, in turns
    in a thread     whole programs: first on all machines over the cheapest pairs, twice as many each time,
                    then on the machine that works longest and a few others

HiGHS works without Python's lock, so two cores are used; on one core the loops take turns. How far each gets
depends on the clock: a rerun gives a schedule as good, but not always the same one.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.recovery.assignment import counts_of, fleet_of, schedule_of, seconds_of
from lpsched.recovery.neighbourhoods import around_the_longest, cheapest, resolved
from lpsched.recovery.pair_search import NEAR, pair_search

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
TURN: Final = 0.1  # of the time, for one pair search
SHARES: Final = (0.2, 0.45)  # of the time, for programs on all machines: early, and from a good state
PAIRS: Final = 2.0  # pairs for each task type in the first program
SIZES: Final = (5, 8)  # machines in a small program
SECONDS: Final = 10.0  # where the watch has no limit


def shorten(
    bag: Bag, relaxation: Relaxation, schedule: Schedule, watch: Watch, rng: np.random.Generator
) -> Schedule:
    """Return a schedule of a shorter makespan, or the given one if none is found.

    Each task runs in its fastest P-state, whatever energy that takes: so a bag with a power cap is left
    alone, and so is one with very many tasks or machines. A watch without a limit gets `SECONDS`.
    """
    if _is_large(bag) or bag.site.average_power_cap_watts is not None or watch.is_over():
        return schedule
    fleet = fleet_of(bag, relaxation.machine_prices)
    best = _Best(fleet, counts_of(fleet, schedule))
    _improve(best, watch.part(SECONDS if watch.left() is None else np.inf), rng)
    shorter = best.makespan * fleet.bound_seconds < seconds_of(bag, schedule) * (1 - NEAR)
    return schedule_of(fleet, best.counts) if shorter else schedule


def _is_large(bag: Bag) -> bool:
    cells = len(bag.task_types) * bag.machines
    return bag.tasks > MOST_TASKS or bag.machines > MOST_MACHINES or cells > MOST_CELLS


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

    def is_least(self) -> bool:
        """Tell whether the bound is reached."""
        return self.makespan <= 1 + NEAR


def _improve(best: _Best, watch: Watch, rng: np.random.Generator) -> None:
    """Run both loops until the watch is over, or nothing better can be found."""
    ours, theirs = rng.spawn(2)
    seconds = watch.left() or 0.0
    with ThreadPoolExecutor(1) as pool:
        programs = pool.submit(_solve_programs, best, watch, theirs, seconds)
        try:
            while not (watch.is_over() or best.is_least()):
                best.offer(pair_search(best.fleet, best.counts, ours, watch.part(TURN * seconds)))
        finally:
            watch.stop()
    programs.result()


def _solve_programs(best: _Best, watch: Watch, rng: np.random.Generator, seconds: float) -> None:
    fleet, every, tasks = best.fleet, np.arange(best.fleet.size), len(best.counts)
    pairs = PAIRS * tasks
    for share in SHARES:
        part = watch.part(share * seconds)
        while not part.is_over():
            dearest = min(cheapest(fleet, pairs), best.makespan - 1)
            best.offer(resolved(fleet, best.counts, every, dearest, part))
            if not part.is_over() and dearest >= best.makespan - 1:  # solved to the end, nothing left out
                watch.stop()
            if not part.is_over():
                pairs *= 2
    dearest, turn = cheapest(fleet, 2 * PAIRS * tasks), 0
    while not watch.is_over():
        some = around_the_longest(fleet, best.counts, SIZES[turn % len(SIZES)], rng)
        best.offer(resolved(fleet, best.counts, some, dearest, watch.part(0.05 * seconds)))
        turn += 1
