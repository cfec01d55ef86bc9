"""Schedules of clusters, judged by the verifier and second by second, node by node."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from lpsched.online.parts import EDGES, PRORATED, Period
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.verify.clusters import ClustersAccount
from models.cluster_schedule import look
from tests.days import decaying
from tests.parallel import Task, simple_clusters
from tests.property.parallel import cluster_schedules_of, parallel_clusters, waiting_costs

WHOLE_SECONDS = st.integers(1, 5).map(float)


@st.composite
def whole_clusters(draw):
    """Draw clusters whose times are whole seconds, however many nodes a task takes."""
    nodes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))
    states = [draw(st.sampled_from([None, ("P0", "P1")])) for _ in nodes]
    cores = [draw(st.integers(1, 2)) for _ in nodes]
    columns = [c for c, names in enumerate(states) for _ in names or (None,)]
    seconds = [
        [draw(WHOLE_SECONDS) for _ in columns],
        [draw(WHOLE_SECONDS), *(draw(WHOLE_SECONDS | st.none()) for _ in columns[1:])],  # t1 runs on c0
    ]
    watts = [[None if cell is None else draw(st.integers(0, 5).map(float)) for cell in row] for row in seconds]
    waiting = draw(st.none() | waiting_costs())
    utility = None if waiting is not None else decaying(8.0, until=9.0)
    most = max(count * own for count, own in zip(nodes, cores, strict=True)), nodes[0] * cores[0]  # of a type
    tasks = []
    for arrival in sorted(draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))):
        i = draw(st.integers(0, 1))
        needed = draw(st.integers(1, min(4, most[i])))
        tasks.append(Task(float(arrival), needed, utility, i, draw(WHOLE_SECONDS)))
    length = draw(st.none() | st.integers(1, 10).map(float))
    period = Period() if waiting is not None else Period(
        draw(st.sampled_from([0.0, 0.0, 3.0])),
        length,
        PRORATED if length is None else draw(st.sampled_from(EDGES)),
        draw(st.sampled_from([None, None, 40.0])),
    )  # fmt: skip
    return simple_clusters(
        seconds, nodes, tasks, watts=watts, cores_per_node=cores, p_states=states, waiting=waiting, period=period
    )


def can_run(clusters, task, column):
    kind = clusters.kinds[memoryview(clusters.kind_numbers).cast("q")[task]]
    return clusters.seconds_of(kind, column) is not None


@st.composite
def any_schedules(draw, clusters):
    """Draw a schedule in which tasks may meet on a node, and one of them may be odd in another way."""
    placed = []
    for task in range(clusters.tasks):
        able = [column for column in range(len(clusters.modes)) if can_run(clusters, task, column)]
        is_placed = clusters.waiting is not None or draw(st.sampled_from([True, True, False]))
        if is_placed:
            column = draw(st.sampled_from(able))
            cluster = clusters.clusters[clusters.modes[column][0]]
            needed = cluster.nodes_for(clusters.arriving.core_counts[task])
            first = draw(st.integers(1, cluster.nodes - needed + 1))
            late = draw(st.sampled_from([0.0, 0.0, 1.0, 2.0, 4.0, 8.0]))
            start = clusters.arriving.arrival_seconds[task] + late
            nodes, state = ((first, first + needed - 1),), clusters.p_state(column)
            placed.append(PlacedOnNodes(task, cluster.name, nodes, start, state))
    changes: list[dict[str, Any]] = [
        {"nodes": own} for own in (((1, 1), (1, 1)), ((2, 1),), ((0, 0),), ((1, 2), (4, 4)))
    ]
    changes += [{"task": 0}, {"task": 9}, {"cluster": "c1"}, {"p_state": "P1"}, {"start_seconds": 2.0}]
    if placed and draw(st.sampled_from([True, False, False])):
        odd = draw(st.integers(0, len(placed) - 1))
        placed[odd] = replace(placed[odd], **draw(st.sampled_from(changes)))
    return ClustersSchedule(tuple(draw(st.permutations(placed))))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_verifier_sees_what_is_seen_second_by_second_and_node_by_node(data):
    clusters = data.draw(whole_clusters())
    schedule = data.draw(any_schedules(clusters))
    account, seen = ClustersAccount(clusters, schedule), look(clusters, schedule)
    event("valid" if seen.is_valid else account.violations[0].code if account.violations else "?")
    assert (account.violations == ()) is seen.is_valid, account.violations
    if not seen.is_valid:
        return
    measured = account.measured
    assert measured.utility == pytest.approx(seen.utility, rel=1e-12)
    assert measured.energy_joules == seen.joules
    assert measured.completed == seen.completed
    busy = account.details().busy_node_seconds
    assert busy == {cluster.name: float(seen.busy[cluster.name]) for cluster in clusters.clusters}
    if seen.waits:
        assert measured.waits.mean_seconds == pytest.approx(math.fsum(seen.waits) / len(seen.waits))
        assert measured.waits.longest_seconds == max(seen.waits)
    else:
        assert measured.waits is None


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_schedules_made_task_by_task_break_nothing_but_the_period(data):
    clusters = data.draw(parallel_clusters())
    schedule = data.draw(cluster_schedules_of(clusters))
    account = ClustersAccount(clusters, schedule)
    assert {each.code for each in account.violations} <= {"starts-after-the-day", "too-much-energy"}
    if account.measured is not None:
        times = [0.0, 5.0, 1e9]
        utility, energy = account.traces(times)
        assert utility[-1] == pytest.approx(account.measured.utility, rel=1e-9, abs=1e-12)
        assert energy[-1] == pytest.approx(account.measured.energy_joules or 0.0, rel=1e-9)
        shares = account.measured.utilisation_by_cluster
        assert all(0.0 <= share <= 1.0 + 1e-9 for share in shares)
