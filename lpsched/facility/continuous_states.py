"""Continuous P-states: the most reward of cores that divide their time, if they could run at any power.

The first of three stages (`nlp.py` has the others). A core that runs task type i at a power between its
P-states is as fast as the concave hull of (0, 0) and the points (watts, speed) of its P-states allows; to
divide the time between neighbours on the hull comes to the same. So with the vertices c of the hull, from the
state that does most for a joule up to the fastest,

Data       r_i, a_i            reward and arrivals per second of task type i
           s_ic, w_ic          speed and watts of a core, PD(a, b) degradation of class a by class b
           O_v, R_v            overhead watts and redline of node v;  G, H, Gc, Hc, k of the heat map
Variables  x_kic               part of the time that core k runs task type i in state c
           y_i                 share of the arrivals that is done,     T_u   celsius of the outlets
           P_v                 watts of node v,    D_ka   how much longer a task of class a takes on core k

    max   sum_i r_i a_i y_i
    s.t.  a_i y_i  <=  sum_kc s_ic x_kic / D_ka,   a the class of i             (done, not convex)
          sum_ic x_kic  <=  1                                                   (core)
          D_ka  =  1 + sum_b PD(a, b) (time of the node's other cores on b)     (slower)
          P_v   =  O_v + sum over its cores of w_ic x_kic                       (power)
          G P + H T  <=  R,       T  <=  Gc P + Hc T  <=  R_c                   (air: a unit cools)
          sum P + sum_u k_u (Gc P + Hc T - T)_u / CoP_u(T_u)  <=  cap           (cap, not convex)
          0 <= y <= 1,   low <= T <= high,   x >= 0

Without degradation there is no D. Cores of a node are all alike, and from a start that treats them alike no
step leads away to where one core is busy and another idle, which may be better: so the start is random.

Everything is counted in units that make it about 1: kelvin in tens, power by what a busy node draws, reward
by what all arrivals bring.

Source: Oxley and others, sections III and IV-C, first step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.facility.air import FacilityArrays, HeatMap, even_outlets
from lpsched.lp.smooth import Expression, SmoothProgram, SmoothSolution

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers

KELVIN: Final = 10.0  # of which temperatures are counted
BUSY: Final = (0.3, 0.7)  # of each core's time, at the start


@dataclass(frozen=True, slots=True)
class ContinuousPoint:
    """A point of the program: outlets in celsius, and the part of its core's time for each state."""

    outlets: Floats
    times: Floats


def compile_program(
    arrays: FacilityArrays, heat: HeatMap, states: CoreStates, rng: np.random.Generator
) -> SmoothProgram:
    """Return the program above, at a random start."""
    program = SmoothProgram()
    count, cores = len(states.core), len(states.node)
    each = np.arange(count)
    x0 = rng.uniform(0.5, 1.5, count)
    x0 *= (rng.uniform(*BUSY, cores) / np.maximum(np.bincount(states.core, x0, cores), 0.5))[states.core]
    x = program.variables("x", np.zeros(count), np.full(count, np.inf), x0)
    program.at_most(program.sparse(states.core, each, np.ones(count), (cores, count)) @ x, 1.0)
    _limit_power(program, arrays, heat, states, (x, x0))
    _count_reward(program, arrays, states, (x, x0))
    return program


def _limit_power(
    program: SmoothProgram, arrays: FacilityArrays, heat: HeatMap, states: CoreStates, times: tuple[Expression, Floats]
) -> None:
    """Add T, P and the rows power, air and cap."""
    x, x0 = times
    nodes, count = len(arrays.node_type), len(states.core)
    overhead, watts = arrays.overhead_watts[arrays.node_type], arrays.watts[states.task, states.column]
    drawn = np.bincount(states.node[states.core], weights=watts * x0, minlength=nodes)
    unit = float(np.mean(overhead + drawn)) or 1.0
    t0 = even_outlets(arrays, heat) / KELVIN
    t = program.variables("T", arrays.outlet_low / KELVIN, arrays.outlet_high / KELVIN, t0)
    power = program.variables("P", np.full(nodes, -np.inf), np.full(nodes, np.inf), (overhead + drawn) / unit)
    spent = program.sparse(states.node[states.core], np.arange(count), watts / unit, (nodes, count)) @ x
    program.equal(power - spent, overhead / unit)
    inlet = program.constant(heat.from_power * unit / KELVIN) @ power
    inlet += program.constant(heat.from_outlets) @ t
    program.at_most(inlet, arrays.redline / KELVIN)
    returned = program.constant(heat.crac_from_power * unit / KELVIN) @ power
    returned += program.constant(heat.crac_from_outlets) @ t
    program.between(returned - t, 0.0, np.inf)
    redlined = np.flatnonzero(np.isfinite(arrays.crac_redline))
    if len(redlined):
        program.at_most(returned[redlined.tolist()], arrays.crac_redline[redlined] / KELVIN)
    constant, linear, quadratic = (program.constant(each) for each in arrays.cop.T)
    cop = constant + KELVIN * t * (linear + KELVIN * t * quadratic)
    per_unit = program.constant(heat.crac_watts_per_kelvin * KELVIN / arrays.cap_watts)
    cooling = program.total(per_unit * (returned - t) / cop)
    program.at_most(program.total(power) * (unit / arrays.cap_watts) + cooling, 1.0)


