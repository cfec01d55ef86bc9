"""The verifier of days, by hand, and each rule broken singly."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.instance.day_door import day_from_dict
from lpsched.schedule.day import DaySchedule, PlacedTask
from lpsched.verify.day import examine, measure, violations
from tests.days import decaying, simple_day, sound_day
from tests.property.days import days, schedules_of

# Type t0 takes 10 s at 5 W on the one m0 and 4 s at 20 W on the two m1; t1 only runs on m0, 6 s at 7 W.
DAY = simple_day(
    [[10.0, 4.0], [6.0, None]],
    [[5.0, 20.0], [7.0, None]],
    [1, 2],
    [(0.0, 0, decaying(8.0, until=12.0)), (1.0, 0, decaying(3.0, 0.1)), (2.0, 1, decaying(2.0))],
)
VALID = (PlacedTask(0, "m0", 1, 0.0), PlacedTask(1, "m1", 2, 1.5), PlacedTask(2, "m0", 1, 10.0))


def codes(*placed):
    return {each.code for each in violations(DAY, DaySchedule(placed))}


def test_utility_energy_and_makespan_are_those_worked_out_on_paper():
    # Task 0 ends 10 s after its arrival, before its deadline: 8. Task 1 ends at 5.5, 4.5 s after its arrival:
    # 3 exp(-0.45). Task 2 runs from 10 to 16 and is always worth 2.
    # Energy: 10 x 5 + 4 x 20 + 6 x 7 = 172 J.
    measured = measure(DAY, DaySchedule(VALID))
    assert measured.utility == pytest.approx(10.0 + 3.0 * math.exp(-0.45), rel=1e-15)
    assert (measured.energy_joules, measured.makespan_seconds) == (172.0, 16.0)
    assert (measured.completed, measured.dropped) == (3, 0)


def test_a_task_that_is_not_placed_is_dropped_and_takes_nothing():
    measured = measure(DAY, DaySchedule(VALID[:1]))
    assert (measured.utility, measured.energy_joules, measured.completed, measured.dropped) == (
        8.0,
        50.0,
        1,
        2,
    )


def test_nothing_at_all_is_a_schedule_without_a_makespan():
    measured = measure(DAY, DaySchedule(()))
    assert (measured.utility, measured.energy_joules, measured.makespan_seconds) == (0.0, 0.0, None)
    assert (measured.completed, measured.dropped) == (0, 3)


def test_a_task_that_ends_at_its_deadline_is_too_late():
    assert measure(DAY, DaySchedule((PlacedTask(0, "m1", 1, 7.999),))).utility == 8.0
    assert measure(DAY, DaySchedule((PlacedTask(0, "m1", 1, 8.0),))).utility == 0.0  # ends 12 s after arrival


def test_the_order_of_the_rows_does_not_matter():
    assert measure(DAY, DaySchedule(VALID[::-1])) == measure(DAY, DaySchedule(VALID))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"task": 3}, "unknown-task", id="one-task-too-many"),
        pytest.param({"task": -1}, "unknown-task", id="a-negative-number"),
        pytest.param({"task": 0}, "task-twice", id="a-task-runs-twice"),
        pytest.param({"machine_type": "m2"}, "unknown-machine-type", id="no-such-type"),
        pytest.param({"machine": 2}, "no-such-machine", id="one-machine-too-many"),
        pytest.param({"machine": 0}, "no-such-machine", id="machines-count-from-one"),
        pytest.param({"p_state": "P0"}, "unknown-p-state", id="a-state-where-there-is-none"),
        pytest.param({"machine_type": "m1"}, "cannot-run", id="an-absent-pair"),
        pytest.param({"start_seconds": math.nan}, "bad-start", id="not-a-number"),
        pytest.param({"start_seconds": math.inf}, "bad-start", id="never"),
        pytest.param({"start_seconds": -1.0}, "bad-start", id="before-all-time"),
        pytest.param({"start_seconds": 1.9}, "before-arrival", id="before-it-arrives"),
        pytest.param({"start_seconds": 9.9}, "overlap", id="two-at-once"),
    ],
)
def test_each_broken_rule_is_named(change, code):
    placed = (VALID[0], VALID[1], replace(VALID[2], **change))
    assert codes(*placed) == {code}


def test_a_valid_schedule_breaks_no_rule():
    assert codes(*VALID) == set()


def test_a_state_must_be_told_where_there_are_states():
    day = day_from_dict(sound_day())
    assert violations(day, DaySchedule((PlacedTask(0, "gpu", 1, 0.0, "P1"),))) == ()
    found = violations(day, DaySchedule((PlacedTask(0, "gpu", 1, 0.0),)))
    assert [(each.code, each.sentence) for each in found] == [
        ("unknown-p-state", "'gpu' has no P-state None")
    ]


def test_states_have_their_own_seconds_and_watts():
    # Render in P1 takes 20 s at 90 W: 1800 J.
    day = day_from_dict(sound_day())
    measured = measure(day, DaySchedule((PlacedTask(0, "gpu", 1, 0.0, "P1"),)))
    assert (measured.makespan_seconds, measured.energy_joules) == (20.0, 1800.0)


@pytest.mark.parametrize("number", [float, np.float64])
def test_sentences_say_which_task_and_when(number):
    found = violations(DAY, DaySchedule((*VALID[:2], replace(VALID[2], start_seconds=number(1.5)))))
    assert [each.sentence for each in found] == ["task 2 starts at 1.5 s, but arrives at 2.0 s"]
    found = violations(DAY, DaySchedule((*VALID[:2], replace(VALID[2], start_seconds=number(9.5)))))
    assert [each.sentence for each in found] == [
        "on machine 1 of type 'm0' task 2 starts at 9.5 s, but the one before ends at 10.0 s"
    ]


def test_starts_that_were_rounded_are_allowed_but_earn_nothing():
    # Task 2 begins a hundredth of a billionth before task 0 ends: it is measured as if it had waited.
    early = replace(VALID[2], start_seconds=math.nextafter(10.0, 0.0))
    assert measure(DAY, DaySchedule((*VALID[:2], early))) == measure(DAY, DaySchedule(VALID))
    late = simple_day([[1.0]], [[1.0]], [1], [(1e10, 0, decaying(5.0, until=1.5))])
    assert measure(late, DaySchedule((PlacedTask(0, "m0", 1, 1e10 - 9.0),))).makespan_seconds == 1e10 + 1.0
    assert violations(late, DaySchedule((PlacedTask(0, "m0", 1, 1e10 - 11.0),)))[0].code == "before-arrival"


def test_times_that_doubles_cannot_add_are_added_exactly():
    # 0.1 + 0.2 is 0.30000000000000004 in doubles; since its arrival the task has only taken 0.2 s.
    day = simple_day([[0.2]], [[1.0]], [1], [(0.1, 0, decaying(1.0, until=math.nextafter(0.2, 1.0)))])
    assert measure(day, DaySchedule((PlacedTask(0, "m0", 1, 0.1),))).utility == 1.0


def test_a_file_of_junk_gives_no_end_of_violations():
    placed = tuple(PlacedTask(7, "m0", 1, 0.0) for _ in range(5000))
    assert len(violations(DAY, DaySchedule(placed))) == 1000


@settings(max_examples=40)
@given(st.data())
def test_measured_is_what_sums_in_doubles_give_but_for_their_rounding(data):
    day = data.draw(days())
    schedule = data.draw(schedules_of(day))
    found = examine(day, schedule)
    assert found.violations == ()
    low = high = energy = 0.0
    columns = {(day.machine_types[j].name, day.p_state(c)): c for c, (j, _) in enumerate(day.modes)}
    for placed in schedule.placed:
        cell = day.arriving.type_numbers[placed.task], columns[placed.machine_type, placed.p_state]
        energy += day.seconds[cell] * day.watts[cell]
        late = placed.start_seconds + day.seconds[cell] - day.arriving.arrival_seconds[placed.task]
        low += day.utility_of(placed.task).at(late * (1 + 1e-9))  # a break may lie between the two
        high += day.utility_of(placed.task).at(late * (1 - 1e-9))
    assert low - 1e-9 <= found.measured.utility <= high + 1e-9
    assert found.measured.energy_joules == pytest.approx(energy, rel=1e-12)
    assert found.measured.completed == len(schedule.placed)
