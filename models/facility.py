"""The most reward a facility can earn at given outlet temperatures, straight from the maths.

    max   sum_i r_i z_i
    s.t.  z_i  <=  arrivals_i,      z_i  <=  sum_vq rate_iq x_vq                 for each task type i
          sum_q x_vq  <=  1,        P_v  =  O_v + sum_q w_q x_vq                 for each node v
          in_v    =  sum_u mix_vu out_u                                          for each place v of the air
          out_v   =  in_v + P_v / k_v for a node,  T_v for a CRAC unit
          in_v   <=  redline_v,     in_u  >=  T_u                                a CRAC unit cools
          sum_v P_v + sum_u k_u (in_u - T_u) / CoP_u(T_u)  <=  cap,     x >= 0

A pattern q of a node says what each of its cores runs, or that it is idle: rate_iq tasks of type i a second,
each core slowed down by the others, w_q watts. All patterns are written out, and the temperatures are
variables, so no matrix is inverted: this is for tiny facilities.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.facility.model import Facility

Pattern = tuple[tuple[int, int], ...]  # task type and column of each busy core


def best_reward(facility: Facility, outlets: Sequence[float]) -> float | None:
    """Return the most reward per second at these outlet temperatures; `None` if nothing keeps the limits."""
    kinds, units = [facility.node_types[j] for j in facility.nodes], facility.crac_units
    tasks, n, t = facility.task_types, len(kinds), np.array(outlets)
    flows = [kind.airflow_m3_per_second for kind in kinds] + [unit.airflow_m3_per_second for unit in units]
    k = np.array(flows) * facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin
    z, power, inlet = cp.Variable(len(tasks)), cp.Variable(n), cp.Variable(len(k))
    rules: list[Any] = []
    done: Any = 0
    for v, j in enumerate(facility.nodes):
        chosen = patterns(facility, j)
        x = cp.Variable(len(chosen), nonneg=True)
        done += np.array([rates(facility, pattern) for pattern in chosen]).T @ x
        w = np.array([sum(facility.watts[pair] or 0.0 for pair in pattern) for pattern in chosen])
        rules += [cp.sum(x) <= 1, power[v] == kinds[v].overhead_watts + w @ x]
    rules += [z <= done, z <= [task.arrivals_per_second for task in tasks]]
    outlet = cp.hstack([inlet[:n] + cp.multiply(1 / k[:n], power), t])
    rules += [inlet == mixed(facility, k, power, outlet)]
    redlines = [kind.redline_celsius for kind in kinds] + [unit.redline_celsius for unit in units]
    rules += [inlet[v] <= redline for v, redline in enumerate(redlines) if redline is not None]
    cop = [sum(c * each**d for d, c in enumerate(unit.cop)) for unit, each in zip(units, t, strict=True)]
    cooling = cp.multiply(k[n:] / np.array(cop), inlet[n:] - t)
    rules += [inlet[n:] >= t, cp.sum(power) + cp.sum(cooling) <= facility.power_cap_watts]
    problem = cp.Problem(cp.Maximize(np.array([task.reward for task in tasks]) @ z), rules)
    problem.solve(solver=cp.HIGHS)
    return float(problem.value) if problem.status == cp.OPTIMAL else None


def mixed(facility: Facility, k: Any, power: Any, outlet: Any) -> Any:  # noqa: ANN401 - of CVXPY and NumPy
    """Return the temperatures of the air that is drawn in, in terms of that which is given off."""
    given = facility.mixing.matrix
    mix, n = np.zeros((given.rows, given.columns)), len(facility.nodes)
    for v in range(given.rows):
        for u, value in given.row(v):
            mix[v, u] = value
    if facility.mixing.form == "recirculation":  # outright: the supply, and so many kelvin for each watt
        return outlet[n] + cp.hstack([mix @ power, cp.sum(power) / k[n]])
    if facility.mixing.form == "alpha":  # shares of what leaves a place: heat adds up, temperatures do not
        return cp.multiply(1 / k, mix.T @ cp.multiply(k, outlet))
    return mix @ outlet


def patterns(facility: Facility, j: int) -> list[Pattern]:
    """Return everything that the cores of node type j can run at once, in time."""
    pairs = [
        (i, column)
        for i, task in enumerate(facility.task_types)
        for column, (own, _) in enumerate(facility.modes)
        if own == j and (speed := facility.speeds[i, column])
        if task.deadline_seconds is None or 1.0 / speed < task.deadline_seconds
    ]
    busy = range(facility.node_types[j].cores + 1)
    return [pattern for cores in busy for pattern in combinations_with_replacement(pairs, cores)]


def rates(facility: Facility, pattern: Pattern) -> list[float]:
    """Return the tasks of each type that a pattern does in a second."""
    done, own, table = [0.0] * len(facility.task_types), facility.class_of, facility.degradation
    for core, (i, column) in enumerate(pattern):
        others = [other for place, (other, _) in enumerate(pattern) if place != core]
        slower = 0.0 if table is None else sum(table[own[i], own[other]] or 0.0 for other in others)
        done[i] += (facility.speeds[i, column] or 0.0) / (1.0 + slower)
    return done
