"""The feasible region: on paper, by random points, by a second road, and by the profits that it holds."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lpsched.bag.arrays import arrays_of
from lpsched.bag.exact_front import feasible_region, front
from lpsched.bag.files import read_bag
from lpsched.bag.search.frontier import region
from lpsched.bag.solve import solve
from lpsched.errors import InstanceError
from lpsched.lp.solvers import default_solver
from models.region import support
from tests.property.bags import ORDINARY, plain_bags
from tests.support import simple_bag

INSTANCES = Path(__file__).parents[3] / "instances"
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")
TWO = simple_bag([[1.0, 2.0]], [6], [1, 1], watts=[[300.0, 100.0]])


def corners(bag):
    return [(each.energy_joules, each.makespan_seconds) for each in feasible_region(bag).corners]


def above_idle(bag, found):
    """Return the corners as joules above idle and seconds."""
    idle = sum(machine.count * machine.idle_watts for machine in bag.machine_types)
    return np.array([(energy - idle * seconds, seconds) for energy, seconds in found])


def test_six_tasks_on_a_fast_and_a_slow_machine():
    # All slow: 12 s, 1,200 J. Four fast, two slow: 4 s, 1,200 + 400 J. All fast: 6 s, 1,800 J.
    assert np.array(corners(TWO)) == pytest.approx(np.array([(1200.0, 12.0), (1600.0, 4.0), (1800.0, 6.0)]))


def test_idle_power_tilts_the_region():
    # 10 W and 20 W: 30 J a second, and tasks take 290 J and 160 J above idle: 960 + 360, 1,480 + 120, 1,740 + 180.
    bag = simple_bag([[1.0, 2.0]], [6], [1, 1], watts=[[300.0, 100.0]], idle=[10.0, 20.0])
    assert np.array(corners(bag)) == pytest.approx(np.array([(1320.0, 12.0), (1600.0, 4.0), (1920.0, 6.0)]))
    assert feasible_region(bag).idle_watts == 30.0


@pytest.mark.parametrize(
    ("bag", "only"),
    [
        (simple_bag([[2.0]], [6], [3], watts=[[50.0]], idle=[5.0]), (600.0, 4.0)),  # 12 s on 3 machines, never idle
        (simple_bag([[2.0, 2.0]], [6], [1, 2], watts=[[50.0, 50.0]]), (600.0, 4.0)),  # joules are the same everywhere
    ],
)
def test_without_a_choice_of_energy_there_is_one_corner(bag, only):
    assert corners(bag) == [pytest.approx(only)]


def test_limits_play_no_part_and_a_bag_without_watts_is_refused():
    site = TWO.site.model_copy(update={"average_power_cap_watts": 200.0, "deadline_seconds": 5.0})
    assert corners(TWO.model_copy(update={"site": site})) == corners(TWO)
    with pytest.raises(InstanceError, match="watts"):
        feasible_region(TWO.model_copy(update={"watts": None}))


@pytest.mark.slow
def test_the_region_of_the_profit_paper_holds_its_front_and_its_best_profits():
    found = feasible_region(IDLE)
    points = {(each.energy_joules, each.makespan_seconds) for each in found.corners}
    for vertex in front(IDLE).vertices:
        nearest = min(points, key=lambda point: abs(point[1] - vertex.makespan_seconds))
        assert nearest == pytest.approx((vertex.energy_joules, vertex.makespan_seconds), rel=1e-9)
    per_joule = IDLE.prices.electricity_per_kwh / 3.6e6
    least = min(energy for energy, _ in points)
    for ratio in (0.9, 0.96, 0.99, 1.0, 1.2, 1.5, 5.0):
        rates = [(ratio * least - energy) * per_joule / seconds for energy, seconds in points]
        best = max(*rates, -per_joule * found.idle_watts)  # or to wait for ever
        assert 3600 * best == pytest.approx(solve(IDLE, profit_ratio=ratio, effort="fast").bound, rel=1e-9, abs=1e-9)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plain_bags(ORDINARY), st.integers(0, 2**32))
def test_corners_are_convex_and_attained_and_random_ways_lie_above(bag, seed):
    arrays, rng = arrays_of(bag), np.random.default_rng(seed)
    joules = arrays.seconds * (arrays.watts - arrays.idle_watts[arrays.machine_of])
    times = arrays.task_counts[:, np.newaxis] / arrays.machine_counts[arrays.machine_of]

    def taken(shares):
        loads = (shares * arrays.seconds * times).sum(axis=0)
        longest = max(loads[arrays.machine_of == j].sum() for j in range(len(arrays.machine_counts)))
        return (shares * joules).sum(axis=1) @ arrays.task_counts, longest

    found, _ = region(bag, default_solver())
    for each in found:
        assert np.all(each.shares[~arrays.can_run] == 0)
        assert each.shares.sum(axis=1) == pytest.approx(1.0)
        assert taken(each.shares)[1] == pytest.approx(each.makespan_seconds)
    chain = above_idle(bag, [(each.energy_joules, each.makespan_seconds) for each in found])
    width, height = np.ptp(chain, axis=0) + 1e-6 * np.abs(chain).max(axis=0)
    assert np.all(np.diff(chain[:, 0]) > 0)
    steps = np.diff(chain, axis=0) / (width, height)
    for one, two in itertools.pairwise(steps):
        assert one[0] * two[1] - one[1] * two[0] > -1e-9  # it turns to the left
    for _ in range(10):
        drawn = np.where(arrays.can_run, rng.exponential(size=arrays.can_run.shape) ** 4, 0.0)
        above, seconds = taken(drawn / drawn.sum(axis=1, keepdims=True))
        assert chain[0, 0] - 1e-6 * width <= above <= chain[-1, 0] + 1e-6 * width
        assert seconds >= np.interp(above, chain[:, 0], chain[:, 1]) - 1e-6 * height


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plain_bags(ORDINARY), st.floats(-1, 1), st.floats(0, 1))
def test_it_reaches_as_far_in_every_direction_as_a_second_road_says(bag, joules, seconds):
    idle = sum(machine.count * machine.idle_watts for machine in bag.machine_types)
    scale = max(energy / longest for energy, longest in corners(bag)) or 1.0
    weight = seconds * scale - min(0.0, joules) * idle  # so that waiting for ever is no way out
    found = min(joules * energy + weight * longest for energy, longest in corners(bag))
    size = max(abs(joules) * energy + weight * longest for energy, longest in corners(bag))
    assert found == pytest.approx(support(bag, joules, weight), abs=1e-7 * size + 1e-12)
