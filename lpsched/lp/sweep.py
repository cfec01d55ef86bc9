"""Many objectives over one program, each answer checked; and all optimal multipliers of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lpsched.errors import SolverError
from lpsched.lp.parametric import Path, parametric_path
from lpsched.lp.program import Floats, LinearProgram, LpBuilder, LpSolution, LpStatus, Solver, require_optimal

# Many objectives over one program, each solution checked: hot starts where they work, cold ones where they do not.
# Solvers that start from an earlier basis have been seen to call a wrong solution optimal (HiGHS issues 3194 and 3294).
# So every hot one is checked: its status is optimal, its point keeps the rows, and its value and the bound of its own
# multipliers meet. If not, the program is solved again from cold, and that solution stands.
AGREEMENT: Final = 1e-7  # of value and bound, relative to the terms that the value adds up
KEPT: Final = 1e-7  # how far a point may leave its rows


class CheckedSweep:
    """Solves one program for one objective after the other; counts how often it had to start from cold."""

    def __init__(self, solver: Solver, program: LinearProgram) -> None:
        self.solver, self.program = solver, program
        self.solves = self.colds = 0
        self._sweep, self._is_hot = solver.sweep(program), False

    def solve(self, costs: Floats) -> LpSolution:
        """Return the optimal solution for these costs."""
        self.solves += 1
        try:
            hot = self._sweep.solve(costs)
            self._is_hot = is_consistent(hot)
            if self._is_hot:
                return hot
        except SolverError:
            self._is_hot = False  # whatever it was, a cold start follows
        self.colds += 1
        self._sweep = self.solver.sweep(self.program)  # the old one may go on to be wrong
        return require_optimal(self.solver.solve(self.program.with_costs(costs)))

    def multipliers_of(self, objectives: Sequence[Floats]) -> list[Floats] | None:
        """Return the multipliers that the last solve's basis has for each of these costs, if known."""
        return self._sweep.multipliers_of(objectives) if self._is_hot else None

    def path(self, solution: LpSolution, other: Floats) -> Path | None:
        """Return all optimal bases from the last solve's, which has this solution, to the best for other costs."""
        basic = self._sweep.basic() if self._is_hot else None
        if basic is None:
            return None
        path = parametric_path(self.program, solution.program.costs, other, solution.values, basic)
        return path if path is not None and self.program.infeasibilities(path.points) <= KEPT else None


def is_consistent(solution: LpSolution) -> bool:
    """Return whether a solution is optimal, feasible, and as good as its own bound."""
    if solution.status is not LpStatus.OPTIMAL or not np.isfinite(solution.values).all():
        return False
    program, value = solution.program, solution.value
    apart = abs(value - solution.bound)
    if not apart <= AGREEMENT * abs(value):  # the terms may cancel
        size = abs(program.offset) + float(np.abs(program.costs) @ np.abs(solution.values))
        if not apart <= AGREEMENT * size:
            return False
    return program.is_kept(solution.values, KEPT)


# All optimal multipliers of a linear program: where it is degenerate there are many, and two derivatives.
#
# The optimum of a program bends in its right-hand sides. Where it does, the derivative to the right is the
# least that optimal multipliers say, the derivative to the left the most (for a maximum; for a minimum the
# other way round). With x one optimal point, the optimal multipliers y are those that keep
#
#     y_i = 0 where row i is not tight,   y_i >= 0 (<= 0) at its lower (upper) limit
#     (c - A'y)_j = 0 where 0 < x_j < u_j,   >= 0 where x_j = 0,   <= 0 where x_j = u_j
#
# for any y and x that keep these prove each other optimal. The equations leave y = y0 + Z s, with one s for
# each degree of degeneracy; mostly there is none, or one. The least and most of a linear function of y over the
# inequalities that are left are small linear programs in s.
#
# Source: Gal, Shadow prices and sensitivity analysis in linear programming under degeneracy, OR Spektrum, 1986.
ZERO: Final = 1e-9  # a variable or a slack below this is 0; solvers keep rows to 1e-10
SINGULAR: Final = 1e-9  # of the largest singular value
CONSISTENT: Final = 1e-7  # what equations may be off; more means that x is not optimal
FAR: Final = 1e6  # how far s may go: programs count in units of their own size
ENDLESS: Final = 1e3  # what gets so far has no end
MOST_ROWS: Final = 400  # tight rows: a decomposition of some ten milliseconds


