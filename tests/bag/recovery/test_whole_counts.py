"""Whole counts by machine types: against all counts of small bags, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lpsched.bag.model import Terms
from lpsched.bag.parts import Site
from lpsched.bag.problem import build_problem
from lpsched.bag.recovery.tighten import WholeCounts
from lpsched.bag.search.makespan_intervals import scoring_of
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import default_solver
from tests.support import simple_bag

SECONDS = [[3.0, 4.7], [5.1, 2.3], [2.9, 2.1]]
WATTS = [[90.0, 40.0], [60.0, 80.0], [75.0, 50.0]]
TASKS, MACHINES = [11, 9, 8], [2, 1]


def problem(objective, **site):
    bag = simple_bag(SECONDS, TASKS, MACHINES, WATTS, [10.0, 20.0]).model_copy(update={"site": Site(**site)})
    return build_problem(bag, Terms(objective=objective), default_solver())


def least(objective, deadline=np.inf, headroom=np.inf):
    """Return the least cost of all counts, by hand: loads spread evenly over the machines of a type."""
    best = np.inf
    for on_first in itertools.product(*(range(count + 1) for count in TASKS)):
        counts = [(one, count - one) for one, count in zip(on_first, TASKS, strict=True)]
        t = max(sum(counts[i][j] * SECONDS[i][j] for i in range(3)) / MACHINES[j] for j in range(2))
        above = sum(counts[i][j] * SECONDS[i][j] * (WATTS[i][j] - (10.0, 20.0)[j]) for i in range(3) for j in range(2))
        t = max(t, above / headroom)
        if t <= deadline:
            best = min(best, t if objective == "makespan" else above + 40.0 * t)
    return best


def cost(asked, counts):
    """Return what counts cost, as the program counts it."""
    items = scoring_of(asked).items
    loads = (counts * items.seconds).sum(axis=0) / items.machines
    joules = 0.0 if items.joules is None else float((counts * items.joules).sum())
    return float((counts * items.costs).sum()) + items.per_second * items.end(float(loads.max()), joules)


@pytest.mark.parametrize(
    ("objective", "site", "limits"),
    [
        ("makespan", {}, {}),
        ("energy", {}, {}),
        ("energy", {"deadline_seconds": 26.0}, {"deadline": 26.0}),
        ("makespan", {"average_power_cap_watts": 150.0}, {"headroom": 110.0}),
    ],
)
def test_the_best_counts_of_all(objective, site, limits):
    asked = problem(objective, **site)
    items = scoring_of(asked).items
    start = np.zeros((3, 2), dtype=np.int64)
    start[:, 0] = TASKS  # far too much for one machine type: a poor start
    program = WholeCounts(items, default_solver(), start, seconds=30.0)
    counts = program.best(np.zeros(2), CancelToken())
    assert counts is not None
    assert counts.sum(axis=1).tolist() == TASKS
    assert cost(asked, counts) == pytest.approx(least(objective, **limits), rel=1e-5)


def test_slack_is_kept_free():
    asked = problem("energy", deadline_seconds=29.0)
    items = scoring_of(asked).items
    start = np.zeros((3, 2), dtype=np.int64)
    start[:, 0] = TASKS
    counts = WholeCounts(items, default_solver(), start, seconds=29.0).best(np.array([0.1, 0.0]), CancelToken())
    loads = (counts * items.seconds).sum(axis=0) / items.machines
    assert loads[0] <= 0.9 * 29.0 + 1e-6
    assert loads[1] <= 29.0 + 1e-6


def test_no_counts_where_none_fit():
    asked = problem("energy", deadline_seconds=15.0)  # the least makespan is above 20 s
    assert least("makespan") > 20.0
    items = scoring_of(asked).items
    start = np.zeros((3, 2), dtype=np.int64)
    start[:, 0] = TASKS
    assert WholeCounts(items, default_solver(), start, seconds=15.0).best(np.zeros(2), CancelToken()) is None


def test_of_many_pairs_those_that_the_linear_program_uses_or_nearly_uses():
    # Each task type has one machine type that suits it, and four on which it takes a hundred times as long.
    own = np.arange(40) % 5
    seconds = np.where(own[:, np.newaxis] == np.arange(5), 1.0, 100.0)
    bag = simple_bag(seconds.tolist(), [10] * 40, [2] * 5)
    items = scoring_of(build_problem(bag, Terms(objective="makespan"), default_solver())).items
    start = np.zeros((40, 5), dtype=np.int64)
    start[:, 0] = 10
    pairs = WholeCounts(items, default_solver(), start, seconds=40.0).pairs
    chosen = set(zip(*pairs.tolist(), strict=True))
    assert chosen >= {(i, int(own[i])) for i in range(40)} | {(i, 0) for i in range(40)}
    assert len(chosen) < 200
