from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from lpsched.cancellation import CancelToken
from lpsched.cli.main import INTERRUPTED
from lpsched.cli.study import _cores
from lpsched.cli.study import _executor as executor_of
from lpsched.studies.dask_executor import DaskExecutor
from lpsched.studies.executors import LocalExecutor
from lpsched.studies.running import SerialExecutor
from tests.studies.declared import study_file

pytestmark = pytest.mark.rotate_tests(5)

ONE = ("--jobs", "1")


def test_a_study_runs_and_reports(lpsched, tmp_path):
    path, lines = str(study_file(tmp_path)), str(tmp_path / "tiny.runs.jsonl")
    code, out, err = lpsched("study", "run", path, *ONE)
    assert (code, err) == (0, "")
    assert out.startswith("tiny: 8 runs done, none failed (8 now in ")
    assert f"Next: 'lpsched study report {lines}' shows the results." in " ".join(out.split())
    code, answer, _ = lpsched("study", "run", path, *ONE, "--resume", "--json")
    assert code == 0
    assert (answer["format"], answer["found"], answer["made"]) == ("lpsched-study-run/1", 8, 0)
    code, out, _ = lpsched("study", "report", path)
    assert code == 0
    assert out.startswith("tiny: 8 runs, none failed. Smallest mean gap: for makespan lp (under 0.001 % over 2 runs), ")
    assert [line.split()[:2] for line in out.splitlines()[3:6]] == [
        ["method", "objective"],
        ["lp", "makespan"],
        ["lp", "energy"],
    ]
    code, answer, _ = lpsched("study", "report", lines, "--by", "method", "--value", "energy_joules", "--json")
    assert (answer["format"], answer["by"]) == ("lpsched-study-report/1", ["method"])
    assert answer["quantities"][0] == "energy_joules"
    assert [group["runs"] for group in answer["groups"]] == [4, 4]


def test_a_report_writes_a_table_a_picture_and_a_page(lpsched, tmp_path):
    path = str(study_file(tmp_path))
    lpsched("study", "run", path, *ONE)
    files = [str(tmp_path / name) for name in ("t.csv", "f.svg", "p.html")]
    code, out, err = lpsched("study", "report", path, "-o", files[0], "--figure", files[1], "--report", files[2])
    assert (code, err) == (0, "")
    assert (tmp_path / "t.csv").read_text().startswith("method,objective,group_runs")
    assert "<svg" in (tmp_path / "f.svg").read_text()
    headline = " ".join(out.split("\n\n")[0].split())
    assert headline.startswith("tiny: 8 runs, none failed. Smallest mean gap: for makespan lp (")
    assert f'<p class="summary">{headline}</p>' in (tmp_path / "p.html").read_text()


def test_lines_that_are_there_are_kept_unless_one_goes_on(lpsched, tmp_path):
    path = str(study_file(tmp_path))
    lpsched("study", "run", path, *ONE)
    before = (tmp_path / "tiny.runs.jsonl").read_bytes()
    code, _, err = lpsched("study", "run", path, *ONE)
    assert code == 2
    assert "tiny.runs.jsonl exists; choose another name or add --resume or --force" in err
    assert (tmp_path / "tiny.runs.jsonl").read_bytes() == before
    code, answer, _ = lpsched("study", "run", path, *ONE, "--force", "--json")
    assert (code, answer["found"], answer["made"]) == (0, 0, 8)
    assert len((tmp_path / "tiny.runs.jsonl").read_bytes().splitlines()) == 8


def test_a_bad_study_is_told_with_places_and_ways_out(lpsched, tmp_path):
    code, answer, err = lpsched("study", "run", str(study_file(tmp_path, methods=["mni-min"])), "--json")
    assert code == 2
    assert "did you mean 'min-min'?" in err
    assert answer["error"]["faults"][0]["found"] == "'mni-min'"


def test_failed_runs_are_told_and_are_no_failure_of_the_command(lpsched, tmp_path):
    path = str(study_file(tmp_path, parameters={"objective": "profit"}))
    code, out, _ = lpsched("study", "run", path, *ONE)
    assert code == 0
    assert out.startswith("tiny: 4 runs done, 4 failed (4 now in ")
    assert re.search(r"^ +4  prices\.per_bag: got none, expected what a bag sells for", out, re.MULTILINE)
    code, out, _ = lpsched("study", "report", path)
    assert code == 0
    assert out.startswith("tiny: 4 runs, 4 failed.\n")
    assert "failed runs  reason" in out


