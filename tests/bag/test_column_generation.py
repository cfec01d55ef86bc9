"""Huge bags by prices and columns: the answer of the whole program, and a true one at any time."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag import column_generation, front
from lpsched.bag.certificate.bounds import Multipliers, Prover
from lpsched.bag.column_generation import least_by_columns, rate_by_columns
from lpsched.bag.search.frontier import best_rate, least_cost
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import HighsSolver
from tests.bag.middling import middling

KINDS = [{}, {"p_states": 3}, {"cap": 1.8}, {"gaps": True}, {"gaps": True, "cap": 2.0, "p_states": 2}]
WEIGHTS = [front.MAKESPAN, front.ENERGY, front.Weights(1.0, 2_000.0)]


@pytest.mark.rotate(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", [0, 1])
def test_weights_give_the_optimum_of_the_whole_program(kind, weights, seed):
    bag = middling(seed, **kind)
    chosen = least_by_columns(bag, weights, HighsSolver())
    scaling, solution = least_cost(bag, weights, HighsSolver())
    whole = front.read_solution(scaling, weights, solution)

    def cost(point):
        return weights.joules * point.energy_joules + weights.seconds * point.makespan_seconds

    assert chosen.optimal
    assert cost(chosen) == pytest.approx(cost(whole), rel=1e-7)
    prices = Multipliers(chosen.machine_prices, chosen.cap_price)
    proved = float(Prover(bag).cost(prices, weights.joules, weights.seconds))
    assert proved == pytest.approx(cost(whole), rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_rate_is_that_of_the_whole_program(kind, seed):
    bag = middling(seed, **kind)
    chosen = rate_by_columns(bag, HighsSolver())
    whole = best_rate(bag, HighsSolver())[0]
    prices = Multipliers(chosen.machine_prices, chosen.cap_price)
    assert chosen.optimal
    assert chosen.bound == pytest.approx(whole.bound, rel=1e-7)
    assert float(Prover(bag).rate(prices)) == pytest.approx(whole.bound, rel=1e-7)
    assert chosen.makespan_seconds == pytest.approx(whole.makespan_seconds, rel=1e-5)


def test_a_bag_that_does_not_pay_and_a_second_that_costs_nothing_go_to_the_whole_program():
    bag = middling(0)
    poor = bag.model_copy(update={"prices": bag.prices.model_copy(update={"per_bag": 0.0})})
    assert rate_by_columns(poor, HighsSolver()) is None
    idle = tuple(each.model_copy(update={"idle_watts": 0.0}) for each in bag.machine_types)
    assert least_by_columns(bag.model_copy(update={"machine_types": idle}), front.ENERGY, HighsSolver()) is None


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_a_stopped_search_still_proves_something_true(steps):
    bag = middling(3)
    left = [steps]

    class Stopping(CancelToken):
        def expired(self):
            left[0] -= 1
            return left[0] < 0

    chosen = least_by_columns(bag, front.MAKESPAN, HighsSolver(), Stopping())
    best = least_by_columns(bag, front.MAKESPAN, HighsSolver()).makespan_seconds
    prices = Multipliers(chosen.machine_prices, chosen.cap_price)
    proved = float(Prover(bag).makespan(prices))
    assert not chosen.optimal
    assert 0 < proved <= best * (1 + 1e-9)
    assert chosen.makespan_seconds >= best * (1 - 1e-9)
    assert np.allclose(chosen.shares.sum(axis=1), 1.0)


def test_too_many_pairs_for_columns_are_answered_by_soft_prices_alone(monkeypatch):
    bag = middling(1, types=2_000)
    best = least_by_columns(bag, front.MAKESPAN, HighsSolver()).makespan_seconds
    monkeypatch.setattr(column_generation, "MOST_EXACT", 0)
    chosen = least_by_columns(bag, front.MAKESPAN, HighsSolver())
    prices = Multipliers(chosen.machine_prices)
    assert best <= chosen.makespan_seconds <= best * (1 + 3e-4)
    assert best * (1 - 1e-4) <= float(Prover(bag).makespan(prices)) <= best * (1 + 1e-12)


def test_huge_is_many_pairs_with_few_machine_types_and_no_deadline():
    bag = middling(0, types=4_000)
    assert column_generation.is_huge(bag)
    assert not column_generation.is_huge(middling(0))
    late = bag.model_copy(update={"site": bag.site.model_copy(update={"deadline_seconds": 1e9})})
    assert not column_generation.is_huge(late)
