"""The most profit as a function of one number: price, price of electricity, machines of a type."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lpsched.bag import profit
from lpsched.bag.profit import JOULES_PER_KWH
from lpsched.bag.relaxation import scales_of
from lpsched.bag.search.objectives import FAR, FINE, FLAT, Corner, best_rate, corners
from lpsched.lp.master import CheckedSweep

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Relaxation
    from lpsched.lp.program import Solver


# The most profit as a function of the price: every piece, exactly.
#
# At income N = p - overhead the best rate is max over (r, C) of N r - C, where r is bags per second and C the
# money per second that their tasks cost. That is convex and piecewise linear in N; its pieces are the corners
# of the chain of (C, -r), its breakpoints the incomes at which two neighbours tie. All prices share one set
# of rows.
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


# The most profit as a function of the price of electricity: every piece, exactly.
#
# Let q = c PUE be what a joule at the machines costs. At a fixed income N the best rate is
#
#     max over (r, z)  of  A - q B - K(q),    A = N r - sum wear_j e_ijk z_ijk    money per second, less wear
#                                             B = sum d_ijk z_ijk                 watts above the idle floor I
#                                             K = q I + depreciation
#
# over the rows of `bag/profit.py`, in which no price of energy occurs. So it is convex and piecewise
# linear in q; its pieces are the corners of the chain of (B, -A), its breakpoints the prices at which two
# neighbours tie. It never rises: B + I, the power drawn, is not negative. To do nothing is A = B = 0. Where
# tasks draw less than idle machines, B < 0 at high prices, and doing nothing is best only between two prices,
# if at all.
@dataclass(frozen=True, slots=True)
class PowerPiece:
    """A corner: what is best between two prices of a kilowatt-hour. No relaxation means: do not run.

    `at_from` is the relaxation at the price where the piece begins: its prices prove the bound there.
    """

    from_per_kwh: float
    to_per_kwh: float | None  # None: for ever
    money_per_second: float  # A
    watts_above_idle: float  # B
    relaxation: Relaxation | None
    at_from: Relaxation


@dataclass(frozen=True, slots=True)
class _BestAt:
    """What is best at some price of a joule: A money per second at B watts."""

    relaxation: Relaxation
    money: float
    watts: float
    runs: bool


class ElectricitySearch:
    """Solves the profit program of one bag for one price of electricity after the other."""

    def __init__(self, bag: Bag, solver: Solver) -> None:
        self.bag = with_electricity(bag, 0.0)
        self._scales = scales_of(self.bag)
        assert self._scales.joules is not None, "a price of energy needs watts"
        self._joules = self._scales.joules
        self._money = profit.money_of(self._scales)  # what tasks cost but for energy
        self._solver = solver
        self.sweep = CheckedSweep(solver, profit.compile_lp(self._scales, self._money))
        thriftiest = self._scales.makespan_of(self._scales.to_least(self._joules))
        self._apart = thriftiest > FAR * self._scales.seconds

    def at(self, per_kwh: float) -> Relaxation:
        """Return what is best at this price of a kilowatt-hour."""
        return self._best(self._per_joule(per_kwh), 1.0).relaxation

    def pieces(self) -> list[PowerPiece]:
        """Return the pieces by rising price, from free electricity on."""

        def minimise(watts_weight: float, money_weight: float) -> Corner[_BestAt]:
            best = self._best(watts_weight, money_weight)
            return Corner(best.watts, -best.money, best)

        thrifty, free = minimise(1.0, 0.0), minimise(0.0, 1.0)
        if self.bag.site.deadline_seconds is None and thrifty.first >= 0:  # nothing draws less than nothing
            thrifty = Corner(0.0, 0.0, _BestAt(thrifty.source.relaxation, 0.0, 0.0, runs=False))
        found, edges = corners(minimise, thrifty, free, flat=FINE if self._apart else FLAT)
        found.reverse()
        edges.reverse()
        breaks = [
            (before.second - after.second) / (after.first - before.first) for before, after in itertools.pairwise(found)
        ]
        starts = [0.0, *(self._per_kwh(each) for each in breaks)]
        sources = [free.source.relaxation]
        for price, joule, edge in zip(starts[1:], breaks, edges, strict=True):
            same = math.isclose(joule, edge.first_weight / edge.second_weight, rel_tol=1e-12)
            sources.append(edge.source.relaxation if same else self.at(price))
        return [
            PowerPiece(start, stop, best.money, best.watts, best.relaxation if best.runs else None, source)
            for best, start, stop, source in zip(
                (each.source for each in found), starts, [*starts[1:], None], sources, strict=True
            )
        ]

    def _best(self, watts_weight: float, money_weight: float) -> _BestAt:
        """Return what is best for watts_weight B - money_weight A; only how the weights compare matters."""
        per_joule = watts_weight / money_weight if money_weight else 1.0
        if self._apart and money_weight and watts_weight:
            bag = with_electricity(self.bag, self._per_kwh(per_joule))
            rated = best_rate(bag, self._solver)
            return self._with_rates(rated.relaxation, rated.bags_per_second)
        worn = self._money.costs if money_weight else np.where(np.isfinite(self._money.costs), 0.0, np.inf)
        costs = worn + (per_joule * self._joules if watts_weight else 0.0)
        income = self._money.income if money_weight else 0.0
        money = replace(self._money, income=income, costs=costs, unit=profit.unit_of(self._scales, income, costs))
        tasks = (profit.costs_of(money) * self._scales.units).ravel()
        solution = self.sweep.solve(np.append(tasks, -income / money.unit))
        relaxation = profit.read_solution(self._scales, money, solution)
        rho = float(solution["rho"][0])
        return self._with_rates(relaxation, rho / self._scales.seconds if rho > profit.SLOWEST else 0.0)

    def _with_rates(self, relaxation: Relaxation, bags: float) -> _BestAt:
        worn = np.where(np.isfinite(self._money.costs), self._money.costs, 0.0)
        spent = float((worn * relaxation.shares).sum())
        watts = float((self._joules * relaxation.shares).sum()) * bags
        return _BestAt(relaxation, (self._money.income - spent) * bags, watts, runs=bags > 0)

    def _per_joule(self, per_kwh: float) -> float:
        return per_kwh / JOULES_PER_KWH * self.bag.site.pue

    def _per_kwh(self, per_joule: float) -> float:
        return per_joule * JOULES_PER_KWH / self.bag.site.pue


def with_electricity(bag: Bag, per_kwh: float) -> Bag:
    """Return the bag at another price of electricity."""
    return replace(bag, prices=bag.prices.model_copy(update={"electricity_per_kwh": per_kwh}))
