"""Small fleets, and their best makespans by trying everything."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from lpsched.bag.problem import MAKESPAN
from lpsched.bag.recovery.makespan import Fleet, fleet_of
from lpsched.lp.solvers import HighsSolver
from tests.support import simple_bag

if TYPE_CHECKING:
    from lpsched.model.table import Integers


def random_bag(seed, *, types=(1, 5), tasks=3, machines=3, absent=0.2):
    """Return a bag of a few tasks and machines, some of which cannot run some tasks."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(*types)), int(rng.integers(1, 4))
    seconds = rng.integers(1, 30, (rows, columns)).astype(float).tolist()
    for row in seconds:
        kept = rng.integers(columns)
        row[:] = [None if j != kept and rng.random() < absent else cell for j, cell in enumerate(row)]
    fleet = [int(rng.integers(1, machines)) for _ in range(columns)]
    return simple_bag(seconds, [int(rng.integers(1, tasks)) for _ in range(rows)], fleet)


def relaxed(bag):
    return MAKESPAN.relax(bag, HighsSolver())


def laid_out(bag) -> Fleet:
    return fleet_of(bag, relaxed(bag).machine_prices)


def first_fit(fleet: Fleet) -> Integers:
    """Return a bad state: every task on the first machine that can run it."""
    counts = np.zeros(fleet.lengths.shape, dtype=np.int64)
    for i, task in enumerate(fleet.bag.task_types):
        counts[i, np.flatnonzero(np.isfinite(fleet.lengths[i]))[0]] = task.count
    return counts


def least_makespan(fleet: Fleet, among: Integers | None = None) -> float:
    """Try every machine for every task; `among` says which pairs there are."""
    tasks = [i for i, task in enumerate(fleet.bag.task_types) for _ in range(task.count)]
    able = np.isfinite(fleet.lengths) if among is None else among > 0
    places = itertools.product(*(np.flatnonzero(able[i]) for i in tasks))
    best = np.inf
    for place in places:
        loads = np.zeros(fleet.size)
        np.add.at(loads, list(place), fleet.lengths[tasks, list(place)])
        best = min(best, float(loads.max()))
    return best


def is_state(fleet: Fleet, counts: Integers) -> bool:
    """Tell whether all tasks are placed, and only where they can run."""
    totals = [task.count for task in fleet.bag.task_types]
    return bool(
        counts.sum(axis=1).tolist() == totals and counts.min() >= 0 and not counts[~np.isfinite(fleet.lengths)].any()
    )
