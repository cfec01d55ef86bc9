"""The bounds are exact, and hold for any prices."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.certificate.bounds import Multipliers, Prover, rounded_down, rounded_up
from lpsched.instance import Prices, Site
from tests.support import simple_bag

TINY = simple_bag(
    [[2.0, 6.0], [3.0, 4.0]], [6, 6], [1, 2], watts=[[500.0, 100.0], [500.0, 100.0]], idle=[20.0, 10.0]
)


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
    by = replace(TINY, site=Site(deadline_seconds=20.0))
    prices = Multipliers((0.0, 70.0))
    assert Prover(by).cost(prices, 1.0, 0.0) == 7600
    assert Prover(TINY).cost(prices, 1.0, 0.0) == 6600


def test_the_profit_of_tiny_on_paper():
    # In millionths of a USD a joule costs 1. At 560/3 and 410 for a second of 'fast' and 'slow', a scan costs
    # 960 + 1,120/3, a print 360 + 1,640 (or 1,440 + 560): 6 x 1,333.33 + 6 x 2,000 = 20,000, all that a bag
    # brings. So a second earns at most 560/3 + 2 x 410 - 40 = 966.67, an hour 3.48 USD.
    paid = replace(TINY, prices=Prices(per_bag=0.02, electricity_per_kwh=3.6))
    dear = Multipliers((Fraction(560, 3_000_000), Fraction(410, 1_000_000)))
    assert float(Prover(paid).rate(dear) * 3600) == pytest.approx(3.48, rel=1e-15)  # 0.02 and 3.6 are doubles
    # Cheaper prices leave income unspent, which could be earned r_max = 5/36 times a second.
    left = Fraction(0.02) - 5400 * Fraction(3.6) / 3_600_000
    free = Prover(paid).rate(Multipliers((0.0, 0.0)))
    assert float(free) == pytest.approx(float(left * Fraction(5, 36)) - 40e-6, rel=1e-12)


def test_no_bag_is_done_faster_than_all_machines_do_its_slowest_type():
    # Scans: 1/2 + 2/6 = 5/6 a second, 6 of them: 5/36 bags; prints: 1/3 + 2/4 = 5/6 too.
    most = Prover(TINY)._most_bags_per_second()  # noqa: SLF001 - a step of the proof
    assert Fraction(5, 36) <= most <= Fraction(5, 36) * (1 + Fraction(1, 10**15))


def test_the_arithmetic_is_exact():
    third = simple_bag([[0.1]], [3], [7])
    assert Prover(third).makespan(Multipliers((0.3,))) == Fraction(3, 7) * Fraction(0.1)


def test_a_price_of_the_cap_counts_the_joules_above_idle():
    # P = 100 W, I = 40 W: 60 J a second above idle. At a price of 1 per joule a scan costs min(960, 540), a
    # print min(1,440, 360): 5,400 / 60 = 90 s.
    capped = replace(TINY, site=Site(average_power_cap_watts=150.0, pue=1.5))
    assert Prover(capped).headroom == 60
    assert Prover(capped).makespan(Multipliers((0.0, 0.0), 1.0)) == 90


@pytest.mark.parametrize(
    "prices", [Multipliers((1.0,)), Multipliers((-1.0, 1.0)), Multipliers((1.0, 1.0), 1.0)]
)
def test_prices_that_do_not_fit_are_a_bug_of_ours(prices):
    with pytest.raises(AssertionError):
        Prover(TINY).makespan(prices)


@given(st.fractions(min_value=-(10**20), max_value=10**20))
def test_rounding_stays_on_its_side(exact):
    down, up = rounded_down(exact), rounded_up(exact)
    assert down <= exact < math.nextafter(down, math.inf)
    assert math.nextafter(up, -math.inf) < exact <= up
