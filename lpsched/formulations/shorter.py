"""Shorter deadlines: the cheapest way to split the tasks within a part of the time there is.

Schedules of whole tasks take a little longer than the relaxation they are rounded from. So the relaxation of
a deadline is often rounded to a schedule that misses it, and that of a slightly shorter one is not.

Data       n_i    tasks of type i                m_j    machines of type j
           e_ijk  seconds in P-state k           d_ijk  joules above idle
           D      deadline                       H      P - I, what the power cap leaves above the idle floor
           kappa  what a task costs: money, joules or nothing, as the objective counts
           f_j, g the shares of the deadline and of the joules under the cap that may be used
Variables  x_ijk  tasks of type i that run on machine type j in P-state k, 0 where e_ijk > D

    min   kappa x
    s.t.  sum_jk x_ijk        =  n_i          for each task type i      (demand)
          sum_ik e_ijk x_ijk  <= m_j f_j D    for each machine type j   (capacity)
          sum d_ijk x_ijk     <= g H D                                  (cap)
          x >= 0

The fastest way has t in place of f_j D, and is the least t. Only limits change from one f to the next, so
each solve starts from the basis of the last one. A whole task may be longer than f_j D as long as it is not
longer than D: that is why this is not the program of a bag with a shorter deadline.

Nothing is proved by it: it only suggests schedules. A cap below the idle floor (H < 0) is stricter the longer
a schedule takes; there g is the longest share of the deadline that the schedule may end at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.profit import money_of
from lpsched.formulations.scales import DEAREST, SLACK, scales_of
from lpsched.lp.builder import LpBuilder
from lpsched.lp.hot import is_sound
from lpsched.relaxation import Point

if TYPE_CHECKING:
    from lpsched.formulations.scales import Scales
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Mask
    from lpsched.lp.master import Master
    from lpsched.lp.program import LinearProgram, LpSolution, Solver

NAME: Final = "shorter deadline"
OVERLOAD: Final = 10.0  # times the largest price: what is taken beyond a limit
TIE: Final = 1e-6  # of the cost, where the time is minimised: of all fastest ways, a cheap one


@dataclass(frozen=True, slots=True)
class Shortened(Point):
    """The cheapest way within a share of the deadline, and what leaving it would cost.

    Attributes
    ----------
    reduced_costs
        Of one task of each type in each column, at least 0 but for rounding; infinite where it cannot run.
    machine_prices
        Of the time of all machines of each type up to the deadline.
    weight
        More than any of these prices, and than that of all joules under the cap.
    """

    reduced_costs: Floats
    machine_prices: tuple[float, ...]
    weight: float


@dataclass(slots=True)
class ShorterDeadlines:
    """The program of one bag with a deadline, solved for one share of the deadline after the other."""

    scales: Scales
    program: LinearProgram
    solver: Solver
    costs: Floats  # of one task of each type in each column; infinite where it cannot run by the deadline
    _master: Master | None = None

    def limits(self, shares: Floats) -> Floats:
        """Return what may be taken of each limit: shares of the machine types' time, and last of the cap."""
        cap = self.scales.cap
        return shares[:-1] if cap is None else np.append(shares[:-1], cap.headroom * shares[-1])

    def cheapest(self, shares: Floats) -> Shortened | None:
        """Return the cheapest way within these shares of deadline and cap; `None` if there is none.

        Raises
        ------
        SolverError
            If the solver fails.
        """
        program = self.program
        if self._master is None:
            self._master = self.solver.master(program)
        upper, row_upper = program.upper.copy(), program.row_upper.copy()
        upper[-1] = 0.0
        row_upper[self.costs.shape[0] :] = self.limits(shares)
        self._master.change_limits(upper, program.row_lower, row_upper)
        solution = self._master.solve()
        if not is_sound(solution):  # as infeasible ones are; hot starts have been seen to go wrong as well
            self._master = None
            return None
        return self._shortened(solution)

    def fastest(self) -> Shortened | None:
        """Return the fastest way under the cap; `None` if none ends by the deadline.

        Raises
        ------
        SolverError
            If the solver fails.
        """
        size = float(np.abs(self.program.costs).max()) or 1.0
        costs = TIE / size * self.program.costs
        costs[-1] = 1.0
        solution = self.solver.solve(self.program.with_costs(costs))
        return self._shortened(solution) if is_sound(solution) else None

    def _shortened(self, solution: LpSolution) -> Shortened:
        scales, arrays, y = self.scales, self.scales.arrays, solution.multipliers
        types, machines = self.costs.shape[0], len(arrays.machine_counts)
        shares = scales.shares_of(solution["y"])
        makespan = scales.makespan_of(shares)
        prices = np.maximum(-y[types:], 0.0)
        own = self.costs * arrays.task_counts[:, np.newaxis] + prices[arrays.machine_of] * scales.loads
        if scales.cap is not None:
            own += prices[-1] * scales.cap.loads
        return Shortened(
            shares,
            makespan,
            scales.energy_of(shares, makespan),
            reduced_costs=(own - y[:types, np.newaxis]) / arrays.task_counts[:, np.newaxis],
            machine_prices=tuple(prices[:machines].tolist()),
            weight=OVERLOAD * (float(prices.max(initial=0.0)) or 1.0),
        )


