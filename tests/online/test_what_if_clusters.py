"""What other nodes, faster ones or another scheduler would change: the same tasks, simulated twice."""

from __future__ import annotations

import random
import re
import statistics

import pytest

from lpsched.errors import InstanceError
from lpsched.generate.day import another_day
from lpsched.online.clusters import Clusters, clusters_from_dict
from lpsched.online.compare.simulations import simulate
from lpsched.online.compare.what_if import what_if_clusters


def clusters_of(rows, nodes=(2,), **more):
    """Return clusters `c0`, `c1`, ... with tasks of (arrival, cluster, run, width)."""
    names = [f"c{n}" for n in range(len(nodes))]
    return clusters_from_dict(
        {
            "format": "lpsched-clusters/1",
            "name": "log",
            "waiting": {"measure": "seconds"},
            "clusters": [{"name": name, "nodes": n} for name, n in zip(names, nodes, strict=True)],
            "task_types": [{"name": name} for name in names],
            "seconds": {name: {name: 1.0} for name in names},
            "tasks": [
                {"arrival_seconds": a, "task_type": f"c{c}", "cores": q, "work": r} for a, c, r, q in sorted(rows)
            ],
        }
        | more
    )


def changes_of(found):
    return {each.name: (each.before, each.after, each.change) for each in found.policies[0].quantities}


def test_more_nodes_shorten_waits():
    three = clusters_of([(0, 0, 60, 2)] * 3)
    found = what_if_clusters(three, {"c0": "+2"})
    assert changes_of(found)["mean wait"] == (60.0, 20.0, -40.0)  # 0, 60, 120 s, then 0, 0, 60 s
    assert changes_of(found)["cost per task"] == (60.0, 20.0, -40.0)
    assert changes_of(found)["busy"] == (1.0, 0.75, -0.25)
    assert found.best_changes_by is not None
    assert found.bound is not None
    low, high = found.best_changes_by  # least possible: 180 s, then 60 s
    assert low <= -120.0 <= high <= 0.0  # more nodes never cost more
    assert found.bound.before <= 180.0
    assert found.bound.after <= 60.0
    assert [str(each) for each in found.changes] == ["c0 from 2 to 4 nodes"]
    (sentence,) = found.notes()
    assert re.fullmatch(r"The least possible cost per task changes by -\S+ to -?\S+ \(proved\)\.", sentence)
    per_task = [float(each) for each in re.findall(r"-?[\d.]*\d", sentence)]
    assert per_task == pytest.approx([low / 3, high / 3], rel=1e-3)
    fewer = what_if_clusters(clusters_of([(0, 0, 60, 2)] * 3, (4,)), {"c0": "-2"}).best_changes_by
    assert fewer is not None
    assert 0.0 <= fewer[0] <= 120.0 <= fewer[1]


@pytest.mark.parametrize(
    ("measure", "weight", "changes", "same"),
    [
        ("seconds", "cores", {"speed": 2}, True),
        ("seconds", "core-seconds", {"speed": 2}, False),
        ("slowdown", "task", {"speed": 2}, False),
        ("slowdown", "task", {"c0": "+2"}, True),
    ],
)
def test_a_wait_may_cost_something_else_where_runs_are_shorter(measure, weight, changes, same):
    three = clusters_of([(0, 0, 60, 2)] * 3, waiting={"measure": measure, "weight": weight})
    found = what_if_clusters(three, changes, bound=False)
    assert found.same_costs == same
    assert any("another cost" in note for note in found.notes()) != same


def test_faster_nodes_shorten_runs_and_requests():
    both = clusters_of([(0, 0, 60, 2), (0, 0, 60, 2), (0, 1, 60, 2), (0, 1, 60, 2)], (2, 2))
    assert changes_of(what_if_clusters(both, {"speed.c1": 2.0}, bound=False))["mean wait"] == (30.0, 22.5, -7.5)
    assert changes_of(what_if_clusters(both, {"speed": "+100%"}, bound=False))["mean wait"] == (30.0, 15.0, -15.0)
    assert changes_of(what_if_clusters(both, {"speed": "-50%"}, bound=False))["mean wait"] == (30.0, 60.0, 30.0)


