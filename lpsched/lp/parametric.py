"""All optimal bases between two objectives of one program: the parametric simplex method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from lpsched.lp.program import FEW, Floats, Integers, LinearProgram

# min (c + theta d) x over the rows of one program, for every theta >= 0: a basis that is optimal for c alone stays so
# until the reduced cost of some nonbasic variable changes its sign; there that variable enters, the usual ratio test
# says which one leaves, and the next basis is optimal from there on. No theta is tried and none is missed.
#
# Rows are variables too: with v = (x, r) and r = A x the equations are [A, -I] v = 0, and every v has a lower and an
# upper limit. The tableau B^-1 [A, -I] is kept dense, with the reduced costs of both objectives as two more rows, so
# that a pivot is one outer product. The reduced cost of r_i is the multiplier y_i.
#
# Rounding adds up from pivot to pivot. So the tableau is made anew every REFRESHED pivots, each point that is kept is
# corrected by what its equations are off, and the answer has to be checked: `LinearProgram.infeasibilities` of the
# points, and the bounds of the multipliers, show whatever went wrong here. Where the method gets stuck, or the program
# is large, there is no answer, and a solver has to be asked for each theta by itself.
#
# Source: Gass and Saaty, The computational algorithm for the parametric objective function, 1955.
LEAST_SLOPE: Final = 1e-10  # of a reduced cost, for theta to matter; HiGHS has the same tolerance
TIED: Final = 1e-12  # relative: thetas of two variables that change their signs at once
LEAST_PIVOT: Final = 1e-9
BEYOND: Final = 1e-11  # how far a variable may pass its limit, for the sake of a larger pivot (Harris, 1973)
REFRESHED: Final = 100
MOST_PIVOTS: Final = 20  # for each row and column: more means that it goes in circles


@dataclass(frozen=True, slots=True)
class Path:
    """The points from the best of the first objective to the best of the second, and all bases on the way."""

    points: Floats  # one in a row
    ends: Floats  # of each basis, the theta up to which it is optimal; infinite for the last
    first: Floats  # bases x rows: the multipliers that each has for the first objective,
    second: Floats  # and for the second; those of a sum are the sum

    @property
    def pivots(self) -> int:
        """How often a basis was exchanged for the next."""
        return len(self.ends) - 1


def parametric_path(
    program: LinearProgram, first: Floats, second: Floats, start: Floats, basic: Integers
) -> Path | None:
    """Return all optimal bases of first + theta second, from theta = 0 on; `None` where the method gets stuck.

    `start` is optimal for `first`, and `basic` its basis: columns, and rows as -1 - row.
    """
    height, width = len(program.row_names), len(program.costs)
    if program.matrix.dense is None or height * (height + width) > FEW or len(basic) != height:
        return None
    with np.errstate(all="ignore"):  # what is not finite is found out below
        try:
            return _Tableau(program, np.stack((first, second)), start, basic).path()
        except np.linalg.LinAlgError:
            return None


class _Tableau:
    """The tableau of one basis; columns that are fixed at 0 are left out."""

    def __init__(self, program: LinearProgram, costs: Floats, start: Floats, basic: Integers) -> None:
        self.program, dense = program, program.matrix.dense
        assert dense is not None, "only small programs"
        height, width = dense.shape
        used = program.upper > 0
        used[basic[basic >= 0]] = True
        self.columns = np.flatnonzero(used)
        few = len(self.columns)
        place = np.cumsum(used) - 1
        self.basis = np.where(basic >= 0, place[np.maximum(basic, 0)], few - 1 - basic)
        self.matrix = np.concatenate((dense[:, self.columns], -np.eye(height)), axis=1)
        self.costs = np.concatenate((costs[:, self.columns], np.zeros((2, height))), axis=1)
        self.low = np.concatenate((np.zeros(few), program.row_lower))
        self.high = np.concatenate((program.upper[self.columns], program.row_upper))
        self.values = np.concatenate((start[self.columns], dense @ start))
        # A nonbasic variable may move away from the limit that it is at: up (1), down (-1) or, if fixed, not at all.
        at_high = np.abs(self.values - self.high) < np.abs(self.values - self.low)
        self.values = np.where(at_high, self.high, self.low)
        self.ways = np.where(at_high, -1.0, 1.0)
        self.ways[self.low == self.high] = 0.0
        self.ways[self.basis] = 0.0
        self.height, self.width = height, width
        self._refresh()

    def _refresh(self) -> None:
        """Make the tableau, the values of the basic variables and the reduced costs anew."""
        inner = self.matrix[:, self.basis]
        solved = np.linalg.solve(inner, self.matrix)
        solved[:, self.basis] = np.eye(self.height)
        reduced = self.costs - self.costs[:, self.basis] @ solved
        reduced[:, self.basis] = 0.0
        self.rows = np.concatenate((solved, reduced))
        self.scratch = np.empty_like(self.rows)
        self.values[self.basis] = 0.0  # those of basic variables are kept apart
        self.basic = np.linalg.solve(inner, -(self.matrix @ self.values))
        self.basic_low, self.basic_high = self.low[self.basis], self.high[self.basis]

    def path(self) -> Path | None:
        """Pivot from the first objective to the second."""
        points: list[Floats] = []
        multipliers: list[Floats] = []
        ends: list[float] = []
        theta = 0.0
        for pivot in range(1, MOST_PIVOTS * (self.height + len(self.columns))):
            entering, theta = self._entering(theta)
            multipliers.append(self.rows[self.height :, len(self.columns) :].copy())
            if entering < 0:
                points.append(self._point())
                first, second = np.array(multipliers).transpose(1, 0, 2)
                return Path(np.array(points), np.array([*ends, np.inf]), first, second)
            ends.append(theta)
            step, leaving = self._leaving(entering)
            if not np.isfinite(step):
                return None
            if step > 0.0:
                points.append(self._point())
            self._pivot(entering, step, leaving)
            if pivot % REFRESHED == 0:
                self._refresh()
        return None

    def _entering(self, theta: float) -> tuple[int, float]:
        """Return the variable whose reduced cost changes its sign next, and the theta; -1 if none does."""
        slopes = self.rows[-1] * self.ways
        falling = (slopes < -LEAST_SLOPE).nonzero()[0]
        if not len(falling):
            return -1, theta
        slopes = slopes[falling]
        at = np.maximum(self.rows[-2, falling] * self.ways[falling], 0.0) / -slopes
        soonest = float(at.min())
        slopes[at > soonest * (1.0 + TIED) + TIED] = 0.0
        return int(falling[slopes.argmin()]), max(theta, soonest)

    def _leaving(self, entering: int) -> tuple[float, int]:
        """Return how far the entering variable goes, and the row that stops it; -1: its own other limit."""
        moves = -self.ways[entering] * self.rows[: self.height, entering]
        sizes = np.abs(moves)
        rooms = np.where(moves > 0, self.basic_high - self.basic, self.basic - self.basic_low)
        np.maximum(rooms, 0.0, out=rooms)
        rooms[sizes <= LEAST_PIVOT] = np.inf
        furthest = ((rooms + BEYOND) / sizes).min()  # an infinite room by nothing is infinite
        rooms /= sizes
        sizes[~(rooms <= furthest)] = -1.0
        row = int(sizes.argmax())
        own, room = float(self.high[entering] - self.low[entering]), float(rooms[row])
        return (own, -1) if own <= room else (room, row)

    def _pivot(self, entering: int, step: float, leaving: int) -> None:
        """Move along the entering variable, and exchange it for the leaving one."""
        column, way = self.rows[:, entering].copy(), self.ways[entering]
        self.basic -= way * step * column[: self.height]
        if leaving < 0:
            self.values[entering] = self.high[entering] if way > 0 else self.low[entering]
            self.ways[entering] = -way
            return
        out, low, high = self.basis[leaving], self.basic_low[leaving], self.basic_high[leaving]
        is_high = way * column[leaving] < 0
        self.values[out] = high if is_high else low
        self.ways[out] = 0.0 if low == high else (-1.0 if is_high else 1.0)
        self.basic[leaving] = self.values[entering] + way * step
        self.values[entering] = self.ways[entering] = 0.0
        self.basis[leaving] = entering
        self.basic_low[leaving], self.basic_high[leaving] = self.low[entering], self.high[entering]
        row = self.rows[leaving] / column[leaving]
        column[leaving] -= 1.0
        np.multiply(column[:, np.newaxis], row, out=self.scratch)
        self.rows -= self.scratch

    def _point(self) -> Floats:
        """Return the point, corrected by what its equations are off."""
        inverse = self.rows[: self.height, len(self.columns) :]  # times -1
        values = self.values.copy()
        values[self.basis] = self.basic
        self.basic += inverse @ (self.matrix @ values)
        values[self.basis] = self.basic
        point = np.zeros(self.width)
        point[self.columns] = values[: len(self.columns)]
        return point