def shorter_deadlines(bag: Bag, objective: str, solver: Solver) -> ShorterDeadlines | None:
    """Return the program for an objective of a bag with a deadline; `None` if a task is longer than that."""
    deadline = bag.site.deadline_seconds
    assert deadline is not None, "a deadline is what is shortened"
    scales = scales_of(bag, seconds=deadline)
    usable = scales.is_told & (scales.arrays.seconds <= deadline)
    if not usable.any(axis=1).all():
        return None
    costs = _costs(scales, objective)
    one = np.where(usable, costs / scales.arrays.task_counts[:, np.newaxis], np.inf)
    return ShorterDeadlines(scales, _compile(scales, costs, usable), solver, one)


def _costs(scales: Scales, objective: str) -> Floats:
    """Return what all tasks of a type cost in each column, as a share of what the whole bag costs."""
    if objective == "profit":
        costs = np.where(scales.arrays.can_run, money_of(scales).costs, 0.0)
    elif scales.joules is not None:
        costs = scales.joules
    else:
        return np.zeros_like(scales.loads)
    cheapest = np.where(scales.arrays.can_run, np.abs(costs), np.inf).min(axis=1)
    unit = float(cheapest.sum()) or float(np.abs(costs).max()) or 1.0
    shares: Floats = np.minimum(costs / unit, DEAREST)
    return shares


def _compile(scales: Scales, costs: Floats, usable: Mask) -> LinearProgram:
    """Return the program above with t up to D in place of f D; t is counted in D, x in units u of n."""
    bag, arrays = scales.bag, scales.arrays
    lp = LpBuilder(NAME)
    y = lp.variables("y", upper=np.where(usable, SLACK / scales.units, 0.0))
    t = lp.variables("t", upper=np.ones(1))
    lp.objective([(y, costs * scales.units)])
    task, machine = np.arange(len(bag.task_types))[:, np.newaxis], np.arange(len(bag.machine_types))
    units = np.where(usable, scales.units, 0.0)
    lp.equal_each([f"demand[{each.name}]" for each in bag.task_types], [(task, y, units)], 1.0)
    lp.at_most_each(
        [f"capacity[{each.name}]" for each in bag.machine_types],
        [
            (arrays.machine_of[np.newaxis], y, scales.loads * units),
            (machine, np.broadcast_to(t, machine.shape), -1.0),
        ],
        0.0,
    )
    if scales.cap is not None:
        lp.at_most("cap", [(y, scales.cap.loads * units)], scales.cap.headroom)
    return lp.build()
