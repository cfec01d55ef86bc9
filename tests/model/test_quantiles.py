from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from lpsched.model.risk import BINS, bin_means


@pytest.mark.parametrize("cov", [0.001, 0.1, 0.3, 1.0, 1.5, 5.0])
def test_bins_are_the_means_of_equally_likely_parts(cov):
    # A second road: between quantiles a and b the mean of a gamma number of shape k is
    # (F_{k+1}(b) - F_{k+1}(a)) / (1 / Q), with F the distribution of shape k + 1.
    shape = 1.0 / cov**2
    edges = stats.gamma.ppf(np.arange(BINS + 1) / BINS, shape, scale=1.0 / shape)
    exact = BINS * np.diff(special.gammainc(shape + 1.0, shape * edges))
    assert bin_means(cov) == pytest.approx(exact, rel=5e-3, abs=1e-9)


@pytest.mark.parametrize("cov", [1e-9, 1e-3, 0.1, 0.7, 1.5, 5.0])
def test_the_mean_of_all_bins_is_one_exactly(cov):
    assert bin_means(cov).mean() == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize(("cov", "lost"), [(0.1, 0.0009), (0.3, 0.0012), (1.0, 0.0044), (1.5, 0.0082), (5.0, 0.065)])
def test_bins_lose_only_the_variance_within_them(cov, lost):
    assert (1.0 - lost) * cov**2 < bin_means(cov).var() < cov**2


def test_bins_rise_and_none_is_negative():
    for cov in (0.01, 0.5, 2.0, 5.0):
        means = bin_means(cov)
        assert means[0] >= 0.0
        assert (np.diff(means) >= 0.0).all()


def test_no_spread_is_certain():
    assert bin_means(0.0).tolist() == [1.0] * BINS
