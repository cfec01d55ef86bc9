from __future__ import annotations

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.lp.soft_prices import descend


def bowl(seed, size=12):
    """Return a strictly convex quadratic function, and its lowest point that is not negative."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix = root @ root.T + np.eye(size)
    lowest = np.maximum(rng.normal(size=size), 0.0)
    # At the lowest point the slope is 0 where the variable is not, and positive where it is: planted.
    slope = np.where(lowest > 0.0, 0.0, rng.uniform(0.1, 2.0, size))
    linear = slope - matrix @ lowest
    return lambda x: (float(0.5 * x @ matrix @ x + linear @ x), matrix @ x + linear), lowest


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_lowest_point_is_found(seed):
    function, lowest = bowl(seed)
    found = descend(function, np.ones(12), steps=500, settled=1e-15, cancel=CancelToken())
    assert found == pytest.approx(lowest, abs=1e-5)


def test_every_point_on_the_way_is_allowed_and_lower():
    function, _ = bowl(1)
    seen = [descend(function, np.ones(12), steps=steps, settled=0.0, cancel=CancelToken()) for steps in range(8)]
    heights = [function(each)[0] for each in seen]
    assert min(each.min() for each in seen) >= 0.0
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] < heights[0]


def test_a_watch_that_is_over_leaves_the_start():
    function, _ = bowl(2)
    assert descend(function, np.ones(12), steps=50, settled=0.0, cancel=CancelToken(0.0)).tolist() == [1.0] * 12


def test_a_lowest_point_stays_where_it_is():
    function, lowest = bowl(3)
    assert descend(function, lowest, steps=50, settled=0.0, cancel=CancelToken()) == pytest.approx(lowest, abs=1e-9)
