"""The front between cost and carbon, and the least cost over the deadline."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from lpsched.bag.horizon.curves import best_at_prices
from lpsched.bag.horizon.fronts import cost_carbon_front, cost_deadline, deadlines_of, front_of, until
from lpsched.bag.horizon.result import PlanCosts
from lpsched.bag.horizon.slots import SiteSlots, Slots, Weights
from lpsched.bag.horizon.solve import HorizonProblem
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InstanceError
from lpsched.lp.solvers import default_solver
from lpsched.model.series import Series
from lpsched.model.table import Table
from models.horizon import least_by_work
from tests.bag.horizon.test_brute_force import case
from tests.bag.horizon.tiny_horizons import drawn

HOUR = 3600.0


def one_machine(*, may_be_off: bool = True, idle_watts: float = 0.0) -> Bag:
    """Return two tasks of half an hour at 1 kW, for one machine."""
    cpu = MachineType("cpu", 1, idle_watts, may_be_off=may_be_off)
    return Bag("b", (cpu,), (TaskType("t", 2),), Table.of([[1800.0]]), Table.of([[1000.0]]))


def slots_of(edges, tariff, carbon=None, cap=None) -> Slots:
    return Slots(tuple(edges), (SiteSlots("site", tuple(tariff), carbon and tuple(carbon), cap and tuple(cap)),), (0,))


def front_by(problem: HorizonProblem, *, plans: int = 0):
    return front_of(problem, default_solver(), CancelToken(), plans=plans, work=0.05, seed=0)


def deadlines_by(problem: HorizonProblem, later: HorizonProblem | None = None, *, plans: int = 0):
    return deadlines_of(problem, later, default_solver(), CancelToken(), most=50, plans=plans, work=0.05, seed=0)


def test_a_front_of_two_slots_by_hand():
    # The hour of work is done in the first slot (0.1 and 400 g), the second (0.3 and 100 g), or half in each. The two
    # cost the same at 0.2 / 300 g, that is 2/3 a kg.
    problem = HorizonProblem(one_machine(), slots_of([0, HOUR, 2 * HOUR], [0.1, 0.3], [400, 100]), "cost")
    front = front_by(problem, plans=2)
    assert [each.cost for each in front.vertices] == pytest.approx([0.1, 0.3])
    assert [each.carbon_grams for each in front.vertices] == pytest.approx([400, 100])
    assert front.least_cost == pytest.approx(0.1)
    assert front.least_carbon_grams == pytest.approx(100)
    between = pytest.approx(200 / 300)
    assert [each.best_from_per_kg for each in front.vertices] == [0.0, between]
    assert [each.best_to_per_kg for each in front.vertices] == [between, None]
    edge = next(each for each in front.proofs if each.grams_weight == pytest.approx(0.2 / 300))
    assert edge.bound == pytest.approx(0.1 + 400 * 0.2 / 300)
    assert [(round(one, 9), round(two, 6)) for one, two in front.bound_corners()] == [(0.1, 400), (0.3, 100)]
    assert [(each.cost, each.carbon_grams) for each in front.measured()] == [
        (pytest.approx(0.1), pytest.approx(400)),
        (pytest.approx(0.3), pytest.approx(100)),
    ]


def random_problem(seed: int, **options) -> HorizonProblem:
    """Return a problem whose work relaxation has a solution."""
    rng = random.Random(seed)  # noqa: S311
    while True:
        bag, slots = drawn(rng, **options)
        if least_by_work(bag, slots, Weights()) is not None:
            return HorizonProblem(bag, slots, "cost")


def front_or_none(problem: HorizonProblem):
    """Return the front; nothing where whole tasks do not fit into the horizon."""
    try:
        return front_by(problem)
    except InfeasibleError:
        return None


@pytest.mark.rotate(8)
@pytest.mark.parametrize("seed", range(24))
def test_the_front_is_the_envelope_of_the_independent_program(seed):
    problem = random_problem(seed, types=3, machines=3, slot_count=5)
    front = front_or_none(problem)
    if front is None:
        return
    assert front.missed <= 1e-5
    rng = random.Random(seed)  # noqa: S311
    prices = [0.0, *(10 ** rng.uniform(-2, 2) for _ in range(6))]
    for price in prices:
        exact = least_by_work(problem.bag, problem.slots, Weights(1.0, price)).value
        size = 1.0 + max(abs(each.cost) + price * abs(each.carbon_grams) for each in front.vertices)
        assert min(each.cost + price * each.carbon_grams for each in front.vertices) == pytest.approx(
            exact, abs=3e-5 * size
        )
    least = least_by_work(problem.bag, problem.slots, Weights(0.0, 1.0)).value
    assert front.least_carbon_grams >= least - 1e-4 * (1 + abs(least))
    for one, two in pairwise(front.vertices):
        assert one.cost < two.cost
        assert one.carbon_grams > two.carbon_grams
    slopes = [(two.cost - one.cost) / (one.carbon_grams - two.carbon_grams) for one, two in pairwise(front.vertices)]
    assert slopes == sorted(slopes)


@pytest.mark.rotate(10)
@pytest.mark.parametrize("seed", range(0, 50, 2))
def test_no_plan_lies_below_a_proved_half_plane(seed):
    at = case(seed)
    if at.best is None or at.weights.optional:
        return
    front = front_or_none(HorizonProblem(at.bag, at.slots, "cost"))
    plans = [plan for plan, value in at.plans if value is not None] + [at.best_plan]
    assert front is not None
    for plan in plans:
        measured = measure_plan(at.bag, at.slots, plan)
        for proof in front.proofs:
            value = Fraction(proof.money_weight) * measured.money + Fraction(proof.grams_weight) * measured.grams
            assert value >= Fraction(proof.bound)
        for price in (0.0, 1e-3, 0.1, 2.0, 300.0, 1e12):  # of a kg, also between those that were tried, and beyond
            value = float(measured.money) + price / 1000 * float(measured.grams)
            assert front.price_bound(price) <= value + 1e-9 * (1 + abs(value))
        cost, grams = front.cost_bound(float(measured.grams)), front.least_carbon_grams
        assert cost <= float(measured.money) + 1e-9
        assert grams <= measured.grams
    for vertex in front.vertices:  # the bounds are not vacuous: they reach the relaxation, or more
        value = vertex.cost + vertex.carbon_price_per_kg / 1000 * vertex.carbon_grams
        assert vertex.bound >= value - 1e-4 * (1 + abs(value))


def costs(cost: float, grams: float) -> PlanCosts:
    return PlanCosts(cost, cost, 0.0, 0.0, 0.0, 0.0, 0.0, grams, 1.0, 0.0, 1.0, 1.0, 1.0, 0)


@pytest.mark.parametrize("seed", range(8))
def test_of_several_plans_the_best_at_a_price_is_known(seed):
    rng = random.Random(seed)  # noqa: S311
    plans = [costs(float(rng.randint(0, 9)), 1000.0 * rng.randint(0, 9)) for _ in range(rng.randint(1, 9))]
    best = best_at_prices(plans)
    starts = [price for price, _ in best]
    assert starts[0] == 0.0
    assert starts == sorted(set(starts))
    for price in [0.0, *starts, *(start + 0.01 for start in starts), 100.0]:
        known = next(each for start, each in reversed(best) if start <= price)
        values = [each.cost + price * (each.carbon_grams or 0.0) / 1000 for each in plans]
        assert known.cost + price * (known.carbon_grams or 0.0) / 1000 == pytest.approx(min(values))
    assert best_at_prices([]) == []


def test_a_front_of_few_programs_proves_less_but_nothing_false():
    problem = random_problem(3, types=3, machines=3, slot_count=5)
    exact = front_by(problem)
    few = front_of(problem, default_solver(), CancelToken(), plans=0, work=0.0, seed=0, most=4, runs=False)
    assert few.solves <= 4 < exact.solves
    for price in (0.0, 0.5, 5.0, 80.0):
        least = least_by_work(problem.bag, problem.slots, Weights(1.0, price / 1000)).value
        assert few.price_bound(price) <= least + 1e-6 * (1 + abs(least))


def test_plans_of_a_front_are_verified_and_measured():
    problem = random_problem(5, types=3, machines=3, slot_count=5)
    front = front_by(problem, plans=3)
    made = [each for each in front.vertices if each.plan is not None]
    assert made
    for each in made:
        assert verify_plan(problem.bag, problem.slots, each.plan) == ()
        measured = measure_plan(problem.bag, problem.slots, each.plan)
        assert each.costs.cost == pytest.approx(float(measured.money))
        assert each.costs.carbon_grams == pytest.approx(float(measured.grams))
    assert front.to_dict()["format"] == "lpsched-horizon-front/1"
    assert len(front.csv_rows()) == len(front.rows()) == len(front.vertices)


def test_a_front_needs_a_carbon_intensity():
    with pytest.raises(InstanceError, match="grams of CO2"):
        cost_carbon_front(one_machine(), horizon=7200, tariff=0.1)


# Deadlines.
def test_the_staircase_of_deadlines_by_hand():
    # An hour of 1 kW at 0.3, 0.5, 0.1: by 1 h and by 2 h it costs 0.3, by 3 h 0.1; half an hour would be too short.
    problem = HorizonProblem(one_machine(), slots_of([0, HOUR, 2 * HOUR, 3 * HOUR], [0.3, 0.5, 0.1]), "cost")
    later = replace(problem, slots=slots_of([0, HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR], [0.3, 0.5, 0.1, 0.05]))
    curve = deadlines_by(problem, later, plans=3)
    assert [each.deadline_seconds for each in curve.points] == [HOUR, 2 * HOUR, 3 * HOUR]
    assert [each.bound for each in curve.points] == pytest.approx([0.3, 0.3, 0.1])
    assert [each.value for each in curve.points] == pytest.approx([0.3, 0.3, 0.1])
    assert curve.shortest_seconds == pytest.approx(HOUR)
    assert curve.hour_later.at_least == pytest.approx(-0.05)
    assert curve.hour_later.at_most == pytest.approx(-0.05)
    assert curve.hour_later.lp_change == pytest.approx(-0.05)


def test_machines_that_must_stay_on_are_paid_until_the_deadline_only():
    # 100 W idle: by 1 h nothing idles, by 2 h one hour idles: 0.3 + 0.1 * 0.5.
    bag = one_machine(may_be_off=False, idle_watts=100.0)
    curve = deadlines_by(HorizonProblem(bag, slots_of([0, HOUR, 2 * HOUR], [0.3, 0.5]), "cost"))
    assert [each.bound for each in curve.points] == pytest.approx([0.3, 0.35])
    assert not curve.never_rises


@pytest.mark.rotate(6)
@pytest.mark.parametrize("seed", range(18))
def test_each_deadline_is_the_independent_program_and_costs_do_not_rise_where_machines_may_be_off(seed):
    problem = random_problem(seed + 100, types=2, machines=3, slot_count=5)
    if seed % 2:
        machines = tuple(each.model_copy(update={"may_be_off": True}) for each in problem.bag.machine_types)
        problem = replace(problem, bag=problem.bag.model_copy(update={"machine_types": machines}))
    try:
        curve = deadlines_by(problem)
    except InfeasibleError:
        return
    for point in curve.points:
        exact = least_by_work(problem.bag, until(problem.slots, point.deadline_seconds), Weights())
        assert exact is not None
        assert point.lp_cost == pytest.approx(exact.value, abs=1e-4)
        assert point.bound >= exact.value - 1e-4
    if all(each.may_be_off for each in problem.bag.machine_types):
        assert curve.never_rises
        assert all(one.bound >= two.bound for one, two in pairwise(curve.points))
    left = [end for end in problem.slots.edges[1:] if end not in {each.deadline_seconds for each in curve.points}]
    assert all(end <= curve.shortest_seconds for end in left)


def test_an_hour_more_than_the_series_is_not_known():
    prices = Series((0, 3600), 7200, (0.3, 0.1))
    curve = cost_deadline(one_machine(), horizon=7200, start=0, tariff=prices, plans=0)
    assert curve.hour_later is None
    assert [each.bound for each in curve.points] == pytest.approx([0.3, 0.1])
    longer = cost_deadline(one_machine(), horizon=3600, start=0, tariff=prices, plans=1, effort="fast")
    assert longer.hour_later.at_least == pytest.approx(-0.2)
    assert "Another hour changes the least cost by -0.2 USD" in longer.headline()
    assert longer.to_dict()["format"] == "lpsched-horizon-deadlines/1"


def test_a_curve_of_one_deadline_has_it_once_in_its_headline():
    problem = HorizonProblem(one_machine(), slots_of([0, HOUR], [0.1]), "cost")
    curve = deadlines_by(problem)
    assert len(curve.points) == 1
    assert curve.headline().startswith("Costs at least 0.1 USD by 1 h (proved)")
    assert " and " not in curve.headline()


def test_of_a_constant_price_whole_hours_are_deadlines():
    curve = cost_deadline(one_machine(may_be_off=False, idle_watts=100.0), horizon=9000, tariff=0.5, plans=0)
    assert [each.deadline_seconds for each in curve.points] == [3600, 7200, 9000]
    assert [each.bound for each in curve.points] == pytest.approx([0.5, 0.55, 0.575])
