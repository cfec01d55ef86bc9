"""Every bad input is refused at the door, with where, what was found, what is needed, what to do."""

from __future__ import annotations

import math

import pytest

from lpsched.errors import InstanceError
from lpsched.instance import bag_from_dict
from tests.support import SOUND, sound

CPU = {"name": "cpu", "count": 2}
GPU = {"name": "gpu", "count": 1, "p_states": ["P0", "P1"]}
RENDER = {"name": "render", "count": 40}
ZIP = {"name": "zip", "count": 5}


def faults_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        bag_from_dict(raw)
    return [str(fault) for fault in caught.value.faults]


def test_the_sound_bag_is_sound():
    bag = bag_from_dict(SOUND)
    assert bag.seconds.row(0) == [8.0, 1.0, 2.0]
    assert bag.seconds.row(1) == [3.0, None, None]
    assert repr(bag) == "Bag('sound': 45 tasks on 3 machines; 2 task types, 2 machine types)"


A_COUNT = "needs a whole number from 1 to 10^15"
A_TIME = "needs seconds: a number from 1e-30 to 1e+30"
A_NAME = "needs a name: 1 to 200 printable characters, no blank at either end"


def machines(**change):
    return {"machine_types": [CPU | change, GPU]}


def tasks(**change):
    return {"task_types": [RENDER | change, ZIP]}