@dataclass(frozen=True, slots=True)
class DualFace:
    """The optimal multipliers: y0 + Z s with G s <= h."""

    origin: Floats  # y0
    free: Floats  # Z, rows x degrees
    slopes: Floats  # G
    limits: Floats  # h

    @property
    def degrees(self) -> int:
        """How many ways there are to move; 0 where the multipliers are unique."""
        return int(self.free.shape[1])

    def ranges(self, directions: Floats, solver: Solver) -> list[tuple[float | None, float | None]]:
        """Return the least and the most of each linear function of the multipliers; `None`: without an end."""
        sizes = np.abs(directions).max(axis=1, keepdims=True)
        sizes[sizes == 0] = 1.0
        at_origin, gradients = directions @ self.origin, directions / sizes @ self.free
        if not self.degrees:
            return [(value, value) for value in at_origin.tolist()]
        sweep = CheckedSweep(solver, self._program())
        known: dict[tuple[float, ...], float | None] = {}

        def least(gradient: Floats) -> float | None:
            size = float(np.abs(gradient).max())
            if size <= SINGULAR:
                return 0.0
            unit = gradient / size
            key = tuple(np.round(unit, 12).tolist())
            if key not in known:
                plus, minus = np.split(sweep.solve(np.concatenate([unit, -unit])).values, 2)
                found = float(unit @ (plus - minus))
                known[key] = None if found <= -ENDLESS else found
            lowest = known[key]
            return None if lowest is None else size * lowest

        ranges: list[tuple[float | None, float | None]] = []
        for value, size, gradient in zip(at_origin.tolist(), sizes.ravel().tolist(), gradients, strict=True):
            low, high = least(gradient), least(-gradient)
            ranges.append((None if low is None else value + size * low, None if high is None else value - size * high))
        return ranges

    def _program(self) -> LinearProgram:
        """Return min over G s <= h, with s as the difference of two variables."""
        lp = LpBuilder("dual-face")
        plus = lp.variables("plus", upper=np.full(self.degrees, FAR))
        minus = lp.variables("minus", upper=np.full(self.degrees, FAR))
        row = np.arange(len(self.limits))[:, np.newaxis]
        terms = [(row, plus, self.slopes), (row, minus, -self.slopes)]
        lp.at_most_each([f"y[{k}]" for k in range(len(self.limits))], terms, self.limits)
        return lp.build()


def dual_face(program: LinearProgram, x: Floats) -> DualFace | None:
    """Return the optimal multipliers, from one optimal point; `None` if it is none, or rows are many."""
    matrix = program.matrix
    sums = matrix.times(x)
    size = np.maximum(1.0, np.abs(np.where(np.isfinite(program.row_upper), program.row_upper, 0.0)))
    at_lower = sums - program.row_lower <= ZERO * size
    at_upper = program.row_upper - sums <= ZERO * size
    tight = np.flatnonzero(at_lower | at_upper)
    if len(tight) > MOST_ROWS:
        return None
    usable = program.upper > 0
    at_zero, at_most = x <= ZERO, (x >= program.upper - ZERO) & usable
    basic = np.flatnonzero(usable & ~at_zero & ~at_most)
    place = np.full(len(program.row_names), -1)
    place[tight] = np.arange(len(tight))
    column = np.full(len(program.costs), -1)
    column[basic] = np.arange(len(basic))
    kept = (place[matrix.rows] >= 0) & (column[program.columns] >= 0)
    equations = np.zeros((len(basic), len(tight)))
    np.add.at(equations, (column[program.columns[kept]], place[matrix.rows[kept]]), program.values[kept])
    left, values, right = np.linalg.svd(equations, full_matrices=True)
    rank = int((values > SINGULAR * values.max(initial=0.0)).sum())
    wanted = program.costs[basic]
    y_tight = right[:rank].T @ ((left[:, :rank].T @ wanted) / values[:rank])
    off = np.abs(equations @ y_tight - wanted).max(initial=0.0)
    if off > CONSISTENT * max(1.0, np.abs(wanted).max(initial=0.0)):
        return None
    origin, free = np.zeros(len(program.row_names)), np.zeros((len(program.row_names), len(tight) - rank))
    origin[tight], free[tight] = y_tight, right[rank:].T
    reduced = program.costs - matrix.transposed_times(origin)
    moves = [matrix.transposed_times(free[:, k]) for k in range(free.shape[1])]
    moved = np.array(moves).T if moves else np.zeros((len(program.costs), 0))
    one_sided = at_lower ^ at_upper
    sides = np.where(at_upper, 1.0, -1.0)  # y <= 0 at the upper limit, y >= 0 at the lower
    return DualFace(
        origin,
        free,
        np.concatenate([moved[usable & at_zero], -moved[at_most], sides[one_sided, np.newaxis] * free[one_sided]]),
        np.concatenate([reduced[usable & at_zero], -reduced[at_most], -sides[one_sided] * origin[one_sided]]),
    )
