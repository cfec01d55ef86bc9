from __future__ import annotations

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.online.bound import choices as arrival_choices
from lpsched.online.bound import choices as arrival_cut_runs
from lpsched.online.bound import choices as arrival_takes
from lpsched.online.bound import prices as arrival_softening
from lpsched.online.bound.no_waiting import no_wait_reference
from lpsched.online.bound.offers import ArrivalPrices, offers_of
from lpsched.online.bound.prices import Looker, NearList, SoftBound, arrival_prices, even_slots, on_slots, proved_by
from lpsched.online.parts import Period
from lpsched.online.utility import Interval, UtilityFunction
from models.arrivals import most_utility
from tests.days import decaying, simple_day

STEADY = decaying(8.0)


def one_machine(*tasks, seconds=10.0, watts=10.0, machines=1, period=None):
    """Return a day of one machine type and one task type; tasks are (arrival, utility function)."""
    day = simple_day([[seconds]], [[watts]], [machines], [(at, 0, function) for at, function in tasks])
    return day if period is None else day.model_copy(update={"period": period})


def prices(*edges, per_second=0.0, per_joule=0.0):
    """Return prices of one machine type: one for all slots, or one for each."""
    slots = len(edges) - 1
    row = [per_second] * slots if isinstance(per_second, float) else per_second
    return ArrivalPrices(np.array(edges), np.array([row]), per_joule)


def bound(day, at):
    return proved_by(offers_of(day), at)


def mixed_day(seed, *, period):
    """Return twelve tasks of two types on three machines of two types, in a hurry."""
    rng = np.random.default_rng(seed)
    tasks = [
        (at, int(rng.integers(2)), decaying(float(rng.integers(1, 9)), 0.02, until=float(rng.integers(15, 90))))
        for at in np.sort(rng.uniform(0.0, 100.0, 12)).round(1).tolist()
    ]
    return simple_day([[10.0, 25.0], [18.0, None]], [[90.0, 30.0], [70.0, None]], [1, 2], tasks).model_copy(
        update={"period": period}
    )


WHOLE = Period()
PERIODS = {
    "everything counts": WHOLE,
    "prorated": Period(20.0, 60.0, "prorated", 3000.0),
    "completed": Period(20.0, 60.0, "completed", 3000.0),
    "longer runs than the period": Period(30.0, 5.0, "prorated", None),
}
periods = pytest.mark.parametrize("period", list(PERIODS.values()), ids=list(PERIODS))


def test_free_time_bounds_by_what_all_tasks_earn_at_their_best():
    # Both tasks may start at once if time costs nothing: 8 + 8.
    assert bound(one_machine((0.0, STEADY), (0.0, STEADY)), prices(0.0, 50.0)) == pytest.approx(16.0)


def test_two_tasks_with_time_for_one_are_worth_what_the_time_costs():
    # Both must end before 11. At 0.8 a second until 11, a run costs 8 wherever it starts: no gain, and the machine's
    # 11 seconds cost 8.8.
    soon = decaying(8.0, until=11.0)
    day = one_machine((0.0, soon), (0.0, soon))
    assert bound(day, prices(0.0, 11.0, per_second=0.8)) == pytest.approx(8.8)


def test_a_start_just_before_a_drop_counts_with_the_utility_before_it():
    # Until 10 a second costs 0.8, then nothing. Starting as late as the deadline at 11 allows, a run costs 9 * 0.8 =
    # 7.2 and gains 0.8; two tasks and the machine's 8 make 9.6.
    soon = decaying(8.0, until=11.0)
    day = one_machine((0.0, soon), (0.0, soon))
    assert bound(day, prices(0.0, 10.0, per_second=0.8)) == pytest.approx(9.6)


def test_a_deadline_at_the_earliest_end_leaves_nothing():
    # The task takes 10 s and is worth nothing from 10 s on: it can never earn anything.
    assert bound(one_machine((0.0, decaying(8.0, until=10.0))), prices(0.0, 10.0)) == 0.0


def test_energy_for_one_of_two_tasks_is_worth_one_task():
    # 100 J each, and 100 J in all: at 0.08 a joule neither gains anything, and all energy is worth 8 (and a billionth).
    day = one_machine((0.0, STEADY), (0.0, STEADY), period=Period(0.0, 50.0, "prorated", 100.0))
    assert 7.9e-9 <= bound(day, prices(0.0, 50.0, per_joule=0.08)) - 8.0 <= 8.2e-9
    assert bound(day, prices(0.0, 50.0)) == pytest.approx(16.0)


