"""`lpsched simulate` on clusters, from outside."""

from __future__ import annotations

import csv
import json
import signal

import pytest

from lpsched.instances import read
from lpsched.online.cluster_policies import easy, forget, register
from lpsched.online.files import write_clusters, write_day
from lpsched.online.utility import WaitingCost
from tests.cli.test_simulate import KEYS, OF_POLICY
from tests.parallel import sound_clusters
from tests.simulated import two_tasks
from tests.simulated_clusters import drawn_clusters, three_tasks, waiting_tasks

pytestmark = pytest.mark.rotate_tests(7)

OF_CLUSTERS = KEYS | {"judged_by", "waiting", "naive_cost", "cost_bound", "unit", "epoch"}
OF_POLICIES = OF_POLICY | {"utilisation", "wait_seconds", "mean_bounded_slowdown", "cost", "cost_per_task", "groups"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    write_clusters(three_tasks(), folder / "three.yaml")
    write_clusters(three_tasks(watts=False), folder / "dark.yaml")
    write_clusters(waiting_tasks(WaitingCost()), folder / "waiting.yaml")
    write_clusters(drawn_clusters(), folder / "drawn.yaml")
    return folder


@pytest.fixture
def path(folder):
    return lambda name: str(folder / f"{name}.yaml")


@pytest.fixture
def no_work(monkeypatch):
    monkeypatch.setattr("lpsched.online.compare.simulations.work_off", lambda *_, **__: pytest.fail("began"))


def test_the_table_has_a_row_for_each_policy(lpsched, path):
    code, out, err = lpsched("simulate", path("three"), "--policy", "easy,conservative", "--every-seconds", "0")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Best of 2 schedulers: easy and 1 other, utility 16, 66.67 % of the no-wait reference.")
    assert lines[3] == "simple: 1 trial; seed 0; a scheduling event at every arrival and end"
    cells = [line.split() for line in lines]
    assert ["no-wait", "reference", "24"] in cells
    (row,) = [row for row in cells if row[:3] == ["easy", "16", "66.67"]]
    assert row[4:6] == ["0.0008333", "3"]  # 3,000 J; no column of gaps without a bound


def test_json_has_the_promised_keys(lpsched, path):
    code, answer, _ = lpsched("simulate", path("three"), "--policy", "easy", "--every-seconds", "0", "--json")
    assert code == 0
    assert set(answer) == OF_CLUSTERS
    assert (answer["format"], answer["judged_by"], answer["waiting"]) == ("lpsched-simulate/1", "utility", None)
    (policy,) = answer["policies"]
    assert {key for key in policy if not key.endswith("_half_width")} == OF_POLICIES
    assert policy["wait_seconds"] == {"mean": 10.0, "median": 10.0, "p95": 20.0, "longest": 20.0}
    assert policy["busy"] == {"c0": 1.0}
    assert answer["options"] == {
        "every_seconds": None, "drop_below": 0.0, "energy_filter": None, "leniency": None, "placeholders": False,
    }  # fmt: skip


def test_options_reach_the_engine(lpsched, path):
    code, answer, _ = lpsched(
        "simulate", path("drawn"), "--policy", "max-upe", "--placeholders", "--every-seconds", "30",
        "--drop-below", "0.5", "--energy-filter", "per-resource:3", "--energy-gigajoules", "0.001", "--json",
    )  # fmt: skip
    assert code == 0
    assert answer["options"] == {
        "every_seconds": 30.0, "drop_below": 0.5, "energy_filter": "per-resource", "leniency": 3.0,
        "placeholders": True,
    }  # fmt: skip
    assert answer["energy_constraint_joules"] == 1e6
    assert answer["policies"][0]["name"] == "max-upe:placeholders"
    assert 0.0 < answer["policies"][0]["energy_joules"] <= 1e6 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("cost", "weight", "total"),
    [
        ((), (), 6.0),  # slowdowns of 1, 2 and 3
        (("--cost", "seconds"), (), 30.0),
        (("--cost", "slowdown"), ("--weight", "cores"), 12.0),
        ((), ("--weight", "core-seconds"), 120.0),  # 2 cores x 10 s each
    ],
)
def test_what_waiting_costs_can_be_chosen(lpsched, path, cost, weight, total):
    code, answer, _ = lpsched("simulate", path("waiting"), "--policy", "easy", *cost, *weight, "--json")
    assert (code, answer["judged_by"]) == (0, "waiting")
    assert answer["policies"][0]["cost"] == pytest.approx(total)  # 1 / 10 is no double: costs are rounded up


