"""Chromosomes of tasks: what is drawn, what crossover swaps, what mutation changes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from lpsched.evolve.genes import Genes, crossover, fill, fits, mutate, mutated, pairs_of, parents, random_genes

PLAIN: Any = fill, mutate

# Two task types, machine types of 2, 1 and 3 machines with 1, 3 and 1 P-states. Type 0 runs on machines 0 and 1,
# and on machine 2 in its P-states 0 and 2; type 1 only on machines 3 to 5.
CAN_RUN = np.array([[True, True, False, True, False], [False, False, False, False, True]])
PAIRS = pairs_of(np.array([0, 0, 0, 1]), [2, 1, 3], np.array([0, 1, 1, 1, 2]), CAN_RUN)


def rng(seed=0):
    return np.random.default_rng(seed)


def numbers(*cells):
    return np.array(cells, dtype=np.int32)


def test_all_machines_that_can_run_a_task_are_alike_likely_and_so_are_their_p_states():
    genes = random_genes(PAIRS, 6000, rng())
    drawn = Counter(zip(genes.machines[:, 1].tolist(), genes.columns[:, 1].tolist(), strict=True))
    # Machines 0, 1 and 2 a third each, that is 2000 of 6000; machine 2 halves it between columns 1 and 3.
    assert set(drawn) == {(0, 0), (1, 0), (2, 1), (2, 3)}
    for pair, expected in {(0, 0): 2000, (1, 0): 2000, (2, 1): 1000, (2, 3): 1000}.items():
        assert abs(drawn[pair] - expected) < 5 * expected**0.5  # five standard deviations
    only = Counter(zip(genes.machines[:, 3].tolist(), genes.columns[:, 3].tolist(), strict=True))
    assert set(only) == {(3, 4), (4, 4), (5, 4)}
    assert min(only.values()) > 1800


def test_a_random_order_is_a_permutation_and_all_are_alike_likely():
    genes = random_genes(PAIRS, 4800, rng())
    drawn = Counter(map(tuple, genes.orders.tolist()))
    assert all(sorted(order) == [0, 1, 2, 3] for order in drawn)
    assert len(drawn) == 24
    assert max(drawn.values()) < 200 + 5 * 200**0.5  # 4800 / 24 = 200
    assert min(drawn.values()) > 200 - 5 * 200**0.5


def test_parents_differ_and_all_couples_are_alike_likely():
    first, second = parents(3, 6000, rng())
    drawn = Counter(zip(first.tolist(), second.tolist(), strict=True))
    assert set(drawn) == {(a, b) for a in range(3) for b in range(3) if a != b}
    assert all(abs(count - 1000) < 5 * 1000**0.5 for count in drawn.values())


def test_crossover_swaps_whole_genes_between_two_places():
    first = Genes(*(np.full((500, 4), k, dtype=np.int32) for k in (1, 2, 3)))
    second = Genes(*(np.full((500, 4), k, dtype=np.int32) for k in (10, 20, 30)))
    children = crossover(first, second, rng())
    assert children.machines.shape == (1000, 4)
    assert (children.columns == 2 * children.machines).all()
    assert (children.orders == 3 * children.machines).all()
    swapped = children.machines[:500] == 10
    assert ((children.machines[500:] == 1) == swapped).all()  # the other child has what this one gave
    # Of 4 x 4 pairs of places, 1 in 16 swaps only the first gene, 2 in 16 only the first two, ...
    drawn = Counter(map(tuple, swapped.tolist()))
    stretches = {tuple(x <= k <= y for k in range(4)) for x in range(4) for y in range(x, 4)}
    assert set(drawn) == stretches
    assert drawn[True, False, False, False] < drawn[True, True, False, False]


def test_mutation_draws_one_gene_anew_and_swaps_two_orders():
    before = random_genes(PAIRS, 400, rng())
    kept = [array.copy() for array in (before.machines, before.columns, before.orders)]
    after = mutated(PAIRS, before, 1.0, rng(1))
    changed = (after.machines != before.machines) | (after.columns != before.columns)
    assert set(changed.sum(axis=1).tolist()) == {0, 1}
    assert changed.sum(axis=0).min() > 20  # every task is met
    reordered = after.orders != before.orders
    assert set(reordered.sum(axis=1).tolist()) == {0, 2}
    assert (np.sort(after.orders, axis=1) == np.arange(4)).all()
    assert fits(PAIRS, after).all()
    for array, was in zip((before.machines, before.columns, before.orders), kept, strict=True):
        assert (array == was).all()  # the parents are left alone


def test_mutation_comes_as_often_as_it_is_told():
    before = random_genes(PAIRS, 4000, rng())
    assert (mutated(PAIRS, before, 0.0, rng()).orders == before.orders).all()
    reordered = (mutated(PAIRS, before, 0.25, rng()).orders != before.orders).any(axis=1)
    # A quarter of 4000 is mutated, and in 3 of 4 cases the other gene is another one: 750.
    assert abs(int(reordered.sum()) - 750) < 5 * 750**0.5


@pytest.mark.slow
def test_the_compiled_loops_draw_what_the_plain_ones_draw():
    compiled_genes, plain_genes = random_genes(PAIRS, 5, rng()), random_genes(PAIRS, 5, rng(1))
    cells = plain_genes.machines, plain_genes.columns, plain_genes.orders
    PLAIN[0].py_func(PAIRS, *cells, rng())
    assert (plain_genes.machines == compiled_genes.machines).all()
    assert (plain_genes.columns == compiled_genes.columns).all()
    assert (plain_genes.orders == compiled_genes.orders).all()
    mutant = mutated(PAIRS, compiled_genes, 0.9, rng(2))
    PLAIN[1].py_func(PAIRS, *cells, 0.9, rng(2))
    assert (plain_genes.machines == mutant.machines).all()
    assert (plain_genes.orders == mutant.orders).all()


@pytest.mark.parametrize(
    ("machine", "column", "order", "sound"),
    [
        (1, 0, 3, True),
        (2, 3, 0, True),
        (2, 2, 0, False),  # cannot run in that P-state
        (0, 1, 0, False),  # a column of another machine type
        (3, 4, 0, False),  # cannot run there
        (-1, 0, 0, False),
        (6, 4, 0, False),
        (0, -1, 0, False),
        (5, 5, 0, False),
        (0, 0, -1, False),
        (0, 0, 4, False),
    ],
)
def test_a_gene_fits_if_its_machine_exists_and_can_run_it(machine, column, order, sound):
    others = numbers(0, 0, 3), numbers(0, 0, 4), numbers(0, 1, 2)
    mine = numbers(machine), numbers(column), numbers(order)
    genes = Genes(*(np.concatenate(each) for each in zip(mine, others, strict=True)))
    assert fits(PAIRS, genes).tolist() == [sound, True, True, True]
