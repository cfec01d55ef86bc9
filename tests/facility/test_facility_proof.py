"""Proofs about facilities: by hand on one node, and against allocations of random facilities."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.facility.air import facility_arrays, heat_map, hottest_common_outlet, inlet_mix
from lpsched.facility.certificate.boxes import Prices, Proof, Ranges
from lpsched.facility.model import Mixing, SparseMatrix
from lpsched.facility.parts import CoreRun, GangAllocation, PatternShare
from lpsched.facility.patterns import FacilityRelaxation, NodePattern
from lpsched.facility.recovery import gang
from lpsched.facility.verify import examine
from tests.facility.test_gangs import NO_PRICES
from tests.paper_facility import paper_facility
from tests.property.tiny_facilities import patterns, rates, tiny_facility, watts

NUDGED = 1 + 1e-14  # 0.2 and 0.8 are doubles, whose sum is a little off 1: without it a redline's price is below 0
AT_25 = Ranges((25.0,), (25.0,), (0.0,), (1000.0,), (25.0,), (35.0,))


def exact(facility, **options):
    """Return a proof about allocations that keep every limit exactly."""
    return Proof(facility, granted=False, **options)


def balanced(mu, cop=2.5):
    """Return prices of the paper facility without any redline's price.

    A watt of heat at the unit costs mu / CoP: kappa = 1000 mu / CoP there. The node's balance takes nothing from
    its own redline if 0.1 kappa_v = 0.02 kappa_v + 0.08 kappa_u, so both are the same.
    """
    kappa = 1000.0 * mu / cop
    return Prices((1.0,), mu, (NUDGED * kappa, kappa), (0.0,))


def test_the_price_at_which_one_and_two_cores_gain_the_same_proves_the_optimum():
    # p = 1.4 mu = 1/150 a watt: one core gains 1 - 50/150 = 2/3, two 4/3 - 100/150 = 2/3; overhead 120/150 = 0.8;
    # the cap is worth 280 mu = 280/210 = 4/3. Together 4/3 + 2/3 - 0.8 = 1.2.
    assert exact(paper_facility()).reward(AT_25, balanced(1 / 210)) == pytest.approx(1.2, rel=1e-12)


def test_a_task_that_hardly_arrives_counts_by_its_arrivals():
    # Worth 1, all arrivals are left out of the sum; worth 0, they are all of it: 0.01 a second.
    free = replace(balanced(0.0), tasks=(0.0,))
    assert exact(paper_facility(arrivals=0.01)).reward(AT_25, free) == pytest.approx(0.01)


def test_a_redline_has_its_price_too():
    # A kelvin at the node's inlet costs rho: 0.08 kappa_v - 0.08 kappa_u = rho. A watt takes rho / 400 from it. With
    # mu = 0 and rho = 400/150 one and two cores gain 2/3 again; the redline leaves (25.5 - 25) rho = 200/150.
    kappa = (400 / 150) / 0.08
    only_redline = Prices((1.0,), 0.0, (kappa, 0.0), (0.0,))
    assert exact(paper_facility()).reward(AT_25, only_redline) == pytest.approx(1.2, rel=1e-12)


def test_a_redline_has_its_price_with_a_recirculation_matrix_too():
    # D = 1/400 K/W is the same air: t = T + P / 400. With rho = 400/150 the redline leaves (25.5 - 25) rho again.
    facility = paper_facility()
    solved = facility.model_copy(update={"mixing": Mixing("recirculation", SparseMatrix.of([[(0, 1 / 400)]], 1))})
    only_redline = Prices((1.0,), 0.0, (400 / 150, 0.0), (0.0,))
    assert exact(solved).reward(AT_25, only_redline) == pytest.approx(1.2, rel=1e-12)
    # and with the cap alone: a watt of heat costs mu / 2.5 at the unit
    only_cap = Prices((1.0,), 1 / 210, (0.0, 1 / 210 / 2.5), (0.0,))
    assert exact(solved).reward(AT_25, only_cap) == pytest.approx(1.2, rel=1e-12)


def test_the_redline_of_a_unit_has_its_price_too():
    # s = T + P / 100 <= 27 allows P = 200 at 25 C. eta = 100/150 a kelvin makes a watt of heat cost 1/150, so one and
    # two cores gain 2/3 again, the overhead takes 0.8, and (27 - 25) eta = 4/3 is left: 1.2.
    facility = paper_facility()
    limited = facility.model_copy(
        update={"crac_units": (facility.crac_units[0].model_copy(update={"redline_celsius": 27.0}),)}
    )
    prices = replace(balanced(0.0), air=(NUDGED * 1000 / 150, 1000 / 150), unit_redlines=(100 / 150,))
    assert exact(limited).reward(AT_25, prices) == pytest.approx(1.2, rel=1e-12)


def test_without_colocation_two_cores_gain_twice_as_much_as_one():
    # 2 - 100/150 = 4/3 in place of 2/3: the bound is 1.2 + 2/3.
    plain = exact(paper_facility(), colocation=False).reward(AT_25, balanced(1 / 210))
    assert plain == pytest.approx(1.2 + 2 / 3, rel=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"cap": -1e-9}, id="cap"),
        pytest.param({"tasks": (-1e-9,)}, id="task"),
        pytest.param({"reward": -1e-9}, id="reward"),
        pytest.param({"unit_redlines": (-1e-9,)}, id="unit-redline"),
        pytest.param({"unit_redlines": (1e-9,)}, id="a-redline-that-the-unit-has-not"),
        pytest.param({"air": (1.0, 1.1)}, id="a-redline-below-0"),
    ],
)
def test_prices_of_the_wrong_sign_prove_nothing(wrong):
    proof = exact(paper_facility())
    assert proof.reward(AT_25, replace(balanced(1 / 210), **wrong)) is None
    assert proof.narrowed(AT_25, "most", 0, replace(balanced(1 / 210), **wrong), 0.0) is None


def test_heat_is_at_most_what_the_cap_leaves():
    # All heat comes from the node: Q = P, for kappa = -1000 everywhere. P (1 + 10 / T) <= 280 and T <= 30 give
    # Q <= 280 - Q / 3, that is 210; with mu = 1 the prices prove 280 - Q / 3 at the largest Q known, again and again.
    proof = exact(paper_facility())
    conserved = Prices((0.0,), 1.0, (-1000.0, -NUDGED * 1000.0), (0.0,))
    ranges = proof.ranges
    assert ranges.most[0] == pytest.approx(280.0 * 3.0)  # cap times the CoP at 30 C
    first = proof.narrowed(ranges, "most", 0, conserved, 0.0)
    assert first.most[0] == pytest.approx(280.0)  # at Q = 0: mu cap
    assert first.least == (0.0,)


def test_heat_is_at_least_the_overhead():
    # -Q = -P: with kappa = 1000 everywhere a watt of the node costs 1, which is more than tasks of no worth bring.
    proof = exact(paper_facility())
    narrowed = proof.narrowed(proof.ranges, "least", 0, Prices((0.0,), 0.0, (NUDGED * 1000.0, 1000.0), (0.0,)), 0.0)
    assert narrowed.least[0] == pytest.approx(120.0, rel=1e-12)


def test_an_outlet_is_at_most_what_the_redline_allows():
    # T = t - P / 400 <= 25.5 - 120 / 400 = 25.2: rho = 1 is kappa_v = 1 / 0.08, A = -0.08 kappa_v = -1.
    proof = exact(paper_facility())
    narrowed = proof.narrowed(proof.ranges, "high", 0, Prices((0.0,), 0.0, (12.5, 0.0), (0.0,)), 0.0)
    assert narrowed.high[0] == pytest.approx(25.2, rel=1e-12)
    assert narrowed.low == (10.0,)


def test_a_floor_of_reward_narrows_further():
    # To earn 1.2 the node needs 80 W above its overhead: T <= 25.5 - 200 / 400 = 25. A reward costs 150 W / 400 each,
    # so lambda = 0.375 = the worth of a task, and 0.375 x 1.2 = 0.45: 25.2 + 0.375 x 2/3 - 0.45 = 25.
    proof = exact(paper_facility())
    prices = Prices((0.375,), 0.0, (12.5, 0.0), (0.0,), reward=0.375)
    assert proof.narrowed(proof.ranges, "high", 0, prices, 1.2).high[0] == pytest.approx(25.0, rel=1e-12)


def at_the_tolerance(part):
    """Return two patterns of the paper facility at 25 C that use a part of what the verifier grants.

    Cap: P = 200 (1 + 1e-9 part), because P (1 + 10 / 25) = 280 W. Time: x1 + x2 = 1 + 1e-9 part, and the cores
    take x1 + 2 x2 = (P - 120) / 50. So x2 = 0.6 + 3e-9 part, x1 = 0.4 - 2e-9 part: 1.2 + 2e-9 part is earned.
    """
    one = PatternShare(0.4 - 2e-9 * part, (CoreRun("task", 1),))
    both = PatternShare(0.6 + 3e-9 * part, (CoreRun("task", 2),))
    return GangAllocation((25.0,), ((one, both),))


def test_an_allocation_that_uses_what_the_verifier_grants_earns_no_more_than_the_bound():
    facility, prices = paper_facility(), balanced(1 / 210)
    measured = examine(facility, at_the_tolerance(0.9)).measured
    assert measured is not None
    assert exact(facility).reward(AT_25, prices) < measured.reward_rate  # the limits themselves allow less
    bound = Proof(facility).reward(AT_25, prices)
    assert measured.reward_rate <= bound <= 1.2 * (1 + 1e-8)
    assert [each.code for each in examine(facility, at_the_tolerance(1.1)).violations] == ["over-full-time"]


def some_allocation(facility, rng):
    """Return a random mix of patterns at random outlets, cut back to the limits; `None` if that is not valid."""
    arrays, heat = facility_arrays(facility), heat_map(facility)
    hottest = hottest_common_outlet(arrays, heat, arrays.overhead_watts[arrays.node_type])
    outlets = np.clip(hottest - rng.exponential(1.0, len(facility.crac_units)), 10.0, 25.0)
    shares = []
    for j in facility.nodes:
        listed = patterns(facility, j)
        chosen = [listed[at] for at in rng.integers(len(listed), size=2)]
        split = rng.random()
        shares.append(
            tuple(
                (share, NodePattern(j, tuple((i, c, 1) for i, c in each), rates(facility, each), watts(facility, each)))
                for share, each in zip((split, 1 - split), chosen, strict=True)
            )
        )
    relaxed = FacilityRelaxation(outlets, 0.0, 0.0, tuple(shares), NO_PRICES)
    allocation = gang(facility, arrays, heat, relaxed)
    return outlets, examine(facility, allocation).measured


def some_prices(facility, rng):
    """Return random prices: of heat at the units of either sign, of redlines at least 0.

    y = airflow times kappa solves (I - M_NN)' y_N = rho + M_CN' y_C; see `facility/certificate/cooling.py`.
    """
    nodes, units = len(facility.nodes), len(facility.crac_units)
    arrays = facility_arrays(facility)
    rho, theta = rng.exponential(0.05, nodes) * (rng.random(nodes) < 0.5), 0.01 * rng.normal(size=units)
    air = np.concatenate((rho, theta))
    if facility.mixing.form != "recirculation":
        flows = np.concatenate((arrays.airflow[arrays.node_type], arrays.crac_airflow))
        mix = inlet_mix(facility, arrays)
        at_units = arrays.joules_per_m3_kelvin * flows[nodes:] * theta
        own = rho + 1e-12 + at_units @ mix[nodes:, :nodes]
        own = np.linalg.solve(np.eye(nodes) - mix[:nodes, :nodes].T, own)
        air = np.concatenate((own, at_units)) / flows
    return Prices(
        tuple(rng.exponential(1.0, len(facility.task_types)).tolist()),
        float(rng.exponential(0.01)),
        tuple(air.tolist()),
        (0.0,) * units,
        float(rng.exponential(0.5)),
    )


SIDES = {"low": 0, "high": 0, "least": 1, "most": 1, "cool": 2, "warm": 2}


def around(values, ranges, rng):
    """Return ranges that hold an allocation's outlets, heat and inlets, some of them tightly."""
    for side, what in SIDES.items():
        for unit, value in enumerate(values[what]):
            away = rng.choice([0.0, 0.5, 5.0, 1e9]) * (10.0 if what == 1 else 1.0) * rng.random() + 1e-6
            lower = side in ("low", "least", "cool")
            ranges = ranges.with_side(side, unit, value - away if lower else value + away)
    return ranges


