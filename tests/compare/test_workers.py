"""Pieces of work, here or in other processes: in order, stopped when the watch is over, failures raised."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

import pytest

from lpsched.compare.workers import work_off
from lpsched.errors import InstanceError
from lpsched.watch import Watch


@dataclass
class Squares:
    """Squares numbers; 13 is unlucky, and -1 takes until somebody says stop."""

    def __call__(self, piece, watch):
        if piece == 13:
            raise InstanceError("thirteen", ())
        if piece == 14:
            os.kill(os.getpid(), signal.SIGKILL)
        while piece == -1 and not watch.is_over():
            time.sleep(0.01)
        return piece * piece, watch.is_over(), os.getpid()

    def name_of(self, piece):
        return f"the square of {piece}"


def test_one_after_another_in_order_and_told():
    told = []
    watch = Watch(listener=lambda progress: told.append(progress.stage))
    answers = work_off(Squares(), [3, 1, 2], jobs=1, watch=watch)
    assert answers == [(9, False, os.getpid()), (1, False, os.getpid()), (4, False, os.getpid())]
    assert told == ["the square of 3", "the square of 1", "the square of 2"]


def test_one_piece_needs_no_other_process():
    assert work_off(Squares(), [3], jobs=8, watch=Watch())[0][2] == os.getpid()


def test_nothing_is_begun_when_the_watch_is_over():
    watch = Watch()
    watch.stop()
    assert work_off(Squares(), [3, 1], jobs=1, watch=watch) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to a group of processes")
def test_other_processes_answer_in_order_and_stop_with_the_watch():
    # The third piece ends only because the watch is over, and the fifth, with nobody free for it, never begins.
    def heard(progress):
        if progress.stage == "2 of 5 done":
            watch.stop()

    watch = Watch(listener=heard)
    answers = work_off(Squares(), [3, 1, -1, -1, 2], jobs=2, watch=watch)
    assert [answer for answer, _, _ in answers] == [9, 1, 1, 1]
    assert [is_over for _, is_over, _ in answers] == [False, False, True, True]
    assert os.getpid() not in {place for _, _, place in answers}


def test_what_is_raised_in_another_process_is_raised_here():
    with pytest.raises(InstanceError, match="thirteen"):
        work_off(Squares(), [13, 2], jobs=2, watch=Watch())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_that_dies_is_told():
    with pytest.raises(InstanceError, match="ended before its work"):
        work_off(Squares(), [14, 2], jobs=2, watch=Watch())
