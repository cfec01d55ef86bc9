"""Energy and makespan of chromosomes, by hand; the property tests hold them against the verifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lpsched.bag.evolve import BagScorer, bag_scores
from lpsched.errors import InstanceError
from lpsched.evolve.genes import Genes
from tests.support import simple_bag

KERNEL: Any = bag_scores


def genes(machines, columns):
    return Genes(*(np.array(each, dtype=np.int32) for each in (machines, columns, columns)))


def test_energy_is_that_of_the_tasks_and_of_idle_machines_until_the_makespan():
    # 3 tasks of 2 s at 100 W or 5 s at 30 W; 2 machines at 10 W idle, 1 at 40 W, which is more than it draws busy.
    bag = simple_bag([[2.0, 5.0]], [3], [2, 1], [[100.0, 30.0]], [10.0, 40.0])
    scores = BagScorer(bag)(genes([[0, 0, 1], [0, 2, 2], [2, 2, 2]], [[0, 0, 0], [0, 1, 1], [1, 1, 1]]))
    # Loads 4, 2, 0: 600 J busy, 10 x 2 + 40 x 4 idle. Loads 2, 0, 10: 200 + 300 J busy, 10 x (8 + 10) idle.
    # Loads 0, 0, 15: 450 J busy, 10 x 30 idle.
    assert scores.tolist() == [[780.0, 4.0], [680.0, 10.0], [750.0, 15.0]]


def test_machines_that_can_never_work_are_on_all_the_same():
    # A million machines at 1 W wait for 3 s; one of them works at 5 W.
    bag = simple_bag([[3.0]], [1], [10**6], [[5.0]], [1.0])
    assert BagScorer(bag)(genes([[0]], [[0]])).tolist() == [[15.0 + 3.0 * (10**6 - 1), 3.0]]


def test_what_idle_machines_would_draw_does_not_cancel_what_tasks_do():
    # One machine, always busy: 10 tasks of 0.1 s at a millionth of a watt, though it draws 10^9 W when idle.
    bag = simple_bag([[0.1]], [10], [1], [[1e-6]], [1e9])
    scores = BagScorer(bag)(genes([[0] * 10], [[0] * 10]))
    assert scores[0, 0] == pytest.approx(1e-6, rel=1e-14)


@pytest.mark.slow
def test_the_compiled_loop_adds_as_the_plain_one():
    rng = np.random.default_rng(0)
    bag = simple_bag(rng.random((3, 4)).tolist(), [9, 1, 7], [2, 1, 3, 1], rng.random((3, 4)).tolist(), [0.3] * 4)
    columns = rng.integers(0, 4, size=(6, 17)).astype(np.int32)
    machines = np.array([0, 2, 3, 6], dtype=np.int32)[columns]
    scorer = BagScorer(bag)
    assert (KERNEL.py_func(scorer.tables, machines, columns) == KERNEL(scorer.tables, machines, columns)).all()


def test_any_layout_of_the_genes_is_scored():
    bag = simple_bag([[2.0, 5.0]], [3], [1, 1], [[100.0, 30.0]])
    some = genes([[0, 0, 1], [0, 1, 1]], [[0, 0, 1], [0, 1, 1]])
    odd = Genes(*(np.asfortranarray(each) for each in (some.machines, some.columns, some.orders)))
    scorer = BagScorer(bag)
    assert (scorer(odd) == scorer(some)).all()
    assert len(KERNEL.signatures) == 1


def test_a_bag_without_watts_has_no_energy():
    with pytest.raises(InstanceError, match="watts: got none, expected the watts of each pair, for energy; add them"):
        BagScorer(simple_bag([[1.0]], [1], [1]))
