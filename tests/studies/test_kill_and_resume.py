"""A study that is killed, or stopped by Ctrl-C, goes on: nothing is lost, repeated or left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lpsched.studies.running import run_study
from tests.online.compare.test_workers import eventually, is_running
from tests.studies.declared import TINY, study_file

ROOT = Path(__file__).parent.parent.parent
LPSCHED = [sys.executable, "-m", "lpsched"]
pytestmark = [pytest.mark.skipif(os.name == "nt", reason="Windows ends processes in its own way"), pytest.mark.slow]


def begun(study, lines, *options, jobs=2):
    """A study in a session of its own, as a terminal would have it."""
    processes = () if jobs is None else ("--jobs", str(jobs))
    return subprocess.Popen(
        [*LPSCHED, "study", "run", str(study), "-o", str(lines), *processes, *options],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def whole_lines(path):
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def outcomes(path):
    """What became of each run, by its key; a run that has two lines is a failure."""
    runs = whole_lines(path)
    found = {run["key"]: (run["outcome"], run["reason"]) for run in runs}
    assert len(found) == len(runs) == 80, "20 bags, 2 methods, 2 objectives"
    return found


def test_a_study_that_was_killed_and_stopped_ends_as_one_that_was_not(tmp_path):
    study = study_file(tmp_path, instances=[{"generate": "bag", "seeds": {"count": 20}, **TINY}])
    lines, calm = tmp_path / "lines.jsonl", tmp_path / "calm.jsonl"
    killed = begun(study, lines)
    eventually(lambda: len(whole_lines(lines)), lambda count: count >= 4)
    killed.kill()
    killed.communicate()
    first = whole_lines(lines)
    assert 4 <= len(first) < 80
    processes = {run["where"]["process"] for run in first}
    assert eventually(lambda: list(filter(is_running, processes)), lambda left: not left) == []

    stopped = begun(study, lines, "--resume")
    eventually(lambda: len(whole_lines(lines)), lambda count: count >= len(first) + 4)
    os.killpg(stopped.pid, signal.SIGINT)
    _, said = stopped.communicate()
    second = whole_lines(lines)
    assert stopped.returncode == 130
    assert "lpsched: stopping: runs under way are waited for, those written stay, and --resume goes on" in said
    assert "Traceback" not in said
    assert second[: len(first)] == first
    assert len(first) < len(second) < 80
    processes = {run["where"]["process"] for run in second}
    assert list(filter(is_running, processes)) == []

    assert run_study(study, lines, resume=True).made == 80 - len(second)
    run_study(study, calm)
    assert outcomes(lines) == outcomes(calm)
