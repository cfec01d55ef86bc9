"""Planes of cooling power are below it everywhere in their box, and touch its envelope."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.facility.air import facility_arrays
from lpsched.facility.outlets.envelope import CoolingCurve, Ranges, planes
from lpsched.lp.program import LpBuilder
from lpsched.lp.solvers import HighsSolver
from tests.paper_facility import paper_facility

COPS = np.array([[0.458, 0.0008, 0.0068], [0.0, 0.1, 0.0], [3.0, 0.0, 0.0], [6.0, 0.0, -0.004]])


def some_arrays(low=10.0, high=25.0):
    """Return units with the usual CoP, a line, a constant, and one that falls; 10 to 25 celsius."""
    return replace(
        facility_arrays(paper_facility()), cop=COPS, outlet_low=np.full(4, low), outlet_high=np.full(4, high)
    )


PER_KELVIN = np.array([1.0, 0.5, 2.0, 1.0])
CURVE = CoolingCurve(some_arrays(), PER_KELVIN)


def some_box(rng):
    low, least = rng.uniform(10.0, 20.0, 4), rng.uniform(0.0, 5.0, 4) * (rng.random(4) < 0.7)
    wide = rng.random((2, 4)) < 0.8  # some have no width at all
    high, most = low + wide[0] * rng.uniform(0, 5, 4), least + wide[1] * rng.uniform(0, 9, 4)
    coldest, hottest = low + least / PER_KELVIN, high + most / PER_KELVIN
    if rng.random() < 0.4:  # the inlet says nothing
        return Ranges(low, high, least, most, coldest, hottest)
    cool, warm = coldest + np.sort(rng.random((2, 4)), axis=0) * (hottest - coldest)
    rises = ~CURVE.falls
    return Ranges(
        low, high, least, most, np.where(rises, coldest, cool), np.where(rises, hottest, np.maximum(warm, cool))
    )


def inside(rng, box, size):
    """Draw points of the box of each unit, some of them on its edges."""
    low = np.maximum(box.low, box.cool - box.most / PER_KELVIN)
    high = np.minimum(box.high, box.warm - box.least / PER_KELVIN)
    outlets = low + rng.random((size, 4)) * (high - low)
    least = np.maximum(box.least, PER_KELVIN * (box.cool - outlets))
    most = np.minimum(box.most, PER_KELVIN * (box.warm - outlets))
    share = np.clip(rng.uniform(-0.3, 1.3, (size, 4)), 0.0, 1.0)
    return least + share * np.maximum(most - least, 0.0), outlets


@pytest.mark.parametrize("seed", range(40))
def test_no_plane_is_above_the_cooling_power_anywhere_in_its_box(seed):
    rng = np.random.default_rng(seed)
    box = some_box(rng)
    found = planes(CURVE, box, *(each[0] for each in inside(rng, box, 1)))
    heat, outlets = inside(rng, box, 500)
    assert (found.at(heat, outlets) <= heat * CURVE.at(outlets) + 1e-12).all()


@pytest.mark.parametrize("seed", range(15))
def test_the_plane_comes_up_to_the_envelope_at_its_point(seed):
    # The envelope is the highest plane below all points of the edges: a linear program of its three numbers.
    rng = np.random.default_rng(seed)
    box = some_box(rng)
    heat, outlets = (each[0] for each in inside(rng, box, 1))
    found = planes(CURVE, box, heat, outlets).at(heat, outlets)
    q, t = inside(np.random.default_rng(1), box, 1000)
    for unit in range(4):
        lp = LpBuilder("plane")
        slopes = lp.variables("slopes", upper=np.array([200.0, 200.0, 20_000.0]))
        here = np.array([heat[unit], outlets[unit], 1.0])
        lp.objective([(slopes, -here)], offset=float(here @ [100.0, 100.0, 10_000.0]))
        points = np.column_stack((q[:, unit], t[:, unit], np.ones(len(q))))
        truth = q[:, unit] * CURVE.at(t)[:, unit] + points @ [100.0, 100.0, 10_000.0]
        for point, limit in zip(points, truth, strict=True):
            lp.at_most("below", [(slopes, point)], float(limit))
        envelope = -HighsSolver().solve(lp.build()).value
        assert envelope - 0.02 * abs(envelope) - 1e-3 <= found[unit] <= envelope + 1e-6


def test_a_box_without_width_has_no_doubt():
    outlets, heat = np.array([12.0, 15.0, 20.0, 25.0]), np.array([1.0, 0.0, 3.0, 7.0])
    inlets = outlets + heat / PER_KELVIN
    box = Ranges(outlets, outlets, heat, heat, inlets, inlets)
    assert planes(CURVE, box, heat, outlets).at(heat, outlets) == pytest.approx(heat * CURVE.at(outlets))


@pytest.mark.parametrize("seed", range(20))
def test_the_least_of_heat_and_slope_is_never_above_the_truth(seed):
    rng = np.random.default_rng(seed)
    heat, slope = rng.uniform(0.0, 9.0, 4), rng.uniform(-0.4, 0.1, 4)
    low = rng.uniform(10.0, 20.0, 4)
    high = low + rng.uniform(0.0, 5.0, 4)
    tilt = np.where(CURVE.falls, -rng.uniform(0.0, 2.0, 4) * (seed % 2), 0.0)
    heat = heat - tilt * high  # so that heat + tilt T is never below 0
    t = np.linspace(low, high, 40001)
    truth = ((heat + tilt * t) * CURVE.at(t) - slope * t).min(axis=0)
    found = CURVE.lowest(heat, slope, low, high, tilt)
    assert (found <= truth + 1e-13).all()
    assert found == pytest.approx(truth, abs=1e-7)


def test_tangents_touch_where_they_should():
    heat, outlets = np.array([2.0, 3.0, 1.0, 4.0]), np.array([20.0, 15.0, 12.0, 18.0])
    tangents, step = CURVE.tangents(heat, outlets), 1e-6
    assert tangents.at(heat, outlets) == pytest.approx(heat * CURVE.at(outlets))
    numerical = heat * (CURVE.at(outlets + step) - CURVE.at(outlets - step)) / (2 * step)
    assert tangents.outlet == pytest.approx(numerical, abs=1e-7)


def test_a_cop_whose_reciprocal_is_not_convex_is_refused_with_its_range():
    # CoP'^2 >= CoP x 0.0068 asks for 0.0001387 T^2 + 0.0000163 T >= 0.0031138, that is T >= 4.68; so 4 C is too cold.
    CoolingCurve(replace(some_arrays(4.8), cop=np.tile(COPS[0], (4, 1))), PER_KELVIN)
    with pytest.raises(InstanceError, match=r"crac_units\[3\].outlet_celsius: got 4 to 25 °C, expected temperat"):
        CoolingCurve(replace(some_arrays(4.0), cop=np.tile(COPS[0], (4, 1))), PER_KELVIN)