def _count_reward(
    program: SmoothProgram, arrays: FacilityArrays, states: CoreStates, times: tuple[Expression, Floats]
) -> None:
    """Add y, where cores slow each other down D, the rows done and slower, and the objective."""
    x, x0 = times
    count, tasks = len(states.core), len(arrays.rewards)
    d, d0 = _slowdowns(program, arrays, states, times)
    place = states.core * len(arrays.degradation) + arrays.class_of[states.task]
    parts, parts0 = (x, x0) if d is None else (x / d[place.tolist()], x0 / d0[place])
    used = np.isin(np.arange(tasks), states.task)
    flow = np.where(used, arrays.arrivals, 1.0)  # of the others nothing is done
    shares = arrays.speeds[states.task, states.column] / flow[states.task]
    done = program.sparse(states.task, np.arange(count), shares, (tasks, count)) @ parts
    done0 = np.bincount(states.task, weights=shares * parts0, minlength=tasks)
    earns = np.where(used, arrays.rewards * arrays.arrivals, 0.0)
    y = program.variables("y", np.zeros(tasks), np.where(used, 1.0, 0.0), np.clip(done0, 0.0, 0.9))
    program.at_most(y - done, 0.0)
    program.maximise(program.total(program.constant(earns / (earns.sum() or 1.0)) * y))


def _slowdowns(
    program: SmoothProgram, arrays: FacilityArrays, states: CoreStates, times: tuple[Expression, Floats]
) -> tuple[Expression | None, Floats]:
    """Add D and its rows; return it and its start."""
    if not arrays.degradation.any():
        return None, np.ones(0)
    x, x0 = times
    classes, count = len(arrays.degradation), len(states.core)
    nodes, cores = len(arrays.node_type), len(states.node)
    own_class = arrays.class_of[states.task]
    ones = np.arange(count), np.ones(count)
    by_core = (states.core * classes + own_class, *ones, (cores * classes, count))
    by_node = (states.node[states.core] * classes + own_class, *ones, (nodes * classes, count))
    core, harmed, harmer = (index.ravel() for index in np.indices((cores, classes, classes)))
    rows, cells = core * classes + harmed, arrays.degradation[harmed, harmer]
    kept = cells > 0
    rows, cells, core, harmer = rows[kept], cells[kept], core[kept], harmer[kept]
    of_node = (rows, states.node[core] * classes + harmer, cells, (cores * classes, nodes * classes))
    of_core = (rows, core * classes + harmer, cells, (cores * classes, cores * classes))
    slower = program.sparse(*of_node) @ (program.sparse(*by_node) @ x)
    slower -= program.sparse(*of_core) @ (program.sparse(*by_core) @ x)
    start = slowdowns(arrays, states.node, _class_times(arrays, states, x0)).ravel()
    d = program.variables("D", np.ones(len(start)), np.full(len(start), np.inf), start)
    program.equal(d - slower, 1.0)
    return d, start


def _class_times(arrays: FacilityArrays, states: CoreStates, times: Floats) -> Floats:
    """Return the part of its time that each core gives to each class."""
    classes = len(arrays.degradation)
    place = states.core * classes + arrays.class_of[states.task]
    return np.bincount(place, weights=times, minlength=len(states.node) * classes).astype(float).reshape(-1, classes)


def slowdowns(arrays: FacilityArrays, node: Integers, class_times: Floats) -> Floats:
    """Return how much longer tasks of each class take on each core: D, cores x classes."""
    of_node = np.zeros((len(arrays.node_type), class_times.shape[1]))
    np.add.at(of_node, node, class_times)
    return 1.0 + (of_node[node] - class_times) @ arrays.degradation.T


