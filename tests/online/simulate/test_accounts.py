"""Energy by the day: pieces of time, shares at their edges, and what is not done for want of energy."""

from __future__ import annotations

import math

import pytest

from lpsched.errors import InstanceError
from lpsched.online.parts import Period
from lpsched.online.simulate.engine import TaskOutcome
from lpsched.online.simulate.machines import accounts_of
from lpsched.online.verify.day import examine
from tests.online.small_days import Seen, flat_day, run, run_plainly, starts
from tests.selection import PLAIN


@pytest.fixture(params=["compiled", PLAIN], autouse=True)
def _both_ways(request, monkeypatch):
    if request.param == "plain":
        run_plainly(monkeypatch)


@pytest.mark.parametrize(
    ("period", "edges", "limits"),
    [
        (Period(), [0.0, math.inf], [math.inf]),
        (Period(0.0, 24.0, energy_constraint_joules=7.0), [0.0, 24.0], [7.0]),
        (Period(2.0, 24.0, energy_constraint_joules=7.0), [0.0, 2.0, 26.0], [math.inf, 7.0]),
        (Period(24.0, 24.0, energy_constraint_joules=7.0), [0.0, 24.0, 48.0], [7.0, 7.0]),
        (Period(50.0, 24.0, energy_constraint_joules=7.0), [0.0, 2.0, 26.0, 50.0, 74.0], [math.inf, 7.0, 7.0, 7.0]),
        (Period(50.0, None, energy_constraint_joules=7.0), [0.0, 50.0, math.inf], [math.inf, 7.0]),
        (Period(24.0, 24.0), [0.0, 24.0, 48.0], [math.inf, math.inf]),
    ],
)  # fmt: skip
def test_time_before_the_period_is_cut_into_days_backwards(period, edges, limits):
    accounts = accounts_of(period)
    assert accounts.edges.tolist() == edges
    assert accounts.limits.tolist() == limits


def test_a_time_at_an_edge_is_in_the_later_piece():
    accounts = accounts_of(Period(50.0, 24.0))
    assert [accounts.segment(now) for now in (0.0, 1.9, 2.0, 26.0, 50.0, 73.0)] == [0, 0, 1, 2, 3, 3]
    # the first two hours are no day: what is mapped then may start any time before the end
    assert [accounts.ends_at(segment) for segment in range(4)] == [74.0, 26.0, 50.0, 74.0]


def test_too_many_days_are_refused():
    with pytest.raises(InstanceError, match="got 1e\\+09 days of its length, expected at most 100,000"):
        accounts_of(Period(1e9, 1.0))


def seen_energy(day, **options):
    seen = Seen()
    made = run(day, seen, **options)
    return [(state.begins_at, state.ends_at, state.energy_left) for state in seen.states], made


def test_energy_is_charged_when_tasks_get_unmovable_and_prorated_at_the_end_of_a_day():
    # Two days of 300 s, 3,000 J each, at 10 W. 60 s: 0 (200 s) starts, 1 (100 s) pends: 200 s are 2,000 J; 1 runs
    # from 260 to 360 s, of which 40 s, 400 J, are in the first day and 60 s, 600 J, in the second. 2 arrives at
    # 90 s and would start at 360 s, in the second day: not mapped before 300 s, when it pends behind 1.
    period = Period(300.0, 300.0, energy_constraint_joules=3000.0)
    energy, made = seen_energy(flat_day([200.0, 100.0, 10.0], [0.0, 0.0, 90.0], period=period))
    first, second = (0.0, 300.0), (300.0, 600.0)
    assert energy == [(*first, 3000.0), *[(*first, 600.0)] * 3, (*second, 2400.0)]
    assert starts(made) == {0: (1, 60.0), 1: (1, 260.0), 2: (1, 360.0)}
    assert made.rejected == 3  # at 120, 180 and 240 s


