"""Marginal values of a solve: derivatives of the bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag import profit
from lpsched.bag.certificate.bounds import Multipliers
from lpsched.bag.cost import cost_model
from lpsched.bag.relaxation import Relaxation, Scaling, scaling_of
from lpsched.bag.result import SAME, MarginalValues
from lpsched.bag.search.curves import longest_task
from lpsched.errors import SolverError
from lpsched.lp.program import LinearProgram, Solver, require_optimal
from lpsched.lp.sweep import dual_face
from lpsched.model.fields import FrozenDict
from lpsched.units import KILO, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats


# Derivatives of the LP bound with respect to machines, kilowatts and tasks, for all commands, pages and studies.
# They promise nothing about schedules: whole tasks move in steps (`bag/pricing/one_more.py`).
#
# The program is that of split tasks, and of the longest task: no schedule is shorter, whatever the number of
# machines and tasks. A least makespan that is counted (`bag/relaxation.py`) is a row of the bound too,
# but it moves in steps with their numbers, and has no derivative.
#
# The bound is concave in the number of machines and in the cap, and bends where the program is degenerate.
# Then the derivative for one more is smaller than the one for one fewer: the least and the most of all optimal
# multipliers (`lp/sweep.py`). With income per task q, one more task of a type changes the bound by r
# (q - v), v being the multiplier of its demand: it does not fall if q is at least the *largest* v, and with
# one fewer it does not fall if q is at most the *smallest*.
MOST_PAIRS: Final = 5_000  # of task types and columns: with more, only the solver's own multipliers
TOLERANCE: Final = 1e-8  # of multipliers, in the units of the program


def marginal_values(bag: Bag, relaxed: Relaxation | None, solver: Solver) -> MarginalValues | None:
    """Return the derivatives of the LP bound on profit; `None` if the program was not solved to the end.

    Without a relaxation it is best not to run: nothing is scarce then, and the derivatives are exact.
    """
    if relaxed is None:
        worth = _worth(bag, _values(bag, Multipliers.zero(bag)))
        return replace(worth, one_fewer=worth)
    if not relaxed.optimal:
        return None
    smooth, shortest = _smooth(bag, relaxed, solver)
    own = _values(bag, Multipliers(smooth.machine_prices, smooth.cap_price))
    if bag.seconds.rows * bag.seconds.columns <= MOST_PAIRS:
        with suppress(SolverError):  # the solver's own multipliers are used
            found = _two_sided(bag, smooth, own, solver, shortest)
            if found is not None:
                return found
    return _worth(bag, own)


def _smooth(bag: Bag, relaxation: Relaxation, solver: Solver) -> tuple[Relaxation, float]:
    """Return the relaxation without a counted least makespan; and the longest task's time, if that binds.

    It also binds where split tasks take just as long: there the bound bends.
    """
    scales, longest = scaling_of(bag), longest_task(bag)
    if scales.shortest and relaxation.makespan_seconds <= scales.shortest * (1.0 + SAME):
        relaxation = _relaxation(scales.split(), solver)
    if relaxation.makespan_seconds < longest * (1.0 - SAME):
        relaxation = _relaxation(replace(scales, shortest=longest), solver)
    binds = relaxation.makespan_seconds <= longest * (1.0 + SAME)
    return relaxation, relaxation.makespan_seconds if binds else 0.0


def _relaxation(scales: Scaling, solver: Solver) -> Relaxation:
    money = profit.profit_model(scales)
    solution = require_optimal(solver.solve(profit.compile_lp(scales, money)))
    return profit.read_solution(scales, money, solution)


def _values(bag: Bag, prices: Multipliers) -> list[float]:
    """Return the derivatives that one set of optimal multipliers gives: of machines, tasks, a kilowatt under a cap."""
    scales, multipliers = scaling_of(bag), [float(each) for each in prices.machines]
    machines, kilowatt, tasks = profit.shadow_values(
        scales, profit.profit_model(scales), multipliers, float(prices.cap)
    )
    return [*machines, *tasks, *([] if kilowatt is None else [kilowatt])]


def _worth(bag: Bag, values: Sequence[float | None]) -> MarginalValues:
    names = [*(each.name for each in bag.machine_types), *(each.name for each in bag.task_types)]
    machines, named = len(bag.machine_types), list(zip(names, values, strict=False))
    kilowatt = values[-1] if len(values) > len(names) else None
    return MarginalValues(FrozenDict(named[:machines]), kilowatt, FrozenDict(named[machines:]))


def _two_sided(
    bag: Bag, relaxation: Relaxation, own: list[float], solver: Solver, shortest: float
) -> MarginalValues | None:
    """Return both derivatives; `None` where rounding leaves the optimal multipliers in doubt."""
    scales = replace(scaling_of(bag, seconds=relaxation.makespan_seconds), shortest=shortest)
    money = profit.profit_model(scales)
    program = profit.compile_lp(scales, money)
    x = np.append((relaxation.shares / scales.units).ravel(), 1.0)  # rho = 1: time is counted in the makespan
    face = dual_face(program, np.where(program.upper > 0, x, 0.0))
    if face is None:
        return None
    directions, constants = _derivatives(scales, money, program)
    ranges = face.ranges(directions, solver)
    machines, tasks = len(bag.machine_types), len(bag.task_types)
    sides = []
    sizes = np.abs(directions).max(axis=1).tolist()
    for value, found, constant, size in zip(own, ranges, constants, sizes, strict=True):
        rounding = SAME * (abs(value) + abs(constant)) + TOLERANCE * size  # multipliers are of the order of 1
        side = _sides(value, found, constant, rounding)
        if side is None:
            return None
        sides.append(side)
    for i in range(machines, machines + tasks):  # one more task needs the largest v
        sides[i] = (sides[i][1], sides[i][0])
    more, fewer = zip(*sides, strict=True)
    return replace(_worth(bag, more), one_fewer=_worth(bag, fewer))


def _sides(
    value: float, found: tuple[float | None, float | None], constant: float, rounding: float
) -> tuple[float | None, float | None] | None:
    """Return the least and the most; the solver's value where they agree; `None` if it is not between."""
    low, high = found
    first = -math.inf if low is None else low + constant
    last = math.inf if high is None else high + constant
    if not first - rounding <= value <= last + rounding:
        return None
    if last - first <= rounding:
        return value, value
    return (None if low is None else first), (None if high is None else last)


