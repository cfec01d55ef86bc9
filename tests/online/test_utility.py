"""Utility functions: their values by hand, one at a time and all at once, and what they must satisfy."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.online.arrays import day_arrays
from lpsched.online.day import day_from_dict
from lpsched.online.parts import Levels
from lpsched.online.utility import (
    ClassInterval,
    Interval,
    Urgency,
    UtilityFunction,
    UtilityLevels,
    classes_never_rise,
    compiled_utility,
    functions_never_rise,
    utilities,
    utility_at,
)
from tests.days import sound_day
from tests.property.days import days, utility_functions

COMPILED = compiled_utility()

# 10 for a minute, then from 8 towards 2 by a tenth a second, and nothing after two minutes
THREE = UtilityFunction((Interval(0.0, 10.0, 10.0, 0.0), Interval(60.0, 8.0, 2.0, 0.1), Interval(120.0, 0.0, 0.0, 0.0)))


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, 10.0),
        (59.999, 10.0),
        (60.0, 8.0),  # the next interval begins
        (70.0, 2.0 + 6.0 / math.e),  # 2 + (8 - 2) exp(-0.1 x 10)
        (119.999, 2.0 + 6.0 * math.exp(-5.9999)),
        (120.0, 0.0),
        (1e300, 0.0),
    ],
)
def test_utility_falls_interval_by_interval(seconds, expected):
    assert THREE.at(seconds) == pytest.approx(expected, rel=1e-15)


@settings(max_examples=50)
@given(utility_functions(), st.floats(0, 200), st.floats(0, 200))
def test_utility_never_rises(function, one, other):
    assert list(functions_never_rise({"f": function})) == []
    assert function.at(max(one, other)) <= function.at(min(one, other)) + 1e-12
    assert function.at(one) >= 0


@settings(max_examples=50)
@given(days(), st.data())
def test_all_at_once_is_one_at_a_time(day, data):
    breaks = [each.after_seconds for function in day.functions for each in function.intervals]
    seconds = st.floats(0, 300) | st.sampled_from(breaks)
    tasks = data.draw(st.lists(st.integers(0, day.tasks - 1), min_size=1, max_size=9))
    ends = data.draw(st.lists(seconds, min_size=len(tasks), max_size=len(tasks)))
    arrays = day_arrays(day)
    found = utilities(arrays, arrays.function[np.array(tasks)], np.array(ends))
    assert found == pytest.approx(
        [day.utility_of(task).at(end) for task, end in zip(tasks, ends, strict=True)], rel=1e-14, abs=1e-300
    )


def test_all_at_once_takes_every_shape_that_fits():
    arrays = day_arrays(day_from_dict(sound_day()))
    ends = np.array([[0.0, 10.0], [59.0, 60.0], [1.0, 2.0]])
    function = arrays.function.item(1)
    assert utilities(arrays, np.array(function), ends).tolist() == [[8.0, 8.0], [8.0, 0.0], [8.0, 8.0]]
    assert utilities(arrays, function, ends).tolist() == [[8.0, 8.0], [8.0, 0.0], [8.0, 8.0]]  # found by bisection
    assert utilities(arrays, arrays.function[:4], ends[:, :1]).shape == (3, 4)


@numba.njit  # without a cache: a test's code is not kept
def in_a_compiled_loop(curves, functions, ends):
    return [COMPILED(curves, functions[n], ends[n]) for n in range(len(functions))]


@settings(max_examples=20, deadline=None)
@given(days(), st.lists(st.floats(0, 300), min_size=5, max_size=5))
def test_arrays_of_functions_have_the_values_of_each(day, ends):
    arrays = day_arrays(day)
    functions = np.resize(arrays.function, 5)
    expected = [day.functions[f].at(end) for f, end in zip(functions.tolist(), ends, strict=True)]
    found = [utility_at(arrays, f, end) for f, end in zip(functions.tolist(), ends, strict=True)]
    assert found == expected  # to the last bit
    found = in_a_compiled_loop(arrays.curves, functions, np.array(ends))
    assert found == pytest.approx(expected, rel=1e-14, abs=1e-300)


LEVELS = UtilityLevels(
    {"critical": 8.0, "low": 1.0},
    {"extreme": Urgency(0.6, 0.8), "none": Urgency(0.2, 0.0)},
    {
        # class A of the thesis, table C.1
        "A": tuple(
            ClassInterval(float(after), share, rate)
            for after, share, rate in (
                (0, 1.0, 1.1), (5, 0.6, 1.15), (10, 0.3, 1.2), (20, 0.2, 1.1), (30, 0.1, 1.2), (10_000, 0.0, 10.0),
            )
        ),
        "deadline": (ClassInterval(2.0, 0.0),),
        "fades": (ClassInterval(0.0, 1.0),),
    },
)  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        # extreme urgency: the most for 0.8 x 100 s = 80 s
        (79.9, 8.0),
        (80.0, 8.0),
        # a minute later: from 8 towards 0.6 x 8 = 4.8 at 1.1 x 0.6 a minute
        (140.0, 4.8 + 3.2 * math.exp(-0.66)),
        # 5 minutes after the 80 s: 4.8, towards 0.3 x 8 = 2.4 at 1.15 x 0.6 a minute
        (380.0, 4.8),
        (440.0, 2.4 + 2.4 * math.exp(-0.69)),
        # an hour after the 80 s the fifth interval is 30 minutes old: from 0.8 towards 0 at 1.2 x 0.6 a minute
        (3680.0, 0.8 * math.exp(-0.72 * 30)),
        (80.0 + 600_000.0, 0.0),
    ],
)
def test_levels_make_the_function_of_equation_1(seconds, expected):
    function = LEVELS.function(Levels("critical", "extreme", "A"), 100.0)
    assert function.at(seconds) == pytest.approx(expected, rel=1e-12)


def test_a_class_may_begin_later_and_end_in_a_deadline():
    # nothing decays: 1 until 2 minutes after the steady 80 s, then nothing
    function = LEVELS.function(Levels("low", "extreme", "deadline"), 100.0)
    assert (function.at(199.9), function.at(200.0)) == (1.0, 0.0)


def test_without_a_steady_time_decay_begins_on_arrival():
    function = LEVELS.function(Levels("critical", "none", "fades"), 100.0)
    assert function == UtilityFunction((Interval(0.0, 8.0, 0.0, pytest.approx(0.2 / 60)),))


def test_the_steady_time_is_a_share_of_the_mean_over_the_machine_types_that_can_run_it():
    # render: (80 on cpu + 10 on gpu in P0) / 2 = 45 s, and 0.8 of that is 36; zip: only cpu, 30 s, so 24
    day = day_from_dict(sound_day())
    assert [day.mean_seconds(0), day.mean_seconds(1)] == [45.0, 30.0]
    assert day.utility_of(0).intervals[1].after_seconds == pytest.approx(36.0)
    assert day.utility_of(2).intervals[1].after_seconds == pytest.approx(24.0)


def test_where_the_first_state_cannot_run_it_the_next_one_counts():
    seconds = {"render": {"cpu": 80.0, "gpu": [None, 20.0]}, "zip": {"cpu": 30.0}}
    watts = {"render": {"cpu": 50.0, "gpu": [None, 90.0]}, "zip": {"cpu": 40.0}}
    assert day_from_dict(sound_day(seconds=seconds, watts=watts)).mean_seconds(0) == 50.0


def steady(after, value):
    return Interval(after, value, value, 0.0)


@pytest.mark.parametrize(
    ("intervals", "issue"),
    [
        ((), "f: got a list of 0, expected a list of 1 to 100 intervals; add or join some"),
        (tuple(steady(float(k), 1.0) for k in range(101)), "f: got a list of 101, expected a list of 1 to 100 intervals; add or join some"),
        ((steady(1.0, 1.0),), "f[0].after_seconds: got a first interval that begins at 1 s, expected 0, the arrival; begin with one that does"),
        ((steady(0.0, 1.0), steady(0.0, 1.0)), "f[1].after_seconds: got 0, not after the 0 of the one before, expected intervals by rising begin; sort or join them"),
        ((steady(0.0, 1.0), steady(5.0, 1.0), steady(4.0, 1.0)), "f[2].after_seconds: got 4, not after the 5 of the one before, expected intervals by rising begin; sort or join them"),
        ((Interval(0.0, 1.0, 2.0, 0.1),), "f[0].falls_to: got 2, above the 1 at which the interval starts, expected utility that never rises; lower it"),
        ((steady(0.0, 1.0), steady(5.0, 1.5)), "f[1].starts_at: got 1.5, above the 1 to which the one before falls, expected utility that never rises; lower it"),
        ((steady(0.0, math.nan),), "f[0].starts_at: got NaN, expected utility: a number from 0 to 1e+30; correct it"),
        ((steady(0.0, -1.0),), "f[0].starts_at: got -1.0, expected utility: a number from 0 to 1e+30; correct it"),
        ((steady(math.inf, 1.0),), "f[0].after_seconds: got infinity, expected seconds: a number from 0 to 1e+30; correct it"),
        ((Interval(0.0, 1.0, 0.0, -0.1),), "f[0].rate_per_second: got -0.1, expected a rate: a number from 0 to 1e+30; correct it"),
    ],
)  # fmt: skip
def test_each_broken_rule_of_a_function_is_told(intervals, issue):
    day = day_from_dict(sound_day())
    with pytest.raises(InstanceError) as caught:
        day.model_copy(update={"utility_functions": day.utility_functions | {"f": UtilityFunction(intervals)}})
    assert f"utility_functions.{issue}" in [str(each) for each in caught.value.issues]


def test_a_sound_function_or_class_breaks_no_rule():
    assert list(functions_never_rise({"f": THREE})) == []
    assert list(classes_never_rise(LEVELS.utility_classes)) == []


def test_a_class_whose_shares_rise_is_refused():
    rising = (ClassInterval(0.0, 0.5), ClassInterval(1.0, 0.6))
    assert [str(each) for each in classes_never_rise({"A": rising})] == [
        "utility_classes.A[1].share: got 0.6, above the 0.5 of the one before, expected utility that never rises; lower it"
    ]
