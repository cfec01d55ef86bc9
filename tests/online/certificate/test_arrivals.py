from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from lpsched.model.fields import FrozenDict
from lpsched.online.certificate.claim import DayCertificate, check
from lpsched.online.parts import Period
from tests.days import decaying, simple_day

# Two tasks of 10 s and 100 J, worth 8 if they end before 11 s; one machine; 100 J. At 0.08 a joule neither gains
# anything, and all energy is worth 8, and a billionth of that for rounding.
SOON = decaying(8.0, until=11.0)
DAY = simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, SOON), (0.0, 0, SOON)]).model_copy(
    update={"period": Period(0.0, 50.0, "prorated", 100.0)}
)


def certificate(day=DAY, **changes) -> DayCertificate:
    sound = DayCertificate(
        instance_name=day.name,
        instance_hash=day.content_hash,
        bound=Fraction("8.001"),
        edges=(Fraction(0), Fraction(25), Fraction(50)),
        machine_prices=FrozenDict({"m0": (Fraction(0), Fraction(0))}),
        per_joule=Fraction("0.08"),
    )
    return replace(sound, **changes)


def test_a_claim_that_its_prices_prove_is_accepted():
    verdict = check(DAY, certificate())
    assert verdict.accepted
    assert float(verdict.proved) == pytest.approx(8.0, rel=1e-8)


def test_the_billionth_of_energy_that_passes_for_rounding_is_granted():
    # 0.08 * 100 * 1e-9 more than 8.
    assert 7.9e-9 <= float(check(DAY, certificate()).proved - 8) <= 8.2e-9


def test_what_is_proved_does_not_depend_on_the_claim():
    verdict = check(DAY, certificate(bound=Fraction("7.9")))
    assert verdict.reasons == ("it claims more than its prices prove",)
    assert float(verdict.proved) == pytest.approx(8.0, rel=1e-8)
    assert check(DAY, certificate(bound=verdict.proved)).accepted


def test_machine_time_counts_for_every_machine():
    # At 0.8 a second until 25 no run gains anything: 25 * 0.8 for each of three machines.
    three = simple_day([[10.0]], [[10.0]], [3], [(0.0, 0, SOON)]).model_copy(update={"period": Period(0.0, 50.0)})
    prices = FrozenDict({"m0": (Fraction(4, 5), Fraction(0))})
    made = certificate(three, per_joule=Fraction(0), machine_prices=prices, bound=Fraction(60))
    assert float(check(three, made).proved) == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"instance_hash": "x"}, "it is about another day: its hash is x, not "),
        ({"edges": (Fraction(0),)}, "its slots are none, or do not follow each other"),
        ({"edges": (Fraction(0), Fraction(30), Fraction(30))}, "its slots are none, or do not follow each other"),
        ({"machine_prices": FrozenDict()}, "it has no prices for machine type 'm0'"),
        (
            {"machine_prices": FrozenDict({"m0": (Fraction(0),) * 2, "m1": (Fraction(0),) * 2})},
            "it prices machine type 'm1', which the day does not have",
        ),
        ({"machine_prices": FrozenDict({"m0": (Fraction(0),)})}, "it has 1 prices for machine type 'm0', for 2 slots"),
        (
            {"machine_prices": FrozenDict({"m0": (Fraction(0), Fraction(-1))})},
            "a price for machine type 'm0' is negative",
        ),
        ({"per_joule": Fraction(-1)}, "its price of a joule is negative"),
    ],
)
def test_each_fault_is_told(changes, reason):
    verdict = check(DAY, certificate(**changes))
    assert verdict.proved is None
    assert any(each.startswith(reason) for each in verdict.reasons)


def test_energy_that_is_not_limited_has_no_price():
    free = DAY.model_copy(update={"period": Period(0.0, 50.0)})
    assert check(free, certificate(free)).reasons == ("it has a price of a joule, but energy is not limited",)


@pytest.mark.parametrize(
    ("period", "most"),
    [
        (Period(0.0, 5.0, "prorated"), 4.0),  # 5 of 10 seconds
        (Period(0.0, 5.0, "completed"), 0.0),  # it ends at 10
        (Period(0.0, 10.0, "completed"), 8.0),  # just in time
        (Period(3.0, 4.0, "prorated"), 3.2),  # 4 of 10 seconds, wherever it starts until 3
        (Period(40.0, 5.0, "prorated"), 4.0),  # it waits for the period
        (Period(40.0, None, "prorated"), 8.0),  # likewise, without an end
    ],
)
def test_a_run_over_an_edge_counts_by_its_share(period, most):
    day = simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, decaying(8.0))]).model_copy(update={"period": period})
    verdict = check(day, certificate(day, per_joule=Fraction(0), bound=Fraction(9)))
    assert float(verdict.proved) == pytest.approx(most, abs=1e-9)


def proved(day, edges, prices):
    """Return what prices of the one machine type prove."""
    named = FrozenDict({"m0": tuple(Fraction(each) for each in prices)})
    made = certificate(day, edges=tuple(Fraction(each) for each in edges), machine_prices=named, per_joule=Fraction(0))
    return float(check(day, made).proved)


def test_a_start_just_before_a_drop_counts_with_the_utility_before_it():
    # Starting as late as the deadline at 11 allows, a run costs 9 * 0.8 = 7.2 and gains 0.8; with the machine's 8: 9.6.
    day = simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, SOON), (0.0, 0, SOON)])
    assert proved(day, [0, 10], [0.8]) == pytest.approx(9.6)


def test_waiting_until_time_is_cheap_is_a_choice():
    # 0.5 a second until 20, 0.6 until 30, then nothing. Utility halves in 20 s: at once it is 8 / sqrt(2) - 5 = 0.66; at
    # 20 it is 8 * 2^-1.5 - 6 < 0; at 30 it is 8 * 2^-2 = 2. The machine costs 10 + 6.
    day = simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, decaying(8.0, math.log(2.0) / 20.0))])
    assert proved(day, [0, 20, 30, 40], [0.5, 0.6, 0.0]) == pytest.approx(18.0)


def test_over_the_begin_utility_before_the_piece_and_share_after_it_are_taken():
    # It must start before 5 to end before 15: share 0.5 there, and 8 exp(-1) at the start of the piece, at 0.
    day = simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, decaying(8.0, 0.1, until=15.0))])
    day = day.model_copy(update={"period": Period(10.0, 100.0)})
    assert proved(day, [10, 110], [0.0]) == pytest.approx(4.0 * math.exp(-1.0))


def test_waiting_for_time_that_is_a_little_cheaper_is_a_choice():
    # A run costs 0.5 until 20 and 0.4 after. At 20 it gains 8 exp(-0.003) - 0.4, more than at once; the machine costs 1.8.
    day = simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, decaying(8.0, 0.0001))])
    day = day.model_copy(update={"period": Period(0.0, 40.0)})
    assert proved(day, [0, 20, 40], [0.05, 0.04]) == pytest.approx(8.0 * math.exp(-0.003) + 1.4)
