"""What a clusters file may say, and how each error is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.online.clusters import clusters_from_dict
from lpsched.online.parts import Levels
from lpsched.online.utility import WaitingCost
from tests.documents import replaced
from tests.parallel import SOUND, sound_clusters, waiting_clusters

TASK = {"arrival_seconds": 0, "task_type": "flow", "cores": 4, "utility": "slow"}


def issues_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        clusters_from_dict(raw)
    return [str(issue) for issue in caught.value.issues]


def within(path: str, value: object) -> dict[str, Any]:
    """Return the sound clusters with the value at a dotted path replaced; `...` removes it."""
    return replaced(SOUND, {path: value})


def tasks(*rows):
    return sound_clusters(tasks=list(rows))


def test_sound_clusters_are_read_as_they_stand():
    clusters = clusters_from_dict(SOUND)
    arriving = clusters.arriving
    assert list(arriving.arrival_seconds) == [0.0, 2.5, 2.5, 100.0]
    assert list(arriving.type_numbers) == [0, 1, 0, 1]
    assert list(arriving.core_counts) == [16, 17, 1, 4]
    assert list(arriving.work_factors) == [1.0, 1.0, 0.5, 1.0]
    assert list(arriving.requested_factors) == [1.0, 1.0, 2.0, 1.0]
    assert arriving.declared == (Levels("high", "soon", "A"), "deadline", Levels("low", "soon", "A"), "slow")
    assert arriving.jobs is None
    assert clusters.seconds.cells[0] == (
        ((1, 800.0), (4, 200.0), (8, 120.0)), ((1, 300.0), (2, 180.0)), ((1, 500.0), (2, 280.0))
    )  # fmt: skip
    assert clusters.seconds.cells[1][0] is None
    assert clusters.clusters[0].p_states is None


def test_clusters_judged_by_waiting_are_read_as_they_stand():
    clusters = clusters_from_dict(waiting_clusters())
    assert clusters.waiting == WaitingCost()
    assert clusters.clusters[0].cores_per_node == 1  # by default
    assert (clusters.functions, clusters.function_numbers) == ((), b"")
    assert list(clusters.arriving.job_numbers or ()) == [7, 3, 9]
    assert list(clusters.arriving.requested_factors) == [60.0, 60.0, 20.0]
    assert clusters_from_dict(waiting_clusters(waiting={})).waiting == WaitingCost()
    points = {"measure": "points", "weight": "cores", "points": [[0, 0], [60, 3]]}
    assert clusters_from_dict(waiting_clusters(waiting=points)).waiting == WaitingCost(
        "points", "cores", points=((0.0, 0.0), (60.0, 3.0))
    )


def test_an_empty_request_is_the_work():
    rows = [TASK | {"work": 3}, TASK | {"work": 3, "requested_work": 4}, TASK | {"work": 3}]
    assert list(clusters_from_dict(tasks(*rows)).arriving.requested_factors) == [3.0, 4.0, 3.0]


def test_a_p_state_may_be_untold_for_some_numbers_of_nodes_or_for_all():
    raw = within("seconds.flow.fat", {1: [300, 500], 2: [180, None]})
    raw["watts"]["flow"]["fat"] = {1: [400, 250], 2: [800, None]}
    raw["tasks"] = [TASK]
    assert clusters_from_dict(raw).seconds.cells[0][2] == ((1, 500.0),)
    raw["seconds"]["flow"]["fat"] = {1: [300, None], 2: [180, None]}
    raw["watts"]["flow"]["fat"] = {1: [400, None], 2: [800, None]}
    assert clusters_from_dict(raw).seconds.cells[0][2] is None


def test_a_number_alone_is_the_same_for_any_number_of_nodes_of_the_cluster():
    raw = sound_clusters(
        seconds={"flow": {"thin": 5, "fat": [6, None]}, "mesh": {"fat": [7, 8]}}, watts=..., tasks=[TASK]
    )
    assert clusters_from_dict(raw).seconds.cells[0] == (((1, 5.0), (8, 5.0)), ((1, 6.0), (2, 6.0)), None)
    one = waiting_clusters(clusters=[{"name": "all", "nodes": 1}], seconds={"job": {"all": 1}})
    one["tasks"] = one["tasks"][1:]
    assert clusters_from_dict(one).seconds.cells == ((((1, 1.0),),),)


def test_numbers_and_names_of_numpy_are_read_like_others():
    rows = [
        {key: np.str_(each) if isinstance(each, str) else np.float64(each) for key, each in task.items()}
        for task in SOUND["tasks"]
    ]
    assert clusters_from_dict(tasks(*rows)) == clusters_from_dict(SOUND)


@pytest.mark.parametrize(
    ("raw", "issue"),
    [
        pytest.param([], "the file: got a list of 0, expected a mapping that begins with 'format: lpsched-clusters/1'; see 'lpsched new clusters'", id="a-list"),
        pytest.param(sound_clusters(format="lpsched-day/1"), "format: got the text 'lpsched-day/1', expected 'lpsched-clusters/1'; use 'lpsched simulate' for a day", id="a-day"),
        pytest.param(sound_clusters(format=...), "format: got no format, expected 'format: lpsched-clusters/1'; write it as the first key", id="no-format"),
        pytest.param(waiting_clusters(waiting={"mesure": "seconds"}), "waiting.mesure: got an unknown key, expected one of measure, weight, at_least_seconds, points; did you mean 'measure'?", id="waiting-with-more"),
        pytest.param(waiting_clusters(waiting={"measure": "points", "points": [[0, 0], [5, "x"]]}), "waiting.points[1][1]: got the text 'x', expected a cost: a number from 0 to 1e+30; write it as a plain number", id="point-a-text"),
        pytest.param(waiting_clusters(period={"length_seconds": 5}), "period: got a period that counts besides a cost of waiting, expected the one or the other; drop it, or the key 'waiting'", id="waiting-and-period"),
        pytest.param(sound_clusters(tasks={"file": "t.csv"}), "tasks.file: got the text 't.csv', expected the tasks themselves; read the clusters from a file", id="file-without-a-file"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(raw, issue):
    found = issues_of(raw)
    assert any(each.startswith(issue) for each in found), found


def test_all_faults_come_at_once_in_file_order():
    raw = within("seconds.mesh.fat", {1: [0, 1]})
    raw["priorities"]["high"] = -1
    raw["tasks"][0]["task_type"] = "flwo"
    raw["tasks"][3]["cores"] = -5
    raw["name"] = ""
    assert [each.partition(":")[0] for each in issues_of(raw)] == [
        "name", "seconds.mesh.fat.1[0]", "priorities.high", "tasks[0].task_type", "tasks[3].cores"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(waiting_clusters(clusters=[{"name": "all", "nodes": "2"}]), id="a-cluster-of-no-size"),
        pytest.param(within("watts.flow.thin", {1: -1}) | {"period": {"energy_constraint_joules": 5}}, id="watts"),
        pytest.param(waiting_clusters(waiting={"measure": "x"}), id="waiting"),
        pytest.param(within("priorities.high", -1), id="levels"),
    ],
)
def test_one_fault_does_not_make_others(raw):
    assert len(issues_of(raw)) == 1


def test_a_list_of_junk_costs_no_more_than_its_first_faults():
    assert len(issues_of(tasks(*[3] * 50_000))) == 1000
    assert len(issues_of(tasks(*[TASK | {"cores": 0}] * 50_000))) == 1000
    assert len(issues_of(within("seconds.flow.thin", {f"x{n}": 1 for n in range(5_000)}))) <= 1001


def test_rows_in_several_pieces_are_one_list(monkeypatch):
    monkeypatch.setattr("lpsched.online.arriving_rows.CHUNK_ROWS", 1)
    assert clusters_from_dict(SOUND).arriving.declared[1] == "deadline"
    assert list(clusters_from_dict(waiting_clusters()).arriving.job_numbers) == [7, 3, 9]
    later = tasks(TASK, TASK | {"job": 1})
    assert issues_of(later) == [
        "tasks[1].job: got 1, expected a number for every task, or for none; drop it, or add the others"
    ]
    assert issues_of(tasks(TASK | {"job": 1}, TASK))[0].startswith("tasks[1].job: got nothing")