def times(cell):
    return {"seconds": {"render": {"cpu": cell, "gpu": [1.0, 2.0]}, "zip": {"cpu": 3.0}}}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        # the whole
        pytest.param({"format": ...}, "format: found no format, needs 'format: lpsched-bag/1'; write it as the first key", id="format-missing"),
        pytest.param({"format": 1}, "format: found 1, needs 'format: lpsched-bag/1'; write it as the first key", id="format-a-number"),
        pytest.param({"format": "lpsched-bag/2"}, "format: found the text 'lpsched-bag/2', needs 'lpsched-bag/1'; install a newer lpsched", id="format-newer"),
        pytest.param({"format": "lpsched-bag/0"}, "format: found the text 'lpsched-bag/0', needs 'lpsched-bag/1'; bring a file of this kind", id="format-before-the-first"),
        pytest.param({"prices": {"per_task": {"zip": -1, "render": "x"}}}, "prices.per_task.render: found the text 'x', needs money: a number from 0 to 1e+30; write it as a plain number", id="priced-task-text"),
        pytest.param({"format": "lpsched-day/1"}, "format: found the text 'lpsched-day/1', needs 'lpsched-bag/1'; bring a file of this kind, or use 'lpsched validate'", id="format-other"),
        pytest.param({"format": "lpsched-facility/1"}, "format: found the text 'lpsched-facility/1', needs 'lpsched-bag/1'; bring a file of this kind, or use 'lpsched facility'", id="format-facility"),
        pytest.param({"sight": {}}, "sight: found an unknown key, needs one of format, name, machine_types, task_types, seconds, watts, prices, site; did you mean 'site'?", id="unknown-key"),
        pytest.param({"qqqqq": 1}, "qqqqq: found an unknown key, needs one of format, name, machine_types, task_types, seconds, watts, prices, site; remove it", id="unknown-key-far-off"),
        pytest.param({"name": ...}, f"name: found nothing (null), {A_NAME}; give it a name", id="name-missing"),
        pytest.param({"name": 12}, f"name: found 12, {A_NAME}; put it in quotes", id="name-a-number"),
        pytest.param({"machine_types": ..., "seconds": ..., "watts": ...}, "machine_types: found nothing, needs a list of machine types; see 'lpsched schema bag'", id="list-missing"),
        pytest.param({"machine_types": {}}, "machine_types: found a mapping of 0, needs a list of machine types; see 'lpsched schema bag'", id="list-a-mapping"),
        pytest.param({"machine_types": []}, "machine_types: found an empty list, needs at least one machine type; add a machine type", id="no-machines"),
        pytest.param({"task_types": []}, "task_types: found an empty list, needs at least one task type; add a task type", id="no-tasks"),
        pytest.param({"task_types": [3, ZIP]}, "task_types[0]: found 3, needs a mapping; see 'lpsched schema bag'", id="type-a-number"),
        pytest.param({"seconds": ...}, "seconds: found nothing, needs a table of seconds; add it", id="no-seconds"),
        # names
        pytest.param(tasks(name=""), f"task_types[0].name: found an empty name, {A_NAME}; give it a name", id="name-empty"),
        pytest.param(tasks(name="x" * 201), f"task_types[0].name: found a name of 201 characters, {A_NAME}; shorten it", id="name-long"),
        pytest.param(tasks(name="a\x07b"), f"task_types[0].name: found 'a\\x07b', with control or invisible characters, {A_NAME}; remove them", id="name-control"),
        pytest.param(tasks(name="a\ud800"), f"task_types[0].name: found 'a\\ud800', with control or invisible characters, {A_NAME}; remove them", id="name-surrogate"),
        pytest.param(tasks(name=" a"), f"task_types[0].name: found ' a', with a blank at its end, {A_NAME}; remove the blank", id="name-blank"),
        pytest.param(tasks(name=None), f"task_types[0].name: found nothing (null), {A_NAME}; give it a name", id="name-null"),
        pytest.param({"task_types": [RENDER, {"count": 1}]}, "task_types[1].name: found nothing, needs the key 'name'; add it", id="key-missing"),
        pytest.param({"task_types": [RENDER, RENDER, ZIP]}, "task_types[1].name: found 'render' once more, needs a name of its own; rename one", id="name-twice"),
        pytest.param(machines(cuont=3), "machine_types[0].cuont: found an unknown key, needs one of name, count, idle_watts, wear_per_busy_hour, purchase_price, mean_hours_to_failure, p_states; did you mean 'count'?", id="unknown-inner-key"),
        pytest.param(machines(p_states=[]), "machine_types[0].p_states: found a list of 0, needs a list of 1 to 100 P-state names; name them, or drop the key", id="p-states-empty"),
        pytest.param(machines(p_states=["A", ""]), f"machine_types[0].p_states[1]: found an empty name, {A_NAME}; give it a name", id="p-state-empty"),
        pytest.param({"machine_types": [CPU, GPU | {"p_states": ["A", "A"]}]}, "machine_types[1].p_states[1]: found 'A' once more, needs a name of its own; rename one", id="p-state-twice"),
        pytest.param({"machine_types": [CPU, GPU, {"name": "gpu:P0", "count": 1}]}, "machine_types[1]: found 'gpu:P0', which names a P-state here and another machine type, needs labels that differ; rename one", id="label-twice"),
        # counts
        pytest.param(machines(count=0), f"machine_types[0].count: found 0, {A_COUNT}; correct it, or drop the entry", id="zero-machines"),
        pytest.param(tasks(count=0), f"task_types[0].count: found 0, {A_COUNT}; correct it, or drop the entry", id="zero-tasks"),
        pytest.param(tasks(count=-3), f"task_types[0].count: found -3, {A_COUNT}; correct it, or drop the entry", id="negative-tasks"),
        pytest.param(tasks(count=2.5), f"task_types[0].count: found 2.5, {A_COUNT}; round it", id="half-a-task"),
        pytest.param(tasks(count=math.nan), f"task_types[0].count: found NaN, {A_COUNT}; round it", id="nan-tasks"),
        pytest.param(tasks(count=math.inf), f"task_types[0].count: found infinity, {A_COUNT}; round it", id="infinite-tasks"),
        pytest.param(tasks(count="many"), f"task_types[0].count: found the text 'many', {A_COUNT}; write it as a number", id="text-tasks"),
        pytest.param(tasks(count=True), f"task_types[0].count: found true (a yes/no value), {A_COUNT}; write it as a number", id="boolean-tasks"),
        pytest.param(tasks(count=10**16), f"task_types[0].count: found 10000000000000000, {A_COUNT}; scale the instance down", id="too-many-of-a-type"),
        pytest.param(tasks(count=10**400), f"task_types[0].count: found a whole number near 10^400, {A_COUNT}; scale the instance down", id="endless-count"),
        pytest.param(tasks(count=10**15), "task_types: found 1,000,000,000,000,005 tasks in total, needs at most 10^15; scale the instance down", id="too-many-tasks"),
        pytest.param(machines(count=10**15), "machine_types: found 1,000,000,000,000,001 machines in total, needs at most 10^15; scale the instance down", id="too-many-machines"),
        # amounts
        pytest.param(machines(idle_watts=-1), "machine_types[0].idle_watts: found -1, needs watts: a number from 0 to 1e+30; correct it", id="negative-idle"),
        pytest.param(machines(idle_watts=1e-31), "machine_types[0].idle_watts: found 1e-31, needs 0, or at least 1e-30 watts; correct the unit", id="vanishing-idle"),
        pytest.param(machines(purchase_price=100), "machine_types[0].purchase_price: found a purchase price but no life of 'cpu', needs both; add mean_hours_to_failure, or drop purchase_price", id="no-life"),
        pytest.param({"prices": {"per_bag": "x"}}, "prices.per_bag: found the text 'x', needs money: a number from 0 to 1e+30; write it as a plain number", id="text-price"),
        pytest.param({"prices": {"per_task": {"zap": 1}}}, "prices.per_task.zap: found no task type of that name, needs one of task_types; did you mean 'zip'?", id="priced-task-unknown"),
        pytest.param({"prices": {"per_task": 3}}, "prices.per_task: found 3, needs a mapping from task types to money; see 'lpsched schema bag'", id="priced-tasks-a-number"),
        pytest.param({"prices": []}, "prices: found a list of 0, needs a mapping; see 'lpsched schema bag'", id="prices-a-list"),
        pytest.param({"site": {"pue": 0.9}}, "site.pue: found 0.9, needs a ratio: a number from 1 to 1e+30; correct it", id="pue-below-one"),
        pytest.param({"site": {"cap_measured_at": "roof"}}, "site.cap_measured_at: found the text 'roof', needs 'facility' or 'it'; say on which side of the PUE the cap is", id="cap-at-the-roof"),
        pytest.param({"site": {"deadline_seconds": 0}}, f"site.deadline_seconds: found 0, {A_TIME}; correct it", id="deadline-zero"),
        # tables
        pytest.param(times(-1.0), f"seconds.render.cpu: found -1.0, {A_TIME}; correct it; leave it out if the pair cannot run", id="negative-time"),
        pytest.param(times(0), f"seconds.render.cpu: found 0, {A_TIME}; correct it; leave it out if the pair cannot run", id="zero-time"),
        pytest.param(times(math.nan), f"seconds.render.cpu: found NaN, {A_TIME}; correct it; leave it out if the pair cannot run", id="nan-time"),
        pytest.param(times(math.inf), f"seconds.render.cpu: found infinity, {A_TIME}; correct it; leave it out if the pair cannot run", id="infinite-time"),
        pytest.param(times(-math.inf), f"seconds.render.cpu: found minus infinity, {A_TIME}; correct it; leave it out if the pair cannot run", id="minus-infinite-time"),
        pytest.param(times(1e200), f"seconds.render.cpu: found 1e+200, {A_TIME}; correct it; leave it out if the pair cannot run", id="products-overflow"),
        pytest.param(times("fast"), f"seconds.render.cpu: found the text 'fast', {A_TIME}; write it as a plain number; leave it out if the pair cannot run", id="text-time"),
        pytest.param(times(cell=False), f"seconds.render.cpu: found false (a yes/no value), {A_TIME}; write it as a plain number; leave it out if the pair cannot run", id="boolean-time"),
        pytest.param(times([1.0]), f"seconds.render.cpu: found a list of 1, {A_TIME}; write it as a plain number; leave it out if the pair cannot run", id="list-for-a-plain-machine"),
        pytest.param({"seconds": {"render": {"gpu": 3.0}, "zip": {"cpu": 1.0}}}, "seconds.render.gpu: found 3.0, needs a list of 2, one entry per P-state of 'gpu'; write null where a P-state cannot run", id="number-for-p-states"),
        pytest.param({"seconds": {"render": 3.0, "zip": {"cpu": 1.0}}}, "seconds.render: found 3.0, needs a mapping from machine types to numbers; name the machine type of each number", id="row-a-number"),
        pytest.param({"seconds": {"rendr": {"cpu": 1.0}}}, "seconds.rendr: found no task type of that name, needs a task type of the file's list; did you mean 'render'?", id="unknown-task"),
        pytest.param({"seconds": {"render": {"cpuu": 1.0}}}, "seconds.render.cpuu: found no machine type of that name, needs a machine type of the file's list; did you mean 'cpu'?", id="unknown-machine"),
        pytest.param({"seconds": [[1.0, None]]}, "seconds: found 1 rows, needs 2 rows, one per task type; add or drop rows", id="too-few-rows"),
        pytest.param({"seconds": [[1.0, None], [1.0]]}, "seconds[1]: found a list of 1, needs a list of 2, one entry per machine type; write null where a pair cannot run", id="short-row"),
        pytest.param({"seconds": [[1.0, None], 4]}, "seconds[1]: found 4, needs a list of 2, one entry per machine type; write null where a pair cannot run", id="matrix-row-a-number"),
        pytest.param({"seconds": [[-1.0, None], [1.0, None]], "watts": ...}, f"seconds[0][0]: found -1.0, {A_TIME}; correct it; leave it out if the pair cannot run", id="matrix-cell"),
        pytest.param({"seconds": 7}, "seconds: found 7, needs a table: by name, as a list of rows, or as {file: NAME}; see 'lpsched schema bag'", id="table-a-number"),
        pytest.param({"seconds": {"file": "x.csv"}}, "seconds.file: found the text 'x.csv', needs the table itself; read the bag from a file", id="file-without-a-file"),
        pytest.param({"seconds": {"zip": {"cpu": 1.0}}, "watts": ...}, "seconds.render: found no machine type that can run task type 'render' (40 tasks), needs at least one time; give one a time, or drop the task type", id="nobody-can-run-it"),
        pytest.param({"seconds": [[None, None], [1.0, None]], "watts": ...}, "seconds[0]: found no machine type that can run task type 'render' (40 tasks), needs at least one time; give one a time, or drop the task type", id="nobody-can-run-it-matrix"),
        pytest.param({"watts": {"render": {"cpu": 1.0, "gpu": [1.0, None]}, "zip": {"cpu": 1.0}}}, "watts.render.gpu[1]: found a time but no power for 'render' on 'gpu' at 'P1', needs both or neither; give it watts, or remove its time", id="time-without-power"),
        pytest.param({"watts": [[1.0, [1.0, 1.0]], [1.0, [2.0, None]]]}, "seconds.zip.gpu[0]: found a power but no time for 'zip' on 'gpu' at 'P0', needs both or neither; give it seconds, or remove its power", id="power-without-time"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(change, fault):
    assert fault in faults_of(sound(**change))


@pytest.mark.parametrize("raw", [None, 5, "text", [], [SOUND]])
def test_what_is_no_mapping_is_refused(raw):
    (fault,) = faults_of(raw)
    assert "needs a mapping that begins with 'format: lpsched-bag/1'; see 'lpsched new bag'" in fault


def test_all_faults_are_told_at_once_and_in_file_order():
    raw = {
        "seconds": {"render": {"cpu": 0.0}, "zip": {"cpu": "x"}},
        "name": "",
        "site": {"pue": "high", "roof": 1},
        "machine_types": [CPU | {"count": 0, "idle_watts": -1}],
        "task_types": [RENDER, ZIP | {"count": 1.5}, RENDER],
    }
    places = [fault.split(": ")[0] for fault in faults_of(raw)]
    assert places == [
        "seconds.render.cpu",
        "seconds.zip.cpu",
        "name",
        "site.pue",
        "site.roof",
        "machine_types[0].count",
        "machine_types[0].idle_watts",
        "task_types[1].count",
        "task_types[2].name",
        "format",
    ]


def test_a_list_with_nameless_types_still_tells_its_own_faults():
    faults = faults_of(sound(machine_types=[{"count": 0}, "x"]))
    assert [fault.split(": ")[0] for fault in faults] == [
        "machine_types[0].count",
        "machine_types[0].name",  # a missing key comes after those that are there
        "machine_types[1]",
    ]


def test_a_table_of_junk_gives_a_bounded_number_of_faults():
    width, height = 60, 60
    raw = {
        "format": "lpsched-bag/1",
        "name": "junk",
        "machine_types": [{"name": f"m{j}", "count": 1} for j in range(width)],
        "task_types": [{"name": f"t{i}", "count": 1} for i in range(height)],
        "seconds": [["x"] * width] * height,
        "watts": {f"unknown{i}": {} for i in range(3000)},
    }
    assert len(faults_of(raw)) == 2000


@pytest.mark.rotate(2)
@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"task_types": [3] * 100_000}, "task_types[0]"),
        ({f"unknown{k}": 1 for k in range(100_000)}, "unknown0"),
        ({"prices": {f"unknown{k}": 1 for k in range(100_000)}}, "prices"),
        ({"prices": {"per_task": {f"t{k}": "x" for k in range(100_000)}}}, "prices.per_task.t0"),
        ({"prices": {"per_task": {f"t{k}": 1.0 for k in range(100_000)}}}, "prices.per_task.t0"),
        ({"machine_types": [CPU | {"p_states": [""] * 100_000}]}, "machine_types[0].p_states"),
        ({"task_types": [{"name": "same", "count": 1}] * 100_000, "seconds": ...}, "task_types[1].name"),
    ],
    ids=["types", "keys", "section-keys", "task-prices", "tasks-unknown", "p-states", "names"],
)
def test_junk_without_end_gives_faults_with_an_end(change, where):
    # Anything quadratic in 100,000 would not end either.
    faults = faults_of(sound(**change))
    assert any(fault.startswith(f"{where}: ") for fault in faults)
    assert len(faults) <= 2001


def test_a_name_may_have_200_characters():
    assert bag_from_dict(sound(name="x" * 200)).name == "x" * 200


def test_types_may_be_given_as_tuples_and_as_made_parts():
    bag = bag_from_dict(SOUND)
    again = bag_from_dict(
        sound(machine_types=bag.machine_types, task_types=bag.task_types, prices=bag.prices, site=bag.site)
    )
    assert again == bag


def test_an_integral_float_is_a_count():
    raw = sound(task_types=[RENDER | {"count": 1e9}, ZIP])
    assert bag_from_dict(raw).task_types[0].count == 10**9


def test_null_sections_are_absent_sections():
    assert bag_from_dict(sound(prices=None, site=None)) == bag_from_dict(sound(prices=..., site=...))
