"""Profit rate: the most money per second that a bag of tasks can earn.

Data       n_i      tasks of type i              m_j    machines of type j
           e_ijk    seconds in P-state k         d_ijk  joules above idle, e_ijk (a_ijk - b_j)
           I        idle floor, sum_j m_j b_j    P      average-power cap at the machines, if there is one
           N        what a bag brings before anything runs (`cost.py`, as the next two)
           kappa    what one task costs:   c PUE d_ijk + wear_j e_ijk
           K        what a second costs, whatever runs
           L        a makespan that no schedule of whole tasks undercuts (`relaxation.py`)
Variables  r        bags finished per second, that is 1 / makespan
           z_ijk    tasks of type i finished per second on machine type j in P-state k

    max   N r  -  sum kappa_ijk z_ijk  -  K
    s.t.  sum_jk z_ijk        =  n_i r       for each task type i      (demand)
          sum_ik e_ijk z_ijk  <= m_j         for each machine type j   (capacity)
          sum d_ijk z_ijk     <= P - I                                 (cap)
          r >= 1 / deadline,  r <= 1 / L,  z >= 0                      (deadline, whole)

The owner maximises the ratio (N - kappa x) / t - K; counting tasks per second (the Charnes-Cooper
substitution) makes it linear. The program is written in the pure numbers of `relaxation.py`: rho = r T, w = z
T / n in units u, money as a share of the larger of N and what the tasks cost where they are cheapest or done
soonest.

Why it bounds: a real schedule of makespan t gives the feasible point r = 1 / t, z = x / t of the same value.
Doing nothing is r = 0. A pair longer than the deadline is left out, since no whole task can use it. The
optimum may not be reached, because tasks cannot be split.

Source: Tarplee, Maciejewski and Siegel, Energy-aware profit maximizing scheduling algorithm for
heterogeneous computing systems, 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.cost import cost_model
from lpsched.bag.relaxation import DEAREST, SLACK, Relaxation, Scales
from lpsched.lp.program import LinearProgram, LpBuilder, LpSolution, LpStatus
from lpsched.units import KILO, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.model.arrays import Floats

NAME: Final = "profit"
SLOWEST: Final = 1e-12  # a rate below this share of 1 / T is none


@dataclass(frozen=True, slots=True)
class Money:
    """What a bag brings and costs."""

    income: float  # N
    costs: Floats  # n kappa: what all tasks of a type cost in a column
    standing: float  # K, per second
    unit: float  # what the program counts as 1


def money_of(scales: Scales) -> Money:
    """Fold every price of the bag into N, kappa and K."""
    bag, arrays = scales.bag, scales.arrays
    prices = cost_model(bag)
    wear = np.array([prices.wear(each) for each in bag.machine_types])
    worn = arrays.task_counts[:, np.newaxis] * arrays.seconds * wear[arrays.machine_of]
    per_joule = prices.energy_price
    used = worn if scales.joules is None or per_joule == 0 else per_joule * scales.joules + worn
    costs = np.where(arrays.can_run, used, np.inf)
    return Money(
        income=prices.income,
        costs=costs,
        standing=prices.fixed_rate(scales.idle_floor_watts),
        unit=unit_of(scales, prices.income, costs),
    )


def unit_of(scales: Scales, income: float, costs: Floats) -> float:
    """Return an amount of money of the order of what the bag is about."""
    cheapest = float(costs.min(axis=1).sum())
    soonest = float(costs[scales.to_least(scales.loads) > 0].sum())
    return max(abs(income), min(abs(cheapest), abs(soonest))) or 1.0


def compile_lp(scales: Scales, money: Money) -> LinearProgram:
    """Return the program above as a minimum; its block names are the letters of the formulas."""
    bag, arrays = scales.bag, scales.arrays
    speeds = 1.0 / np.where(arrays.can_run, scales.loads, 1.0)
    quickest = np.maximum.reduceat(np.where(arrays.can_run, speeds, 0.0), arrays.firsts, axis=1)
    most = float(quickest.sum(axis=1).min())  # no task type is done faster than by all machines at once
    fastest = np.where(scales.is_told, np.minimum(most, speeds), 0.0)

    lp = LpBuilder(NAME)
    w = lp.variables("w", upper=SLACK * fastest / scales.units)
    rho = lp.variables("rho", upper=np.array([SLACK * most]))
    lp.objective([(w, costs_of(money) * scales.units), (rho, -money.income / money.unit)])
    task = np.arange(len(bag.task_types))
    lp.equal_each(
        [f"demand[{each.name}]" for each in bag.task_types],
        [
            (task[:, np.newaxis], w, np.where(scales.is_told, scales.units, 0.0)),
            (task, np.broadcast_to(rho, task.shape), -1.0),
        ],
        0.0,
    )
    lp.at_most_each(
        [f"capacity[{each.name}]" for each in bag.machine_types],
        [(arrays.machine_of[np.newaxis], w, scales.loads * scales.units)],
        1.0,
    )
    if scales.cap is not None:
        lp.at_most("cap", [(w, scales.cap.loads * scales.units)], scales.cap.headroom)
    if bag.site.deadline_seconds is not None:
        lp.at_most("deadline", [(rho, -1.0)], -scales.seconds / bag.site.deadline_seconds)
    if scales.shortest:
        lp.at_most("whole", [(rho, 1.0)], scales.seconds / scales.shortest)
    return lp.build()


def costs_of(money: Money) -> Floats:
    """Return what all tasks of a type cost in each column, in the unit; absent pairs cost nothing."""
    return np.where(np.isfinite(money.costs), np.minimum(money.costs / money.unit, DEAREST), 0.0)


def read_solution(scales: Scales, money: Money, solution: LpSolution) -> Relaxation:
    """Undo the substitution and the scaling: from rates back to shares, seconds, joules and prices."""
    rho = float(solution["rho"][0])
    p, q = scales.sound_prices(costs_of(money), solution)
    shares = scales.shares_of(solution["w"])
    makespan = scales.seconds / rho if rho > SLOWEST else scales.makespan_of(shares)
    per_second = money.unit / scales.seconds
    return Relaxation(
        shares=shares,
        makespan_seconds=makespan,
        energy_joules=scales.energy_of(shares, makespan),
        bound=-solution.bound * per_second - money.standing,
        machine_prices=tuple((p * per_second / scales.arrays.machine_counts).tolist()),
        cap_price=q * money.unit / scales.cap.joules if scales.cap is not None else 0.0,
        optimal=solution.status is LpStatus.OPTIMAL,
    )


def worths(
    scales: Scales, money: Money, machine_prices: Sequence[float], cap_price: float
) -> tuple[list[float], float | None, list[float]]:
    """Return what one more machine of each type, one more kilowatt and one more task of each type is worth.

    With pi the price of a machine second and mu that of a joule above idle:

        machine   pi_j - (c PUE + mu) b_j - purchase_j / life_j       money per hour, after all it costs
        kilowatt  mu / PUE for a cap at the facility, else mu         money per hour
        task      min_jk (kappa_ijk + e_ijk pi_j + mu d_ijk)          money
    """
    bag, arrays = scales.bag, scales.arrays
    pi, counts = np.array(machine_prices), arrays.task_counts[:, np.newaxis]
    prices = cost_model(bag)
    lost = np.array([prices.depreciation(each) for each in bag.machine_types])
    machines = SECONDS_PER_HOUR * (pi - (prices.energy_price + cap_price) * arrays.idle_watts) - lost
    extra = 0.0 if scales.joules is None else cap_price * scales.joules
    tasks = ((money.costs + counts * arrays.seconds * pi[arrays.machine_of] + extra) / counts).min(axis=1)
    if scales.cap is None:
        return machines.tolist(), None, tasks.tolist()
    return machines.tolist(), KILO * SECONDS_PER_HOUR * cap_price / prices.meter, tasks.tolist()
