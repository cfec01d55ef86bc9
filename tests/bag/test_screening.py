"""A screened proof is the exact one: no pair that could be cheapest is left out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.bag import problem as screening
from lpsched.bag.arrays import arrays_of
from lpsched.bag.certificate.bounds import Multipliers, Prover
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.problem import PairScreen, near_cheapest, screen_of
from lpsched.bag.solve import solve
from lpsched.model.table import Table
from tests.bag.middling import middling
from tests.property.bags import ORDINARY, UNEQUAL, plain_bags


def both(bag: Bag, prices: Multipliers) -> list[tuple[Fraction, ...]]:
    provers = (Prover(bag), Prover(bag, PairScreen(arrays_of(bag))))
    return [(each.makespan(prices), each.cost(prices, 1.0, 2.0), each.rate(prices)) for each in provers]


@given(
    st.one_of(plain_bags(ORDINARY), plain_bags(UNEQUAL)),
    st.lists(st.floats(0.0, 1e6) | st.just(0.0), min_size=4, max_size=4),
    st.floats(0.0, 10.0),
)
def test_a_screened_proof_is_the_exact_one(bag, prices, electricity):
    bag = bag.model_copy(
        update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": electricity, "per_bag": 1.0})}
    )
    exact, screened = both(bag, Multipliers(tuple(prices[: len(bag.machine_types)])))
    assert exact[:2] == screened[:2]
    assert exact[2] == screened[2] or float(exact[2]) == pytest.approx(float(screened[2]), rel=1e-12)


@given(
    st.one_of(plain_bags(ORDINARY), plain_bags(UNEQUAL)),
    st.lists(st.tuples(*[st.floats(0.0, 1e6) | st.just(0.0)] * 4), min_size=1, max_size=5),
    st.lists(st.floats(0.0, 1e3), min_size=5, max_size=5),
)
def test_many_proofs_through_one_screen_are_the_exact_ones(bag, many, weights):
    prices = [Multipliers(each[: len(bag.machine_types)]) for each in many]
    prover, weights = Prover(bag), weights[: len(prices)]
    for own, weight, near in zip(prices, weights, near_cheapest(bag, prices, weights), strict=True):
        supply = sum(each.count * price for each, price in zip(bag.machine_types, own.machines, strict=True))
        for seconds in (1.0, supply, supply * (1 - 1e-15)):  # these prices fit, just fit, and are a little too high
            assert prover.cost(own, weight, seconds, near=near) == prover.cost(own, weight, seconds)


@given(
    st.one_of(plain_bags(ORDINARY), plain_bags(UNEQUAL)),
    st.lists(st.tuples(*[st.floats(0.0, 1.0) | st.just(0.0)] * 4), min_size=1, max_size=5),
    st.lists(st.floats(1e-9, 1e4) | st.just(0.0), min_size=4, max_size=4),
)
def test_many_rates_through_one_screen_count_the_wear(bag, many, wear):
    worn = zip(bag.machine_types, wear, strict=False)
    machines = tuple(each.model_copy(update={"wear_per_busy_hour": money}) for each, money in worn)
    paid = bag.prices.model_copy(update={"electricity_per_kwh": 0.3, "per_bag": 1.0})
    bag = bag.model_copy(update={"machine_types": machines, "prices": paid})
    prices, prover = [Multipliers(each[: len(machines)]) for each in many], Prover(bag)
    nears = near_cheapest(bag, prices, [float(prover.per_joule)] * len(prices), wear=True)
    for own, near in zip(prices, nears, strict=True):
        assert prover.rate(own, near=near) == prover.rate(own)


def test_pairs_that_differ_in_the_last_bit_are_all_kept():
    close = [1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 1.1]
    machines = tuple(MachineType(name=f"m{j}", count=1) for j in range(4))
    bag = Bag("close", machines, (TaskType(name="t", count=1),), Table.of([close]))
    screen = PairScreen(arrays_of(bag))
    assert screen.cheapest(Fraction(0), [Fraction(1)] * 4) == [[0, 1, 2]]


def test_numbers_beyond_doubles_keep_every_pair():
    bag = middling(0, types=3, machines=2)
    screen = PairScreen(arrays_of(bag))
    assert screen.cheapest(Fraction(0), [Fraction(10) ** 400] * 2) == [[0, 1]] * 3


@pytest.mark.slow
def test_a_bag_of_many_pairs_is_proved_through_a_screen(monkeypatch):
    bag = middling(0, types=300)
    assert screen_of(bag) is None
    plain = solve(bag, objective="makespan")
    monkeypatch.setattr(screening, "MANY", 100)
    assert screen_of(bag) is not None
    assert solve(bag, objective="makespan").bound == plain.bound
