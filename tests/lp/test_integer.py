"""Whole points: right on a program that fits on one hand, and none where there is none."""

from __future__ import annotations

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.lp.program import LpBuilder
from lpsched.lp.solvers import whole_point


def knapsack(limit: float = 7.5):
    lp = LpBuilder("knapsack")
    x = lp.variables("x", upper=np.array([3.0, 3.0]))
    lp.objective([(x, np.array([-5.0, -4.0]))])
    lp.at_most("weight", [(x, np.array([2.0, 3.0]))], limit)
    return lp.build()


def test_the_best_whole_point_is_found():
    # 2 x + 3 y <= 7.5: (3, 0) brings 15, (2, 1) brings 14, split tasks would bring 17.
    assert whole_point(knapsack(), cancel=CancelToken(10.0)).tolist() == [3.0, 0.0]


def test_only_marked_variables_are_whole():
    point = whole_point(knapsack(), cancel=CancelToken(10.0), whole=np.array([1.0, 0.0]))
    assert point.tolist() == [3.0, 0.5]


def test_a_start_is_kept_when_there_is_no_time():
    start = np.array([1.0, 1.0])
    found = whole_point(knapsack(), cancel=CancelToken(0.0), start=start)
    assert found is None or knapsack().value(found) <= knapsack().value(start)


def test_no_point_is_none():
    assert whole_point(knapsack(-1.0), cancel=CancelToken(10.0)) is None
