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
from lpsched.report.html.comparisons import validation_page
from tests.days import decaying
from tests.parallel import Task, simple_clusters
from tests.report.html_reader import Reader
from tests.simulated import two_tasks

pytestmark = pytest.mark.rotate_tests(3)

TINY = read_bag(Path(__file__).parents[3] / "instances" / "tiny.yaml")
ONE_SCAN = Schedule((MachineGroup("fast", 1, (Run("scan", 1),)),))


def parts(page):
    reader = Reader(page)
    assert reader.issues == []
    return reader.of("p")[0], reader.of("h2"), page.count("<svg")


def test_the_page_of_a_bag_shows_who_comes_nearest_machine_by_machine():
    result = validate(TINY, heuristics=("olb", "min-energy"))
    summary, headings, figures = parts(validation_page(result, TINY))
    # olb ends at 14 s with 9,800 J: (0.02 - 0.0098) / 14 s; all on 'slow' earns 1.608 USD an hour.
    # 2.62286 of 3.48 is 75.369 %. The bound is rounded up, and so is the gap.
    best = "Best of 2 schedulers: olb, profit 2.623 USD/h"
    assert summary == f"{best}; at most 3.480 USD/h possible (gap 24.64 %, proved)."
    assert headings == ["Against the bound", "Machine by machine: olb", "Which task runs where: olb"]
    assert figures == 3


def test_less_is_better_where_time_is_asked_for():
    result = validate(TINY, heuristics=("min-energy", "olb"), objective="makespan")
    summary = parts(validation_page(result, TINY))[0]
    assert summary.startswith("Best of 2 schedulers: olb, makespan 14 s; at least 12 s")
    assert "(gap 16.67 %, proved)" in summary  # 2 / 12
    assert "; optimal (proved)." in parts(validation_page(validate(TINY, heuristics=("lp",)), TINY))[0]


def test_violations_are_listed_and_no_schedule_is_nearest():
    page = validation_page(validate(TINY, {"<b>mine</b>": ONE_SCAN}), TINY)
    summary, headings, _ = parts(page)
    assert summary == "No scheduler has a valid result."
    assert headings == ["Against the bound"]
    assert "1 tasks of type &#39;scan&#39; run, but there are 6" in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in page


def test_risk_is_shown_of_each_scheduler():
    result = validate(TINY, heuristics=("olb",), risk=RiskOptions(samples=20))
    page = validation_page(result, TINY)
    assert any("20 samples" in text for text in Reader(page).of("p"))
    assert Reader(page).of("td").count("olb") == 2  # the gap, and the distribution


def test_a_day_has_a_page_too():
    of_day = validation_page(validate_day(two_tasks(), heuristics=("max-utility",)))
    summary, headings, figures = parts(of_day)
    assert summary.startswith("max-utility: utility ")
    assert "possible with the same energy" in summary
    assert any(text.startswith("Gap: to the proved bound") for text in Reader(of_day).of("p"))
    assert (headings, figures) == (["Against the bound"], 1)


@pytest.mark.parametrize("waiting", [None, WaitingCost()])
def test_clusters_are_judged_by_utility_or_by_waiting(waiting, monkeypatch):
    # One node, two tasks of 10 s that arrive at 0: one waits for 10 s, and is slowed down by 2; together 3.
    given = SimpleNamespace(bound=-1.5 if waiting else 16.0, naive=16.0, seconds=0.5)
    monkeypatch.setattr("lpsched.online.bound.solve.arrival_bound", lambda *_, **__: given)
    tasks = [Task(0.0, 1, None if waiting else decaying(4.0))] * 2
    clusters = simple_clusters([[10.0]], [1], tasks, waiting=waiting)
    both = ClustersSchedule((PlacedOnNodes(0, "c0", ((1, 1),), 0.0), PlacedOnNodes(1, "c0", ((1, 1),), 10.0)))
    summary, headings, figures = parts(validation_page(validate_clusters(clusters, {"mine": both})))
    assert summary == (
        "mine: cost of waiting 3.0; at least 1.5 in any schedule (gap 100 %, proved)."
        if waiting
        else "mine: utility 8; at most 16 possible (gap 50 %, proved)."
    )
    assert (headings, figures) == (["Against the bound"], 1)
