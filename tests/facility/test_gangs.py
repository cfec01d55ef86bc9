"""Gangs keep every limit, not only within a solver's tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import facility_arrays, heat_map, inlets, total_watts
from lpsched.facility.parts import CoreRun
from lpsched.facility.patterns import FacilityPrices, FacilityRelaxation, NodePattern
from lpsched.facility.recovery import gang
from tests.paper_facility import paper_facility

ONE = NodePattern(0, ((0, 0, 1),), np.array([1.0]), 50.0)
BOTH = NodePattern(0, ((0, 0, 2),), np.array([4 / 3]), 100.0)
NOTHING = np.zeros(1)
NO_PRICES = FacilityPrices(NOTHING, NOTHING, 0.0, *[NOTHING] * 5)


def relaxed(*shares, outlet=25.0):
    return FacilityRelaxation(np.array([outlet]), 0.0, 0.0, (shares,), NO_PRICES)


def recovered(relaxation, facility=None):
    facility = facility or paper_facility()
    arrays, heat = facility_arrays(facility), heat_map(facility)
    return gang(facility, arrays, heat, relaxation), arrays, heat


def powers_of(allocation):
    return np.array([120.0 + sum(each.share * 50.0 * each.runs[0].cores for each in allocation.nodes[0])])


def test_what_keeps_the_limits_stays_as_it_is():
    allocation, _, _ = recovered(relaxed((0.5, ONE)))
    (only,) = allocation.nodes[0]
    assert only.share == 0.5
    assert only.runs == (CoreRun("task", 1),)
    assert allocation.outlets_celsius == (25.0,)


@pytest.mark.parametrize("slip", [1e-9, 1e-6, 1e-3])
def test_a_slip_over_cap_and_redline_is_taken_back(slip):
    # 0.4 of one core and 0.6 of both use up cap and redline; a little more of the second breaks both.
    allocation, arrays, heat = recovered(relaxed((0.4 - slip, ONE), (0.6 + slip, BOTH)))
    powers = powers_of(allocation)
    hair = 1 - 0.9e-10  # left free, so that whoever adds up in another order finds no breach
    assert total_watts(arrays, heat, powers, np.array([25.0])) <= 280.0 * hair
    assert inlets(heat, powers, np.array([25.0]))[0] <= 25.5 * hair
    assert powers[0] == pytest.approx(200.0, abs=2e-6)  # a hair of 25.5 C is 1e-6 W at 400 W/K


def test_a_redline_alone_is_kept_too():
    # At 25.2 C the redline allows P = 400 x 0.3 = 120 W: nothing but the overhead.
    allocation, _, _ = recovered(relaxed((1.0, ONE), outlet=25.2), paper_facility(cap=1e6))
    assert powers_of(allocation)[0] == pytest.approx(120.0, abs=1e-6)


def test_a_unit_s_redline_is_kept_too():
    facility = paper_facility(cap=1e6)
    limited = facility.model_copy(
        update={"crac_units": (facility.crac_units[0].model_copy(update={"redline_celsius": 21.5}),)}
    )  # T + P / 100 <= 21.5 at 20 C: P <= 150 W
    allocation, _, _ = recovered(relaxed((1.0, BOTH), outlet=20.0), limited)
    assert powers_of(allocation)[0] == pytest.approx(150.0, abs=1e-6)


def test_more_than_all_the_time_is_cut_to_all_of_it():
    allocation, _, _ = recovered(relaxed((0.7, ONE), (0.3 + 1e-9, BOTH)), paper_facility(cap=1e6, redline=80.0))
    assert sum(each.share for each in allocation.nodes[0]) <= 1.0


def test_the_solver_s_noise_and_idle_patterns_are_left_out():
    idle = NodePattern(0, (), np.zeros(1), 0.0)
    allocation, _, _ = recovered(relaxed((1e-15, BOTH), (0.5, idle), (0.25, ONE)))
    assert [each.share for each in allocation.nodes[0]] == [0.25]
