"""`lpsched simulate`, from outside."""

from __future__ import annotations

import csv
import json
import signal
import sys

import pytest

from lpsched.errors import InstanceError
from lpsched.instances import read, write
from lpsched.online.files import write_day
from lpsched.online.policies import forget, policy, register
from tests.days import sound_day
from tests.simulated import drawn_day, two_tasks

pytestmark = pytest.mark.rotate_tests(8)

KEYS = {
    "format", "lpsched", "solver", "instance", "seed", "options", "energy_constraint_joules", "asked_trials",
    "naive_bound", "naive_bound_half_width", "bound", "bound_half_width", "trials", "policies",
}  # fmt: skip
OF_POLICY = {
    "name", "kind", "utility", "share_of_naive", "share_of_bound", "gap", "energy_joules", "completed",
    "dropped", "waiting", "events", "milliseconds_per_event", "seconds", "reasons", "by_priority", "busy", "traces", "trials",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    write_day(two_tasks(), folder / "two.yaml")
    write_day(drawn_day(), folder / "drawn.yaml")
    return folder


@pytest.fixture
def two(folder):
    return str(folder / "two.yaml")


@pytest.fixture
def drawn(folder):
    return str(folder / "drawn.yaml")


def test_the_table_has_a_row_for_each_policy(lpsched, two):
    code, out, err = lpsched("simulate", two, "--policy", "fcfs,min-min", "--every-seconds", "5")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Best of 2 schedulers: ")
    assert "simple: 1 day; seed 0; queued machines; a scheduling event every 5 s" in lines
    cells = [line.split() for line in lines]
    assert ["no-wait", "reference", "16"] in cells
    # 2,000 J are 0.0005556 kWh; nothing is dropped or left waiting, so those columns are left out
    assert [row[:6] for row in cells if row[:1] == ["fcfs"]] == [["fcfs", "8", "50", "%", "0.0005556", "2"]]
    assert "No task is dropped. No task is left waiting at the end." in " ".join(out.split())


def test_json_has_the_promised_keys(lpsched, two):
    code, answer, _ = lpsched("simulate", two, "--policy", "fcfs", "--every-seconds", "5", "--json")
    assert code == 0
    assert set(answer) == KEYS
    assert (answer["format"], answer["seed"], answer["bound"]) == ("lpsched-simulate/1", 0, None)
    (policy,) = answer["policies"]
    assert {key for key in policy if not key.endswith("_half_width")} == OF_POLICY
    assert (policy["utility"], policy["share_of_naive"], policy["energy_joules"]) == (8.0, 0.5, 2000.0)
    assert (policy["gap"], policy["gap_half_width"]) == (None, None)  # without a bound
    assert (policy["completed"], policy["dropped"], policy["waiting"]) == (2, 0, 0)
    assert policy["utility_half_width"] is None
    assert policy["by_priority"] == [{"name": "own function u0", "utility": 8.0, "if_none_waits": 16.0, "share": 0.5}]


def test_trials_have_half_widths_and_numbers_of_their_own(lpsched, drawn):
    code, answer, _ = lpsched("simulate", drawn, "--policy", "min-min", "--trials", "3", "--json")
    assert code == 0
    (policy,) = answer["policies"]
    utilities = [trial["utility"] for trial in policy["trials"]]
    assert len(utilities) == answer["asked_trials"] == 3
    assert policy["utility"] == pytest.approx(sum(utilities) / 3)
    assert policy["utility_half_width"] > 0.0
    assert [trial["trial"] for trial in answer["trials"]] == [0, 1, 2]
    _, out, _ = lpsched("simulate", drawn, "--policy", "min-min", "--trials", "3")
    assert "drawn: 3 days; seed 0" in out
    assert " ± " in out
    assert "95 % confidence interval" in out


def test_options_reach_the_engine(lpsched, drawn):
    _, answer, _ = lpsched(
        "simulate", drawn, "--policy", "max-max-upt", "--machines", "polled", "--every-arrivals", "3",
        "--drop-below", "0.5", "--energy-filter", "1.5", "--energy-gigajoules", "0.001", "--json",
    )  # fmt: skip
    assert answer["options"] == {
        "machines": "polled", "every_seconds": None, "every_arrivals": 3, "drop_below": 0.5,
        "energy_filter": 1.5, "permute": 0,
    }  # fmt: skip
    assert answer["energy_constraint_joules"] == 1e6
    assert 0.0 < answer["policies"][0]["energy_joules"] <= 1e6 * (1 + 1e-9)
    _, out, _ = lpsched(
        "simulate", drawn, "--policy", "max-max-upt", "--every-seconds", "30", "--every-arrivals", "3",
        "--drop-below", "0.5", "--energy-filter", "adaptive", "--energy-gigajoules", "0.001", "--permute", "2",
    )  # fmt: skip
    told = (
        "queued machines; a scheduling event every 30 s or 3 arrivals; energy at most 277.8 Wh; tasks below 0.5 dropped; "
        "energy filter adaptive; 2 tasks permuted"
    )
    assert told in " ".join(out.split())


def test_the_schedule_of_one_policy_can_be_written_and_is_valid(lpsched, two, tmp_path):
    out = tmp_path / "s.csv"
    code, _, _ = lpsched("simulate", two, "--policy", "fcfs", "--every-seconds", "5", "-o", str(out))
    assert code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [(row["task"], row["start_seconds"]) for row in rows] == [("0", "5.0"), ("1", "15.0")]
    code, answer, _ = lpsched("verify", two, str(out), "--json")
    assert (code, answer["files"][0]["accepted"]) == (0, True)


def test_a_schedule_in_json_is_verified_validated_expanded_and_read(lpsched, two, tmp_path):
    out = tmp_path / "s.json"
    assert lpsched("simulate", two, "--policy", "fcfs", "--every-seconds", "5", "-o", str(out))[0] == 0
    raw = json.loads(out.read_text())
    assert raw["format"] == "lpsched-day-schedule/1"
    code, answer, _ = lpsched("verify", two, str(out), "--json")
    assert (code, answer["instance"], answer["files"][0]["utility"]) == (0, raw["instance"], 8.0)
    code, answer, _ = lpsched("validate", two, str(out), "--json")
    assert (code, answer["entries"][0]["utility"]) == (0, 8.0)
    assert lpsched("expand", two, str(out), "-o", str(tmp_path / "s.swf"))[0] == 0
    day, schedule = read(two), read(out)
    assert [each.start_seconds for each in schedule.placed] == [5.0, 15.0]
    assert read(out, day) == schedule
    assert write(schedule, tmp_path / "again.json", instance=day) == (tmp_path / "again.json",)
    assert (tmp_path / "again.json").read_bytes() == out.read_bytes()
    with pytest.raises(InstanceError, match="pass instance="):
        write(schedule, tmp_path / "alone.json")
    out.write_text(out.read_text().replace('"end_seconds": 15.0', '"end_seconds": 14.0'))
    code, answer, _ = lpsched("verify", two, str(out), "--json")
    assert code == 1
    assert answer["files"][0]["reasons"][0].startswith("rows[0].end_seconds: got 14.0, expected 15.0, ")
    with pytest.raises(InstanceError):
        read(out, day)


def test_pictures_and_page_are_written(lpsched, drawn, tmp_path):
    files = [tmp_path / name for name in ("f.svg", "t.png", "page.html")]
    code, _, _ = lpsched(
        "simulate", drawn, "--policy", "fcfs,min-min",
        "--figure", str(files[0]), "--timeline", str(files[1]), "--report", str(files[2]),
    )  # fmt: skip
    assert code == 0
    assert files[0].read_text().startswith("<?xml")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert "<!DOCTYPE html>" in files[2].read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policy", ","), "--scheduler: got ',', expected names of schedulers"),
        (("--policy", "min-mim"), "min-min"),
        (
            ("--policy", "fcfs", "--offline"),
            "got the option without --bound, expected both; add --bound, or leave it out",
        ),
        (
            ("--policy", "fcfs", "--time-limit", "3"),
            "got the option without --bound, expected both; add --bound, or leave it out",
        ),
        (("--policy", "fcfs", "-o", "x.txt"), "expected the ending .csv or .parquet or .json"),
        (("--policy", "fcfs", "--figure", "x.gif"), "expected the ending"),
        (("--policy", "fcfs", "--timeline", "x.gif"), "expected the ending"),
        (("--policy", "fcfs", "--report", "x.pdf"), "expected the ending .html"),
        (("--policy", "fcfs", "--report", "/no/such/folder/x.html"), "cannot write"),
        (("--policy", "fcfs", "--energy-filter", "much"), "got 'much', expected none, adaptive or a number for a day"),
        (("--policy", "fcfs", "--energy-filter", "-1"), "--energy-filter: got -1.0"),
        (("--policy", "fcfs", "--energy-filter", "nan"), "--energy-filter: got NaN"),
        (("--policy", "fcfs", "--every-seconds", "0"), "--every: got 0.0"),
        (("--policy", "fcfs", "--permute", "99"), "--permute: got 99"),
        (
            ("--policy", "fcfs", "--energy-gigajoules", "nan"),
            "--energy: got 'nan', expected an energy such as 1.5, 800MJ",
        ),
        (("--policy", "fcfs", "--trials", "2"), "--trials: got 2, expected 1"),
        (("--policy", "max-util", "--machines", "polled"), "machines with queues"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(lpsched, two, arguments, words, monkeypatch):
    monkeypatch.setattr("lpsched.online.compare.simulations.work_off", lambda *_, **__: pytest.fail("began"))
    code, out, err = lpsched("simulate", two, *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_a_bag_is_no_day(lpsched, bag):
    code, out, err = lpsched("simulate", bag, "--policy", "fcfs")
    assert (code, out) == (2, "")
    assert "--scheduler: got the option for a bag, expected a day or clusters; leave it out" in err


def test_missing_compiler_is_said_with_the_way_out(lpsched, two, monkeypatch):
    monkeypatch.setattr("lpsched.jit.numba", None)
    code, out, err = lpsched("simulate", two, "--policy", "fcfs")
    assert (code, out) == (1, "")
    assert "needs the extra 'simulate'" in err


@pytest.mark.parametrize("library", ["matplotlib", "jinja2"])
def test_a_missing_library_of_pages_is_said_before_the_work(lpsched, two, monkeypatch, tmp_path, library):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr("lpsched.online.compare.simulations.work_off", lambda *_, **__: pytest.fail("began"))
    code, _, err = lpsched("simulate", two, "--policy", "fcfs", "--report", str(tmp_path / "x.html"))
    assert code == 1
    assert "needs the extra 'report'" in err


@pytest.fixture
def own():
    """Register policies that are forgotten afterwards."""
    known = []

    def of(name, function):
        register(name, function)
        known.append(name)
        return name

    yield of
    for name in known:
        forget(name)


def test_no_answer_at_all_is_exit_1_with_the_reason(lpsched, two, own, tmp_path):
    lazy, out_file = own("lazy", lambda *_: []), tmp_path / "s.csv"
    code, out, err = lpsched("simulate", two, "--policy", lazy, "--every-seconds", "5", "-o", str(out_file))
    assert code == 1
    assert out.startswith("No scheduler has a result.")
    assert "lazy" in out
    assert "s.csv is not written" in err
    assert not out_file.exists()


def test_one_policy_without_an_answer_does_not_spoil_the_others(lpsched, two, own):
    lazy = own("lazy", lambda *_: [])
    code, answer, _ = lpsched("simulate", two, "--policy", f"{lazy},fcfs", "--every-seconds", "5", "--json")
    assert code == 0
    assert answer["policies"][0]["utility"] is None
    assert answer["policies"][0]["reasons"][0]["trial"] == 0
    assert answer["policies"][1]["utility"] is not None


def test_ctrl_c_prints_what_was_done_and_ends_with_130(lpsched, drawn, own):
    calls = []

    def interrupted(state, rng):
        calls.append(state.now)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return policy("fcfs").choose(state, rng)

    names = f"fcfs,{own('interrupted', interrupted)},min-min"
    code, answer, err = lpsched("simulate", drawn, "--policy", names, "--trials", "2", "--json")
    assert code == 130
    assert "stopping: what was found so far follows" in err
    assert len(calls) == 3
    reasons = [[each["reason"] for each in policy["reasons"]] for policy in answer["policies"]]
    assert reasons == [[], ["stopped before its end"], ["stopped before it began"]]
    assert answer["policies"][0]["utility"] is not None


def test_names_that_look_like_code_are_printed_as_they_stand(lpsched, tmp_path):
    path, page = tmp_path / "odd.json", tmp_path / "odd.html"
    name = "[red]<script>alert(1)</script>$x$"
    raw = sound_day(name=name)
    raw["machine_types"][0]["name"] = "<b>cpu$</b>"
    text = json.dumps(raw).replace('"cpu"', '"<b>cpu$</b>"')
    path.write_text(text)
    code, out, _ = lpsched("simulate", str(path), "--policy", "fcfs", "--report", str(page))
    assert code == 0
    assert out.splitlines()[2].startswith(f"{name}: 1 day; seed 0")
    text = page.read_text()
    assert text.count("<script") == 1  # ours; tests/browser sees that no name runs
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_the_bound_that_is_told_is_the_one_that_certify_proves(lpsched, two, tmp_path):
    told = lpsched("simulate", two, "--policy", "fcfs", "--bound", "--json")[1]["bound"]
    lpsched("certify", two, "-o", str(tmp_path / "proof.json"))
    (verdict,) = lpsched("verify", two, str(tmp_path / "proof.json"), "--json")[1]["files"]
    assert verdict["accepted"]
    assert told == verdict["claimed"] == verdict["proved"]
