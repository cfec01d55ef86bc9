"""The oracle of huge bags: its bound holds at any prices, its columns cost what they claim, its slopes are right."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag import front
from lpsched.bag.column_generation import PairOracle, Pairs, pairs_of
from lpsched.lp.solvers import HighsSolver
from tests.bag.middling import middling

BAGS = {
    "plain": {},
    "p-states": {"p_states": 3},
    "cap": {"cap": 2.0},
    "gaps": {"gaps": True, "p_states": 2, "cap": 2.5},
}


def pairs(kind: str, seed: int = 0) -> tuple[Pairs, float]:
    """Return the pairs of the least energy, and the price of T seconds."""
    bag = middling(seed, types=40, machines=5, **BAGS[kind])
    scaling = front.scaling_for(bag, front.ENERGY)
    costs, budget = front.costs_of(scaling, front.ENERGY)
    return pairs_of(scaling, costs), budget


def written_out(all_pairs: Pairs, budget: float) -> float:
    """Return the optimum of the program with every pair in it."""
    oracle = PairOracle(all_pairs, budget)
    rows, columns = np.nonzero(np.isfinite(all_pairs.costs))
    program = oracle.master(50.0).with_columns(oracle.columns(rows, columns))
    return HighsSolver().solve(program).value


@pytest.mark.parametrize("kind", BAGS)
def test_the_bound_holds_at_any_multipliers_and_is_the_optimum_at_the_best(kind):
    own, budget = pairs(kind)
    best = written_out(own, budget)
    oracle, rng = PairOracle(own, budget), np.random.default_rng(1)
    for _ in range(50):
        multipliers = rng.normal(size=own.size + len(own.supply))
        assert oracle.price(multipliers).bound <= best * (1 + 1e-9)
    program = oracle.master(50.0).with_columns(oracle.columns(*np.nonzero(np.isfinite(own.costs))))
    prices = HighsSolver().solve(program).multipliers
    assert oracle.price(prices).bound == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("kind", BAGS)
def test_a_column_has_the_reduced_cost_of_its_pair(kind):
    own, budget = pairs(kind)
    oracle, rng = PairOracle(own, budget), np.random.default_rng(2)
    prices = rng.random(len(own.supply))
    prices *= budget / float(own.supply @ prices)
    priced = oracle.price(np.append(np.zeros(own.size), -prices))
    least, columns = own.cheapest(prices)
    reduced = priced.columns.reduced_costs(np.append(least, -prices))
    assert np.abs(reduced).max() <= 1e-12 * np.abs(least).max()
    assert priced.labels == (np.arange(own.size) * own.loads.shape[1] + columns).tolist()
    assert priced.bound == pytest.approx(float(least.sum()))


@pytest.mark.parametrize("kind", BAGS)
def test_slope_and_curvature_are_those_of_the_soft_value(kind):
    own, budget = pairs(kind)
    rng = np.random.default_rng(3)
    prices = (0.5 + rng.random(len(own.supply))) * budget / len(own.supply)
    local = 0.05 * own.sizes(prices)
    here = own.soften(prices, local)
    for j in range(len(prices)):
        step = 1e-5 * prices[j]
        up, down = (own.soften(prices + sign * step * np.eye(len(prices))[j], local) for sign in (1, -1))
        assert (up.value - down.value) / (2 * step) == pytest.approx(here.slope[j], rel=1e-5, abs=1e-8)
        bent = (down.slope - up.slope) / (2 * step)
        assert bent == pytest.approx(here.curvature[j], rel=1e-3, abs=1e-4 * np.abs(here.curvature[j]).max())


def test_the_soft_value_lies_below_the_bound_and_comes_close_when_cold():
    own, budget = pairs("plain")
    prices = np.full(len(own.supply), budget / own.supply.sum())
    hard = float(own.cheapest(prices)[0].sum())
    values = [own.soften(prices, warm * own.sizes(prices)).value for warm in (1e-1, 1e-2, 1e-4)]
    assert values == sorted(values)
    assert values[-1] <= hard
    assert values[-1] == pytest.approx(hard, rel=1e-3)


@pytest.mark.parametrize("kind", BAGS)
def test_passes_in_blocks_and_in_one_piece_agree(kind):
    own, budget = pairs(kind)
    prices = np.full(len(own.supply), budget / own.supply.sum())
    cut = Pairs(np, own.loads, own.costs, own.cap, own.headroom, own.firsts, cells=3 * own.loads.shape[1])
    local = 0.01 * own.sizes(prices)
    assert np.array_equal(cut.sizes(prices), own.sizes(prices))
    assert cut.soften(prices, local).value == pytest.approx(own.soften(prices, local).value, rel=1e-12)
    assert cut.soften(prices, local).curvature == pytest.approx(own.soften(prices, local).curvature)
    assert [each.tolist() for each in cut.near(prices, 20)] == [each.tolist() for each in own.near(prices, 20)]


@pytest.mark.parametrize("kind", BAGS)
def test_single_precision_is_close_to_double(kind):
    own, budget = pairs(kind)
    prices = np.full(len(own.supply), budget / own.supply.sum())
    single = own.single()
    assert single.loads.dtype == np.float32
    exact = own.soften(prices, 0.01 * own.sizes(prices))
    quick = single.soften(prices, 0.01 * single.sizes(prices))
    assert quick.value == pytest.approx(exact.value, rel=1e-5)
    assert quick.slope == pytest.approx(exact.slope, rel=1e-2, abs=1e-3 * np.abs(exact.slope).max())


def test_the_nearest_pairs_hold_every_cheapest_one_and_as_many_more_as_asked():
    own, budget = pairs("plain")
    prices = np.full(len(own.supply), budget / own.supply.sum())
    rows, columns = own.near(prices, 15)
    _, cheapest = own.cheapest(prices)
    assert set(zip(range(own.size), cheapest.tolist(), strict=True)) <= set(
        zip(rows.tolist(), columns.tolist(), strict=True)
    )
    assert own.size + 15 <= len(rows) <= own.size + 17
