"""No schedule of a tiny day earns more than any prices prove, however bad the prices."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.online.bound.offers import ArrivalPrices, grid_of, offers_of
from lpsched.online.bound.prices import Looker, proved_by
from lpsched.online.bound.solve import certificate_of
from lpsched.online.certificate.claim import check
from lpsched.online.parts import Period
from lpsched.online.utility import Interval, UtilityFunction
from models.arrivals import most_utility
from tests.days import decaying, simple_day
from tests.property.day_schedules import most_earned, share, starts_of, utility
from tests.property.days import days, periods

MOST_STARTS = 9
few = settings(max_examples=40, deadline=None)
TIMES = st.integers(0, 60).map(float) | st.floats(0.0, 80.0)
PER_SECOND = st.sampled_from([0.0, 0.0, 0.05, 0.3]) | st.floats(0.0, 2.0)


@st.composite
def prices_of(draw, day) -> ArrivalPrices:
    """Draw any prices on any slots; a price of energy only where there is a constraint."""
    edges = sorted(draw(st.sets(TIMES, min_size=2, max_size=5)))
    per_second = [[draw(PER_SECOND) for _ in edges[1:]] for _ in day.machine_types]
    limited = day.period.energy_constraint_joules is not None
    per_joule = draw(st.sampled_from([0.0, 1e-3, 0.02]) | st.floats(0.0, 0.1)) if limited else 0.0
    return ArrivalPrices(np.array(edges), np.array(per_second), per_joule)


@st.composite
def priced_days(draw, most_tasks=3):
    """Draw a tiny day with a period, and prices."""
    day = draw(days(most_tasks=most_tasks, most_types=2, most_machines=1)).model_copy(
        update={"period": draw(periods())}
    )
    return day, draw(prices_of(day))


@few
@given(case=priced_days(), extra=st.lists(TIMES, max_size=3))
def test_no_schedule_on_a_grid_of_starts_earns_more_than_any_prices_prove(case, extra):
    day, prices = case
    grid = [starts_of(day, task, extra, MOST_STARTS) for task in range(day.tasks)]
    assert most_earned(day, grid) <= proved_by(offers_of(day), prices)


@few
@given(case=priced_days(most_tasks=2), place=st.floats(0.0, 1.0))
def test_no_start_of_a_task_gains_more_than_its_best_choice(case, place):
    day, prices = case
    best = Looker(offers_of(day), prices.edges).best(prices).best
    for task in range(day.tasks):
        i, arrival = day.arriving.type_numbers[task], Fraction(day.arriving.arrival_seconds[task])
        for column, e in enumerate(day.seconds.row(i)):
            if e is not None:
                for start in tried_starts(day, task, prices, place):
                    assert gain(day, prices, task, column, max(arrival, start)) <= best[task]


@few
@given(case=priced_days())
def test_plain_whole_numbers_prove_what_the_compiled_loops_do(case):
    day, prices = case
    bound = proved_by(offers_of(day), prices)
    verdict = check(day, certificate_of(day, prices, bound))
    assert verdict.accepted, verdict
    assert math.isclose(float(verdict.proved), bound, rel_tol=1e-9, abs_tol=1e-9)


@few
@given(case=priced_days(most_tasks=4))
def test_the_dual_prices_of_the_written_out_program_prove_its_optimum(case):
    day, prices = case
    proves_its_optimum(day, prices)


@pytest.mark.parametrize(
    ("arrival", "seconds", "due", "period", "edges"),
    [
        (0.3, 1.0, 1.0, Period(), [0.0, 1.0]),  # 0.3 + 1 - 1 is above 0.3 in doubles
        (0.0, 1.0, 1.0, Period(), [5e-324, 1.0]),  # a slot begins a hair after the arrival
        (5e-10, 1.0, 9.0, Period(0.0, 1.0, "completed"), [0.0, 1.0]),  # it ends a hair after the period
        (0.1, 0.2, 9.0, Period(0.0, 0.3, "completed"), [0.0, 1.0]),  # 0.1 + 0.2 is above 0.3, if barely
        (0.0, 3.0, 5.0, Period(5.0, 20.0, "completed"), [0.0, 30.0]),  # due as the period begins
        (0.1, 3.0, 4.9 - 2.0**-50, Period(5.0, 20.0, "completed"), [0.0, 30.0]),  # 5 - 0.1 is between two doubles
        (9.0, 1.0 - 2.0**-53, 1.0, Period(10.0, 5.0, "completed"), [0.0, 30.0]),  # 10 less its seconds rounds to 9
        (60.0, 1.0, 1.0, Period(0.0, 61.00000000000001), [0.0, 80.0]),  # due as the period ends, or just before
    ],
)
def test_a_task_that_is_late_by_a_hair_earns_nothing(arrival, seconds, due, period, edges):
    # In real numbers it ends when it is due, or after the period, however early it starts.
    day = simple_day([[seconds]], [[1.0]], [1], [(arrival, 0, decaying(1.0, until=due))])
    day = day.model_copy(update={"period": period})
    free = ArrivalPrices(np.array(edges), np.zeros((1, len(edges) - 1)), 0.0)
    assert most_utility(day, edges).utility == proved_by(offers_of(day), free) == 0.0
    assert check(day, certificate_of(day, free, 0.0)).accepted
    proves_its_optimum(day, free)


@pytest.mark.parametrize(
    ("arrival", "seconds", "due", "period"),
    [
        (0.3, 1.0, math.nextafter(1.0, 2.0), Period()),
        (0.1, 0.2, 9.0, Period(0.0, 0.1 + 0.2, "completed")),
        (0.0, 3.0, math.nextafter(5.0, 6.0), Period(5.0, 20.0, "completed")),
        (0.1, 3.0, 4.9, Period(5.0, 20.0, "completed")),  # 5 - 0.1 rounds up to 4.9
        (60.0, 1.0, math.nextafter(1.0, 2.0), Period(0.0, 61.0)),
    ],
)
def test_a_task_that_is_in_time_by_a_hair_earns_all(arrival, seconds, due, period):
    day = simple_day([[seconds]], [[1.0]], [1], [(arrival, 0, decaying(1.0, until=due))])
    day = day.model_copy(update={"period": period})
    free = ArrivalPrices(np.array([0.0, 80.0]), np.zeros((1, 1)), 0.0)
    assert most_utility(day, [0.0, 80.0]).utility == pytest.approx(1.0)
    assert 1.0 <= proved_by(offers_of(day), free) <= 1.0 + 1e-9
    assert float(check(day, certificate_of(day, free, 2.0)).proved) == pytest.approx(1.0)


def test_a_task_of_the_warm_up_is_never_worth_more_than_at_once():
    # It takes 3 s, from when on it is worth 0.1; the period begins as soon after its arrival as a double can say.
    falls = UtilityFunction((Interval(0.0, 1.0, 1.0, 0.0), Interval(3.0, 0.1, 0.1, 0.0)))
    day = simple_day([[3.0]], [[1.0]], [1], [(2.0, 0, falls)])
    day = day.model_copy(update={"period": Period(math.nextafter(2.0, 3.0), 9.0)})
    free = ArrivalPrices(np.array([0.0, 80.0]), np.zeros((1, 1)), 0.0)
    assert proved_by(offers_of(day), free) == pytest.approx(0.1)
    proves_its_optimum(day, free)


def proves_its_optimum(day, prices):
    """Assert that any prices prove at least the optimum of the program, and its dual prices no more."""
    best = most_utility(day, prices.edges.tolist())
    dual = ArrivalPrices(prices.edges, np.array(best.per_second), best.per_joule)
    assert proved_by(offers_of(day), prices) >= best.utility * (1.0 - 1e-7) - 1e-7
    assert proved_by(offers_of(day), dual) >= best.utility * (1.0 - 1e-7) - 1e-7
    rounding = day.tasks * float(grid_of(dual.edges, dual).hair.sum())  # much, if a second of a tiny slot costs much
    assert proved_by(offers_of(day), dual) <= best.utility * (1.0 + 1e-6) + 1e-6 + rounding


def gain(day, prices, task, column, start) -> float:
    """Return what a task gains at these prices: the formula, in fractions."""
    i, arrival = day.arriving.type_numbers[task], Fraction(day.arriving.arrival_seconds[task])
    end = start + Fraction(day.seconds[i, column])
    part = share(day, start, end)
    joules = Fraction(day.seconds[i, column]) * Fraction(day.watts[i, column])
    cost = sum(
        Fraction(price) * max(Fraction(0), min(end, Fraction(b)) - max(start, Fraction(a)))
        for price, a, b in zip(
            prices.per_second[day.modes[column][0]].tolist(),
            prices.edges[:-1].tolist(),
            prices.edges[1:].tolist(),
            strict=True,
        )
    )
    worth = Fraction(utility(day, task, end - arrival)) - Fraction(prices.per_joule) * joules
    return float(part * worth - cost)


def tried_starts(day, task, prices, place) -> list[Fraction]:
    """Return starts near everything that can matter, and between."""
    near = [*prices.edges.tolist(), day.period.begins_at]
    near += [day.period.ends_at] if math.isfinite(day.period.ends_at) else []
    lengths = [e for e in day.seconds.row(day.arriving.type_numbers[task]) if e is not None]
    arrival = day.arriving.arrival_seconds[task]
    near += [arrival + each.after_seconds for each in day.utility_of(task).intervals]
    starts = sorted({Fraction(each) - Fraction(e) for each in near for e in (0.0, *lengths)})
    hair = Fraction(1, 10**12)
    between = [a + (b - a) * Fraction(place) for a, b in pairwise(starts)]
    return [each + off for each in starts for off in (-hair, 0, hair)] + between
