"""What a day's file may say, and how each fault is told."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.instance import arrival_rules
from lpsched.instance.day import Levels
from lpsched.instance.day_door import day_from_dict
from lpsched.instance.utility import Interval, UtilityFunction
from tests.days import SOUND, sound_day

LEVELS = {"priority": "high", "urgency": "soon", "utility_class": "A"}
TASK = {"arrival_seconds": 0, "task_type": "zip", "utility": "slow"}


def faults_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        day_from_dict(raw)
    return [str(fault) for fault in caught.value.faults]


def within(path: str, value: object) -> dict[str, Any]:
    """Return the sound day with the value at a dotted path replaced; `...` removes it."""
    raw = copy.deepcopy(SOUND)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner: Any = raw
    for step in steps:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return raw


def test_a_sound_day_is_read_as_it_stands():
    day = day_from_dict(SOUND)
    assert list(day.arriving.arrival_seconds) == [0.0, 2.5, 2.5, 100.0]
    assert list(day.arriving.type_numbers) == [0, 1, 1, 0]
    assert day.arriving.told == (Levels("high", "soon", "A"), "deadline", Levels("low", "soon", "A"), "slow")
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
    ("raw", "fault"),
    [
        pytest.param(7, "the file: found 7, needs a mapping that begins with 'format: lpsched-day/1'; see 'lpsched new day'", id="no-mapping"),
        pytest.param(sound_day(format=...), "format: found no format, needs 'format: lpsched-day/1'; write it as the first key", id="no-format"),
        pytest.param(sound_day(format="lpsched-bag/1"), "format: found the text 'lpsched-bag/1', needs 'lpsched-day/1'; bring a file of this kind, or use 'lpsched solve'", id="a-bag"),
        pytest.param(sound_day(format="lpsched-day/2"), "format: found the text 'lpsched-day/2', needs 'lpsched-day/1'; install a newer lpsched", id="newer"),
        pytest.param(sound_day(task=[]), "task: found an unknown key", id="unknown-key"),
        pytest.param(sound_day(energy_constraint_joules=1e9), "energy_constraint_joules: found an unknown key", id="a-key-of-days-to-come"),
        pytest.param(sound_day(name=...), "name: found nothing (null), needs a name", id="no-name"),
        pytest.param(sound_day(machine_types={}), "machine_types: found a mapping of 0, needs a list of machine types; see 'lpsched schema day'", id="no-list"),
        pytest.param(within("machine_types.0.idle_watts", 5), "machine_types[0].idle_watts: found an unknown key, needs one of name, count, p_states; remove it", id="idle-watts"),
        pytest.param(within("machine_types.0.count", 0), "machine_types[0].count: found 0, needs a whole number from 1 to 10^15; correct it, or drop the entry", id="no-machines"),
        pytest.param(within("task_types.0.count", 3), "task_types[0].count: found an unknown key, needs one of name; remove it", id="counted-type"),
        pytest.param(within("seconds.zip.cpu", 0), "seconds.zip.cpu: found 0, needs seconds: a number from 1e-30 to 1e+30; correct it; leave it out if the pair cannot run", id="no-time"),
        pytest.param(within("watts.zip.cpu", -1), "watts.zip.cpu: found -1, needs watts: a number from 0 to 1e+30; correct it; leave it out if the pair cannot run", id="negative-watts"),
        pytest.param(within("watts.zip", {}), "watts.zip.cpu: found a time but no power for 'zip' on 'cpu', needs both or neither; give it watts, or remove its time", id="no-power"),
        pytest.param(within("watts", ...), "watts: found nothing, needs a table of watts: what a day's schedule earns is judged by the energy that it takes; add it; 0 where energy costs nothing", id="no-watts"),
        pytest.param(sound_day(seconds={"render": {"cpu": 1}}, watts={"render": {"cpu": 1}}), "seconds.zip: found no machine type that can run task type 'zip' (2 tasks), needs at least one time; give one a time, or drop its tasks", id="cannot-run"),
        pytest.param(sound_day(priorities=[8]), "priorities: found a list of 1, needs a mapping from names to the most utility; see 'lpsched schema day'", id="priorities-a-list"),
        pytest.param(within("priorities.high", "8"), "priorities.high: found the text '8', needs utility: a number from 0 to 1e+30; write it as a plain number", id="priority-a-text"),
        pytest.param(within("priorities.high", math.nan), "priorities.high: found NaN, needs utility: a number from 0 to 1e+30; correct it", id="priority-nan"),
        pytest.param(within("urgencies.soon.steady_share", -0.1), "urgencies.soon.steady_share: found -0.1, needs a share of the mean seconds: a number from 0 to 1e+30; correct it", id="negative-share"),
        pytest.param(within("urgencies.soon", 0.6), "urgencies.soon: found 0.6, needs a mapping; see 'lpsched schema day'", id="urgency-a-number"),
        pytest.param(within("urgencies.soon.decay", 0.6), "urgencies.soon.decay: found an unknown key, needs one of decay_per_minute, steady_share; remove it", id="urgency-with-more"),
        pytest.param(within("utility_classes.A", {}), "utility_classes.A: found a mapping of 0, needs a list of intervals; see 'lpsched schema day'", id="class-a-mapping"),
        pytest.param(within("utility_classes.A", []), "utility_classes.A: found 0 intervals, needs 1 to 100 of them; add or join some", id="class-empty"),
        pytest.param(within("utility_classes.A.0.share", 1.1), "utility_classes.A[0].share: found 1.1, needs a share: a number from 0 to 1; correct it", id="more-than-all"),
        pytest.param(sound_day(utility_classes={"A": [{"after_minutes": 0, "share": 0.5}, {"after_minutes": 1, "share": 0.6}]}), "utility_classes.A[1].share: found 0.6, above the 0.5 of the one before, needs utility that never rises; lower it", id="class-rises"),
        pytest.param(within("utility_functions.slow", [{"after_seconds": 0}]), "utility_functions.slow[0].starts_at: found nothing, needs the key 'starts_at'; add it", id="no-start"),
        pytest.param(within("utility_functions.slow.0.falls_to", ...), "utility_functions.slow[0]: found rate_per_second but no falls_to, needs both or neither; add falls_to, or drop rate_per_second where utility stays the same", id="rate-alone"),
        pytest.param(within("utility_functions.slow.0.rate_per_second", ...), "utility_functions.slow[0]: found falls_to but no rate_per_second, needs both or neither; add rate_per_second, or drop falls_to where utility stays the same", id="fall-alone"),
        pytest.param(within("utility_functions.slow.0.after_seconds", 1), "utility_functions.slow[0].after_seconds: found a first interval that begins at 1 s, needs 0, the arrival; begin with one that does", id="begins-late"),
        pytest.param(within("utility_functions.slow", [{"after_seconds": 0, "starts_at": 1}] * 101), "utility_functions.slow: found 101 intervals, needs at most 100; join some", id="too-many-intervals"),
        pytest.param(sound_day(tasks=...), "tasks: found nothing, needs a list of tasks, or {file: NAME}; see 'lpsched schema day'", id="no-tasks"),
        pytest.param(tasks(), "tasks: found no tasks, needs at least one task; add a task", id="empty"),
        pytest.param(sound_day(tasks={"file": "t.csv"}), "tasks.file: found the text 't.csv', needs the tasks themselves; read the day from a file", id="file-without-a-file"),
        pytest.param(tasks(TASK, 3), "tasks[1]: found 3, needs a mapping with arrival_seconds, task_type and its utility; see 'lpsched schema day'", id="task-a-number"),
        pytest.param(tasks(TASK | {"arrival": 3}), "tasks[0].arrival: found an unknown key, needs one of arrival_seconds, task_type, priority, urgency, utility_class, utility; did you mean 'arrival_seconds'?", id="task-with-more"),
        pytest.param(tasks({"task_type": "zip", "utility": "slow"}), "tasks[0].arrival_seconds: found nothing, needs seconds; add it", id="no-arrival"),
        pytest.param(tasks(TASK | {"arrival_seconds": "0"}), "tasks[0].arrival_seconds: found the text '0', needs seconds: a number from 0 to 1e+30; write it as a plain number", id="arrival-a-text"),
        pytest.param(tasks(TASK | {"arrival_seconds": True}), "tasks[0].arrival_seconds: found true (a yes/no value), needs seconds: a number from 0 to 1e+30; write it as a plain number", id="arrival-yes"),
        pytest.param(tasks(TASK | {"arrival_seconds": math.nan}), "tasks[0].arrival_seconds: found NaN, needs seconds: a number from 0 to 1e+30; correct it", id="arrival-nan"),
        pytest.param(tasks(TASK | {"arrival_seconds": -1}), "tasks[0].arrival_seconds: found -1, needs seconds: a number from 0 to 1e+30; correct it", id="arrival-negative"),
        pytest.param(tasks(TASK | {"arrival_seconds": 10**400}), "tasks[0].arrival_seconds: found a whole number near 10^400, needs seconds: a number from 0 to 1e+30; correct it", id="arrival-endless"),
        pytest.param(tasks(TASK | {"arrival_seconds": 2}, TASK | {"arrival_seconds": 1}, TASK), "tasks[1].arrival_seconds: found 1.0 s after 2.0 s, and 1 more such places, needs tasks by never-falling arrival; sort them by arrival_seconds", id="unsorted"),
        pytest.param(tasks(TASK | {"task_type": "zipp"}), "tasks[0].task_type: found 'zipp', needs a task type of the file's list; did you mean 'zip'?", id="unknown-type"),
        pytest.param(tasks(TASK | {"task_type": 3}), "tasks[0].task_type: found 3, needs the name of a task type; put it in quotes", id="type-a-number"),
        pytest.param(tasks({"arrival_seconds": 0, "utility": "slow"}), "tasks[0].task_type: found nothing, needs the name of a task type; add it", id="no-type"),
        pytest.param(tasks({"arrival_seconds": 0, "task_type": "zip"}), "tasks[0]: found no utility, needs priority, urgency and utility_class, or utility; say what the task is worth", id="no-utility"),
        pytest.param(tasks(TASK | LEVELS), "tasks[0].utility: found a utility besides a priority, needs the one or the other; drop one", id="two-utilities"),
        pytest.param(tasks({"arrival_seconds": 0, "task_type": "zip"} | LEVELS | {"urgency": None}), "tasks[0].urgency: found nothing, needs priority, urgency and utility_class together; add it", id="no-urgency"),
        pytest.param(tasks({"arrival_seconds": 0, "task_type": "zip"} | LEVELS | {"urgency": "later"}), "tasks[0].urgency: found 'later', needs a name of urgencies; correct it, or add it there", id="unknown-urgency"),
        pytest.param(tasks(TASK | {"utility": "slov"}), "tasks[0].utility: found 'slov', needs a name of utility_functions; did you mean 'slow'?", id="unknown-function"),
        pytest.param(tasks(TASK | {"utility": 7}), "tasks[0].utility: found 7, needs a name; put it in quotes", id="utility-a-number"),
        pytest.param(tasks(TASK | {"utility": []}), "tasks[0].utility: found a list of 0, needs a name; put it in quotes", id="utility-a-list"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(raw, fault):
    found = faults_of(raw)
    assert any(each.startswith(fault) for each in found), found


def test_all_faults_come_at_once_in_file_order():
    raw = within("seconds.zip.cpu", 0)
    raw["priorities"]["high"] = -1
    raw["tasks"][0]["task_type"] = "rendr"
    raw["tasks"][3]["arrival_seconds"] = -5
    raw["name"] = ""
    assert [each.partition(":")[0] for each in faults_of(raw)] == [
        "name", "seconds.zip.cpu", "priorities.high", "tasks[0].task_type", "tasks[3].arrival_seconds"
    ]  # fmt: skip


def test_faulty_levels_do_not_make_their_users_faulty():
    raw = within("priorities.high", -1)
    assert faults_of(raw) == [
        "priorities.high: found -1, needs utility: a number from 0 to 1e+30; correct it"
    ]


def test_a_list_of_junk_costs_no_more_than_its_first_faults():
    assert len(faults_of(sound_day(tasks=[3] * 100_000))) == 1000
    assert len(faults_of(sound_day(tasks=[TASK | {"utility": "x"}] * 100_000))) == 1000


def test_more_tasks_than_can_be_are_refused(monkeypatch):
    monkeypatch.setattr("lpsched.instance.arriving_rows.MOST_TASKS", 3)
    assert faults_of(tasks(*[TASK] * 4)) == ["tasks: found 4 of them, needs at most 3; divide the instance"]
    assert day_from_dict(tasks(*[TASK] * 3)).tasks == 3


def test_more_names_than_can_be_are_refused(monkeypatch):
    monkeypatch.setattr("lpsched.instance.utility_door.MOST_NAMES", 1)
    assert "priorities: found 2 of them, needs at most 1; divide the instance" in faults_of(SOUND)
    assert arrival_rules.MOST_NAMES > 1


def test_rows_in_several_pieces_are_one_list(monkeypatch):
    monkeypatch.setattr("lpsched.instance.tasks_door.PIECE", 1)
    assert day_from_dict(SOUND).arriving.told[1] == "deadline"
    assert list(day_from_dict(SOUND).arriving.utility_numbers) == [0, 1, 2, 3]
    falling = tasks(TASK | {"arrival_seconds": 2}, TASK)
    assert faults_of(falling)[0].startswith("tasks[1].arrival_seconds: found 0.0 s after 2.0 s, needs")
