"""The most profit as a function of how many machines of a type there are: every piece, exactly.

Let R(v) be the best rate with v more machines of a type (`formulations/machine_counts.py`): concave and
piecewise linear. Its breakpoints are the corners of the chain of (v, -R): where a further machine would cost
s more a second than it does, v machines are best for which R has the slope s. So `corners.py` finds them all,
from v = 0 to the best number, where R has no slope left; all s share one set of rows. The prices at the edge
from one breakpoint to the next prove the line between them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.errors import InfeasibleProgramError
from lpsched.formulations import profit
from lpsched.formulations.machine_counts import (
    compile_lp,
    price_unit,
    read_solution,
    with_fixed,
    with_more,
)
from lpsched.formulations.scales import scales_of
from lpsched.lp.hot import CheckedSweep
from lpsched.lp.program import require_optimal
from lpsched.search.corners import Corner, corners

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import LpSolution, Solver


@dataclass(frozen=True, slots=True)
class CountPrices:
    """What proves a line: prices of machine seconds and joules above idle, and theta."""

    machines: tuple[float, ...]
    cap: float
    theta: float


@dataclass(frozen=True, slots=True)
class CountPiece:
    """Between how many more machines of a type each brings the same, and the prices that prove it."""

    from_more: float
    to_more: float
    prices: CountPrices


class CountSearch:
    """Solves the program of one bag for one machine type after the other.

    `seconds` is the makespan that is best for the machines there are; the program counts time in it.
    """

    def __init__(self, bag: Bag, solver: Solver, *, seconds: float) -> None:
        self.bag, self.solver = bag, solver
        self._scales = scales_of(bag, seconds=seconds, whole=False)
        self._money = profit.money_of(self._scales)
        self._program = compile_lp(self._scales, self._money)
        self._present = require_optimal(solver.solve(self._program))
        self.solves = 1

    def present(self) -> CountPrices:
        """Return the prices with the machines there are."""
        return self._prices(self._present)

    def prices_at(self, j: int, more: float) -> CountPrices | None:
        """Return the prices with so many more machines of type j; `None` if there is no schedule then."""
        self.solves += 1
        try:
            program = with_fixed(self._program, self._scales, j, more)
            return self._prices(require_optimal(self.solver.solve(program)))
        except InfeasibleProgramError:
            return None

    def best(self, j: int, *, most: int) -> tuple[float, CountPrices]:
        """Return how many more machines of type j are best, at most so many, and the prices there."""
        self.solves += 1
        program = with_more(self._program, self._scales, self._money, j, most=most)
        solution = require_optimal(self.solver.solve(program))
        return float(solution.values[-1]) * self.bag.machine_types[j].count, self._prices(solution)

    def pieces(self, j: int, *, most: int) -> list[CountPiece]:
        """Return the pieces from the machines of type j that there are to the best number of them.

        The last piece ends at the best number, or at `most` more; there is none if that is the present one.
        """
        program = with_more(self._program, self._scales, self._money, j, most=most)
        sweep, unit = CheckedSweep(self.solver, program), price_unit(self._scales, self._money, j)
        count = self.bag.machine_types[j].count

        def minimise(machines_weight: float, money_weight: float) -> Corner[LpSolution]:
            costs = program.costs.copy()
            costs[-1] += machines_weight / money_weight * unit
            solution = sweep.solve(costs)
            lost = program.value(solution.values) * self._money.unit / self._scales.seconds
            return Corner(float(solution.values[-1]) * count, lost, solution)

        lost_now = self._present.value * self._money.unit / self._scales.seconds
        now, best = Corner(0.0, lost_now, self._present), minimise(0.0, 1.0)
        found, edges = corners(minimise, now, best)
        self.solves += sweep.solves
        return [
            CountPiece(before.first, after.first, self._prices(edge.source))
            for (before, after), edge in zip(itertools.pairwise(found), edges, strict=True)
        ]

    def _prices(self, solution: LpSolution) -> CountPrices:
        relaxation, theta = read_solution(self._scales, self._money, solution)
        return CountPrices(relaxation.machine_prices, relaxation.cap_price, theta)
