"""Schedules of clusters against a bound, which is given here: finding it is tested elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from rich.console import Console

from lpsched.errors import InvalidScheduleError
from lpsched.online.compare.schedules import validate_clusters
from lpsched.online.parts import Period
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.utility import WaitingCost
from lpsched.report.online_answers import clusters_validation_tables
from tests.days import decaying
from tests.parallel import Task, simple_clusters

# Two tasks of 10 s on two nodes at 50 W each, worth 8 and 2 at any time; the second arrives at 5 s.
CLUSTERS = simple_clusters([[10.0]], [2], [Task(0.0, 1, decaying(8.0)), Task(5.0, 1, decaying(2.0))], watts=[[50.0]])
BOTH = ClustersSchedule((PlacedOnNodes(0, "c0", ((1, 1),), 0.0), PlacedOnNodes(1, "c0", ((1, 1),), 10.0)))
NONE = ClustersSchedule(())


@dataclass
class Given:
    """A bound that was found beforehand."""

    bound: float
    naive: float = 10.0
    seconds: float = 0.5


@pytest.fixture
def bound(monkeypatch):
    """Let the bound be what a test says; tell what was asked."""
    asked = []

    def given(bound, naive=10.0):
        def found(clusters, *, time_limit, cancel):
            asked.append((clusters.name, time_limit, cancel))
            return Given(bound, naive)

        monkeypatch.setattr("lpsched.online.bound.solve.arrival_bound", found)
        return asked

    return given


def shown(result):
    console = Console(width=200)
    for part in clusters_validation_tables(result):
        console.print(part)


def test_utility_is_a_share_of_the_bound(bound):
    asked = bound(12.5)
    result = validate_clusters(CLUSTERS, {"both": BOTH, "none": NONE}, time_limit=3.0)
    assert asked == [("simple", 3.0, None)]
    assert result.valid
    told = result.to_dict()
    assert (told["bound"], told["naive_bound"], told["bound_seconds"], told["period"]) == (12.5, 10.0, 0.5, None)
    both, none = told["entries"]
    assert (both["kind"], both["utility"], both["cost"]) == ("schedule", 10.0, None)
    assert (both["gap"], both["share_of_bound"], both["share_of_naive"]) == (0.2, 0.8, 1.0)
    # 20 of 2 x 20 node-seconds, 1 kJ; the second task waits 5 s
    assert (both["utilisation"], both["busy"], both["energy_joules"]) == (0.5, {"c0": 0.5}, 1000.0)
    assert both["wait_seconds"] == {"mean": 2.5, "median": 2.5, "p95": 5.0, "longest": 5.0}
    assert (both["mean_slowdown"], both["completed"], both["dropped"]) == (1.25, 2, 0)
    assert (none["share_of_bound"], none["utilisation"], none["busy"]) == (0.0, None, None)
    assert (none["wait_seconds"], none["mean_slowdown"], none["dropped"]) == (None, None, 2)
    assert result.rows()[1] == ("both", "10", "20 %", "0.0002778", "50 %", "2.5 s", "2", "0", "20 s")  # 1 / 3,600 kWh
    assert result.rows()[2] == ("none", "0", "100 %", "0", "-", "-", "0", "2", "-")
    assert len({len(row) for row in (*result.rows(), result.headers())}) == 1
    assert "<td>both</td>" in result._repr_html_()


def test_a_bound_of_nothing_has_no_shares(bound):
    bound(0.0, 0.0)
    worthless = simple_clusters([[10.0]], [1], [Task(0.0, 1, decaying(0.0))])
    told = validate_clusters(worthless, {"none": NONE}).to_dict()["entries"][0]
    assert (told["share_of_bound"], told["share_of_naive"], told["energy_joules"]) == (None, None, None)


def test_the_least_cost_is_a_share_of_the_cost(bound):
    # the second task waits 5 s: costs of 0 and 5 s
    bound(-4.0, 0.0)
    costly = simple_clusters([[10.0]], [1], [Task(0.0), Task(5.0)], waiting=WaitingCost("seconds"))
    result = validate_clusters(costly, {"both": BOTH})
    told = result.to_dict()
    assert (told["judged_by"], told["cost_bound"], told["naive_cost"]) == ("waiting", 4.0, 0.0)
    assert told["waiting"]["measure"] == "seconds"
    own = told["entries"][0]
    assert (own["cost"], own["utility"], own["share_of_bound"], own["share_of_naive"]) == (5.0, -5.0, 0.8, 0.0)
    assert result.headers()[1] == "cost"
    assert result.rows()[0][:3] == ("lower bound", "4", "proved")
    assert result.rows()[1][:4] == ("both", "5", "25 %", "100 %")  # 1 of 4; busy all the time, without watts no energy


def test_a_valid_schedule_above_the_bound_is_our_mistake(bound):
    bound(9.5)
    with pytest.raises(InvalidScheduleError, match=r"both earns 10\.0, more than the bound of 9\.5"):
        validate_clusters(CLUSTERS, {"both": BOTH})


def test_one_that_breaks_a_rule_is_only_told_so(bound, capsys):
    bound(9.5)  # what an invalid one would earn is nothing to go by
    early = ClustersSchedule((PlacedOnNodes(1, "c0", ((1, 1),), 0.0),))
    result = validate_clusters(CLUSTERS, {"early": early})
    assert not result.valid
    assert result.rows()[1] == ("early", "invalid", "-")
    assert result.headline() == "No schedule has a valid result."
    shown(result)
    out = " ".join(capsys.readouterr().out.split())
    assert "early before-arrival task 1 starts at 0.0 s, but arrives at 5.0 s" in out
    assert "If no task ever waited: utility 10 (no-wait reference)." in out


def test_the_period_that_counts_is_said(bound, capsys):
    bound(9.5)
    cut = simple_clusters([[10.0]], [1], [Task(0.0, 1, decaying(8.0))], period=Period(5.0, 100.0))
    result = validate_clusters(cut, {"none": NONE})
    assert result.to_dict()["period"]["warm_up_seconds"] == 5.0
    shown(result)
    assert "Counted: from 5 s to 1 min 45 s, tasks prorated at its ends." in capsys.readouterr().out
