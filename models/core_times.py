"""The most reward of cores with fixed P-states at given outlet temperatures, straight from the maths.

    max   sum_i r_i z_i
    s.t.  z_i  <=  arrivals_i,    z_i  <=  sum_k s_ki f_ki / D_ki                   for each task type i
          sum_i f_ki  <=  1                                                         for each core k
          1 + sum_lt PD(i, t) f_lt  <=  D_ki    over the node's other cores l, where i's class ran on k before
          P_v     =  O_v + sum over its cores of w_ki f_ki                          for each node v
          in_v    =  sum_u mix_vu out_u,      out_v  =  in_v + P_v / k_v,  T_v for a CRAC unit
          in_v   <=  redline_v,     in_u  >=  T_u                                   a CRAC unit cools
          sum_v P_v + sum_u k_u (in_u - T_u) / CoP_u(T_u)  <=  cap,     f >= 0

D_ki is the slowdown of the times known before; where i's class did not run on k, the worst that there can be.
The temperatures are variables, so no matrix is inverted: this is for tiny facilities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np

from models.facility import mixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.facility.model import Facility

Cores = list[list[tuple[int, int]]]  # of each core: task type and column of the tables of what it may run


def best_reward(
    facility: Facility, outlets: Sequence[float], node_of: Sequence[int], cores: Cores, known: Sequence[Sequence[float]]
) -> float | None:
    """Return the most reward a second, `None` if nothing keeps the limits; `known` is cores x task types."""
    kinds, units = [facility.node_types[j] for j in facility.nodes], facility.crac_units
    tasks, n, t = facility.task_types, len(kinds), np.array(outlets)
    flows = [kind.airflow_m3_per_second for kind in kinds] + [unit.airflow_m3_per_second for unit in units]
    k = np.array(flows) * facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin
    f, z = cp.Variable((len(cores), len(tasks)), nonneg=True), cp.Variable(len(tasks))
    power, inlet = cp.Variable(n), cp.Variable(len(k))
    rules: list[Any] = [cp.sum(f, axis=1) <= 1, z <= [task.arrivals_per_second for task in tasks]]
    done: list[Any] = [0.0] * len(tasks)
    drawn: list[Any] = [kind.overhead_watts for kind in kinds]
    for core, own in enumerate(cores):
        others = [other for other, v in enumerate(node_of) if v == node_of[core] and other != core]
        rules += [f[core, i] == 0 for i in set(range(len(tasks))) - {i for i, _ in own}]
        for i, column in own:
            if runs(facility, known[core], i):
                ceiling = 1 + sum(harm(facility, i, u) * known[o][u] for o in others for u in range(len(tasks)))
                beside: Any = sum(harm(facility, i, u) * f[o, u] for o in others for u in range(len(tasks)))
                rules.append(1 + beside <= ceiling)
            else:
                ceiling = 1 + len(others) * worst(facility, i)
            done[i] += f[core, i] * (facility.speeds[i, column] or 0.0) / ceiling
            drawn[node_of[core]] += f[core, i] * (facility.watts[i, column] or 0.0)
    rules += [z[i] <= each for i, each in enumerate(done)] + [power[v] == each for v, each in enumerate(drawn)]
    outlet = cp.hstack([inlet[:n] + cp.multiply(1 / k[:n], power), t])
    rules += [inlet == mixed(facility, k, power, outlet), inlet[n:] >= t]
    redlines = [kind.redline_celsius for kind in kinds] + [unit.redline_celsius for unit in units]
    rules += [inlet[v] <= redline for v, redline in enumerate(redlines) if redline is not None]
    cop = [sum(c * each**d for d, c in enumerate(unit.cop)) for unit, each in zip(units, t, strict=True)]
    cooling = cp.multiply(k[n:] / np.array(cop), inlet[n:] - t)
    rules.append(cp.sum(power) + cp.sum(cooling) <= facility.power_cap_watts)
    problem = cp.Problem(cp.Maximize(np.array([task.reward for task in tasks]) @ z), rules)
    problem.solve(solver=cp.HIGHS)
    return float(problem.value) if problem.status == cp.OPTIMAL else None


def harm(facility: Facility, i: int, other: int) -> float:
    """Return PD of task type i beside another."""
    table, own = facility.degradation, facility.class_of
    return 0.0 if table is None else table[own[i], own[other]] or 0.0


def worst(facility: Facility, i: int) -> float:
    """Return the worst that one other core can do to task type i."""
    table = facility.degradation
    if table is None:
        return 0.0
    return max(table[facility.class_of[i], b] or 0.0 for b in range(len(facility.memory_classes)))


def runs(facility: Facility, known: Sequence[float], i: int) -> bool:
    """Tell whether anything of task type i's class ran on the core before."""
    own = facility.class_of
    return any(time > 0 and (not own or own[i] == own[u]) for u, time in enumerate(known))
