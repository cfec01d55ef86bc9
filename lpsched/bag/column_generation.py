"""Bags with many pairs: columns are generated while prices find better ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag import front, profit
from lpsched.bag.relaxation import LARGEST_COST, Relaxation, Scaling, scaling_of
from lpsched.cancellation import CancelToken
from lpsched.lp import soft_kernels
from lpsched.lp.columns import ColumnGeneration, Priced
from lpsched.lp.program import Columns, LinearProgram, LpBuilder, LpStatus, Solver, array_module
from lpsched.lp.soft_prices import CLOSE, NEAR, Soft, climb

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats, Integers


# Huge bags: given prices, every task type takes its cheapest column independently.
#
# The program of `front.py` in the pure numbers of `relaxation.py`, for any costs c and any price L of T seconds:
#
#     min   sum c_ic y_ic + L s
#     s.t.  sum_c y_ic         =  1          for each task type i      (demand)
#           sum l_ic y_ic      <= s          for each machine type j   (capacity)
#           sum delta_ic y_ic  <= sigma s                              (cap)
#           y >= 0,  0 <= s <= last
#
# c and L come from weights of energy and makespan, or from money: then c is what the tasks cost, and the L at
# which the optimum is what the bag brings is its best rate (Dinkelbach). Prices p of capacity and q of the
# cap with sum p + sigma q = L prove sum_i min_c (c_ic + p l_ic + q delta_ic). One price for each machine
# type, however many task types there are: `lp/soft_prices.py` finds good ones, `lp/columns.py` finishes on
# the few pairs that are nearly cheapest there. Both see the T x C pairs in passes over blocks of rows, so
# memory stays bounded; the passes are written against the array interface that NumPy and CuPy share.
NAME: Final = "column generation"
CACHED: Final = 131_072  # pairs in a block of rows on a CPU: what its cache holds
ON_DEVICE: Final = 1 << 24  # the same on a GPU, for what is not one kernel, or does not fit its memory
SMALLEST: Final = 1e-6  # of the mean: no block counts as smaller than that


@dataclass(frozen=True)
class Pairs:
    """All pairs, and the rows that tie them together; on the CPU in doubles, on a GPU in single precision."""

    xp: Any  # the module of the arrays: numpy or cupy
    loads: Any
    costs: Any | None  # c, infinite where a pair cannot run; `None` where all can and none costs anything
    cap: Any | None  # delta
    headroom: float  # sigma
    firsts: Integers  # the first column of each machine type; the columns of one are neighbours
    cells: int = CACHED

    @property
    def size(self) -> int:
        """How many task types there are."""
        return int(self.loads.shape[0])

    @property
    def supply(self) -> Floats:
        """What one T of time supplies: 1 of each machine type, sigma of the cap."""
        ones = np.ones(len(self.firsts))
        return ones if self.cap is None else np.append(ones, self.headroom)

    def single(self, xp: Any = np, room: int | None = None) -> Pairs:  # noqa: ANN401 - numpy or cupy
        """Return the same pairs in single precision, on the device of that module: enough for soft prices.

        Tables that do not fit the device's memory, of which `room` bytes are free, stay on the host; every pass then
        copies them, part after part.
        """
        arrays = (self.loads, self.costs, self.cap)
        if xp is np:
            loads, costs, cap = (None if each is None else np.asarray(each, dtype=np.float32) for each in arrays)
            return Pairs(np, loads, costs, cap, self.headroom, self.firsts)
        if self.memory.fits(soft_kernels.room(xp) if room is None else room):
            loads, costs, cap = (
                None if each is None else soft_kernels.to_device(xp, each, ON_DEVICE) for each in arrays
            )
        else:
            loads, costs, cap = (None if each is None else soft_kernels.on_host(xp, each) for each in arrays)
        return Pairs(xp, loads, costs, cap, self.headroom, self.firsts, ON_DEVICE)

    @property
    def memory(self) -> soft_kernels.Memory:
        """How much memory of a GPU the passes need."""
        tables = 3 - (self.costs is None) - (self.cap is None)
        return soft_kernels.memory(self.loads.shape, tables, len(self.supply), ON_DEVICE)

    def sample(self, number: int) -> Pairs:
        """Return every so-manieth task type, heavier by as much."""
        step = max(1, self.size // number)
        share = self.size / len(range(0, self.size, step))
        some = self._some(slice(None, None, step))
        loads, costs, cap = (None if a is None else a * share for a in (some.loads, some.costs, some.cap))
        return replace(some, loads=loads, costs=costs, cap=cap)

    def sizes(self, prices: Floats) -> Any:  # noqa: ANN401 - an array of either module
        """Return how large the terms of each task type's cheapest pair are."""
        sizes = self._sizes(prices) if self.xp is np else soft_kernels.sizes(self, prices)
        return self.xp.maximum(sizes, SMALLEST * float(sizes.mean()) or 1.0)

    def _sizes(self, prices: Floats) -> Floats:
        sizes = np.empty(self.size, dtype=self.loads.dtype)
        for rows, totals in self._totals(prices):
            best = totals.argmin(axis=1)[:, np.newaxis]
            parts = np.take_along_axis(self.loads[rows], best, axis=1) * self._each(prices)[best]
            if self.costs is not None:
                parts = parts + abs(np.take_along_axis(self.costs[rows], best, axis=1))
            if self.cap is not None:
                parts = parts + abs(np.take_along_axis(self.cap[rows], best, axis=1)) * prices[-1]
            sizes[rows] = parts[:, 0]
        return sizes

    def cheapest(self, prices: Floats) -> tuple[Floats, Integers]:
        """Return for each task type the least total, and the column that has it."""
        least, columns = np.empty(self.size), np.empty(self.size, dtype=np.int64)
        for rows, totals in self._totals(prices):
            best = totals.argmin(axis=1)
            columns[rows] = self._home(best)
            least[rows] = self._home(self.xp.take_along_axis(totals, best[:, np.newaxis], axis=1)[:, 0])
        return least, columns

    def near(self, prices: Floats, number: int) -> tuple[Integers, Integers]:
        """Return the pairs that are cheapest for their task type, and the `number` nearest to that."""
        sizes = self.sizes(prices)
        nearest, rows, columns = [], [], []
        for part, totals in self._totals(prices):
            least = totals.min(axis=1)[:, np.newaxis]
            away = ((totals - least) / sizes[part][:, np.newaxis]).ravel()
            last = min(number + len(least), away.size - 1)
            nearest.append(self._home(self.xp.partition(away, last)[: last + 1]))
        ranked = np.sort(np.concatenate(nearest))
        far = float(ranked[min(self.size + number, len(ranked) - 1)])  # from the cheapest, relative to its size
        for part, totals in self._totals(prices):
            limit = (totals.min(axis=1) + far * sizes[part])[:, np.newaxis]
            row, column = self.xp.nonzero(totals <= limit)
            rows.append(self._home(row) + part.start)
            columns.append(self._home(column))
        return np.concatenate(rows), np.concatenate(columns)

    def soften(self, prices: Floats, temperatures: Any) -> Soft:  # noqa: ANN401 - an array of either module
        """Return the soft sum of minima, what the soft shares use, and how that changes with prices."""
        if self.xp is np:
            return self.soften_in_parts(prices, temperatures)
        soft, wide = soft_kernels.soften(self, prices, temperatures)
        height = max(1, self.cells // self.loads.shape[1])
        for start in range(0, len(wide), height):
            rows = wide[start : start + height]
            curvature = self._some(rows).soften_in_parts(prices, temperatures[rows]).curvature
            soft = replace(soft, curvature=soft.curvature + curvature)
        return soft

    def soften_in_parts(self, prices: Floats, temperatures: Any) -> Soft:  # noqa: ANN401 - an array of either module
        """Return the same by operations on whole arrays, block after block of rows."""
        # With y the soft shares of a task type, its part of the curvature is (sum_c y a a' - u u') / tau,
        # where u = sum_c y a is what it uses. The first term is diagonal, but for the cap.
        xp, width, machines = self.xp, len(self.supply), len(self.firsts)
        value, slope, curvature = 0.0, xp.zeros(width), xp.zeros((width, width))
        own, across, drawn_own = xp.zeros(machines), xp.zeros(machines), 0.0
        for rows, totals in self._totals(prices):
            loads, cap = self.loads[rows], None if self.cap is None else self.cap[rows]
            colder = 1.0 / temperatures[rows]
            least = totals.min(axis=1)
            chosen = xp.exp((least[:, np.newaxis] - totals) * colder[:, np.newaxis])
            weight = chosen.sum(axis=1)
            value += float((least - xp.log(weight) / colder).sum(dtype=float))
            chosen *= (1.0 / weight)[:, np.newaxis]
            drawn = None if cap is None else chosen * cap
            chosen *= loads
            uses = self._by_machine(chosen)
            if drawn is not None:
                across += self._by_machine(colder @ (drawn * loads))
                drawn_own += float(colder @ (drawn * cap).sum(axis=1))
                uses = xp.concatenate((uses, drawn.sum(axis=1)[:, np.newaxis]), axis=1)
            own += self._by_machine(colder @ (chosen * loads))
            slope += uses.sum(axis=0, dtype=float)
            uses = uses * xp.sqrt(colder)[:, np.newaxis]
            curvature -= uses.T @ uses
        diagonal = xp.arange(machines)
        curvature[diagonal, diagonal] += own
        if self.cap is not None:
            curvature[-1, :-1] += across
            curvature[:-1, -1] += across
            curvature[-1, -1] += drawn_own
        return Soft(value, self._home(slope), curvature)

    def shares(self, prices: Floats, temperature: float) -> Floats:
        """Return the soft shares themselves, which are nearly feasible, on the CPU."""
        local = temperature * self.sizes(prices)
        shares = np.empty(self.loads.shape)
        for rows, totals in self._totals(prices):
            least = totals.min(axis=1)[:, np.newaxis]
            chosen = self.xp.exp((least - totals) / local[rows][:, np.newaxis])
            shares[rows] = self._home(chosen / chosen.sum(axis=1)[:, np.newaxis])
        return shares

    def _totals(self, prices: Floats) -> Iterator[tuple[slice, Any]]:
        """Yield block after block of rows, and what their pairs cost at these prices."""
        each = self._each(prices)
        height = max(1, self.cells // self.loads.shape[1])
        for start in range(0, self.size, height):
            rows = slice(start, min(self.size, start + height))
            totals = self.xp.asarray(self.loads[rows]) * each
            if self.costs is not None:
                totals += self.xp.asarray(self.costs[rows])
            if self.cap is not None:
                totals += self.xp.asarray(self.cap[rows]) * self.loads.dtype.type(prices[-1])
            yield rows, totals

    def _some(self, rows: Any) -> Pairs:  # noqa: ANN401 - a slice, or row numbers on the device
        """Return the pairs of some rows, on the device."""
        if not isinstance(rows, slice) and isinstance(self.loads, np.ndarray):
            rows = self._home(rows)
        loads, costs, cap = (
            None if each is None else self.xp.asarray(each[rows]) for each in (self.loads, self.costs, self.cap)
        )
        return replace(self, loads=loads, costs=costs, cap=cap)

    def _each(self, prices: Floats) -> Any:  # noqa: ANN401 - an array of either module
        lengths = np.diff(np.append(self.firsts, self.loads.shape[1]))
        each = np.repeat(prices[: len(self.firsts)], lengths)
        return self.xp.asarray(each, dtype=self.loads.dtype)

    def _by_machine(self, columns: Any) -> Any:  # noqa: ANN401 - an array of either module
        """Return sums over the columns of each machine type, along the last axis."""
        if len(self.firsts) == self.loads.shape[1]:
            return columns
        return self.xp.add.reduceat(columns, self.xp.asarray(self.firsts), axis=-1)

    def _home(self, array: Any) -> Any:  # noqa: ANN401 - an array of either module
        return array if self.xp is np else self.xp.asnumpy(array)


@dataclass(slots=True)
class PairOracle:
    """Prices all pairs in one pass; a column is one pair, its label the number i C + c."""

    pairs: Pairs
    budget: float  # L

    def price(self, multipliers: Floats) -> Priced[int]:
        """Return the cheapest pair of every task type, and what the prices prove."""
        prices = self.within_budget(multipliers)
        least, columns = self.pairs.cheapest(prices)
        rows = np.arange(self.pairs.size)
        return Priced(self.columns(rows, columns), self.labels(rows, columns), float(least.sum()))

    def within_budget(self, multipliers: Floats) -> Floats:
        """Return the prices of capacity and cap, scaled to what T seconds may cost."""
        prices = np.maximum(-multipliers[self.pairs.size :], 0.0)
        paid = float(self.pairs.supply @ prices)
        return prices * (self.budget / paid) if paid > 0 else prices

    def labels(self, rows: Integers, columns: Integers) -> list[int]:
        """Return what these pairs are called."""
        named: list[int] = (rows * self.pairs.loads.shape[1] + columns).tolist()
        return named

    def columns(self, rows: Integers, columns: Integers) -> Columns:
        """Return these pairs as columns of the master."""
        pairs = self.pairs
        machine = np.searchsorted(pairs.firsts, columns, side="right") - 1
        loads = pairs.loads[rows, columns]
        costs = np.zeros(len(rows)) if pairs.costs is None else pairs.costs[rows, columns]
        cells = [(rows, np.ones(len(rows))), (pairs.size + machine, loads)]
        if pairs.cap is not None:
            cells.append((np.full(len(rows), pairs.size + len(pairs.firsts)), pairs.cap[rows, columns]))
        return Columns.alike(costs, np.full(len(rows), 2.0), cells)

    def master(self, last: float) -> LinearProgram:
        """Return the program with s alone; `last` is the largest s that can be of use."""
        pairs, lp, row = self.pairs, LpBuilder(NAME), np.arange(len(self.pairs.supply))
        s = lp.variables("s", upper=np.array([last]))
        lp.objective([(s, self.budget)])
        lp.equal_each([f"demand[{i}]" for i in range(pairs.size)], [], 1.0)
        names = [*(f"capacity[{j}]" for j in range(len(pairs.firsts))), *(("cap",) if pairs.cap is not None else ())]
        lp.at_most_each(names, [(row, s, -pairs.supply)], 0.0)
        return lp.build()


# Huge bags, by prices: soft ones first (`lp/soft_prices.py`), then columns (`lp/columns.py`), and for profit the rate
# that just pays. The result is that of the whole program, to the same accuracy, after some twenty passes over all
# pairs.
#
# For profit, the program has the tasks' costs and a price L of T seconds; its optimum G(L) rises with L, with
# slope t, and the rate at which G(L) is what the bag brings is the best: L + (N - G(L)) / t is a better L,
# and only the cost of one variable changes from one L to the next.
MANY: Final = 30_000  # pairs: from here on, prices and columns are faster than the whole program
FEW_PRICES: Final = 2  # task types for each machine type, at least: with fewer, prices are not the short way
MOST_EXACT: Final = 50_000_000  # pairs: beyond, soft prices are the answer, to some 1e-4
FURTHER: Final = 20  # columns in the first master, for each price, beyond the cheapest of each task type
GAP: Final = 1e-10
MOST_RATES: Final = 30
LAST: Final = 4.0  # times the makespan of the soft shares: no better way is slower


def is_huge(bag: Bag) -> bool:
    """Return whether prices and columns are the faster way."""
    types, columns = len(bag.task_types), len(bag.modes)
    few = types >= FEW_PRICES * len(bag.machine_types)
    return types * columns >= MANY and few and bag.site.deadline_seconds is None


def least_by_columns(
    bag: Bag, weights: front.Weights, solver: Solver, cancel: CancelToken | None = None, *, whole: bool = True
) -> Relaxation | None:
    """Return the least weighted sum of energy and makespan; `None` where a second costs nothing."""
    scaling = front.scaling_for(bag, weights, whole=whole)
    costs, budget = front.costs_of(scaling, weights)
    if budget <= 0 or _has_no_headroom(scaling):
        return None
    pricing = _Pricing(
        scaling, costs if weights.joules else None, front.unit_of(scaling, weights), solver, cancel or CancelToken()
    )
    return pricing.solve(budget)


def rate_by_columns(bag: Bag, solver: Solver, cancel: CancelToken | None = None) -> Relaxation | None:
    """Return the best profit rate; `None` where the bag brings no more than its tasks cost."""
    scaling = scaling_of(bag)
    money = profit.profit_model(scaling)
    cheapest = scaling.to_least(money.costs)
    left = (money.income - float((profit.costs_of(money) * cheapest).sum()) * money.unit) / money.unit
    if left <= 0 or _has_no_headroom(scaling):
        return None
    budget = left * scaling.seconds / scaling.makespan_of(cheapest)  # some rate that can be had
    pricing = _Pricing(scaling, profit.costs_of(money), money.unit, solver, cancel or CancelToken())
    relaxation = pricing.solve(budget, target=money.income / money.unit)
    rate = float(scaling.arrays.machine_counts @ relaxation.machine_prices) - money.fixed_rate
    if scaling.cap is not None:
        rate += scaling.cap.headroom_watts * relaxation.cap_price
    return replace(relaxation, bound=rate)


def pairs_of(scaling: Scaling, costs: Floats | None) -> Pairs:
    """Return all pairs of a bag, with these costs of whole task types."""
    arrays, cap = scaling.arrays, scaling.cap
    if not arrays.can_run.all():
        free = np.zeros_like(scaling.loads) if costs is None else np.minimum(costs, LARGEST_COST)
        costs = np.where(arrays.can_run, free, np.inf)
    if cap is None:
        return Pairs(np, scaling.loads, costs, None, 0.0, arrays.firsts)
    return Pairs(np, scaling.loads, costs, cap.loads, cap.headroom, arrays.firsts)


def _has_no_headroom(scaling: Scaling) -> bool:
    return scaling.cap is not None and scaling.cap.headroom <= 0


@dataclass(slots=True)
class _Pricing:
    """One program, from soft prices to the answer."""

    scaling: Scaling
    costs: Floats | None
    unit: float
    solver: Solver
    cancel: CancelToken

    def solve(self, budget: float, target: float | None = None) -> Relaxation:
        pairs = pairs_of(self.scaling, self.costs)
        too_many = pairs.loads.size > MOST_EXACT
        cooling = CLOSE if too_many else NEAR
        single = pairs.single(array_module(self.solver.device))
        soft = climb(single, cooling, budget=budget, target=target, cancel=self.cancel)
        shares = single.shares(soft.prices, cooling.temperatures[-1])
        makespan = self.scaling.makespan_of(shares) / self.scaling.seconds
        if too_many or self.cancel.expired():
            return self._read(pairs, soft.prices, shares, optimal=not self.cancel.expired())
        oracle = PairOracle(pairs, soft.budget)
        rows, columns = pairs.near(soft.prices, FURTHER * len(soft.prices))
        program = oracle.master(LAST * makespan).with_columns(oracle.columns(rows, columns))
        engine = ColumnGeneration(self.solver, program, oracle, [-1, *oracle.labels(rows, columns)])
        centre = np.append(np.zeros(pairs.size), -soft.prices)
        found = engine.run(gap=GAP, cancel=self.cancel, centre=centre)
        for _ in range(MOST_RATES):  # with a target, until the optimum is the target
            if target is None or found.status is not LpStatus.OPTIMAL:
                break
            missing = target - found.solution.value
            if abs(missing) <= GAP * abs(target):
                break
            oracle.budget += missing / float(found.solution.values[0])
            engine.master.change_cost(0, oracle.budget)
            found = engine.run(gap=GAP, cancel=self.cancel, centre=found.multipliers)
        prices = oracle.within_budget(found.multipliers)
        if target is not None:  # prices at which the tasks cost what the bag brings, if rounding left them below
            least, cheapest = pairs.cheapest(prices)
            missing = target - float(least.sum())
            spent = 0.0 if pairs.costs is None else float(pairs.costs[np.arange(pairs.size), cheapest].sum())
            prices = prices * (1.0 + max(0.0, missing) / (float(least.sum()) - spent))
        if found.solution.status is LpStatus.OPTIMAL:
            amounts = np.zeros(self.scaling.loads.size)
            np.add.at(amounts, np.array(found.labels[1:]), found.solution.values[1:])
            shares = self.scaling.shares_of(amounts.reshape(self.scaling.loads.shape) / self.scaling.units)
        return self._read(pairs, prices, shares, optimal=found.status is LpStatus.OPTIMAL)

    def _read(self, pairs: Pairs, prices: Floats, shares: Floats, *, optimal: bool) -> Relaxation:
        machines, cap_price = len(pairs.firsts), float(prices[-1])
        bound = self.unit * float(pairs.cheapest(prices)[0].sum())
        return self.scaling.relaxation(shares, prices[:machines], cap_price, self.unit, bound, optimal=optimal)
