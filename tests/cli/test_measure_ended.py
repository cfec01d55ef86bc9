"""`lpsched measure` that is ended from outside: nothing is left running, and what was measured stays."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from lpsched.measure.files import read_measurements
from tests.cli.test_measure import NAP, write
from tests.measure.hostile import HANG_SECONDS, alive, new_token, wait_until

LPSCHED = [sys.executable, "-m", "lpsched"]


def start(bench, output, *options, **how):
    command = [*LPSCHED, "measure", bench, "-o", str(output), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def stuck(folder, token, *, after=0):
    """A program that is quick so many times, and then hangs until a file says go; it forks, and is stubborn."""
    quick = f"test -e {folder}/go || test $(wc -l < {folder}/log) -le {after}"
    code = f"echo ran >> {folder}/log; if {quick}; then exit 0; fi; trap '' TERM INT HUP; sleep 600 & wait"
    return {"name": "stuck", "command": ["sh", "-c", code], "environment": {"LPSCHED_TOKEN": token}}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_at_once_and_says_how_to_go_on(tmp_path, number):
    token = new_token()
    bench = write(tmp_path, applications=[stuck(tmp_path, token)], pairs="none")
    process = start(bench, tmp_path / "node.yaml")
    wait_until(lambda: alive(token))
    process.send_signal(number)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130
    assert not alive(token)
    assert b"--resume goes on" in err
    assert b"Traceback" not in err
    assert out == b""  # nothing was measured yet
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench.yaml", "log", "node.samples.jsonl"]


def test_what_was_measured_before_ctrl_c_is_written_and_gone_on_with(tmp_path, lpsched):
    token = new_token()
    output, samples = tmp_path / "node.yaml", tmp_path / "node.samples.jsonl"
    thrice = {"least": 3, "most": 3, "warm_ups": 0}
    bench = write(tmp_path, applications=[stuck(tmp_path, token, after=2)], pairs="none", repeats=thrice)
    process = start(bench, output, "--bag", str(tmp_path / "bag.yaml"), "--json")
    wait_until(lambda: samples.exists() and samples.read_bytes().count(b"lpsched-sample/1") == 2)
    wait_until(lambda: alive(token))
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130
    assert not alive(token)
    answer = json.loads(out)
    assert (answer["runs"], answer["unfinished"]) == (2, 1)
    assert answer["files"] == [str(output), str(samples)]  # a bag is made of a whole bench
    assert read_measurements(output).measured[0].seconds.count == 2
    went_on(tmp_path, bench, lpsched, runs=3, made=1)


def went_on(folder, bench, lpsched, *, runs, made):
    """See that --resume makes the runs that are missing, and no other."""
    (folder / "go").touch()
    (folder / "log").unlink()
    code, answer, _ = lpsched("measure", bench, "-o", str(folder / "node.yaml"), "--resume", "--json")
    assert (code, answer["runs"], answer["unfinished"]) == (0, runs, 0)
    assert len((folder / "log").read_text().split()) == made


@pytest.mark.slow
def test_after_kill_9_nothing_is_left_running_and_resume_makes_only_the_missing_runs(tmp_path, lpsched):
    token = new_token()
    bench = write(tmp_path, applications=[stuck(tmp_path, token, after=1)], pairs="none")
    process = start(bench, tmp_path / "node.yaml")
    wait_until(lambda: (tmp_path / "log").exists() and (tmp_path / "log").read_text().count("ran") == 2)
    wait_until(lambda: alive(token))
    process.kill()
    process.communicate()
    wait_until(lambda: not alive(token))
    assert not (tmp_path / "node.yaml").exists()
    went_on(tmp_path, bench, lpsched, runs=2, made=1)


@pytest.mark.slow
def test_nobody_who_reads_the_answer_does_not_cost_the_file(tmp_path):
    output = tmp_path / "node.yaml"
    process = start(write(tmp_path, applications=[NAP], pairs="none"), output)
    process.stdout.close()
    process.stdout = None
    process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 141
    assert list(read_measurements(output).seconds) == ["nap"]