def test_where_tasks_count_when_they_complete_the_day_in_which_they_end_is_charged():
    period = Period(300.0, 300.0, "completed", 3000.0)
    energy, _ = seen_energy(flat_day([200.0, 100.0, 10.0], [0.0, 0.0, 90.0], period=period))
    assert [left for _, _, left in energy] == [3000.0, 1000.0, 1000.0, 1000.0, 2000.0]


def test_what_is_mapped_in_the_first_hours_may_start_in_the_day_but_not_overspend_it():
    # 100 s of warm-up, then a day with 500 J, 50 s at 10 W. 60 s: 0 runs 60 to 120, 20 s in the day: 200 J.
    # 1 would run 120 to 160 s: 400 J more, too much. 2 fits: 120 to 150 s, 300 J. Nothing is left then.
    period = Period(100.0, 1000.0, energy_constraint_joules=500.0)
    energy, made = seen_energy(flat_day([60.0, 40.0, 30.0], [0.0] * 3, period=period))
    assert starts(made) == {0: (1, 60.0), 2: (1, 120.0)}
    assert energy[0] == (0.0, 1100.0, math.inf)
    assert energy[1] == (100.0, 1100.0, 0.0)
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.WAITING, TaskOutcome.RAN]


def test_a_task_that_ends_with_a_day_counts_in_that_day_if_tasks_count_when_they_complete():
    # Two days of 160 s with 1,000 J. From 60 to 160 s at 10 W: all of the first day's energy.
    period = Period(160.0, 160.0, "completed", 1000.0)
    energy, made = seen_energy(flat_day([100.0, 40.0], [0.0, 61.0], period=period))
    assert energy == [(0.0, 160.0, 1000.0), (0.0, 160.0, 0.0), (160.0, 320.0, 1000.0)]
    assert starts(made) == {0: (1, 60.0), 1: (1, 180.0)}


def test_a_joule_too_much_is_too_much():
    day = flat_day([10.0, 10.0], [0.0, 0.0], period=Period(0.0, 600.0, energy_constraint_joules=199.0))
    made = run(day)
    assert starts(made) == {0: (1, 60.0)}
    assert made.rejected == 9  # task 1, at each of the events from 60 to 540 s


def test_energy_may_be_used_up_to_the_last_joule():
    day = flat_day([10.0, 10.0], [0.0, 0.0], period=Period(0.0, 600.0, energy_constraint_joules=200.0))
    made = run(day)
    assert len(made.schedule.placed) == 2
    assert examine(day, made.schedule).measured.energy_joules == 200.0


def test_a_task_longer_than_a_day_is_charged_in_every_day_that_it_runs_in():
    # Days of 100 s; at 10 W a task that fills one takes 1,000 J. One of 250 s from 60 s on fills that from 100 to
    # 200 s. With 900 J a day it has to wait until 360 s: after 400 s nobody counts any more.
    for limit, start in ((900.0, 360.0), (1000.0, 60.0)):
        period = Period(300.0, 100.0, energy_constraint_joules=limit)
        assert starts(run(flat_day([250.0], [0.0], period=period))) == {0: (1, start)}


def test_no_energy_at_all_runs_nothing_but_what_takes_none():
    period = Period(0.0, 600.0, energy_constraint_joules=0.0)
    assert run(flat_day([5.0], [0.0], period=period)).schedule.placed == ()
    assert len(run(flat_day([5.0], [0.0], watts=0.0, period=period)).schedule.placed) == 1


def test_immediate_mode_charges_the_whole_queue_at_once():
    # 25 s of energy: 0 and 1 take 20 s, 2 has not enough left, 3 has.
    period = Period(0.0, 600.0, energy_constraint_joules=250.0)
    made = run(flat_day([10.0, 10.0, 10.0, 5.0], [0.0] * 4, period=period), immediate=True)
    assert starts(made) == {0: (1, 0.0), 1: (1, 10.0), 3: (1, 20.0)}
    assert made.rejected == 1
