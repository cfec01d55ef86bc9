"""Huge bags: every task type chooses its columns, and only prices tie the choices together.

The program of `front.py` in the pure numbers of `scales.py`, for any costs c and any price L of T seconds:

    min   sum c_ic y_ic + L s
    s.t.  sum_c y_ic         =  1          for each task type i      (demand)
          sum l_ic y_ic      <= s          for each machine type j   (capacity)
          sum delta_ic y_ic  <= sigma s                              (cap)
          y >= 0,  0 <= s <= last

c and L come from weights of energy and makespan, or from money: then c is what the tasks cost, and the L at
which the optimum is what the bag brings is its best rate (Dinkelbach). Prices p of capacity and q of the cap
with sum p + sigma q = L prove sum_i min_c (c_ic + p l_ic + q delta_ic). One price for each machine type,
however many task types there are: `lp/soft_prices.py` finds good ones, `lp/columns.py` finishes on the few
pairs that are nearly cheapest there. Both see the T x C pairs in passes over blocks of rows, so memory stays
bounded; the passes are written against the array interface that NumPy and CuPy share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.lp.columns import Priced
from lpsched.lp.master import Columns
from lpsched.lp.program import LinearProgram
from lpsched.lp.soft_prices import Soft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance.array_types import Floats, Integers

NAME: Final = "choices"
CACHED: Final = 131_072  # pairs in a block of rows on a CPU: what its cache holds
ON_DEVICE: Final = 1 << 27  # the same on a GPU
SMALLEST: Final = 1e-6  # of the mean: no block counts as smaller than that


@dataclass(frozen=True)
class Pairs:
    """All pairs, and the rows that tie them together; on the CPU in doubles, on a GPU in single precision.

    Attributes
    ----------
    xp
        The module of the arrays: numpy or cupy.
    costs
        c, infinite where a pair cannot run; `None` where all can and none costs anything.
    firsts
        The first column of each machine type; the columns of one are neighbours.
    """

    xp: Any
    loads: Any
    costs: Any | None
    cap: Any | None  # delta
    headroom: float  # sigma
    firsts: Integers
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

    def single(self, xp: Any = np) -> Pairs:  # noqa: ANN401 - numpy or cupy
        """Return the same pairs in single precision, on the device of that module: enough for soft prices."""
        loads, costs, cap = (
            None if array is None else xp.asarray(array, dtype=np.float32)
            for array in (self.loads, self.costs, self.cap)
        )
        return Pairs(xp, loads, costs, cap, self.headroom, self.firsts, CACHED if xp is np else ON_DEVICE)

    def sample(self, number: int) -> Pairs:
        """Return every so-manieth task type, heavier by as much."""
        step = max(1, self.size // number)
        share = self.size / len(range(0, self.size, step))
        return Pairs(
            self.xp,
            self.loads[::step] * share,
            None if self.costs is None else self.costs[::step] * share,
            None if self.cap is None else self.cap[::step] * share,
            self.headroom,
            self.firsts,
            self.cells,
        )

    def sizes(self, prices: Floats) -> Any:  # noqa: ANN401 - an array of either module
        """Return how large the terms of each task type's cheapest pair are."""
        xp = self.xp
        sizes = xp.empty(self.size, dtype=self.loads.dtype)
        for rows, totals in self._totals(prices):
            best = totals.argmin(axis=1)[:, np.newaxis]
            parts = xp.take_along_axis(self.loads[rows], best, axis=1) * self._each(prices)[best]
            if self.costs is not None:
                parts = parts + abs(xp.take_along_axis(self.costs[rows], best, axis=1))
            if self.cap is not None:
                parts = parts + abs(xp.take_along_axis(self.cap[rows], best, axis=1)) * prices[-1]
            sizes[rows] = parts[:, 0]
        return xp.maximum(sizes, SMALLEST * float(sizes.mean()) or 1.0)

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
        far = self._far(prices, sizes, number)
        rows, columns = [], []
        for part, totals in self._totals(prices):
            limit = (totals.min(axis=1) + far * sizes[part])[:, np.newaxis]
            row, column = self.xp.nonzero(totals <= limit)
            rows.append(self._home(row) + part.start)
            columns.append(self._home(column))
        return np.concatenate(rows), np.concatenate(columns)

    def _far(self, prices: Floats, sizes: Any, number: int) -> float:  # noqa: ANN401 - an array of either module
        """Return how far from the cheapest, relative to its size, some `number` further pairs are."""
        nearest = []
        for rows, totals in self._totals(prices):
            least = totals.min(axis=1)[:, np.newaxis]
            away = ((totals - least) / sizes[rows][:, np.newaxis]).ravel()
            last = min(number + len(least), away.size - 1)
            nearest.append(self._home(self.xp.partition(away, last)[: last + 1]))
        ranked = np.sort(np.concatenate(nearest))
        return float(ranked[min(self.size + number, len(ranked) - 1)])

    def soften(self, prices: Floats, temperatures: Any) -> Soft:  # noqa: ANN401 - an array of either module
        """Return the soft sum of minima, what the soft choices use, and how that changes with prices.

        With y the soft choices of a task type, its part of the curvature is (sum_c y a a' - u u') / tau,
        where u = sum_c y a is what it uses. The first term is diagonal, but for the cap.
        """
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
        return Soft(value, self._home(slope), self._home(curvature))

    def shares(self, prices: Floats, temperature: float) -> Floats:
        """Return the soft choices themselves: nearly feasible shares, on the CPU."""
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
            totals = self.loads[rows] * each
            if self.costs is not None:
                totals += self.costs[rows]
            if self.cap is not None:
                totals += self.cap[rows] * self.loads.dtype.type(prices[-1])
            yield rows, totals

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
class ChoiceOracle:
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
        scaled: Floats = prices * (self.budget / paid) if paid > 0 else prices
        return scaled

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
        return Columns(
            costs=costs,
            upper=np.full(len(rows), 2.0),
            starts=(len(cells) * np.arange(len(rows) + 1)).astype(np.int32),
            rows=np.stack([row for row, _ in cells], axis=1).ravel().astype(np.int32),
            values=np.stack([value for _, value in cells], axis=1).ravel(),
        )

    def master(self, last: float) -> LinearProgram:
        """Return the program with s alone; `last` is the largest s that can be of use."""
        pairs, width = self.pairs, len(self.pairs.supply)
        demands = tuple(f"demand[{i}]" for i in range(pairs.size))
        capacities = tuple(f"capacity[{j}]" for j in range(len(pairs.firsts)))
        starts = np.concatenate((np.zeros(pairs.size, dtype=int), np.arange(width + 1)))
        return LinearProgram(
            name=NAME,
            costs=np.array([self.budget]),
            offset=0.0,
            upper=np.array([last]),
            row_names=(*demands, *capacities, *(("cap",) if pairs.cap is not None else ())),
            row_lower=np.append(np.ones(pairs.size), np.full(width, -np.inf)),
            row_upper=np.append(np.ones(pairs.size), np.zeros(width)),
            starts=starts.astype(np.int32),
            columns=np.zeros(width, dtype=np.int32),
            values=-pairs.supply,
            blocks={"s": np.zeros(1, dtype=np.int32)},
        )
