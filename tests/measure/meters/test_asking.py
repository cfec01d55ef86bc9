"""A small program is asked; nothing that it does hangs us, fills us or stays behind."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from lpsched.measure.meters.power import MOST_BYTES, ask

HANG_SECONDS = 20.0  # what a test would wait for if it hung; no figure of speed


def sh(script: str, **options):
    return ask(("/bin/sh", "-c", script), **{"limit_seconds": 10.0, **options})


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(number: int) -> bool:
    end = time.monotonic() + HANG_SECONDS
    while is_running(number) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_running(number)


def test_output_and_errors_are_told_apart():
    answer = sh("echo 50 W; echo careful >&2")
    assert (answer.output, answer.errors, answer.failure) == ("50 W\n", "careful\n", None)


def test_the_answer_is_dated_by_its_call():
    before = time.monotonic()
    answer = sh("echo 1")
    assert before <= answer.begin < answer.end <= time.monotonic()


def test_it_speaks_english():
    assert sh("echo $LC_ALL").output == "C\n"


def test_it_does_not_wait_for_our_keyboard():
    reading, writing = os.pipe()
    ours = os.dup(0)
    os.dup2(reading, 0)
    try:
        assert sh("cat; echo done", limit_seconds=1.0).output == "done\n"
    finally:
        os.dup2(ours, 0)
        for pipe in (reading, writing, ours):
            os.close(pipe)


def test_it_runs_in_the_folder_given(tmp_path):
    (tmp_path / "watts.sh").write_text("#!/bin/sh\necho 7\n")
    (tmp_path / "watts.sh").chmod(0o755)
    assert ask(("./watts.sh",), limit_seconds=10.0, folder=tmp_path).output == "7\n"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo no device >&2; exit 3", "it ended with exit code 3: no device"),
        ("kill -KILL $$", "it was ended by SIGKILL"),
    ],
)
def test_a_failure_is_told_in_words(script, why):
    assert sh(script).failure == why


def test_a_program_that_is_not_there_is_told_in_words():
    answer = ask(("/no/such/meter",), limit_seconds=10.0)
    assert answer.failure == "it cannot be started (No such file or directory)"


def test_a_hanging_program_is_ended_with_its_children():
    answer = sh("sleep 1000 & echo $!; wait", limit_seconds=0.2)
    assert answer.failure == "it took longer than 0.2 s"
    assert wait_until_gone(int(answer.output))


def test_a_program_that_never_stops_talking_is_ended():
    answer = sh("exec yes 50 W")
    assert answer.failure == f"it printed more than {MOST_BYTES} bytes"
    assert len(answer.output) < 3 * MOST_BYTES


def test_megabytes_of_errors_are_no_answer_either():
    assert sh("exec yes >&2").failure == f"it printed more than {MOST_BYTES} bytes"


def test_a_child_that_holds_the_pipe_is_not_waited_for_and_not_left():
    begin = time.monotonic()
    answer = sh("sleep 1000 & echo $!", limit_seconds=HANG_SECONDS)
    assert answer.failure is None
    assert time.monotonic() - begin < HANG_SECONDS
    assert wait_until_gone(int(answer.output))


def test_one_that_closes_its_pipes_and_goes_on_is_still_timed():
    assert sh("exec >&- 2>&-; sleep 1000", limit_seconds=0.2).failure == "it took longer than 0.2 s"


def test_stop_ends_it():
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert sh("sleep 1000", limit_seconds=HANG_SECONDS, stop=stop).failure == "it was stopped"


def test_nothing_of_it_is_left_to_be_reaped():
    number = sh("echo $$; exit 3").output.strip()
    assert not Path("/proc", number).exists()  # not even as a zombie
