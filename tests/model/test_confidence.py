from __future__ import annotations

import math

import numpy as np
import pytest

from lpsched.model.provenance import FREEDOM, Estimate, estimate_of, student

PRINTED = (  # 97.5 % points, as in any book of tables
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
    *(2.021, 2.000, 1.980),
)


@pytest.mark.parametrize(("freedom", "t"), list(zip(FREEDOM, PRINTED, strict=True)))
def test_the_points_are_those_of_printed_tables(freedom, t):
    assert round(student(0.95, freedom), 3) == t
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
