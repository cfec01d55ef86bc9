"""Two machines at a time, against a falling target.

The aim is a makespan T a little below the best so far. By the identity of `assignment.py`, loads of at most T
need cheap pairs, so this is minimised, with a penalty v_h for each machine:

    sum_h y_h (load_h + v_h max(0, load_h - T)).

A step takes a machine a, mostly one that is over T, and another one b. Of their tasks, those whose move to
the other machine costs least may move. All trade-offs of the two loads come from a dynamic program over these
tasks: with f(g) the least load of b where a has a load of about g,

    f(g)  <-  min( f(g - l_qa),  f(g) + l_qb )      for each task q: on a, or on b.

Loads of a are told apart only by the cell of a grid; the exact load rides along, so the grid loses
trade-offs and never tells a wrong one. The best trade-off is taken, with a little noise.

Penalties start small and grow while a machine stays over T: who pays for even loads with dear pairs too early
gets stuck. When no machine is over, T falls; after many steps in vain, the search goes back to the best
state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers, Mask
    from lpsched.recovery.assignment import Fleet
    from lpsched.watch import Watch

ITEMS: Final = 24  # tasks that may move in a step
ALIKE: Final = 6  # of one type, at most
CELLS: Final = 3000
OFTEN: Final = 0.7  # how often a machine over the target comes first
DEAREST: Final = 4e-3  # what a move may cost, even where T - 1 is less; the bound is 1
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
    """A search that can be run again and again: its present state and its best one, target and penalties."""

    def __init__(self, fleet: Fleet, counts: Integers, rng: np.random.Generator) -> None:
        self.fleet, self.rng = fleet, rng
        self.prices = np.maximum(fleet.prices, LEAST_PRICE / fleet.size)
        self.take(counts)
        self.target: float = min(FIRST_TARGET, self.target)

    def take(self, counts: Integers) -> None:
        """Go on from a state that somebody else found."""
        self.best, self.least = counts, self.fleet.makespan(counts)
        self._start_again()

    def run(self, watch: Watch) -> Integers:
        """Search until the watch is over, or the bound is reached; return the best state so far."""
        while not (watch.is_over() or self.least <= 1 + NEAR or self.fleet.size == 1):
            self._step()
            watch.count(STEP)
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
        a, b = self._two()
        self._share_out(a, b)
        self._penalise(a, b)
        if self.loads.max() < self.least - NEAR:
            self.best, self.least = self.counts.copy(), float(self.loads.max())
            self.steps_in_vain = 0

    def _penalise(self, a: int, b: int) -> None:
        """Raise the penalty of a machine over the target; lower that of a if it is not."""
        if self.loads[a] <= self.target:
            self.penalties[a] = max(self.penalties[a] * DOWN, PENALTY)
        for h in (a, b):
            if self.loads[h] > self.target:
                self.penalties[h] = min(self.penalties[h] * UP, MOST_PENALTY)

    def _two(self) -> tuple[int, int]:
        """Draw a machine, mostly one over the target, and another one."""
        over = self.prices * np.maximum(self.loads - self.target, 0.0)
        a = int(self.rng.integers(self.fleet.size))
        if self.rng.random() < OFTEN:
            drawn = np.searchsorted(np.cumsum(over), self.rng.random() * over.sum(), side="right")
            a = min(int(drawn), self.fleet.size - 1)
        b = int(self.rng.integers(self.fleet.size - 1))
        return a, b + (b >= a)

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
        dearer = self.fleet.reduced_costs[tasks, there] - self.fleet.reduced_costs[tasks, here]
        cheap = np.flatnonzero(dearer < max(DEAREST, self.target - 1))
        noise = 0.05 * DEAREST * self.rng.random(len(cheap))
        cheap = cheap[np.argsort(dearer[cheap] + noise)][:ITEMS]
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
    """Trace back which tasks are on a where its load is in this cell."""
    on_a = np.zeros(len(cells), dtype=bool)
    for q in range(len(cells) - 1, -1, -1):
        if taken[q, cell]:
            on_a[q] = True
            cell -= int(cells[q])
    return on_a
