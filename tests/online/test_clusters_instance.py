"""Clusters: what they hold, how they are hashed, and what they refuse."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from lpsched.errors import InstanceError
from lpsched.online.arrays import cluster_arrays
from lpsched.online.clusters import Clusters, DayTaskType, Kind, ParallelTasks, Run, clusters_from_dict
from lpsched.online.curves import NodeCurves
from lpsched.online.parts import Cluster, Levels, Period
from lpsched.online.utility import WaitingCost
from tests.days import decaying
from tests.parallel import SOUND, Task, simple_clusters, sound_clusters, waiting_clusters
from tests.property.parallel import parallel_clusters

ONE = simple_clusters([[2.0]], [1], [Task(0.0, 1, decaying(1.0))], watts=[[3.0]])
WAITS = simple_clusters([[2.0]], [4], [Task(0.0, 3)], waiting=WaitingCost())


def issues_of(whole=ONE, /, **changes) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        whole.model_copy(update=changes)
    return [str(issue) for issue in caught.value.issues]


def tasks_of(arrivals=(0.0,), types=None, cores=None, **more) -> ParallelTasks:
    count = len(arrivals)
    more.setdefault("utilities", ["u0"] * count)
    return ParallelTasks.of(arrivals, types or [0] * count, cores or [1] * count, **more)


def test_clusters_count_tasks_nodes_cores_and_columns():
    clusters = clusters_from_dict(SOUND)
    assert (clusters.tasks, clusters.nodes, clusters.cores) == (4, 10, 64)  # 8 x 4 + 2 x 16 cores
    assert clusters.modes == ((0, 0), (1, 0), (1, 1))
    assert [clusters.p_state(column) for column in range(3)] == [None, "P0", "P1"]
    assert repr(clusters) == "<Clusters 'sound': 4 tasks on 10 nodes with 64 cores (2 task types, 2 clusters)>"


def test_a_task_takes_the_nodes_that_have_its_cores():
    clusters = clusters_from_dict(SOUND)
    # 16 cores: 4 of the nodes with 4 cores each, 1 of those with 16
    assert clusters.runs(0, 16) == (Run(4, 200.0, 400.0), Run(1, 300.0, 400.0), Run(1, 500.0, 250.0))
    # 17 cores: 5 nodes, a quarter of the way from 200 to 120 s; or 2
    assert clusters.runs(0, 17) == (Run(5, 180.0, 500.0), Run(2, 180.0, 800.0), Run(2, 280.0, 500.0))
    assert clusters.runs(1, 17)[0] is None  # no curve there
    assert clusters.runs(0, 33) == (None, None, None)  # more than either has


def test_work_and_requests_multiply_the_seconds_of_the_curve():
    clusters = clusters_from_dict(SOUND)
    kind = clusters.kinds[2]
    assert kind == Kind(task_type=0, cores=1, work=0.5, requested=2.0)
    assert [clusters.seconds_of(kind, column) for column in range(3)] == [400.0, 150.0, 250.0]
    assert [clusters.requested_seconds_of(kind, column) for column in range(3)] == [1600.0, 600.0, 1000.0]
    assert [clusters.watts_of(kind, column) for column in range(3)] == [100.0, 400.0, 250.0]
    assert clusters.fastest_seconds(kind) == 150.0
    assert clusters.mean_seconds(kind) == 275.0  # of 400 and 150: the first P-state of each cluster
    assert clusters.nodes_of(clusters.kinds[1], 0) is None  # mesh cannot run on thin


def test_the_utility_by_levels_stays_for_a_share_of_the_mean_of_the_task_s_own_kind():
    rows = [SOUND["tasks"][0] | {"work": work} for work in (1, 2)]
    clusters = clusters_from_dict(sound_clusters(tasks=rows))
    # 16 cores take 200 s on thin and 300 s on fat; 0.8 of the mean of 250 s is steady, or of twice that
    assert [function.intervals[1].after_seconds for function in clusters.functions] == [200.0, 400.0]


@settings(max_examples=40, deadline=None)
@given(parallel_clusters())
def test_arrays_say_what_the_clusters_say(clusters):
    arrays = cluster_arrays(clusters)
    columns = range(len(clusters.modes))
    for k, kind in enumerate(clusters.kinds):
        own = [clusters.seconds_of(kind, column) for column in columns]
        assert arrays.can_run[k].tolist() == [seconds is not None for seconds in own]
        assert arrays.seconds[k].tolist() == [seconds or 0.0 for seconds in own]
        assert arrays.nodes[k].tolist() == [clusters.nodes_of(kind, column) or 0 for column in columns]
        watts = [clusters.watts_of(kind, column) or 0.0 for column in columns]
        assert arrays.watts[k].tolist() == watts
        assert arrays.joules[k].tolist() == [(s or 0.0) * w for s, w in zip(own, watts, strict=True)]
        asked = [clusters.requested_seconds_of(kind, column) or 0.0 for column in columns]
        assert arrays.requested_seconds[k].tolist() == asked
        assert (arrays.requested_seconds[k] >= arrays.seconds[k]).all()
        assert (arrays.task_type[k], arrays.cores[k]) == (kind.task_type, kind.cores)
    assert arrays.arrivals.tolist() == list(clusters.arriving.arrival_seconds)
    assert [arrays.cores[k] for k in arrays.kind] == list(clusters.arriving.core_counts)
    assert arrays.column_cluster.tolist() == [c for c, _ in clusters.modes]
    assert arrays.first_column[-1] == len(clusters.modes)
    assert len(arrays.function) == (0 if clusters.waiting is not None else clusters.tasks)
    for f, function in enumerate(clusters.functions):
        first, end = arrays.first_interval[f : f + 2]
        assert arrays.after_seconds[first:end].tolist() == [each.after_seconds for each in function.intervals]
    assert not any(getattr(arrays, name).flags.writeable for name in type(arrays).__dataclass_fields__)


def test_the_hash_is_fixed_for_ever():
    # A hash that drifts would part every stored schedule from its clusters.
    said: dict[str, Any] = {
        "name": "simple",
        "clusters": [{"name": "c0", "nodes": 4, "cores_per_node": 1, "p_states": None}],
        "task_types": [{"name": "t0"}],
        "seconds": [[[[1, 2.0], [4, 2.0]]]],
        "watts": None,
        "told": [],
        "levels": {"priorities": {}, "urgencies": {}, "utility_classes": {}},
        "utility_functions": {},
        "waiting": {"measure": "bounded-slowdown", "weight": "task", "at_least_seconds": 10.0, "points": []},
    }
    content = b"lpsched-clusters/1" + json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    content += struct.pack("<dqqdd", 0.0, 0, 3, 1.0, 1.0)  # arrival, type, cores, work, request
    assert WAITS.content_hash == hashlib.sha256(content).hexdigest()


def test_the_hash_depends_on_neither_key_order_nor_form():
    reordered = {key: SOUND[key] for key in reversed(SOUND)}
    reordered["seconds"] = {
        "mesh": {"thin": None, "fat": {"2": [70, 100], "1": [60, 90]}},
        "flow": {"fat": {"2": [180, 280], "1": [300, 500]}, "thin": {"8": 120, "4": 200, "1": 800}},
    }
    reordered["tasks"] = [{"work": 1, "job": None, "priority": None} | row for row in SOUND["tasks"]]
    assert clusters_from_dict(reordered).content_hash == clusters_from_dict(SOUND).content_hash
    short, whole = {"job": {"all": 1}}, {"job": {"all": {"1": 1.0, "2": 1.0}}}
    hashes = {clusters_from_dict(waiting_clusters(seconds=seconds)).content_hash for seconds in (short, whole)}
    assert len(hashes) == 1


def changed_task(**changes):
    return {"tasks": [SOUND["tasks"][0] | changes, *SOUND["tasks"][1:]]}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"clusters": [SOUND["clusters"][0] | {"nodes": 9}, SOUND["clusters"][1]]},
        {"clusters": [SOUND["clusters"][0], SOUND["clusters"][1] | {"p_states": ["P0", "P2"]}]},
        {"seconds": SOUND["seconds"] | {"mesh": {"fat": {1: [60, 90], 2: [70, 101]}}}},
        {"watts": SOUND["watts"] | {"mesh": {"fat": {1: [300, 200], 2: [600, 401]}}}},
        {"watts": ...},
        {"period": {"warm_up_seconds": 1}},
        {"priorities": {"high": 5, "low": 1}},
        {"tasks": SOUND["tasks"][:3]},
        {"tasks": [row | {"job": n} for n, row in enumerate(SOUND["tasks"])]},
        changed_task(arrival_seconds=1),
        changed_task(task_type="mesh"),
        changed_task(cores=15),
        changed_task(work=2),
        changed_task(requested_work=2),
        changed_task(priority="low"),
    ],
)
def test_the_hash_sees_every_change(change):
    assert clusters_from_dict(sound_clusters(**change)).content_hash != clusters_from_dict(SOUND).content_hash


def test_clusters_are_equal_by_what_they_say_and_survive_pickling():
    clusters = clusters_from_dict(SOUND)
    assert clusters == clusters_from_dict(sound_clusters())
    assert hash(clusters) == hash(clusters_from_dict(sound_clusters()))
    again = pickle.loads(pickle.dumps(clusters))  # noqa: S301 - our own
    assert (again, again.content_hash) == (clusters, clusters.content_hash)


@pytest.mark.parametrize(
    ("changes", "issue"),
    [
        ({"name": ""}, "name: got an empty name"),
        ({"clusters": ()}, "clusters: got an empty list, expected at least one cluster; add a cluster"),
        ({"task_types": ()}, "task_types: got an empty list, expected at least one task type; add a task type"),
        ({"clusters": (Cluster("c0", 10**15, 2),)}, "clusters: got 2,000,000,000,000,000 cores in total, expected at most 10^15; scale the instance down"),
        ({"clusters": (Cluster("c", 1), Cluster("c", 1))}, "clusters[1].name: got 'c' once more, expected a name of its own; rename one"),
        ({"clusters": (Cluster("c", 1, 1, ("a", "a")),)}, "clusters[0].p_states[1]: got 'a' once more, expected a name of its own; rename one"),
        ({"clusters": (Cluster("c", 1, 1, ("a",)), Cluster("c:a", 1))}, "clusters[0]: got 'c:a', which names a P-state here and another cluster, expected labels that differ; rename one"),
        ({"task_types": (DayTaskType("t"), DayTaskType("t"))}, "task_types[1].name: got 't' once more, expected a name of its own; rename one"),
        ({"seconds": NodeCurves(((),))}, "seconds: got cells of 1 x 0, expected 1 x 1, task types x columns; fix its shape"),
        ({"seconds": NodeCurves(((((1, -1.0),),),))}, "seconds[0][0][0]: got -1.0, expected seconds: a number from 1e-30 to 1e+30; correct it"),
        ({"watts": NodeCurves(((((1, -1.0),),),))}, "watts[0][0][0]: got -1.0, expected watts: a number from 0 to 1e+30; correct it"),
        ({"watts": NodeCurves(((None,),))}, "watts[0][0]: got a time but no power for 't0' on 'c0', expected both or neither; give it watts, or remove its time"),
        ({"seconds": NodeCurves(((None,),))}, "seconds[0][0]: got a power but no time for 't0' on 'c0', expected both or neither; give it seconds, or remove its power"),
        ({"seconds": NodeCurves(((None,),)), "watts": None}, "tasks[0].cores: got 1 cores for task type 't0', which no cluster can run, expected a curve of seconds for it on some cluster; add one, or drop such tasks"),
        ({"seconds": NodeCurves(((((2, 1.0),),),))}, "tasks[0].cores: got 1 cores, that is 1 nodes of 'c0', expected 2 to 2 nodes, for which seconds of 't0' on 'c0' are given; extend seconds, or drop such tasks"),
        ({"watts": NodeCurves(((((2, 1.0),),),))}, "tasks[0].cores: got 1 cores, that is 1 nodes of 'c0', expected 2 to 2 nodes, for which watts of 't0' on 'c0' are given; extend watts, or drop such tasks"),
        ({"arriving": tasks_of(cores=[2])}, "tasks[0].cores: got 2 cores for task type 't0', which no cluster can run, expected at most 1, as the largest cluster has that can run it; lower it, or add nodes"),
        ({"arriving": tasks_of([0.0] * 3, cores=[1, 3, 2])}, "tasks[1].cores: got 3 cores for task type 't0' (and 1 tasks more), which no cluster can run"),
        ({"arriving": tasks_of([])}, "tasks: got no tasks, expected at least one task; add a task"),
        ({"arriving": tasks_of([1.0, 0.5])}, "tasks[1].arrival_seconds: got 0.5 s after 1.0 s, expected tasks by never-falling arrival; sort them by arrival_seconds"),
        ({"arriving": tasks_of([math.nan])}, "tasks[0].arrival_seconds: got NaN"),
        ({"arriving": tasks_of(types=[1])}, "tasks[0].task_type: got 1, expected a number from 0 to 0, of a task type; correct it"),
        ({"arriving": tasks_of(cores=[0])}, "tasks[0].cores: got 0, expected a whole number from 1 to 10^15; correct it, or drop the entry"),
        ({"arriving": tasks_of(work=[0.0])}, "tasks[0].work: got 0.0, expected work, by which seconds are multiplied: a number from 1e-30 to 1e+30; correct it"),
        ({"arriving": tasks_of(work=[math.nan], requested=[1.0])}, "tasks[0].work: got NaN"),
        ({"arriving": tasks_of(requested=[math.inf])}, "tasks[0].requested_work: got infinity"),
        ({"arriving": tasks_of(work=[2.0], requested=[1.0])}, "tasks[0].requested_work: got 1.0, below the work of 2.0, expected at least the work; raise it"),
        ({"arriving": tasks_of(work=[1e30])}, "tasks[0].work: got work that makes 2e+30 to 2e+30 seconds, expected 1e-30 to 1e+30 seconds; correct the unit"),
        ({"arriving": tasks_of(utilities=["v"])}, "tasks[0].utility: got 'v', expected one of utility_functions; correct it, or add it there"),
        ({"arriving": tasks_of(utilities=[Levels("a", "b", "c")])}, "tasks[0].urgency: got 'b', expected one of urgencies; correct it, or add it there"),
        ({"arriving": tasks_of(utilities=[])}, "tasks: got tasks without a utility, and no cost of waiting, expected the one or the other; declare their utility, or add the key 'waiting'"),
        ({"arriving": tasks_of([0.0, 1.0], utilities=["u0"])}, "tasks: got columns of different lengths, expected arrival, type, cores, work and request of each task; complete them"),
        ({"arriving": tasks_of(jobs=[1, 2])}, "tasks: got columns of different lengths"),
        ({"arriving": replace(tasks_of(), declared=("u0", "u0"))}, "tasks: got numbers of utilities in another order"),
        ({"period": Period(energy_constraint_joules=1.0), "watts": None}, "period.energy_constraint_joules: got an energy constraint, expected watts, for energy to be known; add the key 'watts', or drop the constraint"),
        ({"period": Period(1e30, 1.0)}, "period.length_seconds: got 1.0 s after a warm-up of 1e+30 s"),
        ({"made_by": {"generator": "me"}}, "made_by.seed: got nothing"),
        ({"priorities": {"high": -1.0}}, "priorities.high: got -1.0, expected utility: a number from 0 to 1e+30; correct it"),
        ({"waiting": WaitingCost()}, "utility_functions: got utility functions besides a cost of waiting, expected the one or the other; drop it, or the key 'waiting'"),
        ({"waiting": WaitingCost()}, "tasks: got utilities besides a cost of waiting"),
    ],
)  # fmt: skip
def test_clusters_are_sound_from_birth(changes, issue):
    assert any(each.startswith(issue) for each in issues_of(**changes)), issues_of(**changes)


@pytest.mark.parametrize(
    ("changes", "issue"),
    [
        ({"period": Period(1.0)}, "period: got a period that counts besides a cost of waiting, expected the one or the other; drop it, or the key 'waiting'"),
        ({"priorities": {"high": 1.0}}, "priorities: got priorities besides a cost of waiting"),
        ({"waiting": WaitingCost("points")}, "waiting.points: got no points"),
    ],
)  # fmt: skip
def test_waiting_judges_alone(changes, issue):
    assert issues_of(WAITS, **changes)[0].startswith(issue)


def test_faulty_curves_do_not_make_an_energy_constraint_faulty():
    changes = {"watts": NodeCurves(((((1, -1.0),),),)), "period": Period(energy_constraint_joules=1.0)}
    assert len(issues_of(**changes)) == 1


def test_a_task_that_is_too_large_for_one_cluster_runs_on_another():
    clusters = simple_clusters([[5.0, {1: 5.0}]], [4, 1], [Task(0.0, 4)], waiting=WaitingCost())
    assert clusters.runs(0, 4) == (Run(4, 5.0, None), None)


def test_curves_may_end_before_a_cluster_does_and_reach_beyond_it():
    tasks = [Task(0.0, 2)]
    clusters = simple_clusters([[{1: 5.0, 2: 3.0}, {1: 4.0, 64: 1.0}]], [9, 2], tasks, waiting=WaitingCost())
    assert clusters.remarks() == ()


def test_a_million_nodes_are_welcome():
    clusters = simple_clusters(
        [[7.0]], [10**6], [Task(0.0, 10**6), Task(0.0)], cores_per_node=[10**9], waiting=WaitingCost()
    )
    assert clusters.runs(0, 10**15) == (Run(10**6, 7.0, None),)
    assert cluster_arrays(clusters).nodes.tolist() == [[1], [1]]


def test_what_is_worth_a_second_look_is_remarked_on():
    clusters = Clusters(
        name="odd",
        clusters=(Cluster("c", 1),),
        task_types=(DayTaskType("a"), DayTaskType("b")),
        seconds=NodeCurves(((((1, 1.0),),), (None,))),
        tasks=ParallelTasks.of([0.0, 5.0, 6.0], [0] * 3, [1] * 3, utilities=["u"] * 3),
        utility_functions={"u": decaying(1.0)},
        period=Period(length_seconds=5.0),
    )
    assert clusters.remarks() == (
        "no cluster can run 'b', and no task is of that type",
        "2 of the tasks arrive when the period is over, and can never start",
        "there are no watts: what the tasks take is not known, and counts as no energy",
    )
    assert WAITS.remarks() == ()  # nobody asks for energy there


def test_more_tasks_than_can_be_are_refused(monkeypatch):
    monkeypatch.setattr("lpsched.online.parts.MOST_TASKS", 3)
    tasks = tasks_of([0.0] * 4)
    assert issues_of(arriving=tasks) == ["tasks: got 4 of them, expected at most 3; divide the instance"]
    assert ONE.model_copy(update={"arriving": tasks_of([0.0] * 3)}).tasks == 3


def test_a_fault_names_the_first_task_of_its_type_and_the_cluster_behind_one_with_p_states():
    both = {1: 5.0, 2: 4.0}
    rows: list[list[Any]] = [[both, both, both], [both, both, {1: 5.0}]]  # columns: c0 in a and b, c1
    tasks = [Task(0.0, 2), Task(0.0, 2, task_type=1), Task(0.0, 2, task_type=1)]
    with pytest.raises(InstanceError) as caught:
        simple_clusters(rows, [2, 2], tasks, p_states=[("a", "b"), None], waiting=WaitingCost())
    assert [str(issue) for issue in caught.value.issues] == [
        (
            "tasks[1].cores: got 2 cores, that is 2 nodes of 'c1' (and 1 tasks more), expected 1 to 1 nodes, for "
            "which seconds of 't1' on 'c1' are given; extend seconds, or drop such tasks"
        )
    ]


def test_what_two_p_states_lack_is_told_once():
    with pytest.raises(InstanceError) as caught:
        simple_clusters([[{1: 5.0}, {1: 6.0}]], [2], [Task(0.0, 2)], p_states=[("a", "b")], waiting=WaitingCost())
    (issue,) = caught.value.issues
    assert "for which seconds of 't0' on 'c0' at 'a' are given" in str(issue)


def test_a_request_that_is_the_work_is_no_fault_beside_one_that_is():
    tasks = tasks_of([0.0] * 2, work=[2.0, 2.0], requested=[2.0, 1.0])
    (issue,) = issues_of(arriving=tasks)
    assert issue.startswith("tasks[1].requested_work: got 1.0, below the work of 2.0")


def test_work_that_makes_no_time_is_refused():
    tasks = [Task(0.0, work=1e-30), Task(0.0, task_type=1, work=1e-30)]
    with pytest.raises(InstanceError) as caught:  # 0.5e-30 s is too short; 1e-30 s is not
        simple_clusters([[0.5], [1.0]], [1], tasks, waiting=WaitingCost())
    (issue,) = caught.value.issues
    assert str(issue).startswith("tasks[0].work: got work that makes 5e-31 to 5e-31 seconds, expected 1e-30")
