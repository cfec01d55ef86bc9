"""What a clusters file may say, and how each fault is told."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.instance.cluster_door import clusters_from_dict
from lpsched.instance.day_tasks import Levels
from lpsched.instance.waiting import WaitingCost
from tests.parallel import SOUND, sound_clusters, waiting_clusters

TASK = {"arrival_seconds": 0, "task_type": "flow", "cores": 4, "utility": "slow"}


def faults_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        clusters_from_dict(raw)
    return [str(fault) for fault in caught.value.faults]


def within(path: str, value: object) -> dict[str, Any]:
    """Return the sound clusters with the value at a dotted path replaced; `...` removes it."""
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
    assert arriving.told == (Levels("high", "soon", "A"), "deadline", Levels("low", "soon", "A"), "slow")
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
    ("raw", "fault"),
    [
        pytest.param([], "the file: found a list of 0, needs a mapping that begins with 'format: lpsched-clusters/1'; see 'lpsched new clusters'", id="a-list"),
        pytest.param(sound_clusters(format="lpsched-day/1"), "format: found the text 'lpsched-day/1', needs 'lpsched-clusters/1'; bring a file of this kind, or use 'lpsched validate'", id="a-day"),
        pytest.param(sound_clusters(format="lpsched-clusters/2"), "format: found the text 'lpsched-clusters/2', needs 'lpsched-clusters/1'; install a newer lpsched", id="newer"),
        pytest.param(sound_clusters(format=...), "format: found no format, needs 'format: lpsched-clusters/1'; write it as the first key", id="no-format"),
        pytest.param(sound_clusters(machine_types=[]), "machine_types: found an unknown key, needs one of format, name, clusters", id="unknown-key"),
        pytest.param(sound_clusters(name=...), "name: found nothing (null), needs a name", id="no-name"),
        pytest.param(sound_clusters(clusters=...), "clusters: found nothing, needs a list of clusters; see 'lpsched schema clusters'", id="no-clusters"),
        pytest.param(within("clusters.0.nodes", 0), "clusters[0].nodes: found 0, needs a whole number from 1 to 10^15; correct it, or drop the entry", id="no-nodes"),
        pytest.param(within("clusters.0.nodes", 2.5), "clusters[0].nodes: found 2.5, needs a whole number from 1 to 10^15; round it", id="half-a-node"),
        pytest.param(within("clusters.0.cores_per_node", "4"), "clusters[0].cores_per_node: found the text '4', needs a whole number from 1 to 10^15; write it as a number", id="cores-a-text"),
        pytest.param(within("clusters.0.count", 3), "clusters[0].count: found an unknown key, needs one of name, nodes, cores_per_node, p_states; remove it", id="cluster-with-more"),
        pytest.param(within("clusters.1.p_states", []), "clusters[1].p_states: found a list of 0, needs a list of 1 to 100 P-state names; name them, or drop the key", id="no-states"),
        pytest.param(sound_clusters(seconds=...), "seconds: found nothing, needs curves of seconds, by task type, cluster and number of nodes; add them", id="no-seconds"),
        pytest.param(sound_clusters(seconds=[[1]]), "seconds: found a list of 1, needs a mapping from task types to clusters to numbers of nodes; see 'lpsched schema clusters'", id="seconds-a-matrix"),
        pytest.param(within("seconds.flow", 3), "seconds.flow: found 3, needs a mapping from clusters to numbers of nodes; see 'lpsched schema clusters'", id="row-a-number"),
        pytest.param(within("seconds.mehs", {}), "seconds.mehs: found no task type of that name, needs a task type of the file's list; did you mean 'mesh'?", id="unknown-type"),
        pytest.param(within("seconds.flow.thn", {1: 2}), "seconds.flow.thn: found no cluster of that name, needs a cluster of the file's list; did you mean 'thin'?", id="unknown-cluster"),
        pytest.param(within("seconds.flow.thin", {}), "seconds.flow.thin: found a mapping of 0, needs 1 to 100,000 numbers of nodes; leave it out if the pair cannot run", id="empty-curve"),
        pytest.param(within("seconds.flow.thin", {"many": 2}), "seconds.flow.thin.many: found 'many' as a number of nodes, needs a whole number of nodes from 1 to 10^15; correct it", id="nodes-a-word"),
        pytest.param(within("seconds.flow.thin", {"0": 2}), "seconds.flow.thin.0: found '0' as a number of nodes, needs a whole number of nodes from 1 to 10^15; correct it", id="zero-nodes"),
        pytest.param(within("seconds.flow.thin", {"1.5": 2}), "seconds.flow.thin.1.5: found '1.5' as a number of nodes", id="nodes-not-whole"),
        pytest.param(within("seconds.flow.thin", {"9" * 30: 2}), f"seconds.flow.thin.{'9' * 30}: found '{'9' * 30}' as a number of nodes", id="nodes-endless"),
        pytest.param(within("seconds.flow.thin", {"1": 2, "01": 3}), "seconds.flow.thin.01: found 1 nodes once more, needs each number once; drop one", id="nodes-twice"),
        pytest.param(within("seconds.flow.thin", {1: 0}), "seconds.flow.thin.1: found 0, needs seconds: a number from 1e-30 to 1e+30; correct it; leave it out if it is not told", id="no-time"),
        pytest.param(within("seconds.flow.thin", {1: None}), "seconds.flow.thin.1: found nothing (null), needs seconds", id="null-time"),
        pytest.param(within("seconds.flow.thin", {1: [3]}), "seconds.flow.thin.1: found a list of 1, needs seconds", id="list-without-states"),
        pytest.param(within("seconds.flow.fat", {1: 3}), "seconds.flow.fat.1: found 3, needs a list of 2, one number per P-state of 'fat'; write null where it is not told", id="states-a-number"),
        pytest.param(within("seconds.flow.fat", {1: [3, "x"]}), "seconds.flow.fat.1[1]: found the text 'x', needs seconds", id="state-a-text"),
        pytest.param(within("seconds.flow.fat", 3), "seconds.flow.fat: found 3, needs a list of 2, one number per P-state of 'fat'", id="states-a-number-alone"),
        pytest.param(within("watts.flow.thin", {1: -1}), "watts.flow.thin.1: found -1, needs watts: a number from 0 to 1e+30; correct it; leave it out if it is not told", id="negative-watts"),
        pytest.param(within("watts.flow.thin", ...), "watts.flow.thin: found a time but no power for 'flow' on 'thin', needs both or neither; give it watts, or remove its time", id="no-power"),
        pytest.param(within("watts.mesh.fat", {1: [1, None], 2: [1, None]}), "watts.mesh.fat: found a time but no power for 'mesh' on 'fat' at 'P1', needs both or neither; give it watts, or remove its time", id="no-power-of-a-state"),
        pytest.param(within("seconds.mesh.fat", ...), "seconds.mesh.fat: found a power but no time for 'mesh' on 'fat' at 'P0', needs both or neither; give it seconds, or remove its power", id="no-time-of-a-pair"),
        pytest.param(within("watts.flow.thin", {1: 100, 3: 300}), "tasks[0].cores: found 16 cores, that is 4 nodes of 'thin', needs 1 to 3 nodes, for which watts of 'flow' on 'thin' are told; extend watts, or drop such tasks", id="watts-too-short"),
        pytest.param(within("seconds.flow.fat", {2: [180, 280]}), "tasks[0].cores: found 16 cores, that is 1 nodes of 'fat' (and 1 tasks more), needs 2 to 2 nodes, for which seconds of 'flow' on 'fat' at 'P0' are told; extend seconds, or drop such tasks", id="seconds-begin-late"),
        pytest.param(tasks(TASK | {"cores": 33}), "tasks[0].cores: found 33 cores for task type 'flow', which no cluster can run, needs at most 32, as the largest cluster has that can run it; lower it, or add nodes", id="too-large"),
        pytest.param(sound_clusters(watts=..., period={"energy_constraint_joules": 0}), "period.energy_constraint_joules: found an energy constraint, needs watts, for energy to be known; add the key 'watts', or drop the constraint", id="energy-unknown"),
        pytest.param(sound_clusters(period={"edge": "completed"}), "period.length_seconds: found nothing, needs a length", id="period"),
        pytest.param(sound_clusters(waiting=3), "waiting: found 3, needs a mapping; see 'lpsched schema clusters'", id="waiting-a-number"),
        pytest.param(sound_clusters(waiting={}), "priorities: found priorities besides a cost of waiting, needs the one or the other; drop it, or the key 'waiting'", id="waiting-and-utility"),
        pytest.param(waiting_clusters(waiting=...), "tasks[0]: found no utility, needs priority, urgency and utility_class, or utility; say what the task is worth", id="neither"),
        pytest.param(waiting_clusters(waiting={"mesure": "seconds"}), "waiting.mesure: found an unknown key, needs one of measure, weight, at_least_seconds, points; did you mean 'measure'?", id="waiting-with-more"),
        pytest.param(waiting_clusters(waiting={"measure": "points", "points": [[0, 0], [5, "x"]]}), "waiting.points[1][1]: found the text 'x', needs a cost: a number from 0 to 1e+30; write it as a plain number", id="point-a-text"),
        pytest.param(waiting_clusters(period={"length_seconds": 5}), "period: found a period that counts besides a cost of waiting, needs the one or the other; drop it, or the key 'waiting'", id="waiting-and-period"),
        pytest.param(tasks(TASK | {"cores": ...} | {"cores": None}), "tasks[0].cores: found nothing, needs a whole number from 1 to 10^15; add it", id="no-cores"),
        pytest.param(tasks(TASK | {"cores": 0}), "tasks[0].cores: found 0, needs a whole number from 1 to 10^15; correct it, or drop the entry", id="zero-cores"),
        pytest.param(tasks(TASK | {"cores": 1.5}), "tasks[0].cores: found 1.5, needs a whole number from 1 to 10^15; round it", id="cores-not-whole"),
        pytest.param(tasks(TASK | {"cores": True}), "tasks[0].cores: found true (a yes/no value), needs a whole number", id="cores-yes"),
        pytest.param(tasks(TASK | {"cores": 10**20}), "tasks[0].cores: found 100000000000000000000, needs a whole number from 1 to 10^15; scale the instance down", id="cores-endless"),
        pytest.param(tasks(TASK | {"work": 0}), "tasks[0].work: found 0, needs work, by which seconds are multiplied: a number from 1e-30 to 1e+30; correct it", id="no-work"),
        pytest.param(tasks(TASK | {"work": math.nan}), "tasks[0].work: found NaN, needs work", id="work-nan"),
        pytest.param(tasks(TASK | {"work": 3, "requested_work": 2}), "tasks[0].requested_work: found 2, below the work of 3, needs at least the work; raise it, or leave it out", id="request-below-work"),
        pytest.param(tasks(TASK | {"requested_work": 0.5}), "tasks[0].requested_work: found 0.5, below the work of 1.0, needs at least the work; raise it, or leave it out", id="request-below-1"),
        pytest.param(tasks(TASK | {"job": "a"}), "tasks[0].job: found the text 'a', needs a whole number of 64 bits; correct it, or drop the column", id="job-a-text"),
        pytest.param(tasks(TASK | {"job": True}), "tasks[0].job: found true (a yes/no value), needs a whole number of 64 bits", id="job-yes"),
        pytest.param(tasks(TASK | {"job": 2**63}), "tasks[0].job: found 9223372036854775808, needs a whole number of 64 bits", id="job-too-long"),
        pytest.param(tasks(TASK | {"job": 1}, TASK), "tasks[1].job: found nothing, needs a number for every task, or for none; add it, or drop the others", id="job-missing"),
        pytest.param(tasks(TASK | {"nodes": 3}), "tasks[0].nodes: found an unknown key, needs one of arrival_seconds, task_type, cores, work, requested_work, job, priority, urgency, utility_class, utility; did you mean 'cores'?", id="task-with-more"),
        pytest.param(tasks(TASK, 3), "tasks[1]: found 3, needs a mapping with arrival_seconds, task_type, cores and its utility; see 'lpsched schema clusters'", id="task-a-number"),
        pytest.param(sound_clusters(tasks={"file": "t.csv"}), "tasks.file: found the text 't.csv', needs the tasks themselves; read the clusters from a file", id="file-without-a-file"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(raw, fault):
    found = faults_of(raw)
    assert any(each.startswith(fault) for each in found), found


def test_all_faults_come_at_once_in_file_order():
    raw = within("seconds.mesh.fat", {1: [0, 1]})
    raw["priorities"]["high"] = -1
    raw["tasks"][0]["task_type"] = "flwo"
    raw["tasks"][3]["cores"] = -5
    raw["name"] = ""
    assert [each.partition(":")[0] for each in faults_of(raw)] == [
        "name", "seconds.mesh.fat.1[0]", "priorities.high", "tasks[0].task_type", "tasks[3].cores"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(waiting_clusters(clusters=[{"name": "all", "nodes": "2"}]), id="a-cluster-of-no-size"),
        pytest.param(
            within("watts.flow.thin", {1: -1}) | {"period": {"energy_constraint_joules": 5}}, id="watts"
        ),
        pytest.param(waiting_clusters(waiting={"measure": "x"}), id="waiting"),
        pytest.param(within("priorities.high", -1), id="levels"),
    ],
)
def test_one_fault_does_not_make_others(raw):
    assert len(faults_of(raw)) == 1


def test_a_list_of_junk_costs_no_more_than_its_first_faults():
    assert len(faults_of(tasks(*[3] * 50_000))) == 1000
    assert len(faults_of(tasks(*[TASK | {"cores": 0}] * 50_000))) == 1000
    assert len(faults_of(within("seconds.flow.thin", {f"x{n}": 1 for n in range(5_000)}))) <= 1001


def test_rows_in_several_pieces_are_one_list(monkeypatch):
    monkeypatch.setattr("lpsched.instance.tasks_door.PIECE", 1)
    assert clusters_from_dict(SOUND).arriving.told[1] == "deadline"
    assert list(clusters_from_dict(waiting_clusters()).arriving.job_numbers) == [7, 3, 9]
    later = tasks(TASK, TASK | {"job": 1})
    assert faults_of(later) == [
        "tasks[1].job: found 1, needs a number for every task, or for none; drop it, or add the others"
    ]
    assert faults_of(tasks(TASK | {"job": 1}, TASK))[0].startswith("tasks[1].job: found nothing")
