"""HiGHS at work: until it is done, the watch is over, or somebody presses Ctrl-C.

A program that may take long runs in a thread of its own, because HiGHS does not look at signals: Ctrl-C is
noticed here, and HiGHS is told to stop.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import highspy
import numpy as np

from lpsched.errors import SolverError

if TYPE_CHECKING:
    from lpsched.lp.program import LinearProgram
    from lpsched.watch import Watch

POLL_SECONDS: Final = 0.05
RUN: Final = 3e-4  # seconds of work counted for each run,
ITERATION: Final = 4e-6  # for each iteration of the simplex method,
CELL: Final = 4e-9  # and for each iteration and coefficient


def check(status: highspy.HighsStatus, program: LinearProgram, what: str) -> None:
    """Raise an error if HiGHS refused what was asked of it."""
    if status == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS refused {what} of {program.name}")


def run_highs(highs: highspy.Highs, program: LinearProgram, watch: Watch | None) -> None:
    """Run to the end, or until the time is up; work is counted afterwards."""
    left = None if watch is None else watch.left()
    until = np.inf if left is None else highs.getRunTime() + left  # counts from its birth
    check(highs.setOptionValue("time_limit", until), program, "the time limit")
    if highs.HandleUserInterrupt:
        _run_in_thread(highs, watch)
    else:
        highs.run()
    if watch is not None:
        iterations = max(0, highs.getInfo().simplex_iteration_count)
        watch.count(RUN + iterations * (ITERATION + CELL * len(program.values)))


def _run_in_thread(highs: highspy.Highs, watch: Watch | None) -> None:
    """Run to the end, or stop when the watch is over, or at Ctrl-C.

    However often it is pressed, we leave only after HiGHS has stopped: to end the process while it works
    would abort it.
    """
    done = threading.Event()  # Thread.join, once interrupted, takes a running thread for a stopped one

    def work() -> None:
        try:
            highs.run()
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    interrupted = False
    while not done.is_set():
        try:
            if interrupted or (watch is not None and watch.is_cut()):  # not by counted work
                highs.cancelSolve()
            done.wait(POLL_SECONDS)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