def test_outputs_of_other_endings_are_refused(lpsched, tmp_path):
    path = str(study_file(tmp_path))
    for arguments in (
        ("run", path, "-o", "a.csv"),
        ("report", path, "-o", "a.txt"),
        ("report", path, "--figure", "a.gif"),
        ("report", path, "--report", "a.pdf"),
    ):
        code, _, err = lpsched("study", *arguments)
        assert code == 2
        assert "expected the ending" in err


def test_jobs_do_not_go_with_dask(lpsched, tmp_path):
    path = str(study_file(tmp_path))
    code, _, err = lpsched("study", "run", path, "--jobs", "2", "--dask", "tcp://127.0.0.1:1")
    assert code == 2
    assert "--jobs: got the option with --dask, expected one of them" in err


def test_a_study_that_was_stopped_says_how_to_go_on(lpsched, tmp_path, monkeypatch):
    monkeypatch.setattr(CancelToken, "expired", lambda _cancel: True)
    monkeypatch.setattr(CancelToken, "is_stopped", property(lambda _cancel: True))
    code, out, _ = lpsched("study", "run", str(study_file(tmp_path)), *ONE)
    assert code == INTERRUPTED
    assert out == "tiny: 0 of 8 runs done, none failed.\n\nNext: 'lpsched study run' with --resume makes the others.\n"


def test_other_versions_and_other_runs_are_told(lpsched, tmp_path):
    path, lines = str(study_file(tmp_path)), tmp_path / "tiny.runs.jsonl"
    _, answer, _ = lpsched("study", "run", path, *ONE, "--json")
    version = f'"lpsched":"{answer["lpsched"]}"'
    lines.write_text(lines.read_text().replace(version, '"lpsched":"0.0.1"'))
    study_file(tmp_path, methods=["lp"])
    code, _, err = lpsched("study", "run", path, *ONE, "--resume")
    assert code == 0
    assert "some of the lines were made by lpsched 0.0.1" in err
    assert "4 lines are of runs that the study no longer has; they stay" in err


def test_a_template_and_a_schema_can_be_had(lpsched, tmp_path):
    path = tmp_path / "study.yaml"
    code, out, _ = lpsched("new", "study", "-o", str(path))
    assert code == 0
    assert out == f"{path}: edit it, then 'lpsched study run {path}'\n"
    code, out, _ = lpsched("schema", "study")
    assert json.loads(out)["title"] == "lpsched study"


REPORT = """
import sys
from lpsched.cli.main import run
assert run(["study", "report", sys.argv[1], "--report", sys.argv[2], "--quiet"]) == 0
print(*sorted(sys.modules))
"""


def test_a_report_never_solves(lpsched, tmp_path):
    path = str(study_file(tmp_path, methods=["lp"]))
    lpsched("study", "run", path, *ONE)
    arguments = [sys.executable, "-c", REPORT, path, str(tmp_path / "page.html")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "lpsched.report.html.comparisons" in loaded
    slices = ("bag.solve", "bag.search", "bag.recovery", "facility.outlets", "online.bound", "online.simulate")
    solving = ("lp", "evolve", *slices, "studies.running", "studies.methods", "studies.plan")
    assert not {each for each in loaded if each.startswith(tuple(f"lpsched.{part}" for part in solving))}
    assert not loaded & {"highspy", "pulp"}


def test_all_cores_are_used_unless_one_says(monkeypatch):
    monkeypatch.setattr("lpsched.cli.study._cores", lambda: 3)
    assert executor_of(None, None) == LocalExecutor(3)
    assert executor_of(2, None) == LocalExecutor(2)
    assert executor_of(None, "tcp://127.0.0.1:1") == DaskExecutor("tcp://127.0.0.1:1")
    assert isinstance(executor_of(1, None), SerialExecutor)
    monkeypatch.setattr("lpsched.cli.study._cores", lambda: 1)
    assert isinstance(executor_of(None, None), SerialExecutor)


def test_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 5}, raising=False)
    assert _cores() == 2
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert _cores() == 1