@pytest.mark.parametrize(
    ("arguments", "total"),
    [
        ((), 3.0),  # 0, 1 and 2
        (("--weight", "cores"), 6.0),
        (("--cost", "seconds"), 30.0),
    ],
)
def test_points_of_a_file_are_kept_unless_another_cost_is_asked_for(lpsched, tmp_path, arguments, total):
    cost = WaitingCost("points", points=((0.0, 0.0), (10.0, 1.0)))
    write_clusters(waiting_tasks(cost), tmp_path / "points.yaml")
    code, answer, _ = lpsched("simulate", str(tmp_path / "points.yaml"), "--policy", "easy", *arguments, "--json")
    assert code == 0
    assert answer["policies"][0]["cost"] == pytest.approx(total)


def test_energy_is_not_told_where_nobody_knows_it(lpsched, path):
    code, answer, _ = lpsched("simulate", path("dark"), "--policy", "easy", "--every-seconds", "5", "--json")
    assert (code, answer["policies"][0]["energy_joules"]) == (0, None)


def test_the_schedule_of_one_policy_can_be_written_and_is_valid(lpsched, path, tmp_path):
    out = tmp_path / "s.csv"
    code, _, _ = lpsched("simulate", path("waiting"), "--policy", "easy", "-o", str(out))
    assert code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [(row["task"], row["nodes"], row["start_seconds"]) for row in rows] == [
        ("0", "1-2", "0.0"), ("1", "1-2", "10.0"), ("2", "1-2", "20.0"),
    ]  # fmt: skip
    code, answer, _ = lpsched("verify", path("waiting"), str(out), "--json")
    assert (code, answer["files"][0]["accepted"]) == (0, True)


def test_a_schedule_in_json_is_verified_and_read(lpsched, path, tmp_path):
    out = tmp_path / "s.json"
    assert lpsched("simulate", path("waiting"), "--policy", "easy", "-o", str(out))[0] == 0
    raw = json.loads(out.read_text())
    assert raw["format"] == "lpsched-clusters-schedule/1"
    assert [(row["nodes"], row["start_seconds"], row["end_seconds"]) for row in raw["rows"]] == [
        ("1-2", 0.0, 10.0), ("1-2", 10.0, 20.0), ("1-2", 20.0, 30.0),
    ]  # fmt: skip
    code, answer, _ = lpsched("verify", path("waiting"), str(out), "--json")
    assert (code, answer["files"][0]["accepted"]) == (0, True)
    assert read(out) == read(out, read(path("waiting")))


@pytest.mark.parametrize("name", ["s.swf", "s_jobs.csv"])
def test_what_became_of_all_tasks_can_be_written_for_others(lpsched, path, tmp_path, name):
    out = tmp_path / name
    code, _, _ = lpsched("simulate", path("waiting"), "--policy", "easy", "-o", str(out))
    assert code == 0
    lines = [line for line in out.read_text().splitlines() if not line.startswith((";", "job_id"))]
    waits = [line.split(",")[11] if name.endswith(".csv") else line.split()[2] for line in lines]
    assert [float(wait) for wait in waits] == [0.0, 10.0, 20.0]


