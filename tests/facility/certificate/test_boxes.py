"""Proofs in boxes: what they cover, and what is wrong with those that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lpsched.facility.certificate.boxes import HEAT, OUTLET, Box, Cut, FacilityCertificate, Step, check
from tests.facility.test_facility_proof import balanced
from tests.paper_facility import paper_facility

FACILITY = paper_facility()
WEAK, GOOD = balanced(1 / 100), balanced(1 / 210)


def claimed(bound, *boxes, floor=0.0, outlets=None):
    return FacilityCertificate(
        instance_name="paper",
        instance_hash=FACILITY.content_hash,
        colocation=True,
        bound=bound,
        floor=floor,
        boxes=boxes,
        outlets_celsius=outlets,
    )


def verdict(*boxes, bound=1e9, **options):
    return check(FACILITY, claimed(bound, *boxes, **options))


def proved(*boxes, **options):
    return float(verdict(*boxes, **options).proved)


def test_a_leaf_proves_what_its_prices_prove():
    # At 25 C the prices prove 1.2 (see test_facility_proof); a claim of less is refused, of more is true as well.
    # What the verifier grants is worth some 1e-9 of it: a billionth of the cap and of the node's time, twice.
    leaf = Box(prices=GOOD)
    assert verdict(leaf, bound=1.2 + 1e-8, outlets=(25.0,)).accepted
    refused = verdict(leaf, bound=1.2 - 1e-9, outlets=(25.0,))
    assert refused.reasons == ("it claims more than its prices prove",)
    assert float(refused.proved) == pytest.approx(1.2)


def test_a_proof_of_an_older_file_is_about_the_limits_themselves():
    older = replace(claimed(1.2 + 1e-12, Box(prices=GOOD), outlets=(25.0,)), granted=False)
    assert check(FACILITY, older).accepted
    assert not check(FACILITY, replace(older, granted=True)).accepted


def test_the_largest_bound_of_the_leaves_counts():
    cut = Box(cut=Cut(OUTLET, 0, 20.0, 1, 2))
    below, above = (proved(cut, *leaves) for leaves in ((Box(prices=WEAK), Box(prices=GOOD)),
                                                        (Box(prices=GOOD), Box(prices=WEAK))))  # fmt: skip
    alone = proved(cut, Box(prices=GOOD), Box(prices=GOOD))
    assert max(below, above) >= alone
    assert proved(Box(prices=GOOD)) >= alone  # two halves prove no less than the whole


def test_cutting_the_heat_covers_the_whole_too():
    cut = Box(cut=Cut(HEAT, 0, 150.0, 1, 2))
    assert proved(cut, Box(prices=GOOD), Box(prices=GOOD)) <= proved(Box(prices=GOOD))


def test_a_box_of_which_nothing_is_left_needs_no_prices():
    # The redline keeps the outlet below 25.2 C (see test_facility_proof): above 26 C there is nothing.
    step = Step("high", 0, replace(balanced(0.0), tasks=(0.0,), air=(12.5, 0.0)))
    cut = Box(steps=(step,), cut=Cut(OUTLET, 0, 26.0, 1, 2))
    assert proved(cut, Box(prices=GOOD), Box()) > 0


def test_the_floor_is_the_least_that_is_proved():
    assert proved(Box(prices=GOOD), floor=5.0, outlets=(25.0,)) == 5.0


@pytest.mark.parametrize(
    ("boxes", "reason"),
    [
        pytest.param((), "it has no boxes", id="nothing"),
        pytest.param((Box(),), "box 0 proves nothing", id="no-prices"),
        pytest.param((Box(cut=Cut(OUTLET, 0, 20.0, 1, 2)), Box(prices=GOOD), Box()), "box 2 proves nothing", id="above"),
        pytest.param((Box(cut=Cut(OUTLET, 0, 20.0, 1, 2)), Box(), Box(prices=GOOD)), "box 1 proves nothing", id="below"),
        pytest.param((Box(prices=replace(GOOD, cap=-1.0)),), "box 0 proves nothing", id="a-wrong-sign"),
        pytest.param((Box(cut=Cut(OUTLET, 0, 20.0, 0, 1)), Box(prices=GOOD)), "do not come later", id="a-circle"),
        pytest.param((Box(cut=Cut(OUTLET, 0, 20.0, 1, 2)), Box(prices=GOOD)), "do not come later", id="half-a-cut"),
        pytest.param((Box(cut=Cut(OUTLET, 1, 20.0, 1, 2)), *[Box(prices=GOOD)] * 2), "a CRAC unit", id="no-unit"),
        pytest.param((Box(steps=(Step("low", -1, GOOD),), prices=GOOD),), "a CRAC unit", id="no-unit-in-a-step"),
        pytest.param((Box(prices=replace(GOOD, air=(1.0,))),), "not as many prices", id="too-few-prices"),
        pytest.param((Box(steps=(Step("low", 0, replace(GOOD, tasks=())),), prices=GOOD),), "not as many", id="in-a-step"),
    ],
)  # fmt: skip
def test_what_is_missing_from_a_proof_is_told(boxes, reason):
    found = verdict(*boxes)
    assert not found.accepted
    assert reason in found.reasons[0]


def test_another_facility_is_refused():
    found = check(paper_facility(cap=300.0), claimed(1e9, Box(prices=GOOD)))
    assert "it is about another facility" in found.reasons[0]


def test_outlets_that_are_not_one_for_each_unit_are_refused():
    assert "2 outlet temperatures for 1 CRAC units" in verdict(Box(prices=GOOD), outlets=(1.0, 2.0)).reasons[0]


def test_a_step_that_proves_nothing_changes_nothing():
    useless = Step("high", 0, replace(GOOD, cap=-1.0))
    assert proved(Box(steps=(useless,), prices=GOOD)) == proved(Box(prices=GOOD))
