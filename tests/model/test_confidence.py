from __future__ import annotations

import math

import numpy as np
import pytest

from lpsched.model.provenance import FREEDOM, STUDENT, Estimate, estimate_of


@pytest.mark.parametrize(("freedom", "t"), list(zip(FREEDOM, STUDENT, strict=True)))
def test_the_table_is_students(freedom, t):
    # The density is (1 + x^2 / f)^(-(f + 1) / 2) times a constant; 95 % of it must lie between -t and t.
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    x = np.linspace(-t, t, 20_001)
    inside = np.trapezoid(constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2), x)
    assert inside == pytest.approx(0.95, abs=1e-4)


def test_an_interval_is_as_wide_as_by_hand():
    # Mean 3, squares 4 + 1 + 0 + 1 + 4 = 10, so s = sqrt(10 / 4); five trials, t = 2.776.
    made = estimate_of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert made.mean == 3.0
    assert made.half_width == pytest.approx(2.776 * math.sqrt(2.5 / 5))


def test_one_trial_has_no_interval_and_equal_ones_have_an_empty_one():
    assert estimate_of([0.7]) == Estimate(0.7)
    assert estimate_of([0.7] * 24) == Estimate(pytest.approx(0.7), pytest.approx(0.0))


@pytest.mark.parametrize(("count", "t"), [(24, 2.069), (31, 2.042), (32, 2.042), (41, 2.021), (1000, 1.980)])
def test_between_rows_the_wider_interval_is_taken(count, t):
    trials = [0.0, 1.0] * (count // 2) + [0.5] * (count % 2)
    made = estimate_of(trials)
    # Squares of 1/4 for each but the odd one, divided by count - 1.
    deviation = math.sqrt((count // 2 * 2) * 0.25 / (count - 1))
    assert made.half_width == pytest.approx(t * deviation / math.sqrt(count))
