"""Ctrl-C at any moment of a study, also while its processes start: one message, whole lines, and it can be resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from lpsched.cancellation import CancelToken
from lpsched.studies.running import run_study
from tests.online.compare.test_workers import eventually, is_running
from tests.studies.declared import TINY, study_file
from tests.studies.test_kill_and_resume import begun, whole_lines

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends processes in its own way")
MASKS = """
import signal
from lpsched.cancellation import CancelToken
from lpsched.pool import each_ended

def blocked(piece, cancel):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())

if __name__ == "__main__":
    print([each.answer for each in each_ended(blocked, [1], jobs=1, cancel=CancelToken())])
    print(blocked(1, None))
"""


def test_the_first_process_of_a_pool_does_not_get_ctrl_c_either(tmp_path):
    script = tmp_path / "masks.py"
    script.write_text(MASKS)  # in a Python of its own: the first pool of a process is another one than the next
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[True]\nFalse\n", "")


def stopped(folder, name, delay, number, *, when):
    """Begin a study, send a signal to all its processes after a delay, and return how it ended and what it said."""
    study = study_file(folder, instances=[{"generate": "bag", "seeds": {"count": 100}, **TINY}])
    lines = folder / f"{name}.jsonl"
    process = begun(study, lines)
    while when == "started" and not lines.exists():
        assert process.poll() is None
        time.sleep(0.002)
    time.sleep(delay)
    os.killpg(process.pid, number)
    out, said = process.communicate(timeout=60)
    return process.returncode, out, said, study, lines


def check(code, said, lines, number):
    assert code == {signal.SIGINT: 130, signal.SIGTERM: 143}[number], said
    assert "Traceback" not in said
    assert "Exception" not in said
    assert said.startswith("lpsched: "), "one message of ours"
    content = lines.read_bytes() if lines.exists() else b""
    assert content == b"" or content.endswith(b"\n")
    assert all(json.loads(line) for line in content.splitlines())


def check_resumes(study, lines, executor=None):
    """Resume a study for two more runs, which are not among those that are there."""
    before = lines.read_text().splitlines() if lines.exists() else []  # a file without lines is removed
    cancel = CancelToken(listener=lambda progress: cancel.stop() if (progress.done or 0) >= len(before) + 2 else None)
    summary = run_study(study, lines, resume=True, executor=executor, cancel=cancel)
    after = lines.read_text().splitlines()
    assert (summary.found, summary.failed, after[: len(before)]) == (len(before), 0, before)
    assert len({json.loads(line)["key"] for line in after}) == len(after) == len(before) + summary.made
    assert summary.made >= 2


def test_ctrl_c_while_processes_start_prints_no_traceback_of_theirs(tmp_path):
    code, _, said, _, lines = stopped(tmp_path, "lines", 0.2, signal.SIGINT, when="started")
    check(code, said, lines, signal.SIGINT)
    assert said.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0, 3.0])
def test_a_signal_at_any_moment_of_the_start_of_processes_is_one_message(tmp_path, delay, number):
    code, _, said, study, lines = stopped(tmp_path, "lines", delay, number, when="started")
    check(code, said, lines, number)
    check_resumes(study, lines)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.3, 1.6, 2.0])  # before: Python's own
def test_ctrl_c_while_the_command_loads_is_one_message(tmp_path, delay):
    code, _, said, _, lines = stopped(tmp_path, "lines", delay, signal.SIGINT, when="at once")
    check(code, said, lines, signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [1.0, 2.0, 4.0])
def test_processes_of_a_killed_study_do_not_complain_of_a_broken_pipe(tmp_path, delay):
    study = study_file(tmp_path, instances=[{"generate": "bag", "seeds": {"count": 100}, **TINY}])
    lines = tmp_path / "lines.jsonl"
    process = begun(study, lines)
    while not lines.exists():
        time.sleep(0.002)
    time.sleep(delay)
    process.kill()
    assert "BrokenPipeError" not in process.communicate(timeout=60)[1]


@pytest.mark.slow
def test_sigterm_to_a_study_alone_ends_its_processes_and_it_can_be_resumed(tmp_path):
    study = study_file(tmp_path, instances=[{"generate": "bag", "seeds": {"count": 100}, **TINY}])  # 400 runs
    lines = tmp_path / "lines.jsonl"
    process = begun(study, lines)
    eventually(lambda: whole_lines(lines), lambda found: len(found) >= 4)
    process.terminate()
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (143, "", "lpsched: ended by SIGTERM\n")
    assert lines.read_bytes().endswith(b"\n")
    processes = {run["where"]["process"] for run in whole_lines(lines)}
    assert list(filter(is_running, processes)) == []
    check_resumes(study, lines)
