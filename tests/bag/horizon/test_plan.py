"""Plans over a horizon from end to end: relaxations against an independent model, recovery, and what is claimed."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from lpsched.bag.horizon.arrays import horizon_arrays
from lpsched.bag.horizon.certificate import check_horizon, prove
from lpsched.bag.horizon.recovery import recover
from lpsched.bag.horizon.relaxation import relax_work
from lpsched.bag.horizon.solve import multipliers_of, plan, plan_of, relax
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.bag.solve import solve
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.series import Series
from lpsched.model.table import Table
from models.horizon import least_by_runs, least_by_work
from tests.bag.horizon.tiny_horizons import WEIGHTS, drawn, with_fee

HOUR = 3600
CASES = 60


@pytest.mark.rotate(15)
@pytest.mark.parametrize("seed", range(CASES))
def test_both_relaxations_equal_an_independent_model_and_plans_are_verified(seed):
    rng = random.Random(1000 + seed)  # noqa: S311
    weights = WEIGHTS[seed % len(WEIGHTS)]
    bag, slots = drawn(rng)
    slots = with_fee(slots, seed % 3 == 1)
    arrays, solver = horizon_arrays(bag, slots, weights), default_solver()
    work, runs = least_by_work(bag, slots, weights), least_by_runs(bag, slots, weights)
    if work is None or not (weights.optional or arrays.can_run.any(axis=1).all()):
        return
    assert relax_work(arrays, solver).value == pytest.approx(work.value, rel=1e-5, abs=1e-5)
    relaxed = relax(arrays, solver)
    problem = SimpleNamespace(bag=bag, slots=slots, weights=weights)  # of weights that no objective has
    proved = prove(bag, slots, weights, multipliers_of(problem, arrays, relaxed.prices))
    if not arrays.switch_on.any() and runs is not None:
        assert relaxed.value == pytest.approx(runs.value, rel=1e-4, abs=1e-4)
        assert runs.value - 2e-4 * max(1.0, abs(runs.value)) <= proved <= runs.value + 1e-6 * max(1.0, abs(runs.value))
    try:
        found = recover(arrays, relaxed.prices, solver, CancelToken(), work=0.02, peaks=relaxed.peaks)
    except NotFoundError:
        return
    made = plan_of(problem, arrays, found)
    assert verify_plan(bag, slots, made, optional=weights.optional) == ()
    assert measure_plan(bag, slots, made).value(weights) >= proved


# One machine type of 1 kW while it runs, tasks of half an hour; three hours at 0.3, 0.1 and 0.2 per kWh.
def small(count: int = 2, machines: int = 1, **fields) -> Bag:
    cpu = MachineType("cpu", machines, **{"may_be_off": True} | fields)
    return Bag("small", (cpu,), (TaskType("render", count),), Table.of([[1800.0]]), Table.of([[1000.0]]))


def over_hours(*values: float) -> Series:
    return Series(tuple(HOUR * h for h in range(len(values))), HOUR * len(values), values)


PRICES = over_hours(0.3, 0.1, 0.2)


def planned(bag: Bag, prices: Series = PRICES, **options):
    return plan(bag, horizon=float(prices.end), start=0, tariff=prices, effort="fast", **options)


def starts_of(result) -> list[float]:
    """When each task begins; all tasks of these bags take half an hour."""
    runs = [run for group in result.plan.groups for run in group.runs]
    return sorted(run.start_seconds + 1800.0 * k for run in runs for k in range(run.count))


@pytest.mark.parametrize("hours", [1, 2, 3])
def test_few_slots_are_cut_into_no_more_parts_than_a_certificate_may_have(hours):
    machines = (MachineType("cpu", 2, idle_watts=50.0, wear_per_busy_hour=0.03),)
    bag = Bag("b", machines, (TaskType("render", 2),), Table.of([[3600.0]]), Table.of([[500.0]]))
    prices = over_hours(*(-0.11, 0.6, -0.1)[:hours])
    result = plan(bag, horizon=float(prices.end), start=0, tariff=prices, effort="fast")
    assert result.bound <= result.value
    rows = result.certificate.machine_prices
    assert rows is None or max(map(len, rows.values())) <= 64 * hours


def test_the_cheapest_hour_is_filled_first():
    assert starts_of(planned(small())) == [3600.0, 5400.0]
    result = planned(small(3))  # two tasks at 0.1, one at 0.2: half a kWh each
    assert result.value == pytest.approx(0.1 + 0.1)
    assert result.bound == pytest.approx(result.value)
    assert result.costs.energy_kwh == pytest.approx(1.5)


def test_savings_are_against_plans_that_are_verified_themselves():
    result = planned(small())
    at_once, at_mean = result.baselines
    assert at_once.value == pytest.approx(0.3)  # both tasks in the first hour
    assert at_mean.value == pytest.approx(0.3)
    assert at_once.saves == pytest.approx(2 / 3)


def test_negative_prices_make_idling_earn_unless_machines_may_not_be_on_for_it():
    prices = over_hours(-1.0, 0.5)
    stays = planned(small(0 + 1, idle_watts=100.0), prices)  # half an hour at 1 kW, half an hour at 0.1 kW, at -1
    assert stays.value == pytest.approx(-0.5 - 0.05)
    must = planned(small(1, idle_watts=100.0, may_be_off=False), prices)  # and an hour idle at 0.5
    assert must.value == pytest.approx(-0.5 - 0.05 + 0.05)
    for result in (stays, must):
        assert result.bound == pytest.approx(result.value)


def test_a_machine_idles_from_run_to_run_only_if_that_is_cheaper_than_switching_it_on():
    prices = over_hours(0.1, 5.0, 0.1)
    for cost, idle_watts, value, switch_ons in (
        (1.0, 100.0, 0.2 + 0.5 + 1.0, 1),  # an hour idle costs 0.5, less than 1 for another start
        (0.2, 100.0, 0.2 + 2 * 0.2, 2),
    ):
        result = planned(small(4, idle_watts=idle_watts, switch_on_cost=cost), prices)
        assert result.value == pytest.approx(value)
        assert result.costs.switch_ons == switch_ons
        assert result.bound <= result.value


@pytest.mark.parametrize("fields", [{}, {"idle_watts": 100.0, "switch_on_cost": 1.0}, {"may_be_off": False}])
def test_one_more_machine_saves_at_most_the_gap_and_its_marginal_value(fields):
    result = planned(small(4, **fields), over_hours(0.1, 5.0, 0.1))
    (worth,) = result.machine_worth
    assert worth.at_most == pytest.approx(result.value - result.bound + worth.marginal, abs=1e-9)


def test_caps_hold_on_average_over_each_slot():
    result = planned(small(3, machines=3), power_cap=1.0)  # one task of half an hour and 1 kW: 500 W on average
    assert result.value == pytest.approx(0.1 + 0.1)
    assert result.costs.peak_watts == pytest.approx(1000.0)
    capped = planned(small(3, machines=3), power_cap=0.5)
    assert capped.value == pytest.approx(0.5 * (0.3 + 0.1 + 0.2))
    worth = {row.start_seconds: row.kilowatt for row in capped.slot_rows}
    assert worth[3600.0] > worth[7200.0] > 0.0  # a kW more in the cheapest hour saves most
    with pytest.raises(InfeasibleError, match="power cap"):
        planned(small(4, machines=3), power_cap=0.5)


def test_a_demand_charge_levels_the_power():
    bag = small(6, machines=6)
    site = bag.site.model_copy(update={"demand_charge_per_kw": 10.0})
    result = planned(bag.model_copy(update={"site": site}))
    assert result.costs.demand == pytest.approx(10.0)  # 3 kWh over 3 hours: 1 kW at least
    assert result.bound == pytest.approx(result.value)


def test_carbon_and_a_price_of_carbon():
    carbon = over_hours(100.0, 500.0, 300.0)
    result = planned(small(), carbon=carbon, objective="carbon")
    assert (result.unit, result.value, starts_of(result)) == ("g", pytest.approx(100.0), [0.0, 1800.0])
    paid = planned(small(), carbon=carbon, carbon_price=1.0)  # 0.3 + 0.1, 0.1 + 0.5, 0.2 + 0.3
    assert paid.value == pytest.approx(0.4)
    assert paid.costs.cost == pytest.approx(0.3)


def test_profit_leaves_out_what_does_not_pay():
    bag = small(6).model_copy(update={"prices": Prices(per_task={"render": 0.12})})
    result = planned(bag, objective="profit")  # half a kWh costs 0.15, 0.05 and 0.1: four tasks pay
    assert sum(result.finished.values()) == 4
    assert result.value == pytest.approx(4 * 0.12 - 2 * 0.05 - 2 * 0.1)
    assert result.bound == pytest.approx(result.value)


def test_sites_differ_in_tariff_and_cost_to_move_to():
    sites = ({"name": "here", "tariff": 0.3}, {"name": "there", "tariff": 0.1, "moving_cost_per_task": 0.09})
    machines = tuple(MachineType(name, 1, may_be_off=True, site=name) for name in ("here", "there"))
    table = Table.of([[1800.0, 1800.0]]), Table.of([[1000.0, 1000.0]])
    bag = Bag.model_validate(
        {
            "name": "sites",
            "machine_types": machines,
            "task_types": (TaskType("render", 4),),
            "seconds": table[0],
            "watts": table[1],
            "sites": sites,
        }
    )
    result = plan(bag, horizon=7200.0, effort="fast")  # half a kWh: 0.15 here, 0.05 + 0.09 there
    assert result.value == pytest.approx(4 * 0.14)
    assert result.bound == pytest.approx(result.value)


def test_at_one_price_it_is_the_plain_model():
    bag = Bag.from_file("instances/tiny.yaml")
    bag = bag.model_copy(
        update={"machine_types": tuple(each.model_copy(update={"idle_watts": 0.0}) for each in bag.machine_types)}
    )
    plain = solve(bag, objective="energy", deadline=3600.0)
    result = plan(bag, horizon=3600.0, tariff=0.36, effort="fast")
    assert result.bound == pytest.approx(0.36 * plain.bound / 3.6e6, rel=1e-4)


def test_the_certificate_is_of_the_bound_and_another_bag_rejects_it():
    result = planned(small(3))
    verdict = check_horizon(result.bag, result.slots, result.certificate)
    assert verdict.accepted
    assert Fraction(result.bound) == verdict.claimed
    claims = replace(result.certificate, bound=result.certificate.bound * Fraction(1001, 1000))
    assert not check_horizon(result.bag, result.slots, claims).accepted
    changed = replace(result.slots, sites=(replace(result.slots.sites[0], tariff=(0.3, 0.09, 0.2)),))
    assert not check_horizon(result.bag, changed, result.certificate).accepted


def test_the_same_seed_gives_the_same_plan():
    bag = Bag.from_file("instances/front-30x2.yaml")
    prices = over_hours(*np.random.default_rng(1).uniform(0.05, 0.4, 24).tolist())
    first, second = (planned(bag, prices, switch_off=True, baselines=False) for _ in range(2))
    assert first.plan == second.plan
    assert first.bound <= first.value <= first.bound * 1.01


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horizon": None}, "horizon: got nothing"),
        ({"horizon": 4 * HOUR}, "values from"),
        ({"start": "yesterday"}, "start: got the text 'yesterday'"),
        ({"objective": "profit"}, "prices.per_task"),
        ({"objective": "carbon"}, "carbon: got nothing"),
    ],
)
def test_what_is_missing_is_named(options, words):
    given = {"horizon": 3.0 * HOUR, "start": 0, "tariff": PRICES} | options
    with pytest.raises(InstanceError, match=words.replace(".", r"\.")):
        plan(small(), **given)


def test_a_horizon_that_is_too_short_is_proved_to_be():
    with pytest.raises(InfeasibleError, match="at least 2 h"):
        plan(small(4), horizon=3600.0, tariff=0.1)
