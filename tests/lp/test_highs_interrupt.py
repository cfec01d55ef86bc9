"""Ctrl-C while HiGHS works: it stops soon, and the interrupt goes on."""

from __future__ import annotations

import _thread
import threading
import time

import numpy as np
import pytest

from lpsched.lp.highs import HighsSolver
from lpsched.lp.program import LpBuilder


def hard_program():
    """Return a dense program that keeps HiGHS busy for many seconds."""
    rng = np.random.default_rng(0)
    lp = LpBuilder("hard")
    x = lp.variables("x", upper=np.full(2500, 10.0))
    lp.objective([(x, -rng.random(2500))])
    for row in range(2000):
        lp.at_most(f"r{row}", [(x, rng.random(2500))], 1.0 + rng.random())
    return lp.build()


def test_an_interrupt_stops_the_solver():
    program = hard_program()
    threading.Timer(1.0, _thread.interrupt_main).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        HighsSolver().solve(program)
    assert time.perf_counter() - start < 60  # a hang, not a speed, is what this would catch
