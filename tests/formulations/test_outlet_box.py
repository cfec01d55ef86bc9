"""A box's bound holds for every allocation whose temperatures and heat lie in it, at any multipliers."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InfeasibleError
from lpsched.formulations.cooling_envelope import Ranges
from lpsched.formulations.node_market import KILO, NodeMarket
from lpsched.formulations.outlet_box import Goal, OutletProgram
from lpsched.heat import heat_map, heat_removed
from lpsched.instance.facility_arrays import facility_arrays
from lpsched.lp.highs import HighsSolver
from lpsched.search.fixed_outlets import best_at, node_watts
from lpsched.search.outlet_boxes import BoxSolver
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


def around(rng, arrays, point, removed):
    """Return a box that holds the point."""
    low = np.maximum(point.outlets - rng.uniform(0, 4, len(removed)), arrays.outlet_low)
    high = np.minimum(point.outlets + rng.uniform(0, 4, len(removed)), arrays.outlet_high)
    least = np.maximum(removed - rng.uniform(0, 0.1, len(removed)), 0.0)
    return Ranges(low, high, least, np.maximum(removed, 0.0) + rng.uniform(0, 0.1, len(removed)))


def some_multipliers(rng, program):
    size = program.first_row + len(program.rows.there)
    return rng.normal(0.0, 1.0, size) * rng.choice([0.0, 0.1, 1.0, 10.0], size)


@pytest.mark.parametrize("seed", range(40))
def test_any_multipliers_prove_a_bound_of_the_rewards_in_a_box(seed):
    rng, arrays, heat, point, removed = some_point(seed)
    if point is None:
        return
    market = NodeMarket(arrays)
    program = OutletProgram(market, heat)
    program.rows.air(np.arange(len(program.rows.redlines)), program.master())
    program.box = around(rng, arrays, point, removed)
    for _ in range(20):
        bound = -program.price(some_multipliers(rng, program)).bound * market.unit
        assert bound >= point.value * (1.0 - 1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_any_multipliers_prove_how_far_temperature_and_heat_can_go(seed):
    rng, arrays, heat, point, removed = some_point(seed)
    if point is None:
        return
    market = NodeMarket(arrays)
    program = OutletProgram(market, heat)
    program.rows.air(np.arange(len(program.rows.redlines)), program.master())
    program.box = around(rng, arrays, point, removed)
    for _ in range(20):
        weights = rng.normal(size=(2, len(removed)))
        program.goal = Goal(0.0, weights[0], weights[1], point.value / market.unit * rng.uniform(0.5, 1.0))
        bound = -program.price(some_multipliers(rng, program)).bound
        reached = weights[0] @ (point.outlets - program.floor) + weights[1] @ removed
        assert bound >= reached - 1e-9 * (1.0 + abs(reached))


@pytest.mark.parametrize("seed", range(20))
def test_the_program_of_a_box_without_width_is_the_one_at_its_temperatures(seed):
    _, arrays, heat, point, removed = some_point(seed)
    if point is None:
        return
    market = NodeMarket(arrays)
    boxes = BoxSolver(market, heat, HighsSolver())
    largest = boxes.program.largest
    box = Ranges(point.outlets, point.outlets, np.zeros_like(removed), largest.most)
    found = boxes.solve(box, gap=1e-7)
    assert -found.bound * market.unit == pytest.approx(point.value, rel=1e-5, abs=1e-7)
    again = boxes.solve(largest, gap=1e-7)  # wider, so no worse; and planes of the narrow box do not count
    assert -again.solution.value * market.unit >= point.value * (1.0 - 1e-6) - 1e-9
