"""Planes of cooling power are below it everywhere in their box, and touch its envelope."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.formulations.cooling_envelope import CoolingCurve, Ranges, planes
from lpsched.instance.facility_arrays import facility_arrays
from tests.paper_facility import paper_facility

COPS = np.array([[0.458, 0.0008, 0.0068], [0.0, 0.1, 0.0], [3.0, 0.0, 0.0], [6.0, 0.0, -0.004]])


def some_arrays(low=10.0, high=25.0):
    """Return units with the usual CoP, a line, a constant, and one that falls; 10 to 25 celsius."""
    return replace(
        facility_arrays(paper_facility()),
        cop=COPS,
        outlet_low=np.full(4, low),
        outlet_high=np.full(4, high),
    )


CURVE = CoolingCurve(some_arrays())


def some_box(rng):
    low, least = rng.uniform(10.0, 20.0, 4), rng.uniform(0.0, 5.0, 4) * (rng.random(4) < 0.7)
    wide = rng.random((2, 4)) < 0.8  # some have no width at all
    return Ranges(low, low + wide[0] * rng.uniform(0, 5, 4), least, least + wide[1] * rng.uniform(0, 9, 4))


def inside(rng, box, size):
    heat = box.least + rng.random((size, 4)) * (box.most - box.least)
    return heat, box.low + rng.random((size, 4)) * (box.high - box.low)


@pytest.mark.parametrize("seed", range(40))
def test_no_plane_is_above_the_cooling_power_anywhere_in_its_box(seed):
    rng = np.random.default_rng(seed)
    box = some_box(rng)
    found = planes(CURVE, box, *(each[0] for each in inside(rng, box, 1)))
    heat, outlets = inside(rng, box, 500)
    assert (found.at(heat, outlets) <= heat * CURVE.at(outlets) + 1e-12).all()


@pytest.mark.parametrize("seed", range(40))
def test_the_plane_comes_up_to_the_envelope_at_its_point(seed):
    # The envelope at (Q, T): the least mix of the edges, share (Q - Q1) / (Q2 - Q1) of it at Q2 and some T2.
    rng = np.random.default_rng(seed)
    box = some_box(rng)
    heat, outlets = (each[0] for each in inside(rng, box, 1))
    width = box.most - box.least
    share = np.where(width > 0, (heat - box.least) / np.where(width > 0, width, 1.0), 0.5)
    first = np.linspace(box.low, box.high, 20001)
    last = (outlets - (1 - share) * first) / share
    fits = (last >= box.low - 1e-12) & (last <= box.high + 1e-12)
    mixed = (1 - share) * box.least * CURVE.at(first) + share * box.most * CURVE.at(last)
    envelope = np.where(fits, mixed, np.inf).min(axis=0)
    found = planes(CURVE, box, heat, outlets).at(heat, outlets)
    assert found == pytest.approx(np.where(np.isinf(envelope), found, envelope), rel=1e-4, abs=1e-5)


def test_a_box_without_width_has_no_doubt():
    outlets, heat = np.array([12.0, 15.0, 20.0, 25.0]), np.array([1.0, 0.0, 3.0, 7.0])
    box = Ranges(outlets, outlets, heat, heat)
    assert planes(CURVE, box, heat, outlets).at(heat, outlets) == pytest.approx(heat * CURVE.at(outlets))


@pytest.mark.parametrize("seed", range(20))
def test_the_least_of_heat_and_slope_is_never_above_the_truth(seed):
    rng = np.random.default_rng(seed)
    heat, slope = rng.uniform(0.0, 9.0, 4), rng.uniform(-0.4, 0.1, 4)
    low = rng.uniform(10.0, 20.0, 4)
    high = low + rng.uniform(0.0, 5.0, 4)
    t = np.linspace(low, high, 40001)
    truth = (heat * CURVE.at(t) - slope * t).min(axis=0)
    found = CURVE.lowest(heat, slope, low, high)
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
    CoolingCurve(replace(some_arrays(4.8), cop=np.tile(COPS[0], (4, 1))))
    with pytest.raises(
        InstanceError, match=r"crac_units\[3\].outlet_celsius: found 4 to 25 C, needs temperat"
    ):
        CoolingCurve(replace(some_arrays(4.0), cop=np.tile(COPS[0], (4, 1))))
