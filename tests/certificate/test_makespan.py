"""The bound is exact, and holds for any prices."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.certificate.makespan import proved_makespan, rounded_down
from lpsched.formulations import makespan
from lpsched.lp.highs import HighsSolver
from lpsched.pipeline import solve
from tests.support import bags, simple_bag


def test_tiny_on_paper():
    # Prices 2 and 1: a scan costs min(2 x 2, 6 x 1) = 4, a print min(3 x 2, 4 x 1) = 4: 48 / (2 + 2) = 12.
    tiny = simple_bag([[2.0, 6.0], [3.0, 4.0]], [6, 6], [1, 2])
    assert proved_makespan(tiny, [2.0, 1.0]) == 12
    # Prices 1 and 1 prove less: 6 x 2 + 6 x 3 = 30 over 3 machines.
    assert proved_makespan(tiny, [1.0, 1.0]) == 10
    # A price of 0 for the slow machines lets everything run there for nothing.
    assert proved_makespan(tiny, [1.0, 0.0]) == 0


def test_the_arithmetic_is_exact():
    third = simple_bag([[0.1]], [3], [7])
    assert proved_makespan(third, [0.3]) == Fraction(3, 7) * Fraction(0.1)


@pytest.mark.parametrize("prices", [[0.0, 0.0], [math.nan, -1.0], [math.inf, -math.inf]])
def test_unsound_prices_prove_nothing(prices):
    assert proved_makespan(simple_bag([[1.0, 2.0]], [3], [1, 1]), prices) == 0


def test_an_unsound_price_counts_as_zero():
    bag = simple_bag([[1.0, None]], [3], [1, 1])
    assert proved_makespan(bag, [1.0, math.nan]) == 3


@given(st.fractions(min_value=0, max_value=10**20))
def test_rounding_down_never_rounds_up(exact):
    rounded = rounded_down(exact)
    assert rounded <= exact < math.nextafter(rounded, math.inf)


@settings(deadline=None, max_examples=50)
@given(bags(most_tasks=30, most_machines=4), st.data())
def test_noise_on_the_prices_weakens_the_bound_and_never_breaks_it(bag, data):
    relaxation = makespan.read_solution(bag, HighsSolver().solve(makespan.compile_lp(bag)))
    best = proved_makespan(bag, relaxation.machine_prices)
    assert float(best) == pytest.approx(relaxation.bound, rel=1e-6)
    noise = data.draw(
        st.lists(st.floats(0, 10), min_size=len(bag.machine_types), max_size=len(bag.machine_types))
    )
    noisy = [price * factor for price, factor in zip(relaxation.machine_prices, noise, strict=True)]
    assert proved_makespan(bag, noisy) <= Fraction(solve(bag).value)
    assert float(proved_makespan(bag, noisy)) <= float(best) * (1 + 1e-6)
