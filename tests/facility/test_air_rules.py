"""Air that does not balance, or never was in a CRAC unit, is refused with the place and the numbers."""

from __future__ import annotations

import copy
from array import array
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from lpsched.errors import InstanceError
from lpsched.facility.air import heat_map
from lpsched.facility.model import Mixing, facility_from_dict
from lpsched.facility.rules import inlet_shares
from tests.facilities import ALPHA, INLET_MIX, SOUND, facilities, sound_facility, sparse


def issues_of(facility, mixing) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        facility.model_copy(update={"mixing": mixing})
    return [str(issue) for issue in caught.value.issues]


@pytest.fixture(scope="module")
def sound():
    return facility_from_dict(SOUND)


def changed(matrix, *cells):
    rows = copy.deepcopy(matrix)
    for v, u, value in cells:
        rows[v][u] = value
    return rows


def test_a_row_that_does_not_sum_to_one_is_told_with_its_sum(sound):
    # The blade draws a tenth more of its own air: 1.1 in all, and 0.11 m3/s leave what blows 0.1.
    assert issues_of(sound, Mixing("inlet_mix", sparse(changed(INLET_MIX, (0, 0, 0.2))))) == [
        "mixing.inlet_mix: got 0.11 m3/s that others draw in from node 0 ('blade'), expected its airflow, 0.1 m3/s; fix column 0, or the airflows",
        "mixing.inlet_mix[0]: got shares of the air that enters node 0 ('blade') that sum to 1.1, expected 1; fix the row by -0.1",
    ]


def test_air_that_is_made_or_lost_is_told_with_the_flows(sound):
    # Rows still sum to 1, but a tenth of the tower's 0.2 m3/s now comes from the left unit, not from the right.
    assert issues_of(sound, Mixing("inlet_mix", sparse(changed(INLET_MIX, (1, 2, 0.2), (1, 3, 0.6))))) == [
        "mixing.inlet_mix: got 0.12 m3/s that others draw in from CRAC unit 'left', expected its airflow, 0.1 m3/s; fix column 2, or the airflows",
        "mixing.inlet_mix: got 0.18 m3/s that others draw in from CRAC unit 'right', expected its airflow, 0.2 m3/s; fix column 3, or the airflows",
    ]


def test_alpha_is_checked_in_its_own_terms(sound):
    assert issues_of(sound, Mixing("alpha", sparse(changed(ALPHA, (1, 2, 0.35), (1, 3, 0.5), (0, 0, 0.0))))) == [
        "mixing.alpha: got 0.09 m3/s that others send to node 0 ('blade'), expected its airflow, 0.1 m3/s; fix column 0, or the airflows",
        "mixing.alpha: got 0.12 m3/s that others send to CRAC unit 'left', expected its airflow, 0.1 m3/s; fix column 2, or the airflows",
        "mixing.alpha: got 0.18 m3/s that others send to CRAC unit 'right', expected its airflow, 0.2 m3/s; fix column 3, or the airflows",
        "mixing.alpha[0]: got shares of the air that leaves node 0 ('blade') that sum to 0.9, expected 1; fix the row by +0.1",
    ]


@pytest.mark.parametrize(("off", "sound_enough"), [(5e-7, True), (5e-6, False)])
def test_a_millionth_of_the_air_is_forgiven_and_no_more(sound, off, sound_enough):
    # The blade draws that much more of its own air, and the left unit that much less of it: rows are off, columns not.
    mixing = Mixing("inlet_mix", sparse(changed(INLET_MIX, (0, 0, 0.1 + off), (2, 0, 0.3 - off))))
    if sound_enough:
        sound.model_copy(update={"mixing": mixing})
    else:
        assert len(issues_of(sound, mixing)) == 2


def test_alpha_gives_the_same_inlets_as_the_mix_it_stands_for(sound):
    alpha = sound.model_copy(update={"mixing": Mixing("alpha", sparse(ALPHA))})
    for (places, shares), (same, given_shares) in zip(inlet_shares(alpha), inlet_shares(sound), strict=True):
        assert places == same
        assert shares == pytest.approx(given_shares, abs=1e-15)


