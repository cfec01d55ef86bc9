"""Whatever an application does, and however the bench ends: none of its processes is left, and nobody else's is hit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import MeasureError
from lpsched.measure.corun import Program, corun
from lpsched.measure.supervisor import _parents, children
from tests.measure.hostile import HANG_SECONDS, PLACES, PROCESSORS, alive, keepers_of, new_token, run, shell, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a bench runs on Linux")

CHILDREN = "sleep 60 | sleep 60 & sleep 60"
DAEMON = "setsid sh -c 'setsid sleep 60 & exec sleep 60' & sleep 60"  # two sessions of their own, one an orphan
DEAF = "trap '' TERM INT HUP; sleep 60 & setsid sleep 60 & wait; wait"
STOPPED = "kill -STOP $$"
# A new process in a session of its own, whose parent is gone before one can look: there is always just one.
WALK = "trap '' TERM; echo >> walked; setsid /bin/sh -c \"$WALK\" & exit"
FORKS = "while :; do sleep 60 & [ $((i += 1)) -lt 40 ] || wait; done"

BENCH = """
import os, sys
from pathlib import Path
from lpsched.measure.corun import corun
from lpsched.measure.corun import Program
from lpsched.cancellation import CancelToken

def on_start():
    pass

place = frozenset({int(sys.argv[1])})
program = Program("it", ("/bin/sh", "-c", sys.argv[2]), Path("/"))
corun(program, (program,), (place, place), CancelToken(), again=True, on_start=on_start)
"""
FORKING_BENCH = BENCH.replace(
    "    pass",
    """    if os.fork() == 0:
        for pipe in range(3, 100):
            if os.path.exists(f"/proc/self/fd/{pipe}"):
                os.set_inheritable(pipe, True)
        os.execve("/bin/sleep", ["sleep", "60"], {})""",
)


@pytest.mark.rotate(1)
@pytest.mark.parametrize("code", [CHILDREN, DAEMON, DEAF, STOPPED, FORKS])
def test_nothing_is_left_of_a_program_that_takes_too_long(code):
    token = new_token()
    ended = run(shell(code, seconds=0.1, token=token))
    assert ended.failure == "took longer than 0.1 seconds"
    assert not alive(token)


@pytest.mark.slow
@pytest.mark.parametrize("stops", ["", "kill -STOP $$; "], ids=["running", "stopped"])
def test_a_program_that_is_ended_may_tidy_up(tmp_path, stops):
    tidy = f"trap 'echo > tidied; exit' TERM; echo > ready; {stops}while :; do sleep 0.01; done"
    fails = "until [ -e ready ]; do sleep 0.01; done; exit 1"
    run(shell(tidy, folder=tmp_path), shell(fails, folder=tmp_path))
    assert (tmp_path / "tidied").exists()


def test_nothing_is_left_of_those_beside_and_of_what_they_left(tmp_path):
    token = new_token()
    beside = shell(f"{DAEMON[:-8]} echo > here; sleep 60", folder=tmp_path, token=token)
    assert run(shell("until [ -e here ]; do sleep 0.01; done", folder=tmp_path), beside).failure is None
    assert not alive(token)


@pytest.mark.slow
def test_a_process_that_forks_away_again_and_again_is_caught(tmp_path):
    token = new_token()
    walker = Program("it", ("/bin/sh", "-c", WALK), tmp_path, {"WALK": WALK, "LPSCHED_TOKEN": token})
    measured = shell("until [ $(cat walked | wc -l) -ge 9 ]; do sleep 0.01; done", folder=tmp_path)
    try:
        # The walker ends at once, so it is measured in a batch, which goes on for as long as the other.
        ended = corun(walker, (measured,), PLACES, CancelToken(), again=False)
    finally:
        assert not alive(token)
    assert ended.failure is None


def test_processes_of_the_one_who_calls_are_not_hit():
    process = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    leave = ["/bin/sh", "-c", "setsid sleep 60 >&- 2>&- & echo $!"]
    orphan = int(subprocess.run(leave, stdout=subprocess.PIPE, check=True).stdout)
    try:
        run(shell("sleep 60 & exit 0"))
        assert process.poll() is None
        os.kill(orphan, 0)
    finally:
        process.kill()
        process.wait()
        os.kill(orphan, signal.SIGKILL)


def test_what_cannot_be_ended_stops_the_bench(monkeypatch):
    # A process of another user's cannot be made here, so the keeper is one that says it has met one.
    said = 'print(\'{"event": "ended", "begin": 1, "end": 2, "errors": ""}\\n{"event": "gone", "left": [7, 8], "restarts": 0, "left_behind": 0}\', flush=True)'
    monkeypatch.setattr("lpsched.measure.corun.SUPERVISOR", f"{said}; input()")
    words = (
        r"^2 processes started by it could not be ended \(process ids 7, 8\); they would disturb .*: end them first$"
    )
    with pytest.raises(MeasureError, match=words):
        run(shell("true"), shell("true"))


def bench(code, token, program=BENCH):
    """Start a bench in a process of its own, and wait until both its programs run."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(min(PLACES[0])), code],
        env={**os.environ, "LPSCHED_TOKEN": token},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    shells = (Path("/bin/sh").resolve(), Path("/usr/bin/sleep").resolve(), Path("/bin/sleep").resolve())
    wait_until(lambda: sum(path_of(pid) in shells for pid in alive(token)) >= 4)
    return process


def path_of(process):
    try:
        return Path(f"/proc/{process}/exe").resolve()
    except OSError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ([signal.SIGINT], DAEMON),
        ([signal.SIGINT, signal.SIGINT], DEAF),
        ([signal.SIGTERM], DAEMON),
        ([signal.SIGHUP], DAEMON),
        ([signal.SIGKILL], DEAF),
    ],
    ids=["interrupt", "interrupt-twice", "terminate", "hang-up", "kill"],
)
def test_nothing_is_left_when_the_bench_is_ended(signals, code):
    token = new_token()
    process = bench(code, token)
    try:
        for number in signals:
            os.killpg(process.pid, number)  # as a terminal does, to the whole group
        process.wait(HANG_SECONDS)
        wait_until(lambda: not alive(token))
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signals[-1]


@pytest.mark.slow
def test_nothing_is_left_when_a_killed_bench_has_a_child_that_holds_its_pipes():
    # A child that was forked, and not started anew, keeps the keeper's stdin open after the bench is gone.
    token = new_token()
    process = bench(DAEMON, token, FORKING_BENCH)
    process.kill()
    process.wait()
    try:
        wait_until(lambda: not alive(token))
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # the child


def test_children_are_found_with_and_without_the_kernels_list():
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        assert process.pid in children()
        assert (process.pid, os.getpid()) in _parents()
        process.kill()


def test_a_run_has_one_keeper_which_keeps_off_its_places_and_is_gone_afterwards():
    seen: list[Any] = []

    def look():
        (keeper,) = keepers_of(os.getpid())
        seen.extend((keeper, os.sched_getaffinity(keeper)))

    run(shell("true"), on_start=look)
    assert seen[1] == (set(PROCESSORS) - PLACES[0] or set(PROCESSORS))
    assert not Path(f"/proc/{seen[0]}").exists()