@pytest.mark.parametrize("seed", range(30))
def test_no_valid_allocation_is_outside_of_what_any_prices_prove(seed):
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng)
    proof, tried = Proof(facility), 0
    for _ in range(6):
        outlets, measured = some_allocation(facility, rng)
        if measured is None:
            continue
        values = outlets, measured.heat_removed_watts, measured.crac_inlets_celsius
        ranges = around(values, proof.ranges, rng)
        assert not ranges.is_empty()
        prices, floor = some_prices(facility, rng), float(rng.uniform(0.0, measured.reward_rate))
        for found in (proof.reward(ranges, replace(prices, reward=0.0)), proof.reward(ranges, prices, floor)):
            assert found is not None
            assert measured.reward_rate <= found
        for side, what in SIDES.items():
            unit = int(rng.integers(len(outlets)))
            end = getattr(proof.narrowed(ranges, side, unit, prices, floor), side)[unit]
            value = values[what][unit]
            assert end - 1e-6 <= value if side in ("low", "least", "cool") else value <= end + 1e-6, side
        tried += 1
    assert tried or len(facility.crac_units) > 1  # outlets at random may be at odds


def test_the_checker_does_not_take_the_door_s_word_for_it_that_the_reciprocal_is_convex():
    smuggled = copy.copy(paper_facility())
    object.__setattr__(smuggled, "crac_units", (smuggled.crac_units[0].model_copy(update={"cop": (5.0, 0.0, 0.001)}),))
    with pytest.raises(InstanceError, match=r"crac_units\[0\].cop: got 1 / CoP that is not convex"):
        Proof(smuggled)
