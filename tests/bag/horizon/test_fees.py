"""Fees on each kWh: exact in costs, part of every bound, and both savings."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from lpsched.bag.horizon.arrays import horizon_arrays
from lpsched.bag.horizon.certificate import check_horizon
from lpsched.bag.horizon.relaxation import relax_work
from lpsched.bag.horizon.slots import Weights, slots_of
from lpsched.bag.horizon.solve import plan
from lpsched.bag.horizon.verify import measure_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.errors import InstanceError
from lpsched.lp.solvers import default_solver
from lpsched.model.series import Series
from lpsched.model.table import Table
from lpsched.report.horizon import plan_tables
from models.horizon import least_by_work
from tests.bag.horizon.tiny_horizons import drawn, with_fee
from tests.report.test_tables import shown

HOUR = 3600
PRICES = Series((0, HOUR, 2 * HOUR), 3 * HOUR, (0.3, 0.1, 0.2))
CPU = MachineType("cpu", 1, may_be_off=True)
BAG = Bag("small", (CPU,), (TaskType("render", 2),), Table.of([[1800.0]]), Table.of([[1000.0]]))  # 1 kWh in all


def planned(bag: Bag = BAG, **options):
    return plan(bag, horizon=3.0 * HOUR, start=0, tariff=PRICES, effort="fast", **options)


def test_the_cost_of_a_plan_rises_by_exactly_the_fee_times_its_kwh():
    plain, paid = planned(), planned(grid_fee=0.1)
    slots = [slots_of(each.bag, horizon=3.0 * HOUR, start=0) for each in (plain, paid)]
    before, after = (measure_plan(plain.bag, each, plain.plan) for each in slots)
    assert after.money - before.money == after.fees == Fraction(0.1) * after.kwh
    assert before.fees == 0
    assert before.electricity == after.electricity
    assert (paid.costs.electricity, paid.costs.fees) == (pytest.approx(0.1), pytest.approx(0.1))
    assert paid.value == paid.costs.cost == pytest.approx(0.2)  # 1 kWh at 0.1 + 0.1
    assert paid.bound == pytest.approx(0.2)


def test_both_savings_are_measured_from_the_same_plans():
    without, result = planned(), planned(grid_fee=0.1)
    at_once = result.baselines[0]  # 1 kWh at 0.3 + 0.1
    assert (at_once.value, at_once.saves) == (pytest.approx(0.4), pytest.approx(0.5))
    assert at_once.market_saves == pytest.approx(2 / 3)
    assert without.baselines[0].market_saves is None
    assert without.baselines[0].saves == pytest.approx(2 / 3)


def test_the_output_has_both_savings_or_says_that_fees_are_left_out():
    without, result = (
        " ".join(shown(*plan_tables(each), width=200).split()) for each in (planned(), planned(grid_fee=0.1))
    )
    assert "Without grid fees and taxes on each kWh" in without
    assert "grid fees and taxes 0.1" in result
    assert "50 % 66.67 %" in result
    assert "without the grid fee of 0.1 USD/kWh" in result
    assert "Without grid fees" not in result


def test_a_fee_ends_what_negative_prices_pay_for():
    bag = BAG.model_copy(update={"machine_types": (CPU.model_copy(update={"idle_watts": 100.0}),)})
    prices = Series((0, HOUR), 2 * HOUR, (-1.0, 0.5))
    paid = plan(bag, horizon=2.0 * HOUR, start=0, tariff=prices, grid_fee=2.0, effort="fast")  # 1 and 2.5 a kWh
    assert paid.value == pytest.approx(1.0)
    assert paid.bound == pytest.approx(1.0)  # 1 kWh, and no machine idles for money
    assert all(not group.idle for group in paid.plan.groups)


def test_each_site_has_its_own_fee():
    sites = ({"name": "here", "tariff": 0.1, "grid_fee_per_kwh": 0.25}, {"name": "there", "tariff": 0.3})
    machines = tuple(MachineType(name, 1, may_be_off=True, site=name) for name in ("here", "there"))
    given = {"name": "sites", "machine_types": machines, "task_types": BAG.task_types, "sites": sites}
    bag = Bag.model_validate(given | {"seconds": [[1800.0, 1800.0]], "watts": [[1000.0, 1000.0]]})
    result = plan(bag, horizon=7200.0, effort="fast")
    assert result.value == pytest.approx(0.3)  # 0.35 here
    with pytest.raises(InstanceError, match="grid_fee_per_kwh: got one for all of 2 sites"):
        plan(bag, horizon=7200.0, grid_fee=0.1)
    with pytest.raises(InstanceError, match=r"grid_fee_per_kwh: got -0\.1"):
        planned(grid_fee=-0.1)


def test_a_certificate_is_of_its_fee():
    plain, paid = planned(), planned(grid_fee=0.1)
    assert check_horizon(paid.bag, paid.slots, paid.certificate).accepted
    assert paid.certificate.instance_hash != plain.certificate.instance_hash
    claims = replace(paid.certificate, instance_hash=plain.bag.content_hash)
    assert not check_horizon(plain.bag, plain.slots, claims).accepted


@pytest.mark.parametrize("seed", range(12))
def test_the_relaxation_with_a_fee_is_that_of_an_independent_model_and_never_falls(seed):
    bag, slots = drawn(random.Random(7000 + seed))  # noqa: S311
    known = []
    for fee in (0.0, 0.5, 2.0):
        paid = with_fee(slots, fee)
        arrays, least = horizon_arrays(bag, paid, Weights()), least_by_work(bag, paid, Weights())
        if least is None or not arrays.can_run.any(axis=1).all():
            return
        known.append(relax_work(arrays, default_solver()).value)
        assert known[-1] == pytest.approx(least.value, rel=1e-5, abs=1e-5)
    assert known[0] <= known[1] + 1e-6 <= known[2] + 2e-6
