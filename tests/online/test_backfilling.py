"""FCFS, EASY and conservative backfilling on counts of nodes: equal to their definitions job by job, and by hand."""

from __future__ import annotations

import math
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lpsched.online.arrays import cluster_arrays
from lpsched.online.cluster_policies import PLAN_MEMORY, cluster_policy
from lpsched.online.nodes.state import ClusterPolicy, Placement
from lpsched.online.parts import Period
from lpsched.online.utility import WaitingCost
from lpsched.traces.swf import clusters_of_swf, read_swf
from models.backfilling import POLICIES
from tests.days import decaying
from tests.online.nodes.small import Seen, first_come, flat, run, times
from tests.parallel import Task, simple_clusters

BATCH = 50  # logs
WAIT = WaitingCost("seconds")
NASA = "LPSCHED_NASA_LOG"  # where NASA's log is
LOADED_JOBS = 600


def by(name, clusters, **options):
    """Return when each task starts under a policy."""
    return times(run(clusters, policy=cluster_policy(name), **options))


def random_log(rng):
    """Return a few jobs with many ties, and how many nodes there are for them."""
    nodes, jobs, span = int(rng.integers(1, 9)), int(rng.integers(1, 25)), int(rng.integers(1, 50))
    second = float(rng.choice([1.0, 0.1]))  # whose multiples are not exact
    ran = rng.integers(1, 12, jobs)
    requested = ran + rng.integers(0, 12, jobs) * rng.integers(0, 2, jobs)
    columns = np.sort(rng.integers(0, span, jobs)), rng.integers(1, nodes + 1, jobs), ran, requested
    rows = zip(*(each.tolist() for each in columns), strict=True)
    return nodes, [(a * second, n, r * second, q * second) for a, n, r, q in rows]


def side_by_side(logs):
    """Return clusters, each with the jobs of one log, and for each task whose job it is: log and place."""
    rows = sorted((job[0], log, place) for log, (_, jobs) in enumerate(logs) for place, job in enumerate(jobs))
    jobs = [(log, *logs[log][1][place]) for _, log, place in rows]
    tasks = [Task(arrival, n, None, log, ran, requested) for log, arrival, n, ran, requested in jobs]
    own = [[1.0 if row == column else None for column in range(len(logs))] for row in range(len(logs))]
    clusters = simple_clusters(own, [nodes for nodes, _ in logs], tasks, waiting=WAIT)
    return clusters, [(log, place) for _, log, place in rows]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", range(20))
def test_on_random_logs_every_job_starts_when_the_definition_says(name, seed):
    # Fifty logs at a time: several clusters with own tasks are scheduled as if each were alone.
    logs = [random_log(np.random.default_rng((seed, log))) for log in range(BATCH)]
    clusters, owners = side_by_side(logs)
    started = by(name, clusters)
    found = [[0.0] * len(jobs) for _, jobs in logs]
    for task, (log, place) in enumerate(owners):
        found[log][place] = started[task]
    assert found == [POLICIES[name](*log) for log in logs]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", range(10))
def test_on_one_cluster_as_well(name, seed):
    nodes, jobs = random_log(np.random.default_rng((seed,)))
    assert by(name, flat(jobs, nodes=nodes)) == dict(enumerate(POLICIES[name](nodes, jobs)))


@pytest.mark.skipif(NASA not in os.environ, reason=f"set {NASA} to where NASA's log is")
@pytest.mark.parametrize("name", POLICIES)
def test_on_nasas_log_every_job_starts_when_the_definition_says(name):
    # As it is, and more loaded, where the log has no requested times: arrivals come sooner, requests are whole hours.
    clusters, _ = clusters_of_swf("nasa", read_swf(Path(os.environ[NASA])))
    arrays = cluster_arrays(clusters)
    of = [each[arrays.kind, 0].tolist() for each in (arrays.nodes, arrays.seconds, arrays.requested_seconds)]
    jobs = list(zip(arrays.arrivals.tolist(), *of, strict=True))
    assert by(name, clusters) == dict(enumerate(POLICIES[name](clusters.nodes, jobs)))
    loaded = [(arrival / 2.0, n, ran, 3600.0 * math.ceil(ran / 3600.0)) for arrival, n, ran, _ in jobs[:LOADED_JOBS]]
    started = by(name, flat(loaded, nodes=clusters.nodes))
    assert started == dict(enumerate(POLICIES[name](clusters.nodes, loaded)))
    assert sum(started[task] > job[0] for task, job in enumerate(loaded)) > LOADED_JOBS / 2  # have waited


