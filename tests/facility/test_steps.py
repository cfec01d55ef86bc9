"""Outlets in steps of one degree: what a step allows is what inlets and cooling say of its temperatures."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.facility.air import (
    cooling_watts,
    crac_inlets,
    facility_arrays,
    heat_map,
    heat_removed,
    inlets,
    outlet_steps,
)
from lpsched.facility.model import facility_from_dict
from tests.facilities import SOUND
from tests.paper_facility import paper_facility
from tests.property.odd_facilities import odd_facility


def steps_of(facility):
    return outlet_steps(facility_arrays(facility), heat_map(facility))


def test_steps_go_from_the_redline_to_the_lowest_outlet_by_one_degree():
    # Redline 25.5 C, outlets from 10 C: 25.5, 24.5 ... 10.5 and 10.
    assert steps_of(paper_facility()).outlets[:, 0].tolist() == [*np.arange(25.5, 10.0, -1.0), 10.0]


def test_units_of_other_ranges_stay_in_them():
    paper = paper_facility()
    unit = paper.crac_units[0].model_copy(update={"outlet_celsius": (21.0, 23.7)})
    assert steps_of(paper.model_copy(update={"crac_units": (unit,)})).outlets[:, 0].tolist() == [
        23.7,
        23.5,
        22.5,
        21.5,
        21.0,
    ]


def test_a_range_above_the_redline_leaves_one_step():
    paper = paper_facility(redline=18.0)
    unit = paper.crac_units[0].model_copy(update={"outlet_celsius": (17.5, 17.5)})
    assert steps_of(paper.model_copy(update={"crac_units": (unit,)})).outlets.tolist() == [[17.5]]


@pytest.mark.parametrize(("watts", "outlet"), [(399.0, 24.5), (401.0, 23.5), (0.0, 25.5)])
def test_the_hottest_step_is_the_first_that_keeps_the_redline(watts, outlet):
    # The inlet is T + P / 400, so 400 W need one kelvin.
    facility = paper_facility()
    heat, steps = heat_map(facility), steps_of(facility)
    if watts == 0.0:  # a hair is left to the verifier
        watts = -1e-6
    power = np.array([watts])
    step = steps.hottest(heat.from_power @ power, np.abs(heat.crac_from_power @ power))
    assert steps.outlets[step, 0] == outlet


def test_no_step_is_hot_enough_to_be_wrong():
    facility = paper_facility()
    heat, steps = heat_map(facility), steps_of(facility)
    power = np.array([6300.0])  # 15.75 K above the outlet, which is at least 10: over 25.5
    assert steps.hottest(heat.from_power @ power, heat.crac_from_power @ power) is None


def two_units(left, right, **changes):
    return facility_from_dict(
        SOUND
        | {
            "crac_units": [
                {"name": "left", "airflow_m3_per_second": 0.1, "outlet_celsius": left},
                {"name": "right", "airflow_m3_per_second": 0.2, "outlet_celsius": right, "redline_celsius": 40},
            ]
        }
        | changes
    )


def test_steps_begin_at_the_lowest_redline_and_end_with_the_coldest_unit():
    kinds = [dict(SOUND["node_types"][0]), dict(SOUND["node_types"][1]) | {"redline_celsius": 25}]
    facility = two_units([15, 27], [20, 22], node_types=kinds)
    outlets = steps_of(facility).outlets
    assert outlets[0].tolist() == [25.0, 22.0]
    assert outlets[-1].tolist() == [15.0, 20.0]
    assert len(outlets) == 11


@pytest.mark.parametrize("watts", [5.0, 500.0, 2000.0])
def test_units_that_blow_unlike_each_other_may_not_heat(watts):
    # Left takes in some of right's warmer air, and right some of left's: with little power from the nodes one of
    # them would have to heat. Every step's verdict is that of the inlets.
    facility = two_units([12, 14], [14, 26])
    arrays, heat, steps = facility_arrays(facility), heat_map(facility), steps_of(facility)
    powers = np.array([watts, watts / 2])
    warming, crac_warming = heat.from_power @ powers, heat.crac_from_power @ powers
    allowed = [
        bool(
            np.all(inlets(heat, powers, outlets) <= arrays.redline)
            and np.all(crac_inlets(heat, powers, outlets) <= arrays.crac_redline)
            and np.all(heat_removed(heat, powers, outlets) >= 0)
        )
        for outlets in steps.outlets
    ]
    assert steps.hottest(warming, crac_warming) == (allowed.index(True) if any(allowed) else None)
    for step, outlets in enumerate(steps.outlets):
        cooling = cooling_watts(arrays, heat, powers, outlets).sum()
        assert steps.cooling_watts(step, crac_warming) == pytest.approx(cooling, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_what_a_step_allows_keeps_every_limit_and_what_it_does_not_breaks_one(seed):
    rng = np.random.default_rng(seed)
    try:
        facility = odd_facility(rng)
    except InstanceError:  # the door refuses some
        return
    arrays, heat = facility_arrays(facility), heat_map(facility)
    steps = outlet_steps(arrays, heat)
    powers = arrays.overhead_watts[arrays.node_type] + 200 * rng.random(len(arrays.node_type))
    warming, crac_warming = heat.from_power @ powers, heat.crac_from_power @ powers
    chosen = steps.hottest(warming, crac_warming)
    for step, outlets in enumerate(steps.outlets):
        margin = min(
            (arrays.redline - inlets(heat, powers, outlets)).min(),
            (arrays.crac_redline - crac_inlets(heat, powers, outlets)).min(),
            heat_removed(heat, powers, outlets).min() / heat.crac_watts_per_kelvin.max(),
        )
        if chosen is None or step < chosen:
            assert margin < 1e-9
        if step == chosen:
            assert margin > -1e-9
            cooling = cooling_watts(arrays, heat, powers, outlets).sum()
            assert steps.cooling_watts(step, crac_warming) == pytest.approx(cooling, rel=1e-9, abs=1e-9)
