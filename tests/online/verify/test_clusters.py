"""The verifier of schedules of clusters, by hand, and each rule broken singly."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lpsched.online.parts import Period
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.utility import WaitingCost
from lpsched.online.verify.clusters import ClusterRuns, ClustersAccount, examine
from tests.days import decaying
from tests.parallel import Task, simple_clusters

# c0 has 4 nodes of 2 cores, c1 has 3 nodes of 1 core with two P-states.
# Type t0: on c0 10 s at 5 W on one node, 6 s at 9 W on two, 4 s at 20 W on four; on c1 8 s or 16 s, 3 W a node
# or 1 W a node. Type t1 runs only on c1 in P1: 12 s, 2 W a node.
CLUSTERS = simple_clusters(
    [[{1: 10.0, 2: 6.0, 4: 4.0}, {1: 8.0, 3: 8.0}, {1: 16.0, 3: 16.0}], [None, None, {1: 12.0, 3: 12.0}]],
    [4, 3],
    [
        Task(0.0, 3, decaying(8.0, until=12.0)),  # 2 nodes of c0, or all of c1
        Task(1.0, 6, decaying(3.0, 0.1)),  # 3 nodes of c0: 5 s at 14.5 W; too many for c1
        Task(2.0, 2, decaying(2.0), task_type=1),
        Task(2.0, 1, decaying(8.0, until=12.0), work=2.0, requested=4.0),
    ],
    watts=[[{1: 5.0, 2: 9.0, 4: 20.0}, {1: 3.0, 3: 9.0}, {1: 1.0, 3: 3.0}], [None, None, {1: 2.0, 3: 6.0}]],
    cores_per_node=[2, 1],
    p_states=[None, ("P0", "P1")],
)
VALID = (
    PlacedOnNodes(0, "c0", ((1, 1), (3, 3)), 0.0),
    PlacedOnNodes(1, "c0", ((1, 3),), 6.0),
    PlacedOnNodes(2, "c1", ((2, 3),), 2.5, "P1"),
    PlacedOnNodes(3, "c0", ((4, 4),), 4.0),
)


def measure(clusters, schedule):
    return examine(clusters, schedule).require_measured()


def violations(clusters, schedule):
    return examine(clusters, schedule).violations


def codes(*placed):
    return [each.code for each in violations(CLUSTERS, ClustersSchedule(placed))]


def test_everything_measured_is_what_was_worked_out_on_paper():
    # Task 0: 0 to 6 s on 2 nodes of c0, 9 W: 54 J; 8, for 6 s are within its 12. Task 1: 6 to 11 s on 3 nodes,
    # half way between 9 and 20 W: 72.5 J; 3 exp(-1) after 10 s. Task 2: 2.5 to 14.5 s on 2 nodes of c1 at
    # 4 W: 48 J; 2. Task 3: twice 10 s from 4 to 24 s on 1 node at 5 W: 100 J; nothing, 22 s are too late.
    measured = measure(CLUSTERS, ClustersSchedule(VALID))
    assert measured.utility == pytest.approx(10.0 + 3.0 * math.exp(-1.0), rel=1e-15)
    assert (measured.energy_joules, measured.makespan_seconds) == (274.5, 24.0)
    assert (measured.completed, measured.dropped, measured.cost) == (4, 0, None)
    # c0 is busy for 2 x 6 + 3 x 5 + 20 = 47 of 4 x 24 node-seconds, c1 for 2 x 12 = 24 of 3 x 24;
    # in all 2 x 47 + 24 = 118 of 11 x 24 core-seconds.
    assert measured.utilisation_by_cluster == (47 / 96, 24 / 72)
    assert measured.utilisation == 118 / 264
    # waits of 0, 5, 0.5 and 2 s; with runs of 6, 5, 12 and 20 s
    waits = measured.waits
    assert (waits.tasks, waits.mean_seconds, waits.median_seconds) == (4, 7.5 / 4, 1.25)
    assert (waits.percentile_95_seconds, waits.longest_seconds) == (5.0, 5.0)
    assert waits.mean_slowdown == pytest.approx((1.0 + 2.0 + 12.5 / 12.0 + 1.1) / 4, rel=1e-15)
    # bounded by 10 s: 6 of 10 is 1, 10 of 10 is 1
    assert waits.mean_bounded_slowdown == pytest.approx((1.0 + 1.0 + 12.5 / 12.0 + 1.1) / 4, rel=1e-15)


def test_a_slow_start_of_a_short_task_counts_in_both_slowdowns():
    # It waits 18 s and runs 2 s: slowdown 10; of at least 10 s: 2.
    clusters = simple_clusters([[2.0]], [1], [Task(0.0, 1, decaying(1.0))])
    waits = measure(clusters, ClustersSchedule((PlacedOnNodes(0, "c0", ((1, 1),), 18.0),))).waits
    assert (waits.mean_slowdown, waits.mean_bounded_slowdown) == (10.0, 2.0)


def test_the_order_of_rows_and_of_ranges_does_not_matter():
    turned = [replace(each, nodes=each.nodes[::-1]) for each in VALID[::-1]]
    assert measure(CLUSTERS, ClustersSchedule(tuple(turned))) == measure(CLUSTERS, ClustersSchedule(VALID))


def test_a_task_that_is_not_placed_is_dropped_and_takes_nothing():
    measured = measure(CLUSTERS, ClustersSchedule(VALID[:1]))
    assert (measured.utility, measured.energy_joules, measured.makespan_seconds) == (8.0, 54.0, 6.0)
    assert (measured.completed, measured.dropped, measured.waits.tasks) == (1, 3, 1)


def test_nothing_at_all_is_a_schedule():
    measured = measure(CLUSTERS, ClustersSchedule(()))
    assert (measured.utility, measured.energy_joules, measured.makespan_seconds) == (0.0, 0.0, None)
    assert (measured.utilisation, measured.utilisation_by_cluster, measured.waits) == (None, (), None)
    assert (measured.completed, measured.dropped) == (0, 4)


def test_without_watts_nobody_knows_the_energy():
    assert measure(CLUSTERS.model_copy(update={"watts": None}), ClustersSchedule(VALID)).energy_joules is None


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        pytest.param({"task": 4}, "unknown-task", "there is no task 4, only 0 to 3", id="one-task-too-many"),
        pytest.param({"task": -1}, "unknown-task", "there is no task -1, only 0 to 3", id="a-negative-number"),
        pytest.param({"task": 0}, "task-twice", "task 0 is placed more than once", id="a-task-runs-twice"),
        pytest.param({"cluster": "c2"}, "unknown-cluster", "task 3: there is no cluster 'c2'", id="no-cluster"),
        pytest.param(
            {"p_state": "P0"}, "unknown-p-state", "task 3: 'c0' has no P-state 'P0', it has none", id="no-such-state"
        ),
        pytest.param(
            {"cluster": "c1"},
            "unknown-p-state",
            "task 3: 'c1' has no P-state None, only 'P0', 'P1'",
            id="a-state-not-told",
        ),
        pytest.param(
            {"nodes": ((5, 5),)},
            "no-such-node",
            "task 3 on nodes 5 of 'c0': there are only nodes 1 to 4",
            id="one-node-too-many",
        ),
        pytest.param(
            {"nodes": ((0, 0),)},
            "no-such-node",
            "task 3 on nodes 0 of 'c0': there are only nodes 1 to 4",
            id="nodes-count-from-one",
        ),
        pytest.param(
            {"nodes": ((4, 5),)},
            "no-such-node",
            "task 3 on nodes 4-5 of 'c0': there are only nodes 1 to 4",
            id="a-range-over-the-end",
        ),
        pytest.param(
            {"nodes": ((4, 3),)},
            "bad-nodes",
            "task 3 on nodes 4-3 of 'c0': a range ends at node 3, before it begins at node 4",
            id="a-range-backwards",
        ),
        pytest.param(
            {"nodes": ((4, 4), (2, 4))},
            "node-twice",
            "task 3 on nodes 4;2-4 of 'c0': node 4 is named twice",
            id="a-node-twice",
        ),
        pytest.param(
            {"nodes": ()},
            "wrong-nodes",
            "task 3 on nodes (none) of 'c0': it takes 0 nodes, but needs 1: 1 cores at 2 a node",
            id="no-nodes",
        ),
        pytest.param(
            {"nodes": ((3, 4),)},
            "wrong-nodes",
            "task 3 on nodes 3-4 of 'c0': it takes 2 nodes, but needs 1: 1 cores at 2 a node",
            id="more-nodes-than-needed",
        ),
        pytest.param(
            {"start_seconds": math.nan},
            "bad-start",
            "task 3 starts at nan s, where 0 to 1e+60 s are times",
            id="not-a-number",
        ),
        pytest.param(
            {"start_seconds": math.inf}, "bad-start", "task 3 starts at inf s, where 0 to 1e+60 s are times", id="never"
        ),
        pytest.param(
            {"start_seconds": -1.0},
            "bad-start",
            "task 3 starts at -1.0 s, where 0 to 1e+60 s are times",
            id="before-all-time",
        ),
        pytest.param(
            {"start_seconds": 1.9},
            "before-arrival",
            "task 3 starts at 1.9 s, but arrives at 2.0 s",
            id="before-it-arrives",
        ),
        pytest.param(
            {"nodes": ((3, 3),), "start_seconds": 10.5},
            "overlap",
            "task 3 on nodes 3 of 'c0' starts at 10.5 s, but task 1 ends there at 11.0 s",
            id="two-at-once",
        ),
    ],
)
def test_each_broken_rule_is_named(change, code, sentence):
    placed = (*VALID[:3], replace(VALID[3], **change))
    found = violations(CLUSTERS, ClustersSchedule(placed))
    assert [(each.code, each.sentence) for each in found] == [(code, sentence)]


def test_a_pair_that_is_absent_or_too_large_cannot_run():
    absent = replace(VALID[2], p_state="P0")
    found = violations(CLUSTERS, ClustersSchedule((absent,)))
    assert [(each.code, each.sentence) for each in found] == [
        ("cannot-run", "task 2 of type 't1', 2 cores, cannot run on 'c1' in P-state 'P0'")
    ]
    large = replace(VALID[1], cluster="c1", nodes=((1, 3),), p_state="P0")
    assert codes(large) == ["cannot-run"]


def test_a_task_overlaps_each_other_task_once_and_is_told_by_whom():
    # Task 1 starts on nodes 1 to 3 while task 0 holds 1 and 3 until 6 s, and a task 3 node 2 until 22 s.
    placed = (VALID[0], replace(VALID[3], nodes=((2, 2),), start_seconds=2.0), replace(VALID[1], start_seconds=5.0))
    found = violations(CLUSTERS, ClustersSchedule(placed))
    assert [each.sentence for each in found] == [
        "task 1 on nodes 1 of 'c0' starts at 5.0 s, but task 0 ends there at 6.0 s",
        "task 1 on nodes 2 of 'c0' starts at 5.0 s, but task 3 ends there at 22.0 s",
    ]


def test_the_same_nodes_of_another_cluster_are_other_nodes():
    one = replace(VALID[0], cluster="c1", nodes=((1, 3),), p_state="P0")
    assert codes(one, replace(VALID[1], start_seconds=1.0)) == []


def test_two_tasks_that_start_together_on_one_node_overlap():
    clusters = simple_clusters([[1.0]], [2], [Task(0.0, 1, decaying(1.0)), Task(0.0, 1, decaying(1.0))])
    both = tuple(PlacedOnNodes(task, "c0", ((1, 1),), 0.0) for task in (0, 1))
    assert [each.code for each in violations(clusters, ClustersSchedule(both))] == ["overlap"]


def test_many_ranges_are_told_in_a_few_words():
    clusters = simple_clusters([[1.0]], [100], [Task(0.0, 9, decaying(1.0))])
    scattered = tuple((node, node) for node in range(1, 20, 2))
    found = violations(clusters, ClustersSchedule((PlacedOnNodes(0, "c0", scattered, 0.0),)))
    assert found[0].sentence == (
        "task 0 on nodes 1;3;5;7;9;11;... (10 ranges) of 'c0': it takes 10 nodes, but needs 9: 9 cores at 1 a node"
    )


@pytest.mark.parametrize("number", [float, np.float64])
def test_sentences_do_not_tell_who_made_the_numbers(number):
    found = violations(CLUSTERS, ClustersSchedule((replace(VALID[3], start_seconds=number(1.5)),)))
    assert found[0].sentence == "task 3 starts at 1.5 s, but arrives at 2.0 s"


def test_starts_that_were_rounded_are_allowed_but_earn_nothing():
    # Task 1 begins a hair before task 0 ends: it is measured as if it had waited.
    early = replace(VALID[1], start_seconds=math.nextafter(6.0, 0.0))
    changed = ClustersSchedule((VALID[0], early, *VALID[2:]))
    assert measure(CLUSTERS, changed) == measure(CLUSTERS, ClustersSchedule(VALID))
    clusters = simple_clusters([[1.0]], [1], [Task(1e10, 1, decaying(5.0, until=1.5))])
    measured = measure(clusters, run(1e10 - 9.0))
    assert (measured.makespan_seconds, measured.waits.longest_seconds) == (1e10 + 1.0, 0.0)
    assert violations(clusters, run(1e10 - 11.0))[0].code == "before-arrival"


@pytest.mark.parametrize("nodes", [(1, 2), (2, 1)])
def test_a_task_waits_for_the_last_of_its_nodes(nodes):
    # One node is free at 6 s, the other a hair later than told, at 6.000000001 s.
    lengths = [Task(0.0, 1, decaying(1.0), work=6.0), Task(0.0, 1, decaying(1.0), work=6.000000001)]
    clusters = simple_clusters([[1.0]], [2], [*lengths, Task(0.0, 2, decaying(1.0))])
    placed = [PlacedOnNodes(task, "c0", ((node, node),), 0.0) for task, node in enumerate(nodes)]
    placed.append(PlacedOnNodes(2, "c0", ((1, 2),), 6.0))
    assert measure(clusters, ClustersSchedule(tuple(placed))).makespan_seconds == 7.000000001


def test_a_file_of_junk_gives_no_end_of_violations():
    placed = tuple(PlacedOnNodes(7, "c0", ((1, 1),), 0.0) for _ in range(5000))
    assert len(violations(CLUSTERS, ClustersSchedule(placed))) == 1000
    assert len(ClusterRuns(CLUSTERS, ClustersSchedule(placed)).violations) == 1000  # no more are looked for
    many = simple_clusters([[1.0]], [1], [Task(0.0, 1, decaying(1.0))] * 2000)
    together = tuple(PlacedOnNodes(task, "c0", ((1, 1),), 0.0) for task in range(2000))
    assert len(violations(many, ClustersSchedule(together))) == 1000
    waits = simple_clusters([[1.0]], [1], [Task(0.0, 1)] * 2000, waiting=WaitingCost())
    assert len(violations(waits, ClustersSchedule(()))) == 1000


# One cluster of two nodes, tasks of 10 s on one node at 5 W. The period counts from 20 to 100 s.
CUT = simple_clusters(
    [[10.0]], [2], [Task(float(k), 1, decaying(8.0)) for k in range(4)], watts=[[5.0]], cores_per_node=[4]
)
PRORATED = CUT.model_copy(update={"period": Period(20.0, 80.0)})
COMPLETED = CUT.model_copy(update={"period": Period(20.0, 80.0, "completed")})


def run(*starts):
    """Return tasks 0, 1, ... that start then on the first node."""
    return ClustersSchedule(tuple(PlacedOnNodes(n, "c0", ((1, 1),), start) for n, start in enumerate(starts)))


@pytest.mark.parametrize(
    ("start", "prorated", "completed", "busy"),
    [
        # start: utility, joules, completed tasks; 8 utility and 50 J in all; seconds within the period
        (10.0, (0.0, 0.0, 0), (0.0, 0.0, 0), 0.0),
        (12.5, (2.0, 12.5, 1), (8.0, 50.0, 1), 2.5),
        (20.0, (8.0, 50.0, 1), (8.0, 50.0, 1), 10.0),
        (90.0, (8.0, 50.0, 1), (8.0, 50.0, 1), 10.0),
        (95.0, (4.0, 25.0, 0), (0.0, 0.0, 0), 5.0),
    ],
)
def test_utility_energy_and_busy_nodes_count_by_the_period(start, prorated, completed, busy):
    for clusters, expected in ((PRORATED, prorated), (COMPLETED, completed)):
        measured = measure(clusters, run(start))
        assert (measured.utility, measured.energy_joules, measured.completed) == expected
        assert (measured.dropped, measured.makespan_seconds) == (3, start + 10.0)
        assert measured.utilisation == busy / 160.0
        assert measured.waits is None  # it arrived before the period


def test_waits_are_those_of_tasks_that_arrive_in_the_period():
    # Tasks arrive at 0, 1, 2 and 3 s; of the period from 1 to 3 s those at 1 and 2 s.
    clusters = CUT.model_copy(update={"period": Period(1.0, 2.0)})
    placed = [PlacedOnNodes(n, "c0", ((node, node),), start) for n, node, start in ((0, 1, 0.0), (1, 2, 2.5))]
    measured = measure(clusters, ClustersSchedule(tuple(placed)))
    assert (measured.waits.tasks, measured.waits.mean_seconds) == (1, 1.5)


def test_a_warm_up_without_an_end_counts_from_its_end_to_the_last_end():
    # From 5 s to 12 s: one of two nodes from 5 to 12 s. Were the warm-up 1 s: tasks arrive from 0 s on.
    clusters = CUT.model_copy(update={"period": Period(5.0)})
    assert measure(clusters, run(2.0)).utilisation == 0.5
    late = simple_clusters([[10.0]], [1], [Task(30.0, 1, decaying(1.0))], period=Period(5.0))
    assert measure(late, run(40.0)).utilisation == 10.0 / 20.0
    clusters = CUT.model_copy(update={"period": Period(50.0)})
    assert measure(clusters, run(2.0)).utilisation is None


def test_nothing_starts_when_the_period_is_over():
    assert violations(PRORATED, run(math.nextafter(100.0, 0.0))) == ()
    found = violations(PRORATED, run(100.0))
    assert [(each.code, each.sentence) for each in found] == [
        ("starts-after-the-day", "task 0 starts at 100.0 s, but the period that counts ends at 100.0 s")
    ]


@pytest.mark.parametrize(
    ("constraint", "is_valid"), [(62.5, True), (62.5 * (1 - 0.9e-9), True), (62.5 * (1 - 1.1e-9), False)]
)
def test_counted_energy_keeps_the_constraint_but_for_a_billionth(constraint, is_valid):
    # Task 0 counts for a quarter, task 1 wholly: 12.5 + 50 J.
    clusters = CUT.model_copy(update={"period": Period(20.0, 80.0, "prorated", constraint)})
    found = examine(clusters, run(12.5, 30.0))
    assert ([each.code for each in found.violations] == []) is is_valid
    assert (found.measured is not None) is is_valid
    if not is_valid:
        assert found.violations[0].code == "too-much-energy"


def test_traces_credit_utility_at_the_end_and_energy_on_the_way():
    # Task 0 from 12.5 to 22.5 s: a quarter of 8 at 22.5 s, 5 W from 20 s on. Task 1 from 30 to 40 s.
    account = ClustersAccount(PRORATED, run(12.5, 30.0))
    utility, energy = account.traces([36.0, 0.0, 21.0, 22.5, 40.0, 1e6])
    assert utility == (2.0, 0.0, 0.0, 2.0, 10.0, 10.0)
    assert energy == (42.5, 0.0, 5.0, 12.5, 62.5, 62.5)


def test_details_tell_the_naive_figure_and_the_busy_node_seconds():
    # At once where it is fastest: task 0 after 6 s: 8; task 1 after 5 s: 3 exp(-0.5); task 2: 2; task 3 takes
    # 16 s on c1 and is too late.
    found = ClustersAccount(CLUSTERS, ClustersSchedule(VALID)).details()
    assert found.if_none_waits == pytest.approx(10.0 + 3.0 * math.exp(-0.5), rel=1e-15)
    assert found.busy_node_seconds == {"c0": 47.0, "c1": 24.0}
    assert [(each.declared, each.earned) for each in found.utility_by_declaration] == [
        ("u0", 8.0), ("u1", pytest.approx(3.0 * math.exp(-1.0))), ("u2", 2.0)
    ]  # fmt: skip
    assert [each.if_none_waits for each in found.utility_by_declaration] == [
        8.0, pytest.approx(3.0 * math.exp(-0.5)), 2.0
    ]  # fmt: skip
    # Of each task's 10 s from its arrival on, the period from 5 to 7 s has a fifth.
    clusters = CUT.model_copy(update={"period": Period(5.0, 2.0)})
    naive = ClustersAccount(clusters, ClustersSchedule(())).details().if_none_waits
    assert naive == pytest.approx(4 * 8.0 * 0.2)


def test_one_account_goes_through_the_schedule_once(monkeypatch):
    passes = []

    def counted(*given):
        passes.append(given)
        return ClusterRuns(*given)

    monkeypatch.setattr("lpsched.online.verify.clusters.ClusterRuns", counted)
    account = ClustersAccount(CLUSTERS, ClustersSchedule(VALID))
    account.details()
    account.traces([1.0])
    assert len(passes) == 1


# Three tasks on one node: 4 s, 20 s and 4 s long, arriving at 0, 0 and 10 s, of 1, 1 and 1 cores of 2 a node.
def judged_by(waiting):
    tasks = [Task(0.0, 1, work=4.0), Task(0.0, 2, work=20.0), Task(10.0, 1, work=4.0)]
    return simple_clusters([[1.0]], [1], tasks, cores_per_node=[2], waiting=waiting)


ONE_BY_ONE = ClustersSchedule(
    tuple(PlacedOnNodes(n, "c0", ((1, 1),), start) for n, start in enumerate([0.0, 4.0, 24.0]))
)  # waits of 0, 4 and 14 s


@pytest.mark.parametrize(
    ("waiting", "cost", "least"),
    [
        (WaitingCost("seconds"), 18.0, 0.0),
        (WaitingCost("seconds", "cores"), 22.0, 0.0),
        (WaitingCost("seconds", "core-seconds"), 4 * 40.0 + 14 * 4.0, 0.0),
        (WaitingCost("slowdown"), 1.0 + 1.2 + 4.5, 3.0),
        (WaitingCost(), 1.0 + 1.2 + 1.8, 3.0),  # 14 s and 4 s of at least 10 s
        (WaitingCost(at_least_seconds=36.0), 3.0, 3.0),
        (WaitingCost("points", points=((0.0, 1.0), (8.0, 1.0), (12.0, 5.0))), 1.0 + 1.0 + 7.0, 3.0),
    ],
)
def test_waiting_costs_as_the_measure_says(waiting, cost, least):
    account = ClustersAccount(judged_by(waiting), ONE_BY_ONE)
    assert account.violations == ()
    assert account.measured.utility == pytest.approx(-cost, rel=1e-15)
    assert account.measured.cost == -account.measured.utility
    assert (account.measured.completed, account.measured.dropped) == (3, 0)
    assert account.measured.energy_joules is None
    found = account.details()
    assert found.utility_by_declaration == ()
    assert found.if_none_waits == pytest.approx(-least)
    assert account.traces([4.0, 28.0])[0][1] == pytest.approx(-cost)


def test_the_cost_of_waiting_is_never_told_too_low():
    for wait in range(1, 50):
        clusters = simple_clusters([[7.0]], [1], [Task(0.1, 1)], waiting=WaitingCost("slowdown"))
        start = wait + 0.1
        measured = measure(clusters, ClustersSchedule((PlacedOnNodes(0, "c0", ((1, 1),), start),)))
        exact = 1 + Fraction(1.0 / 7.0) * (Fraction(start) - Fraction(0.1))
        assert math.nextafter(-measured.utility, 0.0) < exact <= -measured.utility


def test_where_waiting_is_judged_every_task_has_to_run():
    found = violations(judged_by(WaitingCost()), ClustersSchedule(ONE_BY_ONE.placed[:2]))
    assert [(each.code, each.sentence) for each in found] == [
        ("not-placed", "task 2 is not placed, but what tasks wait is judged, and all have to run")
    ]


def test_the_95th_percentile_is_a_wait_that_95_of_100_are_not_above():
    for count, rank in ((1, 1), (19, 19), (20, 19), (21, 20), (100, 95), (101, 96)):
        clusters = simple_clusters([[1.0]], [count], [Task(0.0, 1, decaying(1.0))] * count)
        placed = tuple(PlacedOnNodes(n, "c0", ((n + 1, n + 1),), float(n + 1)) for n in range(count))
        assert measure(clusters, ClustersSchedule(placed)).waits.percentile_95_seconds == rank


def test_a_million_nodes_are_no_more_work_than_a_few():
    tasks = [Task(0.0, 10**6, decaying(1.0)), Task(0.0, 500_000, decaying(1.0)), Task(0.0, 1, decaying(1.0))]
    clusters = simple_clusters([[5.0]], [10**6], tasks)
    placed = (
        PlacedOnNodes(0, "c0", ((1, 10**6),), 0.0),
        PlacedOnNodes(1, "c0", ((500_001, 10**6),), 5.0),
        PlacedOnNodes(2, "c0", ((500_000, 500_000),), 5.0),
    )
    measured = measure(clusters, ClustersSchedule(placed))
    assert measured.utilisation_by_cluster == ((10**6 * 5 + 500_001 * 5) / (10**6 * 10),)
    wrong = (*placed[:2], replace(placed[2], nodes=((500_001, 500_001),)))
    assert [each.code for each in violations(clusters, ClustersSchedule(wrong))] == ["overlap"]


def test_tasks_scattered_over_many_ranges_are_told_apart():
    # Ten tasks share a thousand nodes: task k takes those whose number is k modulo 10.
    clusters = simple_clusters([[5.0]], [1000], [Task(0.0, 100, decaying(1.0))] * 10)
    ranges = [tuple((node, node) for node in range(k + 1, 1001, 10)) for k in range(10)]
    placed = [PlacedOnNodes(k, "c0", own, 0.0) for k, own in enumerate(ranges)]
    placed = placed[5:] + placed[4::-1]
    assert violations(clusters, ClustersSchedule(tuple(placed))) == ()
    placed[3] = replace(placed[3], nodes=placed[4].nodes)
    assert [each.code for each in violations(clusters, ClustersSchedule(tuple(placed)))] == ["overlap"]
