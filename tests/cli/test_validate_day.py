"""`lpsched validate DAY`, from outside."""

from __future__ import annotations

import json

import pytest

from lpsched.online.heuristics import names_for_days
from tests.days import sound_day


@pytest.fixture
def day(tmp_path):
    path = tmp_path / "day.json"
    path.write_text(json.dumps(sound_day()))
    return str(path)


def test_one_table_has_schedulers_and_files_of_a_day(lpsched, day, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("task,machine_type,machine,p_state,start_seconds\n1,cpu,1,,2.5\n")  # 8 for 30 s at 40 W
    code, out, _ = lpsched("validate", day, "--heuristic", "min-energy,min-min", str(mine))
    assert code == 0
    assert out.startswith("Best of 3 schedulers: min-min, utility 15.78413; at most 15.78413 possible")
    assert "utility of schedules; seed 0" in out
    for start in ("bound, any energy", "min-energy", "min-min", str(mine)):
        assert any(line.startswith(start) for line in out.splitlines())


def test_json_has_the_measured_numbers(lpsched, day, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("task,machine_type,machine,p_state,start_seconds\n1,cpu,1,,2.5\n")
    code, answer, _ = lpsched("validate", day, str(mine), "--heuristic", "random", "--seed", "4", "--json")
    assert (code, answer["format"], answer["seed"]) == (0, "lpsched-validate-day/1", 4)
    own = answer["entries"][0]
    assert (own["utility"], own["energy_joules"], own["completed"], own["dropped"]) == (8.0, 1200.0, 1, 3)
    assert own["makespan_seconds"] == 32.5
    assert [each["kind"] for each in answer["entries"]] == ["file", "heuristic"]


def test_all_names_all(lpsched, day):
    _, answer, _ = lpsched("validate", day, "--heuristic", "all,nsga2", "--generations", "2", "--json")
    names = [each["name"] for each in answer["entries"]]
    assert names[: len(names_for_days())] == list(names_for_days())
    assert [name.split(",")[0] for name in names[len(names_for_days()) :]] == ["nsga2", "nsga2"]


def test_a_limit_drops_what_is_worth_less(lpsched, day):
    _, answer, _ = lpsched("validate", day, "--heuristic", "mct", "--drop-below", "1.5", "--json")
    assert answer["drop_below"] == 1.5
    assert answer["entries"][0]["dropped"] == 1  # one task is worth 1 at most


def test_a_schedule_that_breaks_a_rule_is_told_and_the_exit_is_1(lpsched, day, tmp_path):
    early = tmp_path / "early.csv"
    early.write_text("task,machine_type,machine,p_state,start_seconds\n1,cpu,1,,0\n")
    code, out, _ = lpsched("validate", day, str(early))
    assert code == 1
    assert "before-arrival" in out
    assert "task 1 starts at 0.0 s, but arrives at 2.5 s" in out


def test_what_counts_is_said_below_the_table_and_nsga2_is_left_out(lpsched, tmp_path):
    path = tmp_path / "day.json"
    path.write_text(json.dumps(sound_day(period={"length_seconds": 200, "energy_constraint_joules": 2e6})))
    code, out, err = lpsched("validate", str(path), "--heuristic", "all")
    assert code == 0
    assert (
        "Counted: from 0 s to 3 min 20 s, tasks prorated at its ends; energy at most 555.6 Wh; tasks that would start later"
        in " ".join(out.split())
    )
    assert "left out: nsga2, which does not support periods" in err
    code, out, err = lpsched("validate", str(path), "--heuristic", "nsga2")
    assert (code, out) == (2, "")
    assert "remove the key 'period', or see 'lpsched simulate'" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--heuristic", "sufferage"), "'sufferage', expected one of min-energy"),
        (("--heuristic", "mct", "--price", "3"), "--price: got the option for a day, expected a bag; leave it out"),
        (("--heuristic", "mct", "--drop-below", "nan"), "drop"),
        (
            ("--heuristic", "mct", "--generations", "3"),
            "got the option without --scheduler nsga2, expected both; add --scheduler nsga2, or leave it out",
        ),
    ],
)
def test_what_does_not_fit_a_day_is_refused(lpsched, day, arguments, words):
    code, out, err = lpsched("validate", day, *arguments)
    assert (code, out) == (2, "")
    assert words in err