# By hand.

# Five nodes. 0 ends after 2 s, though 42 s were requested; 1 has the other four until 42 s; 2 is the head and needs four.
FOUR_JOBS = [(0.0, 1, 2.0, 42.0), (0.0, 4, 42.0, 42.0), (1.0, 4, 10.0, 10.0), (1.0, 1, 100.0, 100.0)]


def test_a_job_that_fits_on_the_extra_nodes_is_backfilled_though_particular_nodes_would_be_reserved():
    # At 2 s one node is idle. At 42 s all five are free by the requests and the head takes four: one is extra, for 3.
    clusters = flat(FOUR_JOBS, nodes=5)
    assert by("easy", clusters) == by("conservative", clusters) == {0: 0.0, 1: 0.0, 2: 42.0, 3: 2.0}
    # The head's reservation of the four lowest nodes includes the idle one, and 3 has to wait for the fifth.
    assert by("easy-nodes", clusters) == by("conservative-nodes", clusters) == {0: 0.0, 1: 0.0, 2: 42.0, 3: 42.0}
    assert by("fcfs", clusters) == {0: 0.0, 1: 0.0, 2: 42.0, 3: 42.0}  # beside 2, when that has started


def test_under_easy_the_shadow_time_itself_is_in_time_and_extra_nodes_are_used_up():
    # Six nodes: 0 has four until 10 s. 1 needs five: shadow time 10 s, one extra node. A task that ends at 10 s may have
    # both idle nodes, a longer one may not. Of two with one node each that run longer one has the extra node, the other
    # takes the same node after it, at 11 s.
    head = [(0.0, 4, 10.0), (0.0, 5, 5.0)]
    assert by("easy", flat([*head, (0.0, 2, 10.0)], nodes=6))[2] == 0.0
    assert by("easy", flat([*head, (0.0, 2, 10.5)], nodes=6))[2] == 15.0
    both = by("easy", flat([*head, (0.0, 1, 11.0), (0.0, 1, 11.0)], nodes=6))
    assert both == {0: 0.0, 1: 10.0, 2: 0.0, 3: 11.0}


def test_conservative_looks_at_reservations_once_and_one_may_be_due_when_nothing_else_happens():
    # Two nodes. 0 has both until 5 s, 6 s were requested: 1 and 3 are reserved side by side from 6 to 11 s, and between
    # them in the order of arrival 2, which needs both nodes: 11 s. At 5 s 1 moves to 5 s; 2 finds 3 still at 6 s and stays;
    # 3 moves to 5 s. Both end at 10 s, and 2 starts at 11 s.
    jobs = [(0.0, 2, 5.0, 6.0), (0.0, 1, 5.0, 5.0), (1.0, 2, 3.0, 3.0), (1.0, 1, 5.0, 5.0)]
    made = run(flat(jobs, nodes=2), policy=cluster_policy("conservative"))
    assert times(made) == {0: 0.0, 1: 5.0, 3: 5.0, 2: 11.0}
    assert made.event_at.tolist() == [0.0, 1.0, 5.0, 10.0, 11.0]


