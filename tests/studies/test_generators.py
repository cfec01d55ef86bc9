from __future__ import annotations

import numpy as np
import pytest

from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.day import essc_day
from lpsched.generate.facility import facility_of
from lpsched.generate.options import PLATFORMS, EsscOptions, MachovecOptions
from lpsched.studies.plan import GENERATORS
from lpsched.studies.running import _LAST, make_run
from tests.studies.test_making import made
from tests.studies.test_plan import issues_of, tasks_of

DAY = {"tasks": 5, "hours": 1.0, "task_types": 2, "machines": (1,), "special_machines": ()}
CLUSTERS = {
    "tasks": 30,
    "hours": 2,
    "nodes": (4,),
    "cores_per_node": (8,),
    "special_nodes": (),
    "special_cores_per_node": (),
    "general_task_types": 3,
    "special_task_types": 0,
    "core_steps": (1, 4, 8),
}
SMALL = {"nodes": 4, "crac_units": 1, "task_types": 2, "node_types": 1}


def test_a_day_clusters_and_a_facility_are_those_of_the_command():
    def same(kind, options, expected):
        assert not list(GENERATORS[kind].issues(options))
        assert GENERATORS[kind].make(options, 3, None).content_hash == expected.content_hash

    same("day", DAY, essc_day("day-3", 3, EsscOptions(**DAY)))
    same("clusters", CLUSTERS, machovec_clusters("clusters-3", 3, MachovecOptions(**CLUSTERS)))
    medium = PLATFORMS["medium"]
    options = type(medium)(**SMALL, rack=medium.rack, recirculation=medium.recirculation)
    rng = np.random.default_rng(3)
    same("facility", {"platform": "medium", **SMALL}, facility_of("medium-3", rng, options))


def test_an_instance_is_made_once_for_the_runs_that_follow_each_other_and_no_others_are_kept(tmp_path):
    runs = [make_run(task) for task in tasks_of(tmp_path)]
    assert len({run.instance_hash for run in runs}) == 2
    assert [run.instance_seed for run in runs] == [3] * 4 + [4] * 4
    assert [run.instance_hash for run in runs] == [runs[0].instance_hash] * 4 + [runs[4].instance_hash] * 4
    ((_, seed),) = _LAST
    assert seed == 4


@pytest.mark.parametrize(
    ("source", "method", "parameters", "sentence"),
    [
        (DAY | {"generate": "day"}, "fcfs", {"permute": 9}, "parameters.permute: got 9, expected a whole number"),
        (DAY | {"generate": "day"}, "fcfs", {"bound": 1}, "parameters.bound: got 1, expected true or false"),
        (
            CLUSTERS | {"generate": "clusters"},
            "easy",
            {"leniency": -1},
            "parameters.leniency: got -1, expected a number above 0",
        ),
        (
            SMALL | {"generate": "facility"},
            "ga",
            {"start": "nowhere"},
            "parameters.start: got the text 'nowhere', expected one of random, greedy, lp",
        ),
        (SMALL | {"generate": "facility", "nodes": 0}, "lp", {}, "instances[0].nodes: got 0, expected 1 to"),
        ({"generate": "resampled", "from": 3}, "lp", {}, "instances[0].from: got 3, expected the name of a file"),
    ],
)
def test_options_of_all_kinds_are_checked_before_anything_is_run(tmp_path, source, method, parameters, sentence):
    source = {key: list(value) if isinstance(value, tuple) else value for key, value in source.items()}
    found = issues_of(tmp_path, instances=[source | {"seeds": [0]}], methods=[method], parameters=parameters)
    assert any(each.startswith(sentence) for each in found), found


def test_clusters_are_mapped_at_every_event_if_no_seconds_are_between(tmp_path):
    source = {key: list(value) if isinstance(value, tuple) else value for key, value in CLUSTERS.items()}
    source |= {"generate": "clusters", "seeds": [0]}
    asked = {"instances": [source], "methods": ["random"]}
    often, rarely = made(tmp_path, parameters={"every_seconds": [0, 3600]}, **asked)
    assert often.outcome["events"] > rarely.outcome["events"]
