"""The most money per second if tasks could be split, straight from the maths.

    max   N r - sum kappa_ijk z_ijk - K
    s.t.  sum_jk z_ijk        =  n_i r      for each task type i
          sum_ik e_ijk z_ijk  <= m_j        for each machine type j
          sum d_ijk z_ijk     <= P - I      average power; P is P_max / PUE if the facility is metered
          z >= 0,  r >= 1 / deadline        r >= 0 without one: doing nothing

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

import pulp

from models.front import FIT, OPTIMAL, PASSES, SLACK, STRICT, Pair, Split, cap_watts, cells, least, least_cost

if TYPE_CHECKING:
    from lpsched.instance import Bag

JOULES_PER_KWH: Final = 3.6e6
SECONDS_PER_HOUR: Final = 3600.0


def best_rate(bag: Bag) -> float:
    """Return the most money per second, what stands still included."""
    e, d, kappa = cells(bag, bag.seconds), joules_above_idle(bag), task_costs(bag)
    n, m = [task.count for task in bag.task_types], [machine.count for machine in bag.machine_types]
    earned = income(bag)
    unit = least_cost(bag, joules_weight=0.0, seconds_weight=1.0)
    rate = (max(abs(earned), abs(least_running_cost(bag))) or 1.0) / unit
    for _ in range(PASSES):
        model = pulp.LpProblem("profit", pulp.LpMaximize)
        deadline = bag.site.deadline_seconds
        bags = model.add_variable("r", lowBound=0 if deadline is None else unit / deadline)
        r = 1.0 / unit * bags
        z = {
            (i, j, k): min(n[i] / unit, m[j] / e[i, j, k]) * model.add_variable(f"z_{i}_{j}_{k}", lowBound=0)
            for i, j, k in e
        }
        money = earned * r - pulp.lpSum(kappa[pair] * z[pair] for pair in z)
        model += money * (1.0 / rate)
        for i, n_i in enumerate(n):
            model += (pulp.lpSum(z[pair] for pair in z if pair[0] == i) - n_i * r) * (unit / n_i) == 0
        for j, m_j in enumerate(m):
            model += pulp.lpSum(e[pair] * z[pair] for pair in z if pair[1] == j) * (1.0 / m_j) <= 1
        if (cap := cap_watts(bag)) is not None:
            above = cap - idle_floor(bag)
            model += pulp.lpSum(d[pair] * z[pair] for pair in z) * (1.0 / above) <= 1
        outcome = model.solve(pulp.HiGHS(msg=False, **STRICT))
        assert int(getattr(outcome, "status", outcome)) == OPTIMAL
        found, speed = float(pulp.value(money)), float(pulp.value(bags))
        if speed >= FIT and abs(found) >= FIT * rate:
            break
        unit, rate = unit / max(speed, SLACK), max(abs(found), SLACK * rate)
    return found - standing(bag)


def break_even_price(bag: Bag) -> float:
    """Return the least price at which a bag loses nothing."""
    e, c = cells(bag, bag.seconds), money_per_joule(bag)
    wear = [machine.wear_per_busy_hour / SECONDS_PER_HOUR for machine in bag.machine_types]

    def cost(at: Split) -> Any:  # noqa: ANN401 - PuLP 3 has no types
        worn = sum((wear[pair[1]] * e[pair] * at.x[pair] for pair in e), start=0.0 * at.seconds)
        return bag.prices.overhead_per_bag + c * at.joules + worn + depreciation(bag) * at.seconds

    return least(bag, cost)[0]


def least_running_cost(bag: Bag) -> float:
    """Return sum_i n_i min_jk kappa_ijk: an N below that is better not earned, unless there is a deadline."""
    kappa = task_costs(bag)
    return sum(
        task.count * min(cost for pair, cost in kappa.items() if pair[0] == i)
        for i, task in enumerate(bag.task_types)
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
    """Return d; 0 without watts, where energy costs nothing and there is no cap."""
    e, a = cells(bag, bag.seconds), cells(bag, bag.watts)
    return {(i, j, k): e[i, j, k] * (a[i, j, k] - bag.machine_types[j].idle_watts) for i, j, k in a}


def task_costs(bag: Bag) -> dict[Pair, float]:
    """Return kappa."""
    e, d, c = cells(bag, bag.seconds), joules_above_idle(bag), money_per_joule(bag)
    wear = [machine.wear_per_busy_hour / SECONDS_PER_HOUR for machine in bag.machine_types]
    return {pair: c * d.get(pair, 0.0) + wear[pair[1]] * e[pair] for pair in e}
