"""Makespan: the least time in which the machines can finish the bag, if tasks could be split.

Data       n_i    tasks of type i               m_j    machines of type j
           e_ijk  seconds in P-state k; an absent pair cannot run
Variables  y_ijk  share of the tasks of type i that run on machine type j in P-state k
           s      makespan as a share of T, where T is a makespan that surely suffices

    min   s
    s.t.  sum_jk y_ijk               =  1    for each task type i      (demand)
          sum_ik l_ijk y_ijk  -  s   <= 0    for each machine type j   (capacity)
          0 <= y <= 1,  0 <= s <= 1          where l_ijk = n_i e_ijk / (m_j T)

T is what comes of sending every task type whole to the machine type that finishes it soonest. Shares and
loads are pure numbers, so 10 tasks and 10^15 tasks give the same program. Where l > 1 the variable is
v = l y instead of y (no more than a share 1/l can be of use, since s <= 1); then every coefficient lies in
[0, 1].

Why it bounds: a real schedule of makespan t <= T gives the feasible point y = counts / n, s = t / T;
one with t > T is worse than what s <= 1 allows. It may not be reached, because tasks cannot be split.

Source: Tarplee, Maciejewski and Siegel, Energy-aware profit maximizing scheduling algorithm for
heterogeneous computing systems, 2014 (its lower bound, with energy left out).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.arrays import BagArrays, Floats, arrays_of
from lpsched.lp.program import LinearProgram, LpBuilder, LpSolution
from lpsched.relaxation import Relaxation

if TYPE_CHECKING:
    from lpsched.instance import Bag

NAME: Final = "makespan"
ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Scales:
    seconds: float  # T
    loads: Floats  # l: the load of all tasks of a type on a column, as a share of T
    units: Floats  # share of a task type that one unit of its variable stands for: 1, or 1 / l


def compile_lp(bag: Bag) -> LinearProgram:
    """Return the program above; its block names are the letters of the formulas."""
    arrays = arrays_of(bag)
    scales = _scales(arrays)

    lp = LpBuilder(NAME)
    y = lp.variables("y", upper=arrays.can_run.astype(float))
    s = lp.variables("s", upper=np.ones(1))
    lp.objective([(s, 1.0)])
    for i, task in enumerate(bag.task_types):
        lp.equal(f"demand[{task.name}]", [(y[i], scales.units[i])], 1.0)
    for j, machine in enumerate(bag.machine_types):
        own = arrays.machine_of == j
        load = scales.loads[:, own] * scales.units[:, own]
        lp.at_most(f"capacity[{machine.name}]", [(y[:, own], load), (s, -1.0)], 0.0)
    return lp.build()


def read_solution(bag: Bag, solution: LpSolution) -> Relaxation:
    """Undo the scaling: from variables back to shares of tasks and seconds."""
    arrays = arrays_of(bag)
    scales = _scales(arrays)
    prices = _sound_prices(arrays, scales, solution) / arrays.machine_counts
    return Relaxation(
        formulation=NAME,
        shares=np.clip(solution["y"], 0.0, None) * scales.units,
        makespan_seconds=float(solution["s"][0]) * scales.seconds,
        bound=solution.bound * scales.seconds,
        machine_prices=tuple(prices.tolist()),
    )


def _sound_prices(arrays: BagArrays, scales: _Scales, solution: LpSolution) -> Floats:
    """Return prices p_j of the capacity rows at which no task type is much cheaper than the solver says.

    With v_i the multiplier of demand i, the dual program asks p_j l_ijk >= v_i of every pair. A solver keeps
    that to its tolerance in its own units, v / l where l > 1: there a price of 0 instead of 1e-9 passes,
    but at a price of 0 task type i would cost nothing, and the certificate prove nothing. So raise p_j to
    the largest v_i / l_ijk among these pairs, where it is more than rounding: by no more than the tolerance.
    """
    tasks, machines = arrays.can_run.shape[0], len(arrays.machine_counts)
    v = np.maximum(solution.multipliers[:tasks], 0.0)[:, np.newaxis]
    prices = np.maximum(-solution.multipliers[tasks : tasks + machines], 0.0)
    least = np.where(scales.loads >= 1.0, v * scales.units, 0.0).max(axis=0)
    needed = np.zeros(machines)
    np.maximum.at(needed, arrays.machine_of, least)
    return np.where(needed > prices * (1.0 + ROUNDING), needed, prices)


def _scales(arrays: BagArrays) -> _Scales:
    n, e = arrays.task_counts[:, np.newaxis], arrays.seconds
    work = n * e / arrays.machine_counts[arrays.machine_of]  # seconds, spread over all machines of the type
    soonest = np.where(arrays.can_run, work, np.inf).argmin(axis=1)
    tasks = np.arange(len(soonest))
    enough = np.bincount(arrays.machine_of[soonest], weights=work[tasks, soonest])
    loads = work / enough.max()
    return _Scales(float(enough.max()), loads, np.where(loads > 1.0, 1.0 / np.maximum(loads, 1.0), 1.0))
