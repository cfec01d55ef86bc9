"""Schedule files: what is written is read back; what is not one is refused in words."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings

from lpsched.bag.files import read_schedule, schedule_as_dict, write_schedule
from lpsched.bag.schedule import NOTHING
from lpsched.bag.solve import solve
from tests.support import bags, simple_bag

BAG = simple_bag([[1.0]], [3], [2])


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


def test_the_file_says_which_bag_it_is_of():
    assert schedule_as_dict(NOTHING, BAG, "1")["instance"] == {"name": "simple", "hash": BAG.content_hash}