def test_equal_arrivals_go_by_the_order_of_the_log_and_a_task_that_ends_makes_room_for_one_that_arrives():
    # 0 ends at 10 s, as 1 and 2 arrive, each for all nodes.
    jobs = [(0.0, 4, 10.0), (10.0, 4, 5.0), (10.0, 4, 3.0)]
    for name in POLICIES.keys() - {"sjf"}:
        assert by(name, flat(jobs)) == {0: 0.0, 1: 10.0, 2: 15.0}
    assert by("sjf", flat(jobs)) == {0: 0.0, 1: 13.0, 2: 10.0}
    assert by("sjf", flat([*jobs[:2], (10.0, 4, 5.0)])) == {0: 0.0, 1: 10.0, 2: 15.0}  # equally short ones


# Tasks that may run on several clusters.


def shared(tasks, seconds, nodes, **others):
    """Return clusters of tasks (arrival, nodes, task type); `seconds` has a row for each type."""
    made = [Task(arrival, need, decaying(1.0), task_type=kind) for arrival, need, kind in tasks]
    return simple_clusters(seconds, nodes, made, **others)


def test_fcfs_lets_a_task_block_all_clusters_that_it_may_run_on_and_no_other():
    # Types: 0 on c0, 1 on c1, 2 on both, 3 on c2. At 1 s the task of both clusters does not fit on either, and those behind
    # it wait, though a node of c1 is idle; the one on c2 starts.
    seconds = [[10.0, None, None], [None, 20.0, None], [5.0, 5.0, None], [None, None, 5.0]]
    clusters = shared([(0.0, 2, 0), (0.0, 1, 1), (1.0, 2, 2), (1.0, 1, 1), (1.0, 1, 3)], seconds, [2, 2, 2])
    assert by("fcfs", clusters) == {0: 0.0, 1: 0.0, 2: 10.0, 3: 10.0, 4: 1.0}


def test_under_easy_each_cluster_has_one_head_where_it_can_start_first():
    # Both clusters are full, c0 until 10 s, c1 until 20 s. 2 may run on both: head of c0. 3 likewise: c0 has its head, so
    # head of c1. 4 would run on c0 for 10 s: not before 2, as nothing is extra. At 10 s 2 starts on c0; 3 is the head of c0
    # then, at 15 s.
    seconds = [[10.0, None], [None, 20.0], [5.0, 5.0]]
    clusters = shared([(0.0, 2, 0), (0.0, 2, 1), (1.0, 2, 2), (1.0, 2, 2), (1.0, 1, 0)], seconds, [2, 2])
    assert by("easy", clusters) == {0: 0.0, 1: 0.0, 2: 10.0, 3: 15.0, 4: 20.0}


def test_a_task_starts_in_the_first_cluster_in_which_it_may_and_conservative_reserves_where_it_can_start_first():
    seconds = [[10.0, 4.0]]
    clusters = shared([(0.0, 2, 0)] * 4, seconds, [2, 2])
    for name in ("fcfs", "easy"):  # 2 starts when c1 is free again, and 3 after it
        assert by(name, clusters) == {0: 0.0, 1: 0.0, 2: 4.0, 3: 8.0}
    assert by("conservative", clusters) == {0: 0.0, 1: 0.0, 2: 4.0, 3: 8.0}


# Energy, the end of the day, and a grid of scheduling events.


def test_a_task_without_energy_is_passed_over_and_blocks_nothing():
    # 100 J: 0 takes 40 J, 1 would take 80 J, 2 takes 40 J.
    tasks = [(0.0, 2, 4.0), (0.0, 4, 8.0), (0.0, 4, 4.0)]
    clusters = flat(tasks, watts=10.0, period=Period(0.0, 100.0, energy_constraint_joules=100.0))
    for name in POLICIES:
        made = run(clusters, policy=cluster_policy(name))
        assert times(made) == {0: 0.0, 2: 4.0}
        assert made.rejected == 0


