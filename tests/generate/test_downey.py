from __future__ import annotations

import numpy as np
import pytest

from lpsched.generate.clusters import speed_up


@pytest.mark.parametrize(
    ("sigma", "cores", "faster"),
    [
        # A = 10. No variation: as fast as there are cores, up to 10.
        (0.0, 1, 1.0),
        (0.0, 7, 7.0),
        (0.0, 10, 10.0),
        (0.0, 15, 10.0),
        # 10 n / (10 + 0.25 (n - 1)) up to n = 10, then 10 n / (0.5 x 9.5 + 0.75 n) up to n = 19.
        (0.5, 1, 1.0),
        (0.5, 5, 50 / 11),
        (0.5, 10, 100 / 12.25),
        (0.5, 15, 150 / 16),
        (0.5, 19, 10.0),
        (0.5, 500, 10.0),
        # 10 n 5 / (4 (n + 9) + 10) up to n = 10 + 40 - 4 = 46.
        (4.0, 1, 1.0),
        (4.0, 10, 500 / 86),
        (4.0, 40, 2000 / 206),
        (4.0, 46, 10.0),
        (4.0, 47, 10.0),
    ],
)
def test_speed_up_at_points_worked_by_hand(sigma, cores, faster):
    assert speed_up(np.array([cores]), 10.0, sigma).item() == pytest.approx(faster, rel=1e-14)


def test_both_regimes_agree_at_a_variation_of_1():
    # A = 8: 64 / (8 + 3.5) on 8 cores, 96 / (7.5 + 6) on 12; above 1: 128 / 23 and 192 / 27.
    cores = np.array([1, 8, 12, 15, 16])
    expected = [1.0, 64 / 11.5, 96 / 13.5, 8.0, 8.0]
    assert speed_up(cores, 8.0, 1.0) == pytest.approx(expected, rel=1e-14)
    assert speed_up(cores, 8.0, np.nextafter(1.0, 2.0)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("sigma", [0.0, 0.3, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("parallelism", [1.0, 2.0, 7.3, 300.0])
def test_more_cores_are_never_slower_and_never_faster_than_the_parallelism_or_the_cores(sigma, parallelism):
    cores = np.arange(1, 5_000)
    faster = speed_up(cores, parallelism, sigma)
    assert faster[0] == 1.0
    assert (np.diff(faster) >= -1e-12 * parallelism).all()
    assert (faster <= np.minimum(cores, parallelism) * (1 + 1e-12)).all()
    assert faster[-1] == parallelism  # the last is beyond 300 + 300 x 10 - 10
