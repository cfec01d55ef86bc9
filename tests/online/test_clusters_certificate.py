from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import ONE, fixed
from lpsched.online.certificate import claim as arrival_gains
from lpsched.online.certificate.claim import ClustersCertificate, DayCertificate, check
from lpsched.online.certificate.runs import Rising
from lpsched.online.parts import Period
from lpsched.online.utility import MEASURES, WEIGHTS, WaitingCost
from tests.days import decaying
from tests.parallel import Task, simple_clusters

SOON = decaying(8.0, until=11.0)
# Two tasks for 3 of 5 nodes, 10 s long, worth 8 if they end before 11 s. At 8 / 30 a node-second neither gains anything;
# the nodes cost 5 * 11 * 8 / 30 = 44 / 3.
CROWDED = simple_clusters([[10.0]], [5], [Task(0.0, 3, SOON), Task(0.0, 3, SOON)])
WAITING = simple_clusters([[10.0]], [2], [Task(0.0, 2), Task(0.0, 2)], waiting=WaitingCost("seconds"))


def certificate(clusters=CROWDED, **changes) -> ClustersCertificate:
    sound = ClustersCertificate(
        instance_name=clusters.name,
        instance_hash=clusters.content_hash,
        bound=Fraction("14.67"),
        edges=(Fraction(0), Fraction(11)),
        machine_prices=FrozenDict({"c0": (Fraction(8, 30),)}),
        per_joule=Fraction(0),
    )
    return replace(sound, **changes)


def waiting(**changes) -> ClustersCertificate:
    """Return a sound certificate of two tasks one of which waits 10 s: 0.5 a node-second until 10."""
    prices = FrozenDict({"c0": (Fraction(1, 2),)})
    sound = certificate(
        WAITING, bound=Fraction("-9.9"), edges=(Fraction(0), Fraction(10)), machine_prices=prices, objective="waiting"
    )
    return replace(sound, **changes)


def test_every_node_of_a_task_is_paid_for():
    verdict = check(CROWDED, certificate())
    assert verdict.accepted
    assert float(verdict.proved) == pytest.approx(44.0 / 3.0)


@pytest.mark.parametrize("few", [0, 3])
def test_all_tasks_that_cost_what_they_wait_must_run(monkeypatch, few):
    # At 0 a run costs 2 * 10 * 0.5 = 10, at 10 it waited 10 s: -10 for both, and 10 for the nodes.
    monkeypatch.setattr(arrival_gains, "FEW", few)
    verdict = check(WAITING, waiting())
    assert verdict.accepted
    assert float(verdict.proved) == pytest.approx(-10.0)
    assert check(WAITING, waiting(bound=Fraction("-10.1"))).reasons == ("it claims more than its prices prove",)


def test_joules_are_those_of_all_nodes_together():
    # 30 W on 3 nodes for 10 s are 300 J: at 0.01 a joule 8 - 3 is left, and 100 J are worth 1.
    limited = simple_clusters(
        [[10.0]], [3], [Task(0.0, 3, SOON)], watts=[[30.0]], period=Period(0.0, 50.0, "prorated", 100.0)
    )
    free = FrozenDict({"c0": (Fraction(0),)})
    verdict = check(limited, certificate(limited, machine_prices=free, per_joule=Fraction(1, 100)))
    assert float(verdict.proved) == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (certificate(instance_hash="x"), "it is about other clusters: its hash is x, not "),
        (certificate(objective="waiting"), "its objective is 'waiting', not 'utility'"),
        (certificate(machine_prices=FrozenDict()), "it has no prices for cluster 'c0'"),
        (
            certificate(machine_prices=FrozenDict({"c0": (Fraction(0),), "c1": (Fraction(0),)})),
            "it prices cluster 'c1', which the clusters do not have",
        ),
        (certificate(machine_prices=FrozenDict({"c0": (Fraction(-1),)})), "a price for cluster 'c0' is negative"),
        (certificate(per_joule=Fraction(1)), "it has a price of a joule, but energy is not limited"),
        (
            DayCertificate("x", "y", Fraction(1), (Fraction(0), Fraction(1)), FrozenDict(), Fraction(0)),
            "it is not about clusters",
        ),
    ],
)
def test_each_fault_is_told(made, reason):
    verdict = check(CROWDED, made)
    assert verdict.proved is None
    assert any(each.startswith(reason) for each in verdict.reasons)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("measure", MEASURES)
def test_costs_of_waiting_are_those_of_the_instance(measure, weight):
    points = ((0.0, 0.5), (7.0, 2.0), (9.0, 2.0))
    cost = WaitingCost(measure, weight, points=points if measure == "points" else ())
    for seconds in (4.0, 40.0):
        rising = Rising(cost, seconds, 3)
        for waited in (0.0, 3.0, 6.0, 7.5, 100.0):
            since = fixed(waited)
            told = -rising.most(rising.interval(since), since) / ONE
            exact = cost.cost(waited, seconds, cores=3)
            assert exact * (1 - 1e-11) <= told <= exact  # a hair less is granted


@pytest.mark.parametrize("few", [0, 3])
@pytest.mark.parametrize(
    ("period", "slots", "most"),
    [
        # From 10 to 20 a run costs 2 * 0.5, at 12 it costs 2 * 1, later more: 8 - 1, and the node costs 6 + 40.
        (Period(0.0, 60.0), ((0, 12, 20, 60), ("0.5", "0", "1")), 53.0),
        # A run must end by 20: from 10 on, where it costs 2 * 1; 8 - 2, and the node costs 12.
        (Period(0.0, 20.0, "completed"), ((0, 12, 60), ("1", "0")), 18.0),
    ],
)
def test_a_run_may_end_at_an_edge_or_start_as_late_as_counts(monkeypatch, few, period, slots, most):
    monkeypatch.setattr(arrival_gains, "FEW", few)
    edges, prices = slots
    clusters = simple_clusters([[10.0]], [1], [Task(0.0, 1, decaying(8.0))], period=period)
    priced = FrozenDict({"c0": tuple(Fraction(each) for each in prices)})
    made = certificate(clusters, edges=tuple(Fraction(each) for each in edges), machine_prices=priced)
    assert float(check(clusters, made).proved) == pytest.approx(most)
