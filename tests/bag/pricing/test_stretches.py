"""Schedules along the price curve: on paper, against single solves, and where there is none."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import lpsched
from lpsched.bag.files import read_bag
from lpsched.bag.model import Terms
from lpsched.bag.overview import schedule_segments
from lpsched.bag.parts import Prices, Site
from lpsched.bag.relaxation import Regime
from lpsched.bag.verify import examine
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from tests.property.bags import ORDINARY, priced_bags
from tests.support import half_full

# The papers' method: what is tested here is about the relaxation, not about how hard is searched.
price_curve = partial(lpsched.price_curve, effort="fast")
solve = partial(lpsched.solve, effort="fast")

INSTANCES = Path(__file__).parents[3] / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")


def between(low, high, share):
    return low + (high - low) * share


def test_tiny_has_the_stretches_on_paper():
    # Waiting costs 40 W, 0.144 USD an hour. All on 'slow': 6,600 J in 30 s; the fast end 8,400 J in 12 s. At the
    # end, 1.5 times the last breakpoint of 0.0096 USD, the fast end earns (0.0144 - 0.0084) / 12 s.
    stretches = schedule_segments(TINY, price_curve(TINY))
    assert [each.regime for each in stretches] == ["do-not-run", "loss", "profit", "profit"]
    assert [each.regime for each in stretches] == [each.bound_regime for each in stretches]
    takes = [(each.measured.energy_joules, each.measured.makespan_seconds) for each in stretches]
    assert takes == [(None, None), (6600.0, 30.0), (6600.0, 30.0), (8400.0, 12.0)]
    prices = [each.from_price for each in stretches] + [stretches[-1].to_price]
    assert prices == pytest.approx([0.0, 0.0054, 0.0066, 0.0096, 0.0144], rel=1e-12)
    assert stretches[-1].to_ratio == pytest.approx(0.0144 / 0.0066, rel=1e-12)
    values = [(each.value_at_from, each.value_at_to) for each in stretches]
    on_paper = [(-0.144, -0.144), (-0.144, 0.0), (0.0, 0.36), (0.36, 1.8)]
    for found, expected in zip(values, on_paper, strict=True):
        assert found == pytest.approx(expected, abs=1e-12)


def test_where_waiting_is_best_nothing_is_scarce():
    first = schedule_segments(TINY, price_curve(TINY))[0]
    # One more machine only draws its idle power, at 1 USD for a megajoule: 20 W are 0.072 USD an hour. A task pays
    # from what it costs where it is cheapest: a scan 540 J above idle.
    for worth in (first.worth_at_from, first.worth_at_to):
        assert worth.machine_types == pytest.approx({"fast": -0.072, "slow": -0.036})
        assert worth.task_types == pytest.approx({"scan": 0.00054, "print": 0.00036})
    assert first.bound_at_from == first.bound_at_to


@pytest.mark.parametrize(
    "bag", [TINY, IDLE.model_copy(update={"site": Site(average_power_cap_watts=52_000.0)})], ids=["tiny", "idle"]
)
def test_along_the_stretches_everything_is_what_single_solves_say(bag):
    stretches = schedule_segments(bag, price_curve(bag, from_ratio=1.05, to_ratio=1.15))
    assert all(one.to_price == two.from_price for one, two in itertools.pairwise(stretches))
    for stretch in stretches[:: max(1, len(stretches) // 8)]:
        assert_like_a_solve(bag, stretch, 0.3)


@given(bag=priced_bags(ORDINARY))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_of_any_bag_everything_is_what_single_solves_say(bag):
    stretches = schedule_segments(bag, price_curve(bag))
    assert all(one.to_price == two.from_price for one, two in itertools.pairwise(stretches))
    for stretch in stretches[:: max(1, len(stretches) // 4)]:
        assert_like_a_solve(bag, stretch, 0.6)


def assert_like_a_solve(bag, stretch, share):
    """Hold a place on a stretch against `solve` at its price, and its schedule against the verifier."""
    price = between(stretch.from_price, stretch.to_price, share)
    if stretch.schedule is None:
        with pytest.raises((InfeasibleError, NotFoundError)):
            solve(bag, price=price)
        return
    result = solve(bag, price=price)
    size = 1e-9 * (abs(result.bound) + abs(result.value))
    value = between(stretch.value_at_from, stretch.value_at_to, share)
    # Of all schedules along the curve the best, often that of this price. A search at the very price may do a little
    # better: of 677 places on drawn bags at one, by 8 millionths.
    assert value >= result.value - 1e5 * size
    if value <= result.value + size:
        assert stretch.regime == result.regime
        assert stretch.measured.makespan_seconds == result.measured.makespan_seconds
        assert stretch.measured.energy_joules == result.measured.energy_joules
    assert between(stretch.bound_at_from, stretch.bound_at_to, share) == pytest.approx(result.bound, abs=size)
    assert stretch.bound_regime == result.bound_regime
    assert stretch.value_at_from <= stretch.bound_at_from
    assert stretch.value_at_to <= stretch.bound_at_to
    for one, two, solved in (
        (stretch.worth_at_from.machine_types, stretch.worth_at_to.machine_types, result.worth.machine_types),
        (stretch.worth_at_from.task_types, stretch.worth_at_to.task_types, result.worth.task_types),
    ):
        known = {name: worth for name, worth in solved.items() if worth is not None}
        assert all(
            one[name] is None or two[name] is None for name in solved.keys() - known.keys()
        )  # there is no end to it
        largest = max(map(abs, known.values()), default=0.0)
        for name, worth in known.items():
            assert between(one[name], two[name], share) == pytest.approx(worth, rel=1e-6, abs=1e-6 * largest)
    priced = Terms(price=stretch.from_price).applied_to(bag)
    assert examine(priced, stretch.schedule, may_wait=True).measured == stretch.measured


def test_profit_of_the_schedule_may_begin_later_than_that_of_the_bound():
    # 8 s of work at 3.6 kW on two machines that idle at 3.6 kW; a kWh costs 1 USD. Split: 4 s, 8 x 0.001 USD, so
    # 0.008 is needed. Whole: 6 s, one machine idles for 4 s: 0.012 is needed. Above idle a task takes nothing,
    # so that any price is worth running for.
    bag = half_full(watts=3600.0, idle=3600.0)
    bag = bag.model_copy(update={"prices": Prices(electricity_per_kwh=1.0)})
    stretches = schedule_segments(bag, price_curve(bag), to_price=0.02)
    assert [(each.regime, each.bound_regime) for each in stretches] == [
        (Regime.LOSS, Regime.LOSS),
        (Regime.LOSS, Regime.PROFIT),
        (Regime.PROFIT, Regime.PROFIT),
    ]
    assert [each.to_price for each in stretches] == pytest.approx([0.008, 0.012, 0.02], rel=1e-9)
    assert stretches[-1].value_at_to == pytest.approx(3600 * 0.008 / 6)  # 0.02 less 0.012, in 6 s
    assert stretches[-1].bound_at_to == pytest.approx(3600 * 0.012 / 4)


def test_where_no_schedule_meets_the_deadline_the_bound_stays():
    bag = half_full(watts=100.0)  # 4 s if split, 6 s if not
    bag = bag.model_copy(update={"prices": Prices(electricity_per_kwh=1.0), "site": Site(deadline_seconds=5.0)})
    for each in schedule_segments(bag, price_curve(bag)):
        assert (each.schedule, each.measured, each.regime, each.value_at_from) == (None, None, None, None)
        assert each.bound_at_from <= each.bound_at_to


def test_where_energy_is_free_there_are_prices_but_no_ratios():
    bag = TINY.model_copy(update={"prices": Prices(electricity_per_kwh=0.0)})
    (only,) = schedule_segments(bag, price_curve(bag))
    assert (only.from_ratio, only.to_ratio) == (None, None)
    assert (only.from_price, only.to_price) == (0.0, 1.0)
    assert only.value_at_to == pytest.approx(3600 / 12)  # 1 USD in 12 s


def test_a_longer_look_goes_past_the_last_breakpoint():
    curve = price_curve(TINY)
    last = schedule_segments(TINY, curve, to_price=0.02)[-1]
    assert last.to_price == 0.02
    assert last.value_at_to == pytest.approx(3.48)  # the answer of tiny, on paper


def test_a_range_that_is_lost_beside_the_overhead_is_an_error():
    tiny = lpsched.read("instances/tiny.yaml")
    prices = tiny.prices.model_copy(update={"overhead_per_bag": 1e20})
    with pytest.raises(InstanceError, match=r"to_ratio: got 2\.0, whose price is lost in the rounding of overhead_per"):
        price_curve(tiny.model_copy(update={"prices": prices}), to_ratio=2.0)
