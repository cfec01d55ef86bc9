"""Long work: effort, time limits, progress and Ctrl-C, from the command line."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from lpsched.bag.files import read_bag, read_schedule, write_bag
from lpsched.bag.verify import examine
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions

pytestmark = pytest.mark.rotate_tests(2)

LPSCHED = [sys.executable, "-m", "lpsched"]


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """A bag of single tasks that nobody solves to the end in half a minute."""
    path = tmp_path_factory.mktemp("hard") / "hard.yaml"
    options = CovOptions(task_types=120, machines=(1,) * 12, tasks=120, task_cov=0.5, machine_cov=0.35)
    write_bag(cov_bag("hard", np.random.default_rng(0), options), path)
    return path


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A smaller one, whose search begins sooner, and is not at its end ten seconds later."""
    path = tmp_path_factory.mktemp("long") / "long.yaml"
    options = CovOptions(task_types=60, machines=(1,) * 6, tasks=60, task_cov=0.5, machine_cov=0.35)
    write_bag(cov_bag("long", np.random.default_rng(0), options), path)
    return path


def test_the_gap_says_what_was_tried_and_what_more_would_do(lpsched, hard):
    code, answer, _ = lpsched("solve", str(hard), "--json", "--effort", "fast")
    assert code == 0
    assert (answer["effort"], answer["effort_used"], answer["tight_may_help"]) == ("fast", "fast", True)
    _, text, _ = lpsched("solve", str(hard), "--effort", "balanced")
    assert " machines. --effort tight may close the gap.\n" in text
    _, text, _ = lpsched("solve", str(hard))
    assert " Searched for about 1 s. --effort tight may close the gap.\n" in text
    _, text, _ = lpsched("solve", str(hard), "--effort", "tight", "--time-limit", "0")
    assert " Stopped by the time limit; a rerun may differ.\n" in text


@pytest.mark.slow
def test_tight_is_closer_and_ends_at_the_limit(lpsched, hard):
    _, fast, _ = lpsched("solve", str(hard), "--json", "--effort", "fast")
    start = time.monotonic()
    code, tight, _ = lpsched("solve", str(hard), "--json", "--effort", "tight", "--time-limit", "3")
    assert time.monotonic() - start < 30.0
    assert code == 0
    assert (tight["effort"], tight["tight_may_help"]) == ("tight", False)
    assert tight["bound"] >= fast["bound"]
    assert tight["value"] < fast["value"]
    assert tight["gap"] < 0.5 * fast["gap"]


def test_no_time_at_all_still_gives_a_verified_answer(lpsched, hard):
    code, answer, _ = lpsched("solve", str(hard), "--json", "--effort", "tight", "--time-limit", "0")
    assert code == 0
    assert answer["status"] == "limit"
    assert 0 < answer["bound"] <= answer["value"]


def test_a_gpu_that_is_not_there_is_said_with_the_way_out(lpsched, hard):
    if importlib.util.find_spec("cupy") is not None:
        pytest.skip("CuPy is installed")
    code, out, err = lpsched("solve", str(hard), "--device", "cuda")
    assert (code, out) == (1, "")
    assert "needs the extra 'gpu'" in err


@contextmanager
def at_work(*arguments):
    """Begin a command with a terminal as its stderr; give it, and how to read there until a word or the end."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([*LPSCHED, *arguments], stdout=subprocess.PIPE, stderr=follower, text=True)
    os.close(follower)

    def read_until(word):
        shown = b""
        with suppress(OSError):  # the command has ended
            while word not in shown and (more := os.read(leader, 100_000)):
                shown += more
        return shown.decode()

    try:
        shown = read_until(b"gap")  # on a terminal the search shows how far it is, on stderr
        assert "targets: gap" in shown
        yield process, read_until
    finally:
        process.kill()
        process.wait()
        os.close(leader)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to another process")
def test_a_terminal_shows_progress_and_ctrl_c_prints_what_was_found_and_ends_with_130(long, tmp_path):
    schedule = tmp_path / "s.json"
    arguments = ("solve", str(long), "--effort", "tight", "--json", "-o", str(schedule))
    with at_work(*arguments) as (process, read_until):
        process.send_signal(signal.SIGINT)
        told = read_until(b"leave at once")
        out, _ = process.communicate(timeout=60)
    assert "lpsched: stopping: what was found so far follows" in told
    assert process.returncode == 130
    answer = json.loads(out)
    assert answer["status"] == "limit"
    bag = read_bag(long)
    assert examine(bag, read_schedule(schedule)).measured.makespan_seconds == answer["value"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to another process")
@pytest.mark.parametrize("between", [0.0, 0.01, 0.1, 0.3])  # while HiGHS runs, or Python is about to exit
def test_ctrl_c_twice_leaves_at_once(long, between):
    with at_work("solve", str(long), "--effort", "tight") as (process, read_until):
        process.send_signal(signal.SIGINT)
        time.sleep(between)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        told = read_until(b"Traceback")
    assert process.returncode == 130
    assert "Traceback" not in told
