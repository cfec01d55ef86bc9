"""Schedule files: what is written is read back; what is not one is refused in words."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings

from lpsched.errors import InstanceError
from lpsched.files.schedules import as_dict, read_schedule, write_schedule
from lpsched.pipeline import solve
from lpsched.schedule.bag import NOTHING
from tests.support import SOUND, bags, simple_bag

BAG = simple_bag([[1.0]], [3], [2])
FILE = {
    "format": "lpsched-schedule/1",
    "groups": [{"machine_type": "m0", "machines": 1, "runs": [{"task_type": "t0", "count": 3}]}],
}


# What is drawn depends on which modules are loaded, and so does how much of it is thrown away.
@settings(
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(bags(most_tasks=500, most_machines=9))
def test_a_schedule_comes_back_as_it_was_written(tmp_path, bag):
    bag = bag.without_limits()
    schedule = solve(bag, objective="makespan").schedule
    write_schedule(schedule, bag, tmp_path / "s.json", "1")
    assert read_schedule(tmp_path / "s.json") == schedule


def test_a_schedule_that_runs_nothing_is_a_file_too(tmp_path):
    write_schedule(NOTHING, BAG, tmp_path / "s.json", "1")
    assert read_schedule(tmp_path / "s.json") == NOTHING
    assert json.loads((tmp_path / "s.json").read_text())["instance"]["hash"] == BAG.content_hash


def test_yaml_is_read_as_well(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "format: lpsched-schedule/1\nmakespan_seconds: 4\n"
        "groups:\n  - {machine_type: m0, machines: 1e0, runs: [{task_type: t0, count: 3, p_state: null}]}\n"
    )
    schedule = read_schedule(tmp_path / "s.yaml")
    assert schedule.makespan_seconds == 4.0
    assert schedule.groups[0].runs[0].count == 3


def changed(place, value):
    content = json.loads(json.dumps(FILE))
    *path, last = place
    inner = content
    for step in path:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "the file: found a list of 0, needs a mapping with the keys format, groups; correct it"),
        (SOUND, "format: found the text 'lpsched-bag/1', needs 'lpsched-schedule/1'; name a schedule file"),
        (changed(["format"], ...), "format: found nothing, needs the key 'format'; add it"),
        (changed(["groups"], None), "groups: found nothing (null), needs a list; correct it"),
        (changed(["grops"], []), "grops: found an unknown key"),
        (changed(["makespan_seconds"], "4 s"), "makespan_seconds: found the text '4 s', needs seconds"),
        (changed(["makespan_seconds"], -4), "makespan_seconds: found -4, needs seconds: a number above 0"),
        (changed(["groups", 0], 7), "groups[0]: found 7, needs a mapping with the keys machine_type"),
        (changed(["groups", 0, "machines"], 1.5), "groups[0].machines: found 1.5, needs a whole number"),
        (changed(["groups", 0, "machines"], value=True), "groups[0].machines: found true (a yes/no value)"),
        (
            changed(["groups", 0, "machine_type"], 3),
            "groups[0].machine_type: found 3, needs a name; put it in",
        ),
        (
            changed(["groups", 0, "runs", 0, "count"], ...),
            "groups[0].runs[0].count: found nothing, needs the key",
        ),
        (changed(["groups", 0, "runs", 0, "p_state"], 1), "groups[0].runs[0].p_state: found 1, needs a name"),
    ],
)
def test_what_is_not_a_schedule_is_refused_with_its_place(tmp_path, content, message):
    (tmp_path / "s.json").write_text(json.dumps(content))
    with pytest.raises(InstanceError, match=re.escape(message)):
        read_schedule(tmp_path / "s.json")


def test_the_file_says_which_bag_it_is_of():
    assert as_dict(NOTHING, BAG, "1")["instance"] == {"name": "simple", "hash": BAG.content_hash}
