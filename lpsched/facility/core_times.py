"""Core times: the most reward at fixed outlet temperatures, when each core and task type has its one P-state.

The last of three stages (`continuous_states.py` is the first).

Data       r_i, a_i            reward and arrivals per second of task type i
           s_ki, w_ki          speed and watts of task type i on core k in its P-state there
           PD(a, b)            degradation of class a by class b,  D_ka  the slowdown of class a on core k
           O_v, T, G, H, Gc, Hc, k    overhead watts, outlet temperatures and the heat map
Variables  f_ki                part of its time that core k gives to task type i
           z_i                 share of the arrivals that is done
           P_v                 kilowatts of node v above its overhead

    max   sum_i r_i a_i z_i
    s.t.  a_i z_i  <=  sum_k s_ki f_ki / D_ka,   a the class of i              (done)
          sum_i f_ki  <=  1                                                    (core)
          sum over the node's other cores l of PD(a, class of i) f_li  <=  D_ka - 1      (beside)
          P_v  =  sum over its cores of w_ki f_ki                              (power)
          sum_v P_v (1 + sum_u k_u Gc_uv / CoP_u)  <=  cap - what idle nodes take        (cap)
          G P  <=  R - t,       T - s  <=  Gc P  <=  R_c - s,       where it may bind    (node, unit, cools)

with the inlets t of the nodes and s of the units when all nodes are idle.

How cores slow each other down is not linear in f, so the slowdowns D of some known times are held: no class
that runs on a core may be slowed down more than it was. A class that does not run on a core has no row; if it
is now to run there, it is counted with the worst slowdown that there could be. So the known times are a point
of the program, and what it promises is at most what its own times earn. To solve it again with its own, lower
slowdowns can only gain; that is repeated until it gains no more.

Source: Oxley and others, section IV-C, third step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.facility.air import cop, crac_inlets, inlets, total_watts
from lpsched.lp.program import LpBuilder
from lpsched.units import KILO

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays, HeatMap
    from lpsched.lp.program import Indices, LinearProgram, LpSolution
    from lpsched.model.arrays import Floats, Integers

NAME: Final = "core_times"
RUNS: Final = 1e-9  # of a core's time; less is a solver's noise
SLACK: Final = 1.0 + 1e-6  # of the most that a node can draw


@dataclass(frozen=True, slots=True)
class CoreTimes:
    """A facility whose outlets and P-states are fixed, for K cores and I task types."""

    arrays: FacilityArrays
    heat: HeatMap
    outlets: Floats
    node: Integers  # K
    column: Integers  # K x I: of the tables, -1 where a core cannot run a task type

    @property
    def speeds(self) -> Floats:
        """Tasks per second of each core, K x I."""
        return self._cells(self.arrays.speeds)

    @property
    def watts(self) -> Floats:
        """Watts of each core, K x I."""
        return self._cells(self.arrays.watts)

    def _cells(self, table: Floats) -> Floats:
        tasks = np.arange(self.column.shape[1])
        return np.where(self.column >= 0, table[tasks, self.column], 0.0)

    def node_watts(self, times: Floats) -> Floats:
        """Return what the nodes draw above their overhead."""
        spent = (self.watts * times).sum(axis=1)
        return np.bincount(self.node, weights=spent, minlength=len(self.arrays.node_type)).astype(float)

    def slowdowns(self, times: Floats) -> Floats:
        """Return how much longer a task of each type takes on each core beside the others, K x I."""
        own = self.arrays.class_of
        harm = times @ self.arrays.degradation[:, own].T  # of each class, by each core
        of_node = np.zeros((len(self.arrays.node_type), harm.shape[1]))
        np.add.at(of_node, self.node, harm)
        slower: Floats = 1.0 + np.maximum(of_node[self.node] - harm, 0.0)[:, own]
        return slower

    def worst(self) -> Floats:
        """Return the slowdowns beside cores that always run what harms most, K x I."""
        others = self.arrays.cores[self.arrays.node_type[self.node]] - 1
        slower: Floats = 1.0 + others[:, None] * self.arrays.degradation.max(axis=1)[self.arrays.class_of]
        return slower

    def ceilings(self, times: Floats) -> Floats:
        """Return the slowdowns that are held: where a class runs its own, elsewhere the worst, K x I."""
        own = self.arrays.class_of
        runs = np.zeros((len(self.node), len(self.arrays.degradation)))
        np.add.at(runs.T, own, times.T)
        return np.where(runs[:, own] > RUNS, self.slowdowns(times), self.worst())

    def reward_rate(self, times: Floats) -> float:
        """Return what these times bring in a second."""
        done = (self.speeds * times / self.slowdowns(times)).sum(axis=0)
        return float(self.arrays.rewards @ np.minimum(done, self.arrays.arrivals))


def compile_lp(fixed: CoreTimes, known: Floats) -> LinearProgram:
    """Return the program above with the slowdowns of the known times; its blocks are the letters."""
    arrays, speeds = fixed.arrays, fixed.speeds
    cores, tasks = speeds.shape
    earns = arrays.rewards * arrays.arrivals
    useful = np.where((speeds > 0) & (earns > 0), 1.0, 0.0)
    most = fixed.node_watts(useful)
    ceilings = fixed.ceilings(known)

    lp = LpBuilder(NAME)
    f = lp.variables("f", useful)
    z = lp.variables("z", np.where(earns > 0, 1.0, 0.0))
    power = lp.variables("P", SLACK * most / KILO)
    lp.objective([(z, -earns / _all(earns))])
    rates = useful * speeds / ceilings / np.where(earns > 0, arrays.arrivals, 1.0)
    core, task = np.meshgrid(np.arange(cores), np.arange(tasks), indexing="ij")
    lp.at_most_each([f"done[{i}]" for i in range(tasks)], [(np.arange(tasks), z, 1.0), (task, f, -rates)], 0.0)
    lp.at_most_each([f"core[{k}]" for k in range(cores)], [(core, f, useful)], 1.0)
    _hold_slowdowns(lp, fixed, f, ceilings)
    nodes = np.arange(len(most))
    lp.equal_each(
        [f"power[{v}]" for v in nodes], [(nodes, power, 1.0), (fixed.node[core], f, -useful * fixed.watts / KILO)], 0.0
    )
    _limit_power(lp, fixed, power, most)
    return lp.build()


def _hold_slowdowns(lp: LpBuilder, fixed: CoreTimes, f: Indices, ceilings: Floats) -> None:
    """Add the rows beside, where a ceiling is below the worst."""
    arrays = fixed.arrays
    first = np.searchsorted(fixed.node, np.arange(len(arrays.node_type) + 1))
    one_of = {int(a): int(np.argmax(arrays.class_of == a)) for a in np.unique(arrays.class_of)}
    worst = fixed.worst()
    for k, v in enumerate(fixed.node.tolist()):
        others = np.delete(f[first[v] : first[v + 1]], k - first[v], axis=0)
        for a, i in one_of.items():
            if ceilings[k, i] < worst[k, i]:
                harm = arrays.degradation[a, arrays.class_of]
                terms = [(others, np.broadcast_to(harm, others.shape))]
                lp.at_most(f"beside[{k},{a}]", terms, float(ceilings[k, i]) - 1.0)


def _limit_power(lp: LpBuilder, fixed: CoreTimes, power: Indices, most: Floats) -> None:
    """Add the cap, and the rows of air that the most power could break."""
    arrays, heat, outlets = fixed.arrays, fixed.heat, fixed.outlets
    overhead = arrays.overhead_watts[arrays.node_type]
    per_kelvin = heat.crac_watts_per_kelvin / cop(arrays, outlets)
    weights = 1.0 + per_kelvin @ heat.crac_from_power
    idle = total_watts(arrays, heat, overhead, outlets)
    lp.at_most("cap", [(power, weights)], (arrays.cap_watts - idle) / KILO)
    units = crac_inlets(heat, overhead, outlets)
    for name, warms, room in (
        ("node", heat.from_power, arrays.redline - inlets(heat, overhead, outlets)),
        ("unit", heat.crac_from_power, arrays.crac_redline - units),
        ("cools", -heat.crac_from_power, units - outlets),
    ):
        for place in np.flatnonzero(np.maximum(warms, 0.0) @ most > room).tolist():
            lp.at_most(f"{name}[{place}]", [(power, warms[place] * KILO)], float(room[place]))


def read_solution(fixed: CoreTimes, solution: LpSolution) -> tuple[Floats, float]:
    """Return the times, of no core more than it has, and the reward rate that the program promises."""
    times = np.where(solution["f"] > RUNS, solution["f"], 0.0)
    times = times / np.maximum(times.sum(axis=1, keepdims=True), 1.0)
    arrays = fixed.arrays
    return times, -solution.value * _all(arrays.rewards * arrays.arrivals)


def _all(earns: Floats) -> float:
    return float(earns.sum()) or 1.0
