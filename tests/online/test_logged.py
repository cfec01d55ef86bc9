"""What really happened: the log's own starts as a schedule, on nodes that are chosen here."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from lpsched.errors import PolicyError
from lpsched.online.clusters import clusters_from_dict
from lpsched.online.compare.simulations import simulate
from lpsched.online.logged import FreeNodes, logged_schedule
from lpsched.online.verify.clusters import ClustersAccount


def log_of(rows, nodes=5, **more):
    """Return clusters with tasks of (arrival, logged start, run, width)."""
    return clusters_from_dict(
        {
            "format": "lpsched-clusters/1",
            "name": "log",
            "waiting": {"measure": "seconds"},
            "clusters": [{"name": "all", "nodes": nodes}],
            "task_types": [{"name": "job"}],
            "seconds": {"job": {"all": 1.0}},
            "tasks": [
                {"arrival_seconds": a, "task_type": "job", "cores": q, "work": r, "logged_start_seconds": s}
                for a, s, r, q in sorted(rows)
            ],
        }
        | more
    )


def starts_of(clusters):
    return {each.task: each.start_seconds for each in logged_schedule(clusters).schedule.placed}


def test_starts_are_those_of_the_log():
    clusters = log_of([(0, 0, 10, 3), (1, 4, 10, 2), (2, 14, 5, 5), (3, 10, 4, 3)])
    found = logged_schedule(clusters)
    assert starts_of(clusters) == {0: 0, 1: 4, 2: 14, 3: 10}
    assert (found.moved, found.most_seconds, found.note) == (0, 0.0, None)
    account = ClustersAccount(clusters, found.schedule)
    assert account.violations == ()
    assert account.measured.cost == (0 + 3 + 12 + 7)
    assert account.measured.waits.mean_seconds == 22 / 4


def test_a_task_that_finds_no_nodes_starts_when_they_are_free():
    clusters = log_of([(0, 0, 10, 3), (1, 4, 10, 3), (2, 5, 1, 2)])  # the second needs 3, and 2 are free at 4 s
    found = logged_schedule(clusters)
    assert starts_of(clusters) == {0: 0, 1: 10, 2: 5}
    assert (found.moved, found.most_seconds) == (1, 6.0)
    assert "1 start of the log is moved" in found.note
    assert "6 s" in found.note
    assert found.note.endswith("the log's own mean wait is 2 s.")  # of 0, 3 and 3 s
    headline = simulate(clusters, ["easy"]).headline()
    assert headline.startswith("As logged, with starts moved to fit: mean wait 4 s,")  # 0, 9 and 3 s


def test_random_logs_that_fit_are_kept_as_they_are():
    for seed in range(60):
        rng = random.Random(seed)  # noqa: S311 - no secrets
        nodes, free_at, rows = 6, [0.0] * 6, []
        for _ in range(25):  # put each on nodes of its own choice: it fits for certain
            width, run = rng.randint(1, nodes), rng.choice([0.5, 1, 3, 7])
            chosen = rng.sample(range(nodes), width)
            start = max(free_at[node] for node in chosen) + rng.choice([0, 0, 1, 4])
            for node in chosen:
                free_at[node] = start + run
            rows.append((rng.choice([start, max(0.0, start - rng.randint(0, 9))]), start, run, width))
        clusters = log_of(rows, nodes)
        found = logged_schedule(clusters)
        assert not found.moved
        assert ClustersAccount(clusters, found.schedule).violations == ()


def test_free_nodes_are_counted_and_joined():
    rng, free = random.Random(1), FreeNodes(40)  # noqa: S311 - for tests
    busy: dict[int, tuple[tuple[int, int], ...]] = {}
    for step in range(500):
        if busy and rng.random() < 0.5:
            free.give(busy.pop(rng.choice(list(busy))))
        else:
            taken = free.take(rng.randint(1, 12))
            if taken is not None:
                busy[step] = taken
        used = [node for ranges in busy.values() for first, last in ranges for node in range(first, last + 1)]
        assert len(used) == len(set(used)) == 40 - free.count
        assert all(last + 1 < first for (_, last), (first, _) in pairwise(free.ranges))


def test_a_log_that_does_not_say_where_tasks_ran_is_a_reason():
    two = [{"name": "all", "nodes": 5}, {"name": "other", "nodes": 5}]
    clusters = log_of([(0, 0, 10, 3)], clusters=two, seconds={"job": {"all": 1.0, "other": 2.0}})
    with pytest.raises(PolicyError, match="'job' can run in 2 ways"):
        logged_schedule(clusters)
    entry = simulate(clusters, ["easy"]).policies[0]
    assert (entry.kind, entry.answers) == ("log", ())
    assert "does not say" in entry.reasons[0][1]


def test_the_log_is_a_row_beside_policies_and_bound():
    clusters = log_of([(0, 0, 10, 3), (1, 14, 10, 3), (2, 5, 1, 2)])
    result = simulate(clusters, ["easy"], bound=True)
    logged, easy = result.policies
    assert (logged.name, logged.kind, easy.name) == ("as logged", "log", "easy")
    assert logged.mean("cost").mean == 13 + 3
    assert easy.mean("cost").mean == 9  # the second waits until 10 s, the third starts at once
    assert logged.mean("gap").mean > easy.mean("gap").mean
    assert result.best is easy  # a log is no scheduler that could be chosen
    assert result.headline().startswith("As logged: mean wait 5.333 s, cost 16, gap ")
    assert result.ranked().policies[0] is logged
    written = result.to_dict()["policies"][0]
    assert (written["kind"], written["cost"], written["events"]) == ("log", 16.0, None)


def test_results_by_cluster_type_and_size_are_those_of_their_tasks():
    rows = [
        (0, "a", "x", 1, 2.0, 1.0),
        (0, "b", "x", 2, 4.0, 3.0),
        (1, "b", "y", 4, 1.0, 9.0),
        (2, "b", "y", 3, 1.0, 10.0),
    ]
    clusters = clusters_from_dict(
        {
            "format": "lpsched-clusters/1", "name": "log", "waiting": {"measure": "seconds"}, "unit": "gpu",
            "clusters": [{"name": "a", "nodes": 4}, {"name": "b", "nodes": 4}],
            "task_types": [{"name": "x, a"}, {"name": "x, b"}, {"name": "y, b"}],
            "seconds": {"x, a": {"a": 1.0}, "x, b": {"b": 1.0}, "y, b": {"b": 1.0}},
            "tasks": [
                {"arrival_seconds": a, "task_type": f"{t}, {c}", "cores": q, "work": r, "logged_start_seconds": s}
                for a, c, t, q, r, s in rows
            ],
        }
    )  # fmt: skip
    logged = simulate(clusters, ["easy"]).policies[0]
    found = {(each.by, each.name): each for each in logged.groups}
    waits = {("cluster", "a"): [1], ("cluster", "b"): [3, 8, 8], ("task type", "x, a"): [1], ("task type", "x, b"): [3]}
    waits |= {("task type", "y, b"): [8, 8], ("size", "1 GPU"): [1], ("size", "2 GPUs"): [3]}
    waits[("size", "3-4 GPUs")] = [8, 8]
    assert {key: (each.tasks, each.cost) for key, each in found.items()} == {
        key: (len(own), sum(own)) for key, own in waits.items()
    }
    for key, own in waits.items():
        assert found[key].mean_wait_seconds == pytest.approx(sum(own) / len(own), rel=1e-12)
        assert found[key].percentile_95_wait_seconds == max(own)
