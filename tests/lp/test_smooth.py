"""Smooth programs: answers by hand, how they end, and silence."""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import casadi
import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import MissingExtraError, SolverError
from lpsched.lp import smooth as smooth_steps
from lpsched.lp.smooth import SmoothProgram, SmoothStatus


def valley() -> SmoothProgram:
    """Rosenbrock's valley: two dozen steps from (-1, 1) to (1, 1)."""
    program = SmoothProgram()
    x = program.variables("x", np.full(2, -np.inf), np.full(2, np.inf), np.array([-1.0, 1.0]))
    program.at_most(x[0], 2.0)
    program.maximise(-((1 - x[0]) ** 2) - 100 * (x[1] - x[0] ** 2) ** 2)
    return program


def test_a_linear_program_is_solved_at_its_corner():
    # max x + 2 y + 3 with x + y <= 1 and y <= 0.75: y = 0.75, x = 0.25.
    program = SmoothProgram()
    x = program.variables("x", np.zeros(1), np.ones(1), np.array([0.5]))
    y = program.variables("y", np.zeros(1), np.array([0.75]), np.array([0.5]))
    program.at_most(x + y, 1.0)
    program.maximise(x + 2 * y + 3)
    found = program.solve()
    assert found.status is SmoothStatus.SOLVED
    assert found["x"] == pytest.approx([0.25], abs=1e-4)
    assert found["y"] == pytest.approx([0.75], abs=1e-4)


def test_equal_and_between_hold():
    program = SmoothProgram()
    x = program.variables("x", np.zeros(3), np.full(3, 9.0), np.ones(3))
    program.equal(x[0] - x[1], 1.0)
    program.between(x, np.array([0.0, 0.0, 2.0]), np.array([5.0, np.inf, 3.0]))
    program.maximise(x[0] - x[2])
    assert program.solve()["x"] == pytest.approx([5.0, 4.0, 2.0], abs=1e-4)


def test_of_a_hill_and_a_higher_one_the_start_decides():
    # x^2 on [-1, 2]: from -0.5 uphill is to the left, and nothing there tells of the 4 on the right.
    values = []
    for start in (-0.5, 0.5):
        program = SmoothProgram()
        x = program.variables("x", np.array([-1.0]), np.array([2.0]), np.array([start]))
        program.at_most(x, 10.0)
        program.maximise(x**2)
        found = program.solve()
        assert found.status is SmoothStatus.SOLVED
        values.append(float(found["x"][0]))
    assert values == pytest.approx([-1.0, 2.0], abs=1e-3)


def test_what_stands_twice_in_a_sparse_matrix_is_added_up():
    matrix = SmoothProgram().sparse(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([1.0, 5.0, 2.0]), (2, 3))
    assert np.array(casadi.DM(matrix).full()).tolist() == [[0.0, 3.0, 0.0], [5.0, 0.0, 0.0]]


def test_many_limits_together_miss_no_more_than_one_would():
    # 3,000 variables at their upper limit of 1; at Ipopt's tolerance of 1e-8 each, 1e-6 away, it would not show,
    # but with the objective their mean, each product may be 1e-8 and they add up to 3e-5 of 1.
    program = SmoothProgram()
    x = program.variables("x", np.zeros(3000), np.full(3000, np.inf), np.full(3000, 0.5))
    program.at_most(x, 1.0)
    program.maximise(program.total(x) / 3000)
    assert program.solve()["x"].mean() >= 1.0 - 1e-4


def test_a_row_in_which_nothing_stands_is_a_row():
    program = SmoothProgram()
    x = program.variables("x", np.zeros(1), np.ones(1), np.array([0.5]))
    program.at_most(program.sparse(np.array([1]), np.array([0]), np.array([2.0]), (2, 1)) @ x, 1.0)
    program.maximise(x)
    assert program.solve()["x"] == pytest.approx([0.5], abs=1e-4)


def test_a_program_without_a_point_fails_and_is_not_called_solved():
    program = SmoothProgram()
    x = program.variables("x", np.zeros(1), np.ones(1), np.array([0.5]))
    program.between(x, 2.0, 3.0)
    program.maximise(x)
    assert program.solve().status is SmoothStatus.FAILED


def test_whoever_stops_the_watch_gets_the_last_point():
    stages = []

    def listen(progress):
        stages.append(progress.stage)
        if len(stages) == 4:
            cancel.stop()

    cancel = CancelToken(listener=listen)
    found = valley().solve(cancel=cancel, stage="down")
    assert found.status is SmoothStatus.LIMIT
    assert found.iterations <= 4 < valley().solve().iterations
    assert np.all(np.isfinite(found["x"]))
    assert stages[0].startswith("down: step 1")


