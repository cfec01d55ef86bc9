"""Every bad input is rejected with its location, what was got, what is expected, and a hint."""

from __future__ import annotations

import pytest

from lpsched.bag.model import bag_from_dict
from lpsched.errors import InstanceError
from tests.support import SOUND, sound

CPU = {"name": "cpu", "count": 2}
GPU = {"name": "gpu", "count": 1, "p_states": ["P0", "P1"]}
RENDER = {"name": "render", "count": 40}
ZIP = {"name": "zip", "count": 5}


def issues_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        bag_from_dict(raw)
    return [str(issue) for issue in caught.value.issues]


def test_the_sound_bag_is_sound():
    bag = bag_from_dict(SOUND)
    assert bag.seconds.row(0) == [8.0, 1.0, 2.0]
    assert bag.seconds.row(1) == [3.0, None, None]
    assert repr(bag) == "<Bag 'sound': 45 tasks on 3 machines (2 task types, 2 machine types)>"


A_COUNT = "expected a whole number from 1 to 10^15"
A_NAME = "expected a name: 1 to 200 printable characters, no blank at either end"


def tasks(**change):
    return {"task_types": [RENDER | change, ZIP]}


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        pytest.param(tasks(name="a\ud800"), f"task_types[0].name: got 'a\\ud800', with control or invisible characters, {A_NAME}; remove them", id="name-surrogate"),
        pytest.param(tasks(count=10**400), f"task_types[0].count: got a whole number near 10^400, {A_COUNT}; scale the instance down", id="endless-count"),
        pytest.param({"seconds": {"file": "x.csv"}}, "seconds.file: got the text 'x.csv', expected the table itself; read the bag from a file", id="file-without-a-file"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(change, issue):
    assert issue in issues_of(sound(**change))


@pytest.mark.parametrize("raw", [None, 5, "text", [], [SOUND]])
def test_what_is_no_mapping_is_refused(raw):
    (issue,) = issues_of(raw)
    assert "expected a mapping that begins with 'format: lpsched-bag/1'; see 'lpsched new bag'" in issue


def test_all_faults_are_told_at_once_and_in_file_order():
    raw = {
        "seconds": {"render": {"cpu": 0.0}, "zip": {"cpu": "x"}},
        "name": "",
        "site": {"pue": "high", "roof": 1},
        "machine_types": [CPU | {"count": 0, "idle_watts": -1}],
        "task_types": [RENDER, ZIP | {"count": 1.5}, RENDER],
    }
    places = [issue.split(": ")[0] for issue in issues_of(raw)]
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
    issues = issues_of(sound(machine_types=[{"count": 0}, "x"]))
    assert [issue.split(": ")[0] for issue in issues] == [
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
    assert len(issues_of(raw)) == 2000


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
    issues = issues_of(sound(**change))
    assert any(issue.startswith(f"{where}: ") for issue in issues)
    assert len(issues) <= 2001


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
