"""Methods and allocations side by side: every one gets its row, and none passes the bound."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lpsched import GangAllocation, facility
from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, InvalidScheduleError, NotFoundError
from lpsched.facility import compare as allocations
from lpsched.facility.compare import METHODS, NAMES, validate_facility
from lpsched.facility.files import read_facility, write_allocation
from lpsched.facility.model import facility_from_dict
from tests.facilities import SOUND
from tests.paper_facility import paper_facility

PAPER = paper_facility()
SMALL = facility_from_dict(SOUND)


def test_all_methods_stand_in_one_table_in_the_order_asked_for():
    result = validate_facility(SMALL, methods=NAMES, generations=20)
    assert [entry.name for entry in result.entries] == list(NAMES)
    assert result.valid
    for entry in result.entries:
        assert entry.measured.reward_rate <= result.bound * (1 + 1e-9)
        assert entry.gap == pytest.approx(1 - entry.measured.reward_rate / result.bound, abs=1e-12)
        assert entry.measured.total_watts <= SMALL.power_cap_watts * (1 + 1e-9)
        assert entry.seconds > 0
    assert len(result.rows()) == len(NAMES) + 1


@pytest.mark.slow
@pytest.mark.unwatched
def test_the_order_is_the_papers_on_its_small_platform():
    # Figure 2 of the paper: counting co-location pays, and the genetic algorithm passes the greedy one.
    small = read_facility(Path(__file__).parent.parent.parent / "instances" / "facility-small.yaml")
    result = validate_facility(
        small, methods=["lp", "lp-cores", "lp-blind", "greedy", "ga", "ga-blind"], generations=1500
    )
    colocated = {entry.name: entry.measured.reward_rate for entry in result.entries}
    plain = {entry.name: entry.measured.plain_reward_rate for entry in result.entries}
    assert result.bound > colocated["lp"] > colocated["lp-cores"] > colocated["ga"] > colocated["greedy"]
    assert colocated["ga"] > colocated["ga-blind"]
    assert plain["ga-blind"] > plain["ga"]
    assert colocated["lp-blind"] < 0.6 * colocated["lp"]
    assert plain["lp-blind"] > plain["lp"]


def test_blind_methods_are_judged_by_what_they_bring_in_truth():
    # Blind, both cores would run all that 280 W allow: 1.6 tasks a second promised.
    result = validate_facility(PAPER, methods=["lp", "lp-blind"])
    ours, blind = result.entries
    assert ours.measured.reward_rate == pytest.approx(1.2, rel=2e-3)
    assert blind.measured.plain_reward_rate == pytest.approx(1.6, rel=2e-3)
    assert blind.measured.reward_rate < 1.2
    assert blind.gap > ours.gap


def test_allocations_by_name_and_from_files_are_judged_too(tmp_path):
    best = facility(PAPER)
    write_allocation(best.cores, PAPER, tmp_path / "cores.json", "1")
    (tmp_path / "junk.json").write_text("{}")
    by_name = validate_facility(PAPER, {"idle": GangAllocation((20.0,), ((),))})
    assert by_name.entries[0].measured.reward_rate == 0.0
    assert by_name.entries[0].gap == 1.0
    files = validate_facility(PAPER, [tmp_path / "cores.json", tmp_path / "junk.json", tmp_path / "none.json"])
    good, junk, none = files.entries
    assert good.measured.reward_rate == pytest.approx(best.cores_reward_rate)
    assert (good.seconds, good.valid) == (None, True)
    for entry in (junk, none):
        assert {each.code for each in entry.violations} == {"unreadable"}
    assert [row[1] for row in files.rows()[2:]] == ["invalid", "invalid"]
    assert not files.valid


def test_an_allocation_that_breaks_a_rule_tells_which():
    hot = validate_facility(PAPER, {"hot": GangAllocation((30.0,), ((),))}).entries[0]
    assert [each.code for each in hot.violations] == ["over-redline"]
    assert hot.to_dict()["valid"] is False
    assert hot.to_dict()["value"] is None


def test_a_method_that_finds_nothing_is_a_row_with_its_reason(monkeypatch):
    def nothing(*_):
        raise NotFoundError("no luck")

    monkeypatch.setitem(METHODS, "greedy", nothing)
    result = validate_facility(PAPER, methods=["greedy", "lp"])
    assert result.entries[0].failure == "no luck"
    assert result.rows()[1][:3] == ("greedy", "none", "-")
    assert result.entries[1].valid
    assert not result.valid


def test_an_allocation_above_the_bound_is_a_bug_of_ours_and_said_so(monkeypatch):
    true = facility(PAPER)
    monkeypatch.setattr(allocations, "facility", lambda *_, **__: replace(true, bound=0.99))
    with pytest.raises(InvalidScheduleError, match=r"^greedy earns 1\.0, more than the bound of 0\.99$"):
        validate_facility(PAPER, methods=["greedy"])


def test_methods_after_a_stop_are_not_run():
    cancel = CancelToken(listener=lambda progress: cancel.stop() if progress.stage == "greedy" else None)
    result = validate_facility(PAPER, methods=["greedy", "ga", "lp"], cancel=cancel)
    assert [entry.valid for entry in result.entries] == [True, False, True]
    assert result.entries[1].failure == "not run: stopped before"


def test_an_unknown_method_is_refused_before_anything_runs():
    with pytest.raises(InstanceError, match="got 'magic', expected one of lp, lp-cores, lp-blind, greedy, ga"):
        validate_facility(PAPER, methods=["magic"])


def test_as_json_every_entry_has_the_promised_keys():
    told = json.loads(json.dumps(validate_facility(PAPER, methods=["greedy"], seed=3).to_dict()))
    assert set(told) == {
        "format", "lpsched", "solver", "instance", "seed", "bound", "exactly_proved", "unit", "power_cap_watts",
        "entries",
    }  # fmt: skip
    assert (told["seed"], told["unit"]) == (3, "reward/second")
    assert set(told["entries"][0]) == {
        "name", "valid", "value", "gap", "colocated_reward_rate", "plain_reward_rate", "power_watts",
        "hottest_inlet_celsius", "hottest_inlet_margin_celsius", "outlet_celsius", "seconds", "ended", "violations",
        "failure",
    }  # fmt: skip
    # One core: 170 W, so the inlet is 0.425 K above the outlet of 24.5 C, and 0.575 K below the redline.
    assert told["entries"][0]["hottest_inlet_celsius"] == pytest.approx(24.925)
    assert told["entries"][0]["hottest_inlet_margin_celsius"] == pytest.approx(0.575)


def test_a_notebook_shows_the_table():
    page = validate_facility(PAPER, methods=["greedy"])._repr_html_()
    assert "<th>gap</th>" in page
    assert "<td>bound</td>" in page
