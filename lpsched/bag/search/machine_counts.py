"""The most profit as a function of the number of machines of one type."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag import profit
from lpsched.bag.relaxation import SLACK, scales_of
from lpsched.bag.search.objectives import Corner, corners
from lpsched.errors import InfeasibleProgramError
from lpsched.lp.master import CheckedSweep, with_columns, with_limits, with_rows
from lpsched.lp.program import Columns, Rows, require_optimal

if TYPE_CHECKING:
    from lpsched.bag.model import Bag, MachineType
    from lpsched.bag.profit import Money
    from lpsched.bag.relaxation import Relaxation, Scales
    from lpsched.lp.program import LinearProgram, LpSolution, Solver


# Profit rate with more machines of one type: how many more are best, or what so many more bring.
#
# The program of `bag/profit.py`, with v >= 0 more machines of type j than there are:
#
#     max   N r  -  sum kappa z  -  own_j v  -  K
#     s.t.  demand, deadline, other capacities    as there
#           sum_ik e_ijk z_ijk  <= m_j + v        (capacity of machine type j)
#           sum d_ijk z_ijk     <= P - I - b_j v  (cap)
#           r                   <= 1 / l          (longest)
#
#     own_j   c PUE b_j + purchase_j / life_j: what one more costs a second, whatever it runs
#     l       max_i min_jk e_ijk: no schedule is done before its longest task, however many machines there are
#
# Without the last row, types that run everything would pay for ever: two halves of a task, on two machines,
# would be done in half the time.
#
# Why it bounds: take any prices pi, mu >= 0 of machine seconds and joules above idle, and any theta >= 0. A
# schedule of makespan t >= l with v more machines has by `bag/certificate/bounds.py` at an income of N -
# theta a rate of at most S - K + r_max max(0, N - theta - g), and N brings theta / t <= theta / l more. But
# for r_max, which matters only where prices are off by rounding, and is largest at the largest v, that is a
# line in v:
#
#     slope = pi_j - (c PUE + mu) b_j - purchase_j / life_j.
#
# The most over all schedules is the least of such lines: concave in v, and piecewise linear.
SECONDS_PER_HOUR: Final = profit.SECONDS_PER_HOUR
LONGEST: Final = "longest"


def compile_lp(scales: Scales, money: Money) -> LinearProgram:
    """Return the program above with v = 0, as a minimum, in the pure numbers of `relaxation.py`."""
    plain = profit.compile_lp(scales, money)
    most = scales.seconds / longest_task(scales.bag)  # rho can be no more
    wide = np.where(scales.is_told, SLACK * most / scales.units, 0.0)
    plain = replace(plain, upper=np.append(wide.ravel(), SLACK * most))
    rho = np.array([len(plain.costs) - 1], dtype=np.int32)
    starts = np.array([0, 1], dtype=np.int32)
    return with_rows(plain, Rows((LONGEST,), np.array([-np.inf]), np.array([most]), starts, rho, np.array([1.0])))


def with_more(program: LinearProgram, scales: Scales, money: Money, j: int, *, most: int) -> LinearProgram:
    """Return the program with v as its last variable, up to `most`; it is counted in m_j."""
    machine, tasks = scales.bag.machine_types[j], len(scales.bag.task_types)
    everything = float(scales.loads[:, scales.arrays.machine_of == j].max(axis=1).sum())
    useful = SLACK * program.row_upper[-1] * everything  # all that it can run, as soon as the longest task
    rows, values = [tasks + j], [-1.0]
    if scales.cap is not None:
        rows.append(tasks + len(scales.bag.machine_types))
        values.append(machine.idle_watts * machine.count * scales.seconds / scales.cap.joules)
    more = Columns(
        costs=np.array([own_cost(scales.bag, machine) * price_unit(scales, money, j)]),
        upper=np.array([min(most / machine.count, useful)]),
        starts=np.array([0, len(rows)], dtype=np.int32),
        rows=np.array(rows, dtype=np.int32),
        values=np.array(values),
    )
    return with_columns(program, more)


def with_fixed(program: LinearProgram, scales: Scales, j: int, more: float) -> LinearProgram:
    """Return the program with v given; what the machines cost is not in it."""
    machine, tasks = scales.bag.machine_types[j], len(scales.bag.task_types)
    row_upper = program.row_upper.copy()
    row_upper[tasks + j] += more / machine.count
    if scales.cap is not None:
        taken = machine.idle_watts * more * scales.seconds / scales.cap.joules
        row_upper[tasks + len(scales.bag.machine_types)] -= taken
    return with_limits(program, program.upper, program.row_lower, row_upper)


def read_solution(scales: Scales, money: Money, solution: LpSolution) -> tuple[Relaxation, float]:
    """Return the relaxation, and theta: what being faster than the longest task would bring, per bag."""
    place = solution.program.row_names.index(LONGEST)
    theta = max(0.0, -float(solution.multipliers[place])) * money.unit
    return profit.read_solution(scales, money, solution), theta


def price_unit(scales: Scales, money: Money, j: int) -> float:
    """Return what v costs in the program if one machine costs 1 a second."""
    return scales.bag.machine_types[j].count * scales.seconds / money.unit


def own_cost(bag: Bag, machine: MachineType) -> float:
    """Return what one more machine costs a second, whatever it runs."""
    lost = machine.purchase_price / ((machine.mean_hours_to_failure or np.inf) * SECONDS_PER_HOUR)
    return profit.energy_price(bag) * machine.idle_watts + lost


def longest_task(bag: Bag) -> float:
    """Return l: the seconds of the longest task, where it is done soonest."""
    return max(min(seconds for seconds in row if seconds is not None) for row in bag.seconds)


# The most profit as a function of how many machines of a type there are: every piece, exactly.
#
# Let R(v) be the best rate with v more machines of a type (`bag/search/machine_counts.py`): concave and
# piecewise linear. Its breakpoints are the corners of the chain of (v, -R): where a further machine would
# cost s more a second than it does, v machines are best for which R has the slope s. So `objectives.py` finds
# them all, from v = 0 to the best number, where R has no slope left; all s share one set of rows. The prices
# at the edge from one breakpoint to the next prove the line between them.
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
