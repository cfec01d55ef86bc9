"""The bound of tasks that take many nodes, and of tasks that cost what they wait: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.online.bound import choices as arrival_choices
from lpsched.online.bound import choices as arrival_costs
from lpsched.online.bound import choices as arrival_cut_runs
from lpsched.online.bound import choices as arrival_takes
from lpsched.online.bound import choices as arrival_worths
from lpsched.online.bound import prices as arrival_softening
from lpsched.online.bound.no_waiting import no_wait_reference
from lpsched.online.bound.offers import ArrivalPrices, offers_of
from lpsched.online.bound.prices import Looker, NearList, SoftBound, crowded_slots, even_slots, proved_by
from lpsched.online.parts import WHOLE, Period
from lpsched.online.utility import WaitingCost
from tests.days import decaying
from tests.online.bound.test_arrivals_formulations import in_python
from tests.parallel import Task, simple_clusters

STEADY = decaying(8.0)
SECONDS = WaitingCost("seconds")


def prices(*edges, per_second=0.0, per_joule=0.0):
    """Return prices of one cluster: one for all slots, or one for each."""
    row = [per_second] * (len(edges) - 1) if isinstance(per_second, float) else per_second
    return ArrivalPrices(np.array(edges), np.array([row]), per_joule)


def bound(clusters, at):
    return proved_by(offers_of(clusters), at)


def test_a_task_on_three_nodes_pays_for_three():
    # 6 cores on nodes of 2 are 3 nodes; 10 s at 0.2 cost 6 of 8 for them, and 4 nodes' 20 s cost 16.
    clusters = simple_clusters([[10.0]], [4], [Task(0.0, 6, decaying(8.0, until=11.0))], cores_per_node=[2])
    assert bound(clusters, prices(0.0, 20.0, per_second=0.2)) == pytest.approx(2.0 + 16.0)


def test_tasks_that_do_not_fit_beside_each_other_are_worth_less_than_both():
    # Two tasks of 3 nodes on 5, each to end before 11. At 8 / 30 a node-second neither gains anything; 5 nodes cost
    # 5 * 11 * 8 / 30 = 14.67, less than 16.
    soon = decaying(8.0, until=11.0)
    clusters = simple_clusters([[10.0]], [5], [Task(0.0, 3, soon), Task(0.0, 3, soon)])
    assert bound(clusters, prices(0.0, 11.0, per_second=8.0 / 30.0)) == pytest.approx(44.0 / 3.0)


def test_waiting_for_time_that_costs_nothing_is_a_choice():
    # Until 20 a run costs 10, more than the 8 that it earns; from 20 on it costs nothing. The node costs 20.
    clusters = simple_clusters([[10.0]], [1], [Task(0.0, 1, STEADY)], period=Period(0.0, 40.0))
    assert bound(clusters, prices(0.0, 20.0, 40.0, per_second=[1.0, 0.0])) == pytest.approx(28.0)


def test_joules_are_those_of_all_nodes_together():
    # 30 W on 3 nodes for 10 s are 300 J, not 900: at 0.01 a joule 8 - 3 is left, and 100 J are worth 1.
    clusters = simple_clusters(
        [[10.0]], [3], [Task(0.0, 3, STEADY)], watts=[[30.0]], period=Period(0.0, 50.0, "prorated", 100.0)
    )
    assert bound(clusters, prices(0.0, 50.0, per_joule=0.01)) == pytest.approx(6.0)


def test_what_was_requested_does_not_matter():
    honest = simple_clusters([[10.0]], [2], [Task(0.0, 2, STEADY), Task(0.0, 2, STEADY)])
    asked = simple_clusters([[10.0]], [2], [Task(0.0, 2, STEADY, requested=9.0), Task(0.0, 2, STEADY, requested=50.0)])
    at = prices(0.0, 20.0, per_second=0.1)
    assert bound(honest, at) == bound(asked, at)


def test_a_run_over_the_end_counts_by_its_share_and_pays_for_all_nodes():
    # 5 of 10 s count: 4, less 2 nodes * 5 s * 0.1; and 2 * 5 * 0.1 for the cluster.
    clusters = simple_clusters([[10.0]], [2], [Task(0.0, 2, STEADY)], period=Period(0.0, 5.0))
    assert bound(clusters, prices(0.0, 5.0, per_second=0.1)) == pytest.approx(4.0)


def two_waiting(waiting=SECONDS, **changes):
    """Return two tasks of 10 s for both nodes of a cluster."""
    tasks = [Task(0.0, 2, **changes), Task(0.0, 2, **changes)]
    return simple_clusters([[10.0]], [2], tasks, waiting=waiting)


def test_without_prices_nobody_waits():
    clusters = two_waiting(WaitingCost("slowdown"))
    assert bound(clusters, prices(0.0, 20.0)) == pytest.approx(-2.0)
    assert no_wait_reference(offers_of(clusters), WHOLE) == -2.0


def test_of_two_tasks_for_all_nodes_one_waits():
    # A node-second costs 0.5 until 10, then nothing. At 0 a run costs 10; at 10 it costs nothing but 10 s of waiting:
    # -10 either way, twice, and 2 * 10 * 0.5 for the nodes. One does wait 10 s.
    assert bound(two_waiting(), prices(0.0, 10.0, per_second=0.5)) == pytest.approx(-10.0)


def test_a_task_must_run_however_dear_it_is():
    # Until 100 nothing is cheaper than to wait: 90 s of waiting to start at 90 (10 s of it paid), or 100.
    # At 90 a run costs 2 * 10 * 5 = 100 and 90 s; at 100 just 100 s. Twice, and the nodes' 2 * 100 * 5.
    assert bound(two_waiting(), prices(0.0, 100.0, per_second=5.0)) == pytest.approx(-200.0 + 1000.0)


def test_waiting_is_free_until_its_cost_begins_to_rise():
    # Bounded slowdown of 4 s runs: 1 until 6 s of waiting. Until 6 a node-second costs 1, then nothing: at 6 it is free,
    # and costs 1.
    clusters = simple_clusters([[4.0]], [1], [Task(0.0), Task(0.0)], waiting=WaitingCost())
    assert bound(clusters, prices(0.0, 6.0, per_second=1.0)) == pytest.approx(-2.0 + 6.0)


def test_a_break_of_the_cost_between_corners_is_a_choice():
    # Cost 0 until 7 s, then 10 a second. Prices fall at 20 only: 1 a node-second until then. From 0 to 10 a run costs
    # 10 wherever it starts; after 10 it is cheaper by 1 a second, but from 7 on waiting costs 10 a second. So 7 is as good
    # as 0; with 0.5 from 15 on, starting at 7 saves 2 * 0.5: -9.
    cost = WaitingCost("points", points=((0.0, 0.0), (7.0, 0.0), (8.0, 10.0)))
    clusters = simple_clusters([[10.0]], [1], [Task(0.0)], waiting=cost)
    at = prices(0.0, 15.0, 20.0, per_second=[1.0, 0.5])
    assert bound(clusters, at) == pytest.approx(-9.0 + 17.5)


def test_cores_weigh_a_cost():
    clusters = simple_clusters([[10.0]], [3], [Task(0.0, 3)], waiting=WaitingCost("slowdown", "cores"))
    assert bound(clusters, prices(0.0, 10.0)) == pytest.approx(-3.0)


def test_what_is_risen_begins_at_nothing_and_differs_by_what_not_waiting_costs():
    offers = offers_of(two_waiting(WaitingCost("slowdown", "cores")))
    at = prices(0.0, 10.0, per_second=0.5)
    assert proved_by(offers.risen(), at) - 4.0 == pytest.approx(proved_by(offers, at))


@pytest.mark.slow
def test_compiled_loops_do_what_is_written(monkeypatch):
    tasks = [Task(float(at), 1 + at % 5, decaying(8.0, 0.01, until=50.0)) for at in range(12)]
    clusters = simple_clusters([[10.0, 14.0]], [8, 5], tasks, period=Period(5.0, 40.0))
    offers, edges = offers_of(clusters), even_slots(offers_of(clusters), 5)
    at = ArrivalPrices(edges, np.linspace(0.0, 0.05, 10).reshape(2, 5), 0.0)
    looker = Looker(offers, edges)
    compiled = looker.best(at)
    near = looker.near(at, compiled.best - 0.5)
    soft = SoftBound(offers, edges, NearList().with_more(near)).at(at.per_second, at.per_joule, 0.1)
    for module in (
        arrival_costs, arrival_worths, arrival_takes, arrival_cut_runs, arrival_softening, arrival_choices,
    ):  # fmt: skip
        in_python(monkeypatch, module)
    monkeypatch.setattr("lpsched.online.bound.prices.look", arrival_choices.look)
    plain = looker.best(at)
    assert plain.best.tolist() == pytest.approx(compiled.best.tolist(), rel=1e-12)
    again = looker.near(at, compiled.best - 0.5)
    assert again.near[: again.number[0]] == pytest.approx(near.near[: near.number[0]])
    slow = SoftBound(offers, edges, NearList().with_more(again)).at(at.per_second, at.per_joule, 0.1)
    assert slow[0] == pytest.approx(soft[0])
    assert slow[1] == pytest.approx(soft[1])


def test_slots_are_where_more_nodes_are_wanted_than_there_are():
    # Nobody comes until 1,000; then four tasks of 10 s for both nodes: crowded until 1,040.
    tasks = [Task(0.0), *(Task(1000.0 + k, 2) for k in range(4)), Task(5000.0)]
    offers = offers_of(simple_clusters([[10.0]], [2], tasks, waiting=SECONDS))
    edges = crowded_slots(offers, 100)
    assert np.all(np.diff(edges) > 0.0)
    assert (edges[0], edges[-1]) == (0.0, even_slots(offers, 1)[-1])
    assert np.count_nonzero((edges >= 1000.0) & (edges <= 1040.0)) > 85
    assert np.count_nonzero((edges > 1015.0) & (edges <= 1040.0)) > 15  # what was left for later


def test_slots_are_even_where_there_is_room_for_all():
    offers = offers_of(simple_clusters([[10.0]], [2], [Task(0.0), Task(0.0)], waiting=SECONDS))
    assert crowded_slots(offers, 7).tolist() == even_slots(offers, 7).tolist()
