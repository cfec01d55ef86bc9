"""Days: what they hold, how they are hashed, and what they refuse."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from lpsched.errors import InstanceError
from lpsched.model.table import Table
from lpsched.online.arrays import day_arrays
from lpsched.online.day import ArrivingTasks, Day, Levels, day_from_dict
from lpsched.online.parts import DayMachineType, DayTaskType
from lpsched.online.utility import ClassInterval, Interval, Urgency, UtilityFunction
from tests.days import SOUND, decaying, simple_day, sound_day
from tests.property.days import days

ONE = simple_day([[2.0]], [[3.0]], [1], [(0.0, 0, decaying(1.0))])


def issues_of(**changes) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        ONE.model_copy(update=changes)
    return [str(issue) for issue in caught.value.issues]


def test_a_day_counts_tasks_machines_and_columns():
    day = day_from_dict(SOUND)
    assert (day.tasks, day.machines, day.modes) == (4, 3, ((0, 0), (1, 0), (1, 1)))
    assert [day.p_state(column) for column in range(3)] == [None, "P0", "P1"]
    assert repr(day) == "<Day 'sound': 4 tasks on 3 machines (2 task types, 2 machine types)>"


def test_tasks_of_different_types_share_own_functions_but_not_those_by_levels():
    levels = {"priority": "high", "urgency": "soon", "utility_class": "A"}
    rows = [
        {"arrival_seconds": 0, "task_type": task_type} | told
        for task_type in ("render", "zip")
        for told in ({"utility": "slow"}, levels)
    ]
    day = day_from_dict(sound_day(tasks=rows + rows))
    numbers = np.frombuffer(day.function_numbers, dtype=np.int64)
    assert numbers.tolist() == [0, 1, 0, 2] * 2
    assert len(day.functions) == 3


@settings(max_examples=30)
@given(days())
def test_arrays_say_what_the_day_says(day):
    arrays = day_arrays(day)
    for i, row in enumerate(day.seconds):
        assert arrays.can_run[i].tolist() == [cell is not None for cell in row]
        assert arrays.seconds[i].tolist() == [cell or 0.0 for cell in row]
        assert arrays.watts[i].tolist() == [cell or 0.0 for cell in day.watts.row(i)]
    assert arrays.arrivals.tolist() == list(day.arriving.arrival_seconds)
    assert arrays.task_type.tolist() == list(day.arriving.type_numbers)
    assert arrays.machine_counts.tolist() == [machine.count for machine in day.machine_types]
    assert arrays.mode_type.tolist() == [j for j, _ in day.modes]
    for task in range(day.tasks):
        first, end = arrays.first_interval[arrays.function[task] :][:2]
        own = day.utility_of(task).intervals
        assert arrays.after_seconds[first:end].tolist() == [each.after_seconds for each in own]
        assert arrays.starts_at[first:end].tolist() == [each.starts_at for each in own]
        assert arrays.falls_to[first:end].tolist() == [each.falls_to for each in own]
        assert arrays.rate_per_second[first:end].tolist() == [each.rate_per_second for each in own]


def test_arrays_cannot_be_written_to():
    arrays = day_arrays(ONE)
    for name in type(arrays).__dataclass_fields__:
        assert not getattr(arrays, name).flags.writeable


def test_the_hash_is_fixed_for_ever():
    # A hash that drifts would part every stored schedule and population from its day.
    said = {
        "name": "simple",
        "machine_types": [{"name": "m0", "count": 1, "p_states": None}],
        "task_types": [{"name": "t0"}],
        "told": ["u0"],
        "levels": {"priorities": {}, "urgencies": {}, "utility_classes": {}},
        "utility_functions": {
            "u0": [{"after_seconds": 0.0, "starts_at": 1.0, "falls_to": 1.0, "rate_per_second": 0.0}]
        },
    }
    content = b"lpsched-day/1" + json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    content += struct.pack("<dddqq", 2.0, 3.0, 0.0, 0, 0)  # seconds, watts, arrival, type, utility
    assert ONE.content_hash == hashlib.sha256(content).hexdigest()


def test_the_hash_depends_on_neither_key_order_nor_table_form():
    reordered = {key: SOUND[key] for key in reversed(SOUND)}
    reordered["priorities"] = dict(reversed(SOUND["priorities"].items()))
    reordered["seconds"] = [[80.0, [10.0, 20.0]], [30.0, None]]
    assert day_from_dict(reordered).content_hash == day_from_dict(SOUND).content_hash


def test_whole_numbers_and_negative_zeros_do_not_change_the_hash():
    whole = UtilityFunction((Interval(0, 1, 1, -0.0),))
    day = ONE.model_copy(update={"utility_functions": {"u0": whole}, "priorities": {"high": 4}})
    same = ONE.model_copy(update={"priorities": {"high": 4.0}})
    assert (day, day.content_hash) == (same, same.content_hash)
    assert day_arrays(day).starts_at.dtype == float


def changed_task(**changes):
    return {"tasks": [SOUND["tasks"][0] | changes, *SOUND["tasks"][1:]]}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"machine_types": [{"name": "cpu", "count": 3}, SOUND["machine_types"][1]]},
        {"seconds": SOUND["seconds"] | {"zip": {"cpu": 31.0}}},
        {"watts": SOUND["watts"] | {"zip": {"cpu": 41.0}}},
        {"priorities": {"high": 5, "low": 1}},
        {"urgencies": {"soon": {"decay_per_minute": 0.6, "steady_share": 0.9}}},
        {"utility_functions": SOUND["utility_functions"] | {"unused": [{"after_seconds": 0, "starts_at": 1}]}},
        {"tasks": SOUND["tasks"][:3]},
        changed_task(arrival_seconds=1),
        changed_task(task_type="zip"),
        changed_task(priority="low"),
    ],
)
def test_the_hash_sees_every_change(change):
    assert day_from_dict(sound_day(**change)).content_hash != day_from_dict(SOUND).content_hash


def test_days_are_equal_by_what_they_say_and_survive_pickling():
    day = day_from_dict(SOUND)
    assert day == day_from_dict(sound_day())
    again = pickle.loads(pickle.dumps(day))  # noqa: S301 - our own
    assert (again, hash(again), again.content_hash) == (day, hash(day), day.content_hash)


def test_what_a_day_holds_cannot_be_changed_from_outside():
    own = {"u": decaying(1.0)}
    most = {"high": 1.0}
    day = ONE.model_copy(update={"utility_functions": own | ONE.utility_functions, "priorities": most})
    own["v"], most["low"] = decaying(2.0), 2.0
    assert set(day.utility_functions) == {"u", "u0"}
    assert day.levels.priorities == {"high": 1.0}
    with pytest.raises(TypeError, match="cannot be changed"):
        day.priorities["high"] = 2.0  # type: ignore[index]


@pytest.mark.parametrize(
    ("changes", "issue"),
    [
        ({"name": " "}, "name: got ' ', with a blank at its end"),
        ({"machine_types": ()}, "machine_types: got an empty list, expected at least one machine type; add a machine type"),
        ({"task_types": ()}, "task_types: got an empty list, expected at least one task type; add a task type"),
        ({"machine_types": (DayMachineType("m0", 10**15), DayMachineType("m1", 1))}, "machine_types: got 1,000,000,000,000,001 machines in total, expected at most 10^15; scale the instance down"),
        ({"machine_types": (DayMachineType("m0", 1), DayMachineType("m0", 1))}, "machine_types[1].name: got 'm0' once more, expected a name of its own; rename one"),
        ({"machine_types": (DayMachineType("m", 1, ("a", "a")),)}, "machine_types[0].p_states[1]: got 'a' once more, expected a name of its own; rename one"),
        ({"machine_types": (DayMachineType("m", 1, ("a",)), DayMachineType("m:a", 1))}, "machine_types[0]: got 'm:a', which names a P-state here and another machine type, expected labels that differ; rename one"),
        ({"seconds": Table.of([[1.0, 2.0]])}, "seconds: got a table of 1 x 2, expected 1 x 1"),
        ({"watts": Table.of([[-1.0]])}, "watts[0][0]: got -1.0, expected watts: a number from 0 to 1e+30"),
        ({"watts": Table.of([[None]])}, "watts[0][0]: got a time but no power for 't0' on 'm0', expected both or neither; give it watts, or remove its time"),
        ({"seconds": Table.of([[None]]), "watts": Table.of([[None]])}, "seconds[0]: got no machine type that can run task type 't0' (1 tasks), expected at least one time; give one a time, or drop its tasks"),
        ({"arriving": ArrivingTasks.of([], [], [])}, "tasks: got no tasks, expected at least one task; add a task"),
        ({"arriving": ArrivingTasks.of([1.0, 0.5], [0, 0], ["u0"] * 2)}, "tasks[1].arrival_seconds: got 0.5 s after 1.0 s, expected tasks by never-falling arrival; sort them by arrival_seconds"),
        ({"arriving": ArrivingTasks.of([math.nan], [0], ["u0"])}, "tasks[0].arrival_seconds: got NaN, expected seconds: a number from 0 to 1e+30; correct it"),
        ({"arriving": ArrivingTasks.of([1.0, math.nan], [0, 0], ["u0"] * 2)}, "tasks[1].arrival_seconds: got NaN, expected seconds: a number from 0 to 1e+30; correct it"),
        ({"arriving": ArrivingTasks.of([0.0, 1e-40], [0, 0], ["u0"] * 2)}, "tasks[1].arrival_seconds: got 1e-40, expected 0, or at least 1e-30 seconds; correct the unit"),
        ({"arriving": ArrivingTasks.of([1e31], [0], ["u0"])}, "tasks[0].arrival_seconds: got 1e+31, expected seconds: a number from 0 to 1e+30; correct it"),
        ({"arriving": ArrivingTasks.of([-1.0], [0], ["u0"])}, "tasks[0].arrival_seconds: got -1.0, expected seconds: a number from 0 to 1e+30; correct it"),
        ({"arriving": ArrivingTasks.of([0.0], [1], ["u0"])}, "tasks[0].task_type: got 1, expected a number from 0 to 0, of a task type; correct it"),
        ({"arriving": ArrivingTasks.of([0.0], [0], ["v"])}, "tasks[0].utility: got 'v', expected one of utility_functions; correct it, or add it there"),
        ({"arriving": ArrivingTasks.of([0.0], [0], [Levels("a", "b", "c")])}, "tasks[0].urgency: got 'b', expected one of urgencies; correct it, or add it there"),
        ({"arriving": ArrivingTasks.of([0.0, 1.0], [0], ["u0"])}, "tasks: got columns of different lengths, expected arrival, type and utility of each task; complete them"),
        ({"arriving": replace(ArrivingTasks.of([0.0], [0], ["u0"]), declared=("u0", "u0"))}, "tasks: got numbers of utilities in another order, expected each declared utility once, by first use; use ArrivingTasks.of"),
        ({"priorities": {"high": -1.0}}, "priorities.high: got -1.0, expected utility: a number from 0 to 1e+30; correct it"),
        ({"priorities": {"high": "4"}}, "priorities.high: got the text '4', expected utility: a number from 0 to 1e+30; write it as a plain number"),
        ({"urgencies": {" a": Urgency(1.0, 1.0)}}, "urgencies. a: got ' a', with a blank at its end"),
        ({"utility_classes": {"A": ()}}, "utility_classes.A: got a list of 0, expected a list of 1 to 100 intervals; add or join some"),
        ({"utility_classes": {"A": (ClassInterval(1.0, 1.0), ClassInterval(1.0, 0.5))}}, "utility_classes.A[1].after_minutes: got 1, not after the 1 of the one before, expected intervals by rising begin; sort or join them"),
        ({"utility_functions": ONE.utility_functions | {"v": decaying(-1.0)}}, "utility_functions.v[0].starts_at: got -1.0, expected utility: a number from 0 to 1e+30; correct it"),
    ],
)  # fmt: skip
def test_a_day_is_sound_from_birth(changes, issue):
    assert any(each.startswith(issue) for each in issues_of(**changes)), issues_of(**changes)


def test_all_faults_come_at_once():
    found = issues_of(name="", machine_types=(), arriving=ArrivingTasks.of([-1.0], [0], ["u0"]))
    assert [each.partition(":")[0] for each in found] == [
        "name", "machine_types", "seconds", "watts", "tasks[0].arrival_seconds"
    ]  # fmt: skip


def test_a_task_type_that_nothing_can_run_is_only_remarked_on_where_it_has_no_tasks():
    day = Day(
        name="idle",
        machine_types=(DayMachineType("cpu", 1),),
        task_types=(DayTaskType("a"), DayTaskType("b")),
        seconds=Table.of([[1.0], [None]]),
        watts=Table.of([[1.0], [None]]),
        tasks=ArrivingTasks.of([0.0], [0], ["u"]),
        utility_functions={"u": decaying(1.0)},
    )
    assert day.remarks() == ("no machine type can run 'b', and no task is of that type",)
    assert day.mean_seconds(1) is None
    assert ONE.remarks() == ()


def test_a_thousand_billion_machines_are_welcome():
    day = ONE.model_copy(update={"machine_types": (DayMachineType("m0", 10**12),)})
    assert day.machines == 10**12
    assert day_arrays(day).machine_counts.tolist() == [10**12]
