"""Two roads to one number: lpsched's fast programs, and the same maths once more in models/.

What lpsched proves is exact, so a bound on the wrong side would be a false proof, and one too far away comes of
bad prices. A relative 1e-7 is asked of both sides.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.bag.model import Terms
from lpsched.bag.packing import PackingOracle
from lpsched.bag.problem import build_problem
from lpsched.bag.relaxation import Regime
from lpsched.bag.search.makespan_intervals import scoring_of
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.solvers import default_solver
from models.front import least_cost, least_energy_then_makespan, least_makespan_then_energy
from models.makespan import least_makespan
from models.packing import best_rate_between
from models.profit import best_rate, break_even_price, income, least_running_cost, standing
from models.whole_tasks import on_energy_grid, on_grid
from tests.property.bags import ORDINARY, UNEQUAL, limited_bags, plain_bags, priced_bags
from tests.property.tiny import cases

pytestmark = pytest.mark.rotate_tests(3)

# The papers' method: what is tested here is about the relaxation, not about how hard is searched.
certify = partial(lpsched.certify, effort="fast")
front = partial(lpsched.front, effort="fast")
price_curve = partial(lpsched.price_curve, effort="fast")
solve = partial(lpsched.solve, effort="fast")

CLOSE = 1e-7
WEIGHTS = {
    "energy": {"joules_weight": 1.0, "seconds_weight": 0.0},
    "makespan": {"joules_weight": 0.0, "seconds_weight": 1.0},
}

thorough = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ordinary_or_unequal = pytest.mark.parametrize("ranges", [ORDINARY, UNEQUAL], ids=["ordinary", "unequal"])


def bound_of(bag, objective) -> float:
    """Return the proved bound; whole tasks may miss a deadline that split ones meet, then without a schedule."""
    try:
        return solve(bag, objective=objective).bound
    except (InfeasibleError, NotFoundError):  # proved to be so for whole tasks, or not found
        return float(certify(bag, objective=objective).bound)


def close(one: float, other: float, *, size: float | None = None, rounding: float = 0.0) -> bool:
    return abs(one - other) <= CLOSE * (abs(other) if size is None else size) + rounding


def rounding_of(bag) -> float:
    """Return the joules that prices, being doubles, cannot tell: the rounding of what tasks may save of idling.

    Where a task draws D joules less than idle, its price must balance D to the last digit; ten of them are left.
    """
    saved = 0.0
    for task, seconds, watts in zip(bag.task_types, bag.seconds, bag.watts, strict=True):
        idle = [bag.machine_types[j].idle_watts for j, _ in bag.modes]
        pairs = [(e, a, b) for e, a, b in zip(seconds, watts, idle, strict=True) if e is not None]
        saved += task.count * max(0.0, *(e * (b - a) for e, a, b in pairs), 0.0)
    return 10 * 2.0**-52 * saved


def assert_close_on_the_grid(bag, objective) -> None:
    """Hold the bound against the optimum of the model, both as the next value that whole tasks may have."""
    grid, rounding = (on_energy_grid, rounding_of(bag)) if objective == "energy" else (on_grid, 0.0)
    bound, least = bound_of(bag, objective), least_cost(bag, **WEIGHTS[objective])
    off = CLOSE * abs(least) + rounding
    assert grid(bag, least - off) - Fraction(off) <= bound <= grid(bag, least + off) + Fraction(off)


@ordinary_or_unequal
@pytest.mark.parametrize("objective", WEIGHTS)
@thorough
@given(st.data())
def test_the_least_of_one_criterion_is_the_same_by_both_roads(ranges, objective, data):
    bag = data.draw(limited_bags(ranges))
    assert_close_on_the_grid(bag, objective)


@ordinary_or_unequal
@thorough
@given(st.data())
def test_a_makespan_needs_no_watts_on_either_road(ranges, data):
    bag = data.draw(plain_bags(ranges, power=False))
    assert_close_on_the_grid(bag, "makespan")
    if ranges is ORDINARY:  # models/makespan.py scales less
        assert close(least_makespan(bag), least_cost(bag, **WEIGHTS["makespan"]))


@ordinary_or_unequal
@thorough
@given(st.data())
def test_the_best_rate_is_the_same_by_both_roads(ranges, data):
    bag = data.draw(priced_bags(ranges))
    rate, idle = best_rate(bag), standing(bag)
    # The rate is what running earns, less what a second costs anyway: the two may cancel.
    assert close(bound_of(bag, "profit") / 3600, rate, size=abs(rate + idle) + idle)


@ordinary_or_unequal
@thorough
@given(st.data())
def test_running_pays_exactly_above_the_break_even_price_of_the_model(ranges, data):
    bag = data.draw(priced_bags(ranges))
    even = break_even_price(bag)
    above = float(certify(bag, objective="profit", price=even * (1 + CLOSE)).bound) / 3600
    below = float(certify(bag, objective="profit", price=even * (1 - CLOSE)).bound) / 3600
    # There, running earns what a second costs anyway: rates are known to 1e-7 of the two together.
    assert above > -CLOSE * 2 * standing(bag)
    assert below <= CLOSE * 2 * standing(bag)


@ordinary_or_unequal
@thorough
@given(st.data())
def test_the_regime_is_the_one_that_the_two_prices_of_the_model_say(ranges, data):
    bag = data.draw(priced_bags(ranges)).without_deadline()
    earned, overhead = income(bag), bag.prices.overhead_per_bag
    waiting, even = least_running_cost(bag), break_even_price(bag) - overhead
    assume(not close(earned, even) and not close(earned, waiting))
    assume(not close(best_rate(bag), 0.0, size=2 * standing(bag)))
    regime = solve(bag, objective="profit").bound_regime
    assert regime is (Regime.DO_NOT_RUN if earned < waiting else Regime.LOSS if earned < even else Regime.PROFIT)


@thorough
@given(st.data())
def test_the_price_curve_breaks_even_where_the_model_does(data):
    # Ordinary scales: the curve counts all prices in one makespan, and leaves out corners flatter than 1e-7.
    bag = data.draw(priced_bags(ORDINARY))
    even = price_curve(bag, effort="fast").break_even_price  # a search may prove more
    assert even is not None
    assert close(even, break_even_price(bag))


@ordinary_or_unequal
@thorough
@given(st.data())
def test_the_front_ends_where_the_model_does(ranges, data):
    bag = data.draw(limited_bags(ranges))
    vertices = front(bag).vertices
    thriftiest, fastest = vertices[0], vertices[-1]
    joules, seconds = least_energy_then_makespan(bag)
    _, sooner = least_energy_then_makespan(bag, slack=CLOSE)
    assert close(thriftiest.energy_joules, joules)
    assert thriftiest.makespan_seconds >= sooner * (1 - CLOSE)
    least_joules, least_seconds = least_makespan_then_energy(bag)
    thriftier, _ = least_makespan_then_energy(bag, slack=CLOSE)
    assert close(fastest.makespan_seconds, least_seconds)
    assert fastest.energy_joules >= thriftier * (1 - CLOSE)
    if ranges is ORDINARY:  # else a billionth of one may be worth a multiple of the other
        assert abs(thriftiest.makespan_seconds - seconds) <= CLOSE * seconds + (seconds - sooner)
        assert abs(fastest.energy_joules - least_joules) <= CLOSE * least_joules + (least_joules - thriftier)


@ordinary_or_unequal
@thorough
@given(st.data())
def test_every_edge_of_the_front_is_as_far_out_as_the_model_says(ranges, data):
    bag = data.draw(limited_bags(ranges))
    for proof in front(bag).proofs:
        weights = {"joules_weight": proof.joules_weight, "seconds_weight": proof.seconds_weight}
        rounding = proof.joules_weight * rounding_of(bag)
        assert close(proof.bound, least_cost(bag, **weights), rounding=rounding)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(limits=False), st.floats(1.0, 1.3))
def test_patterns_of_an_interval_earn_the_same_by_both_roads(case, width):
    bag, solver = case.bag, default_solver()
    question = build_problem(bag, Terms(objective="profit"), solver)
    least = min(way.load for way in case.ways)  # somebody is done by then
    start, end = float(least), float(least) * width
    assume(start >= least and question.bag == bag)
    scoring = scoring_of(question)
    oracle = PackingOracle(scoring.items, start, start, end, 20_000)
    engine = ColumnGeneration(solver, oracle.master(), oracle, [], stage=None, mixed=1.0)
    prices = oracle.prices(engine.run(gap=1e-9).multipliers)
    proved = float(
        scoring.prover.score(*scoring.prover.line(prices, end, oracle.cells), start, end) - scoring.fixed_rate
    )
    other = best_rate_between(bag, start, end)
    size = abs(other) + standing(bag) + (abs(income(bag)) + 2 * bag.prices.overhead_per_bag) / start
    assert proved >= other - CLOSE * size
    # Tasks that fit only on the grid may earn a little more; without any money the solver's tolerance is left.
    assert proved <= other + 1e-2 * size + 1e-9
