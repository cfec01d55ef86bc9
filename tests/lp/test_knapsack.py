from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.lp.knapsack import Grid, good_fillings, surely_most

AMOUNTS = st.integers(1, 9).map(float) | st.floats(0.01, 9.0)


@st.composite
def knapsacks(draw):
    width = draw(st.integers(1, 4))
    sizes, values = (draw(st.lists(AMOUNTS, min_size=width, max_size=width)) for _ in range(2))
    limits = draw(st.lists(st.integers(0, 3), min_size=width, max_size=width))
    return sizes, values, limits, draw(AMOUNTS)


def best_of(sizes, values, limits, capacity) -> Fraction:
    """Return the best value of all fillings, exactly."""
    best = Fraction(0)
    for counts in product(*(range(limit + 1) for limit in limits)):
        taken = sum(Fraction(size) * count for size, count in zip(sizes, counts, strict=True))
        if taken <= Fraction(capacity):
            worth = sum(Fraction(value) * count for value, count in zip(values, counts, strict=True))
            best = max(best, Fraction(worth))
    return best


def proved(sizes, values, limits, capacity, *, cells) -> Fraction:
    return surely_most(np.array(sizes), np.array(values), np.array(limits), capacity, cells)


@settings(deadline=None, max_examples=100)
@given(knapsacks(), st.sampled_from([1, 2, 7, 100, 5000]))
def test_no_filling_is_worth_more_than_what_is_proved_on_any_grid(knapsack, cells):
    assert proved(*knapsack, cells=cells) >= best_of(*knapsack)


@settings(deadline=None, max_examples=100)
@given(knapsacks())
def test_whole_sizes_on_a_grid_of_their_own_are_proved_to_the_last_digits(knapsack):
    sizes, values, limits, _ = knapsack
    sizes = [float(round(size) + 1) for size in sizes]
    best = best_of(sizes, values, limits, 12.0)
    # 12 cells of size 1 round nothing; values lose at most 2^-28 of the best total.
    assert best <= proved(sizes, values, limits, 12.0, cells=12) <= best * (1 + Fraction(1, 10**6))


@settings(deadline=None, max_examples=80)
@given(knapsacks(), st.sampled_from([50, 5000]))
def test_fillings_fit_keep_the_limits_and_are_worth_what_the_table_says(knapsack, cells):
    sizes, values, limits, capacity = knapsack
    filled = good_fillings(np.array(sizes), np.array(values), np.array(limits), capacity, Grid(cells, wanted=3))
    for counts in filled.counts:
        assert np.all((counts >= 0) & (counts <= limits))
        assert float(counts @ np.array(sizes)) <= capacity
        assert float(counts @ np.array(values)) <= filled.most * (1 + 1e-9)
    assert filled.most >= float(best_of(*knapsack)) * (1 - 1e-9)
    assert filled.counts or filled.most == 0


def test_a_filling_that_fits_only_on_the_grid_comes_along_when_asked_for():
    # Two items of 0.6 are one cell each on a grid of 2 x 0.5, so both fit there, but not into 1; one does.
    arguments = np.array([0.6, 0.6]), np.array([1.0, 0.9]), np.array([1, 1]), 1.0
    overfull = good_fillings(*arguments, Grid(2, overfull=True)).counts
    assert [each.tolist() for each in overfull] == [[1, 1], [1, 0]]
    assert [each.tolist() for each in good_fillings(*arguments, Grid(2)).counts] == [[1, 0]]


def test_an_item_that_another_can_stand_in_for_changes_nothing():
    sizes, values = np.array([1.0, 2.0]), np.array([1.0, 0.5])
    alone = good_fillings(sizes[:1], values[:1], np.array([5]), 4.0, Grid(100))
    both = good_fillings(sizes, values, np.array([5, 5]), 4.0, Grid(100))
    assert both.most == alone.most
    assert both.counts[0].tolist() == [4, 0]


def test_scarce_items_leave_room_for_worse_ones():
    # One item of 1 worth 1, then items of 2 worth 0.5: 1 + 1 of them in 4.
    assert proved([1.0, 2.0], [1.0, 0.5], [1, 5], 4.0, cells=4) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("sizes", "values", "limits"), [([5.0], [1.0], [3]), ([1.0], [-1.0], [3]), ([1.0], [1.0], [0])]
)
def test_nothing_fits_that_is_too_large_or_worth_nothing_or_not_there(sizes, values, limits):
    assert proved(sizes, values, limits, 4.0, cells=100) == 0
    filled = good_fillings(np.array(sizes), np.array(values), np.array(limits), 4.0, Grid(100))
    assert (filled.most, filled.counts) == (0.0, [])
