from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import MissingExtraError
from lpsched.online.bound import solve as arrivals
from lpsched.online.bound.offers import ArrivalPrices, offers_of
from lpsched.online.bound.prices import proved_by
from lpsched.online.bound.solve import ArrivalBound, arrival_bound, certificate_of, shortened
from lpsched.online.certificate.claim import check
from lpsched.online.parts import Period
from tests.days import decaying, simple_day


def busy_day(tasks=40, *, machines=(1, 2), watts=50.0, period=None):
    """Return tasks of two types and three urgencies, more than the machines can do."""
    rng = np.random.default_rng(5)
    rows = [
        (float(at), int(rng.integers(2)), decaying(float(rng.integers(1, 9)), float(rng.choice([0.001, 0.01, 0.05]))))
        for at in np.sort(rng.uniform(0.0, 300.0, tasks)).round(1)
    ]
    day = simple_day([[20.0, 30.0], [35.0, None]], [[watts, watts], [watts, None]], machines, rows)
    return day.model_copy(update={"period": Period(60.0, 240.0, "prorated", 20_000.0) if period is None else period})


def test_the_bound_is_what_its_prices_prove_to_the_plain_checker_to_the_last_digit():
    day = busy_day()
    found = arrival_bound(day)
    verdict = check(day, certificate_of(day, found.prices, found.bound))
    assert verdict.accepted
    below = math.nextafter(found.bound, -math.inf)
    assert Fraction(below) < verdict.proved <= Fraction(found.bound)
    assert not check(day, certificate_of(day, found.prices, below)).accepted
    assert found.bound == pytest.approx(proved_by(offers_of(day), found.prices), rel=1e-10)
    assert found.bound < 0.8 * found.naive


def test_the_same_day_has_the_same_bound():
    assert arrival_bound(busy_day()).bound == arrival_bound(busy_day()).bound


def test_without_time_there_is_a_bound_all_the_same():
    slow, quick = arrival_bound(busy_day()), arrival_bound(busy_day(), time_limit=0.0)
    stopped = CancelToken()
    stopped.stop()
    assert quick.bound > slow.bound
    assert arrival_bound(busy_day(), cancel=stopped).bound == quick.bound


def test_a_sample_of_many_tasks_comes_first_and_its_bounds_are_not_told(monkeypatch):
    monkeypatch.setattr(arrivals, "SAMPLE", 10)
    told = []
    found = arrival_bound(busy_day(), cancel=CancelToken(listener=lambda progress: told.append(progress.stage)))
    assert found.bound == pytest.approx(arrival_bound(busy_day()).bound, rel=5e-3)
    assert all(each.startswith("bound ") for each in told)
    assert min(float(each.removeprefix("bound ").replace(",", "")) for each in told) >= found.bound - 1.0


def test_prices_are_told_by_the_hour_and_by_the_kilowatt_hour():
    # 2 a second for 10 s and 0 for 30 s is 0.5 on average: 1,800 an hour. 1e-6 a joule is 3.6 a kWh.
    prices = ArrivalPrices(np.array([0.0, 10.0, 40.0]), np.array([[2.0, 0.0]]), 1e-6)
    found = ArrivalBound(1.0, 2.0, prices, 0.1)
    assert found.per_machine_hour == (1800.0,)
    assert found.per_kwh == pytest.approx(3.6)


def test_shortened_prices_are_the_same_to_nine_digits_and_have_thirty_bits():
    prices = ArrivalPrices(np.array([0.0, 1.0]), np.array([[0.1], [0.0]]), 1 / 3)
    short = shortened(prices)
    assert short.per_joule == pytest.approx(1 / 3, rel=1e-9)
    assert short.per_second.tolist() == [[pytest.approx(0.1, rel=1e-9)], [0.0]]
    assert short.per_joule.as_integer_ratio()[0] < 2**30


@pytest.mark.parametrize(
    ("day", "most"),
    [
        pytest.param(busy_day(period=Period(0.0, 400.0, "prorated", 0.0)), 1e-3, id="no-energy"),
        pytest.param(busy_day(period=Period(5000.0, 1.0, "completed")), 200.0, id="a-period-after-all"),
        pytest.param(busy_day(watts=0.0), 200.0, id="no-watts"),
        pytest.param(busy_day(machines=(10**6, 1)), 200.0, id="a-million-machines"),
        pytest.param(busy_day(tasks=1), 9.0, id="one-task"),
        pytest.param(busy_day(period=Period(0.0, None, "prorated", None)), 200.0, id="no-end"),
        pytest.param(simple_day([[1.0]], [[1.0]], [1], [(0.0, 0, decaying(0.0))]), 0.0, id="nothing-to-earn"),
        pytest.param(
            simple_day([[1.0]], [[1.0]], [1], [(9.0, 0, decaying(5.0))]).model_copy(
                update={"period": Period(0.0, 5.0)}
            ),
            0.0,
            id="all-tasks-after-the-end",
        ),
        pytest.param(simple_day([[1.0]], [[1.0]], [3], [(7.0, 0, decaying(5.0))] * 3), 15.0 + 1e-9, id="all-at-once"),
    ],
)
def test_odd_days_have_a_bound(day, most):
    found = arrival_bound(day)
    assert 0.0 <= found.bound <= most
    assert check(day, certificate_of(day, found.prices, found.bound)).accepted


def test_a_machine_without_the_compiler_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr("lpsched.jit.numba", None)
    with pytest.raises(MissingExtraError, match=r"the bound of a day.*needs the extra 'simulate'"):
        arrival_bound(busy_day())
