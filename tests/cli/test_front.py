"""`lpsched front`: the exact front, other methods held against it, and its pictures."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from lpsched.cancellation import CancelToken
from lpsched.cli import front as bag_front
from lpsched.online.files import write_day
from scripts.figures.shared.data_sets import chapter_5

pytestmark = pytest.mark.rotate_tests(5)

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY, FACILITY = str(INSTANCES / "tiny.yaml"), str(INSTANCES / "facility-tiny.yaml")
SHORT = ("--compare", "nsga2", "--generations", "3")


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    path = tmp_path_factory.mktemp("day") / "day.yaml"
    write_day(chapter_5(250), path)
    return str(path)


def test_compared_methods_follow_the_exact_front(lpsched):
    code, out, _ = lpsched("front", TINY, "--compare", "min-min,min-energy", "--compare", "nsga2", "--generations", "3")
    assert code == 0
    assert "along 2 vertices of the linear program (LP)" in " ".join(out.split())
    assert "compared with the front of the linear program; hypervolume up to " in out
    assert "seed 0\n" in out
    names = [line.split()[0] for line in out.splitlines() if line.startswith(("lp ", "min-", "nsga2 "))]
    assert names == ["lp", "min-min", "min-energy", "nsga2"]
    assert "nsga2: stopped at the generation limit after 3 generations\n" in out


def test_the_json_has_what_it_had_and_the_comparisons(lpsched):
    _, plain, _ = lpsched("front", TINY, "--json")
    code, answer, _ = lpsched("front", TINY, "--compare", "min-energy", "--seed", "5", "--json")
    assert code == 0
    assert set(answer) == set(plain) | {"seed", "reference", "comparisons"}
    assert answer["vertices"] == plain["vertices"]
    ours, thrifty = answer["comparisons"]
    assert answer["seed"] == 5
    # All on 'slow' is the least energy: 6,600 J in 30 s, a vertex of the front.
    assert thrifty["points"] == [{"energy_joules": 6600.0, "makespan_seconds": 30.0}]
    assert thrifty["largest_distance"] == pytest.approx(0.0, abs=1e-9)
    assert ours["times_as_long"] == pytest.approx(1.0)


def test_a_schedule_that_breaks_a_rule_is_told_and_the_exit_code_is_1(lpsched, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("task_type,machine_type,machine\nscan,fast,1\n")
    code, out, _ = lpsched("front", TINY, "--compare", str(bad))
    assert code == 1
    assert "wrong-count" in out
    assert out.startswith("tiny: verified schedules from 1.833 Wh in 30 s to 2.333 Wh in 12 s, along 2 vertices")


def test_pictures_of_the_front_and_of_the_machines(lpsched, tmp_path):
    files = [tmp_path / name for name in ("front.svg", "machines.svg", "falling.svg", "ours.svg")]
    code, _, err = lpsched("front", TINY, *SHORT, "--figure", str(files[0]), "--machines", str(files[1]))
    assert (code, err) == (0, "")
    assert lpsched("front", TINY, "--machines", str(files[2]), "--falling")[0] == 0
    assert lpsched("front", TINY, "--figure", str(files[3]))[0] == 0
    assert len({each.read_bytes() for each in files}) == 4


def test_the_numbers_of_the_machines_can_be_written(lpsched, tmp_path):
    file = tmp_path / "machines.json"
    assert lpsched("front", TINY, "--machines", str(file))[0] == 0
    told = json.loads(file.read_text())
    assert told["format"] == "lpsched-machines/1"
    thrifty, fast = told["points"]
    # All on the two 'slow': 30 s each and 30 s x 100 W; 'fast' idles at 20 W.
    assert (thrifty["letter"], thrifty["energy_joules"]) == ("A", 6600.0)
    assert thrifty["machines"] == [
        {"machine_type": "fast", "machines": 1, "completion_seconds": 0.0, "energy_joules": 600.0},
        {"machine_type": "slow", "machines": 2, "completion_seconds": 30.0, "energy_joules": 3000.0},
    ]
    assert {each["completion_seconds"] for each in fast["machines"]} == {12.0}


def test_without_a_schedule_there_are_no_machines_to_draw(lpsched, tmp_path):
    # 3.1 + 2 + 2 + 1.9 s on two machines: split they take 4.5 s, whole 5 s, which misses a deadline of 4.8 s.
    bag, picture = tmp_path / "bag.json", tmp_path / "machines.svg"
    raw: dict[str, Any] = {"format": "lpsched-bag/1", "name": "late", "machine_types": [{"name": "m", "count": 2}]}
    raw |= {
        "task_types": [{"name": "a", "count": 1}, {"name": "b", "count": 2}, {"name": "c", "count": 1}],
        "seconds": {"a": {"m": 3.1}, "b": {"m": 2.0}, "c": {"m": 1.9}},
        "watts": {name: {"m": 5.0} for name in "abc"},
    }
    bag.write_text(json.dumps(raw))
    code, out, err = lpsched("front", str(bag), "--deadline", "4.8", "--machines", str(picture))
    assert code == 0
    assert "is not drawn: there is no schedule" in err
    assert not picture.exists()
    assert out.startswith("late: no schedule was found, along 1 vertex of the linear program (LP)")
    code, answer, _ = lpsched("front", str(bag), "--deadline", "4.8", "--compare", "min-min", "--json")
    assert code == 1
    assert answer["comparisons"][1]["violations"][0]["code"] == "after-deadline"


def test_a_state_goes_on_where_it_ended(lpsched, tmp_path):
    state = str(tmp_path / "state.npz")
    _, first, _ = lpsched("front", TINY, *SHORT, "--state", state, "--json")
    _, second, _ = lpsched("front", TINY, *SHORT, "--state", state, "--json")
    _, whole, _ = lpsched("front", TINY, "--compare", "nsga2", "--generations", "6", "--json")
    assert [each["comparisons"][1]["generations"] for each in (first, second, whole)] == [3, 6, 6]
    assert second["comparisons"][1]["points"] == whole["comparisons"][1]["points"]
    # Other limits, the same tasks: the population fits.
    assert lpsched("front", TINY, *SHORT, "--state", state, "--deadline", "31")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--generations", "3"),
            "got the option without --scheduler nsga2, expected both; add --scheduler nsga2, or leave it out",
        ),
        (
            ("--compare", "min-min", "--state", "x.npz"),
            "got the option without --scheduler nsga2, expected both; add --scheduler nsga2, or leave it out",
        ),
        (("--compare", "min-mni"), "min-mni"),
        (("--compare", "max-utility"), "expected a day"),
        (("--compare", "nsga2", "--seed-with", "nobody"), "nobody"),
        (("--falling",), "got the option without --machines, expected both; add --machines, or leave it out"),
        (("--figure", "x.gif"), "expected the ending .png or .svg or .pdf"),
        (("--compare", "nsga2", "--state", "x.txt"), "expected the ending .npz"),
        (("--peak", "x.svg"), "got the option for a bag, expected a day; leave it out"),
    ],
)
def test_what_does_not_fit_is_refused_before_any_work(lpsched, arguments, words):
    code, out, err = lpsched("front", TINY, *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_a_facility_has_no_front(lpsched):
    code, _, err = lpsched("front", FACILITY)
    assert code == 2
    assert "expected 'lpsched-bag/1' or 'lpsched-day/1'; use 'lpsched facility' for a facility" in err


def test_a_day_is_held_against_its_envelope(lpsched, day, tmp_path):
    picture, peak = tmp_path / "front.svg", tmp_path / "peak.svg"
    code, out, err = lpsched(
        "front",
        day,
        "--compare",
        "nsga2,max-utility",
        "--generations",
        "2",
        "--figure",
        str(picture),
        "--peak",
        str(peak),
    )
    assert (code, err) == (0, "")
    assert "utility-250: utility at most 48" in out
    assert "peak utility/kWh" in out
    assert picture.exists()
    assert peak.exists()
    _, answer, _ = lpsched("front", day, "--compare", "min-energy", "--drop-below", "1", "--json")
    (thrifty,) = answer["comparisons"]
    assert answer["format"] == "lpsched-day-front/1"
    assert 0.0 < thrifty["hypervolume_ratio"] < 1.0
    assert thrifty["peak"]["utility"] == thrifty["points"][0]["utility"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--scheduler: got none, expected schedulers to compare with the envelope of a day"),
        (("--compare", "max-utility", "--deadline", "9"), "got the option for a day, expected a bag; leave it out"),
        (("--compare", "sufferage"), "sufferage"),
    ],
)
def test_what_a_day_does_not_have_is_refused(lpsched, day, arguments, words):
    code, out, err = lpsched("front", day, *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_ctrl_c_prints_what_evolved_so_far_and_ends_with_130(lpsched, monkeypatch, tmp_path):
    @contextlib.contextmanager
    def stopped_when_it_is_under_way(_, seconds):
        cancel = CancelToken(seconds, lambda progress: cancel.stop() if "generation" in progress.stage else None)
        yield cancel

    monkeypatch.setattr(bag_front, "cancellable", stopped_when_it_is_under_way)
    state = tmp_path / "state.npz"
    methods = ("--compare", "nsga2,min-min", "--time-limit", "300", "--state", str(state))
    code, answer, _ = lpsched("front", TINY, *methods, "--json")
    assert code == 130
    _, evolved, left = answer["comparisons"]
    assert evolved["ended"] == "stopped"
    assert evolved["points"]
    assert left["violations"][0]["code"] == "not-run"
    assert state.exists()