def test_pictures_and_page_are_written(lpsched, path, tmp_path):
    files = [tmp_path / name for name in ("f.svg", "t.svg", "page.html")]
    code, _, _ = lpsched(
        "simulate", path("waiting"), "--policy", "easy",
        "--figure", str(files[0]), "--timeline", str(files[1]), "--report", str(files[2]),
    )  # fmt: skip
    assert code == 0
    assert all(each.read_text().startswith("<?xml") for each in files[:2])
    assert "<!DOCTYPE html>" in files[2].read_text()


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "three",
            ("--policy", "easy", "--machines", "polled"),
            "--machines: got the option for clusters, expected a day; leave it out",
        ),
        (
            "three",
            ("--policy", "easy", "--permute", "2"),
            "--permute: got the option for clusters, expected a day; leave it out",
        ),
        (
            "three",
            ("--policy", "easy", "--every-arrivals", "2"),
            "--every-arrivals: got the option for clusters, expected a day; use --every 0",
        ),
        (
            "three",
            ("--policy", "easy", "--bound", "--offline"),
            "--offline: got the option for clusters with utilities, expected a day, or a cost of waiting",
        ),
        ("three", ("--policy", "easy", "--energy-filter", "adaptive"), "expected none, per-task or per-resource"),
        ("three", ("--policy", "easy", "--energy-filter", "1.5"), "for clusters"),
        ("three", ("--policy", "easy", "--energy-filter", "per-task:much"), "got 'per-task:much'"),
        ("three", ("--policy", "easy", "--energy-filter", "per-task:"), "got 'per-task:', expected"),
        ("three", ("--policy", "easy", "--energy-filter", "per-task:-1"), "--energy-filter: got -1.0"),
        ("three", ("--policy", "easy", "--energy-filter", "per-task:nan"), "--energy-filter: got NaN"),
        ("three", ("--policy", "easy", "--every-seconds", "-1"), "--every: got -1.0"),
        (
            "three",
            ("--policy", "easy", "--cost", "seconds"),
            "got the option for clusters with utilities, expected clusters whose cost of waiting is minimised",
        ),
        (
            "three",
            ("--policy", "easy", "--weight", "cores"),
            "got the option for clusters with utilities, expected clusters whose cost of waiting is minimised",
        ),
        ("three", ("--policy", "eazy"), "easy"),
        ("three", ("--policy", "easy", "--trials", "2"), "--trials: got 2, expected 1"),
        (
            "three",
            ("--policy", "easy", "-o", "x.gz"),
            "expected the ending .csv or .parquet or .json or .swf or .swf.gz",
        ),
        ("three", ("--policy", "easy", "-o", "/no/such/folder/x.swf"), "cannot write"),
        (
            "dark",
            ("--policy", "easy", "--energy-gigajoules", "1"),
            "--energy: got the option for clusters without watts, expected clusters with watts",
        ),
        (
            "waiting",
            ("--policy", "easy", "--energy-gigajoules", "1"),
            "--energy: got the option for clusters whose cost of waiting is minimised, expected tasks with utilities",
        ),
        ("waiting", ("--policy", "max-upe"), "which looks at utility"),
        ("waiting", ("--policy", "easy", "--cost", "points"), "--cost"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_what_cannot_be_is_refused_before_the_work(lpsched, path, name, arguments, words):
    code, out, err = lpsched("simulate", path(name), *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--placeholders",), "got the option for a day, expected clusters; leave it out"),
        (("--cost", "seconds"), "got the option for a day, expected clusters whose cost of waiting is minimised"),
        (("--weight", "cores"), "got the option for a day, expected clusters whose cost of waiting is minimised"),
        (("--energy-filter", "per-task"), "expected none, adaptive or a number for a day"),
    ],
)
def test_words_of_clusters_are_refused_for_a_day(lpsched, tmp_path, arguments, words):
    write_day(two_tasks(), tmp_path / "day.yaml")
    code, out, err = lpsched("simulate", str(tmp_path / "day.yaml"), "--policy", "fcfs", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_dropping_is_refused_where_all_tasks_have_to_run(lpsched, path):
    code, out, err = lpsched("simulate", path("waiting"), "--policy", "easy", "--drop-below", "1")
    assert (code, out) == (2, "")
    assert "all of them have to run" in err


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


def test_no_answer_at_all_is_exit_1_with_the_reason(lpsched, path, own, tmp_path):
    lazy, out_file = own("lazy", lambda *_: []), tmp_path / "s.swf"
    code, out, err = lpsched("simulate", path("waiting"), "--policy", lazy, "-o", str(out_file))
    assert code == 1
    assert out.startswith("No scheduler has a result.")
    assert "policy 'lazy' placed nothing at 1 scheduling events" in out
    assert "s.swf is not written" in err
    assert not out_file.exists()


def test_ctrl_c_prints_what_was_done_and_ends_with_130(lpsched, path, own):
    calls = []

    def interrupted(state, rng):
        calls.append(state.now)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return easy(state, rng)

    names = f"easy,{own('interrupted', interrupted)},random"
    code, answer, err = lpsched("simulate", path("drawn"), "--policy", names, "--json")
    assert code == 130
    assert "stopping: what was found so far follows" in err
    assert len(calls) == 2
    reasons = [[each["reason"] for each in policy["reasons"]] for policy in answer["policies"]]
    assert reasons == [[], ["stopped before its end"], ["stopped before it began"]]


def test_names_that_look_like_code_are_printed_as_they_stand(lpsched, tmp_path):
    path, page = tmp_path / "odd.json", tmp_path / "odd.html"
    name = "[red]<script>alert(1)</script>$x$"
    path.write_text(json.dumps(sound_clusters(name=name)).replace('"thin"', '"<b>thin$</b>"'))
    code, out, _ = lpsched("simulate", str(path), "--policy", "easy", "--report", str(page))
    assert code == 0
    assert out.splitlines()[2].startswith(name)
    text = page.read_text()
    assert text.count("<script") == 1  # ours; tests/browser sees that no name runs
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