def test_the_energy_of_a_reservation_is_set_aside():
    # 100 J at 10 W a task: 0 takes 40 J, 1 waits for its nodes with 50 J: 10 J are left, for 3 and not for 2.
    tasks = [(0.0, 3, 4.0), (0.0, 4, 5.0), (0.0, 1, 2.0), (0.0, 1, 1.0)]
    clusters = flat(tasks, watts=10.0, period=Period(0.0, 100.0, energy_constraint_joules=100.0))
    for name in ("easy", "conservative"):
        assert by(name, clusters) == {0: 0.0, 1: 4.0, 3: 0.0}


def test_on_a_grid_tasks_start_at_its_points_and_what_is_overdue_is_planned_anew():
    # Every 10 s. At 10 s 0 starts, until 22 s, and beside it 2; 1 needs all four nodes: planned for 22 s, 3 for 32 s. At
    # 30 s 1 starts, and 3 can no longer start at 32 s: at 40 s.
    tasks = [(0.0, 3, 12.0), (0.0, 4, 10.0), (0.0, 1, 12.0), (0.0, 1, 30.0)]
    for name in ("easy", "conservative"):
        assert by(name, flat(tasks), every_seconds=10.0) == {0: 10.0, 2: 10.0, 1: 30.0, 3: 40.0}


@pytest.mark.parametrize("every", [None, 3.0, 10.0])
@pytest.mark.parametrize("seed", range(6))
def test_under_conservative_the_first_in_the_queue_is_never_put_off_and_no_reservation_is_unless_by_a_grid(seed, every):
    nodes, jobs = random_log(np.random.default_rng((seed, 1)))
    promised = []

    def remembering(state, rng):
        made = cluster_policy("conservative").place(state, rng)
        plan = state.memory[PLAN_MEMORY]
        promised.append((state.now, dict(zip(plan.tasks.tolist(), plan.starts.tolist(), strict=True))))
        return made

    policy = ClusterPolicy("remembering", remembering, drops=False, filtered=False)
    started = times(run(flat(jobs, nodes=nodes), policy=policy, every_seconds=every))
    assert len(started) == len(jobs)
    for (_, before), (now, after) in pairwise(promised):
        for place, task in enumerate(after):
            was_first = task in before and task == next(iter(before))
            if task in before and (every is None or (place == 0 and was_first and before[task] >= now)):
                assert after[task] <= before[task]


# Planned starts.


def planning(at):
    """Return a policy that plans the start of its first task, and starts everything then."""

    def place(state, rng):
        if state.now < at:
            return [Placement(int(state.tasks[0]), 0, at, ())]
        return first_come(state, rng)

    return place


def test_a_planned_start_holds_nothing_and_brings_an_event():
    seen = Seen(planning(7.0))
    made = run(flat([(0.0, 4, 10.0), (2.0, 4, 10.0)]), seen)
    assert made.event_at.tolist() == [0.0, 2.0, 7.0]
    assert [state.tasks.tolist() for state in seen.states] == [[0], [0, 1], [0, 1]]
    assert all(state.profiles[0].free_nodes(state.now) == 4 and state.reservations == 0 for state in seen.states)
    assert times(made) == {0: 7.0, 1: 17.0}


def test_on_a_grid_a_planned_start_brings_the_next_point_however_far_it_is():
    assert times(run(flat([(0.0, 4, 10.0)]), planning(7.0), every_seconds=5.0)) == {0: 10.0}
    far = run(flat([(0.0, 4, 10.0)]), planning(1e6), every_seconds=5.0)
    assert (times(far), far.event_at.tolist()) == ({0: 1e6}, [5.0, 1e6])


@pytest.mark.parametrize("name", POLICIES)
def test_a_run_too_short_for_the_clock_harms_none(name):
    # At 1e9 s a run of 1e-9 s takes no time in doubles; the others start beside it or when it has ended.
    jobs = [(1e9, 4, 1e-9), (1e9, 4, 1e-9), (1e9, 3, 10.0), (1e9, 2, 1e-9), (1e9, 1, 5.0)]
    started = by(name, flat(jobs))
    assert started.keys() == {0, 1, 2, 3, 4}
    assert started[0] == started[1] == started[2] == 1e9
