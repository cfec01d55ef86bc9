"""Samples of a day's schedule: by hand, by the verifier, and by what is known exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.model.risk import RiskOptions, task_draws
from lpsched.online.arrays import day_arrays
from lpsched.online.risk import sample_day, too_late
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.day import examine
from tests.days import decaying, simple_day
from tests.property.days import days, schedules_of, utility_functions


def draws_of(day, **options):
    arrays = day_arrays(day)
    return task_draws(day.tasks, arrays.seconds, arrays.watts, RiskOptions(**options), 0)


def one_function(function):
    return simple_day([[1.0]], [[1.0]], [1], [(0.0, 0, function)])


@settings(max_examples=30, deadline=None)
@given(utility_functions(), st.floats(0.0, 12.0), st.floats(0.0, 500.0))
def test_a_task_is_too_late_exactly_when_it_earns_less_than_the_limit(function, limit, seconds):
    end = too_late(day_arrays(one_function(function)), limit)[0]
    if not math.isclose(function.at(seconds), limit, rel_tol=1e-9, abs_tol=1e-300):  # there, rounding decides
        assert (seconds < end) == (function.at(seconds) >= limit)


def test_the_moment_from_which_on_a_task_earns_too_little_by_hand():
    # 8 until 60 s, then from 8 towards 2 at 0.1 per second, from 100 s on 1.
    function = UtilityFunction(
        (Interval(0.0, 8.0, 8.0, 0.0), Interval(60.0, 8.0, 2.0, 0.1), Interval(100.0, 1.0, 1.0, 0.0))
    )
    arrays = day_arrays(one_function(function))
    assert too_late(arrays, 5.0)[0] == pytest.approx(60 + math.log(6 / 3) / 0.1)
    assert too_late(arrays, 8.0)[0] == pytest.approx(60.0)  # at 60 s it is still 8
    assert too_late(arrays, 8.0)[0] > 60.0
    assert too_late(arrays, 1.5)[0] == 100.0  # not at 100 s any more
    assert too_late(arrays, 1.0)[0] == math.inf
    assert too_late(arrays, 9.0)[0] == 0.0
    assert too_late(arrays, None)[0] == math.inf
    # At 0.001 per second it would reach 5 only log(2) / 0.001 = 693 s later, but from 100 s on it is 1 anyway.
    slow = UtilityFunction((Interval(0.0, 8.0, 2.0, 0.001), Interval(100.0, 1.0, 1.0, 0.0)))
    assert too_late(day_arrays(one_function(slow)), 5.0)[0] == 100.0


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_without_spread_a_schedule_without_pauses_is_what_the_verifier_measures(data):
    day = data.draw(days())
    placed: list[PlacedTask] = []
    free: dict[tuple[str, int], float] = {}
    for each in sorted(data.draw(schedules_of(day)).placed, key=lambda each: each.start_seconds):
        start = max(day.arriving.arrival_seconds[each.task], free.get((each.machine_type, each.machine), 0.0))
        placed.append(PlacedTask(each.task, each.machine_type, each.machine, start, each.p_state))
        j = next(j for j, machine in enumerate(day.machine_types) if machine.name == each.machine_type)
        states = day.machine_types[j].p_states
        column = day.modes.index((j, 0 if states is None else states.index(each.p_state)))
        free[each.machine_type, each.machine] = start + day.seconds[day.arriving.type_numbers[each.task], column]
    schedule = DaySchedule(tuple(placed))
    exact = examine(day, schedule).measured
    drawn = sample_day(day, schedule, draws_of(day, samples=2, cov=0.0))
    assert drawn.utility == pytest.approx(exact.utility, rel=1e-9, abs=1e-12)
    assert drawn.energy_joules == pytest.approx(exact.energy_joules, rel=1e-12)
    assert drawn.makespan_seconds == pytest.approx(exact.makespan_seconds or 0.0, rel=1e-12)
    assert drawn.dropped_tasks.tolist() == [exact.dropped] * 2


def test_energy_has_the_exact_mean_and_variance():
    # 200 tasks of 10 s at 100 W: 200 kJ; of each task Var = 1000^2 ((1 + v^2) (1 + w^2) - 1), v = 0.5, w = 0.2.
    tasks = [(float(n), 0, decaying(1.0)) for n in range(200)]
    day = simple_day([[10.0]], [[100.0]], [1], tasks)
    schedule = DaySchedule(tuple(PlacedTask(n, "m0", 1, 10.0 * n + 200) for n in range(200)))
    drawn = sample_day(day, schedule, draws_of(day, samples=4000, cov=0.5, power_cov=0.2))
    variance = 200 * 1000.0**2 * (1.25 * 1.04 - 1)
    assert abs(drawn.energy_joules.mean() - 200e3) < 5 * (variance / 4000) ** 0.5
    assert drawn.energy_joules.var() == pytest.approx(variance, rel=5 * (2 / 4000) ** 0.5)
    assert drawn.dropped_tasks.tolist() == [0] * 4000


def test_a_machine_goes_on_as_soon_as_it_can_and_not_at_planned_starts():
    # Two tasks of 10 s at 0 s, planned 50 s apart: the second one starts when the first ends, in every sample.
    day = simple_day([[10.0]], [[1.0]], [1], [(0.0, 0, decaying(1.0)), (0.0, 0, decaying(1.0))])
    schedule = DaySchedule((PlacedTask(0, "m0", 1, 50.0), PlacedTask(1, "m0", 1, 0.0)))
    draws = draws_of(day, samples=50, cov=0.3)
    drawn = sample_day(day, schedule, draws)
    both = draws.seconds_of(0, (0, 0)) + draws.seconds_of(1, (0, 0))
    assert drawn.makespan_seconds == pytest.approx(both)


def test_tasks_are_dropped_in_the_samples_in_which_the_one_before_took_too_long():
    # The second task is expected to take 10 s and is worth 8 until 25 s: it runs where the first took less than 15 s.
    worth = decaying(8.0, until=25.0)
    # What is dropped takes no time: the third task, worth 1 whenever it ends, begins earlier then.
    day = simple_day([[10.0]], [[100.0]], [1], [(0.0, 0, decaying(1.0)), (0.0, 0, worth), (0.0, 0, decaying(1.0))])
    schedule = DaySchedule(tuple(PlacedTask(n, "m0", 1, 10.0 * n) for n in range(3)))
    draws = draws_of(day, samples=400, cov=1.0, power_cov=0.0)
    first, second, third = (draws.seconds_of(n, (0, 0)) for n in range(3))
    drawn = sample_day(day, schedule, draws, drop_below=0.5)
    runs = first < 15.0
    assert 0 < runs.sum() < 400
    assert drawn.dropped_tasks.tolist() == (~runs).astype(int).tolist()
    assert drawn.utility == pytest.approx(2.0 + 8.0 * (runs & (first + second < 25.0)))
    busy = first + np.where(runs, second, 0.0) + third
    assert drawn.energy_joules == pytest.approx(100.0 * busy)
    assert drawn.makespan_seconds == pytest.approx(busy)


def test_what_is_not_placed_is_dropped_in_all_samples_and_nothing_placed_takes_nothing():
    day = simple_day([[10.0]], [[100.0]], [1], [(0.0, 0, decaying(1.0))] * 3)
    drawn = sample_day(day, DaySchedule((PlacedTask(1, "m0", 1, 0.0),)), draws_of(day, samples=4, cov=0.3))
    assert drawn.dropped_tasks.tolist() == [2] * 4
    nothing = sample_day(day, DaySchedule(()), draws_of(day, samples=4, cov=0.3))
    assert nothing.dropped_tasks.tolist() == [3] * 4
    assert (nothing.energy_joules == 0.0).all()
    assert (nothing.makespan_seconds == 0.0).all()
