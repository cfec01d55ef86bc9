"""The gain of a node, against all its patterns written out."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.certificate.boxes import NodeGains
from lpsched.model.fixed_point import ONE, fixed
from tests.property.tiny_facilities import patterns, rates, tiny_facility, watts


@pytest.mark.parametrize("seed", range(20))
def test_the_gain_of_a_node_is_that_of_its_best_pattern(seed):
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng)
    task_values = rng.exponential(1.0, len(facility.task_types))
    for j in set(facility.nodes):
        gains = NodeGains(facility, j)
        lines = gains.lines([fixed(float(each)) for each in task_values])
        prices = [0.05, -0.02, 0.0, 0.01, 0.01]
        for price, found in zip(prices, gains.most(lines, [fixed(each) for each in prices]), strict=True):
            best = max(
                task_values @ rates(facility, each) - price * watts(facility, each) for each in patterns(facility, j)
            )
            assert found / ONE == pytest.approx(best, rel=1e-12, abs=1e-12)
