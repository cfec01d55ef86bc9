"""Money per second that no schedule exceeds, straight from the maths.

    max   N r - sum kappa_ijk z_ijk - K
    s.t.  sum_jk z_ijk        =  n_i r      for each task type i
          sum_ik e_ijk z_ijk  <= m_j        for each machine type j
          sum d_ijk z_ijk     <= P - I      average power; P is P_max / PUE if the facility is metered
          z >= 0,  r >= 1 / deadline        r >= 0 without one: doing nothing
          r <= 1 / L                        that of `whole_tasks.py`; pairs beyond the deadline are left out

    N          per_bag + sum_i n_i per_task_i - overhead
    d_ijk      e_ijk (a_ijk - b_j)          joules above idle
    kappa_ijk  c PUE d_ijk + wear_j e_ijk   what a task costs; c is money per joule
    I          sum_j m_j b_j                watts of the idle floor
    K          c PUE I + sum_j m_j purchase_j / life_j

r = 1 / t bags are finished in a second, and with them z = x / t tasks: the substitution of Charnes and
Cooper, which makes (N - kappa x) / t - K linear. The price at which a bag breaks even is the least of
overhead + kappa x + K t over the rows of `front.py`.

Solvers have absolute tolerances. So tasks, bags and money are counted per unit of time; the first unit is
the least makespan, and where the answer is far slower, its own makespan is the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pulp

from models.front import FIT, PASSES, SMALLEST, Split, cap_watts, cells, least, least_cost, solve
from models.whole_tasks import Pair, shortest

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

JOULES_PER_KWH: Final = 3.6e6
SECONDS_PER_HOUR: Final = 3600.0


def best_rate(bag: Bag, *, soonest_seconds: float | None = None) -> float:
    """Return the most money per second, less what a second costs anyway.

    A bag takes at least `soonest_seconds`, or L if none are given.
    """
    soonest_seconds = float(shortest(bag)) if soonest_seconds is None else soonest_seconds
    e, d, kappa = cells(bag, bag.seconds), joules_above_idle(bag), task_costs(bag)
    n, m = [task.count for task in bag.task_types], [machine.count for machine in bag.machine_types]
    cap, deadline = cap_watts(bag), bag.site.deadline_seconds
    unit, size = max(soonest_seconds, least_cost(bag, joules_weight=0.0, seconds_weight=1.0)), 0.0
    for _ in range(PASSES):
        model = pulp.LpProblem("profit", pulp.LpMaximize)
        slowest = 0.0 if deadline is None else unit / deadline
        fastest = min(1 / FIT, unit / soonest_seconds)
        r = 1.0 / unit * model.add_variable("r", lowBound=slowest, upBound=max(slowest, fastest))
        most = {(i, j, k): min(n[i] / unit, m[j] / e[i, j, k]) for i, j, k in e}
        z = {(i, j, k): most[i, j, k] * model.add_variable(f"z_{i}_{j}_{k}", lowBound=0) for i, j, k in e}
        size = size or max(abs(income(bag)) / unit, *(abs(kappa[pair]) * most[pair] for pair in e)) or 1.0
        money = income(bag) * r - pulp.lpSum(kappa[pair] * z[pair] for pair in z)
        model += money * (1.0 / size)
        for i, n_i in enumerate(n):
            done = pulp.lpSum(z[pair] for pair in z if pair[0] == i)
            model += (done - n_i * r) * (unit / n_i) == 0
        for j, m_j in enumerate(m):
            model += pulp.lpSum(e[pair] * z[pair] for pair in z if pair[1] == j) * (1.0 / m_j) <= 1
        if cap is not None:
            left = cap - idle_floor(bag)  # negative, if all machines idling is too much
            model += pulp.lpSum(d[pair] * z[pair] for pair in z) * (1.0 / (abs(left) or 1.0)) <= np.sign(left)
        solve(model)
        rate, bags = float(pulp.value(money)), float(pulp.value(r)) * unit
        if abs(rate) >= FIT * size and (bags < 1 / FIT or fastest < 1 / FIT):
            break
        unit, size = unit / max(bags, SMALLEST), max(abs(rate), SMALLEST * size)
    return rate - standing(bag)


def break_even_price(bag: Bag) -> float:
    """Return the least price at which a bag loses nothing."""
    worn = wear(bag)

    def cost(at: Split) -> Any:  # noqa: ANN401 - PuLP 3 has no types
        total = bag.prices.overhead_per_bag + money_per_joule(bag) * at.joules + depreciation(bag) * at.seconds
        return sum((worn[pair] * at.x[pair] for pair in worn), start=total)

    return least(bag, cost)[0]


def least_running_cost(bag: Bag) -> float:
    """Return sum_i n_i min_jk kappa_ijk: an N below that is better not earned, unless there is a deadline."""
    kappa = task_costs(bag)
    return sum(
        task.count * min(cost for pair, cost in kappa.items() if pair[0] == i) for i, task in enumerate(bag.task_types)
    )


def income(bag: Bag) -> float:
    """Return N."""
    per_task = sum(task.count * bag.prices.per_task.get(task.name, 0.0) for task in bag.task_types)
    return (bag.prices.per_bag or 0.0) + per_task - bag.prices.overhead_per_bag


def standing(bag: Bag) -> float:
    """Return K."""
    return money_per_joule(bag) * idle_floor(bag) + depreciation(bag)


def depreciation(bag: Bag) -> float:
    """Return sum_j m_j purchase_j / life_j, per second."""
    return sum(
        machine.count * machine.purchase_price / (machine.mean_hours_to_failure * SECONDS_PER_HOUR)
        for machine in bag.machine_types
        if machine.mean_hours_to_failure is not None
    )


def money_per_joule(bag: Bag) -> float:
    """Return c PUE."""
    return (bag.prices.electricity_per_kwh or 0.0) / JOULES_PER_KWH * bag.site.pue


def idle_floor(bag: Bag) -> float:
    """Return I."""
    return sum(machine.count * machine.idle_watts for machine in bag.machine_types)


def joules_above_idle(bag: Bag) -> dict[Pair, float]:
    """Return d, where watts are known."""
    e, a = cells(bag, bag.seconds), cells(bag, bag.watts)
    return {pair: e[pair] * (a[pair] - bag.machine_types[pair[1]].idle_watts) for pair in a}


def wear(bag: Bag) -> dict[Pair, float]:
    """Return wear_j e_ijk."""
    e = cells(bag, bag.seconds)
    return {pair: bag.machine_types[pair[1]].wear_per_busy_hour / SECONDS_PER_HOUR * e[pair] for pair in e}


def task_costs(bag: Bag) -> dict[Pair, float]:
    """Return kappa."""
    d, c, worn = joules_above_idle(bag), money_per_joule(bag), wear(bag)
    return {pair: c * d.get(pair, 0.0) + worn[pair] for pair in worn}
