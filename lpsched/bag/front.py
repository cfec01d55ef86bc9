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
t longer than the way with the least joules above idle takes: that has less energy and is done sooner.

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

from lpsched.bag.relaxation import LARGEST_COST, SLACK, Point, Relaxation, Scaling, scaling_of
from lpsched.lp.program import LinearProgram, LpBuilder, LpSolution, LpStatus

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats

NAME: Final = "front"


@dataclass(frozen=True, slots=True)
class Weights:
    """What a joule and a second count."""

    joules: float
    seconds: float


MAKESPAN: Final = Weights(0.0, 1.0)
ENERGY: Final = Weights(1.0, 0.0)


def scaling_for(bag: Bag, weights: Weights, *, whole: bool = True) -> Scaling:
    """Return a scaling whose T is the longest makespan that can be of use for these weights."""
    scaling = scaling_of(bag, whole=whole)
    return scaling_of(bag, seconds=max(scaling.seconds, longest_useful(scaling, weights)), whole=whole)


def longest_useful(scaling: Scaling, weights: Weights | None = None) -> float:
    """Return the seconds beyond which no makespan is best, for these weights or (if none are given) for any.

    A makespan beyond that of the way with the least joules above idle is dominated. For given weights, a
    longer one also costs more than a way that is known, whatever its tasks take.
    """
    least_energy = scaling.to_least(scaling.loads if scaling.joules is None else scaling.joules)
    slowest = scaling.makespan_of(least_energy)
    no_headroom = scaling.cap is not None and scaling.cap.headroom_watts <= 0  # only the least energy may keep it
    if weights is not None and weights.joules == 0 and not no_headroom:
        slowest = scaling.seconds
    elif weights is not None and scaling.joules is not None and not no_headroom:
        fixed_rate = weights.joules * scaling.idle_floor_watts + weights.seconds
        soon = scaling.to_least(scaling.loads)
        more = weights.joules * max(0.0, float((scaling.joules * (soon - least_energy)).sum()))
        if fixed_rate > 0:
            slowest = min(slowest, scaling.makespan_of(soon) + more / fixed_rate)
    elif scaling.cap is not None and scaling.cap.headroom_watts < 0 and scaling.joules is not None:
        slowest = max(slowest, float((scaling.joules * least_energy).sum()) / scaling.cap.headroom_watts)
    deadline = scaling.bag.site.deadline_seconds
    return slowest if deadline is None else min(slowest, deadline)


def compile_lp(scaling: Scaling, weights: Weights, *, for_all_weights: bool = False) -> LinearProgram:
    """Return the program above, in its letters; with `for_all_weights`, rows and limits that hold for any costs."""
    bag, arrays = scaling.bag, scaling.arrays
    longest = longest_useful(scaling, None if for_all_weights else weights) / scaling.seconds
    most = np.where(scaling.in_model, np.minimum(1.0, longest / np.maximum(scaling.loads, longest)), 0.0)
    deadline = bag.site.deadline_seconds
    last = SLACK * longest if deadline is None else min(SLACK * longest, deadline / scaling.seconds)

    lp = LpBuilder(NAME)
    y = lp.variables("y", upper=SLACK * most / scaling.units)
    s = lp.variables("s", upper=np.array([last]))
    y_costs, s_cost = costs_of(scaling, weights)
    lp.objective([(y, y_costs * scaling.units), (s, s_cost)])
    demand, capacity = scaling.row_names
    task, machine, own = np.arange(len(demand))[:, np.newaxis], np.arange(len(capacity)), arrays.machine_of[np.newaxis]
    lp.equal_each(demand, [(task, y, np.where(scaling.in_model, scaling.units, 0.0))], 1.0)
    lp.at_most_each(capacity, [(own, y, scaling.loads * scaling.units), (machine, s, -1.0)], 0.0)
    if scaling.cap is not None:
        lp.at_most("cap", [(y, scaling.cap.loads * scaling.units), (s, -scaling.cap.headroom)], 0.0)
    if scaling.shortest:
        lp.at_most("whole", [(s, -1.0)], -scaling.shortest / scaling.seconds)
    return lp.build()


def costs_of(scaling: Scaling, weights: Weights) -> tuple[Floats, float]:
    """Return what a whole task type costs in each column, and what T seconds cost."""
    unit = unit_of(scaling, weights)
    fixed_rate = weights.joules * scaling.idle_floor_watts + weights.seconds
    if weights.joules == 0 or scaling.joules is None:
        return np.zeros_like(scaling.loads), fixed_rate * scaling.seconds / unit
    return np.minimum(weights.joules / unit * scaling.joules, LARGEST_COST), fixed_rate * scaling.seconds / unit


def all_costs(scaling: Scaling, weights: Weights) -> Floats:
    """Return the costs of a program's variables for other weights than it was compiled for."""
    y_costs, s_cost = costs_of(scaling, weights)
    return np.append((y_costs * scaling.units).ravel(), s_cost)


def unit_of(scaling: Scaling, weights: Weights) -> float:
    """Return the value of wE E + wt t that the program counts as 1: of the order of its optimum."""
    joules = scaling.least_joules if weights.joules else 0.0
    return weights.joules * joules + weights.seconds * scaling.seconds or 1.0


def point_of(scaling: Scaling, solution: LpSolution) -> Point:
    """Return where a solution sends the tasks, and what that takes."""
    return scaling.point(scaling.shares_of(solution["y"]))


def prices_of(scaling: Scaling, weights: Weights, multipliers: Floats) -> tuple[Floats, float]:
    """Return the prices of capacity and cap that the multipliers of a program's rows are."""
    y_costs, s_cost = costs_of(scaling, weights)
    p, q = scaling.dual_feasible_prices(y_costs, multipliers)
    if scaling.bag.site.deadline_seconds is None:
        p = scaling.within_budget(y_costs, p, q, s_cost)
    return p, q


def read_solution(scaling: Scaling, weights: Weights, solution: LpSolution) -> Relaxation:
    """Undo the scaling: from variables back to shares of tasks, seconds, joules and prices."""
    unit = unit_of(scaling, weights)
    p, q = prices_of(scaling, weights, solution.multipliers)
    optimal = solution.status is LpStatus.OPTIMAL
    return scaling.relaxation(scaling.shares_of(solution["y"]), p, q, unit, solution.bound * unit, optimal=optimal)
