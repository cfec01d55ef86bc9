"""Huge bags, by prices: soft ones first, then columns, and for profit the rate that just pays.

`formulations/choices.py` is the program, `lp/soft_prices.py` and `lp/columns.py` are the two steps. The
answer is that of the whole program, to the same accuracy, after some twenty passes over all pairs.

For profit, the program has the tasks' costs and a price L of T seconds; its optimum G(L) rises with L, with
slope t, and the rate at which G(L) is what the bag brings is the best: L + (N - G(L)) / t is a better L, and
only the cost of one variable changes from one L to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations import front, profit
from lpsched.formulations.choices import ChoiceOracle, Pairs
from lpsched.formulations.scales import DEAREST, scales_of
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.devices import array_module
from lpsched.lp.master import with_columns
from lpsched.lp.program import LpStatus
from lpsched.lp.soft_prices import CLOSE, NEAR, climb
from lpsched.relaxation import Relaxation
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.formulations.scales import Scales
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats
    from lpsched.lp.columns import Generated
    from lpsched.lp.program import Solver

MANY: Final = 30_000  # pairs: from here on, prices and columns are faster than the whole program
FEW_PRICES: Final = 2  # task types for each machine type, at least: with fewer, prices are not the short way
MOST_EXACT: Final = 50_000_000  # pairs: beyond, soft prices are the answer, to some 1e-4
FURTHER: Final = 20  # columns in the first master, for each price, beyond the cheapest of each task type
GAP: Final = 1e-10
MOST_RATES: Final = 30
LAST: Final = 4.0  # times the makespan of the soft choices: no better way is slower


@dataclass(frozen=True, slots=True)
class Chosen:
    """A relaxation, and whether it was solved to the end."""

    relaxation: Relaxation
    optimal: bool


def is_huge(bag: Bag) -> bool:
    """Tell whether prices and columns are the faster way."""
    types, columns = len(bag.task_types), len(bag.modes)
    few = types >= FEW_PRICES * len(bag.machine_types)
    return types * columns >= MANY and few and bag.site.deadline_seconds is None


def least_by_columns(
    bag: Bag, weights: front.Weights, solver: Solver, watch: Watch | None = None, *, whole: bool = True
) -> Chosen | None:
    """Return the least weighted sum of energy and makespan; `None` where a second costs nothing.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    scales = front.scales_for(bag, weights, whole=whole)
    costs, budget = front.costs_of(scales, weights)
    if budget <= 0 or _has_no_headroom(scales):
        return None
    choice = _Choice(
        scales, costs if weights.joules else None, front.unit_of(scales, weights), solver, watch or Watch()
    )
    return choice.answer(budget)


