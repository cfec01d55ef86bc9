"""Ctrl-C while HiGHS works: it stops soon, and the interrupt goes on."""

from __future__ import annotations

import _thread
import threading
import time

import highspy
import pytest

from lpsched.lp.solvers import HighsSolver
from tests.support import hard_program


@pytest.fixture
def running(monkeypatch):
    """Return the solvers that are at work."""
    running = []
    real = highspy.Highs.run

    def run(self):
        running.append(self)
        real(self)
        running.remove(self)

    monkeypatch.setattr(highspy.Highs, "run", run)
    return running


def test_an_interrupt_stops_the_solver_before_it_goes_on(running):
    program = hard_program()
    threading.Timer(0.3, _thread.interrupt_main).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        HighsSolver().solve(program)
    assert not running  # else leaving the process would abort it
    assert time.perf_counter() - start < 60  # a hang, not a speed, is what this would catch


@pytest.mark.parametrize("begun", [True, False])
def test_an_interrupt_while_its_thread_starts_leaves_no_solver_at_work(running, monkeypatch, begun):
    threads, real = [], threading.Thread.start

    def start(thread):
        threads.append(thread)
        if begun:
            real(thread)
            time.sleep(0.2)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        HighsSolver().solve(hard_program())
    if not begun:
        monkeypatch.setattr(highspy.Highs, "run", lambda _: pytest.fail("it runs although nobody waits"))
        threads[0].run()  # it comes too late, and finds that
    assert not running
