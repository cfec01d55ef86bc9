"""Schedules from prices, knowing the whole day: valid, within the energy, and good where one can tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.cancellation import CancelToken
from lpsched.online import recovery as arrival_lines
from lpsched.online import recovery as arrivals
from lpsched.online.bound.offers import ArrivalPrices
from lpsched.online.parts import Period
from lpsched.online.recovery import schedule_from_prices
from lpsched.online.verify.day import examine, measure
from tests.days import decaying, simple_day
from tests.property.days import days, periods, schedules_of

pytestmark = pytest.mark.slow  # compiling takes 10 s


def prices(machine_types, per_second=0.0, per_joule=0.0, edges=(0.0, 50.0, 100.0)):
    slots = len(edges) - 1
    return ArrivalPrices(np.array(edges), np.full((machine_types, slots), per_second), per_joule)


def two_tasks(most, energy=None):
    """One machine, 10 s each, both arrive at 0; worth 8 and `most` if they end within 12 s."""
    made = simple_day([[10.0]], [[1.0]], [1], [(0.0, 0, decaying(8.0, until=12.0)), (0.0, 0, most)])
    return made.model_copy(update={"period": Period(0.0, 100.0, "prorated", energy)})


def test_a_task_takes_the_place_of_one_that_is_worth_less():
    # The first to arrive takes the machine; the second, worth 9 if it ends within 12 s, takes its place.
    made = two_tasks(decaying(9.0, until=12.0))
    assert measure(made, schedule_from_prices(made, prices(1))).utility == 9.0


def test_both_run_if_one_can_wait():
    made = two_tasks(decaying(9.0, until=25.0))
    assert measure(made, schedule_from_prices(made, prices(1))).utility == 17.0


def test_energy_for_one_task_runs_the_better_one():
    made = two_tasks(decaying(9.0, until=25.0), energy=10.5)
    assert measure(made, schedule_from_prices(made, prices(1))).utility == 9.0


def test_what_is_not_worth_its_price_still_fills_a_gap_in_the_end():
    # 9 utility for 10 s at 2 a second: not worth it, but nobody else wants the machine.
    made = two_tasks(decaying(9.0, until=25.0))
    assert measure(made, schedule_from_prices(made, prices(1, per_second=2.0))).utility == 17.0


def test_a_task_of_the_warm_up_may_wait_for_the_period():
    # It would end at 10, before the period begins at 30; from 30 to 40 it counts wholly.
    made = simple_day([[10.0]], [[1.0]], [1], [(0.0, 0, decaying(5.0))])
    for edge in ("prorated", "completed"):
        cut = made.model_copy(update={"period": Period(30.0, 50.0, edge)})
        assert measure(cut, schedule_from_prices(cut, prices(1))).utility == 5.0


def test_a_watch_that_is_over_leaves_a_valid_schedule():
    cancel = CancelToken()
    cancel.stop()
    made = two_tasks(decaying(9.0, until=25.0))
    assert measure(made, schedule_from_prices(made, prices(1), cancel=cancel)).utility > 0.0


@settings(max_examples=30)
@given(st.data(), days(), periods(), st.sampled_from([0.0, 0.1]))
def test_a_schedule_to_begin_with_is_never_made_worse(data, day, period, per_second):
    start = data.draw(schedules_of(day))
    day = day.model_copy(update={"period": period})
    before = examine(day, start).measured
    if before is not None:  # it may take too much energy, or start too late
        after = schedule_from_prices(day, prices(len(day.machine_types), per_second), start=start)
        assert measure(day, after).utility >= before.utility * (1 - 1e-9)


@settings(max_examples=40)
@given(days(), periods(), st.sampled_from([0.0, 0.01, 0.3]), st.sampled_from([0.0, 1e-3]))
def test_schedules_of_odd_days_break_no_rule(day, period, per_second, per_joule):
    day = day.model_copy(update={"period": period})
    at = prices(len(day.machine_types), per_second, per_joule)
    assert examine(day, schedule_from_prices(day, at)).violations == ()


@pytest.mark.parametrize("seed", range(3))
def test_plain_python_makes_the_same_schedule(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    tasks = [(float(a), int(rng.integers(2)), decaying(float(rng.integers(1, 9)), 0.05)) for a in range(25)]
    made = simple_day([[10.0, 7.0], [5.0, None]], [[1.0, 2.0], [1.0, None]], [1, 2], tasks)
    made = made.model_copy(update={"period": Period(5.0, 60.0, "prorated", 150.0)})
    expected = schedule_from_prices(made, prices(2, 0.1, 0.01))
    for name, value in list(vars(arrival_lines).items()):
        if hasattr(value, "py_func"):
            monkeypatch.setattr(arrival_lines, name, value.py_func)
            if hasattr(arrivals, name):
                monkeypatch.setattr(arrivals, name, value.py_func)
    assert schedule_from_prices(made, prices(2, 0.1, 0.01)) == expected
