"""The commands that start, show, convert and verify days."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from lpsched.cli.options import Tables
from lpsched.online.day import Day, day_from_dict
from lpsched.online.files import read_day
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.schedule_files import write_day_schedule
from tests.days import SOUND, sound_day

# task 0: 10 s on the gpu at 200 W, worth 4; task 3 from 100 s on: 20 s at 90 W
PLACED = (PlacedTask(0, "gpu", 1, 0.0, "P0"), PlacedTask(3, "gpu", 1, 100.0, "P1"))


@pytest.fixture
def day(tmp_path):
    path = tmp_path / "day.json"
    path.write_text(json.dumps(SOUND))
    return str(path)


@pytest.fixture
def schedule(tmp_path):
    path = tmp_path / "mine.csv"
    write_day_schedule(DaySchedule(PLACED), path)
    return str(path)


def test_show_tells_of_arrivals_load_and_utility(lpsched, day):
    code, out, err = lpsched("show", day)
    assert (code, err) == (0, "")
    for line in (
        "tasks     4 of 2 types",
        "machines  3 of 2 types",
        "pairs     4 can run",
        "arrivals  0 to 100 s",
        # render 45 s on average, zip 30: (2 x 45 + 2 x 30) s / 3 machines / 100 s
        "load      50 % of the machines' time while tasks arrive",
        # 4 + 8 + 1 + 3
        "utility   at most 16, of 4 functions",
        "gpu                  1         2",
        "render         2      45          10",
        "zip            2      30          30",
        "high / soon / A      1",
        "deadline             1",
    ):
        assert line in out, line


def test_show_tells_what_counts_and_who_made_the_day(lpsched, tmp_path):
    period = {"warm_up_seconds": 10, "length_seconds": 200, "edge": "completed", "energy_constraint_joules": 5e8}
    note = {"generator": "essc", "seed": 3, "shares": [0.5, 1]}
    path = tmp_path / "d.json"
    path.write_text(json.dumps(sound_day(period=period, made_by=note)))
    code, out, err = lpsched("show", str(path))
    assert (code, err) == (0, "")
    assert "counted   10 to 210 s, tasks that end within; at most 500 MJ" in out
    assert "made by   essc, seed 3, shares [0.5, 1]" in out
    _, answer, _ = lpsched("show", str(path), "--json")
    assert (answer["period"], answer["made_by"]) == (period, note)


def test_show_warns_of_tasks_that_can_never_start(lpsched, tmp_path):
    path = tmp_path / "d.json"
    path.write_text(json.dumps(sound_day(period={"length_seconds": 50})))
    code, _, err = lpsched("show", str(path))
    assert code == 0
    assert "1 of the tasks arrive when the period is over, and can never start" in " ".join(err.split())


def test_show_as_json_has_the_numbers(lpsched, day):
    code, answer, _ = lpsched("show", day, "--json")
    assert code == 0
    assert answer["instance"] == {"name": "sound", "hash": day_from_dict(SOUND).content_hash}
    assert (answer["tasks"], answer["machines"], answer["pairs"], answer["functions"]) == (4, 3, 4, 4)
    assert answer["load"] == pytest.approx(0.5)
    assert answer["utility_at_most"] == pytest.approx(16.0)
    assert answer["told"]["slow"] == 1
    assert answer["task_types"] == {"render": 2, "zip": 2}
    assert (answer["period"], answer["made_by"]) == (None, None)


def test_show_of_tasks_that_all_arrive_at_once_claims_no_load(lpsched, tmp_path):
    path = tmp_path / "d.json"
    path.write_text(json.dumps(sound_day(tasks=SOUND["tasks"][:1])))
    _, out, _ = lpsched("show", str(path))
    assert "load      - of the machines' time" in out


def test_show_cuts_long_lists(lpsched, tmp_path):
    raw = sound_day(
        task_types=[{"name": f"t{i}"} for i in range(60)],
        seconds=[[1.0, None]] * 60,
        watts=[[1.0, None]] * 60,
        tasks=[{"arrival_seconds": 0, "task_type": "t59", "utility": "slow"}],
    )
    path = tmp_path / "d.json"
    path.write_text(json.dumps(raw))
    _, out, _ = lpsched("show", str(path))
    assert "t49" in out
    assert "t50" not in out
    assert "... and 10 more (--json has all)" in out


@pytest.mark.parametrize("tables", get_args(Tables))
def test_convert_loses_nothing(lpsched, day, tmp_path, tables):
    code, answer, _ = lpsched("--json", "convert", day, "-o", str(tmp_path / "out.yaml"), "--tables", tables)
    assert code == 0
    assert answer["files"][-1] == str(tmp_path / "out.yaml")
    assert read_day(tmp_path / "out.yaml") == read_day(day)


def test_convert_tells_which_files_it_wrote(lpsched, day, tmp_path):
    _, out, _ = lpsched("convert", day, "-o", str(tmp_path / "o.yaml"), "--tables", "npz")
    assert out.splitlines() == [
        f"{tmp_path}/o.yaml: 4 tasks on 3 machines (2 task types, 2 machine types)",
        f"{tmp_path}/o.yaml.npz: its tables",
        f"{tmp_path}/o.yaml.tasks.csv: its tasks",
    ]


def test_a_day_is_not_merged(lpsched, day, tmp_path):
    code, _, err = lpsched("convert", day, "-o", str(tmp_path / "o.yaml"), "--merge")
    assert code == 2
    assert "is no bag; leave the option out" in err


def test_new_day_prints_a_file_that_show_reads(lpsched, tmp_path):
    path = tmp_path / "new.yaml"
    code, out, _ = lpsched("new", "day", "-o", str(path))
    assert (code, out) == (0, f"{path}: edit it, then 'lpsched show {path}'\n")
    code, out, err = lpsched("show", str(path))
    assert (code, err) == (0, "")
    assert "my-day" in out


def test_schema_day_prints_the_schema(lpsched):
    code, out, _ = lpsched("schema", "day")
    assert code == 0
    assert json.loads(out) == Day.model_json_schema()


def test_commands_of_bags_say_what_a_day_is_for(lpsched, day):
    code, _, err = lpsched("solve", day)
    assert code == 2
    assert "found the text 'lpsched-day/1', needs 'lpsched-bag/1'" in err


def test_verify_measures_a_schedule_of_a_day(lpsched, day, schedule):
    # Task 3 ends 20 s after its arrival: 1 + 2 exp(-0.2) = 2.63746; energy 10 x 200 + 20 x 90 = 3800 J.
    code, out, err = lpsched("verify", day, schedule)
    assert (code, err) == (0, "")
    assert f"{schedule}  schedule  accepted  -        utility 6.63746, 120 s, 3,800 J" in out
    _, answer, _ = lpsched("--json", "verify", day, schedule)
    (found,) = answer["files"]
    assert found["utility"] == pytest.approx(4.0 + 1.0 + 2.0 * 0.8187307530779818)
    assert (found["makespan_seconds"], found["energy_joules"]) == (120.0, 3800.0)
    assert (found["completed"], found["dropped"], found["profit_per_hour"]) == (2, 2, None)


def test_verify_counts_by_the_period(lpsched, schedule, tmp_path):
    # From 5 s on half of task 0 counts: 2 and 1000 J. Of task 3 15 of 20 s count: 0.75 x 2.63746 and 1350 J.
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(sound_day(period={"warm_up_seconds": 5, "length_seconds": 110})))
    _, answer, _ = lpsched("--json", "verify", str(path), schedule)
    (found,) = answer["files"]
    assert found["utility"] == pytest.approx(2.0 + 0.75 * (1.0 + 2.0 * 0.8187307530779818))
    assert (found["energy_joules"], found["completed"], found["dropped"]) == (2350.0, 1, 2)
    path.write_text(json.dumps(sound_day(period={"energy_constraint_joules": 3799})))
    code, answer, _ = lpsched("--json", "verify", str(path), schedule)
    assert code == 1
    assert answer["files"][0]["reasons"] == [
        "the schedule takes 3800.0 J in the period that counts, of 3799.0 J allowed"
    ]


def test_verify_refuses_a_broken_schedule_with_reasons_and_exit_one(lpsched, day, tmp_path):
    write_day_schedule(DaySchedule((PlacedTask(3, "cpu", 1, 99.0),)), tmp_path / "early.csv")
    (tmp_path / "junk.csv").write_text("task\n")
    code, answer, _ = lpsched("--json", "verify", day, str(tmp_path / "early.csv"), str(tmp_path / "junk.csv"))
    assert code == 1
    early, junk = answer["files"]
    assert (early["kind"], early["reasons"]) == ("schedule", ["task 3 starts at 99.0 s, but arrives at 100.0 s"])
    assert junk["kind"] == "unreadable"
    assert junk["reasons"][0].startswith("machine_type: found no such column")
    assert not early["accepted"]


def test_faults_come_with_their_lines_and_exit_two(lpsched, tmp_path):
    (tmp_path / "t.csv").write_text("arrival_seconds,task_type,utility\n0,zip,slow\n0,zap,slow\n")
    path = tmp_path / "d.json"
    path.write_text(json.dumps(sound_day(tasks={"file": "t.csv"})))
    code, answer, _ = lpsched("show", str(path), "--json")
    assert code == 2
    (fault,) = answer["error"]["faults"]
    assert fault["where"] == "tasks[1].task_type (t.csv, line 3)"


def test_a_day_is_certified_and_its_certificate_verified(lpsched, day, tmp_path):
    proof = str(tmp_path / "proof.json")
    code, out, _ = lpsched("certify", day, "-o", proof, "--time-limit", "1")
    assert code == 0
    assert " is proved for " in out
    code, answer, _ = lpsched("verify", day, proof, "--json")
    assert code == 0
    checked = answer["files"][0]
    assert (checked["kind"], checked["objective"], checked["unit"]) == ("certificate", "utility", None)
    assert checked["proved"] <= checked["claimed"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(sound_day(name="other")))
    code, out, _ = lpsched("verify", str(other), proof)
    assert code == 1
    assert "it is about another day" in out


@pytest.mark.parametrize("option", [("--price", "3"), ("--effort", "tight"), ("--seed", "1")], ids=lambda each: each[0])
def test_options_of_a_bag_are_refused_for_a_day(lpsched, day, tmp_path, option):
    _, _, err = lpsched("certify", day, "-o", str(tmp_path / "proof.json"), *option)
    assert f"Invalid value for {option[0]}: goes with a bag, and this is a day" in err
