"""What every heuristic for days must do, on odd little days."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lpsched.online.bound.no_waiting import no_waiting_front
from lpsched.online.day import day_from_dict
from lpsched.online.heuristics import OF_DAYS
from lpsched.online.schedule import DaySchedule
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.day import examine, measure
from tests.days import decaying, simple_day, sound_day
from tests.online.plain import mapped, read
from tests.property.days import days

every = pytest.mark.parametrize("name", OF_DAYS.built_in)
quick = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LIMITS = st.none() | st.sampled_from([0.0, 0.5, 3.0, 1e9])


def run(name, day, seed=0, drop_below=None):
    return OF_DAYS.built_in[name](day, np.random.default_rng(seed), drop_below=drop_below)


@every
@quick
@given(day=days(), limit=LIMITS)
def test_its_schedule_is_valid_the_same_again_and_not_above_the_bound(name, day, limit):
    schedule = run(name, day, drop_below=limit)
    found = examine(day, schedule)
    assert not found.violations
    assert found.measured.utility <= no_waiting_front(day).most_utility(found.measured.energy_joules)
    assert schedule == run(name, day, drop_below=limit)
    assert [each.task for each in schedule.placed] == sorted({each.task for each in schedule.placed})
    if limit is None:
        assert found.measured.dropped == 0
    if limit == 1e9:
        assert found.measured.completed == 0


@every
@quick
@given(day=days(), limit=st.sampled_from([0.5, 3.0]))
def test_what_it_does_not_drop_earns_the_limit(name, day, limit):
    schedule = run(name, day, drop_below=limit)
    for place in range(len(schedule.placed)):
        own = schedule.placed[: place + 1]  # each alone would start at the same time, so its utility is the same
        utility = measure(day, DaySchedule(own)).utility - measure(day, DaySchedule(own[:-1])).utility
        assert utility >= limit - 1e-6 or on_the_edge(day, own[-1])


def on_the_edge(day, placed):
    """Tell whether a task ends so near to a step of its utility that rounding decides."""
    column = next(
        c
        for c, (j, _) in enumerate(day.modes)
        if (day.machine_types[j].name, day.p_state(c)) == (placed.machine_type, placed.p_state)
    )
    seconds = day.seconds[day.arriving.type_numbers[placed.task], column]
    elapsed = placed.start_seconds + seconds - day.arriving.arrival_seconds[placed.task]
    steps = [each.after_seconds for each in day.utility_of(placed.task).intervals]
    return any(elapsed == pytest.approx(step, rel=1e-9) for step in steps)


@pytest.mark.parametrize("name", [name for name in OF_DAYS.built_in if name != "random"])
@quick
@given(day=days(), limit=LIMITS)
def test_it_maps_as_the_plain_rule_does(name, day, limit):
    assert read(day, run(name, day, drop_below=limit)) == mapped(name, day, limit)


STEPS = UtilityFunction((Interval(0.0, 8.0, 8.0, 0.0), Interval(40.0, 4.0, 1.0, 0.02), Interval(90.0, 0.0, 0.0, 0.0)))
WORTHS = [STEPS, decaying(8.0, 0.05), decaying(4.0), decaying(4.0, until=50.0)]


@st.composite
def crowded_days(draw):
    """Draw tasks that come at once or nearly, are often alike, and wait for few machines."""
    columns, types = draw(st.integers(1, 3)), draw(st.integers(1, 2))

    def table(values):
        return [[draw(st.sampled_from(values)) for _ in range(columns)] for _ in range(types)]

    arrivals = sorted(draw(st.lists(st.sampled_from([0.0, 1.0, 30.0, 59.0, 70.0]), min_size=3, max_size=8)))
    kinds = st.integers(0, types - 1)
    tasks = [(arrival, draw(kinds), draw(st.sampled_from(WORTHS))) for arrival in arrivals]
    seconds, watts = table([5.0, 10.0, 20.0, 40.0]), table([0.0, 1.0, 5.0, 20.0])
    return simple_day(seconds, watts, [draw(st.integers(1, 2)) for _ in range(columns)], tasks)


@pytest.mark.parametrize("name", [name for name in OF_DAYS.built_in if name.startswith(("max-max", "min-min"))])
@settings(quick, max_examples=60)
@given(day=crowded_days(), limit=st.sampled_from([None, 1.0, 4.0]))
def test_it_maps_tasks_that_wait_in_a_crowd_as_the_plain_rule_does(name, day, limit):
    assert read(day, run(name, day, drop_below=limit)) == mapped(name, day, limit)


@quick
@given(day=days())
def test_min_energy_takes_the_least_energy_of_all_tasks(day):
    joules = measure(day, run("min-energy", day)).energy_joules
    assert joules == pytest.approx(no_waiting_front(day).least_joules, rel=1e-12)


@every
def test_it_does_the_sound_day(name):
    day = day_from_dict(sound_day())
    assert measure(day, run(name, day)).completed == 4