@pytest.mark.parametrize(
    ("period", "most"),
    [
        (Period(0.0, 5.0, "prorated"), 4.0),  # 5 of 10 seconds
        (Period(0.0, 5.0, "completed"), 0.0),  # it ends at 10
        (Period(0.0, 10.0, "completed"), 8.0),  # just in time
        (Period(3.0, 4.0, "prorated"), 3.2),  # 4 of 10 seconds, wherever it starts until 3
        (Period(40.0, 5.0, "prorated"), 4.0),  # it waits for the period
        (Period(40.0, 5.0, "completed"), 8.0),  # it waits, and ends within
    ],
)
def test_a_run_over_an_edge_counts_by_its_share(period, most):
    assert bound(one_machine((0.0, STEADY), period=period), prices(0.0, 50.0)) == pytest.approx(most, abs=1e-9)


def test_over_the_begin_utility_before_the_piece_and_share_after_it_are_taken():
    # It must start before 5 to end before 15; of a run from 5 to 15 half is after 10. So 4 is the most, and it is found,
    # because utility is 8 all along.
    until_15 = decaying(8.0, until=15.0)
    day = one_machine((0.0, until_15), period=Period(10.0, 100.0))
    assert bound(day, prices(10.0, 110.0)) == pytest.approx(4.0)


def test_naive_utility_is_no_bound_where_a_task_of_the_warm_up_can_wait():
    # It arrives at 0 and would end at 10, before the period: naively nothing. Kept until 20 it earns 8.
    day = one_machine((0.0, STEADY), period=Period(20.0, 100.0))
    assert no_wait_reference(offers_of(day), day.period) == 0.0
    assert bound(day, prices(20.0, 120.0)) == pytest.approx(8.0)


def test_naive_utility_starts_everything_at_once_where_it_is_fastest():
    # 8 exp(-0.1 * 5) on the column of 5 s, twice, though there is one machine of each type.
    day = simple_day([[10.0, 5.0]], [[1.0, 900.0]], [1, 1], [(0.0, 0, decaying(8.0, 0.1))] * 2)
    assert no_wait_reference(offers_of(day), day.period) == pytest.approx(16.0 * math.exp(-0.5))


def best_choices(day, given):
    """Return what each task does best; a gain of less than a billionth of its utility is rounding, and none."""
    offers = offers_of(day)
    found = Looker(offers, given.edges).best(given)
    gains = found.best > 1e-9 * offers.starts_at[offers.first_interval[offers.function]]
    told = (found.column, -1), (found.start, np.nan), (found.best, 0.0)
    column, start, best = (np.where(gains, each, none) for each, none in told)
    return found._replace(column=column, start=start, best=best)


def test_the_best_choice_is_told_with_its_start_and_value():
    # A second costs 0.5 until 20, then nothing; utility falls by half in 20 s. Now: 8 exp(-k 10) - 5 with k = ln 2 / 20,
    # that is 0.657; at 20: 8 exp(-k 30) = 2.83.
    day = one_machine((0.0, decaying(8.0, math.log(2.0) / 20.0)))
    found = best_choices(day, prices(0.0, 20.0, 40.0, per_second=[0.5, 0.0]))
    assert (found.column.tolist(), found.start.tolist()) == ([0], [20.0])
    assert found.best[0] == pytest.approx(8.0 * 2.0**-1.5)


def test_a_task_that_is_better_not_run_has_no_column():
    found = best_choices(one_machine((0.0, decaying(8.0, until=100.0))), prices(0.0, 100.0, per_second=1.0))
    assert found.column.tolist() == [-1]
    assert found.best.tolist() == [0.0]
    assert math.isnan(found.start[0])


def test_offers_count_as_often_as_they_weigh():
    day = one_machine((0.0, STEADY), (0.0, STEADY), (5.0, decaying(2.0)))
    heavy = replace(offers_of(day), weights=np.array([1.0, 3.0, 0.5]))
    assert proved_by(heavy, prices(0.0, 50.0)) == pytest.approx(8.0 + 24.0 + 1.0)
    thinned = offers_of(day).thinned(1)
    assert (thinned.count, thinned.weights.sum()) == (1, pytest.approx(3.0))


@periods
@pytest.mark.parametrize("seed", range(2))
def test_prices_found_are_nearly_as_good_as_the_best(period, seed):
    day = mixed_day(seed, period=period)
    edges = even_slots(offers_of(day), 6)
    best = most_utility(day, edges.tolist()).utility
    found = arrival_prices(offers_of(day), edges, temperatures=(0.1, 0.03, 0.01, 0.003, 0.001, 3e-4))
    assert best * (1.0 - 1e-9) <= bound(day, found) <= 1.01 * best + 1e-6


def test_energy_without_a_constraint_has_no_price():
    day = mixed_day(0, period=WHOLE)
    assert arrival_prices(offers_of(day), even_slots(offers_of(day), 4)).per_joule == 0.0