# Flows in m3/s of the same two nodes and units: the nodes breathe only each other's air, the units likewise.
LOCKED = np.array([[0.0, 0.1, 0, 0], [0.1, 0.1, 0, 0], [0, 0, 0.0, 0.1], [0, 0, 0.1, 0.1]])
FLOWS = np.array([0.1, 0.2, 0.1, 0.2])


def test_nodes_that_only_breathe_each_others_air_are_refused(sound):
    assert issues_of(sound, Mixing("inlet_mix", sparse(LOCKED / FLOWS[:, None]))) == [
        (
            "mixing.inlet_mix: got node 0 ('blade') and 1 other nodes with no air that ever was in a CRAC unit, "
            "expected a way for cooled air to every node; else heat never leaves (I - M_NN is singular); fix the matrix"
        )
    ]
    assert "no air that ever was in a CRAC unit" in issues_of(sound, Mixing("alpha", sparse((LOCKED / FLOWS).T)))[0]


def test_cooled_air_may_come_by_way_of_other_nodes(sound):
    # The blade draws only what leaves the tower; the tower draws 0.1 from the blade and 0.1 from the right unit.
    flows = np.array([[0.0, 0.1, 0, 0], [0.1, 0, 0, 0.1], [0, 0.1, 0.0, 0.0], [0, 0, 0.1, 0.1]])
    facility = sound.model_copy(update={"mixing": Mixing("inlet_mix", sparse(flows / FLOWS[:, None]))})
    assert np.isfinite(heat_map(facility).from_power).all()


def test_a_matrix_packed_by_hand_is_looked_at(sound):
    good = sparse(INLET_MIX)
    for bad in (
        replace(good, starts=good.starts[:-8]),
        replace(good, places=good.places[:-8]),
        replace(good, places=good.places[8:16] + good.places[:8] + good.places[16:]),
    ):
        assert issues_of(sound, Mixing("inlet_mix", bad)) == [
            "mixing.inlet_mix: got a matrix whose bytes do not fit, expected rows, columns and values; use SparseMatrix.of"
        ]
    assert issues_of(sound, Mixing("outlet_mix", good)) == [
        "mixing: got 'outlet_mix', expected one of inlet_mix, alpha, recirculation; choose one"
    ]


@pytest.mark.parametrize("value", [-0.1, 0.0, 1e-31, float("nan"), float("inf")])
def test_an_entry_that_is_no_share_is_told_with_its_place(sound, value):
    packed = array("d", (cell for row in changed(INLET_MIX, (2, 1, value)) for cell in row))
    matrix = replace(sparse(INLET_MIX), packed=packed.tobytes())
    assert issues_of(sound, Mixing("inlet_mix", matrix)) == [
        f"mixing.inlet_mix[2][1]: got {value!r}, expected a number from 1e-30; leave zeros out"
    ]


def test_the_recirculation_form_has_nodes_only():
    unit = {"name": "crac", "airflow_m3_per_second": 0.3, "outlet_celsius": [15, 25]}
    facility = facility_from_dict(
        sound_facility(crac_units=[unit], mixing={"recirculation_kelvin_per_watt": [[0.01, 0.0], [0.0, 0.02]]})
    )
    assert issues_of(facility, Mixing("recirculation", sparse(INLET_MIX))) == [
        "mixing.recirculation_kelvin_per_watt: got a matrix of 4 x 4, expected 2 x 2, nodes; fix its shape"
    ]


@settings(deadline=None, max_examples=50)
@given(facilities())
def test_what_is_accepted_can_be_inverted_and_conserves_heat(facility):
    heat = heat_map(facility)
    assert all((part >= -1e-12).all() for part in (heat.from_power, heat.from_outlets, heat.crac_from_power))
    assert heat.from_outlets.sum(axis=1) == pytest.approx(1.0)
    # Each watt of a node is taken out by the CRAC units together.
    taken_out = heat.crac_watts_per_kelvin @ heat.crac_from_power
    assert taken_out == pytest.approx(np.ones(len(facility.nodes)), rel=1e-9)
