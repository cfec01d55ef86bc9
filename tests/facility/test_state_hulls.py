"""Hulls of P-states by hand, and as good as all states on random ones."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import facility_arrays
from lpsched.facility.continuous_states import core_states, vertices
from tests.facility.small_facility import SMALL


@pytest.mark.parametrize(
    ("speeds", "watts", "expected"),
    [
        # From idling: 1/10, then 1/10 again up to (20, 2), then 0.5/10: (10, 1) lies on the line and is not needed.
        pytest.param([1.0, 2.0, 2.5], [10.0, 20.0, 30.0], [1, 2], id="a-point-on-a-side-is-no-corner"),
        pytest.param([2.4, 2.0, 1.5], [30.0, 20.0, 10.0], [2, 1, 0], id="by-rising-watts"),
        pytest.param([1.0, 3.0], [9.0, 10.0], [1], id="what-idling-and-running-fast-beats-is-left-out"),
        pytest.param([3.0, 2.0], [10.0, 20.0], [0], id="hungrier-and-slower-is-left-out"),
        pytest.param([1.0, 3.0, 2.0], [10.0, 10.0, 10.0], [1], id="at-the-same-watts-the-fastest"),
        pytest.param([1.0, 2.0], [0.0, 5.0], [0, 1], id="for-nothing-and-faster-for-something"),
        pytest.param([0.0, 1.0], [0.0, 5.0], [1], id="what-cannot-run-is-left-out"),
        pytest.param([0.0, 0.0], [0.0, 0.0], [], id="nothing-can-run"),
    ],
)
def test_the_corners_of_the_hull(speeds, watts, expected):
    assert vertices(np.array(speeds), np.array(watts)) == expected


def best_speed(points, power):
    """Return the most that two of the points, and idling, do in turn at this power."""
    best = 0.0
    for s, a in points:
        best = max(best, s * min(1.0, power / a))
        for s2, a2 in points:
            if a < power < a2:
                best = max(best, s + (s2 - s) * (power - a) / (a2 - a))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_the_corners_do_as_much_as_all_states_at_every_power(seed):
    rng = np.random.default_rng(seed)
    speeds, watts = rng.uniform(0.0, 2.0, 6), rng.uniform(1.0, 30.0, 6)
    hull = vertices(speeds, watts)
    every = list(zip(speeds, watts, strict=True))
    for power in np.linspace(0.5, 35.0, 40):
        assert best_speed([every[c] for c in hull], power) == pytest.approx(best_speed(every, power))


def test_states_are_listed_by_core_and_task_type_and_rising_watts():
    # render runs in P1 (10 W) and P0 (40 W), P2 is too late; zip is most efficient, and fastest, in P0.
    states = core_states(facility_arrays(SMALL))
    assert states.node.tolist() == [0, 0]
    assert states.core.tolist() == [0, 0, 0, 1, 1, 1]
    assert states.task.tolist() == [0, 0, 1, 0, 0, 1]
    assert states.column.tolist() == [1, 0, 0, 1, 0, 0]


def test_what_brings_nothing_has_no_state():
    render, zipped = SMALL.task_types
    for idle in (render.model_copy(update={"reward": 0.0}), render.model_copy(update={"arrivals_per_second": 0.0})):
        states = core_states(facility_arrays(SMALL.model_copy(update={"task_types": (idle, zipped)})))
        assert set(states.task.tolist()) == {1}
