"""Genitor's operators: parents by rank with a linear bias, cut points, crossover."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.facility.genetic import biased_rank, crossover, cut_points, parents


def test_the_best_rank_is_three_times_as_likely_as_the_worst():
    # The density falls from b = 1.5 at the best to 2 - b = 0.5 at the worst; of 10 ranks the first has the mean density
    # of [0, 0.1], 1.45, so 14.5 % of all draws, the last 5.5 %.
    drawn = Counter(biased_rank(10, u) for u in (np.arange(100_000) + 0.5) / 100_000)
    assert [drawn[rank] / 100_000 for rank in (0, 4, 9)] == pytest.approx([0.145, 0.105, 0.055], abs=1e-4)


@given(st.integers(1, 300), st.floats(0.0, 1.0, exclude_max=True))
def test_every_number_stands_for_a_rank(size, uniform):
    assert 0 <= biased_rank(size, uniform) < size


def test_parents_are_two_different_ranks_and_every_pair_occurs():
    rng = np.random.default_rng(0)
    drawn = {parents(4, rng) for _ in range(1000)}
    assert drawn == {(a, b) for a in range(4) for b in range(4) if a != b}


def test_every_pair_of_cut_points_is_alike_likely():
    # 3 cores have 4 cuts, so 6 pairs x < y; each is drawn about 1,000 times of 6,000 (standard deviation 29).
    rng = np.random.default_rng(0)
    drawn = Counter(cut_points(3, rng) for _ in range(6000))
    assert set(drawn) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    assert all(abs(count - 1000) < 150 for count in drawn.values())


def test_one_core_has_one_pair_of_cut_points():
    assert cut_points(1, np.random.default_rng(0)) == (0, 1)


@given(st.integers(1, 9), st.integers(0, 2**32))
def test_crossover_keeps_all_genes_at_their_cores(cores, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((cores, 2)), rng.random((cores, 2))
    before = first.copy(), second.copy()
    x, y = cut_points(cores, rng)
    one, two = crossover(first, second, x, y)
    for k in range(cores):
        swapped = x <= k < y
        assert one[k].tolist() == (second if swapped else first)[k].tolist()
        assert two[k].tolist() == (first if swapped else second)[k].tolist()
    assert np.array_equal(first, before[0])
    assert np.array_equal(second, before[1])
