"""Patterns: what a bag can earn or must cost if its makespan lies in an interval, and no task is split.

Data       n_i    tasks of type i                m_j    machines of type j
           P      a pattern of machine type j: a_iP tasks of type i that take load_P <= t2 seconds and cost_P
           N      what a bag brings, or L, what a second costs: see `bag/arrays.py`
           P - I  watts that an average-power cap leaves above the idle floor, if there is one
Variables  y_P    machines that run pattern P, s_i tasks of type i that no machine runs, z bags or seconds

For makespans in [t1, t2], counted in units of T seconds:

                                                  profit               cost
    min   sum cost_P y_P + sum big_i s_i          - N z                + L T z
    s.t.  sum_P a_iP y_P + s_i                    >= n_i z             >= n_i                   (demand)
          sum_{P of j} y_P                        <= m_j z             <= m_j                   (machines)
          sum_{P of j} load_P / T y_P             <= m_j               <= m_j z                 (capacity)
          sum_P joules_P / F y_P                  <= (P - I) T / F     <= (P - I) T z / F       (cap)
          z is between                            T / t2 and T / t1    t1 / T and t2 / T        (interval)

For profit everything is divided by t / T, as Charnes and Cooper do, and z = T / t; for cost z = t / T.
Where a task may cost less than nothing, demand is an equation: no task may run twice to save idle power.

Why it bounds: the machines of a real schedule run patterns, and with s = 0 they are a feasible point. Multipliers v_i
of demand, omega_j >= 0 of capacity and mu >= 0 of the cap say so without the program. With phi_j the largest value of a
pattern of j, v a_P - cost_P - omega_j load_P - mu joules_P, every schedule whose makespan t is in the interval

    costs at least  A - t B,     A = sum n_i v_i - sum m_j phi_j,     B = sum m_j omega_j + mu (P - I).

phi is a knapsack, on a grid with times rounded down. Patterns that fit only because of that are columns
too: the bound has to count them, so the multipliers should; their true loads in the capacity rows hold them
back. With that the program and its bound meet, however coarse the grid. A pattern that was found for a
limit is in every program of no smaller a t2, so only limits change from interval to interval.

Without the machines' rows, and with single tasks for patterns, it is the plain program: tasks may be split,
but pairs with e > t2 are out. It is quick, and enough for wide intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.lp.columns import Priced
from lpsched.lp.knapsack import Grid, good_fillings
from lpsched.lp.program import Columns, LinearProgram, LpBuilder

if TYPE_CHECKING:
    from lpsched.bag.arrays import Items, Pattern
    from lpsched.model.table import Floats

NAME: Final = "packing"
CELLS: Final = 10_000
AT_ONCE: Final = 2  # patterns of a machine type that fit, for each pricing
SLACK: Final = 2.0  # between what a variable can be and its upper limit


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a task of each type, of a second on a machine of each type, and of a joule under the cap."""

    tasks: Floats  # v
    machines: Floats  # omega
    cap: float = 0.0  # mu


