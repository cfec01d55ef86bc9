"""Core times: by hand on one node; what is promised is earned, and known times are never lost."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import facility_arrays, heat_map
from lpsched.facility.nlp import CoreTimes, compile_lp, read_solution
from lpsched.lp.program import LpSolution, LpStatus, require_optimal
from lpsched.lp.solvers import HighsSolver
from tests.facility.small_facility import SMALL
from tests.paper_facility import paper_facility


def fixed_at(facility, celsius, column, *, colocation=True):
    arrays = facility_arrays(facility, colocation=colocation)
    node = np.repeat(np.arange(len(facility.nodes)), arrays.cores[arrays.node_type])
    return CoreTimes(arrays, heat_map(facility), np.array([celsius]), node, np.array(column))


def best(fixed, known):
    known = np.array(known, dtype=float)
    return read_solution(fixed, require_optimal(HighsSolver().solve(compile_lp(fixed, known))))


PAPER = fixed_at(paper_facility(), 20.0, [[0], [0]])  # 66.67 W for the cores: 4/3 of a core's time


def test_slowdowns_are_those_beside_the_other_cores():
    # render beside 0.5 of a render and 0.25 of a zip: 1 + 0.5 x 1 + 0.25 x 0.5; zip: 1 + 0.5 x 0.25.
    fixed = fixed_at(SMALL, 20.0, [[0, 0], [0, 0]])
    slower = fixed.slowdowns(np.array([[0.5, 0.25], [0.0, 0.0]]))
    assert slower.tolist() == [[1.0, 1.0], [1.625, 1.125]]
    assert fixed.worst().tolist() == [[2.0, 1.25], [2.0, 1.25]]


def test_known_slowdowns_are_ceilings():
    # Known: one core all the time, the other for a sixth: slowdowns 1 + 1/12 and 1.5. The second core may do no more
    # than that beside the first, though there is power for 1/3: 12/13 + (1/6) / 1.5.
    times, promised = best(PAPER, [[1.0], [1 / 6]])
    assert times.ravel() == pytest.approx([1.0, 1 / 6])
    assert promised == pytest.approx(12 / 13 + 1 / 9)
    assert promised == pytest.approx(PAPER.reward_rate(times))


def test_where_a_class_did_not_run_it_is_counted_at_its_worst():
    # Core 1 was idle, so core 0 was not slowed down and must not be; core 1 may do nothing beside it, or core 0 less:
    # only f0 = 1 brings 1. From idle cores: 4/3 of a core's time at 1.5: 8/9, and in truth 1.0794 or less slowed down.
    times, promised = best(PAPER, [[1.0], [0.0]])
    assert (promised, times.ravel().tolist()) == (pytest.approx(1.0), pytest.approx([1.0, 0.0]))
    times, promised = best(PAPER, [[0.0], [0.0]])
    assert promised == pytest.approx(8 / 9)
    assert times.sum() == pytest.approx(4 / 3)
    assert PAPER.reward_rate(times) > promised


def test_without_degradation_every_core_may_run_everything():
    fixed = fixed_at(paper_facility(), 20.0, [[0], [0]], colocation=False)
    program = compile_lp(fixed, np.zeros((2, 1)))
    assert not [name for name in program.row_names if name.startswith("beside")]
    assert best(fixed, [[0.0], [0.0]])[1] == pytest.approx(4 / 3)


def test_arrivals_limit_what_is_earned():
    fixed = fixed_at(paper_facility(arrivals=0.5), 20.0, [[0], [0]])
    assert best(fixed, [[0.0], [0.0]])[1] == pytest.approx(0.5)


def test_the_redline_limits_power_where_it_is_nearer_than_the_cap():
    # At 25.3 C and R = 25.5 C: P <= 80 W, less than the 120 W of an idle node at 25.2; at 25.1 C: P <= 160 W: 40 W.
    fixed = fixed_at(paper_facility(), 25.1, [[0], [0]], colocation=False)
    assert best(fixed, [[0.0], [0.0]])[1] == pytest.approx(0.8)


def test_rows_of_air_that_cannot_bind_are_left_out():
    names = compile_lp(fixed_at(paper_facility(redline=40.0), 20.0, [[0], [0]]), np.zeros((2, 1))).row_names
    assert not [name for name in names if name.startswith(("node", "unit", "cools"))]


def test_a_task_type_without_a_state_does_not_run():
    fixed = fixed_at(SMALL, 20.0, [[-1, 0], [-1, 0]])
    times, promised = best(fixed, [[0.0, 0.0], [0.0, 0.0]])
    assert not times[:, 0].any()
    assert promised == pytest.approx(1.0)  # all zips that arrive


def test_times_are_read_with_no_core_over_full_and_without_noise():
    program = compile_lp(PAPER, np.zeros((2, 1)))
    values = np.zeros(len(program.costs))
    values[program.blocks["f"].ravel()] = [1.25, 1e-12]
    values[program.blocks["z"]] = 0.09  # of 10 arrivals a second
    solution = LpSolution(program, LpStatus.OPTIMAL, values, np.zeros(len(program.row_names)), 0.0)
    times, promised = read_solution(PAPER, solution)
    assert times.tolist() == [[1.0], [0.0]]
    assert promised == pytest.approx(0.9)