def test_every_bound_told_on_the_way_is_proved_and_lower_than_the_one_before():
    offers, heard = offers_of(mixed_day(1, period=PERIODS["prorated"])), []
    found = arrival_prices(offers, even_slots(offers, 6), listener=lambda *each: heard.append(each))
    bounds = [each for each, _ in heard]
    assert len(bounds) > 2
    assert bounds == sorted(bounds, reverse=True)
    assert all(proved_by(offers, at) == each for each, at in heard)
    assert heard[-1][1] is found


def test_a_watch_that_is_over_leaves_the_first_prices():
    offers, cancel = offers_of(mixed_day(1, period=WHOLE)), CancelToken(0.0)
    start = ArrivalPrices(np.array([0.0, 50.0]), np.array([[0.1], [0.2]]), 0.0)
    assert arrival_prices(offers, start.edges, start=start, cancel=cancel).per_second.tolist() == [[0.1], [0.2]]


def test_prices_on_other_slots_cost_the_same_in_all():
    # 0.2 a second for 10 s and 0.5 for 30 s are 17; in slots of 20 s that is 7 / 20 and 10 / 20.
    found = on_slots(prices(0.0, 10.0, 40.0, per_second=[0.2, 0.5]), np.array([0.0, 20.0, 40.0]))
    assert found.per_second.tolist() == [[pytest.approx(0.35), pytest.approx(0.5)]]


def in_python(monkeypatch, module):
    """Let all loops of a module run as they are written."""
    for name, function in inspect.getmembers(module, lambda each: hasattr(each, "py_func")):
        monkeypatch.setattr(module, name, function.py_func)
    return module


@pytest.mark.slow
@periods
def test_compiled_loops_do_what_is_written(monkeypatch, period):
    day = mixed_day(2, period=period)
    offers, edges = offers_of(day), even_slots(offers_of(day), 5)
    at = ArrivalPrices(edges, np.linspace(0.0, 0.3, 10).reshape(2, 5), 0.0005 if offers.energy_joules else 0.0)
    compiled, looker = Looker(offers, edges).best(at), Looker(offers, edges)
    near = looker.near(at, compiled.best - 0.5)
    soft = SoftBound(offers, edges, NearList().with_more(near)).at(at.per_second, at.per_joule, 0.1)
    monkeypatch.setattr("lpsched.online.bound.prices.look", in_python(monkeypatch, arrival_choices).look)
    for module in (arrival_cut_runs, arrival_takes, arrival_softening):
        in_python(monkeypatch, module)
    plain = looker.best(at)
    assert plain.best.tolist() == pytest.approx(compiled.best.tolist(), rel=1e-12)
    assert plain.column.tolist() == compiled.column.tolist()
    again = looker.near(at, compiled.best - 0.5)
    assert again.near[: again.number[0]] == pytest.approx(near.near[: near.number[0]])
    slow = SoftBound(offers, edges, NearList().with_more(again)).at(at.per_second, at.per_joule, 0.1)
    assert slow[0] == pytest.approx(soft[0])
    assert slow[1] == pytest.approx(soft[1])


@periods
def test_the_slope_of_the_soft_bound_is_how_it_changes(period):
    day = mixed_day(3, period=period)
    offers, edges = offers_of(day), even_slots(offers_of(day), 4)
    at = ArrivalPrices(edges, np.full((2, 4), 0.1), 0.0005)
    looker = Looker(offers, edges)
    soft = SoftBound(offers, edges, NearList().with_more(looker.near(at, np.full(offers.count, -1.0))))
    value, time, energy = soft.at(at.per_second, at.per_joule, 0.2)
    step = 1e-6
    for place in np.ndindex(2, 4):
        moved = at.per_second.copy()
        moved[place] += step
        assert (soft.at(moved, at.per_joule, 0.2)[0] - value) / step == pytest.approx(time[place], rel=1e-3, abs=1e-3)
    risen = (soft.at(at.per_second, at.per_joule + step * 1e-3, 0.2)[0] - value) / (step * 1e-3)
    assert risen == pytest.approx(energy, rel=1e-3, abs=1.0)


def test_odd_utilities_and_huge_numbers_keep_the_bound_finite_and_close():
    late = UtilityFunction((Interval(0.0, 8.0, 4.0, 1e20), Interval(1e25, 3.0, 3.0, 0.0)))
    day = one_machine((0.0, late), (1e9, late), seconds=1e-20, watts=1e20, machines=10**15)
    # Each earns 4 + 4 exp(-1e20 * 1e-20) at once; 1e15 machines cost 1e-20 * 2e9 each.
    assert bound(day, prices(0.0, 1e9, 2e9, per_second=1e-20)) == pytest.approx(2.0 * (4.0 + 4.0 / math.e) + 2e4)
