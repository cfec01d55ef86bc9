"""Rank 1 is what no other point beats, and the hypervolume is pymoo's."""

from __future__ import annotations

import numpy as np
import pytest
from pymoo.indicators.hv import HV

from lpsched.evolve.fronts import hypervolume, rank_one


def drawn(seed):
    """Return points on a small grid, so that ties and duplicates are common."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 7, size=(int(rng.integers(1, 30)), 2)).astype(float)


@pytest.mark.parametrize("seed", range(30))
def test_rank_one_is_what_nothing_beats_each_once_by_rising_energy(seed):
    scores = drawn(seed)
    unbeaten = {
        tuple(point)
        for point in scores.tolist()
        if not any((other <= point).all() and (other < point).any() for other in scores)
    }
    assert [tuple(point) for point in scores[rank_one(scores)].tolist()] == sorted(unbeaten)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("reference", [(7.0, 7.0), (4.0, 5.0), (0.5, 9.0)])
def test_the_hypervolume_is_that_of_pymoo(seed, reference):
    scores = drawn(seed)
    assert hypervolume(scores, reference) == pytest.approx(HV(ref_point=np.array(reference))(scores))


def test_the_hypervolume_of_minus_utilities_is_that_of_pymoo():
    scores = np.random.default_rng(0).normal(size=(50, 2)) * (1e9, 300.0) - (0.0, 1000.0)
    reference = (5e8, -900.0)
    assert hypervolume(scores, reference) == pytest.approx(HV(ref_point=np.array(reference))(scores))


def test_points_beyond_the_reference_have_no_hypervolume():
    assert hypervolume(np.array([[5.0, 1.0], [1.0, 5.0]]), (5.0, 5.0)) == 0.0