def test_another_scheduler_on_the_same_system():
    rows = [(0, 0, 10, 1), (1, 0, 10, 2), (2, 0, 5, 1)]  # the third may start beside the first, before the second
    found = what_if_clusters(clusters_of(rows), {"scheduler": "multiple-queues"}, policies=["easy"])
    alone = simulate(clusters_of(rows), ["easy", "multiple-queues"], bound=True)
    waits = [each.mean("wait_seconds.mean").mean for each in alone.policies]
    assert changes_of(found)["mean wait"] == (waits[0], waits[1], waits[1] - waits[0])
    assert (found.changes, found.best_changes_by) == ((), (0.0, 0.0))
    assert found.bound.before == found.bound.after == -alone.bound.mean
    assert "in place of easy" in found.headline()


def test_intervals_of_a_log_are_by_batch_means():
    rng = random.Random(5)  # noqa: S311 - for tests
    rows = [(rng.uniform(0, 4000), 0, rng.choice([5.0, 20.0, 60.0]), rng.randint(1, 3)) for _ in range(407)]
    log = clusters_of(rows, (4,), waiting={"measure": "seconds", "weight": "cores"})
    found = what_if_clusters(log, {"c0": 6}, bound=False).policies[0]
    runs = [simulate(each, ["easy"]).policies[0] for each in (log, clusters_of(rows, (6,)))]
    starts = [{each.task: each.start_seconds for each in run.schedule.placed} for run in runs]
    for name, weights in (("mean wait", [1] * 407), ("cost per task", list(log.arriving.core_counts))):
        differences = [weights[task] * (starts[1][task] - starts[0][task]) for task in range(407)]
        means = [statistics.fmean(differences[20 * n : 20 * n + 20]) for n in range(20)]
        half = 2.093 * statistics.stdev(means) / 20**0.5  # Student, 19 degrees of freedom
        assert found.quantity(name).half_width == pytest.approx(half, rel=1e-9)
        assert found.quantity(name).change == pytest.approx(statistics.fmean(differences), rel=1e-9)
    few = what_if_clusters(clusters_of(rows[:50], (4,)), {"c0": 6}, bound=False)
    assert few.policies[0].quantity("mean wait").half_width is None


def test_trials_are_paired():
    drawn = Clusters.from_file("instances/clusters-small.yaml")
    found = what_if_clusters(drawn, {"general-1": "+8"}, trials=3, bound=False)
    pairs = []
    for trial in range(3):
        now = another_day(drawn, trial)
        first, *others = now.clusters
        then = now.model_copy(update={"clusters": (first.model_copy(update={"nodes": first.nodes + 8}), *others)})
        pairs.append([simulate(each, ["easy"]).policies[0].mean("utility").mean for each in (now, then)])
    differences = [after - before for before, after in pairs]
    utility = found.policies[0].quantity("utility")
    assert utility.change == pytest.approx(statistics.fmean(differences))
    assert utility.half_width == pytest.approx(4.303 * statistics.stdev(differences) / 3**0.5)
    assert found.best_changes_by is None  # of one system and its tasks only


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"c7": 3}, "an unknown name"),
        ({"c0": "+x"}, "'+x'"),
        ({"c0": "-5"}, "a whole number from 0"),
        ({"c0": 0}, "c"),
        ({"speed": 0}, "a factor from"),
        ({"speed.c0": "-100%"}, "a factor from"),
        ({"speed": True}, "True"),
        ({"scheduler": 3}, "the name of a policy"),
        ({"scheduler": "nothing-like-it"}, "one of"),
        ({"c0": 1}, "changes.c0: got a system with 2 cores for task type 'c0', which no cluster can run"),
    ],
)
def test_what_cannot_be_is_an_error(changes, words):
    with pytest.raises(InstanceError, match="(?s)" + words.replace("+", "[+]")):
        what_if_clusters(clusters_of([(0, 0, 60, 2)]), changes, bound=False)


def test_the_logs_own_starts_are_left_out():
    log = clusters_of([(0, 0, 60, 2)] * 3)
    rows = [row | {"logged_start_seconds": 500.0 * n} for n, row in enumerate(log.task_rows())]
    found = what_if_clusters(clusters_of([], tasks=rows), {"c0": "+2"}, bound=False)
    assert [each.name for each in found.policies] == ["easy"]
    assert found.to_dict()["format"] == "lpsched-whatif-clusters/1"
