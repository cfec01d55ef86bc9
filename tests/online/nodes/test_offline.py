"""Schedules of clusters that know all tasks: list scheduling as defined, orders tried, and what comes of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.compare.simulations import simulate
from lpsched.online.nodes.offline import BY_END, BY_START, NodeTasks, list_scheduled, offline_schedule
from lpsched.online.utility import WaitingCost
from lpsched.online.verify.clusters import ClustersAccount
from tests.parallel import Task, simple_clusters
from tests.simulated_clusters import three_tasks

HORIZON = 200  # seconds


def random_jobs(rng, count, nodes):
    """Return jobs of whole seconds: (arrival, nodes, run)."""
    rows = zip(
        np.sort(rng.integers(0, 12, count)), rng.integers(1, nodes + 1, count), rng.integers(1, 9, count), strict=True
    )
    return [(float(a), int(n), float(r)) for a, n, r in rows]


def waiting(jobs, nodes):
    """Return a cluster with these jobs, each of whose seconds of waiting costs 1."""
    tasks = [Task(arrival, need, None, 0, run, run) for arrival, need, run in jobs]
    return simple_clusters([[1.0]], [nodes], tasks, waiting=WaitingCost("seconds"))


def second_by_second(jobs, order, nodes):
    """Place jobs in an order, each at the first second from which on enough nodes are free for all of its run."""
    free, starts = [nodes] * HORIZON, [0] * len(jobs)
    for job in order:
        arrival, need, run = (int(each) for each in jobs[job])
        start = next(s for s in range(arrival, HORIZON) if min(free[s : s + run]) >= need)
        for second in range(start, start + run):
            free[second] -= need
        starts[job] = start
    return starts


@pytest.mark.parametrize("seed", range(8))
def test_list_scheduling_places_each_task_at_its_earliest_time(seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        nodes, count = int(rng.integers(1, 6)), int(rng.integers(1, 15))
        jobs, order = random_jobs(rng, count, nodes), rng.permutation(count)
        arrivals, need, run = (np.array(each) for each in zip(*jobs, strict=True))
        tasks = NodeTasks(np.arange(count), arrivals, need[:, np.newaxis], run[:, np.newaxis], np.array([nodes]))
        starts, where = list_scheduled(tasks, order, np.full(count, -1), BY_START)
        assert starts.tolist() == second_by_second(jobs, order.tolist(), nodes)
        assert not where.any()


def least_cost(jobs, nodes):
    """Return the least sum of waits: some order makes it, since every schedule can be shifted to the left."""
    orders = itertools.permutations(range(len(jobs)))
    return min(
        sum(start - job[0] for start, job in zip(second_by_second(jobs, order, nodes), jobs, strict=True))
        for order in orders
    )


@pytest.mark.parametrize("seed", range(12))
def test_of_a_few_tasks_the_best_order_is_found_and_none_is_below_the_bound(seed):
    rng = np.random.default_rng((seed, 1))
    jobs = random_jobs(rng, 5, 4)
    clusters = waiting(jobs, 4)
    bound = arrival_bound(clusters)
    account = ClustersAccount(clusters, offline_schedule(clusters, bound.prices))
    assert account.violations == ()
    assert -bound.bound <= account.measured.cost == least_cost(jobs, 4)


def test_it_is_no_worse_than_the_schedule_that_it_starts_from():
    rng = np.random.default_rng(3)
    jobs = random_jobs(rng, 60, 5)
    clusters = waiting(jobs, 5)
    result = simulate(clusters, ["sjf", "easy"], bound=True, offline=True)
    sjf, easy, offline = (entry.mean("cost").mean for entry in result.policies)
    assert result.policies[-1].kind == "offline"
    assert offline <= min(sjf, easy)
    assert result.best.name != "offline"  # a schedule, no policy
    again = simulate(clusters, ["sjf"], bound=True, offline=True).policies[-1]
    assert again.schedule == result.policies[-1].schedule


def test_tasks_take_the_cluster_where_they_can_start_first():
    # Kind 0 needs one node of either; kind 1 would need two of the first cluster, which has one.
    need, seconds = np.array([[1, 1], [2, 1]]), np.array([[5.0, 5.0], [3.0, 3.0]])
    tasks = NodeTasks(np.array([0, 0, 1]), np.zeros(3), need, seconds, np.array([1, 1]))
    starts, where = list_scheduled(tasks, np.arange(3), np.full(3, -1), BY_START)
    assert starts.tolist() == [0.0, 0.0, 5.0]
    assert where.tolist() == [0, 1, 1]
    starts, where = list_scheduled(tasks, np.arange(3), np.array([0, 0, -1]), BY_START)  # given for two of them
    assert starts.tolist() == [0.0, 5.0, 0.0]
    assert where.tolist() == [0, 0, 1]


def test_or_where_they_can_end_first():
    tasks = NodeTasks(np.zeros(2, dtype=int), np.zeros(2), np.array([[1, 1]]), np.array([[2.0, 9.0]]), np.array([1, 1]))
    starts, where = list_scheduled(tasks, np.arange(2), np.full(2, -1), BY_END)
    assert starts.tolist() == [0.0, 2.0]
    assert where.tolist() == [0, 0]
    assert list_scheduled(tasks, np.arange(2), np.full(2, -1), BY_START)[1].tolist() == [0, 1]


def several(rng, count):
    """Return clusters of different speeds and sizes, some of which some tasks cannot use."""
    sizes = rng.integers(1, 5, int(rng.integers(2, 4))).tolist()
    seconds = [
        [float(s) if rng.random() < 0.75 else None for s in rng.choice([0.5, 1, 3], len(sizes))] for _ in range(3)
    ]
    for row in seconds:
        row[int(np.argmax(sizes))] = 1.0  # all can run on the largest
    tasks = [
        Task(float(a), int(rng.integers(1, max(sizes) + 1)), None, int(rng.integers(3)), float(r), float(r))
        for a, r in zip(np.sort(rng.integers(0, 2 * count, count)), rng.integers(1, 20, count), strict=True)
    ]
    return simple_clusters(seconds, sizes, tasks, waiting=WaitingCost("seconds"))


@pytest.mark.parametrize("seed", range(6))
def test_on_clusters_of_other_speeds_it_is_no_worse_either(seed):
    for each in range(3):
        clusters = several(np.random.default_rng((seed, each)), 25)
        result = simulate(clusters, ["sjf", "easy"], bound=True, offline=True)
        sjf, easy, offline = (entry.mean("cost").mean for entry in result.policies)
        assert offline <= min(sjf, easy)


def test_clusters_with_utilities_have_none():
    with pytest.raises(InstanceError, match="clusters where waiting has a cost"):
        simulate(three_tasks(), ["easy"], bound=True, offline=True)
