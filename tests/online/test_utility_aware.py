"""What Max Util, UPT, UPR and UPE place at a scheduling event, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.online.cluster_policies import UTILITY_AWARE as POLICIES
from lpsched.online.nodes.state import Placement
from lpsched.online.parts import Period
from tests.days import decaying
from tests.online.nodes.cluster_states import run_plainly, state_of
from tests.parallel import Task, simple_clusters
from tests.selection import PLAIN

max_util, max_upt, max_upr, max_upe = POLICIES.values()
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True, params=["compiled", PLAIN])
def both_ways(request, monkeypatch):
    if request.param == "plain":
        run_plainly(monkeypatch)


def test_each_policy_has_an_objective_of_its_own():
    # One cluster of 4 nodes with 2 cores each; all utilities stay as they are.
    #        nodes  seconds  watts  utility   per s   per core-s   per J
    # t0     4      10       1      8         0.8     0.1          0.8
    # t1     4      2        30     3         1.5     0.1875       0.05
    # t2     1      3        40     2         0.667   0.333        0.0167
    # t3     2      4        0.5    2.5       0.625   0.156        1.25
    clusters = simple_clusters(
        [[10.0], [2.0], [3.0], [4.0]],
        [4],
        [Task(0.0, cores, decaying(most), i) for i, (cores, most) in enumerate([(8, 8.0), (8, 3.0), (2, 2.0), (4, 2.5)])],
        watts=[[1.0], [30.0], [40.0], [0.5]],
        cores_per_node=[2],
    )  # fmt: skip
    first = {name: policy(state_of(clusters), RNG)[0].task for name, policy in POLICIES.items()}
    assert first == {"max-util": 0, "max-upt": 1, "max-upr": 2, "max-upe": 3}


def test_what_comes_later_goes_around_what_was_placed():
    # Two nodes: t0 takes one for 10 s, t1 both from 10 s on, t2 fits beside t0, t3 (11 s) only behind t1.
    clusters = simple_clusters(
        [[10.0], [5.0], [10.0], [11.0]],
        [2],
        [
            Task(0.0, cores, decaying(most), i)
            for i, (cores, most) in enumerate([(1, 8.0), (2, 7.0), (1, 6.0), (1, 5.0)])
        ],
    )
    assert max_util(state_of(clusters), RNG) == [
        Placement(0, 0, 0.0, ((0, 1),)),
        Placement(1, 0, 10.0, ((0, 2),)),
        Placement(2, 0, 0.0, ((1, 2),)),
        Placement(3, 0, 15.0, ((0, 1),)),
    ]
    # Nothing but t0 and t2 can start before the next event at 9 s: t3 need not be decided.
    assert len(max_util(state_of(clusters, until=9.0), RNG)) == 3
    assert len(max_util(state_of(clusters, until=10.0), RNG)) == 3
    assert len(max_util(state_of(clusters, until=15.0), RNG)) == 4


def test_where_no_node_is_free_soon_nothing_is_decided():
    clusters = simple_clusters([[10.0]], [2], [Task(0.0, 1, decaying(8.0))])
    state = state_of(clusters, until=5.0)
    state.profiles[0].insert(9, 0.0, 6.0, ((0, 2),))
    assert max_util(state, RNG) == []
    assert max_util(replace(state, until=6.0), RNG) == [Placement(0, 0, 6.0, ((0, 1),))]


def test_a_task_that_earns_nothing_waits():
    clusters = simple_clusters([[10.0]], [2], [Task(0.0, 1, decaying(8.0, until=9.0)), Task(0.0, 1, decaying(1.0))])
    assert [each.task for each in max_util(state_of(clusters), RNG)] == [1]


def test_what_takes_no_energy_is_worth_most_to_max_upe_and_equals_go_by_number():
    clusters = simple_clusters(
        [[10.0, 10.0], [5.0, 5.0]],
        [1, 1],
        [Task(0.0, 1, decaying(8.0), 1), Task(0.0, 1, decaying(1.0), 0), Task(0.0, 1, decaying(9.0), 0)],
        watts=[[0.0, 0.0], [1.0, 1.0]],
    )
    found = [(each.task, each.column, each.start) for each in max_upe(state_of(clusters), RNG)]
    # Tasks 1 and 2 take nothing, in the first column both, though the second is free: infinite is infinite.
    assert found == [(1, 0, 0.0), (2, 0, 10.0), (0, 0, 20.0)]


def test_nothing_starts_at_the_end_of_the_day_and_energy_counts_until_then():
    # One node, 10 s and 10 W each: until the end at 15 s the second of two takes 50 J.
    clusters = simple_clusters(
        [[10.0]],
        [1],
        [Task(0.0, 1, decaying(most)) for most in (3.0, 2.0, 1.0)],
        watts=[[10.0]],
        period=Period(length_seconds=15.0),
    )
    placed = [(0, 0.0), (1, 10.0)]
    for energy, count in ((150.0, 2), (149.0, 1), (100.0, 1), (99.0, 0)):
        found = [(each.task, each.start) for each in max_util(state_of(clusters, energy_left=energy), RNG)]
        assert found == placed[:count]


def test_a_run_that_had_too_little_energy_may_fit_later_in_the_day():
    # Two nodes, the day ends at 15 s, 120 J. t0 (utility 8, both nodes, 10 s, 1 W) takes 10 J. t1 (utility 9,
    # both nodes, 10 s, 20 W) would take 200 J at 0 s, but behind t0 100 J until the end, and 110 J are left.
    clusters = simple_clusters(
        [[10.0], [10.0]],
        [2],
        [Task(0.0, 2, decaying(8.0), 0), Task(0.0, 2, decaying(9.0), 1)],
        watts=[[1.0], [20.0]],
        period=Period(length_seconds=15.0),
    )
    found = max_util(state_of(clusters, energy_left=120.0), RNG)
    assert [(each.task, each.start) for each in found] == [(0, 0.0), (1, 10.0)]
    assert len(max_util(state_of(clusters, energy_left=109.0), RNG)) == 1


def test_plans_go_by_what_was_requested():
    # It runs 10 s but asks for 40: the second one, placed behind, starts at 40 s.
    clusters = simple_clusters([[10.0]], [1], [Task(0.0, 1, decaying(8.0), requested=4.0)] * 2)
    assert [each.start for each in max_util(state_of(clusters), RNG)] == [0.0, 40.0]


@pytest.mark.parametrize("policy", [max_upt, max_upr, max_upe])
def test_objectives_go_by_what_was_requested(policy):
    # 8 over 10 s would be more than 8 over 20 s, but 40 s were asked for; at 1 W and one core all the same.
    tasks = [Task(0.0, 1, decaying(8.0), requested=4.0), Task(0.0, 1, decaying(8.0), 1)]
    clusters = simple_clusters([[10.0], [20.0]], [1], tasks, watts=[[1.0], [1.0]])
    assert [each.task for each in policy(state_of(clusters), RNG)] == [1, 0]


def test_a_run_that_takes_no_time_in_doubles_takes_no_node():
    # At 1e17 s a second is less than the distance of two doubles.
    clusters = simple_clusters([[1.0]], [1], [Task(1e17, 1, decaying(8.0))] * 2)
    state = state_of(clusters, now=1e17)
    assert [each.start for each in max_util(state, RNG)] == [1e17, 1e17]


def test_a_run_without_time_leaves_the_nodes_as_they_were():
    # At 1e17 s doubles are 16 s apart. The first task takes 1 s on both nodes, from when the second is free;
    # the other one, which takes 64 s, starts at once all the same.
    clusters = simple_clusters([[1.0], [64.0]], [2], [Task(1e17, 2, decaying(8.0), 0), Task(1e17, 1, decaying(7.0), 1)])
    state = state_of(clusters, now=1e17)
    state.profiles[0].insert(9, 1e17, 1e17 + 32.0, ((1, 2),))
    assert [each.start for each in max_util(state, RNG)] == [1e17 + 32.0, 1e17]


def test_of_no_tasks_nothing_is_placed():
    clusters = simple_clusters([[1.0]], [1], [Task(0.0, 1, decaying(8.0))])
    state = state_of(clusters)
    assert max_upr(replace(state, tasks=state.tasks[:0], allowed=state.allowed[:0]), RNG) == []
