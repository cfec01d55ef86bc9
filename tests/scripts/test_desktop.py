from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.arrays import arrays_of
from scripts.figures.shared.desktop import PROCESSORS, PROGRAMS, Processor, Program, desktop_bag

ARRAYS = arrays_of(desktop_bag())
NAMES = list(PROCESSORS)
THREADED = [0, 1, 4]  # C-Ray, 7-Zip, kernel


def test_the_formula_by_hand():
    # Two cores without second threads at 2 GHz (4 GHz alone): of 80 units of work, a quarter on one core takes
    # 20 / 4 = 5 s, the rest on both 60 / (2 x 2) = 15 s, and the disk 10 s: 30 s.
    # Load: (5 x (0.15 + 0.85 / 2) + 15 + 0.15 x 10) / 30 = (2.875 + 16.5) / 30; graphics 90 x 10 / 30 = 30 W.
    seconds, watts = Program(80, 0.25, 0.5, 10, 90).on(Processor(2, 2, 2.0, 4.0, 1.0, 100, 10))
    assert seconds == 30.0
    assert watts == pytest.approx((60 + 10 + 100 * 19.375 / 30 + 30) / 0.87, rel=1e-5)


def test_second_threads_and_overclocking_count():
    # One core with a second thread that gains half: 30 / (1 x 1.5) = 20 s; at twice the clock 10 s, and the
    # processor draws 2^2.5 times its power.
    slow = Processor(1, 2, 1.0, 1.0, 1.0, 50)
    program = Program(30, 0.0, 0.5, 0)
    assert program.on(slow) == pytest.approx((20.0, (60 + 50) / 0.87), rel=1e-5)
    assert program.on(slow.clocked(2.0)) == pytest.approx((10.0, (60 + 50 * 2**2.5) / 0.87), rel=1e-5)


def test_the_types_are_those_of_the_thesis():
    bag = desktop_bag()
    assert (len(bag.task_types), len(bag.machine_types), bag.machines) == (5, 9, 9)
    assert [task.name for task in bag.task_types] == list(PROGRAMS)
    assert {machine.idle_watts for machine in bag.machine_types} == {0.0}


def test_what_the_thesis_says_of_its_measurements_holds():
    joules = ARRAYS.seconds * ARRAYS.watts
    quickest = [NAMES[j] for j in ARRAYS.seconds[THREADED].argmin(axis=1)]
    assert quickest == ["Intel Core i7 3960X @ 4.2 GHz"] * 3
    thrifty = [NAMES[j] for j in joules.argmin(axis=1)]
    assert thrifty.count("Intel Core i7 3770K") == 4
    assert set(joules[THREADED].argsort(axis=1)[:, -2:].ravel().tolist()) == {0, 1}  # AMD
    spread = ARRAYS.seconds.std(axis=1) / ARRAYS.seconds.mean(axis=1)
    assert np.argsort(spread)[:2].tolist() == [3, 2]  # games wait for the graphics card


def test_overclocking_is_faster_and_costs_energy():
    for slow, fast in ((5, 6), (7, 8)):
        assert (ARRAYS.seconds[:, fast] < ARRAYS.seconds[:, slow]).all()
        assert ((ARRAYS.seconds * ARRAYS.watts)[:, fast] > (ARRAYS.seconds * ARRAYS.watts)[:, slow]).all()
