"""The paper's methods from the command line: `facility --method` and `validate FACILITY`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from lpsched.facility.compare import NAMES

pytestmark = pytest.mark.rotate_tests(5)

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY, BAG = str(INSTANCES / "facility-tiny.yaml"), str(INSTANCES / "tiny.yaml")


def test_a_method_prints_value_and_bound(lpsched):
    code, out, err = lpsched("facility", TINY, "--method", "greedy")
    assert (code, err) == (0, "")
    for words in (
        "verified: greedy, one core at a time",
        "proved: no allocation earns more",
        "CRAC unit  outlet, °C",
        "done/s",
    ):
        assert words in out
    assert "marginal value" not in out  # worths are the linear program's


@pytest.mark.slow
def test_the_json_of_a_method_has_the_keys_of_ours_and_its_own(lpsched):
    _, ours, _ = lpsched("facility", TINY, "--json")
    code, answer, _ = lpsched("facility", TINY, "--method", "ga", "--generations", "5", "--seed", "4", "--json")
    assert code == 0
    assert set(answer) == set(ours) | {"seed", "ended", "details", "history"}
    assert (answer["method"], answer["seed"], answer["details"]) == ("ga", 4, {"generations": 5.0})
    assert answer["reward_rate"] <= answer["bound"]
    assert answer["worth"] is None


def test_without_a_bound_there_is_no_gap(lpsched):
    code, answer, _ = lpsched("facility", TINY, "--method", "nlp", "--no-bound", "--json")
    assert (code, answer["bound"], answer["gap"]) == (0, None, None)
    assert answer["reward_rate"] == pytest.approx(1.16923, rel=1e-3)  # see tests/compare


def test_what_a_method_writes_is_accepted_by_verify_and_validate(lpsched, tmp_path):
    path = str(tmp_path / "greedy.json")
    assert lpsched("facility", TINY, "--method", "greedy", "-o", path)[0] == 0
    assert json.loads(Path(path).read_text())["format"] == "lpsched-allocation/1"
    assert lpsched("verify", TINY, path)[0] == 0
    code, answer, _ = lpsched("validate", TINY, path, "--method", "greedy,lp", "--json")
    assert code == 0
    assert [entry["name"] for entry in answer["entries"]] == [path, "greedy", "lp"]
    assert answer["entries"][0]["value"] == answer["entries"][1]["value"] == 1.0


def test_a_population_is_saved_and_gone_on_from(lpsched, tmp_path):
    state = str(tmp_path / "state.npz")
    ga = ("facility", TINY, "--method", "ga", "--no-bound", "--json")
    _, first, _ = lpsched(*ga, "--generations", "10", "--state", state)
    _, second, _ = lpsched(*ga, "--generations", "10", "--state", state)
    _, whole, _ = lpsched(*ga, "--generations", "20")
    assert first["details"] == {"generations": 10.0}
    assert second["details"] == {"generations": 20.0}
    assert second["reward_rate"] == whole["reward_rate"]


def test_a_state_of_another_facility_is_refused(lpsched, tmp_path):
    state = tmp_path / "state.npz"
    state.write_bytes(b"junk")
    code, _, err = lpsched("facility", TINY, "--method", "ga", "--generations", "1", "--state", str(state))
    assert code == 2
    assert "state.npz" in err
    assert state.read_bytes() == b"junk"


def test_pictures_and_pages_are_written(lpsched, tmp_path):
    room, page = tmp_path / "room.png", tmp_path / "room.html"
    assert lpsched("facility", TINY, "--figure", str(room), "--report", str(page))[0] == 0
    assert room.read_bytes().startswith(b"\x89PNG")
    text = page.read_text(encoding="utf-8")
    assert "Earns 1.2000 reward/s; at most 1.2007 reward/s possible" in text
    assert "<svg" in text


def test_the_page_of_a_validation_has_table_bars_and_shares(lpsched, tmp_path):
    page = tmp_path / "methods.html"
    assert lpsched("validate", TINY, "--method", "lp,lp-cores", "--method", "greedy", "--report", str(page))[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "Best of 3 schedulers: lp, 1.2000 reward/s; at most 1.2007 reward/s possible" in text
    assert text.count("<svg") == 2
    assert "one core at a time" in text


def test_the_table_of_all_methods(lpsched):
    code, out, err = lpsched("validate", TINY, "--method", "all", "--generations", "3")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Best of 8 schedulers: lp, 1.2000 reward/s; at most 1.2007 reward/s possible (gap 0.04")
    assert lines[2] == "facility-tiny: allocations; cap 280 W, seed 0"
    rows = [re.split(" {2,}", line) for line in lines[5:15]]
    assert rows[0][:4] == ["scheduler", "reward/s", "gap", "co-location"]
    assert {row[0] for row in rows[1:]} == {"bound", *NAMES}
    earned = [float(row[1]) for row in rows[2:]]
    assert earned == sorted(earned, reverse=True)  # of all methods the best is first


def test_an_invalid_allocation_is_told_and_ends_with_1(lpsched, tmp_path):
    path = tmp_path / "hot.json"
    assert lpsched("facility", TINY, "-o", str(path))[0] == 0
    hot = json.loads(path.read_text())
    hot["outlets_celsius"] = [29.0]
    path.write_text(json.dumps(hot))
    code, out, _ = lpsched("validate", TINY, str(path))
    assert code == 1
    assert "over-redline" in out
    assert "node 0 ('node') draws in air of" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["facility", TINY, "--method", "greedy", "--outlets", "20"], "--outlets: got the option with --scheduler greedy, expected --scheduler lp; leave it out"),
        (["facility", TINY, "--method", "nlp", "--certificate", "p.json"], "--certificate: got the option with --scheduler nlp, expected --scheduler lp; leave it out"),
        (["facility", TINY, "--state", "s.npz"], "--state: got the option with --scheduler lp, expected --scheduler ga; leave it out"),
        (["facility", TINY, "--method", "nlp", "--generations", "3"], "--generations: got the option with --scheduler nlp, expected --scheduler ga; leave it out"),
        (["facility", TINY, "--start", "lp"], "--start: got the option with --scheduler lp, expected --scheduler ga; leave it out"),
        (["facility", TINY, "--method", "greedy", "--form", "gang"], "--form: got the option with --scheduler greedy, expected --scheduler lp; leave it out"),
        (["facility", TINY, "--method", "magic"], "--scheduler: got 'magic', expected one of lp, greedy, ga, nlp; choose one"),
        (["facility", TINY, "--figure", "room.gif"], "cannot write room.gif: expected the ending .png or .svg or .pdf; choose one"),
        (["facility", TINY, "--report", "room.pdf"], "cannot write room.pdf: expected the ending .html; choose one"),
        (["validate", TINY, "--method", "lp", "--price", "3"], "--price: got the option for a facility, expected a bag; leave it out"),
        (["validate", TINY, "--method", "lp,magic"], "--scheduler: got 'magic', expected one of lp, lp-cores, lp-blind"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_any_work(lpsched, arguments, words):
    code, out, err = lpsched(*arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    "command",
    [["facility", TINY, "--figure", "room.png"], ["validate", TINY, "--method", "lp", "--report", "all.html"]],
)
def test_pictures_that_cannot_be_drawn_are_told_before_any_work(lpsched, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = lpsched(*command)
    assert (code, out) == (1, "")
    assert "a figure needs the extra 'report'" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["-o", "--certificate"])
def test_a_folder_that_is_not_there_is_told_before_any_work(lpsched, tmp_path, option):
    path = tmp_path / "nowhere" / "x.json"
    code, out, err = lpsched("facility", TINY, option, str(path))
    assert (code, out) == (2, "")
    assert f"cannot write {path}: there is no folder {path.parent}; create it, or choose another" in err
