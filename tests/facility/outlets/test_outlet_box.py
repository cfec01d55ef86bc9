"""A box's bound holds for every allocation whose temperatures and heat lie in it, at any multipliers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.errors import InfeasibleError
from lpsched.facility.air import facility_arrays, heat_map, heat_removed
from lpsched.facility.outlets.box import BoxSolver, Goal
from lpsched.facility.outlets.envelope import Ranges
from lpsched.facility.outlets.fixed import best_at, node_watts
from lpsched.facility.patterns import NodeMarket
from lpsched.lp.solvers import HighsSolver
from lpsched.units import KILO
from tests.property.tiny_facilities import some_outlets, tiny_facility


def some_point(seed):
    """Return a facility and the best allocation at some temperatures, with the heat that its units take out."""
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng)
    arrays, heat = facility_arrays(facility), heat_map(facility)
    try:
        point = best_at(arrays, heat, some_outlets(rng, facility), solver=HighsSolver())
    except InfeasibleError:
        return rng, arrays, heat, None, None
    return rng, arrays, heat, point, heat_removed(heat, node_watts(arrays, point), point.outlets) / KILO


def around(rng, arrays, heat, point, removed):
    """Return a box that holds the point."""
    per_kelvin = heat.crac_watts_per_kelvin / KILO
    low = np.maximum(point.outlets - rng.uniform(0, 4, len(removed)), arrays.outlet_low)
    high = np.minimum(point.outlets + rng.uniform(0, 4, len(removed)), arrays.outlet_high)
    least = np.maximum(removed - rng.uniform(0, 0.1, len(removed)), 0.0)
    most = np.maximum(removed, 0.0) + rng.uniform(0, 0.1, len(removed))
    inlets = point.outlets + removed / per_kelvin
    cool, warm = (inlets + sign * rng.uniform(0, 3, len(removed)) for sign in (-1, 1))
    return Ranges(low, high, least, most, cool, warm)


def some_multipliers(rng, good):
    """Draw multipliers: near good ones, or anything of either sign."""
    if rng.random() < 0.7:
        near = good * (1.0 + 1e-3 * rng.normal(size=len(good)))
        return near + 1e-6 * np.abs(good).max() * rng.normal(size=len(good))
    return rng.normal(size=len(good)) * rng.choice([0.0, 0.1, 1.0, 10.0], len(good)) * np.abs(good).max()


@pytest.mark.parametrize("seed", range(25))
def test_any_multipliers_prove_a_bound_of_the_rewards_in_a_box(seed):
    rng, arrays, heat, point, removed = some_point(seed)
    if point is None:
        return
    market = NodeMarket(arrays)
    boxes = BoxSolver(market, heat, HighsSolver())
    for wide in (True, False):  # of no width at the temperatures of the point, the bound is its reward
        exact = replace(boxes.program.largest, low=point.outlets, high=point.outlets)
        good = boxes.solve(around(rng, arrays, heat, point, removed) if wide else exact, gap=1e-8).multipliers
        for _ in range(20):
            bound = -boxes.program.price(some_multipliers(rng, good)).bound * market.unit
            assert bound >= point.value * (1.0 - 1e-9)


@pytest.mark.parametrize("seed", range(25))
def test_any_multipliers_prove_how_far_temperature_and_heat_can_go(seed):
    rng, arrays, heat, point, removed = some_point(seed)
    if point is None:
        return
    market = NodeMarket(arrays)
    boxes = BoxSolver(market, heat, HighsSolver())
    box = around(rng, arrays, heat, point, removed)
    for _ in range(4):
        weights = rng.normal(size=(2, len(removed)))
        goal = Goal(0.0, weights[0], weights[1], point.value / market.unit * rng.uniform(0.5, 1.0))
        good = boxes.solve(box, gap=1e-8, goal=goal).multipliers
        reached = weights[0] @ (point.outlets - boxes.program.floor) + weights[1] @ removed
        for _ in range(5):
            bound = -boxes.program.price(some_multipliers(rng, good)).bound
            assert bound >= reached - 1e-9 * (1.0 + abs(reached))


@pytest.mark.parametrize("seed", range(15))
def test_the_program_of_a_box_without_width_is_the_one_at_its_temperatures(seed):
    _, arrays, heat, point, _ = some_point(seed)
    if point is None:
        return
    market = NodeMarket(arrays)
    boxes = BoxSolver(market, heat, HighsSolver())
    box = replace(boxes.program.largest, low=point.outlets, high=point.outlets)
    found = boxes.solve(box, gap=1e-7)
    assert -found.bound * market.unit == pytest.approx(point.value, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("seed", range(15))
def test_planes_and_tangents_of_other_boxes_do_not_count(seed):
    rng, arrays, heat, point, removed = some_point(seed)
    if point is None:
        return
    market = NodeMarket(arrays)
    used, fresh = (BoxSolver(market, heat, HighsSolver()) for _ in range(2))
    largest = used.program.largest
    narrow = around(rng, arrays, heat, point, removed)
    for side in ("low", "high", "least", "most", "cool", "warm"):
        used.solve(replace(largest, **{side: getattr(narrow, side)}), gap=1e-7)
    used.solve(largest, gap=1e-7, tangents=used.program.curve.tangents(removed, point.outlets))
    after, alone = (boxes.solve(largest, gap=1e-7).solution.value for boxes in (used, fresh))
    # Planes are the highest only nearly, so points agree to 1e-4; planes of other boxes would make it 4e-2.
    assert after == pytest.approx(alone, rel=2e-4, abs=1e-7)
