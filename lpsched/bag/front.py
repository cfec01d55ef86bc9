"""Energy and makespan: the least of any weighted sum, if tasks could be split.

Data       n_i    tasks of type i                m_j    machines of type j
           e_ijk  seconds in P-state k           d_ijk  joules above idle, e_ijk (a_ijk - b_j)
           I      idle floor, sum_j m_j b_j      P      average-power cap at the machines, if there is one
           L      a makespan that no schedule of whole tasks undercuts (`relaxation.py`)
Variables  x_ijk  tasks of type i that run on machine type j in P-state k
           t      makespan

    min   wE E + wt t,   E = sum d_ijk x_ijk + I t
    s.t.  sum_jk x_ijk        =  n_i          for each task type i      (demand)
          sum_ik e_ijk x_ijk  <= m_j t        for each machine type j   (capacity)
          sum d_ijk x_ijk     <= (P - I) t                              (cap)
          x >= 0,  L <= t <= deadline                                   (whole)

The weights (0, 1) ask for the makespan, (1, 0) for the energy; what lies between them is the front. The
program is written in the pure numbers of `relaxation.py`: y = x / n in units u, s = t / T. No weights want a
t longer than the way with the least joules above idle takes: it would have less energy and be done sooner.

Why it bounds: all machines stay on until the end, so E = D(x) + I t exactly, and a real schedule is a
feasible point of the same value; a pair longer than the deadline is in none. The optimum may not be reached,
because tasks cannot be split.

Source: Tarplee, Maciejewski and Siegel, Energy-aware profit maximizing scheduling algorithm for
heterogeneous computing systems, 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.relaxation import DEAREST, SLACK, Point, Relaxation, Scales, scales_of
from lpsched.lp.program import LinearProgram, LpBuilder, LpSolution, LpStatus

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.arrays import Floats

NAME: Final = "front"


@dataclass(frozen=True, slots=True)
class Weights:
    """What a joule and a second count."""

    joules: float
    seconds: float


MAKESPAN: Final = Weights(0.0, 1.0)
ENERGY: Final = Weights(1.0, 0.0)


def scales_for(bag: Bag, weights: Weights, *, whole: bool = True) -> Scales:
    """Return scales whose T is the longest makespan that can be of use for these weights."""
    scales = scales_of(bag, whole=whole)
    return scales_of(bag, seconds=max(scales.seconds, longest_useful(scales, weights)), whole=whole)


def longest_useful(scales: Scales, weights: Weights | None = None) -> float:
    """Return the seconds beyond which no makespan is best, for these weights or (if none are given) for any.

    A makespan beyond that of the way with the least joules above idle is dominated. For given weights, a
    longer one also costs more than a way that is known, whatever its tasks take.
    """
    thrifty = scales.to_least(scales.loads if scales.joules is None else scales.joules)
    slowest = scales.makespan_of(thrifty)
    no_headroom = scales.cap is not None and scales.cap.headroom_watts <= 0  # only the thrifty way may keep it
    if weights is not None and weights.joules == 0 and not no_headroom:
        slowest = scales.seconds
    elif weights is not None and scales.joules is not None and not no_headroom:
        standing = weights.joules * scales.idle_floor_watts + weights.seconds
        soon = scales.to_least(scales.loads)
        more = weights.joules * max(0.0, float((scales.joules * (soon - thrifty)).sum()))
        if standing > 0:
            slowest = min(slowest, scales.makespan_of(soon) + more / standing)
    elif scales.cap is not None and scales.cap.headroom_watts < 0 and scales.joules is not None:
        slowest = max(slowest, float((scales.joules * thrifty).sum()) / scales.cap.headroom_watts)
    deadline = scales.bag.site.deadline_seconds
    return slowest if deadline is None else min(slowest, deadline)


def compile_lp(scales: Scales, weights: Weights, *, for_all_weights: bool = False) -> LinearProgram:
    """Return the program above; its block names are the letters of the formulas.

    With `for_all_weights`, its rows and limits hold whatever costs are put in later.
    """
    bag, arrays = scales.bag, scales.arrays
    longest = longest_useful(scales, None if for_all_weights else weights) / scales.seconds
    most = np.where(scales.is_told, np.minimum(1.0, longest / np.maximum(scales.loads, longest)), 0.0)
    deadline = bag.site.deadline_seconds
    last = SLACK * longest if deadline is None else min(SLACK * longest, deadline / scales.seconds)

    lp = LpBuilder(NAME)
    y = lp.variables("y", upper=SLACK * most / scales.units)
    s = lp.variables("s", upper=np.array([last]))
    y_costs, s_cost = costs_of(scales, weights)
    lp.objective([(y, y_costs * scales.units), (s, s_cost)])
    task, machine = np.arange(len(bag.task_types))[:, np.newaxis], np.arange(len(bag.machine_types))
    lp.equal_each(
        [f"demand[{each.name}]" for each in bag.task_types],
        [(task, y, np.where(scales.is_told, scales.units, 0.0))],
        1.0,
    )
    lp.at_most_each(
        [f"capacity[{each.name}]" for each in bag.machine_types],
        [
            (arrays.machine_of[np.newaxis], y, scales.loads * scales.units),
            (machine, np.broadcast_to(s, machine.shape), -1.0),
        ],
        0.0,
    )
    if scales.cap is not None:
        lp.at_most("cap", [(y, scales.cap.loads * scales.units), (s, -scales.cap.headroom)], 0.0)
    if scales.shortest:
        lp.at_most("whole", [(s, -1.0)], -scales.shortest / scales.seconds)
    return lp.build()


def costs_of(scales: Scales, weights: Weights) -> tuple[Floats, float]:
    """Return what a whole task type costs in each column, and what T seconds cost."""
    unit = unit_of(scales, weights)
    standing = weights.joules * scales.idle_floor_watts + weights.seconds
    if weights.joules == 0 or scales.joules is None:
        return np.zeros_like(scales.loads), standing * scales.seconds / unit
    return np.minimum(weights.joules / unit * scales.joules, DEAREST), standing * scales.seconds / unit


def all_costs(scales: Scales, weights: Weights) -> Floats:
    """Return the costs of a program's variables for other weights than it was compiled for."""
    y_costs, s_cost = costs_of(scales, weights)
    return np.append((y_costs * scales.units).ravel(), s_cost)


def unit_of(scales: Scales, weights: Weights) -> float:
    """Return the value of wE E + wt t that the program counts as 1: of the order of its optimum."""
    joules = scales.least_joules if weights.joules else 0.0
    return weights.joules * joules + weights.seconds * scales.seconds or 1.0


def point_of(scales: Scales, solution: LpSolution) -> Point:
    """Return where a solution sends the tasks, and what that takes."""
    return scales.point(scales.shares_of(solution["y"]))


def read_solution(scales: Scales, weights: Weights, solution: LpSolution) -> Relaxation:
    """Undo the scaling: from variables back to shares of tasks, seconds, joules and prices."""
    unit = unit_of(scales, weights)
    y_costs, s_cost = costs_of(scales, weights)
    p, q = scales.sound_prices(y_costs, solution)
    if scales.bag.site.deadline_seconds is None:
        p = scales.within_budget(y_costs, p, q, s_cost)
    optimal = solution.status is LpStatus.OPTIMAL
    return scales.relaxation(scales.shares_of(solution["y"]), p, q, unit, solution.bound * unit, optimal=optimal)
