"""Means over trials, shares, and what is told when a number is missing."""

from __future__ import annotations

import pytest

from lpsched.model.provenance import Provenance
from lpsched.online.result.policy import OFFLINE, Earned, PolicyEntry, PolicyRun, Traces
from lpsched.online.result.simulation import Simulation, TrialBounds
from lpsched.online.verify.day import DayMeasurement

OPTIONS = {
    "machines": "queued", "every_seconds": 60.0, "every_arrivals": None, "drop_below": 0.0,
    "energy_filter": None, "permute": 0,
}  # fmt: skip


def run(trial, utility, *, naive=100.0, bound=None, **more):
    measured = DayMeasurement(utility, 5e6, 50.0, 7, 1)
    return PolicyRun(trial, measured, naive=naive, bound=bound, events=10, event_seconds=0.002, **more)


NEAR = (("a", 20.8912), ("b", 20.8932))
TWO = (TrialBounds(0, 100.0, 80.0, 1.5), TrialBounds(1, 200.0, 120.0, 2.5))


def simulation(*entries, bounds=TWO):
    return Simulation(entries, bounds, len(bounds), 4, OPTIONS, 1e9, Provenance("1", "simulation", "d", "h"))


def test_shares_are_means_of_shares():
    # 50 of 100 and 160 of 200: mean of 0.5 and 0.8, not 210 of 300.
    entry = PolicyEntry("a", "policy", (run(0, 50.0), run(1, 160.0, naive=200.0)))
    assert entry.mean("share_of_naive").mean == pytest.approx(0.65)
    assert entry.mean("share_of_bound") is None
    assert entry.mean("milliseconds_per_event").mean == 2.0


def test_a_trial_without_an_answer_is_left_out_of_the_means():
    entry = PolicyEntry("a", "policy", (run(0, 50.0), PolicyRun(1, reason="it broke")))
    assert entry.mean("utility").mean == 50.0
    assert entry.mean("utility").half_width is None
    assert entry.reasons == ((1, "it broke"),)
    told = entry.to_dict()["trials"]
    assert told[1] == {"trial": 1, "reason": "it broke"}


def test_the_bound_is_a_mean_and_a_share_of_naive():
    result = simulation(PolicyEntry("a", "policy", (run(0, 50.0, bound=80.0),)))
    assert result.bound.mean == 100.0
    assert result.headers[:4] == ("scheduler", "utility", "gap", "of no-wait")
    assert result.rows()[1][:4] == ("bound (proved)", "100 ± 254", "", "70 ± 127 %")  # 12.706 x 20; 0.8 and 0.6
    assert result.policies[0].row()[2] == "37.5 %"  # 50 of 80
    # Of one trial, utilities have the digits that their gaps need: 20.8912 of 20.8932, and 20.8932 itself.
    near, best = (PolicyEntry(name, "policy", (run(0, utility, bound=20.8932),)) for name, utility in NEAR)
    one = simulation(near, best, bounds=(TrialBounds(0, 100.0, 20.8932),))
    assert [row[1] for row in one.rows()] == ["100", "20.8932", "20.8912", "20.8932"]
    assert one.headline().endswith(": b, utility 20.8932; at most 20.8932 possible (gap 0 %, proved).")
    without = simulation(PolicyEntry("a", "policy", (run(0, 50.0),)), bounds=(TrialBounds(0, 100.0),))
    assert without.bound is None
    assert [row[0] for row in without.rows()] == ["no-wait reference", "a"]


def test_the_best_policy_earns_most_and_is_no_offline_schedule():
    low, high = PolicyEntry("low", "policy", (run(0, 1.0),)), PolicyEntry("high", "policy", (run(0, 2.0),))
    offline = PolicyEntry("offline", OFFLINE, (run(0, 3.0),))
    failed = PolicyEntry("failed", "policy", (PolicyRun(0, reason="no"),))
    assert simulation(failed, low, high, offline).best is high
    assert simulation(failed).best is None
    ranked = simulation(failed, low, high, offline).ranked().policies
    assert [entry.name for entry in ranked] == ["offline", "high", "low", "failed"]
    assert not simulation(failed).answered


def test_what_priorities_earn_is_a_mean_over_trials():
    first = run(0, 1.0, earned=(Earned("high", 2.0, 8.0), Earned("low", 1.0, 1.0)), busy=(("cpu", 0.5),))
    second = run(1, 1.0, earned=(Earned("high", 4.0, 4.0),), busy=(("cpu", 1.0),))
    entry = PolicyEntry("a", "policy", (first, second))
    assert entry.earned == (Earned("high", 3.0, 6.0), Earned("low", 0.5, 0.5))
    assert [each.share for each in entry.earned] == [0.5, 1.0]
    assert entry.busy == (("cpu", 0.75),)
    assert Earned("none", 0.0, 0.0).share is None


def test_traces_are_means_where_they_are_at_the_same_times():
    first = run(0, 1.0, traces=Traces((0.0, 1.0), (0.0, 4.0), (0.0, 10.0)))
    second = run(1, 1.0, traces=Traces((0.0, 1.0), (0.0, 6.0), (0.0, 30.0)))
    other = run(2, 1.0, traces=Traces((0.0, 2.0), (0.0, 100.0), (0.0, 100.0)))
    entry = PolicyEntry("a", "policy", (first, second, other))
    assert entry.traces == Traces((0.0, 1.0), (0.0, 5.0), (0.0, 20.0))
    assert PolicyEntry("a", "policy", (run(0, 1.0),)).traces is None


def test_a_notebook_shows_names_as_they_stand():
    shown = simulation(PolicyEntry("<b>", "policy", (run(0, 1.0),)))._repr_html_()
    assert "<td>&lt;b&gt;</td>" in shown
    assert "<b>" not in shown


def test_nothing_to_divide_by_is_no_share():
    entry = PolicyEntry("a", "policy", (run(0, 0.0, naive=0.0, bound=0.0),))
    assert entry.mean("share_of_naive") is None
    assert entry.row()[2:4] == ("0 %", "-")  # of nothing possible, nothing is missing
