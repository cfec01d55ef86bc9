"""Bags that are planned again in every slot by a forecast: what is known when, what is done, and what is claimed."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from lpsched.bag.horizon.certificate import check_horizon
from lpsched.bag.horizon.forecasts.forecast import PREVIOUS_DAY, Knowledge, knowledge_of, mean_between
from lpsched.bag.horizon.forecasts.replan import replan, replan_known
from lpsched.bag.horizon.forecasts.replanner import MOST_READY, Begun, Replanner, fewer
from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.solve import HorizonProblem, build_horizon, plan_problem
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.series import Series
from lpsched.model.table import Table
from tests.bag.horizon.tiny_horizons import PER_JOULE, drawn

HOUR, DAY = 3600, 86400
SEARCH = {"work": 0.02, "gap": 1e-4, "seed": 0}
CASES = 40


# One machine type of 1 kW while it runs, tasks of an hour unless said otherwise.
def small(count: int = 1, machines: int = 1, seconds: float = 3600.0, **fields) -> Bag:
    cpu = MachineType("cpu", machines, **{"may_be_off": True} | fields)
    return Bag("small", (cpu,), (TaskType("render", count),), Table.of([[seconds]]), Table.of([[1000.0]]))


def over_hours(*values: float, start: int = 0) -> Series:
    return Series(tuple(start + HOUR * h for h in range(len(values))), start + HOUR * len(values), values)


def replanned(bag: Bag, actual: tuple[float, ...], forecast: tuple[float, ...], **options):
    given = {"horizon": float(HOUR * len(actual)), "start": 0, "tariff": over_hours(*actual)} | options
    return replan(bag, forecast=over_hours(*forecast), **given)


def quickly(bag: Bag, actual: tuple[float, ...], forecast: tuple[float, ...]):
    problem = build_horizon(bag, horizon=float(HOUR * len(actual)), start=0, tariff=over_hours(*actual))
    return simulated(knowledge_of(problem, over_hours(*forecast)))


def values_of(result) -> list[float]:
    return [each.value for each in result.plans]


def starts_of(plan: Plan) -> list[tuple[float, str, int]]:
    return sorted((run.start_seconds, run.task_type, run.count) for each in plan.groups for run in each.runs)


# By hand.
def test_a_task_is_put_off_when_its_hour_turns_out_to_be_expensive():
    # Forecast: the second hour is cheapest. It costs 0.4, so that the task waits for the third, 0.2, as forecast.
    result = replanned(small(), (0.3, 0.4, 0.2), (0.3, 0.1, 0.2))
    assert values_of(result) == [pytest.approx(each) for each in (0.2, 0.4, 0.2, 0.3)]
    assert result.bound == pytest.approx(0.2)
    assert result.loss_at_most == pytest.approx(0.0, abs=1e-9)
    assert result.loss_measured == 0.0
    assert (result.searched, result.adopted) == (1, 1)  # no news in the third hour
    assert result.mean_error == pytest.approx(0.3 / 3)


def test_a_wrong_forecast_loses_what_arithmetic_says():
    # In the second hour, 0.2, the forecast of the third is 0.15: the task waits, and pays 0.25. At best it pays 0.2.
    result = replanned(small(), (0.2, 0.2, 0.25), (0.2, 0.1, 0.15))
    assert values_of(result) == [pytest.approx(each) for each in (0.25, 0.2, 0.2, 0.2)]
    assert result.loss_at_most == pytest.approx(0.05)
    assert result.loss_measured == pytest.approx(0.05)
    assert result.gap == pytest.approx(0.25)


def test_the_forecast_of_carbon_or_profit_is_of_what_is_optimised():
    carbon = {"objective": "carbon", "carbon": over_hours(300.0, 400.0, 200.0), "tariff": 0.3}
    result = replanned(small(), (0.0,) * 3, (300.0, 100.0, 200.0), **carbon)
    assert (result.forecast_of, result.unit, result.value) == ("carbon", "g", pytest.approx(200.0))
    bag = small(2).model_copy(update={"prices": Prices(per_task={"render": 0.25})})
    result = replanned(bag, (0.3, 0.4, 0.2), (0.3, 0.1, 0.2), objective="profit")
    # Planned once, both run: 0.5 - 0.4 - 0.2. In the second hour it is known that one does not pay: 0.25 - 0.2.
    assert values_of(result)[:3] == [pytest.approx(each) for each in (0.05, -0.1, 0.05)]
    assert result.loss_at_most == pytest.approx(0.0, abs=1e-9)
    assert result.finished == {"render": 1}


def test_with_a_price_of_carbon_the_carbon_intensity_is_known():
    # Per kWh 0.3 + 0.1, 0.1 + 0.5, 0.2 + 0.1: the third hour, though the forecast of its tariff is wrong.
    carbon = over_hours(100.0, 500.0, 100.0)
    result = replanned(small(), (0.3, 0.1, 0.2), (0.3, 0.1, 0.25), carbon=carbon, carbon_price=1.0)
    assert values_of(result)[:3] == [pytest.approx(0.3)] * 3


def test_idling_earns_in_hours_that_turn_out_to_be_negative():
    # An hour at -1: 0.1 kW idle earn 0.1 once the price is known, but not where it was planned once.
    result = replanned(small(idle_watts=100.0), (0.1, -1.0, 0.3), (0.1, 0.2, 0.3))
    assert values_of(result)[:3] == [pytest.approx(each) for each in (0.1 - 0.1, 0.1, -1.0)]


def test_a_machine_stays_on_for_a_run_that_was_put_off():
    # Planned: an hour at 0.1, an hour idle at 5 (0.5, less than another start for 1), an hour at 0.1. The third hour
    # costs 3, so that the second task waits for the fourth, and the machine idles for 0.3 more: it is on already.
    bag = small(2, idle_watts=100.0, switch_on_cost=1.0)
    result = replanned(bag, (0.1, 5.0, 3.0, 1.5), (0.1, 5.0, 0.1, 1.5))
    assert result.plans[1].value == pytest.approx(0.1 + 0.5 + 3.0 + 1.0)  # planned once
    assert result.value == pytest.approx(0.1 + 0.5 + 0.3 + 1.5 + 1.0)
    assert result.plans[0].costs.switch_ons == 1


def test_a_machine_is_switched_off_once_idling_is_known_to_cost_more():
    # The idle hour costs 20 * 0.1, more than another start; it is known when it begins.
    bag = small(2, idle_watts=100.0, switch_on_cost=1.0)
    result = replanned(bag, (0.1, 20.0, 0.1, 30.0), (0.1, 5.0, 0.1, 30.0))
    assert result.value == pytest.approx(0.1 + 0.1 + 2 * 1.0)
    assert result.plans[1].value == pytest.approx(0.1 + 0.1 + 2.0 + 1.0)


def test_caps_and_a_demand_charge_hold_for_what_goes_on_and_what_is_new():
    # Two machines, tasks of 90 minutes, 1 kW on average: while one goes on, only half an hour of another fits.
    cap = over_hours(*[1000.0] * 6)
    result = replanned(
        small(3, 2, seconds=5400.0), (0.1, 0.3, 0.2, 0.5, 0.2, 0.3), (0.1, 0.2, 0.2, 0.1, 0.1, 0.1), power_cap=cap
    )
    assert result.plans[0].costs.peak_watts <= 1000.0
    assert sum(result.finished.values()) == 3
    bag = small(6, 6)
    charged = bag.model_copy(update={"site": bag.site.model_copy(update={"demand_charge_per_kw": 10.0})})
    result = replanned(charged, (0.3, 0.1, 0.2), (0.3, 0.2, 0.1))
    assert result.plans[0].costs.demand == pytest.approx(20.0)  # 6 kWh in 3 hours: 2 kW at least


# What holds for every bag.
def drawn_problem(seed: int) -> tuple[HorizonProblem, list[tuple[float, ...]], random.Random]:
    rng = random.Random(seed)  # noqa: S311
    bag, slots = drawn(rng, machines=rng.choice([2, 3]), most_tasks=5, slot_count=5)
    objective = ("cost", "carbon", "profit")[seed % 3]
    least = 0 if objective == "carbon" else -2
    forecasts = [tuple(PER_JOULE * rng.randint(least, 4) for _ in range(slots.count)) for _ in slots.sites]
    return HorizonProblem(bag, slots, objective), forecasts, rng


def known(problem: HorizonProblem, forecasts: list[tuple[float, ...]]) -> Knowledge:
    key = "carbon" if problem.objective == "carbon" else "tariff"
    return Knowledge(problem, key, tuple(forecasts), (None,) * len(forecasts))


def simulated(knowledge: Knowledge):
    solver = default_solver()
    return replan_known(knowledge.actual, knowledge, "drawn", solver, CancelToken(), work=0.02, seed=0)


@pytest.mark.rotate(8)
@pytest.mark.parametrize("seed", range(CASES))
def test_what_is_done_is_valid_and_no_better_than_the_bound_and_later_prices_change_nothing(seed):
    problem, forecasts, rng = drawn_problem(2000 + seed)
    try:
        result = simulated(known(problem, forecasts))
    except (InfeasibleError, NotFoundError):
        return
    assert verify_plan(problem.bag, problem.slots, result.plan, optional=problem.weights.optional) == ()
    value = problem.value(measure_plan(problem.bag, problem.slots, result.plan))
    bound = result.certificate.bound
    assert value <= bound if problem.objective == "profit" else value >= bound
    assert check_horizon(problem.bag, problem.slots, result.certificate).accepted
    assert Fraction(result.loss_at_most) >= abs(value - bound)
    # Other actual values from some slot on: what begins before is the same.
    h = rng.randint(1, problem.slots.count - 1)
    key = known(problem, forecasts).key
    sites = []
    for site in problem.slots.sites:
        later = tuple(PER_JOULE * rng.randint(0, 4) for _ in range(problem.slots.count - h))
        sites.append(replace(site, **{key: getattr(site, key)[:h] + later}))
    other = replace(problem, slots=replace(problem.slots, sites=tuple(sites)))
    once = plan_problem(known(other, forecasts).at(0), default_solver(), CancelToken(), **SEARCH, baselines=False).plan
    again = Replanner(known(other, forecasts), default_solver(), CancelToken(), work=0.02, seed=0).run(once)
    moment = problem.slots.edges[h]
    begun = [
        sorted(
            (each.machine_type, run.start_seconds, task, run.task_type, run.p_state or "")
            for each in plan.groups
            for _ in range(each.machines)
            for run in each.runs
            for task in range(run.count)
            if run.start_seconds + task * seconds_of(problem.bag, each.machine_type, run) < moment
        )
        for plan in (result.plan, again.plan)
    ]
    assert begun[0] == begun[1]


def seconds_of(bag: Bag, machine_type: str, run: TimedRun) -> float:
    i = next(i for i, task in enumerate(bag.task_types) if task.name == run.task_type)
    for column, (j, k) in enumerate(bag.modes):
        machine = bag.machine_types[j]
        if machine.name == machine_type and (machine.p_states is None or machine.p_states[k] == run.p_state):
            return bag.seconds[i, column] or 0.0
    raise AssertionError


def hourly(count: int, **fields) -> Bag:
    """Two task types that fill half of three machines for half a day."""
    machines = (MachineType("a", 2, **{"may_be_off": True} | fields), MachineType("b", 1, may_be_off=True))
    tasks = (TaskType("long", count), TaskType("short", 4 * count))
    return Bag("hourly", machines, tasks, Table.of([[5000.0, 7000.0], [700.0, 600.0]]), Table.of([[900, 500.0]] * 2))


@pytest.mark.parametrize("fields", [{}, {"idle_watts": 80.0, "switch_on_cost": 0.02}])
def test_a_perfect_forecast_loses_nothing_against_planning_once(fields):
    rng = random.Random(7)  # noqa: S311
    actual = tuple(round(rng.uniform(0.05, 0.4), 3) for _ in range(12))
    bag = hourly(8, **fields)
    result = quickly(bag, actual, actual)
    again, once, foresight, _ = result.plans
    assert again.value == once.value == foresight.value
    assert (result.searched, result.loss_measured) == (0, 0.0)
    # Nearly perfect: a new plan is searched for in every slot, and adopted only where it is better.
    nearly = quickly(bag, actual, tuple(each + 1e-9 * rng.random() for each in actual))
    assert nearly.searched > 0
    assert nearly.plans[0].value <= nearly.plans[1].value + 1e-6


@pytest.mark.parametrize("fields", [{}, {"may_be_off": False, "idle_watts": 80.0}])
def test_every_new_plan_keeps_what_has_begun_and_is_valid(fields):
    # Not only those that are adopted: a plan that breaks a rule would be dropped without a word.
    rng = random.Random(11)  # noqa: S311
    actual, forecast = ([rng.uniform(0.05, 0.4) for _ in range(12)] for _ in range(2))
    problem = build_horizon(hourly(6, **fields), horizon=12.0 * HOUR, start=0, tariff=over_hours(*actual))
    knowledge = knowledge_of(problem, over_hours(*forecast))
    own = Replanner(knowledge, default_solver(), CancelToken(), work=0.02, seed=0)
    plan = plan_problem(knowledge.at(0), default_solver(), CancelToken(), **SEARCH, baselines=False).plan
    for k in range(1, 8):
        known_now = knowledge.at(k)
        begun = own.begun(plan, known_now.slots.edges[k])
        made = own.planned(known_now, known_now.arrays(), begun, k, plan)
        assert made is not None
        assert verify_plan(problem.bag, problem.slots, made) == ()
        assert machines_of(own.begun(made, known_now.slots.edges[k])) == machines_of(begun)
        plan = made


@pytest.mark.parametrize("fields", [{}, {"may_be_off": False, "idle_watts": 80.0}])
def test_new_plans_leave_power_for_what_goes_on(fields):
    # A task of 90 minutes began at 0. In the second hour it draws 1 kW for half an hour, of 1 kW on average: so another
    # one, which would best run in the second and third hours, cannot begin before the second half of the second hour.
    bag, prices = small(2, 2, seconds=5400.0, **fields), over_hours(0.2, 0.1, 0.1, 0.9)
    cap = 1000.0 + fields.get("idle_watts", 0.0)
    problem = build_horizon(bag, horizon=4.0 * HOUR, start=0, tariff=prices, power_cap=over_hours(*[cap] * 4))
    plan = Plan(tuple(PlanGroup("cpu", 1, (TimedRun(start, "render", 1),)) for start in (0.0, 9000.0)))
    own = Replanner(knowledge_of(problem, prices), default_solver(), CancelToken(), work=0.02, seed=0)
    made = own.planned(problem, problem.arrays(), own.begun(plan, 3600.0), 1, plan)
    assert verify_plan(bag, problem.slots, made) == ()
    first, second = (start for start, _, _ in starts_of(made))
    assert first == 0.0
    assert 5400.0 <= second < 9000.0


def machines_of(begun: list[Begun]) -> Counter[tuple[int, tuple[TimedRun, ...]]]:
    """Return how many machines have begun the same."""
    found: Counter[tuple[int, tuple[TimedRun, ...]]] = Counter()
    for each in begun:
        found[each.j, each.runs] += each.count
    return found


def test_the_same_seed_gives_the_same_answer_and_a_limit_keeps_the_first_plan():
    actual, forecast = (0.3, 0.4, 0.2, 0.1, 0.3, 0.2), (0.3, 0.1, 0.2, 0.3, 0.2, 0.1)
    first, second = (quickly(hourly(3), actual, forecast) for _ in range(2))
    assert starts_of(first.plan) == starts_of(second.plan)
    stopped = CancelToken()
    bag, solver = hourly(3), default_solver()
    terms = {"horizon": 6.0 * HOUR, "start": 0, "tariff": over_hours(*actual)}
    knowledge = knowledge_of(build_horizon(bag, **terms), over_hours(*forecast))
    once = Plan((PlanGroup("a", 1, (TimedRun(0.0, "long", 3),)), PlanGroup("b", 1, (TimedRun(0.0, "short", 12),))))
    stopped.stop()
    done = Replanner(knowledge, solver, stopped, work=0.1, seed=0).run(once)
    assert (done.plan, done.slots, done.searched) == (once, 0, 0)
    cut = replace(first, planned_slots=2, stopped="stopped by the time limit")
    assert "Planned again in the first 2 of 6 slots by the forecast" in cut.headline()
    assert "every slot" not in str(cut.facts())


# What has begun.
def replanner(bag: Bag) -> Replanner:
    knowledge = known(build_horizon(bag, horizon=4.0 * HOUR, start=0, tariff=0.1), [(0.1,)])
    return Replanner(knowledge, default_solver(), CancelToken(), work=0.1, seed=0)


@pytest.mark.parametrize(("moment", "begun", "ready"), [(3600.0, 2, 3600), (3601.0, 3, 5400), (7200.0, 4, 7200)])
def test_tasks_of_a_run_that_have_not_begun_are_planned_again(moment, begun, ready):
    plan = Plan((PlanGroup("cpu", 2, (TimedRun(0.0, "render", 4), TimedRun(7200.0, "render", 1))),))
    (found, other) = replanner(small(10, 3, seconds=1800.0)).begun(plan, moment)
    assert (found.count, found.ready, [run.count for run in found.runs]) == (2, ready, [begun])
    assert found.is_on
    assert (other.count, other.runs, other.is_on) == (1, (), False)


def test_a_machine_is_on_while_it_idles_and_off_after():
    idle = (IdleSpan(0.0, 9000.0),)
    plan = Plan((PlanGroup("cpu", 1, (TimedRun(0.0, "render", 1),), idle),))
    own = replanner(small(2, idle_watts=10.0, switch_on_cost=1.0))
    (on,), (off,) = own.begun(plan, 7200.0), own.begun(plan, 10800.0)
    assert (on.is_on, on.idle) == (True, (IdleSpan(0.0, 7200.0),))
    assert (off.is_on, off.idle) == (False, idle)


def test_machines_are_never_taken_to_be_ready_earlier_than_they_are():
    rng = random.Random(5)  # noqa: S311
    begun = [Begun(rng.randint(0, 1), rng.randint(1, 9), (), (), Fraction(0), is_on=True) for _ in range(60)]
    steps = [rng.randint(0, 30) for _ in begun]
    found = fewer(begun, steps)
    for j in (0, 1):
        own = [(before, after) for each, before, after in zip(begun, steps, found, strict=True) if each.j == j]
        assert all(before <= after for before, after in own)
        assert all(after == 0 for before, after in own if before == 0)
        assert len({after for _, after in own} - {0}) == MOST_READY


# What is known.
def test_previous_day_is_the_same_hour_of_the_last_day_that_is_known():
    actual = over_hours(*map(float, range(96)), start=-DAY)  # hour h of the horizon has h + 24
    problem = build_horizon(small(), horizon=60.0 * HOUR, start=0, tariff=actual)
    knowledge = knowledge_of(problem, PREVIOUS_DAY)
    first, later = knowledge.values(0, 0), knowledge.values(0, 10)
    assert first[:3] == (24.0, 1.0, 2.0)
    assert (first[24], first[25], first[48], first[59]) == (24.0, 1.0, 24.0, 11.0)
    assert later[9:12] == (33.0, 34.0, 11.0)
    assert (later[34], later[35]) == (34.0, 11.0)  # hour 10 of the first day is known, hour 11 is not
    assert knowledge.is_news(1)


def test_equal_prices_are_not_known_to_stay():
    # As slots of a plan, two equal hours are one: here that would reveal the second one in the first.
    problem = build_horizon(small(), horizon=3.0 * HOUR, start=0, tariff=over_hours(0.2, 0.2, 0.3))
    assert problem.slots.count == 2
    knowledge = knowledge_of(problem, over_hours(0.2, 0.5, 0.1))
    assert knowledge.values(0, 0) == (0.2, 0.5, 0.1)
    assert knowledge.values(0, 1) == (0.2, 0.2, 0.1)
    # The proof is of the problem as `verify` states it.
    result = replanned(small(), (0.2, 0.2, 0.3), (0.2, 0.5, 0.1))
    assert result.slot_count == 3
    assert check_horizon(result.bag, problem.slots, result.certificate).accepted


def test_a_finer_forecast_counts_by_its_mean():
    halves = Series((0, 1800, 3600, 5400), 7200, (0.25, 0.5, 0.125, 0.25))
    problem = build_horizon(small(), horizon=2.0 * HOUR, start=0, tariff=over_hours(0.3, 0.2))
    assert knowledge_of(problem, halves).values(0, 0) == (0.3, 0.1875)
    assert mean_between(over_hours(0.1, 0.1, 0.7), 100.0, 3700.5) == 0.1


# Bad input.
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"forecast": None}, "forecast: got nothing, expected a forecast of the tariff"),
        ({"forecast": over_hours(0.1, 0.2)}, "forecast: got values from .* to 1970-01-01T02:00Z"),
        ({"forecast": PREVIOUS_DAY}, "tariff: got values .* one day before the horizon"),
        ({"forecast": math.nan}, "forecast: got"),
        ({"forecast": "instances/carbon-de-2024-01-08.csv"}, "no unit in the columns"),
        ({"objective": "carbon", "carbon": over_hours(1.0, 2.0, 3.0), "forecast": -1.0}, "forecast: got -1"),
        ({"tariff": 0.2}, "tariff: got one number for all times"),
        ({"horizon": None}, "horizon: got nothing"),
    ],
)
def test_what_is_missing_is_named(options, words):
    given = {"horizon": 3.0 * HOUR, "start": 0, "tariff": over_hours(0.3, 0.1, 0.2), "forecast": 0.2} | options
    with pytest.raises(InstanceError, match=words):
        replan(small(), **given)


def test_a_bag_needs_watts_and_sites_have_forecasts_of_their_own():
    bag = small().model_copy(update={"watts": None})
    with pytest.raises(InstanceError, match="watts: got none"):
        replanned(bag, (0.1, 0.2), (0.1, 0.2))
    sites = [{"name": "x", "tariff": over_hours(*[0.1] * 24, 0.2, 0.3, start=-DAY)}, {"name": "y", "tariff": 0.15}]
    kinds = tuple(MachineType(name, 1, may_be_off=True, site=name) for name in ("x", "y"))
    content = dict(small()) | {"sites": sites, "machine_types": kinds}
    both = Bag.model_validate(content | {"seconds": Table.of([[3600.0] * 2]), "watts": Table.of([[1000.0] * 2])})
    with pytest.raises(InstanceError, match="one for all of 2 sites, expected previous-day"):
        replan(both, horizon=2.0 * HOUR, start=0, forecast=0.1)
    result = replan(both, horizon=2.0 * HOUR, start=0, forecast=PREVIOUS_DAY)
    assert [row.forecast for row in result.slot_rows] == [0.2, 0.1, 0.15, 0.15]
    assert values_of(result)[:3] == [pytest.approx(each) for each in (0.15, 0.3, 0.15)]