def rate_by_columns(bag: Bag, solver: Solver, watch: Watch | None = None) -> Chosen | None:
    """Return the best profit rate; `None` where the bag brings no more than its tasks cost.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    scales = scales_of(bag)
    money = profit.money_of(scales)
    cheapest = scales.to_least(money.costs)
    left = (money.income - float((profit.costs_of(money) * cheapest).sum()) * money.unit) / money.unit
    if left <= 0 or _has_no_headroom(scales):
        return None
    budget = left * scales.seconds / scales.makespan_of(cheapest)  # some rate that can be had
    choice = _Choice(scales, profit.costs_of(money), money.unit, solver, watch or Watch())
    chosen = choice.answer(budget, target=money.income / money.unit)
    relaxation = chosen.relaxation
    rate = float(scales.arrays.machine_counts @ relaxation.machine_prices) - money.standing
    if scales.cap is not None:
        rate += scales.cap.headroom_watts * relaxation.cap_price
    return replace(chosen, relaxation=replace(relaxation, bound=rate))


def pairs_of(scales: Scales, costs: Floats | None) -> Pairs:
    """Return all pairs of a bag, with these costs of whole task types."""
    arrays, cap = scales.arrays, scales.cap
    if not arrays.can_run.all():
        free = np.zeros_like(scales.loads) if costs is None else np.minimum(costs, DEAREST)
        costs = np.where(arrays.can_run, free, np.inf)
    firsts = np.searchsorted(arrays.machine_of, np.arange(len(arrays.machine_counts)))
    if cap is None:
        return Pairs(np, scales.loads, costs, None, 0.0, firsts)
    return Pairs(np, scales.loads, costs, cap.loads, cap.headroom, firsts)


def _has_no_headroom(scales: Scales) -> bool:
    return scales.cap is not None and scales.cap.headroom <= 0


@dataclass(slots=True)
class _Choice:
    """One program, from soft prices to the answer."""

    scales: Scales
    costs: Floats | None
    unit: float
    solver: Solver
    watch: Watch

    def answer(self, budget: float, target: float | None = None) -> Chosen:
        pairs = pairs_of(self.scales, self.costs)
        too_many = pairs.loads.size > MOST_EXACT
        cooling = CLOSE if too_many else NEAR
        single = pairs.single(array_module(self.solver.device))
        soft = climb(single, cooling, budget=budget, target=target, watch=self.watch)
        shares = single.shares(soft.prices, cooling.temperatures[-1])
        makespan = self.scales.makespan_of(shares) / self.scales.seconds
        if too_many or self.watch.is_over():
            return self._read(pairs, soft.prices, shares, optimal=not self.watch.is_over())
        oracle = ChoiceOracle(pairs, soft.budget)
        rows, columns = pairs.near(soft.prices, FURTHER * len(soft.prices))
        program = with_columns(oracle.master(LAST * makespan), oracle.columns(rows, columns))
        engine = ColumnGeneration(self.solver, program, oracle, [-1, *oracle.labels(rows, columns)])
        centre = np.append(np.zeros(pairs.size), -soft.prices)
        found = self._settle(engine, oracle, centre, target)
        prices = oracle.within_budget(found.multipliers)
        if target is not None:
            prices = self._paid(pairs, prices, target)
        if found.solution.status is LpStatus.OPTIMAL:
            shares = self._shares(found)
        return self._read(pairs, prices, shares, optimal=found.status is LpStatus.OPTIMAL)

    def _settle(
        self, engine: ColumnGeneration[int], oracle: ChoiceOracle, centre: Floats, target: float | None
    ) -> Generated[int]:
        """Run the engine, for a target again and again until the optimum is the target."""
        found = engine.run(gap=GAP, watch=self.watch, centre=centre)
        for _ in range(MOST_RATES):
            if target is None or found.status is not LpStatus.OPTIMAL:
                break
            missing = target - found.solution.value
            if abs(missing) <= GAP * abs(target):
                break
            oracle.budget += missing / float(found.solution.values[0])
            engine.master.change_cost(0, oracle.budget)
            found = engine.run(gap=GAP, watch=self.watch, centre=found.multipliers)
        return found

    def _paid(self, pairs: Pairs, prices: Floats, target: float) -> Floats:
        """Return prices at which the tasks are worth what the bag brings, if rounding left them below."""
        least, columns = pairs.cheapest(prices)
        missing = target - float(least.sum())
        rows = np.arange(pairs.size)
        spent = 0.0 if pairs.costs is None else float(pairs.costs[rows, columns].sum())
        raised: Floats = prices * (1.0 + max(0.0, missing) / (float(least.sum()) - spent))
        return raised

    def _shares(self, found: Generated[int]) -> Floats:
        amounts = np.zeros(self.scales.loads.size)
        labels = np.array(found.labels[1:])
        np.add.at(amounts, labels, found.solution.values[1:])
        return self.scales.shares_of(amounts.reshape(self.scales.loads.shape) / self.scales.units)

    def _read(self, pairs: Pairs, prices: Floats, shares: Floats, *, optimal: bool) -> Chosen:
        scales = self.scales
        machines = len(scales.arrays.machine_counts)
        makespan = scales.makespan_of(shares)
        per_second = prices[:machines] * self.unit / (scales.arrays.machine_counts * scales.seconds)
        relaxation = Relaxation(
            shares=shares,
            makespan_seconds=makespan,
            energy_joules=scales.energy_of(shares, makespan),
            bound=self.unit * float(pairs.cheapest(prices)[0].sum()),
            machine_prices=tuple(per_second.tolist()),
            cap_price=0.0 if scales.cap is None else float(prices[-1]) * self.unit / scales.cap.joules,
        )
        return Chosen(relaxation, optimal)