def _derivatives(scales: Scaling, money: profit.ProfitModel, program: LinearProgram) -> tuple[Floats, list[float]]:
    """Return the marginal values of machines, tasks and a kilowatt as linear functions of the multipliers.

    The formulas are those of `bag/profit.py`, with p_j = -y of the capacity, q = -y of the cap, and
    v_i = y of the demand, in the pure numbers of the program.
    """
    bag = scales.bag
    tasks, machines, rows = len(bag.task_types), len(bag.machine_types), len(program.row_names)
    prices, hour = cost_model(bag), SECONDS_PER_HOUR
    directions = np.zeros((machines + tasks + (scales.cap is not None), rows))
    constants = [0.0] * len(directions)
    for j, machine in enumerate(bag.machine_types):
        directions[j, tasks + j] = -hour * money.unit / scales.seconds / machine.count
        constants[j] = -hour * prices.energy_price * machine.idle_watts - prices.depreciation(machine)
    for i in range(tasks):
        directions[machines + i, i] = money.unit / float(scales.arrays.task_counts[i])
    if scales.cap is not None:
        cap = program.row_names.index("cap")
        for j, machine in enumerate(bag.machine_types):
            directions[j, cap] = hour * machine.idle_watts * money.unit / scales.cap.joules
        directions[-1, cap] = -KILO * hour * money.unit / scales.cap.joules / prices.meter
    return directions, constants
