"""What a day's file may say, and how each error is told."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.online.day import Levels, day_from_dict
from lpsched.online.utility import Interval, UtilityFunction
from tests.days import SOUND, sound_day
from tests.documents import replaced

TASK = {"arrival_seconds": 0, "task_type": "zip", "utility": "slow"}


def issues_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        day_from_dict(raw)
    return [str(issue) for issue in caught.value.issues]


def within(path: str, value: object) -> dict[str, Any]:
    """Return the sound day with the value at a dotted path replaced; `...` removes it."""
    return replaced(SOUND, {path: value})


def test_a_sound_day_is_read_as_it_stands():
    day = day_from_dict(SOUND)
    assert list(day.arriving.arrival_seconds) == [0.0, 2.5, 2.5, 100.0]
    assert list(day.arriving.type_numbers) == [0, 1, 1, 0]
    assert day.arriving.declared == (Levels("high", "soon", "A"), "deadline", Levels("low", "soon", "A"), "slow")
    # what neither falls nor decays is steady
    assert day.utility_functions["deadline"] == UtilityFunction(
        (Interval(0.0, 8.0, 8.0, 0.0), Interval(60.0, 0.0, 0.0, 0.0))
    )
    assert day.levels.utility_classes["A"][1].rate == 1.0  # by default
    assert day.watts[0, 2] == 90.0


def test_numbers_and_names_of_numpy_are_read_like_others():
    rows = [
        {key: np.float64(each) if key == "arrival_seconds" else np.str_(each) for key, each in task.items()}
        for task in SOUND["tasks"]
    ]
    assert day_from_dict(tasks(*rows)) == day_from_dict(SOUND)


def test_levels_and_own_functions_are_optional_where_no_task_uses_them():
    own = sound_day(priorities=..., urgencies=..., utility_classes=..., tasks=[TASK])
    assert day_from_dict(own).levels.priorities == {}
    by_levels = sound_day(utility_functions=None, tasks=[SOUND["tasks"][0]])
    assert day_from_dict(by_levels).utility_functions == {}


def tasks(*rows):
    return sound_day(tasks=list(rows))


@pytest.mark.parametrize(
    ("raw", "issue"),
    [
        pytest.param(7, "the file: got 7, expected a mapping that begins with 'format: lpsched-day/1'; see 'lpsched new day'", id="no-mapping"),
        pytest.param(sound_day(format=...), "format: got no format, expected 'format: lpsched-day/1'; write it as the first key", id="no-format"),
        pytest.param(sound_day(format="lpsched-bag/1"), "format: got the text 'lpsched-bag/1', expected 'lpsched-day/1'; use 'lpsched solve' for a bag", id="a-bag"),
        pytest.param(within("utility_functions.slow", [{"after_seconds": 0, "starts_at": 1}] * 101), "utility_functions.slow: got a list of 101, expected a list of 1 to 100 intervals; add or join some", id="too-many-intervals"),
        pytest.param(sound_day(tasks={"file": "t.csv"}), "tasks.file: got the text 't.csv', expected the tasks themselves; read the day from a file", id="file-without-a-file"),
        pytest.param(tasks(TASK | {"arrival_seconds": 10**400}), "tasks[0].arrival_seconds: got a whole number near 10^400, expected seconds: a number from 0 to 1e+30; correct it", id="arrival-endless"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(raw, issue):
    found = issues_of(raw)
    assert any(each.startswith(issue) for each in found), found


def test_all_faults_come_at_once_in_file_order():
    raw = within("seconds.zip.cpu", 0)
    raw["priorities"]["high"] = -1
    raw["tasks"][0]["task_type"] = "rendr"
    raw["tasks"][3]["arrival_seconds"] = -5
    raw["name"] = ""
    assert [each.partition(":")[0] for each in issues_of(raw)] == [
        "name", "seconds.zip.cpu", "priorities.high", "tasks[0].task_type", "tasks[3].arrival_seconds"
    ]  # fmt: skip


def test_faulty_levels_do_not_make_their_users_faulty():
    raw = within("priorities.high", -1)
    assert issues_of(raw) == ["priorities.high: got -1, expected utility: a number from 0 to 1e+30; correct it"]


def test_a_list_of_junk_costs_no_more_than_its_first_faults():
    assert len(issues_of(sound_day(tasks=[3] * 100_000))) == 1000
    assert len(issues_of(sound_day(tasks=[TASK | {"utility": "x"}] * 100_000))) == 1000
    lists = {f"u{k}": [{"after": 0}] * 100 for k in range(10_000)}  # two million problems
    for key in ("utility_classes", "utility_functions"):
        began = time.process_time()
        found = issues_of(sound_day(tasks=[TASK], **{key: lists}))
        assert sum(each.startswith(key) for each in found) == 1000
        assert time.process_time() - began < 2.0  # all of them take ten times as long


def test_an_unknown_key_of_an_interval_is_told_with_the_known_ones():
    (found,) = issues_of(within("utility_functions.slow.0.falls_too", 1))
    assert found == (
        "utility_functions.slow[0].falls_too: got an unknown key, "
        "expected one of after_seconds, starts_at, falls_to, rate_per_second; did you mean 'falls_to'?"
    )


def test_more_tasks_than_can_be_are_refused(monkeypatch):
    monkeypatch.setattr("lpsched.online.parts.MOST_TASKS", 3)
    assert issues_of(tasks(*[TASK] * 4)) == ["tasks: got 4 of them, expected at most 3; divide the instance"]
    assert day_from_dict(tasks(*[TASK] * 3)).tasks == 3


def test_more_names_than_can_be_are_refused():
    raw = sound_day(priorities={f"p{k}": 1.0 for k in range(10_001)})
    assert issues_of(raw) == ["priorities: got 10,001 of them, expected at most 10,000; divide the instance"]


def test_rows_in_several_pieces_are_one_list(monkeypatch):
    monkeypatch.setattr("lpsched.online.arriving_rows.CHUNK_ROWS", 1)
    assert day_from_dict(SOUND).arriving.declared[1] == "deadline"
    assert list(day_from_dict(SOUND).arriving.utility_numbers) == [0, 1, 2, 3]
    falling = tasks(TASK | {"arrival_seconds": 2}, TASK)
    assert issues_of(falling)[0].startswith("tasks[1].arrival_seconds: got 0.0 s after 2.0 s, expected")
