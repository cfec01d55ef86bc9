"""The most profit as a function of the price: every piece, exactly.

At income N = p - overhead the best rate is max over (r, C) of N r - C, where r is bags per second and C the
money per second that their tasks cost. That is convex and piecewise linear in N; its pieces are the corners
of the chain of (C, -r), its breakpoints the incomes at which two neighbours tie. All prices share one set of
rows.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations import profit
from lpsched.formulations.scales import scales_of
from lpsched.lp.hot import CheckedSweep
from lpsched.search.corners import FLAT, Corner, corners
from lpsched.search.profit_rate import best_rate

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.relaxation import Relaxation

FAR: Final = 1e6  # times the shortest makespan: beyond, one T does not fit both ends of the curve
FINE: Final = 1e-14  # where each income has a T of its own, far flatter corners can be told


@dataclass(frozen=True, slots=True)
class Piece:
    """A corner: what is best between two incomes. `None` for the relaxation means: do not run."""

    from_income: float
    to_income: float | None  # None: for ever
    bags_per_second: float
    cost_per_second: float
    relaxation: Relaxation | None


class PriceSearch:
    """Solves the profit program of one bag for one income after the other."""

    def __init__(self, bag: Bag, solver: Solver) -> None:
        self.bag = bag
        self._scales = scales_of(bag)
        self._money = profit.money_of(self._scales)
        self._kappa = profit.costs_of(self._money) * self._scales.units
        self._solver = solver
        self.sweep = CheckedSweep(solver, profit.compile_lp(self._scales, self._money))
        cheapest = self._scales.makespan_of(self._scales.to_least(self._money.costs))
        self._apart = cheapest > FAR * self._scales.seconds

    def at(self, income: float) -> Relaxation:
        """Return what is best at this income."""
        return self._minimise(1.0, income).source

    def pieces(self, from_income: float, to_income: float | None) -> list[Piece]:
        """Return the pieces between two incomes, by rising income."""
        left = self._minimise(1.0, from_income)
        right = self._minimise(0.0, 1.0) if to_income is None else self._minimise(1.0, to_income)
        if self.bag.site.deadline_seconds is None and self._is_nothing(left, from_income):
            left = Corner(0.0, 0.0, left.source)  # r = 0, C = 0: do not run
        found, _ = corners(self._minimise, left, right, flat=FINE if self._apart else FLAT)
        breaks = [
            (after.first - before.first) / (before.second - after.second)
            for before, after in itertools.pairwise(found)
        ]
        limits = [from_income, *breaks, to_income]
        return [
            Piece(start or 0.0, stop, -corner.second, corner.first, corner.source if corner.second else None)
            for corner, start, stop in zip(found, limits[:-1], limits[1:], strict=True)
        ]

    def _is_nothing(self, corner: Corner[Relaxation], income: float) -> bool:
        return income * -corner.second - corner.first <= 0

    def _minimise(self, cost_weight: float, bags_weight: float) -> Corner[Relaxation]:
        """Return the corner that is best for cost_weight C - bags_weight r."""
        if self._apart and cost_weight:
            best, _ = best_rate(self.bag, self._solver, income=bags_weight / cost_weight)
            return self._corner(best, 1.0 / best.makespan_seconds)
        size = max(cost_weight * self._money.unit, abs(bags_weight)) or 1.0
        kappa, income = cost_weight * self._money.unit / size, bags_weight / size
        costs = np.append((kappa * self._kappa).ravel(), -income)
        solution = self.sweep.solve(costs)
        at_income = bags_weight / cost_weight if cost_weight else self._money.income
        money = replace(
            self._money, income=at_income, unit=size / cost_weight if cost_weight else self._money.unit
        )
        relaxation = profit.read_solution(self._scales, money, solution)
        return self._corner(relaxation, float(solution["rho"][0]) / self._scales.seconds)

    def _corner(self, relaxation: Relaxation, bags: float) -> Corner[Relaxation]:
        used = np.where(np.isfinite(self._money.costs), self._money.costs, 0.0)
        return Corner(float((used * relaxation.shares).sum()) * bags, -bags, relaxation)
