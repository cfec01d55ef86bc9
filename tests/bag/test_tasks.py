"""Single tasks: what only they can get wrong, and the schedule that they add up to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.schedule import MachineGroup, Run, TaskRow, expand
from lpsched.bag.solve import solve
from lpsched.bag.verify import examine, gather
from tests.support import bags, simple_bag

BAG = simple_bag([[2.0, 3.0], [5.0, None]], [3, 1], [2, 1])
ROWS = [TaskRow("t0", "m0", 1), TaskRow("t1", "m0", 2), TaskRow("t0", "m1", 1), TaskRow("t0", "m0", 1)]


def test_rows_without_starts_run_back_to_back_in_their_order():
    found = gather(BAG, ROWS)
    assert found.violations == ()
    assert set(found.schedule.groups) == {
        MachineGroup("m0", 1, (Run("t0", 2),)),
        MachineGroup("m0", 1, (Run("t1", 1),)),
        MachineGroup("m1", 1, (Run("t0", 1),)),
    }
    assert found.schedule.makespan_seconds is None


def test_pauses_count_for_the_makespan():
    starts = [0.0, 10.0, 0.0, 7.5]
    rows = [replace(row, start_seconds=start) for row, start in zip(ROWS, starts, strict=True)]
    assert gather(BAG, rows).schedule.makespan_seconds == 15.0  # the t1 of 5 s that starts at 10 s


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        ({"machine": 3}, "no-such-machine", "there is no machine 3 of type 'm0', only 1 to 2"),
        ({"machine": 0}, "no-such-machine", "there is no machine 0 of type 'm0', only 1 to 2"),
        ({"start_seconds": -1.0}, "bad-start", "a task of type 't0' starts at -1.0 s"),
        ({"start_seconds": float("nan")}, "bad-start", "a task of type 't0' starts at nan s"),
        ({"start_seconds": None}, "missing-start", "1 tasks have no start, 3 have one"),
        (
            {"start_seconds": 6.0},
            "overlap",
            "on machine 1 of type 'm0' a task of type 't0' starts at 7.5 s, but the one before ends at 8.0 s",
        ),
    ],
)
def test_each_broken_rule_is_named(change, code, sentence):
    starts = [0.0, 10.0, 0.0, 7.5]
    rows = [replace(row, start_seconds=start) for row, start in zip(ROWS, starts, strict=True)]
    rows[0] = replace(rows[0], **change)
    assert (code, sentence) in [(each.code, each.sentence) for each in gather(BAG, rows).violations]


def test_what_compact_schedules_break_too_is_left_to_their_checker():
    rows = [*ROWS[:-1], TaskRow("t1", "m1", 1), TaskRow("t9", "m0", 1, start_seconds=None)]
    found = gather(BAG, rows)
    assert found.violations == ()
    codes = {each.code for each in examine(BAG, found.schedule).violations}
    assert codes == {"cannot-run", "unknown-task-type", "wrong-count"}


def test_a_flood_of_violations_is_cut():
    rows = [TaskRow("t0", "m0", 9)] * 5000
    assert len(gather(BAG, rows).violations) == 1000


@pytest.mark.parametrize(
    ("row", "most", "sentence"),
    [
        (TaskRow("t0", "m0", 1), 1003, "more than 1003 tasks of type 't0' run, but there are 3"),
        (TaskRow("t9", "m0", 1), 1000, "more than 1000 tasks are of types, on machines or in P-states that"),
        (TaskRow("t0", "m9", 10**30), 1000, "more than 1000 tasks are of types, on machines or in P-states that"),
        (TaskRow("t0", "m0", 1, "turbo"), 1000, "more than 1000 tasks are of types, on machines or in P-states that"),
    ],
)
def test_rows_are_left_where_a_thousand_are_too_many(row, most, sentence):
    assert gather(BAG, [row] * most).violations == ()  # for `examine` to reject
    rows = iter([row] * (most + 5))
    (found,) = gather(BAG, rows).violations
    assert found.code == "wrong-count"
    assert found.sentence.startswith(sentence)
    assert len(list(rows)) == 4


def test_a_flood_of_overlaps_is_cut():
    bag = simple_bag([[2.0]], [5000], [1])
    rows = [TaskRow("t0", "m0", 1, start_seconds=0.0)] * 5000
    assert len(gather(bag, rows).violations) == 1000


@settings(deadline=None, max_examples=60)
@given(bags(most_tasks=30, most_machines=5), st.booleans(), st.randoms())
def test_expanding_and_gathering_gives_back_what_was_measured(bag, timed, random):
    bag = bag.without_limits()
    result = solve(bag, objective="makespan")
    rows = list(expand(bag, result.schedule))
    assert len(rows) == bag.tasks
    if timed:
        random.shuffle(rows)
    else:
        rows = [replace(row, start_seconds=None) for row in rows]
    found = gather(bag, rows)
    assert found.violations == ()
    measured = examine(bag, found.schedule).measured
    assert measured is not None
    assert measured.makespan_seconds == pytest.approx(result.value, rel=1e-9)
    assert measured.makespan_seconds >= result.value


@pytest.mark.parametrize(("early", "broken"), [(1e-11, False), (1e-6, True)])
def test_a_billionth_of_overlap_is_forgiven_and_a_millionth_is_not(early, broken):
    bag = simple_bag([[2.0]], [2], [1])
    rows = [TaskRow("t0", "m0", 1, start_seconds=0.0), TaskRow("t0", "m0", 1, start_seconds=2.0 - early)]
    found = gather(bag, rows)
    assert bool(found.violations) == broken
    if not broken:  # and the makespan is what the machine works, not what the starts say
        assert found.schedule.makespan_seconds == 4.0
