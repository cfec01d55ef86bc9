"""No real schedule is excluded by what whole tasks imply: brute force, and the formulas once more."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lpsched.bag.arrays import usable_arrays
from lpsched.bag.certificate.bounds import Prover, Shortest
from lpsched.bag.problem import PairScreen
from lpsched.bag.relaxation import least_makespan
from models.whole_tasks import on_energy_grid, on_grid
from tests.property.rows import OBJECTIVES, claims, curve_claims, drawn_case, drawn_prices, solved_claims

BLOCK = 10  # seeds of one test


@pytest.mark.parametrize("seed", range(0, 200, BLOCK))
def test_no_schedule_is_excluded_by_any_prices(seed):
    for each in range(seed, seed + BLOCK):
        case = drawn_case(each)
        prices = drawn_prices(case.bag, each)
        assert [claim for claim, is_true in claims(case, prices) if not is_true] == [], each


@pytest.mark.rotate(2)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(0, 60, BLOCK))
def test_no_schedule_is_excluded_by_what_solve_claims(objective, seed):
    for each in range(seed, seed + BLOCK):
        held = solved_claims(drawn_case(each), objective)
        assert [claim for claim, is_true in held if not is_true] == [], each


@pytest.mark.parametrize("seed", range(0, 120, 10))
def test_no_schedule_is_excluded_along_the_front_and_the_price(seed):
    assert [claim for claim, is_true in curve_claims(drawn_case(seed)) if not is_true] == []


def test_bounds_are_the_next_values_that_whole_tasks_may_take():
    for seed in range(100):
        case = drawn_case(seed)
        bag, prices = case.bag, drawn_prices(case.bag, seed)
        if case.best("makespan") is None:
            continue
        prover = Prover(bag, None, Shortest(*least_makespan(bag)))
        makespan, joules = prover.makespan(prices), prover.energy(prices)
        assert (makespan, joules) == (on_grid(bag, makespan), on_energy_grid(bag, joules))
        assert on_energy_grid(bag, prover.cost(prices, 1.0, 0.0)) == joules


def test_a_screen_proves_the_same_but_for_rounding():
    for seed in range(100):
        case = drawn_case(seed)
        bag, prices = case.bag, drawn_prices(case.bag, seed)
        if case.best("makespan") is None:
            continue
        witness = Shortest(*least_makespan(bag))
        plain, screened = Prover(bag, None, witness), Prover(bag, PairScreen(usable_arrays(bag)), witness)
        assert plain.cost(prices, Fraction(1, 3), 2.0) == screened.cost(prices, Fraction(1, 3), 2.0)
        assert plain.makespan(prices) == on_grid(bag, screened.makespan(prices))
