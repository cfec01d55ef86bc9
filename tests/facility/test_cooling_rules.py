"""What no setting of the CRAC units can keep is rejected, with the numbers; nothing else is."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InfeasibleError, InstanceError
from lpsched.facility.air import crac_inlets, heat_map, inlets
from lpsched.facility.compare import allocate, validate_facility
from lpsched.facility.model import Mixing, facility_from_dict
from lpsched.facility.rules import coldest_inlets, require_cap, warmest_inlet
from lpsched.facility.solve import facility as solve_facility
from tests.facilities import SOUND, facilities, sound_facility, sparse, within


@pytest.fixture(scope="module")
def sound():
    return facility_from_dict(SOUND)


def issues_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        facility_from_dict(raw)
    return [str(issue) for issue in caught.value.issues]


def test_the_coldest_air_is_that_of_idle_nodes_and_the_coldest_outlets(sound):
    # Air of 1,000 J/(m3 K): 20 W warm 0.1 m3/s by 0.2 K, 30 W warm 0.2 m3/s by 0.15 K. Both nodes draw a
    # tenth from each: x = 0.1 (x + 0.2) + 0.1 (x + 0.15), so x = 0.035 / 0.8 = 0.04375 K above the 15 C.
    # Left unit: 0.3 (x + 0.2) + 0.5 (x + 0.15) = 0.17; right: 0.2 (x + 0.2) + 0.6 (x + 0.15) = 0.165.
    assert coldest_inlets(sound) == pytest.approx([15.04375, 15.04375, 15.17, 15.165], abs=1e-5)


def test_a_redline_below_the_coldest_air_is_refused_with_both():
    assert issues_of(sound_facility(**within("node_types.1.redline_celsius", 15.04))) == [
        (
            "node_types[1].redline_celsius: got 15.04 °C, but node 1 draws in air of 15.0438 °C with idle nodes and "
            "all CRAC units at their coldest, expected at least 15.0438 °C; raise it, lower outlet_celsius, or fix the mixing"
        )
    ]
    facility_from_dict(sound_facility(**within("node_types.1.redline_celsius", 15.0438)))


def test_a_redline_of_a_unit_is_looked_at_too():
    assert issues_of(sound_facility(**within("crac_units.1.redline_celsius", 15.1))) == [
        (
            "crac_units[1].redline_celsius: got 15.1 °C, but it draws in air of 15.1650 °C with idle nodes and all CRAC "
            "units at their coldest, expected at least 15.1650 °C; raise it, lower outlet_celsius, or fix the mixing"
        )
    ]


@pytest.mark.parametrize("solve", [solve_facility, partial(allocate, method="greedy", bound=False), validate_facility])
def test_a_cap_below_overhead_and_its_cooling_is_infeasible_with_the_sum(solve):
    # 50 W of overhead at the best CoP, 0.0068 x 25^2 + 0.0008 x 25 + 0.458 = 4.728: 50 (1 + 1 / 4.728) = 60.575.
    facility = facility_from_dict(sound_facility(power_cap_watts=60.5))  # the file itself is valid
    with pytest.raises(InfeasibleError) as caught:
        solve(facility)
    assert str(caught.value).endswith(
        ": no allocation keeps the power cap of 60.5 W: idle nodes draw 50.0 W, and it takes 10.6 W to cool them, at a "
        "CoP of 4.728; raise the cap to at least 60.6 W, or drop nodes"
    )
    require_cap(facility_from_dict(sound_facility(power_cap_watts=60.6)))


def test_a_unit_that_would_always_heat_is_refused_with_its_warmest_inlet():
    # The left unit starts at 40 °C, the right one ends at 25 C. Busy nodes: 20 + 2 x 25 = 70 W warm by 0.7 K, 30 + 30
    # = 60 W by 0.3 K. With T = 40 and 25 the blade draws x = 0.1 (x + 0.7) + 0.1 (y + 0.3) + 24 + 5, the tower
    # y = 0.1 (x + 0.7) + 0.1 (y + 0.3) + 4 + 17.5; x - y = 7.5, so x = (29.1 - 0.75) / 0.8 = 35.4375, y = 27.9375.
    # Left inlet: 0.3 x 36.1375 + 0.5 x 28.2375 + 4 + 2.5 = 31.46.
    raw = sound_facility(**within("crac_units.0.outlet_celsius", [40, 45]))
    raw["node_types"] = [each | {"redline_celsius": 60} for each in raw["node_types"]]
    assert issues_of(raw) == [
        (
            "crac_units[0].outlet_celsius: got from 40 °C up, but the air that it draws in never has more than 31.4600 °C, "
            "expected an outlet no warmer than its inlet: a CRAC unit cools, and never heats; lower it, or raise the others'"
        )
    ]


def test_a_unit_that_need_not_heat_is_accepted_though_it_begins_above_the_others():
    # From 25.1 °C up, where the other ends at 25 C: busy nodes warm the air by more than that.
    raw = sound_facility(**within("crac_units.0.outlet_celsius", [25.1, 26]))
    facility = facility_from_dict(raw)
    assert warmest_inlet(facility, 0) > 25.1


def test_the_recirculation_form_is_judged_by_its_own_equation():
    unit = {"name": "crac", "airflow_m3_per_second": 0.3, "outlet_celsius": [15, 25]}
    # Inlets at idle: 15 + 0.5 x 20 = 25 and 15 + 0.5 x 30 = 30 °C; the unit's 15 + 50 / 300.
    mixing = {"recirculation_kelvin_per_watt": [[0.5, 0.0], [0.0, 0.5]]}
    assert issues_of(sound_facility(crac_units=[unit], mixing=mixing)) == [
        (
            "node_types[1].redline_celsius: got 27 °C, but node 1 draws in air of 30.0000 °C with idle nodes and all CRAC "
            "units at their coldest, expected at least 30.0000 °C; raise it, lower outlet_celsius, or fix the mixing"
        )
    ]
    mixing = {"recirculation_kelvin_per_watt": [[0.1, 0.0], [0.0, 0.1]]}
    facility = facility_from_dict(sound_facility(crac_units=[unit], mixing=mixing))
    assert coldest_inlets(facility) == pytest.approx([17.0, 18.0, 15 + 1 / 6])


@settings(deadline=None, max_examples=40)
@given(facilities(), st.integers(0, 2**32))
def test_nothing_is_ever_colder_than_the_bound_and_idle_nodes_reach_it(facility, seed):
    rng = np.random.default_rng(seed)
    heat = heat_map(facility)
    low, high = np.array([unit.outlet_celsius for unit in facility.crac_units]).T
    idle = np.array([facility.node_types[j].overhead_watts for j in facility.nodes])
    powers = idle + 50.0 * rng.random(len(idle))
    outlets = low + rng.random(len(low)) * (high - low)
    coldest = np.array(coldest_inlets(facility))
    drawn_in = np.concatenate((inlets(heat, powers, outlets), crac_inlets(heat, powers, outlets)))
    assert (drawn_in >= coldest - 1e-9).all()
    assert inlets(heat, idle, low) == pytest.approx(coldest[: len(idle)], abs=1e-4)
    assert crac_inlets(heat, idle, low) == pytest.approx(coldest[len(idle) :], abs=1e-4)


@settings(deadline=None, max_examples=40)
@given(facilities(), st.integers(0, 2**32))
def test_no_allowed_state_warms_a_cold_unit_above_the_bound_and_the_warmest_reaches_it(facility, seed):
    if facility.mixing.form == "recirculation":
        return
    rng = np.random.default_rng(seed)
    heat = heat_map(facility)
    low, high = np.array([unit.outlet_celsius for unit in facility.crac_units]).T
    columns = [j for j, _ in facility.modes]
    most = [0.0] * len(facility.node_types)
    for row in facility.watts:
        for j, watts in zip(columns, row, strict=True):
            most[j] = max(most[j], watts or 0.0)
    kinds = [facility.node_types[j] for j in facility.nodes]
    load = np.array([kind.cores * most[j] for kind, j in zip(kinds, facility.nodes, strict=True)])
    idle = np.array([kind.overhead_watts for kind in kinds])
    bound = warmest_inlet(facility, 0)
    assert bound is not None
    outlets = low + rng.random(len(low)) * (high - low)
    outlets[0], high[0] = low[0], low[0]
    assert crac_inlets(heat, idle + rng.random(len(kinds)) * load, outlets)[0] <= bound + 1e-11
    warmest = crac_inlets(heat, idle + load, high)[0]
    assert bound - 1e-5 < warmest <= bound + 1e-11  # rounding alone is 1e-14 of a few hundred kelvin


def test_the_bound_needs_no_patience_where_little_air_is_cooled(sound):
    # 99.9 % of what the blade draws has just left it: 300 sweeps are too few, and then nothing is claimed.
    kept = 0.0999
    flows = np.array(
        [[kept, 0.0, 0.1 - kept, 0.0], [0.0, 0.0, 0.0, 0.2], [0.1 - kept, kept, 0.0, 0.0], [0.0, 0.2 - kept, kept, 0.0]]
    )
    assert flows.sum(axis=0) == pytest.approx(flows.sum(axis=1))
    stale = Mixing("inlet_mix", sparse(flows / np.array([0.1, 0.2, 0.1, 0.2])[:, None]))
    hot = tuple(kind.model_copy(update={"redline_celsius": 150.0, "overhead_watts": 0.0}) for kind in sound.node_types)
    assert warmest_inlet(sound.model_copy(update={"node_types": hot, "mixing": stale}), 0) is None
