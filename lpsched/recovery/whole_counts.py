"""Whole counts: how many tasks of each type every machine type runs, by a small integer program.

Machines that run many tasks can be levelled (`levelling.py`) until all of a type work nearly equally long.
What is lost then is lost in the counts: rounded ones leave a machine type with a task too many or too few,
and with a deadline all types have to fit at once.

Data       n_i    tasks of type i                m_j  machines of type j
           e_ijk  seconds in P-state k           kappa_ijk  what a task costs above idle
           d_ijk  joules above idle              H    P - I, what the power cap leaves above the idle floor
           w      what a second costs            D    deadline
           f_j    slack that levelling needs, as a share of the makespan: a little more than 0
Variables  x_ijk  whole tasks of type i on machine type j in P-state k,  t  makespan

    min   kappa x + w t
    s.t.  sum_jk x_ijk        =  n_i            for each task type i      (demand)
          sum_ik e_ijk x_ijk  <= m_j (1 - f_j) t  for each machine type j   (capacity)
          sum d_ijk x_ijk     <= H t              where H > 0               (cap)
          t <= D

A bag that brings an income N earns (N - kappa x) / t; with w the rate of the best schedule known, a point
with kappa x + w t < N earns more. Only pairs that the linear program uses or nearly uses, and those of the
schedule known, are variables. Nothing is proved by it: it only suggests counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.lp.builder import LpBuilder
from lpsched.lp.integer import whole_point

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.items import Items
    from lpsched.lp.program import LinearProgram, Solver
    from lpsched.watch import Watch

NAME: Final = "whole counts"
MORE_PAIRS: Final = 0.8  # of the rows: pairs beyond those that the linear program uses
GAP: Final = 1e-6
LONGEST: Final = 2.0  # times the makespan known


@dataclass(slots=True)
class WholeCounts:
    """The program of one bag around one schedule, solved for one slack after the other."""

    items: Items
    solver: Solver
    counts: Integers  # of the schedule known: items x machine types
    seconds: float  # its makespan, the unit of t
    pairs: Integers = field(init=False)  # two rows: the items and the machine types of the variables

    def __post_init__(self) -> None:
        """Choose the pairs that are variables."""
        items = self.items
        everywhere = np.array(np.nonzero(np.isfinite(items.seconds)))
        program = self._program(everywhere, np.zeros(len(items.machines)))
        solution = self.solver.solve(program)
        rows = np.repeat(np.arange(len(program.row_names)), np.diff(program.starts))
        reduced = program.costs.copy()
        np.subtract.at(reduced, program.columns, program.values * solution.multipliers[rows])
        most = int((1.0 + MORE_PAIRS) * len(program.row_names))
        near = np.zeros(len(reduced) - 1, dtype=bool)
        near[np.argsort(reduced[:-1], kind="stable")[:most]] = True
        near |= (solution.values[:-1] > 0) | (self.counts[tuple(everywhere)] > 0)
        self.pairs = everywhere[:, near]

    def best(self, slack: Floats, watch: Watch) -> Integers | None:
        """Return the best counts found, items x machine types; `None` if there are none."""
        program = self._program(self.pairs, slack)
        start = np.append(self.counts[tuple(self.pairs)].astype(float), 1.0)
        whole = np.append(np.ones(len(start) - 1), 0.0)
        point = whole_point(program, watch=watch, whole=whole, start=start, gap=GAP)
        if point is None:
            return None
        counts = np.zeros_like(self.counts)
        counts[tuple(self.pairs)] = point[:-1].astype(np.int64)
        return counts if (self.items.tasks_in(counts.sum(axis=1)) == self.items.tasks).all() else None

    def _program(self, pairs: Integers, slack: Floats) -> LinearProgram:
        """Return the program with t in the makespan known."""
        items, (own, machine) = self.items, pairs
        unit = self.seconds
        costs = items.costs[own, machine]
        used = self.counts > 0
        cost = float((self.counts[used] * items.costs[used]).sum())
        size = items.size(unit)
        lp = LpBuilder(NAME)
        x = lp.variables("x", upper=items.limits[own].astype(float))
        t = lp.variables("t", upper=np.array([min(LONGEST, items.latest / unit)]))
        lp.objective([(x, costs / size), (t, items.second_worth(cost, unit) * unit / size)])
        types = items.task_of[own]
        each = np.arange(len(items.machines))
        names = [f"demand {i}" for i in range(len(items.tasks))]
        lp.equal_each(names, [(types, x, 1.0 / items.tasks[types])], 1.0)
        lp.at_most_each(
            [f"capacity {j}" for j in each],
            [
                (machine, x, items.seconds[own, machine] / (items.machines[machine] * unit)),
                (each, np.broadcast_to(t, each.shape), slack - 1.0),
            ],
            0.0,
        )
        if items.joules is not None and items.headroom > 0:
            lp.at_most("cap", [(x, items.joules[own, machine] / (items.headroom * unit)), (t, -1.0)], 0.0)
        return lp.build()
