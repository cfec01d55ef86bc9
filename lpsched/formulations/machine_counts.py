"""Profit rate with more machines of one type: how many more are best, or what so many more bring.

The program of `formulations/profit.py`, with v >= 0 more machines of type j than there are:

    max   N r  -  sum kappa z  -  own_j v  -  K
    s.t.  demand, deadline, other capacities    as there
          sum_ik e_ijk z_ijk  <= m_j + v        (capacity of machine type j)
          sum d_ijk z_ijk     <= P - I - b_j v  (cap)
          r                   <= 1 / l          (longest)

    own_j   c PUE b_j + purchase_j / life_j: what one more costs a second, whatever it runs
    l       max_i min_jk e_ijk: no schedule is done before its longest task, however many machines there are

Without the last row, types that run everything would pay for ever: two halves of a task, on two machines,
would be done in half the time.

Why it bounds: take any prices pi, mu >= 0 of machine seconds and joules above idle, and any theta >= 0. A
schedule of makespan t >= l with v more machines has by `certificate/bounds.py` at an income of N - theta a
rate of at most S - K + r_max max(0, N - theta - g), and N brings theta / t <= theta / l more. But for r_max,
which matters only where prices are off by rounding, and is largest at the largest v, that is a line in v:

    slope = pi_j - (c PUE + mu) b_j - purchase_j / life_j.

The most over all schedules is the least of such lines: concave in v, and piecewise linear.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations import profit
from lpsched.formulations.scales import SLACK
from lpsched.lp.master import Columns, Rows, with_columns, with_limits, with_rows

if TYPE_CHECKING:
    from lpsched.formulations.profit import Money
    from lpsched.formulations.scales import Scales
    from lpsched.instance import Bag, MachineType
    from lpsched.lp.program import LinearProgram, LpSolution
    from lpsched.relaxation import Relaxation

SECONDS_PER_HOUR: Final = profit.SECONDS_PER_HOUR
LONGEST: Final = "longest"


def compile_lp(scales: Scales, money: Money) -> LinearProgram:
    """Return the program above with v = 0, as a minimum, in the pure numbers of `scales.py`."""
    plain = profit.compile_lp(scales, money)
    most = scales.seconds / longest_task(scales.bag)  # rho can be no more
    wide = np.where(scales.is_told, SLACK * most / scales.units, 0.0)
    plain = replace(plain, upper=np.append(wide.ravel(), SLACK * most))
    rho = np.array([len(plain.costs) - 1], dtype=np.int32)
    starts = np.array([0, 1], dtype=np.int32)
    return with_rows(
        plain, Rows((LONGEST,), np.array([-np.inf]), np.array([most]), starts, rho, np.array([1.0]))
    )


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
