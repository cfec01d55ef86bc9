"""The parametric simplex method: at every theta as good as a program solved by itself, and proved by its own bases."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.lp.parametric import parametric_path
from lpsched.lp.program import LpBuilder, LpStatus
from lpsched.lp.solvers import HighsSolver
from lpsched.lp.sweep import CheckedSweep


def random_program(seed):
    """Return a feasible program, of few whole numbers for every other seed: ties everywhere."""
    rng = np.random.default_rng(seed)
    width, height = int(rng.integers(2, 12)), int(rng.integers(1, 7))

    def draw(*shape):
        return rng.integers(-2, 4, shape).astype(float) if seed % 2 else rng.normal(0.5, 1.0, shape)

    upper = rng.choice([0.0, 1.0, 2.0, 30.0], width)
    inside = upper * rng.integers(0, 3, width) / 2
    matrix = draw(height, width)
    lp = LpBuilder("random")
    x = lp.variables("x", upper=upper)
    for number, (row, sum_) in enumerate(zip(matrix, matrix @ inside, strict=True)):
        room = rng.choice([0.0, 0.0, 1.0, np.inf], 2)
        lp.between(f"r{number}", [(x, row)], sum_ - room[0], sum_ + room[1])
    lp.objective([(x, 0.0)])
    return lp.build(), draw(width), draw(width)


@pytest.mark.parametrize("seed", range(300))
def test_every_theta_has_the_optimum_of_its_own_program_and_a_basis_that_proves_it(seed):
    program, first, second = random_program(seed)
    sweep = HighsSolver().sweep(program)
    path = parametric_path(program, first, second, sweep.solve(first).values, sweep.basic())
    assert path is not None
    assert program.infeasibilities(path.points) < 1e-9
    assert np.all(np.diff(path.ends) >= 0)
    between = [0.5 * sum(pair) for pair in zip(path.ends[:-1], path.ends[1:], strict=True) if np.isfinite(pair[1])]
    for theta in (0.0, *path.ends[:-1], *between, 0.1, 1.0, 10.0, 1e4):
        costs = first + theta * second
        alone = HighsSolver().solve(program.with_costs(costs))
        assert alone.status is LpStatus.OPTIMAL
        near = pytest.approx(alone.value, rel=1e-8, abs=1e-8 * (1 + theta))
        assert (path.points @ costs).min() == near
        basis = np.searchsorted(path.ends, theta)
        assert program.dual_bound(path.first[basis] + theta * path.second[basis], costs) == near


def test_the_points_of_a_program_on_paper():
    # Two tasks, on a cheap machine (1 each, slow) or a quick one (3 each): cost falls as lateness counts for more.
    lp = LpBuilder("paper")
    x, late = lp.variables("x", upper=np.array([9.0, 9.0])), lp.variables("late", upper=np.array([9.0]))
    lp.equal("demand", [(x, 1.0)], 2.0)
    lp.at_most("slow", [(x[0], 2.0), (late[0], -1.0)], 0.0)
    lp.at_most("quick", [(x[1], 1.0), (late[0], -1.0)], 0.0)
    lp.objective([(x, 0.0)])
    program, cost, lateness = lp.build(), np.array([1.0, 3.0, 0.0]), np.array([0.0, 0.0, 1.0])
    sweep = CheckedSweep(HighsSolver(), program)
    path = sweep.path(sweep.solve(cost), lateness)
    # All on the cheap one, 4 late; then 2/3 and 4/3, both 4/3 late: (2 + 8/3) / (4 - 4/3) more for each second.
    assert path.points == pytest.approx(np.array([[2.0, 0.0, 4.0], [2 / 3, 4 / 3, 4 / 3]]))
    assert path.ends.tolist() == [pytest.approx(1.0), np.inf]


def test_a_basis_that_is_none_and_a_large_program_have_no_path():
    program, first, second = random_program(0)
    height = len(program.row_names)
    twice = np.zeros(height, dtype=np.int64)  # one column for every row: singular, unless there is one row
    if height > 1:
        assert parametric_path(program, first, second, np.zeros(len(first)), twice) is None
    assert parametric_path(program, first, second, np.zeros(len(first)), np.arange(height + 1)) is None
