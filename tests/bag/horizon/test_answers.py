"""What one more machine and another hour change: intervals that are proved on both sides."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from lpsched.bag.horizon.certificate import HorizonMultipliers, prove
from lpsched.bag.horizon.schedule import Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.slots import Weights
from lpsched.bag.horizon.solve import HorizonProblem, build_horizon, multipliers_of, plan, plan_problem, relax, verified
from lpsched.bag.model import Bag, with_machines
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.one_more import Marginals
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.series import Series
from lpsched.model.table import Table
from lpsched.report.horizon import plan_tables
from models.horizon import least_by_work
from tests.bag.horizon.test_offers import best_of_all
from tests.bag.horizon.tiny_horizons import drawn
from tests.report.test_tables import shown

if TYPE_CHECKING:
    from lpsched.bag.horizon.result import MachineWorth, OtherHorizon, PlanResult

HOUR = 3600
PRICES = Series((0, HOUR, 2 * HOUR), 3 * HOUR, (0.3, 0.1, 0.2))


# Tasks of half an hour and half a kWh; three hours at 0.3, 0.1 and 0.2 per kWh.
def small(count: int, site: Site | None = None, prices: Prices | None = None, **fields) -> Bag:
    cpu = MachineType("cpu", 1, **{"may_be_off": True} | fields)
    given = {"site": site or Site(), "prices": prices or Prices()}
    return Bag("small", (cpu,), (TaskType("render", count),), Table.of([[1800.0]]), Table.of([[1000.0]]), **given)


def planned(bag: Bag, hours: int = 3, **options):
    asked = {"horizon": float(hours * HOUR), "start": 0, "tariff": PRICES, "effort": "fast", "marginals": "top"}
    return plan(bag, **asked | options)


def one_more(bag: Bag, **options) -> MachineWorth:
    result: PlanResult = planned(bag, baselines=False, **options)
    (worth,) = result.machine_worth
    return worth


def interval(of: MachineWorth | OtherHorizon) -> tuple[object, object]:
    return pytest.approx(of.at_least, abs=1e-9), pytest.approx(of.at_most, abs=1e-9)


def test_one_more_machine_saves_what_the_two_best_plans_differ_by():
    # Three tasks on one machine: two at 0.1, one at 0.2 a kWh; on two machines all at 0.1.
    assert interval(one_more(small(3))) == (0.05, 0.05)
    assert interval(one_more(small(2))) == (0.0, 0.0)  # both are at 0.1 already
    # One that must stay on idles, 0.1 kW for three hours at 0.2 on average; a task draws 0.9 kW more than idling.
    stays = one_more(small(3, idle_watts=100.0, may_be_off=False))
    saved = 0.9 * 0.05 - 0.06
    assert interval(stays) == (pytest.approx(saved, abs=1e-9), pytest.approx(saved, abs=1e-9))


def test_where_the_idle_power_of_one_more_breaks_a_cap_there_is_no_plan():
    bag = small(2, idle_watts=600.0, may_be_off=False)
    for marginals in ("lp", "proved"):
        worth = one_more(bag, power_cap=1.0, marginals=marginals)
        assert (worth.at_least, worth.at_most, worth.reason) == (None, None, "no plan then (proved)")
    assert "no plan then (proved)" in shown(plan_tables(planned(bag, power_cap=1.0)))


def test_without_a_search_one_that_may_be_off_saves_at_least_nothing_and_one_that_stays_on_costs_its_idling():
    found = one_more(small(3), marginals="lp")
    assert found.at_least == 0.0
    assert found.at_most >= 0.05 - 1e-9
    stays = one_more(small(2, idle_watts=100.0, may_be_off=False), marginals="lp")
    assert stays.at_least == pytest.approx(-0.06)
    assert stays.at_most >= -0.06 - 1e-9


def test_one_more_machine_earns_what_its_tasks_sell_for_above_their_cost():
    # At 0.12 a task and 0.05 for its energy, two more tasks fit into the hour at 0.1, and two into that at 0.2 (0.1).
    bag = small(9, prices=Prices(per_task={"render": 0.12}))
    assert interval(one_more(bag, objective="profit")) == (pytest.approx(2 * 0.07 + 2 * 0.02),) * 2


def test_only_the_three_types_of_largest_marginal_value_are_planned_with_one_more(monkeypatch):
    from lpsched.bag.horizon import answers  # noqa: PLC0415 - to be patched

    machines = tuple(MachineType(f"m{j}", 1, may_be_off=True) for j in range(5))
    watts = Table.of([[1000.0, 900.0, 800.0, 700.0, 600.0]])
    bag = Bag("five", machines, (TaskType("render", 24),), Table.of([[1800.0] * 5]), watts)
    asked = []
    again = answers.Present.again
    monkeypatch.setattr(answers, "other_horizons", lambda _now: ())

    def noted(now, problem):
        asked.append(problem.bag)
        return again(now, problem)

    monkeypatch.setattr(answers.Present, "again", noted)
    for marginals, count in (("lp", 0), ("top", 3), ("proved", 5)):
        asked.clear()
        found = planned(bag, hours=3, marginals=marginals, baselines=False)
        assert len(asked) == count, marginals
        if marginals == "top":
            top = sorted(found.machine_worth, key=lambda each: -each.marginal)[:3]
            grown = {machine.name for each in asked for machine in each.machine_types if machine.count == 2}
            assert grown == {each.machine_type for each in top}
    with pytest.raises(ValueError, match="marginals is 'some'"):
        planned(bag, marginals="some")


def test_an_hour_more_and_less_change_the_best_plan_by_what_the_hours_cost():
    # Three tasks in two hours at 0.3 and 0.1: 0.15 + 0.1. In three hours 0.1 + 0.1. In one, only two tasks fit.
    result = planned(small(3), hours=2)
    less, more = result.other_horizons
    assert (less.horizon_seconds, less.bound, less.reason) == (3600.0, None, "no plan finishes all tasks (proved)")
    assert (more.horizon_seconds, more.bound) == (10800.0, pytest.approx(0.2))
    assert interval(more) == (-0.05, -0.05)
    text = " ".join(shown(*plan_tables(result), width=200).split())
    assert "1 h - no plan finishes all tasks (proved)" in text
    assert "2 h, as now 0.25" in text
    assert "3 h 0.2 -0.05" in text
    assert planned(small(3), hours=2, marginals="lp").other_horizons == ()


def test_where_the_series_end_only_the_earlier_hour_is_known():
    less, more = planned(small(3)).other_horizons
    assert (less.bound, interval(less)) == (pytest.approx(0.25), (0.05, 0.05))
    assert (more.bound, more.at_least, more.at_most) == (None, None, None)
    assert more.reason == "not known: a series ends before"


def test_machines_that_must_stay_on_pay_for_the_longer_horizon():
    # Two tasks at 0.1 in the second of two hours; an hour more idles 0.1 kW at 0.2.
    result = planned(small(2, idle_watts=100.0, may_be_off=False), hours=2)
    assert interval(result.other_horizons[1]) == (pytest.approx(0.02), pytest.approx(0.02))
    # A profit falls by as much: here both tasks sell for 1.
    bag = small(2, idle_watts=100.0, may_be_off=False, prices=Prices(per_task={"render": 1.0}))
    more = planned(bag, hours=2, objective="profit").other_horizons[1]
    assert interval(more) == (pytest.approx(-0.02), pytest.approx(-0.02))


def test_an_idle_machine_above_the_cap_of_the_next_hour_is_named():
    cap = Series((0, 2 * HOUR), 3 * HOUR, (2000.0, 50.0))
    bag = small(2, Site(power_cap=cap), idle_watts=100.0, may_be_off=False)
    more = planned(bag, hours=2).other_horizons[1]
    assert more.reason == "idle machines draw more than the power cap then"


@pytest.mark.rotate(4)
@pytest.mark.parametrize("seed", range(16))
def test_one_more_saves_no_less_than_is_claimed_by_all_plans_on_a_grid_and_an_independent_program(seed):
    rng = random.Random(500 + seed)  # noqa: S311
    while True:
        bag, slots = drawn(rng, most_tasks=2, most_seconds=2, slot_count=2, sites=1)
        if 4 <= slots.horizon <= 5 and best_of_all(bag, slots) is not None:
            break
    problem = HorizonProblem(bag, replace(slots, start=None), "cost")
    asked = {"work": 0.05, "gap": 1e-6, "seed": 0, "baselines": False, "marginals": Marginals.PROVED}
    try:
        result = plan_problem(problem, default_solver(), CancelToken(), **asked)
    except (InfeasibleError, NotFoundError):
        return

    best = best_of_all(bag, slots)
    assert best is not None
    most = float(best) + 1e-6 * (1 + abs(float(best)))
    for machine, worth in zip(bag.machine_types, result.machine_worth, strict=True):
        grown = with_machines(bag, {machine.name: machine.count + 1})
        least = least_by_work(grown, slots, Weights())
        assert least is not None or worth.at_least is None
        if worth.at_most is None:
            assert (least, worth.reason) == (None, "no plan then (proved)")
            continue
        if least is not None and worth.at_least is not None:
            assert worth.at_least <= most - least.value
        assert worth.at_least is None or worth.at_least <= worth.at_most
        assert worth.at_most >= 0 or not machine.may_be_off


def present(value: int, bound: int, other: tuple[int, int | None] | None, **fields):
    """Return a problem whose best value is between `bound` and `value`; with a change, it is between those of `other`."""
    from lpsched.bag.horizon import answers  # noqa: PLC0415 - a part of it is replaced

    bag = small(2, **fields)
    problem = build_horizon(bag, horizon=2.0 * HOUR, start=0, tariff=PRICES)
    arrays = problem.arrays()
    relaxed = relax(arrays, default_solver())
    multipliers = HorizonMultipliers((-1e9,))  # prove little

    class Replaced(answers.Present):
        def again(self, problem):  # noqa: ARG002 - as it is called
            if other is None:
                raise InfeasibleError("no plan")
            low, high = other
            return Fraction(low), None if high is None else Fraction(high)

    ends = Fraction(value), Fraction(bound)
    made = (Plan(()), *ends, default_solver(), CancelToken(), CancelToken(), 0.1, 0)
    return Replaced(problem, arrays, relaxed, multipliers, *made)


def test_intervals_are_between_the_bound_of_one_side_and_the_plan_of_the_other():
    from lpsched.bag.horizon.answers import machine_worth, other_horizons  # noqa: PLC0415 - as above

    # The best value is 8 to 10 now and 5 to 6 with one more: at most 10 - 5 are saved, and at least 8 - 6.
    (worth,) = machine_worth(present(10, 8, (5, 6)), Marginals.PROVED)
    assert (worth.at_least, worth.at_most) == (2.0, 5.0)
    # 7 to 9 with one more: 8 - 9 is less than nothing, but the new one may be off.
    (worth,) = machine_worth(present(10, 8, (7, 9)), Marginals.PROVED)
    assert (worth.at_least, worth.at_most) == (0.0, 3.0)
    # Another hour: at least 5 - 10, at most 6 - 8; without a plan, and with an hour more, at most 0.
    less, more = other_horizons(present(10, 8, (5, 6)))
    assert (less.bound, less.at_least, less.at_most) == (5.0, -5.0, -2.0)
    assert (more.bound, more.at_least, more.at_most) == (5.0, -5.0, -2.0)
    less, more = other_horizons(present(10, 8, (9, None)))
    assert (less.at_least, less.at_most) == (-1.0, None)
    assert (more.at_least, more.at_most) == (-1.0, 0.0)


def test_where_there_is_no_plan_with_one_more_machine_or_another_hour_nothing_else_is_claimed():
    from lpsched.bag.horizon.answers import machine_worth, other_horizons  # noqa: PLC0415 - as above

    (worth,) = machine_worth(present(10, 8, None), Marginals.PROVED)
    assert worth.at_least == 0.0  # the new one may be off
    assert worth.at_most == pytest.approx(10 - 0.1)  # both tasks in the hour at 0.1: no plan costs less
    assert [each.reason for each in other_horizons(present(10, 8, None))] == ["no plan finishes all tasks (proved)"] * 2


def test_under_a_cap_an_hour_more_may_change_the_best_plan_by_more_than_this_one():
    # Idling draws more than running, so that the cap of 75 W needs tasks in the second hour once it is a whole one. A
    # plan with two there stays valid and idles for 0.01; the best of now, with one there, does not.
    from lpsched.bag.horizon.answers import Present, other_horizons  # noqa: PLC0415 - as above

    bag = Bag(
        "b", (MachineType("m", 1, idle_watts=100.0),), (TaskType("t", 5),), Table.of([[900.0]]), Table.of([[50.0]])
    )
    cap, prices = (Series((0, HOUR, 2 * HOUR), 3 * HOUR, row) for row in ((200.0, 75.0, 200.0), (1.0, 0.1, 0.1)))
    problem, later = (
        build_horizon(bag, horizon=end, start=0, tariff=prices, power_cap=cap) for end in (5400.0, 9000.0)
    )
    first, second = (Plan((PlanGroup("m", 1, (TimedRun(0.0, "t", 5 - n), TimedRun(3600.0, "t", n))),)) for n in (2, 1))
    own, best = (problem.value(verified(problem, each)) for each in (first, second))
    assert best < own
    arrays, solver = problem.arrays(), default_solver()
    relaxed = relax(arrays, solver)
    multipliers = multipliers_of(problem, arrays, relaxed.prices, relaxed.fine_prices)
    bound = prove(problem.bag, problem.slots, problem.weights, multipliers)
    spent = CancelToken().share(0.0)
    now = Present(problem, arrays, relaxed, multipliers, first, own, bound, solver, CancelToken(), spent, 0.0, 0)
    (change,) = (each for each in other_horizons(now) if each.horizon_seconds == later.slots.horizon)
    rises = 0.075 - float(best)  # all later plans cost 0.075 at least: three tasks in the first hour
    assert change.at_most is None or change.at_most >= rises - 1e-9


def test_once_the_work_for_all_answers_is_used_up_bounds_are_still_proved():
    from lpsched.bag.horizon import answers  # noqa: PLC0415 - as above

    now = present(10, 8, (5, 6))
    spent = CancelToken().share(0.0)
    plain = answers.Present(*(getattr(now, name) for name in answers.Present.__slots__))
    bound, value = replace(plain, budget=spent).again(now.problem)
    assert value is None
    assert float(bound) == pytest.approx(0.1)
    assert plain.again(now.problem)[1] == pytest.approx(0.1)
