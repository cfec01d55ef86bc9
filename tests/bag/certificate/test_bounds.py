"""The bounds are exact, and hold for any prices."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.bag.certificate.bounds import Multipliers, Prover, Shortest
from lpsched.bag.parts import Prices, Site
from lpsched.model.fixed_point import rounded_down, rounded_up
from tests.support import simple_bag

TINY = simple_bag([[2.0, 6.0], [3.0, 4.0]], [6, 6], [1, 2], watts=[[500.0, 100.0], [500.0, 100.0]], idle=[20.0, 10.0])


def test_the_makespan_of_tiny_on_paper():
    # Prices 2 and 1: a scan costs min(2 x 2, 6 x 1) = 4, a print min(3 x 2, 4 x 1) = 4: 48 / (2 + 2) = 12.
    assert Prover(TINY).makespan(Multipliers((2.0, 1.0))) == 12
    # Prices 1 and 1 prove less: 6 x 2 + 6 x 3 = 30 over 3 machines.
    assert Prover(TINY).makespan(Multipliers((1.0, 1.0))) == 10
    # A price of 0 for the slow machines lets everything run there for nothing.
    assert Prover(TINY).makespan(Multipliers((1.0, 0.0))) == 0
    assert Prover(TINY).makespan(Multipliers((0.0, 0.0))) == 0


def test_the_energy_of_tiny_on_paper():
    # At 20 J for a second of 'slow': a scan costs min(2 x 480, 6 x 90 + 6 x 20) = 660 J, a print
    # min(3 x 480, 4 x 90 + 4 x 20) = 440 J: 6,600 J; the prices add up to 2 x 20 = 40 W, the idle floor.
    assert Prover(TINY).cost(Multipliers((0.0, 20.0)), 1.0, 0.0) == 6600
    # Twice these prices are more than a joule of idling can pay: scaled down, they prove the same.
    assert Prover(TINY).cost(Multipliers((0.0, 40.0)), 1.0, 0.0) == 6600
    # No prices: only the joules above idle, 6 x 540 + 6 x 360.
    assert Prover(TINY).cost(Multipliers((0.0, 0.0)), 1.0, 0.0) == 5400


def test_with_a_deadline_dear_prices_prove_more():
    # At 70 J for a second of 'slow': a scan costs min(960, 540 + 420) = 960 J, a print 360 + 280 = 640 J:
    # 9,600 J. The prices add up to 140 W, 100 W more than the idle floor: by 20 s that leaves 7,600 J, the
    # point of the front at 20 s. Without a deadline they must be scaled down to 40 W, and prove 6,600 J.
    by = TINY.model_copy(update={"site": Site(deadline_seconds=20.0)})
    prices = Multipliers((0.0, 70.0))
    assert Prover(by).cost(prices, 1.0, 0.0) == 7600
    assert Prover(TINY).cost(prices, 1.0, 0.0) == 6600


def test_the_profit_of_tiny_on_paper():
    # In millionths of a USD a joule costs 1. At 560/3 and 410 for a second of 'fast' and 'slow', a scan costs
    # 960 + 1,120/3, a print 360 + 1,640 (or 1,440 + 560): 6 x 1,333.33 + 6 x 2,000 = 20,000, all that a bag
    # brings. So a second earns at most 560/3 + 2 x 410 - 40 = 966.67, an hour 3.48 USD.
    paid = TINY.model_copy(update={"prices": Prices(per_bag=0.02, electricity_per_kwh=3.6)})
    dear = Multipliers((Fraction(560, 3_000_000), Fraction(410, 1_000_000)))
    assert float(Prover(paid).rate(dear) * 3600) == pytest.approx(3.48, rel=1e-15)  # 0.02 and 3.6 are doubles
    # Cheaper prices leave income unspent, which could be earned r_max = 5/36 times a second.
    left = Fraction(0.02) - 5400 * Fraction(3.6) / 3_600_000
    free = Prover(paid).rate(Multipliers((0.0, 0.0)))
    assert float(free) == pytest.approx(float(left * Fraction(5, 36)) - 40e-6, rel=1e-12)


def test_no_bag_is_done_faster_than_all_machines_do_its_slowest_type():
    # Scans: 1/2 + 2/6 = 5/6 a second, 6 of them: 5/36 bags; prints: 1/3 + 2/4 = 5/6 too.
    most = Prover(TINY)._most_bags_per_second  # noqa: SLF001 - a step of the proof
    assert Fraction(5, 36) <= most <= Fraction(5, 36) * (1 + Fraction(1, 10**15))


def test_the_arithmetic_is_exact():
    third = simple_bag([[0.1]], [3], [7])
    assert Prover(third).makespan(Multipliers((0.3,))) == Fraction(3, 7) * Fraction(0.1)


def test_a_price_of_the_cap_counts_the_joules_above_idle():
    # P = 100 W, I = 40 W: 60 J a second above idle. At a price of 1 per joule a scan costs min(960, 540), a
    # print min(1,440, 360): 5,400 / 60 = 90 s.
    capped = TINY.model_copy(update={"site": Site(average_power_cap_watts=150.0, pue=1.5)})
    assert Prover(capped).headroom == 60
    assert Prover(capped).makespan(Multipliers((0.0, 0.0), 1.0)) == 90


@pytest.mark.parametrize("prices", [Multipliers((1.0,)), Multipliers((-1.0, 1.0)), Multipliers((1.0, 1.0), 1.0)])
def test_prices_that_do_not_fit_are_a_bug_of_ours(prices):
    with pytest.raises(AssertionError):
        Prover(TINY).makespan(prices)


# What whole tasks imply.

ODD = simple_bag([[3.0, 5.0]], [6], [2, 1])  # 2 tasks after 3 s, 3 after 5 s, 5 after 6 s, 7 after 9 s


def test_a_claim_of_the_least_makespan_is_checked_to_the_last_digit():
    assert Shortest(9.0, (0,)).holds(ODD)
    assert Shortest(Fraction(9) - Fraction(1, 10**30), (0,)).holds(ODD)
    assert not Shortest(math.nextafter(9.0, math.inf), (0,)).holds(ODD)
    assert Shortest(0.0, ()).holds(ODD)
    assert Shortest(-1.0, ()).holds(ODD)
    assert not Shortest(1e-30, ()).holds(ODD)  # no task takes no time


def test_a_claim_must_name_the_task_types_that_show_it():
    # 4 s, 4 s and 3 s on two machines: one runs two of them, 6 s or more. The short ones show nothing of it.
    bag = simple_bag([[4.0], [3.0], [0.5]], [2, 1, 4], [2])
    assert Shortest(6.0, (0, 1)).holds(bag)
    assert not any(Shortest(6.0, types).holds(bag) for types in [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)])


@pytest.mark.parametrize("types", [(0, 0), (0, -1), (-1,), (1,), (0, 1)])
def test_no_task_type_counts_twice_and_none_that_there_is_not(types):
    # Twice six tasks would take 15 s: 10 + 3 after 15 s, 8 + 2 before.
    assert not Shortest(15.0, types).holds(ODD)


def test_a_prover_takes_no_claim_that_is_false():
    with pytest.raises(AssertionError, match="may be shorter"):
        Prover(ODD, None, Shortest(math.nextafter(9.0, math.inf), (0,)))


def test_the_least_makespan_counts_in_every_bound():
    # One task of 10 s at 100 W on one of two machines that idle at 10 W: 10 s, 900 J above idle and 20 W x 10 s.
    bag = simple_bag([[10.0]], [1], [2], [[100.0]], [10.0])
    bag = bag.model_copy(update={"prices": Prices(per_bag=2.0, electricity_per_kwh=3600.0)})  # 0.001 a joule
    free = Multipliers((0.0,))
    whole, split = Prover(bag, None, Shortest(10.0, (0,))), Prover(bag)
    assert [each.makespan(free) for each in (whole, split)] == [10, 0]
    assert [each.energy(free) for each in (whole, split)] == [1100, 900]
    assert [each.cost(free, 2.0, 3.0) for each in (whole, split)] == [2 * 1100 + 3 * 10, 2 * 900]
    # (2 - 0.9) / 10 s less 0.02 a second; two halves of a task would be done in 5 s.
    assert whole.rate(free) == Fraction(11, 100) - Fraction(2, 100)
    assert float(split.rate(free)) == pytest.approx(0.22 - 0.02)


def test_a_pair_beyond_the_deadline_is_no_way_out():
    # 'fast' takes 2 s at 500 W, 'slow' 6 s at 100 W, no idle power: 1,000 or 600 J. By 5 s only 'fast' will do.
    bag = simple_bag([[2.0, 6.0]], [1], [1, 1], [[500.0, 100.0]])
    due, witness = bag.model_copy(update={"site": Site(deadline_seconds=5.0)}), Shortest(2.0, (0,))
    assert Prover(bag, None, witness).energy(Multipliers.zero(bag)) == 600
    assert Prover(due, None, witness).energy(Multipliers.zero(bag)) == 1000
    assert Prover(due).energy(Multipliers.zero(bag)) == 600  # split, most of it could run on 'slow'
    at = bag.model_copy(update={"site": Site(deadline_seconds=6.0)})
    assert Prover(at, None, witness).energy(Multipliers.zero(bag)) == 600  # done just in time


def test_bounds_are_rounded_up_to_what_whole_tasks_can_take():
    # 3 s and 2.25 s are whole numbers of 0.75 s. 5 x 3 + 2 x 2.25 = 19.5 s on two machines: 9.75 s, 13 units.
    bag = simple_bag([[3.0], [2.25]], [5, 2], [2], [[8.0], [8.0]], [4.0])
    prices, witness = Multipliers((1.0,)), Shortest(0.0, ())
    assert Prover(bag, None, witness).makespan(prices) == Fraction("9.75")
    third = bag.model_copy(
        update={"task_types": (*bag.task_types[:1], bag.task_types[1].model_copy(update={"count": 3}))}
    )
    # One more of 2.25 s: 21.75 s of work, 10.875 s or 14.5 units; the next is 11.25 s.
    assert Prover(third).makespan(prices) == Fraction("10.875")
    assert Prover(third, None, witness).makespan(prices) == Fraction("11.25")
    # A second above idle takes 4 J: 21.75 s x 4 W + 8 W x 10.875 s = 174 J. Tasks take 12 or 9 J above idle, a
    # unit of idling 8 x 0.75 = 6 J: whole numbers of 3 J, of which 174 is one; at 0.99 of the price it is next.
    cheap = Multipliers((3.96,))
    assert Prover(third, None, witness).energy(Multipliers((4.0,))) == 174
    assert 171 < Prover(third).energy(cheap) < 174
    assert Prover(third, None, witness).energy(cheap) == 174


def test_under_a_power_cap_waiting_may_help_and_nothing_is_rounded():
    # One task of 3 s at 8 W on a machine that draws nothing idle, 5 W on average: 24 J / 5 W = 4.8 s.
    bag = simple_bag([[3.0]], [1], [1], [[8.0]])
    capped = bag.model_copy(update={"site": Site(average_power_cap_watts=5.0)})
    prover = Prover(capped, None, Shortest(3.0, (0,)))
    assert prover.makespan(Multipliers((0.0,), 1.0)) == Fraction(24, 5)


@given(st.fractions(min_value=-(10**20), max_value=10**20))
def test_rounding_stays_on_its_side(exact):
    down, up = rounded_down(exact), rounded_up(exact)
    assert down <= exact < math.nextafter(down, math.inf)
    assert math.nextafter(up, -math.inf) < exact <= up
