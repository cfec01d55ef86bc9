from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from lpsched.measure.bench import Repeats
from lpsched.measure.evidence import Spread
from lpsched.measure.summary import enough, is_narrow, spread_of
from lpsched.model.provenance import student

times = st.lists(st.integers(1, 10**6).map(lambda number: number / 1000), min_size=2, max_size=12)
cheap = settings(max_examples=50, deadline=None)


@pytest.mark.parametrize(
    ("confidence", "degrees", "expected"),
    [
        # tables of the t distribution, two-sided
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 3, 3.182),
        (0.99, 4, 4.604),
        (0.90, 8, 1.860),
        (0.95, 8, 2.306),
        (0.99, 30, 2.750),
        (0.95, 120, 1.980),
    ],
)
def test_students_quantiles_are_those_of_the_tables(confidence, degrees, expected):
    assert student(confidence, degrees) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("degrees", [*range(1, 12), 99, 100, 1001])
def test_students_quantiles_agree_with_another_program(confidence, degrees):
    assert student(confidence, degrees) == pytest.approx(stdtrit(degrees, (1 + confidence) / 2), rel=1e-11)


def test_mean_deviation_and_interval_by_hand():
    # 8, 10, 12: mean 10, deviation sqrt(8 / 2) = 2; t(0.95, 2) = 0.95 sqrt(2 / (1 - 0.95^2))
    half = 0.95 * math.sqrt(2 / (1 - 0.95**2)) * 2 / math.sqrt(3)
    found = spread_of([12.0, 8.0, 10.0], 0.95)
    assert (found.mean, found.deviation, found.count) == (10.0, 2.0, 3)
    assert (found.low, found.high) == pytest.approx((10 - half, 10 + half), rel=1e-12)


def test_one_value_has_no_deviation_and_no_interval():
    assert spread_of([3.5], 0.95) == Spread(3.5, 1)


@given(values=times)
@cheap
def test_mean_and_deviation_are_exact_to_the_last_digit(values):
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    variance = sum((each - mean) ** 2 for each in exact) / (len(exact) - 1)
    found = spread_of(values, 0.95)
    assert found.mean == float(mean)
    assert found.deviation == pytest.approx(math.sqrt(variance), rel=1e-15)


@given(value=st.floats(1e-6, 1e6), count=st.integers(2, 30))
@cheap
def test_equal_values_have_an_interval_of_width_zero(value, count):
    assert spread_of([value] * count, 0.95) == Spread(value, count, 0.0, value, value)


@given(values=times, data=st.data())
@cheap
def test_the_order_of_values_does_not_matter(values, data):
    assert spread_of(data.draw(st.permutations(values)), 0.9) == spread_of(values, 0.9)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30, 2.0**60])
def test_a_power_of_two_as_unit_changes_nothing_else(scale):
    values = [1.1, 1.3, 1.2, 1.9]
    plain, scaled = spread_of(values, 0.95), spread_of([scale * value for value in values], 0.95)
    assert (scaled.mean, scaled.deviation) == (scale * plain.mean, scale * plain.deviation)
    assert (scaled.low, scaled.high) == (scale * plain.low, scale * plain.high)


def test_a_small_spread_on_a_large_mean_is_not_lost():
    # 1e9 and 1e9 + 2: deviation sqrt(2), which squares of 1e18 would drown
    assert spread_of([1e9, 1e9 + 2, 1e9, 1e9 + 2], 0.95).deviation == pytest.approx(math.sqrt(4 / 3))


def test_more_runs_of_the_same_values_narrow_the_interval():
    widths = []
    for times_over in (1, 2, 4, 8):
        found = spread_of([1.0, 2.0] * times_over, 0.95)
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4


# Two runs of 10 - d and 10 + d: deviation d sqrt(2), t(0.5, 1) = 1, so half the width is d.
HALF = Repeats(least=2, most=5, within=0.1, confidence=0.5)


@pytest.mark.parametrize(("d", "is_enough"), [(0.5, True), (0.999, True), (1.001, False), (2.0, False)])
def test_enough_is_when_half_the_width_is_within_the_share_of_the_mean(d, is_enough):
    assert enough([10 - d, 10 + d], HALF) is is_enough


def test_fewer_than_the_least_are_never_enough_and_the_most_always_are():
    careful = Repeats(least=3, most=5, within=0.05)
    assert not enough([], careful)
    assert not enough([1.0, 1.0], careful)
    assert enough([1.0, 1.0, 1.0], careful)
    assert not enough([1.0, 9.0, 1.0, 9.0], careful)
    assert enough([1.0, 9.0, 1.0, 9.0, 1.0], careful)


def test_how_narrow_a_single_run_is_nobody_knows():
    assert not is_narrow(spread_of([1.0], 0.95), Repeats())


@given(values=times, power=st.integers(-30, 30))
@cheap
def test_whether_it_is_enough_does_not_depend_on_the_unit(values, power):
    repeats = Repeats(least=2, most=100, within=0.5)
    assert enough([value * 2.0**power for value in values], repeats) is enough(values, repeats)
