"""Conservative and EASY backfilling, on counts and on particular nodes, multiple queues and random, by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lpsched.online.arrays import cluster_arrays
from lpsched.online.cluster_policies import FirstStates, cluster_policy, queues_of_kinds
from lpsched.online.parts import Period
from tests.days import decaying
from tests.online.nodes.small import flat, run, starts, times
from tests.parallel import Task, simple_clusters

# 0 has three of four nodes for 10 s. 1 needs four. 2 fits beside 0, but for longer; 3 fits beside 0 and in time.
GAP = [(0.0, 3, 10.0), (0.0, 4, 10.0), (0.0, 1, 15.0), (0.0, 1, 10.0)]


def worth(*tasks):
    return [Task(arrival, cores, decaying(1.0), task_type=i) for arrival, cores, i in tasks]


def by(name, clusters, **options):
    return run(clusters, policy=cluster_policy(name), **options)


@pytest.mark.parametrize("suffix", ["", "-nodes"])
def test_conservative_reserves_for_all_in_order_and_fills_gaps(suffix):
    assert times(by(f"conservative{suffix}", flat(GAP))) == {0: 0.0, 1: 10.0, 2: 20.0, 3: 0.0}


@pytest.mark.parametrize("suffix", ["", "-nodes"])
def test_easy_reserves_for_the_first_that_cannot_start_and_for_no_other(suffix):
    # 1 is reserved at 10 s. 2 would delay it. Two more of four nodes: at 20 s 2 starts and the next is reserved (35 s).
    tasks = [*GAP, (0.0, 4, 10.0)]
    made = by(f"easy{suffix}", flat(tasks))
    assert times(made) == {0: 0.0, 1: 10.0, 2: 20.0, 3: 0.0, 4: 35.0}
    # Conservative promises 4 its start at 35 s as well; a task of one node and 15 s that comes at 12 s goes before it.
    later = [*tasks, (12.0, 1, 15.0)]
    assert times(by(f"easy{suffix}", flat(later)))[5] == 20.0
    assert times(by(f"conservative{suffix}", flat(later)))[5] == 20.0


@pytest.mark.parametrize("suffix", ["", "-nodes"])
def test_under_easy_who_comes_later_may_delay_all_but_the_head(suffix):
    # 1 is the head (10 s). 2 needs four nodes too: no reservation. 3 comes at 1 s: one node for 9 s, in the gap. 4 comes
    # at 11 s: 2 is the head by then, reserved at 20 s, and 4, one node for 100 s, must not delay it: 30 s.
    tasks = [(0.0, 3, 10.0), (0.0, 4, 10.0), (0.0, 4, 10.0), (1.0, 1, 9.0), (11.0, 1, 100.0)]
    assert times(by(f"easy{suffix}", flat(tasks))) == {0: 0.0, 1: 10.0, 2: 20.0, 3: 1.0, 4: 30.0}
    # A task of one node for 100 s that comes at 1 s would start before 2 under EASY only if it fitted beside 1.
    tasks = [(0.0, 2, 10.0), (0.0, 3, 10.0), (0.0, 4, 10.0), (1.0, 1, 100.0)]
    assert times(by(f"easy{suffix}", flat(tasks))) == {0: 0.0, 1: 10.0, 3: 1.0, 2: 101.0}
    assert times(by(f"conservative{suffix}", flat(tasks))) == {0: 0.0, 1: 10.0, 2: 20.0, 3: 30.0}


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_where_a_reservation_holds_particular_nodes_others_wait_that_a_number_of_nodes_lets_start(name):
    # 0 has three of five nodes until 100 s, 1 the fourth until 50 s. 2 needs four: reserved at 100 s on these four, since
    # the fourth has the shorter void. 3 has the fifth until 90 s. At 60 s the fourth is idle, and 4 needs one node: with
    # it there, the three and the fifth would still be free for 2 at 100 s, so the published algorithms start 4 at 60 s.
    tasks = [(0.0, 3, 100.0), (0.0, 1, 50.0), (0.0, 4, 10.0), (0.0, 1, 90.0), (60.0, 1, 1000.0)]
    assert times(by(name, flat(tasks, nodes=5)))[4] == 60.0
    assert times(by(f"{name}-nodes", flat(tasks, nodes=5)))[4] == 90.0


@pytest.mark.parametrize("name", ["conservative", "conservative-nodes"])
def test_the_cluster_where_a_task_can_start_first_is_taken_and_of_equals_the_lowest(name):
    tasks = worth((0.0, 2, 0), (0.0, 2, 0), (0.0, 2, 0))
    made = by(name, simple_clusters([[10.0, 4.0]], [2, 2], tasks))
    assert [(each.task, each.cluster, each.start_seconds) for each in made.schedule.placed] == [
        (0, "c0", 0.0), (1, "c1", 0.0), (2, "c1", 4.0),
    ]  # fmt: skip


def test_the_first_p_state_that_can_run_is_taken():
    tasks = worth((0.0, 1, 0), (0.0, 1, 1))
    clusters = simple_clusters([[9.0, 2.0], [None, 5.0]], [4], tasks, p_states=[("P0", "P1")])
    for name in ("conservative", "easy", "conservative-nodes", "easy-nodes", "multiple-queues"):
        assert [each.p_state for each in by(name, clusters).schedule.placed] == ["P0", "P1"]


def test_what_cannot_start_before_the_day_ends_waits_and_lets_others_pass():
    # 15 s in all: 1 would start at 10 s, 2 at 20 s; 3 fits beside 0.
    tasks = [(0.0, 3, 10.0), (0.0, 4, 10.0), (0.0, 4, 10.0), (0.0, 1, 10.0)]
    clusters = flat(tasks, period=Period(0.0, 15.0))
    for name in ("conservative", "easy", "conservative-nodes", "easy-nodes", "multiple-queues"):
        assert times(by(name, clusters)) == {0: 0.0, 1: 10.0, 3: 0.0}


def test_a_task_without_energy_where_it_can_start_first_goes_elsewhere():
    # 100 J: on c0 the task would take 200 J, on c1 80.
    clusters = simple_clusters(
        [[10.0, 8.0]], [2, 2], worth((0.0, 1, 0)), watts=[[20.0, 10.0]],
        period=Period(0.0, 50.0, energy_constraint_joules=100.0),
    )  # fmt: skip
    for name in ("conservative", "easy", "fcfs", "conservative-nodes", "easy-nodes"):
        made = by(name, clusters)
        assert [each.cluster for each in made.schedule.placed] == ["c1"]
        assert made.rejected == 0


def test_queues_are_cut_at_30_and_60_percent_of_the_kind_that_needs_most():
    # Core-seconds, the mean over clusters: type 0: (10 x 4 + 20 x 4) / 2 = 60, type 1: 100, type 2: 30, type 3: 29.
    seconds = [[10.0, 20.0], [25.0, None], [7.5, None], [7.25, None]]
    tasks = worth((0.0, 4, 0), (0.0, 4, 1), (0.0, 4, 2), (0.0, 4, 3))
    arrays = cluster_arrays(simple_clusters(seconds, [4, 4], tasks))
    assert queues_of_kinds(arrays, FirstStates.of(arrays)).tolist() == [1, 0, 1, 2]


def test_queues_take_turns_one_large_four_medium_eight_small():
    # One node; seconds 10, 5, 1: large, medium, small. All arrive at once: 3 small first by number, then the others.
    tasks = worth(*[(0.0, 1, 2)] * 9, *[(0.0, 1, 1)] * 5, *[(0.0, 1, 0)] * 2)
    clusters = simple_clusters([[10.0], [5.0], [1.0]], [1], tasks)
    order = [each.task for each in by("multiple-queues", clusters).schedule.placed]
    assert order == [14, 9, 10, 11, 12, 0, 1, 2, 3, 4, 5, 6, 7, 15, 13, 8]


def test_random_takes_every_cluster_and_p_state_that_can_run_and_no_other():
    tasks = worth(*[(float(n), 1, 0) for n in range(300)])
    clusters = simple_clusters([[1.0, 1.0, None, 1.0]], [1, 1], tasks, p_states=[("P0", "P1"), ("P0", "P1")])
    made = by("random", clusters)
    counts = Counter((each.cluster, each.p_state) for each in made.schedule.placed)
    # Clusters are equally likely, then their P-states: 75, 75 and 150 of 300 are expected, 100 each if columns were equally likely.
    assert sorted(counts) == [("c0", "P0"), ("c0", "P1"), ("c1", "P1")]
    assert 120 <= counts["c1", "P1"] <= 180


@pytest.mark.parametrize(
    "name", ["random", "conservative", "easy", "conservative-nodes", "easy-nodes", "multiple-queues"]
)
def test_the_same_seed_gives_the_same_day(name):
    rng = np.random.default_rng(1)
    tasks = [
        Task(float(arrival), int(cores), decaying(1.0), work=float(work), requested=float(2 * work))
        for arrival, cores, work in zip(range(30), rng.integers(1, 5, 30), rng.uniform(1, 20, 30), strict=True)
    ]
    clusters = simple_clusters([[1.0, 2.0]], [4, 6], tasks)
    assert starts(by(name, clusters, seed=5)) == starts(by(name, clusters, seed=5))
