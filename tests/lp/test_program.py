from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.cancellation import CancelToken
from lpsched.errors import SolverError
from lpsched.lp.program import LpBuilder, LpStatus, require_optimal
from lpsched.lp.solvers import HighsSolver
from tests.support import hard_program


def diet(target=5.0):
    """min x0 + 2 x1 + 3, x0 + x1 = target, x0 - x1 <= 2, 0 <= x <= 4."""
    lp = LpBuilder("diet")
    x = lp.variables("x", upper=np.array([4.0, 4.0]))
    lp.objective([(x, np.array([1.0, 2.0]))], offset=3.0)
    lp.equal("enough", [(x, 1.0)], target)
    lp.at_most("balance", [(x[0], 1.0), (x[1], -1.0)], 2.0)
    return lp.build()


def test_a_program_on_paper():
    # x0 = (5 + 2) / 2 = 3.5, x1 = 1.5: 3 + 3.5 + 3 = 9.5. Multipliers: 1.5 for enough, -0.5 for balance,
    # since 1.5 (1, 1) - 0.5 (1, -1) = (1, 2); the bound is 3 + 1.5 * 5 - 0.5 * 2 = 9.5.
    solution = require_optimal(HighsSolver().solve(diet()))
    assert solution["x"] == pytest.approx(np.array([3.5, 1.5]))
    assert solution.program.row_names == ("enough", "balance")
    assert solution.multipliers == pytest.approx(np.array([1.5, -0.5]))
    assert solution.bound == pytest.approx(9.5)


@settings(deadline=None)
@given(st.lists(st.floats(-10, 10) | st.sampled_from([np.inf, -np.inf, np.nan]), min_size=2, max_size=2))
def test_any_multipliers_give_a_bound_that_holds(multipliers):
    assert diet().dual_bound(np.array(multipliers)) <= 9.5 + 1e-9


def test_an_infeasible_program_is_not_optimal():
    with pytest.raises(SolverError, match="diet"):
        require_optimal(HighsSolver().solve(diet(target=100.0)))


def test_a_time_limit_is_passed_on():
    # Without a limit this program takes some seconds; with one, it ends as a limit or without any answer.
    try:
        status = HighsSolver().solve(hard_program(), cancel=CancelToken(0.1)).status
    except SolverError as error:
        assert "Time limit" in str(error)  # noqa: PT017
    else:
        assert status is LpStatus.LIMIT


def test_a_program_that_highs_refuses_is_an_error():
    lp = LpBuilder("refused")
    x = lp.variables("x", upper=np.ones(1))
    lp.objective([(x, 1.0)])
    lp.equal("huge", [(x, 1e300)], 1.0)  # beyond HiGHS's largest matrix value
    with pytest.raises(SolverError, match="HiGHS rejected the program of refused"):
        HighsSolver().solve(lp.build())


def test_a_variable_without_an_upper_bound_is_a_bug():
    with pytest.raises(AssertionError, match="finite upper bound"):
        LpBuilder("x").variables("x", upper=np.array([np.inf]))


def test_a_solution_that_is_not_optimal_is_not_passed_on():
    solution = HighsSolver().solve(diet())
    limited = type(solution)(solution.program, LpStatus.LIMIT, solution.values, solution.multipliers, solution.bound)
    with pytest.raises(SolverError, match="the linear program diet ended as limit, not optimal"):
        require_optimal(limited)


def test_a_time_limit_is_for_one_solve_only():
    lp = LpBuilder("small")
    x = lp.variables("x", upper=np.ones(3))
    lp.objective([(x, -1.0)])
    lp.at_most("row", [(x, 1.0)], 2.0)
    program = lp.build()
    sweep = HighsSolver().sweep(program)
    sweep.solve(program.costs, cancel=CancelToken(0.0))
    assert sweep.solve(np.array([-1.0, -2.0, -3.0])).status is LpStatus.OPTIMAL


def test_large_programs_are_multiplied_as_small_ones_are(monkeypatch):
    lp = LpBuilder("both")
    x = lp.variables("x", upper=np.array([2.0, 3.0]))
    lp.objective([(x, np.array([1.0, -1.0]))])
    lp.at_most("a", [(x, np.array([1.0, 2.0]))], 4.0)
    lp.equal("b", [(x, np.array([1.0, -1.0]))], 0.5)
    dense = lp.build()
    monkeypatch.setattr("lpsched.lp.program.FEW", 0)
    sparse = lp.build()
    for point in (np.array([1.0, 0.5]), np.array([3.0, 2.0]), np.array([-1.0, 0.0])):
        assert sparse.infeasibility(point) == dense.infeasibility(point)
        for most in (0.0, 0.3, 0.45, 0.6, 2.0):  # row a of (3, 2) is kept to 3 / 7, but only relative to its terms
            assert all(each.is_kept(point, most) == (each.infeasibility(point) <= most) for each in (sparse, dense))
    for y in (np.array([-0.5, 0.25]), np.array([1.0, -3.0])):
        assert sparse.dual_bound(y) == dense.dual_bound(y)
    # (3, 2): row a holds 7 instead of 4, of terms that add up to 7; row b 1 instead of 0.5, of 5; x_0 is 1 beyond 2.
    assert dense.infeasibility(np.array([3.0, 2.0])) == pytest.approx(max(3 / 7, 0.5 / 5, 1 / 2))