def test_steps_that_lead_nowhere_are_the_last(monkeypatch):
    # With a patience of two steps the valley's floor, along which a step gains little at first, is taken for its end.
    monkeypatch.setattr(smooth_steps, "PATIENCE", 2)
    monkeypatch.setattr(smooth_steps, "MISSED", 10.0)  # of a value between -4 and 0: no step gains so much
    found = valley().solve()
    assert found.status is SmoothStatus.STALLED
    assert found.iterations == 2


def steps():
    return smooth_steps.Steps(None, "", np.array([0.0]), np.array([1.0]))


INSIDE, ABOVE, BELOW = np.array([0.5]), np.array([1.1]), np.array([-0.1])


def test_steps_that_gain_are_never_the_last():
    taken = steps()
    assert not any(taken.is_last(0.5 + 0.001 * step, INSIDE) for step in range(100))


def test_steps_that_gain_nothing_are_the_last_when_patience_ends():
    taken = steps()
    level = [taken.is_last(0.6, INSIDE) for _ in range(smooth_steps.PATIENCE + 1)]
    assert level == [False] * smooth_steps.PATIENCE + [True]


@pytest.mark.parametrize("outside", [ABOVE, BELOW], ids=["above", "below"])
def test_a_point_that_breaks_a_row_is_neither_the_best_nor_the_last(outside):
    taken = steps()
    assert not any(taken.is_last(9.0, outside) for _ in range(100))
    assert not any(taken.is_last(0.6, INSIDE) for _ in range(smooth_steps.PATIENCE))
    assert not taken.is_last(0.6, outside)
    assert taken.is_last(0.6, INSIDE)


def test_when_no_time_is_left_the_start_is_handed_back():
    found = valley().solve(cancel=CancelToken(0.0))
    assert found.status is SmoothStatus.LIMIT
    assert found["x"] == pytest.approx([-1.0, 1.0])


def test_ctrl_c_ends_the_work_and_goes_on(capfd):
    pressed = []

    def press(_):
        pressed.append(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        valley().solve(cancel=CancelToken(listener=press), stage="down")
    assert len(pressed) == 1  # no step was taken after it
    assert signal.getsignal(signal.SIGINT) is before
    assert capfd.readouterr().err == ""


def test_ctrl_c_outside_of_python_is_noted_and_raises_nothing():
    # CasADi looks for it while Ipopt computes; what it would raise there is lost, so nothing may be raised.
    before, during = signal.getsignal(signal.SIGINT), []
    valley().solve(cancel=CancelToken(listener=lambda _: during.append(signal.getsignal(signal.SIGINT))), stage="x")
    assert before not in during
    taken = steps()
    with smooth_steps.ctrl_c_stops(taken):
        signal.raise_signal(signal.SIGINT)
    assert taken.interrupted
    assert taken.is_last(0.5, INSIDE)


def test_ctrl_c_that_stops_the_watch_is_a_limit():
    cancel = CancelToken(listener=lambda _: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, lambda *_: cancel.stop())
    try:
        assert valley().solve(cancel=cancel, stage="down").status is SmoothStatus.LIMIT
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_of_a_listener_is_not_swallowed():
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        valley().solve(cancel=CancelToken(listener=interrupt), stage="down")


def test_another_thread_than_the_main_one_may_solve():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(valley().solve).result().status is SmoothStatus.SOLVED


def test_ipopt_says_nothing_itself(capfd):
    valley().solve(cancel=CancelToken(10.0), stage="down")
    program = SmoothProgram()  # whose objective is no number at some points on the way
    x = program.variables("x", np.array([-1.0]), np.array([2.0]), np.array([-0.5]))
    program.at_most(x, 1.0)
    program.maximise(casadi.sqrt(x))
    program.solve()
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_what_casadi_cannot_read_is_a_solver_s_error():
    program = SmoothProgram()
    x = program.variables("x", np.zeros(1), np.ones(1), np.array([0.5]))
    program.at_most(x + casadi.MX.sym("stranger"), 1.0)
    program.maximise(x)
    with pytest.raises(SolverError, match="Ipopt rejected the program"):
        program.solve()


def test_a_missing_casadi_is_told_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingExtraError, match="the non-linear program needs the extra 'nlp'"):
        SmoothProgram()
