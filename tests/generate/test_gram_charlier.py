from __future__ import annotations

import math

import numpy as np
import pytest

from lpsched.generate.gram_charlier import Moments, gram_charlier, moments


def drawn(wanted, *, floor=0.0, number=100_000, seed=1):
    density = gram_charlier(wanted, floor=floor)
    return density, density.samples(np.random.default_rng(seed), number)


def shape(found):
    return found.skewness, found.kurtosis


INSIDE = [(0.0, 3.0), (0.3, 3.5), (-0.5, 4.0), (1.0, 5.0), (0.0, 7.0)]  # where the expansion is a density
CLIPPED = [(0.0, 2.0), (0.0, 1.5), (0.5, 2.0), (-1.0, 3.0), (1.2, 4.0), (0.687, 1.977)]  # where it is not


@pytest.mark.parametrize(("skewness", "kurtosis"), INSIDE)
def test_the_expansion_itself_is_sampled_where_it_is_a_density(skewness, kurtosis):
    # 20 deviations above the floor, so nothing is cut: the area below z is F(z) in closed form.
    density = gram_charlier(Moments(20.0, 1.0, skewness, kurtosis))
    for z in (-2.5, -1.0, -0.2, 0.0, 0.7, 1.9, 3.0):
        bell = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        below = math.erfc(-z / math.sqrt(2)) / 2
        below -= bell * (skewness / 6 * (z * z - 1) + (kurtosis - 3) / 24 * (z**3 - 3 * z))
        assert np.interp(20.0 + z, density.values, density.areas) == pytest.approx(below, abs=2e-5)


FAR = [(*each, 0.05) for each in INSIDE + CLIPPED]  # from the floor
NEAR = [(*each, 0.3) for each in [(0.0, 3.0), (0.3, 3.5), *CLIPPED]]


@pytest.mark.rotate(4)
@pytest.mark.parametrize(("skewness", "kurtosis", "variation"), FAR + NEAR)
def test_large_samples_have_all_four_moments(skewness, kurtosis, variation):
    wanted = Moments(87.5, 87.5 * variation, skewness, kurtosis)
    density, samples = drawn(wanted)
    assert samples.min() > 0
    for found in (density.kept, moments(samples)):
        assert found.mean == pytest.approx(wanted.mean, rel=1e-4)
        assert found.deviation == pytest.approx(wanted.deviation, rel=1e-3)
        assert shape(found) == pytest.approx(shape(wanted), abs=5e-3)


@pytest.mark.parametrize(
    "wanted",
    [
        Moments(1.0, 0.1, 0.0, 1.0),  # two numbers, equally often: no density comes that near to two points
        Moments(1.0, 0.1, 1.5, 3.25),  # four equal numbers and one larger
        Moments(1.0, 0.1, 2.0, 9.0),  # an exponential's
        Moments(1.0, 0.1, 0.0, 30.0),
        Moments(1.0, 0.8, 0.0, 3.0),  # as much below 0 as above 2
        Moments(1.0, 2.0, 1.5, 3.25),
    ],
)
def test_what_cannot_be_kept_is_told_truly(wanted):
    density, samples = drawn(wanted, floor=0.05)
    found, kept = moments(samples), density.kept
    assert samples.min() >= 0.05
    assert found.mean == pytest.approx(wanted.mean, rel=1e-3)
    assert found.deviation == pytest.approx(kept.deviation, rel=1e-3)
    assert shape(found) == pytest.approx(shape(kept), abs=0.02)
    assert shape(kept) != pytest.approx(shape(wanted), abs=0.05)
    assert kept.deviation <= wanted.deviation * (1 + 1e-9)


def test_the_nearest_shape_is_chosen_where_the_wanted_one_cannot_be():
    # Of two points the kurtosis is 1; of this family it is at least that of phi max(0, -He4): 1.207 (by the
    # integrals of z^2 and z^4 over 0.742 < |z| < 2.334).
    z = np.linspace(0.742, 2.334, 100_001)
    weight = np.exp(-z * z / 2) * np.maximum(0.0, -(z**4) + 6 * z**2 - 3)
    least = (weight * z**4).sum() * weight.sum() / (weight * z**2).sum() ** 2
    kept = gram_charlier(Moments(1.0, 0.1, 0.0, 1.0)).kept
    assert shape(kept) == pytest.approx((0.0, least), abs=2e-3)


