"""Pieces of work, here or in other processes: in order, stopped when the token has expired, failures raised."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError
from lpsched.online.compare import simulations

ROOT = Path(__file__).parents[3]
work_off: Any = simulations.work_off  # here with pieces of another kind


@dataclass
class Squares:
    """Squares numbers; 13 is unlucky, and -1 takes until somebody says stop."""

    def __call__(self, item, cancel):
        if item == 13:
            raise InstanceError("thirteen", ())
        if item == 14:
            os.kill(os.getpid(), signal.SIGKILL)
        while item == -1 and not cancel.expired():
            time.sleep(0.01)
        return item * item, cancel.expired(), os.getpid()

    def name_of(self, item):
        return f"the square of {item}"


def test_one_after_another_in_order_and_told():
    told = []
    cancel = CancelToken(listener=lambda progress: told.append((progress.stage, progress.done, progress.total)))
    answers = work_off(Squares(), [3, 1, 2], jobs=1, cancel=cancel)
    assert answers == [(9, False, os.getpid()), (1, False, os.getpid()), (4, False, os.getpid())]
    assert told == [("the square of 3", 0, 3), ("the square of 1", 1, 3), ("the square of 2", 2, 3)]


def test_one_piece_needs_no_other_process():
    assert work_off(Squares(), [3], jobs=8, cancel=CancelToken())[0][2] == os.getpid()


def test_nothing_is_begun_when_the_watch_is_over():
    cancel = CancelToken()
    cancel.stop()
    assert work_off(Squares(), [3, 1], jobs=1, cancel=cancel) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to a group of processes")
def test_other_processes_answer_in_order_and_stop_with_the_watch():
    # The third piece ends only because the token has expired, and the fifth, with nobody free for it, never begins. The fourth
    # may be stopped before another process has taken it: then it has no answer.
    def heard(progress):
        if (progress.done, progress.total) == (2, 5):
            cancel.stop()

    cancel = CancelToken(listener=heard)
    answers = work_off(Squares(), [3, 1, -1, -1, 2], jobs=2, cancel=cancel)
    assert len(answers) in {3, 4}
    assert [answer for answer, _, _ in answers] == [9, 1, 1, 1][: len(answers)]
    assert [expired for _, expired, _ in answers] == [False, False, True, True][: len(answers)]
    assert os.getpid() not in {place for _, _, place in answers}


def test_what_is_raised_in_another_process_is_raised_here():
    with pytest.raises(InstanceError, match="thirteen"):
        work_off(Squares(), [13, 2], jobs=2, cancel=CancelToken())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_that_dies_is_told():
    with pytest.raises(InstanceError, match="ended before its work"):
        work_off(Squares(), [14, 2], jobs=2, cancel=CancelToken())


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes in its own way")
def test_processes_end_when_the_one_that_began_them_is_killed(tmp_path):
    # The pieces never end by themselves; each process tells its number first.
    code = (
        "import sys; from lpsched.cancellation import Watch; from lpsched.online.compare.simulations import work_off\n"
        "from tests.online.compare.test_workers import ForEver\n"
        "if __name__ == '__main__': work_off(ForEver(sys.argv[1]), [1, 2], jobs=2, watch=CancelToken())\n"
    )
    script = tmp_path / "begin.py"
    script.write_text(code)
    begun = subprocess.Popen([sys.executable, str(script), str(tmp_path)], env=os.environ | {"PYTHONPATH": str(ROOT)})
    numbers = eventually(lambda: [int(file.stem) for file in tmp_path.glob("*.pid")], lambda found: len(found) == 2)
    begun.kill()
    begun.wait()
    assert eventually(lambda: [number for number in numbers if is_running(number)], lambda left: not left) == []


@dataclass
class ForEver:
    """Tells its process, and goes on for ever."""

    folder: str

    def __call__(self, item, cancel):  # noqa: ARG002
        (Path(self.folder) / f"{os.getpid()}.pid").touch()
        while True:
            time.sleep(0.01)

    def name_of(self, item):
        return str(item)


def eventually(look, is_enough):
    """Look again and again, for a minute at most; return what was seen last."""
    for _ in range(600):
        found = look()
        if is_enough(found):
            break
        time.sleep(0.1)
    return found


def is_running(number):
    """Tell whether a process runs; one that has ended and was not fetched does not."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{number}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")