@dataclass(slots=True)
class PackingOracle:
    """Prices all patterns of an interval by knapsacks; the interval may be changed."""

    items: Items
    unit_seconds: float  # T
    start: float = 0.0
    end: float = math.inf
    cells: int = CELLS
    unit: float = field(init=False)  # money, or whatever costs are counted in
    joules_unit: float = field(init=False, default=1.0)  # F

    def __post_init__(self) -> None:
        """Count costs in what the bag is about."""
        items = self.items
        self.unit = items.size(self.unit_seconds)
        if items.joules is not None:
            moves = np.isfinite(items.seconds) & (items.joules != 0)
            least = np.where(moves, np.abs(items.joules), np.inf).min(axis=1)
            each = np.minimum.reduceat(least, np.arange(0, len(least), items.states))
            moved = float(items.tasks @ np.where(np.isfinite(each), each, 0.0))
            self.joules_unit = max(abs(items.headroom) * self.unit_seconds, moved) or 1.0

    def price(self, multipliers: Floats) -> Priced[Pattern]:
        """Return the best patterns at these multipliers, and what those prove."""
        items, prices = self.items, self.prices(multipliers)
        found: list[Pattern] = []
        most, work = np.zeros(len(items.machines)), 0.0
        costs = items.with_cap_price(prices.cap).costs
        for j in range(len(items.machines)):
            seconds = items.seconds[:, j]
            paid = costs[:, j] + prices.machines[j] * np.where(np.isfinite(seconds), seconds, 0.0)
            grid = Grid(self.cells, AT_ONCE, overfull=True)
            filled = good_fillings(seconds, prices.tasks[items.task_of] - paid, items.limits, self.end, grid)
            most[j] = filled.most
            work += filled.work
            found += [items.pattern(j, counts, self.end) for counts in filled.counts]
        a = float(items.tasks @ prices.tasks - items.machines @ most)
        b = float(items.machines @ prices.machines) + prices.cap * items.headroom
        return Priced(self.columns(found), found, self._bound(a, b), work)

    def prices(self, multipliers: Floats) -> Prices:
        """Return multipliers of the program in money, and of the right sign."""
        types, machines = len(self.items.tasks), len(self.items.machines)
        multipliers = np.where(np.isfinite(multipliers), multipliers, 0.0)
        omega = np.maximum(-multipliers[types + machines : types + 2 * machines], 0.0)
        mu = 0.0 if self.items.joules is None else max(-float(multipliers[types + 2 * machines]), 0.0)
        return Prices(
            multipliers[:types] * self.unit,
            omega * (self.unit / self.unit_seconds),
            mu * (self.unit / self.joules_unit),
        )

    def _bound(self, a: float, b: float) -> float:
        """Return the least value of the program if the cost is at least a - t b."""
        items, ends = self.items, (self.start, self.end)
        if items.income is not None:
            worst = max((items.income - a) / t for t in ends) + b
            return -worst * self.unit_seconds / self.unit
        return min(a + (items.per_second - b) * t for t in ends) / self.unit

    def columns(self, patterns: Sequence[Pattern]) -> Columns:
        """Return patterns as columns of the master."""
        items = self.items
        types, machines = len(items.tasks), len(items.machines)
        cells = []
        for each in patterns:
            cells.append(items.demand_met(each) | {types + each.machine: 1.0})
            cells[-1][types + machines + each.machine] = each.seconds / self.unit_seconds
            if items.joules is not None and each.joules:
                cells[-1][types + 2 * machines] = each.joules / self.joules_unit
        return Columns.of([each.cost / self.unit for each in patterns], self.upper(patterns), cells)

    def upper(self, patterns: Sequence[Pattern]) -> Floats:
        """Return how often each pattern may be run: never, if it is too long for the interval."""
        most = SLACK * self.items.machines
        return np.array([most[each.machine] if each.reach <= self.end else 0.0 for each in patterns])

    def pairs(self) -> Columns:
        """Return single items as columns of the plain master, in the order of `pairs_upper`."""
        items = self.items
        item, machine = np.nonzero(np.isfinite(items.seconds))
        types, machines, size = len(items.tasks), len(items.machines), len(item)
        cells = [
            (items.task_of[item], np.ones(size)),
            (types + machines + machine, items.seconds[item, machine] / self.unit_seconds),
        ]
        if items.joules is not None:
            cells.append((np.full(size, types + 2 * machines), items.joules[item, machine] / self.joules_unit))
        return Columns.alike(items.costs[item, machine] / self.unit, self.pairs_upper(), cells)

    def pairs_upper(self) -> Floats:
        """Return how often each pair may be run: never, if it is too long for the interval."""
        seconds, most = self.items.seconds, SLACK * self.items.limits[:, np.newaxis]
        return np.where(seconds <= self.end, most, 0.0)[np.isfinite(seconds)]

    def interval(self) -> tuple[float, float]:
        """Return the least and the largest z."""
        if self.items.income is not None:
            return self.unit_seconds / self.end, self.unit_seconds / self.start
        return self.start / self.unit_seconds, self.end / self.unit_seconds

    def value(self, score: float) -> float:
        """Return the value of the program at a score."""
        return -score / self.unit * (1.0 if self.items.income is None else self.unit_seconds)

    def master(self) -> LinearProgram:
        """Return the program with z and s alone: its columns are z, and then s."""
        items, lp = self.items, LpBuilder(NAME)
        n, m = items.tasks.astype(float), items.machines.astype(float)
        bags, seconds = (0.0, 1.0) if items.income is None else (1.0, 0.0)  # what z counts
        z = lp.variables("z", upper=self._longest() if items.income is None else SLACK)
        s = lp.variables("s", upper=SLACK * n)
        paid = items.per_second * self.unit_seconds if items.income is None else -items.income
        lp.objective([(z, paid / self.unit), (s, items.penalties(self.unit_seconds) / self.unit)])
        most = seconds if (items.costs < 0).any() else np.inf
        i, j = np.arange(len(n)), np.arange(len(m))
        lp.between_each([f"demand[{each}]" for each in i], [(i, s, 1.0), (i, z, -bags * n)], seconds * n, most * n)
        for name, there, here in (("machines", bags, seconds), ("capacity", seconds, bags)):
            lp.at_most_each([f"{name}[{each}]" for each in j], [(j, z, -there * m)], here * m)
        if items.joules is not None:
            left = items.headroom * self.unit_seconds / self.joules_unit
            lp.at_most("cap", [(z, -seconds * left)], bags * left)
        lp.between("interval", [(z, 1.0)], *self.interval())
        return lp.build()

    def _longest(self) -> float:
        """Return z for a makespan that surely suffices."""
        items = self.items
        longest = np.where(np.isfinite(items.seconds), items.seconds, 0.0).max(axis=1)
        return SLACK + float(longest @ items.limits) / self.unit_seconds
