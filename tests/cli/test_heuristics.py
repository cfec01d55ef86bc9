"""Schedulers from the command line: `lpsched validate BAG --heuristic`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lpsched.bag.heuristics import forget, names, register
from lpsched.bag.schedule import TaskRow
from lpsched.errors import MissingExtraError
from lpsched.evolve import nsga2 as evolved
from tests.support import sound

pytestmark = pytest.mark.rotate_tests(6)

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY, VIDEO, ROOM = (str(INSTANCES / name) for name in ("tiny.yaml", "video-transcoding.yaml", "facility-tiny.yaml"))


@pytest.fixture
def mine():
    """Register a scheduler for a while."""
    registered = []

    def make(function):
        register("mine", function)
        registered.append("mine")

    yield make
    for name in registered:
        forget(name)


def first_words(out: str) -> list[str]:
    table = out[out.index("\nscheduler ") + 1 :].partition("\n\n")[0]
    return [line.split("  ")[0] for line in table.splitlines()[1:]]


def test_names_come_with_commas_or_repeated_and_each_is_a_line(lpsched):
    code, out, err = lpsched("validate", TINY, "--heuristic", "min-min, sufferage", "--heuristic", "lp,min-min")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Best of 3 schedulers: min-min and 1 other, profit 3.48 USD/h; optimal (proved)."
    assert lines[2] == "tiny: profit of schedules; seed 0"
    assert re.split(" {2,}", lines[4]) == ["scheduler", "profit, USD/h", "gap", "makespan", "energy", "seconds"]
    assert re.split(" {2,}", lines[5].strip()) == ["bound", "3.48", "proved"]
    assert first_words(out) == ["bound", "min-min", "sufferage", "lp"]
    # the fast end of the front, as min-min finds it
    assert re.split(" {2,}", lines[6])[:5] == ["min-min", "3.48", "0 %", "12 s", "2.333 Wh"]


def test_the_answer_as_json_keeps_its_keys_and_adds_some(lpsched):
    code, answer, _ = lpsched("validate", TINY, "--heuristic", "mct", "--seed", "7", "--json")
    assert code == 0
    assert (answer["seed"], answer["objective"], answer["unit"]) == (7, "profit", "USD/hour")
    (entry,) = answer["entries"]
    assert set(entry) == {
        "name", "kind", "valid", "value", "gap", "makespan_seconds", "energy_joules", "profit_per_hour", "seconds",
        "violations",
    }  # fmt: skip
    assert entry["value"] == entry["profit_per_hour"]
    assert (entry["kind"], entry["violations"]) == ("heuristic", [])


def test_files_come_before_schedulers_in_one_table(lpsched, tmp_path):
    path = str(tmp_path / "s.json")
    assert lpsched("solve", TINY, "-o", path)[0] == 0
    code, out, _ = lpsched("validate", TINY, path, "--heuristic", "olb", "--objective", "makespan")
    assert code == 0
    assert first_words(out) == ["bound", path, "olb"]


def test_all_runs_everything_there_is(lpsched, monkeypatch):
    monkeypatch.setattr(evolved, "GENERATIONS", 2)
    code, out, err = lpsched("validate", TINY, "--heuristic", "all")
    assert (code, err) == (0, "")
    words = first_words(out)
    assert words[0] == "bound"
    assert sorted(words[1:]) == sorted(["lp", *names(), "nsga2"])


def test_all_leaves_out_what_is_not_installed_and_says_so(lpsched, monkeypatch):
    def missing():
        raise MissingExtraError("NSGA-II", "evolve")

    monkeypatch.setattr(evolved, "require_pymoo", missing)
    code, out, err = lpsched("validate", TINY, "--heuristic", "all")
    assert code == 0
    assert "nsga2" not in out
    assert err == f"lpsched: left out: {MissingExtraError('NSGA-II', 'evolve')}\n"
    code, out, err = lpsched("validate", TINY, "--heuristic", "mct,nsga2")
    assert (code, out) == (1, "")
    assert "NSGA-II needs the extra" in err


def test_all_leaves_out_what_counts_joules_where_there_are_no_watts(lpsched, tmp_path):
    path = tmp_path / "bag.json"
    path.write_text(json.dumps(sound(watts=..., prices=...)))
    code, out, err = lpsched("validate", str(path), "--heuristic", "all")
    assert code == 0
    assert err == "lpsched: left out: no joules without watts, so no min-energy and no nsga2\n"
    words = first_words(out)
    assert words[0] == "bound"
    assert sorted(words[1:]) == sorted(["lp", *(name for name in names() if name != "min-energy")])
    code, out, _ = lpsched("validate", str(path), "--heuristic", "all,min-energy")  # but who asks for it is told
    assert code == 1
    assert "watts: got none, expected the watts of every pair that can run, since min-energy counts joules" in out


def test_a_scheduler_that_fails_is_told_and_ends_with_1(lpsched, mine):
    mine(lambda _bag, _rng: [TaskRow("scan", "fast", 9)])
    code, out, _ = lpsched("validate", TINY, "--heuristic", "mct,mine")
    assert code == 1
    row = out.splitlines()[7].split()
    assert row == ["mine", "invalid", "-", "-", "-", row[-1]]
    float(row[-1].removeprefix("<"))  # the seconds that it took
    assert "there is no machine 9 of type 'fast', only 1 to 1" in out


def test_names_that_would_steer_the_terminal_are_shown_as_they_are(lpsched, mine):
    def failing(_bag, _rng):
        raise ValueError("[red]no\x1b[31m and\nso on" + " and on" * 1000)

    mine(failing)
    code, out, _ = lpsched("validate", TINY, "--heuristic", "mine")
    assert code == 1
    assert "ValueError: [red]no\\x1b[31m and\\nso on and on" in out
    assert len(out) < 2000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([TINY, "--heuristic", "minmin"], "--scheduler: got 'minmin', expected one of min-min, max-min"),
        ([TINY, "--heuristic", ""], "--scheduler: got '', expected names of schedulers"),
        ([TINY, "--heuristic", "max-utility"], "got 'max-utility' for a bag, expected a day"),
        ([TINY, "--heuristic", "mct", "--generations", "3"], "--generations: got the option without --scheduler nsga2, expected both; add --scheduler nsga2, or leave it out"),
        ([TINY, "--method", "lp-cores"], "--scheduler: got 'lp-cores', expected one of min-min, max-min"),
        ([ROOM, "--heuristic", "mct"], "--scheduler: got 'mct', expected one of lp, lp-cores"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(lpsched, arguments, words):
    code, out, err = lpsched("validate", *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.skipif(os.name == "nt", reason="expected POSIX signals")
def test_ctrl_c_prints_what_there_is_and_ends_with_130(lpsched, mine):
    def pressed(_bag, _rng):
        signal.raise_signal(signal.SIGINT)
        return [TaskRow("scan", "fast", 1)]

    assert threading.current_thread() is threading.main_thread()
    mine(pressed)
    code, out, err = lpsched("validate", TINY, "--heuristic", "mct,mine,olb")
    assert code == 130
    assert "stopping: what was found so far follows" in err
    assert first_words(out)[:4] == ["bound", "mct", "mine", "olb"]
    assert "stopped before" in out


def test_schedulers_run_without_any_optional_package(tmp_path):
    # A Python in which none of them can be imported.
    gone = ("numba", "pymoo", "matplotlib", "pulp", "pyarrow", "scipy", "casadi", "cvxpy")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({gone!r}))\n"
        f"from lpsched.cli.main import run; sys.exit(run(['validate', {TINY!r}, '--heuristic', 'all']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0
    words = first_words(done.stdout)
    assert words[:2] == ["bound", "lp"]  # of all schedulers the best is first
    assert sorted(words[2:]) == sorted(names())
    assert "left out: NSGA-II needs the extra" in done.stderr


def test_a_package_brings_its_own_heuristics(tmp_path):
    # As pip would leave it: a module, and beside it what it announces.
    (tmp_path / "fancy_rules.py").write_text(
        "from lpsched.heuristics import heuristic\ndef rule(bag, rng): return heuristic('min-min')(bag, rng)\n"
    )
    announced = tmp_path / "fancy_rules-1.0.dist-info"
    announced.mkdir()
    (announced / "METADATA").write_text("Metadata-Version: 2.1\nName: fancy-rules\nVersion: 1.0\n")
    (announced / "entry_points.txt").write_text(
        "[lpsched.heuristics]\nfancy = fancy_rules:rule\nbroken = fancy_rules:no_such_rule\n"
    )
    path = os.pathsep.join((str(tmp_path), str(INSTANCES.parent)))
    done = subprocess.run(
        [sys.executable, "-m", "lpsched", "validate", TINY, "--heuristic", "min-min,fancy,broken"],
        env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[6].split()[1:6] == lines[7].split()[1:6]
    assert lines[7].startswith("fancy")
    assert "'broken', which package 'fancy-rules' announces as fancy_rules:no_such_rule: AttributeError" in done.stdout


def test_with_risk_a_second_table_tells_how_schedulers_fare(lpsched, bag):
    code, out, _ = lpsched("validate", bag, "--heuristic", "lp,mct", "--risk", "samples=20,cov=0.3")
    assert code == 0
    told = out[out.index("If times and powers scatter (coefficient of variation 0.3; 20 samples)") :]
    head, *rows = [re.split(r"\s{2,}", line) for line in told.splitlines()[2:]]
    assert head[:4] == ["profit, USD/h", "planned", "mean", "deviation"]
    assert head[-1] == "chance of a loss"
    assert [row[0] for row in rows] == ["lp", "mct"]
    assert {len(row) for row in rows} == {len(head)}
