"""The makespan of single tasks on single machines: at one target after the other, proved impossible or reached.

A target T is a makespan: do all tasks fit on the machines, each with T seconds of room (`lp/assignment.py`)? Prices of
tasks prove that they do not, or a dive finds a schedule, or neither. Targets begin at the bound of the linear program:

    impossible    the bound is raised beyond T
    found         the schedule is the best so far
    neither       the next target is larger; when none is left, all are tried again, with more work each

Two targets at a time are tried, one in each of two threads, and what they find is taken in their order. Work is
counted, so the same seed gives the same answer however busy the machine is, unless the clock ends the search.

Times are whole multiples of their common unit. If that is too small, they are rounded down to a grid of 2^-30 of the
bound: what is impossible then, is impossible with the true times too, and a schedule is verified with the true ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from lpsched.bag.certificate.patterns import MOST_CELLS
from lpsched.bag.packing import Prices
from lpsched.bag.problem import prover_of
from lpsched.bag.recovery.makespan import Fleet, counts_of, fleet_of, schedule_of
from lpsched.bag.search.makespan_intervals import Leaf, Proof
from lpsched.cancellation import COMPILING, CancelToken
from lpsched.jit import is_there
from lpsched.lp.annealing import Annealing
from lpsched.lp.assignment import NEVER, Assignment, Dive, Outcome, Pace
from lpsched.model.fixed_point import rounded_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Relaxation
    from lpsched.bag.schedule import Schedule
    from lpsched.model.table import Floats, Integers

Answer = TypeVar("Answer")
LOOK: Final = 0.02  # seconds between looks at the clock
MOST_TASKS: Final = 5_000
MOST_PAIRS: Final = 200_000  # of single tasks and single machines
MOST_UNITS: Final = 1 << 34  # of time, up to the bound
GRID_BITS: Final = 30
STEP_BITS: Final = 16
STEP: Final = 6e-9  # seconds of work counted for each step of a dive,
EACH: Final = 2e-3  # and for two dives
MOST_ROUNDS: Final = 12  # in which all targets are tried
FIRST: Final = 400_000  # steps of a dive, for each task; twice as many each time that all targets were tried
THREADS: Final = 2
ANNEALINGS: Final = 5
ANNEALED: Final = 10_000  # steps of an annealing, for each task
MOST_ANNEALED: Final = 6_000_000
STEP_ANNEALED: Final = 6e-8
TINY: Final = Fraction(1, 1 << 600)


def fits_targets(bag: Bag) -> bool:
    """Return whether all machines of a bag are of types of their own, it is small enough, and Numba is there.

    Machines of one type take the same tasks at the same prices; there, patterns of a type prove and find more.
    """
    tasks, machines = bag.tasks, bag.machines
    small = tasks <= MOST_TASKS and tasks * machines <= MOST_PAIRS and machines == len(bag.machine_types)
    return small and is_there() and bag.site.average_power_cap_watts is None


@cache
def compile_once() -> None:
    """Have the loops compiled, or loaded: they run for one task on one machine."""
    one, stop = np.ones((1, 1), dtype=np.int64), np.zeros(1, dtype=np.bool_)
    Assignment(one).dive(one[0], np.ones(1), np.ones(1), Pace(first=1), 0)
    Annealing(one, np.ones(1)).run(1, 1, 0, stop)


@dataclass
class TargetSearch:
    """Targets between a proved bound and the best schedule, in units of time."""

    bag: Bag
    fleet: Fleet
    unit: Fraction
    is_whole: bool  # whether all times are multiples of the unit
    assignment: Assignment
    task_of: Integers  # the task type of each item
    prices: Floats  # of items, from the last proof
    low: int  # no makespan below it
    proof: tuple[int, Integers] | None = None  # the largest target that is impossible, and the prices that prove it
    found: Schedule | None = None
    high: int = 1 << 62  # the makespan of the best schedule
    failed: int = 0  # the largest target that was tried in vain in this round
    round: int = 0
    stride: int = 1
    seed: int = 0

    @property
    def bound_seconds(self) -> float:
        """What no schedule undercuts, as a double."""
        return rounded_down(self.low * self.unit)

    def run(self, gap: float, cancel: CancelToken) -> None:
        """Try targets until bound and schedule are as near as the gap, or the token has expired."""
        cancel.report(COMPILING)
        with cancel.paused():
            compile_once()
        with ThreadPoolExecutor(THREADS) as threads:
            self._anneal(threads, gap, cancel, [0])  # a schedule at once: proofs of large bags take their time
            self._prove(threads, gap, cancel)
            self._anneal(threads, gap, cancel, range(1, ANNEALINGS))
            while self.round <= MOST_ROUNDS and self._is_open(gap, cancel):
                for target, dive in self._tried(threads, self._targets(self._least(gap)), cancel):
                    if dive.outcome is Outcome.OPEN and target < self.high:
                        self.failed, self.stride = max(self.failed, target), 2 * self.stride

    def _is_open(self, gap: float, cancel: CancelToken) -> bool:
        """Return whether bound and schedule are apart, and there is work left."""
        return self.high - self.low > gap * self.high and not cancel.expired()

    def _least(self, gap: float) -> int:
        """Return a step between targets that matters: one unit, or a part of the gap that is asked for.

        Where times have no unit, steps are never as small as the grid.
        """
        return max(1, int(gap * self.low), 0 if self.is_whole else self.low >> STEP_BITS)

    def _prove(self, threads: Executor, gap: float, cancel: CancelToken) -> None:
        """Raise the bound by prices alone: by growing steps, then by thirds of the last one."""
        least = self._least(gap)
        stride, unproved, has_failed = least, self.high, False
        while self.low + least <= unproved and self._is_open(gap, cancel):
            last = unproved - 1
            targets = [min(last, self.low + stride - 1), min(last, self.low + 2 * stride - 1)]
            for target, dive in self._tried(threads, targets, cancel, proof_only=True):
                if dive.outcome is Outcome.OPEN:
                    unproved, has_failed = min(unproved, target), True
            stride = max(least, (unproved - self.low) // 3) if has_failed else 2 * stride

    def _anneal(self, threads: Executor, gap: float, cancel: CancelToken, turns: Iterable[int]) -> None:
        """Lower the best makespan quickly, as far as that goes."""
        annealing = Annealing(np.ascontiguousarray(self.assignment.sizes.T), self.fleet.prices)
        steps = min(MOST_ANNEALED, ANNEALED * len(self.task_of))
        for turn in turns:
            if not self._is_open(gap, cancel):
                break
            apart = min(self.high, 2 * self.low) - self.low
            rooms = [self.low + apart // 8, self.low + apart // 2]
            seeds = [self.seed * 1000 + THREADS * turn + place for place in range(THREADS)]
            stop = np.zeros(1, dtype=np.bool_)
            for _, bins in _all(
                [
                    threads.submit(annealing.run, *each, stop)
                    for each in zip(rooms, [steps] * THREADS, seeds, strict=True)
                ],
                stop,
                cancel,
            ):
                self.take_bins(bins)
            cancel.count(STEP_ANNEALED * steps)

    def _tried(
        self, threads: Executor, targets: list[int], cancel: CancelToken, *, proof_only: bool = False
    ) -> list[tuple[int, Dive]]:
        """Try targets beside each other, and learn from them."""
        stop = np.zeros(1, dtype=np.bool_)
        begun = [threads.submit(self._try, *each, stop, proof_only=proof_only) for each in enumerate(targets)]
        tried = _all(begun, stop, cancel)
        for target, dive in tried:
            if dive.outcome is Outcome.IMPOSSIBLE and target >= self.low:
                self.low, self.proof, self.prices = target + 1, (target, dive.whole), dive.prices
            elif dive.outcome is Outcome.FOUND:
                self.take_bins(dive.bins)
        cancel.count(EACH + STEP * max(dive.steps for _, dive in tried))
        cancel.report("targets", (self.high - self.low) / self.high if self.found is not None else None)
        return tried

    def _targets(self, least: int) -> list[int]:
        """Return the targets to try next for a schedule."""
        last = self.high - 1
        if max(self.failed + least, self.low) > last:  # all were tried: again, with more work
            self.round, self.failed, self.stride = self.round + 1, 0, least
        self.stride, first = max(self.stride, least), max(self.failed + least, self.low)
        if last - first > 4 * self.stride:
            return [first, first + self.stride]
        return [first + (last - first) // 3, first + 2 * (last - first) // 3]

    def _try(self, place: int, target: int, stop: NDArray[np.bool_], *, proof_only: bool) -> tuple[int, Dive]:
        """Look for a schedule of a makespan, or for a proof that there is none."""
        again = self.round > 0 or place > 0
        pace = Pace(
            first=(150 if proof_only else 60) * (self.round + 1),
            later=15 + 5 * self.round,
            share=0.05 / (1.0 + 0.5 * self.round),
            noise=0.1 if again else 0.0,
            most_steps=0 if proof_only else FIRST * len(self.task_of) << min(self.round, 8),
        )
        rooms = np.full(self.fleet.size, target, dtype=np.int64)
        per_room = self.fleet.prices / float(self.low) * float(self.prices.sum())
        seed = self.seed * 1000 + self.round * THREADS + place
        return target, self.assignment.dive(rooms, self.prices, per_room, pace, seed, stop)

    def take_bins(self, bins: Integers) -> None:
        """Keep a schedule, if it is shorter than the best one."""
        items = np.arange(len(bins))
        loads = np.bincount(bins, weights=self.assignment.sizes[bins, items].astype(float), minlength=self.fleet.size)
        if loads.max() < self.high:
            self.high = int(loads.max())
            counts = np.zeros(self.fleet.lengths.shape, dtype=np.int64)
            np.add.at(counts, (self.task_of, bins), 1)
            self.found = schedule_of(self.fleet, counts)

    def all_leaves(self) -> list[Leaf]:
        """Return makespans that cover all, with what proves the bound of each; none where nothing was proved."""
        if self.proof is None:
            return []
        target, whole = self.proof
        tasks = np.bincount(self.task_of, weights=whole.astype(float)) / np.bincount(self.task_of)
        free = np.zeros(len(self.bag.machine_types))
        end, bound = rounded_down(target * self.unit), -self.low * self.unit
        cells = target if self.is_whole else MOST_CELLS  # so that times are rounded no more than here
        packed = Proof(Prices(tasks, free, 0.0), 0.0, end, (Fraction(0), Fraction(0)), cells)
        plain = Proof(Prices(np.zeros_like(tasks), free, 0.0), end, math.inf, (Fraction(0), Fraction(0)))
        return [Leaf(0.0, end, bound, 2, packed), Leaf(end, math.inf, bound, 0, plain)]


def _all(begun: list[Future[Answer]], stop: NDArray[np.bool_], cancel: CancelToken) -> list[Answer]:
    """Return all answers; when the time is up, what is known by then."""
    while wait(begun, timeout=LOOK).not_done:
        stop[0] = cancel.is_cut()
    return [each.result() for each in begun]


def target_search(bag: Bag, relaxed: Relaxation, bound: float, schedule: Schedule | None, seed: int) -> TargetSearch:
    """Return a search from the bound and the schedule that are known."""
    fleet = fleet_of(bag, relaxed.machine_prices)
    table = np.array([[math.inf if each is None else each for each in row] for row in bag.seconds])
    seconds = np.take_along_axis(table, fleet.columns, axis=1)
    unit = prover_of(bag).whole_seconds(TINY)
    is_whole = unit > TINY and Fraction(bound) / unit < MOST_UNITS
    if not is_whole:
        unit = Fraction(bound) / (1 << GRID_BITS)
    sizes = np.full(seconds.shape, NEVER, dtype=np.int64)
    can_run = np.isfinite(seconds)
    values, where = np.unique(seconds[can_run], return_inverse=True)
    sizes[can_run] = np.array([min(NEVER, int(Fraction(each) / unit)) for each in values.tolist()])[where]
    counts = np.array([task.count for task in bag.task_types])
    task_of = np.repeat(np.arange(len(counts)), counts)
    least = np.where(can_run, fleet.prices * np.where(can_run, seconds, 0.0), np.inf).min(axis=1)  # inf x 0 is not inf
    search = TargetSearch(
        bag,
        fleet,
        unit,
        is_whole,
        Assignment(np.ascontiguousarray(sizes[task_of].T)),
        task_of,
        least[task_of] / least[task_of].sum(),
        math.ceil(Fraction(bound) / unit),
        seed=seed,
    )
    if schedule is not None:
        placed = counts_of(fleet, schedule)
        order = np.concatenate([np.repeat(np.arange(fleet.size), row) for row in placed])
        search.take_bins(order)
    return search
