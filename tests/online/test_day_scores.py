"""Energy and utility of chromosomes of a day, by hand; the property tests hold them against the verifier."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lpsched.evolve.genes import Genes
from lpsched.online.evolve import DayScorer, day_scores, run_day
from tests.days import decaying, simple_day

KERNEL: Any = day_scores
RUN: Any = run_day


def genes(machines, orders, columns=None):
    return Genes(*(
        np.array(each, dtype=np.int32) for each in (machines, columns or [[0] * len(orders[0])] * len(orders), orders)
    ))  # fmt: skip


def one_machine(*tasks):
    """Return a day with one machine, on which a task takes 10 s at 50 W."""
    return simple_day([[10.0]], [[50.0]], [1], tasks)


def test_tasks_run_by_rising_order_and_not_before_they_arrive():
    day = one_machine((0.0, 0, decaying(8.0, until=15.0)), (2.0, 0, decaying(4.0, until=10.0)))
    # In order: ends at 10 and 20, after 10 and 18 s: 8 + 0. The other way round the machine waits until 2: ends at
    # 12 and 22, after 10 s, which is its deadline, and 22 s: nothing is earned.
    assert DayScorer(day)(genes([[0, 0], [0, 0]], [[0, 1], [1, 0]])).tolist() == [[1000.0, -8.0], [1000.0, 0.0]]
    assert DayScorer(day).starts(genes([[0, 0]], [[1, 0]]).take(0)).tolist() == [12.0, 2.0]


def test_of_equal_orders_the_lower_task_comes_first():
    day = one_machine(*[(0.0, 0, decaying(8.0, until=5.0 + 10.0 * k)) for k in (3, 2, 1)])
    assert DayScorer(day).starts(genes([[0, 0, 0]], [[1, 1, 0]]).take(0)).tolist() == [10.0, 20.0, 0.0]


def test_utility_decays_within_its_interval():
    day = one_machine((5.0, 0, decaying(8.0, 0.1)))
    assert DayScorer(day)(genes([[0]], [[0]]))[0, 1] == pytest.approx(-8.0 * math.exp(-1.0), rel=1e-15)


@pytest.mark.parametrize(("limit", "dropped"), [(None, False), (3.9, False), (4.0, False), (4.1, True)])
def test_a_task_that_would_earn_less_is_dropped_and_takes_neither_time_nor_energy(limit, dropped):
    # The first task earns 4 if it runs; the second earns 8 until 15 s, that is if it need not wait.
    day = one_machine((0.0, 0, decaying(4.0)), (0.0, 0, decaying(8.0, until=15.0)))
    scorer = DayScorer(day, limit)
    some = genes([[0, 0]], [[0, 1]])
    if dropped:
        assert scorer(some).tolist() == [[500.0, -8.0]]
        assert np.isnan(scorer.starts(some.take(0))).tolist() == [True, False]
    elif limit is None:
        assert scorer(some).tolist() == [[1000.0, -4.0]]  # the second runs for nothing
    else:
        assert scorer(some).tolist() == [[500.0, -4.0]]  # the second would earn 0


def test_a_limit_is_part_of_the_name():
    day = one_machine((0.0, 0, decaying(4.0)))
    assert DayScorer(day).name == "energy and utility"
    assert DayScorer(day, 0.5).name == "energy and utility, below 0.5 dropped"


@pytest.mark.slow
def test_the_compiled_loops_run_the_day_as_the_plain_ones():
    rng = np.random.default_rng(0)
    arrivals = np.sort(rng.random(12) * 30.0).tolist()
    tasks = [(arrival, k % 2, decaying(8.0, 0.1 * k, until=40.0)) for k, arrival in enumerate(arrivals)]
    day = simple_day([[10.0, 4.0], [5.0, 7.0]], [[50.0, 99.0], [20.0, 70.0]], [2, 1], tasks)
    columns = rng.integers(0, 2, size=(5, 12)).astype(np.int32)
    machines, orders = 2 * columns, rng.integers(0, 12, size=(5, 12)).astype(np.int32)
    scorer = DayScorer(day, 0.5)
    found = scorer(Genes(machines, columns, orders))
    plain = KERNEL.py_func(scorer.tables, machines, columns, orders, 0.5)
    assert np.allclose(found, plain, rtol=1e-14, atol=0.0)
    starts = np.empty(12)
    RUN.py_func(scorer.tables, machines[0], columns[0], orders[0], 0.5, starts)
    assert np.array_equal(starts, scorer.starts(Genes(machines, columns, orders).take(0)), equal_nan=True)
