"""Pages of schedulers held against the bound: of bags, days and clusters."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from lpsched.bag.compare.schedules import validate
from lpsched.bag.files import read_bag
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.model.risk import RiskOptions
from lpsched.online.compare.schedules import validate_clusters, validate_day
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.utility import WaitingCost
from lpsched.report.html.validation import validation_page
from tests.days import decaying
from tests.parallel import Task, simple_clusters
from tests.report.html_reader import Reader
from tests.simulated import two_tasks

pytestmark = pytest.mark.rotate_tests(3)

TINY = read_bag(Path(__file__).parents[3] / "instances" / "tiny.yaml")
ONE_SCAN = Schedule((MachineGroup("fast", 1, (Run("scan", 1),)),))


def parts(page):
    reader = Reader(page)
    assert reader.faults == []
    return reader.of("p")[0], reader.of("h2"), page.count("<svg")


def test_the_page_of_a_bag_shows_who_comes_nearest_machine_by_machine():
    result = validate(TINY, heuristics=("olb", "min-energy"))
    lead, headings, pictures = parts(validation_page(result, TINY))
    # olb ends at 14 s with 9,800 J: (0.02 - 0.0098) / 14 s; all on 'slow' earns 1.608 USD an hour.
    # 2.62286 of 3.48 is 75.369 %. The bound is rounded up, and so is the gap.
    bound = "No schedule earns more than 3.48001 USD/hour, proved"
    assert lead == f"{bound}; olb comes nearest, with 2.62286: 24.64 % away."
    assert headings == ["Against the bound", "Machine by machine: olb", "Which task runs where: olb"]
    assert pictures == 3


def test_less_is_better_where_time_is_asked_for():
    result = validate(TINY, heuristics=("min-energy", "olb"), objective="makespan")
    assert "; olb comes nearest, with 14: 16.67 % away." in parts(validation_page(result, TINY))[0]  # 2 / 12
    assert "; lp reaches it." in parts(validation_page(validate(TINY, heuristics=("lp",)), TINY))[0]


def test_rules_that_are_broken_are_told_and_nobody_is_nearest():
    page = validation_page(validate(TINY, {"<b>mine</b>": ONE_SCAN}), TINY)
    lead, headings, _ = parts(page)
    assert lead == "No schedule earns more than 3.48001 USD/hour, proved; none of these is valid."
    assert headings == ["Against the bound", "Rules that are broken"]
    assert "1 tasks of type &#x27;scan&#x27; run, but there are 6" in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in page


def test_risk_is_told_of_each_scheduler():
    result = validate(TINY, heuristics=("olb",), risk=RiskOptions(samples=20))
    page = validation_page(result, TINY)
    assert "If times and powers scatter" in parts(page)[1]
    assert "olb: " in page


def test_a_day_has_a_page_too():
    of_day = validation_page(validate_day(two_tasks(), heuristics=("max-utility",)))
    lead, headings, pictures = parts(of_day)
    assert lead.startswith("No schedule of this day earns more than ")
    assert "; max-utility comes nearest, with " in lead
    assert lead.endswith(" of the most possible with its energy.")
    assert (headings, pictures) == (["Against the bound"], 1)


@pytest.mark.parametrize("waiting", [None, WaitingCost()])
def test_clusters_are_judged_by_utility_or_by_waiting(waiting, monkeypatch):
    # One node, two tasks of 10 s that arrive at 0: one waits for 10 s, and is slowed down by 2; together 3.
    given = SimpleNamespace(bound=-1.5 if waiting else 16.0, naive=16.0, seconds=0.5)
    monkeypatch.setattr("lpsched.online.bound.solve.arrival_bound", lambda *_, **__: given)
    tasks = [Task(0.0, 1, None if waiting else decaying(4.0))] * 2
    clusters = simple_clusters([[10.0]], [1], tasks, waiting=waiting)
    both = ClustersSchedule((PlacedOnNodes(0, "c0", ((1, 1),), 0.0), PlacedOnNodes(1, "c0", ((1, 1),), 10.0)))
    lead, headings, pictures = parts(validation_page(validate_clusters(clusters, {"mine": both})))
    assert lead == (
        "Waiting costs every schedule at least 1.5, proved: that is 50 % of what it costs mine, which comes nearest."
        if waiting
        else "No schedule earns more than 16 utility, proved; mine comes nearest, with 50 % of the most."
    )
    assert (headings, pictures) == (["Against the bound"], 1)
