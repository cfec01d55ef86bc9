"""The energy filters as their formulas, with numbers worked by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lpsched.errors import InstanceError, PolicyError
from lpsched.online.arrays import cluster_arrays
from lpsched.online.nodes.state import Placement
from lpsched.online.parts import Period
from lpsched.online.simulate.machines import accounts_of
from lpsched.online.simulate.options import ClusterFilter, resources
from tests.days import decaying
from tests.online.nodes.small import Seen, first_come, flat, run
from tests.parallel import Task, simple_clusters

# Two clusters: 4 nodes of 2 cores, and 2 nodes of 4 cores with two P-states. Type 0: 10 s on the first at 10 W, and 5 s
# at 40 W or 8 s at 10 W on the second. Type 1: 20 s at 20 W on the first only. A task of 4 cores takes 2 nodes, or 1.
# core-seconds  type 0: 10 x 4 = 40, 5 x 4 = 20, 8 x 4 = 32     type 1: 20 x 4 = 80     mean 172 / 4 = 43
# joules        type 0: 100, 200, 80                            type 1: 400             mean 780 / 4 = 195
SECONDS = [[10.0, 5.0, 8.0], [20.0, None, None]]
WATTS = [[10.0, 40.0, 10.0], [20.0, None, None]]


def mixed(joules, tasks, *, warm_up=0.0, seconds=100.0):
    period = Period(warm_up, seconds, energy_constraint_joules=joules)
    made = [Task(arrival, 4, decaying(1.0), task_type=i) for arrival, i in tasks]
    return simple_clusters(
        SECONDS, [4, 2], made, watts=WATTS, cores_per_node=[2, 4], p_states=[None, ("P0", "P1")], period=period
    )


def offered(clusters, place=first_come, **options):
    """Return what the first tasks of each event may choose, event by event."""
    seen = Seen(place)
    run(clusters, seen, **options)
    return [state.allowed.tolist() for state in seen.states]


def test_resources_are_planned_seconds_times_all_cores_of_the_nodes():
    assert resources(cluster_arrays(mixed(None, [(0.0, 0), (0.0, 1)]))).tolist() == [
        [40.0, 20.0, 32.0], [80.0, 0.0, 0.0],
    ]  # fmt: skip


def filter_with(*, per_task, leniency, mean_joules=100.0, joules=((0.0,),)):
    """Return a filter of 16 cores whose kinds take 40 core-seconds in the mean, and 400 each."""
    table = np.array(joules)
    return ClusterFilter(per_task, leniency, table, np.full_like(table, 400.0), mean_joules, 40.0, 16)


def test_the_formulas_by_hand():
    # 400 / 40 = 10 tasks by time; by energy 900 / 100 = 9, which leaves 100 J for each, or 11: 1100 / 10 = 110 J.
    lenient = filter_with(per_task=True, leniency=2.0)
    assert lenient.budget(900.0, 400.0) == 200.0
    assert lenient.budget(1100.0, 400.0) == 220.0
    assert lenient.budget(0.0, 400.0) == 200.0
    assert filter_with(per_task=True, leniency=2.0, mean_joules=0.0).budget(1100.0, 400.0) == 220.0
    assert filter_with(per_task=False, leniency=4.0).budget(900.0, 400.0) == 9.0


@pytest.mark.parametrize(("planned", "passes"), [(240.0, [True, False]), (700.0, [True, True])])
def test_what_is_planned_is_no_longer_left(planned, passes):
    # 16 cores, 40 s left, 240 core-seconds planned: 640 - 240 = 400, and 4 x 900 / 400 = 9 J a core-second: 3600 J for
    # 400 core-seconds. With 700 planned nothing is left, and everything is offered.
    accounts = accounts_of(Period(0.0, 100.0, energy_constraint_joules=900.0))
    book: Any = SimpleNamespace(accounts=accounts, planned_resources=lambda _begin, _end: planned)
    strict = filter_with(per_task=False, leniency=4.0, joules=((3600.0, 3601.0),))
    assert strict.allowed(np.ones((1, 2), dtype=bool), book, 60.0).tolist() == [passes]


def test_energy_per_task_offers_what_is_within_the_budget_and_no_more():
    # At 0 s: r_rem = 16 x 100 = 1600; tasks left min(1600 / 43, E / 195). E = 1950: 10 by energy, so e_rem / n = 195,
    # the mean: with leniency 1 all but type 1's 400 J and type 0's 200 J pass; with 2, 390 J: all but 400 J.
    tasks = [(0.0, 0), (0.0, 1)]
    clusters = mixed(1950.0, tasks)
    assert offered(clusters, energy_filter="per-task", leniency=1.0)[0] == [
        [True, False, True], [False, False, False],
    ]  # fmt: skip
    assert offered(clusters, energy_filter="per-task")[0] == [[True, True, True], [False, False, False]]
    # E = 8000: 41 tasks by energy, 1600 / 43 = 37.2 by time: 8000 / 37.2 = 215 J, twice that is 430 J: all pass.
    rich = mixed(8000.0, tasks)
    assert offered(rich, energy_filter="per-task")[0] == [[True, True, True], [True, False, False]]
    assert offered(rich, energy_filter="per-task", leniency=400.0 * (1600 / 43) / 8000 - 0.01)[0][1] == [False] * 3


def test_energy_per_resource_offers_what_takes_no_more_joules_a_core_second():
    # Joules a core-second: type 0: 100 / 40 = 2.5, 200 / 20 = 10, 80 / 32 = 2.5; type 1: 400 / 80 = 5.
    # At 0 s E / 1600; with E = 2000: 1.25, and 4 times that is 5: all but 10 pass, and 5 just does.
    clusters = mixed(2000.0, [(0.0, 0), (0.0, 1)])
    assert offered(clusters, energy_filter="per-resource")[0] == [[True, False, True], [True, False, False]]
    assert offered(clusters, energy_filter="per-resource", leniency=3.9)[0][1] == [False, False, False]
    assert offered(clusters, energy_filter="per-resource", leniency=8.0)[0][0] == [True, True, True]


def test_running_and_reserved_tasks_take_time_and_energy_and_place_holders_do_not():
    # Two tasks of type 1 at 0 s take all nodes of cluster 0 for 20 s, a third is reserved from 20 to 40 s: 240 core-
    # seconds, 1200 J. At 10 s: cores (100 - 10) = 1440; planned: 2 x 4 x 10 + 4 x 20 = 160; left 1280; e_rem = 2800 -
    # 1200 = 1600. 1600 / 1280 = 1.25 J a core-second, with leniency 4: 5.
    # With a place-holder: planned 80, left 1360, e_rem 2000: 1.47, with leniency 4: 5.88.
    clusters = mixed(2800.0, [(0.0, 1), (0.0, 1), (0.0, 1), (10.0, 0), (10.0, 1)])
    for factor, expected in [(4.0, True), (3.99, False)]:
        assert offered(clusters, energy_filter="per-resource", leniency=factor)[1][-1][0] is expected
    enough = 5.0 * 1360 / 2000  # 3.4
    for factor, expected in [(enough + 0.01, True), (enough - 0.01, False)]:
        event = offered(clusters, energy_filter="per-resource", leniency=factor, placeholders=True)[1]
        assert event[-1][0] is expected


def test_only_a_day_with_an_energy_constraint_is_filtered_and_not_its_first_hours():
    tasks = [(0.0, 0), (60.0, 0)]
    assert offered(mixed(None, tasks), energy_filter="per-task", leniency=1e-9) == [[[True] * 3]] * 2
    first, later = offered(mixed(1.0, tasks, warm_up=50.0), energy_filter="per-task", leniency=1e-9)
    assert first == [[True] * 3]
    assert later == [[False] * 3]


def test_a_filtered_choice_is_refused_if_a_policy_takes_it():
    clusters = mixed(2000.0, [(0.0, 0)])
    with pytest.raises(PolicyError, match="the energy filter does not let that pass"):
        run(
            clusters,
            lambda state, rng: [Placement(0, 1, 0.0, ((0, 1),))],  # noqa: ARG005
            energy_filter="per-resource",
        )


def test_an_energy_constraint_without_an_end_cannot_be_filtered():
    with pytest.raises(InstanceError, match="a length, over which energy is spread"):
        run(mixed(2000.0, [(0.0, 0)], seconds=None), energy_filter="per-task")


def test_where_no_time_is_left_on_any_node_everything_is_offered():
    # The first has all nodes until after the period's end.
    period = Period(0.0, 50.0, energy_constraint_joules=1e6)
    clusters = flat([(0.0, 4, 60.0), (5.0, 4, 60.0)], period=period)
    for which in ("per-task", "per-resource"):
        assert offered(clusters, energy_filter=which) == [[[True]], [[True]]]


def test_no_watts_at_all_pass():
    tasks = [Task(0.0, 1, decaying(1.0))]
    period = Period(0.0, 100.0, energy_constraint_joules=0.0)
    free = simple_clusters([[10.0]], [2], tasks, watts=[[0.0]], period=period)
    for which in ("per-task", "per-resource"):
        assert offered(free, energy_filter=which) == [[[True]]]
        assert len(run(free, energy_filter=which).schedule.placed) == 1
