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

The owner maximises the ratio (N - kappa x) / t - K; counting tasks per second (the Charnes-Cooper substitution) makes
it linear. The program is written in the pure numbers of `relaxation.py`: rho = r T, w = z T / n in units u, money as a
share of the larger of N and what the tasks cost where they are cheapest or done soonest.

Why it bounds: a real schedule of makespan t gives the feasible point r = 1 / t, z = x / t of the same value.
Doing nothing is r = 0. A pair longer than the deadline is left out, since no whole task can use it. The
optimum may not be reached, because tasks cannot be split.

Source: Tarplee, Maciejewski and Siegel, Energy-aware profit maximizing scheduling algorithm for
heterogeneous computing systems, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.cost import cost_model
from lpsched.bag.relaxation import LARGEST_COST, SLACK, Point, Relaxation, Scaling
from lpsched.lp.program import LinearProgram, LpBuilder, LpSolution, LpStatus
from lpsched.units import KILO, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.model.table import Floats

NAME: Final = "profit"
SLOWEST: Final = 1e-12  # a rate below this share of 1 / T is none


@dataclass(frozen=True, slots=True)
class ProfitModel:
    """Income and costs of a bag."""

    income: float  # N
    costs: Floats  # n kappa: what all tasks of a type cost in a column
    fixed_rate: float  # K, per second
    unit: float  # what the program counts as 1


def profit_model(scaling: Scaling) -> ProfitModel:
    """Return N, kappa and K of a bag, from all its prices."""
    bag, arrays = scaling.bag, scaling.arrays
    prices = cost_model(bag)
    wear = np.array([prices.wear(each) for each in bag.machine_types])
    worn = arrays.task_counts[:, np.newaxis] * arrays.seconds * wear[arrays.machine_of]
    per_joule = prices.energy_price
    used = worn if scaling.joules is None or per_joule == 0 else per_joule * scaling.joules + worn
    costs = np.where(arrays.can_run, used, np.inf)
    return ProfitModel(
        income=prices.income,
        costs=costs,
        fixed_rate=prices.fixed_rate(scaling.idle_floor_watts),
        unit=unit_of(scaling, prices.income, costs),
    )


def unit_of(scaling: Scaling, income: float, costs: Floats) -> float:
    """Return an amount of money of the order of what the bag is about."""
    cheapest = float(costs.min(axis=1).sum())
    soonest = float(costs[scaling.to_least(scaling.loads) > 0].sum())
    return max(abs(income), min(abs(cheapest), abs(soonest))) or 1.0


def compile_lp(scaling: Scaling, money: ProfitModel) -> LinearProgram:
    """Return the program above as a minimum; its block names are the letters of the formulas."""
    bag, arrays = scaling.bag, scaling.arrays
    speeds = 1.0 / np.where(arrays.can_run, scaling.loads, 1.0)
    quickest = np.maximum.reduceat(np.where(arrays.can_run, speeds, 0.0), arrays.firsts, axis=1)
    most = float(quickest.sum(axis=1).min())  # no task type is done faster than by all machines at once
    fastest = np.where(scaling.in_model, np.minimum(most, speeds), 0.0)

    lp = LpBuilder(NAME)
    w = lp.variables("w", upper=SLACK * fastest / scaling.units)
    rho = lp.variables("rho", upper=np.array([SLACK * most]))
    lp.objective([(w, costs_of(money) * scaling.units), (rho, -money.income / money.unit)])
    demand, capacity = scaling.row_names
    task, own = np.arange(len(demand)), arrays.machine_of[np.newaxis]
    finished = np.where(scaling.in_model, scaling.units, 0.0)
    lp.equal_each(demand, [(task[:, np.newaxis], w, finished), (task, rho, -1.0)], 0.0)
    lp.at_most_each(capacity, [(own, w, scaling.loads * scaling.units)], 1.0)
    if scaling.cap is not None:
        lp.at_most("cap", [(w, scaling.cap.loads * scaling.units)], scaling.cap.headroom)
    if bag.site.deadline_seconds is not None:
        lp.at_most("deadline", [(rho, -1.0)], -scaling.seconds / bag.site.deadline_seconds)
    if scaling.shortest:
        lp.at_most("whole", [(rho, 1.0)], scaling.seconds / scaling.shortest)
    return lp.build()


def costs_of(money: ProfitModel) -> Floats:
    """Return what all tasks of a type cost in each column, in the unit; absent pairs cost nothing."""
    return np.where(np.isfinite(money.costs), np.minimum(money.costs / money.unit, LARGEST_COST), 0.0)


def read_solution(scaling: Scaling, money: ProfitModel, solution: LpSolution) -> Relaxation:
    """Undo the substitution and the scaling: from rates back to shares, seconds, joules and prices."""
    point, (machine_prices, cap_price) = read_point(scaling, solution), read_prices(scaling, money, solution)
    return Relaxation(
        shares=point.shares,
        makespan_seconds=point.makespan_seconds,
        energy_joules=point.energy_joules,
        bound=-solution.bound * (money.unit / scaling.seconds) - money.fixed_rate,
        machine_prices=machine_prices,
        cap_price=cap_price,
        optimal=solution.status is LpStatus.OPTIMAL,
    )


def read_point(scaling: Scaling, solution: LpSolution) -> Point:
    """Return only the point of `read_solution`."""
    rho, shares = float(solution["rho"][0]), scaling.shares_of(solution["w"])
    makespan = scaling.seconds / rho if rho > SLOWEST else scaling.makespan_of(shares)
    return Point(shares, makespan, scaling.energy_of(shares, makespan))


def read_prices(scaling: Scaling, money: ProfitModel, solution: LpSolution) -> tuple[tuple[float, ...], float]:
    """Return only the prices of `read_solution`: of a second on a machine of each type, and of a joule above idle."""
    p, q = scaling.dual_feasible_prices(costs_of(money), solution.multipliers)
    machines = tuple((p * (money.unit / scaling.seconds) / scaling.arrays.machine_counts).tolist())
    return machines, q * money.unit / scaling.cap.joules if scaling.cap is not None else 0.0


def shadow_values(
    scaling: Scaling, money: ProfitModel, machine_prices: Sequence[float], cap_price: float
) -> tuple[list[float], float | None, list[float]]:
    """Return the marginal values of a machine of each type, of a kilowatt and of a task of each type.

    With pi the price of a machine second and mu that of a joule above idle:

        machine   pi_j - (c PUE + mu) b_j - purchase_j / life_j       money per hour, after all it costs
        kilowatt  mu / PUE for a cap at the facility, else mu         money per hour
        task      min_jk (kappa_ijk + e_ijk pi_j + mu d_ijk)          money
    """
    bag, arrays = scaling.bag, scaling.arrays
    pi, counts = np.array(machine_prices), arrays.task_counts[:, np.newaxis]
    prices = cost_model(bag)
    lost = np.array([prices.depreciation(each) for each in bag.machine_types])
    machines = SECONDS_PER_HOUR * (pi - (prices.energy_price + cap_price) * arrays.idle_watts) - lost
    extra = 0.0 if scaling.joules is None else cap_price * scaling.joules
    tasks = ((money.costs + counts * arrays.seconds * pi[arrays.machine_of] + extra) / counts).min(axis=1)
    if scaling.cap is None:
        return machines.tolist(), None, tasks.tolist()
    return machines.tolist(), KILO * SECONDS_PER_HOUR * cap_price / prices.meter, tasks.tolist()