def test_clipping_alone_would_miss_the_moments():
    # The reason for the correction: phi max(0, 1 - He4 / 24) has excess -0.56, not -1.
    z = np.linspace(-7, 7, 100_001)
    weight = np.exp(-z * z / 2) * np.maximum(0.0, 1 - (z**4 - 6 * z**2 + 3) / 24)
    variance = (weight * z**2).sum() / weight.sum()
    assert (weight * z**4).sum() / weight.sum() / variance**2 - 3 == pytest.approx(-0.56, abs=0.01)
    assert gram_charlier(Moments(20.0, 1.0, 0.0, 2.0)).kept.kurtosis == pytest.approx(2.0, abs=2e-3)


def test_skewness_mirrors():
    left, right = (gram_charlier(Moments(9.0, 1.0, sign * 0.8, 2.4)).kept for sign in (-1, 1))
    assert left.skewness == pytest.approx(-right.skewness, abs=2e-3)


def test_units_do_not_matter():
    small, large = (gram_charlier(Moments(unit, 0.4 * unit, 0.7, 2.0), floor=0.1 * unit) for unit in (1e-20, 1e25))
    assert small.values * 1e20 == pytest.approx(large.values * 1e-25)
    assert shape(small.kept) == shape(large.kept)


def test_no_spread_gives_the_mean_always():
    density, samples = drawn(Moments(3.0, 0.0), floor=3.0, number=7)
    assert samples.tolist() == [3.0] * 7
    assert density.kept == Moments(3.0, 0.0)


def test_samples_are_one_from_each_part_of_the_area_in_random_order():
    density, samples = drawn(Moments(10.0, 2.0, 0.5, 2.5), number=25)
    areas = np.interp(np.sort(samples), density.values, density.areas)
    assert (areas * 25).astype(int).tolist() == list(range(25))
    assert (np.diff(samples) < 0).any()
    assert len(set(samples.tolist())) == 25


def test_the_same_seed_gives_the_same_samples_and_another_others():
    wanted = Moments(10.0, 2.0, 0.5, 2.5)
    assert drawn(wanted, number=5)[1].tolist() == drawn(wanted, number=5)[1].tolist()
    assert drawn(wanted, number=5, seed=2)[1].tolist() != drawn(wanted, number=5)[1].tolist()


def test_moments_by_hand():
    # 1, 1, 1, 5: mean 2, deviations -1, -1, -1, 3: m2 = 12/4 = 3, m3 = 24/4 = 6, m4 = 84/4 = 21.
    found = moments(np.array([1.0, 1.0, 1.0, 5.0]))
    assert (found.mean, found.deviation) == pytest.approx((2.0, math.sqrt(3)))
    assert shape(found) == pytest.approx((6 / 3**1.5, 21 / 9))


@pytest.mark.parametrize(
    ("values", "mean"), [([0.0, 0.0], 0.0), ([7.0], 7.0), ([0.1, 0.1, 0.1], 0.1), ([1e30, 1e30], 1e30)]
)
def test_equal_numbers_have_no_spread(values, mean):
    assert moments(np.array(values)) == Moments(pytest.approx(mean), 0.0, 0.0, 3.0)


def test_what_is_equal_but_for_rounding_has_no_spread():
    assert 3 * 0.1 != 0.3
    assert moments(np.array([3 * 0.1, 0.3])).deviation == 0


def test_no_value_passes_the_floor_by_rounding():
    for floor in (0.0, 0.3):
        assert gram_charlier(Moments(1.0, 1.1, 1.3, 3.1), floor=floor).values[0] >= floor


def test_moments_of_huge_and_tiny_numbers_are_those_of_ordinary_ones():
    for unit in (1e-30, 1e30):
        found = moments(np.array([1.0, 2.0, 5.0]) * unit)
        assert shape(found) == pytest.approx(shape(moments(np.array([1.0, 2.0, 5.0]))))
