"""Ctrl-C while HiGHS works: it stops soon, and the interrupt goes on."""

from __future__ import annotations

import _thread
import threading
import time

import highspy
import pytest

from lpsched.lp.highs import HighsSolver
from tests.support import hard_program


def test_an_interrupt_stops_the_solver_before_it_goes_on(monkeypatch):
    running = []
    real = highspy.Highs.run

    def run(self):
        running.append(self)
        real(self)
        running.remove(self)

    monkeypatch.setattr(highspy.Highs, "run", run)
    program = hard_program()
    threading.Timer(0.3, _thread.interrupt_main).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        HighsSolver().solve(program)
    assert not running  # else leaving the process would abort it
    assert time.perf_counter() - start < 60  # a hang, not a speed, is what this would catch
