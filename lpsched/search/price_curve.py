"""The most profit as a function of the price: every piece, exactly.

At income N = p - overhead the best rate is max over (r, C) of N r - C, where r is bags per second and C the
money per second that their tasks cost. That is convex and piecewise linear in N; its pieces are the corners
of the chain of (C, -r), its breakpoints the incomes at which two neighbours tie. All prices share one set of
rows.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lpsched.formulations import profit
from lpsched.formulations.scales import scales_of
from lpsched.lp.hot import CheckedSweep
from lpsched.search.corners import FAR, FINE, FLAT, Corner, corners
from lpsched.search.profit_rate import best_rate

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.relaxation import Relaxation


@dataclass(frozen=True, slots=True)
class Piece:
    """A corner: what is best between two incomes. `None` for the relaxation means: do not run."""

    from_income: float
    to_income: float | None  # None: for ever
    bags_per_second: float
    cost_per_second: float
    relaxation: Relaxation | None


@dataclass(frozen=True, slots=True)
class _Best:
    """What is best at some income: r bags per second, at C money per second."""

    relaxation: Relaxation
    bags: float
    cost: float


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
        return self._best(1.0, income).relaxation

    def pieces(self, from_income: float, to_income: float | None) -> list[Piece]:
        """Return the pieces between two incomes, by rising income.

        The first criterion is C - N0 r, with N0 the income to begin at: then all incomes asked for are
        positive weights, also those of a price that does not cover the overhead.
        """

        def minimise(cost_weight: float, bags_weight: float) -> Corner[_Best]:
            best = self._best(cost_weight, bags_weight + cost_weight * from_income)
            return Corner(best.cost - from_income * best.bags, -best.bags, best)

        left = minimise(1.0, 0.0)
        right = minimise(0.0, 1.0) if to_income is None else minimise(1.0, to_income - from_income)
        if self.bag.site.deadline_seconds is None and left.first >= 0:
            left = Corner(0.0, 0.0, _Best(left.source.relaxation, 0.0, 0.0))  # r = 0, C = 0: do not run
        found, _ = corners(minimise, left, right, flat=FINE if self._apart else FLAT)
        breaks = [
            from_income + (after.first - before.first) / (before.second - after.second)
            for before, after in itertools.pairwise(found)
        ]
        starts, stops = [from_income, *breaks], [*breaks, to_income]
        return [
            Piece(start, stop, best.bags, best.cost, best.relaxation if best.bags else None)
            for best, start, stop in zip((each.source for each in found), starts, stops, strict=True)
        ]

    def _best(self, cost_weight: float, bags_weight: float) -> _Best:
        """Return what is best for cost_weight C - bags_weight r."""
        if self._apart and cost_weight:
            rated = best_rate(self.bag, self._solver, income=bags_weight / cost_weight)
            return self._with_rates(rated.relaxation, rated.bags_per_second)
        size = max(cost_weight * self._money.unit, abs(bags_weight)) or 1.0
        kappa, income = cost_weight * self._money.unit / size, bags_weight / size
        solution = self.sweep.solve(np.append((kappa * self._kappa).ravel(), -income))
        money = self._money
        if cost_weight:
            money = replace(money, unit=size / cost_weight)
        relaxation = profit.read_solution(self._scales, money, solution)
        return self._with_rates(relaxation, float(solution["rho"][0]) / self._scales.seconds)

    def _with_rates(self, relaxation: Relaxation, bags: float) -> _Best:
        used = np.where(np.isfinite(self._money.costs), self._money.costs, 0.0)
        return _Best(relaxation, bags, float((used * relaxation.shares).sum()) * bags)
