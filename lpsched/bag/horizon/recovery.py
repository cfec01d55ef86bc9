"""From prices to a plan: timelines of machines, combined by a program, fixed group by group, and exchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.horizon.relaxation import Prices, full_costs, run_costs
from lpsched.bag.horizon.timelines import Batches, Grid, batches_of, grid_of, longest_path
from lpsched.lp.program import Columns, LpBuilder

if TYPE_CHECKING:
    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.lp.program import Solver
    from lpsched.model.table import Floats, Integers, Mask

NEAR: Final = 0.05
ROUNDS: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """What one machine of type j runs: batches by their numbers, and the grid points at which they begin."""

    j: int
    begins: Integers
    batches: Integers
    counts: Floats  # T
    cost: float  # above that of a machine that runs nothing


class Workshop:
    """Makes timelines of the machines of a bag."""

    def __init__(self, arrays: HorizonArrays, prices: Prices) -> None:
        self.arrays, self.grid = arrays, grid_of(arrays)
        kept = near_best(arrays, prices)
        costs = arrays.joule_costs
        self.batches = [batches_of(arrays, self.grid, j, kept, costs[j]) for j in range(len(arrays.machine_counts))]
        self.types = len(arrays.task_counts)
        self.everywhere = self.grid.points - np.arange(self.grid.points)
        self.work = 0

    def best(self, j: int, values: Floats, limit: Floats | None = None, given: Timeline | None = None) -> Timeline:
        """Return the best timeline at these task values, of at most `limit` tasks; or what to add to a given one."""
        own = self.batches[j]
        left = None if limit is None else limit.copy()
        blocked = np.zeros(self.grid.points, dtype=bool)
        if given is not None:
            self._block(blocked, own, given.begins, given.batches)
        begins: list[Integers] = [] if given is None else [given.begins]
        chosen: list[Integers] = [] if given is None else [given.batches]
        usable = np.ones(len(own.tasks), dtype=bool)
        for _ in range(ROUNDS if limit is not None else 1):
            if left is not None:
                usable = own.counts <= left[own.tasks]
            kept = np.flatnonzero(usable)
            if not len(kept):
                break
            room = self.everywhere if not blocked.any() else _room(blocked)
            gains = (values[own.tasks] * own.counts)[kept]
            self.work += 1
            _, at, which = longest_path(own.costs[:, kept] if len(kept) < len(usable) else own.costs, own.spans[kept], gains, room)
            which = kept[which]
            if not len(at):
                break
            cut = False
            if left is not None:
                earned = (values[own.tasks[which]] * own.counts[which] - own.costs[at, which]) / own.counts[which]
                fits = np.zeros(len(at), dtype=bool)
                for place in np.argsort(-earned, kind="stable").tolist():
                    i, count = own.tasks[which[place]], own.counts[which[place]]
                    if left[i] >= count:
                        left[i] -= count
                        fits[place] = True
                    else:
                        cut = True
                at, which = at[fits], which[fits]
            begins.append(at)
            chosen.append(which)
            self._block(blocked, own, at, which)
            if not cut:
                break
        if not begins:
            return self.timeline(j, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        at, which = np.concatenate(begins), np.concatenate(chosen)
        order = np.argsort(at, kind="stable")
        return self.timeline(j, at[order], which[order])

    def timeline(self, j: int, begins: Integers, batches: Integers) -> Timeline:
        own = self.batches[j]
        counts = np.bincount(own.tasks[batches], weights=own.counts[batches], minlength=self.types).astype(float)
        return Timeline(j, begins, batches, counts, float(own.costs[begins, batches].sum()))

    def _block(self, blocked: Mask, own: Batches, begins: Integers, batches: Integers) -> None:
        for begin, span in zip(begins.tolist(), own.spans[batches].tolist(), strict=True):
            blocked[begin : begin + span] = True


def _room(blocked: Mask) -> Integers:
    """Return how many free steps there are from each point on."""
    points = len(blocked)
    following = np.where(blocked, np.arange(points), points)
    following = np.minimum.accumulate(following[::-1])[::-1]
    return following - np.arange(points)


def near_best(arrays: HorizonArrays, prices: Prices) -> Mask:
    """Return the pairs whose cheapest run is nearly the cheapest of its task type."""
    found = run_costs(arrays, prices)
    least = found.least(len(arrays.task_counts))[found.tasks]
    typical = np.abs(least) + np.abs(arrays.joule_costs).mean() * arrays.seconds[found.tasks, found.modes] * arrays.watts[found.tasks, found.modes]
    near = found.costs.min(axis=1) <= least + NEAR * typical
    kept = np.zeros(arrays.can_run.shape, dtype=bool)
    kept[found.tasks[near], found.modes[near]] = True
    return kept