def read_solution(arrays: FacilityArrays, states: CoreStates, solution: SmoothSolution) -> ContinuousPoint:
    """Return outlets within their ranges, and times that are no more than every core has."""
    times = np.maximum(np.nan_to_num(solution["x"]), 0.0)
    busy = np.bincount(states.core, weights=times, minlength=len(states.node))
    outlets = np.clip(np.nan_to_num(solution["T"]) * KELVIN, arrays.outlet_low, arrays.outlet_high)
    return ContinuousPoint(outlets, times / np.maximum(busy, 1.0)[states.core])


def reward_rate(arrays: FacilityArrays, states: CoreStates, times: Floats) -> float:
    """Return what these times bring in a second, each core slowed down by the others."""
    slower = slowdowns(arrays, states.node, _class_times(arrays, states, times))
    rates = arrays.speeds[states.task, states.column] * times
    rates = rates / slower[states.core, arrays.class_of[states.task]]
    done = np.bincount(states.task, weights=rates, minlength=len(arrays.rewards))
    return float(arrays.rewards @ np.minimum(done, arrays.arrivals))


# How fast is a core at a power between its P-states? The vertices of the hull of its points (watts, speed).
#
# A core that divides its time between P-states, and idles for the rest, reaches every point below the concave
# hull of (0, 0) and the points of its P-states. So only the vertices of that hull are ever used: from
# the P-state that does most for a joule, below which idling in turn is better, up to the fastest.
@dataclass(frozen=True, slots=True)
class CoreStates:
    """The variables x: core, task type and column of the tables of each, by rising watts within a pair."""

    node: Integers  # of each core
    core: Integers
    task: Integers
    column: Integers


def vertices(speeds: Floats, watts: Floats) -> list[int]:
    """Return the states on the concave hull with idling, from the most efficient to the fastest.

    >>> vertices(np.array([1.0, 2.0, 2.5, 3.0]), np.array([9.0, 10.0, 16.0, 20.0]))
    [1, 3]
    """
    hull: list[int] = []
    for state in sorted(np.flatnonzero(speeds > 0).tolist(), key=lambda each: (watts[each], -speeds[each])):
        if hull and speeds[state] <= speeds[hull[-1]]:
            continue  # more watts, and no faster
        while hull:  # the last vertex goes if the way from the one before it (or from idling) passes above it
            last = hull[-1]
            before = (speeds[hull[-2]], watts[hull[-2]]) if len(hull) > 1 else (0.0, 0.0)
            rise, way = speeds[last] - before[0], watts[last] - before[1]
            if rise * (watts[state] - before[1]) > (speeds[state] - before[0]) * way:
                break
            hull.pop()
        hull.append(state)
    return hull


def _states_of_types(arrays: FacilityArrays) -> list[Integers]:
    """Return task types and columns (2 x states) of what a core of each node type can run that brings something."""
    earns = np.flatnonzero(arrays.rewards * arrays.arrivals > 0).tolist()
    found = []
    for j in range(len(arrays.cores)):
        own = np.flatnonzero(arrays.mode_type == j)
        states = [(i, own[c]) for i in earns for c in vertices(arrays.speeds[i, own], arrays.watts[i, own])]
        found.append(np.array(states, dtype=np.int64).reshape(-1, 2).T)
    return found


def core_states(arrays: FacilityArrays) -> CoreStates:
    """Return what each core can run that brings something, on the vertices of the hull."""
    node = np.repeat(np.arange(len(arrays.node_type)), arrays.cores[arrays.node_type])
    of_type = _states_of_types(arrays)
    of_core = [of_type[j] for j in arrays.node_type[node].tolist()]
    core = np.repeat(np.arange(len(node)), [states.shape[1] for states in of_core])
    return CoreStates(node, core, *np.concatenate(of_core, axis=1))


def count_variables(arrays: FacilityArrays) -> int:
    """Return how many variables the program has, without writing it down."""
    per_core = np.array([states.shape[1] for states in _states_of_types(arrays)])
    classes = len(arrays.degradation) if arrays.degradation.any() else 0
    cores = arrays.cores[arrays.node_type]
    others = len(arrays.node_type) + len(arrays.crac_airflow) + len(arrays.arrivals)
    return int(cores @ (per_core[arrays.node_type] + classes)) + others
