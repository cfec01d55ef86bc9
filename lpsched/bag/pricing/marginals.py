"""Marginal values of a solve: derivatives of the bound."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag import profit
from lpsched.bag.certificate.bounds import Multipliers
from lpsched.bag.cost import cost_model
from lpsched.bag.relaxation import scales_of
from lpsched.bag.result import SAME, Worth
from lpsched.bag.search.curves import longest_task
from lpsched.errors import SolverError
from lpsched.lp.dual_face import dual_face
from lpsched.lp.program import require_optimal
from lpsched.model.fields import FrozenDict
from lpsched.units import KILO, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.problem import Relaxed
    from lpsched.bag.profit import Money
    from lpsched.bag.relaxation import Relaxation, Scales
    from lpsched.lp.program import LinearProgram, Solver
    from lpsched.model.arrays import Floats


# Marginal values: by how much the LP bound changes with one more machine, kilowatt or task, per unit of it.
#
# These are derivatives of the bound of the linear program, not limits of schedules: whole tasks move in
# steps, and what one more machine really changes is for `bag/pricing/one_more.py` to say. All commands, pages
# and studies show the numbers from here.
#
# The program here is that of split tasks, and of the longest task: no schedule is shorter, however many
# machines and tasks there are. A least makespan that is counted (`bag/relaxation.py`) is a row of the bound too,
# but it moves in steps with their numbers, and has no derivative.
#
# The bound is concave in the number of machines and in the cap, and bends where the program is degenerate.
# Then the derivative for one more is smaller than the one for one fewer: the least and the most that optimal
# multipliers say (`lp/dual_face.py`). With income per task q, one more task of a type changes the bound by r
# (q - v), v being the multiplier of its demand: it does not fall if q is at least the *largest* v, and with
# one fewer it does not fall if q is at most the *smallest*.
MOST_PAIRS: Final = 5_000  # of task types and columns: with more, only the solver's own multipliers

TOLERANCE: Final = 1e-8  # of multipliers, in the units of the program


def marginal_values(bag: Bag, relaxed: Relaxed | None, solver: Solver) -> Worth | None:
    """Return the derivatives of the LP bound on profit; `None` if the program was not solved to the end.

    Without a relaxation the bag is better not run: nothing is scarce then, and the derivatives are exact.
    """
    if relaxed is None:
        worth = worth_of(bag, Multipliers.zero(bag))
        return _with_fewer(worth, worth)
    if not relaxed.optimal:
        return None
    smooth, shortest = _smooth(bag, relaxed.relaxation, solver)
    worth = worth_of(bag, Multipliers(smooth.machine_prices, smooth.cap_price))
    if bag.seconds.rows * bag.seconds.columns > MOST_PAIRS:
        return worth
    try:
        return _two_sided(bag, smooth, worth, solver, shortest) or worth
    except SolverError:  # the solver's own multipliers will do
        return worth


def _smooth(bag: Bag, relaxation: Relaxation, solver: Solver) -> tuple[Relaxation, float]:
    """Return the relaxation without a counted least makespan; and the longest task's time, if that binds.

    It also binds where split tasks take just as long: there the bound bends.
    """
    scales, longest = scales_of(bag), longest_task(bag)
    if scales.shortest and relaxation.makespan_seconds <= scales.shortest * (1.0 + SAME):
        relaxation = _relaxation(scales.split(), solver)
    if relaxation.makespan_seconds < longest * (1.0 - SAME):
        relaxation = _relaxation(replace(scales, shortest=longest), solver)
    binds = relaxation.makespan_seconds <= longest * (1.0 + SAME)
    return relaxation, relaxation.makespan_seconds if binds else 0.0


def _relaxation(scales: Scales, solver: Solver) -> Relaxation:
    money = profit.money_of(scales)
    solution = require_optimal(solver.solve(profit.compile_lp(scales, money)))
    return profit.read_solution(scales, money, solution)


def worth_of(bag: Bag, prices: Multipliers) -> Worth:
    """Return the derivatives that one set of optimal multipliers gives."""
    scales = scales_of(bag)
    machines, kilowatt, tasks = profit.worths(
        scales, profit.money_of(scales), [float(each) for each in prices.machines], float(prices.cap)
    )
    return Worth(
        machine_types=FrozenDict(zip((each.name for each in bag.machine_types), machines, strict=True)),
        kilowatt_per_hour=kilowatt,
        task_types=FrozenDict(zip((each.name for each in bag.task_types), tasks, strict=True)),
    )


def _with_fewer(more: Worth, fewer: Worth) -> Worth:
    return Worth(more.machine_types, more.kilowatt_per_hour, more.task_types, one_fewer=fewer)


def _two_sided(bag: Bag, relaxation: Relaxation, worth: Worth, solver: Solver, shortest: float) -> Worth | None:
    """Return both derivatives; `None` where rounding leaves the optimal multipliers in doubt."""
    scales = replace(scales_of(bag, seconds=relaxation.makespan_seconds), shortest=shortest)
    money = profit.money_of(scales)
    program = profit.compile_lp(scales, money)
    x = np.append((relaxation.shares / scales.units).ravel(), 1.0)  # rho = 1: time is counted in the makespan
    face = dual_face(program, np.where(program.upper > 0, x, 0.0))
    if face is None:
        return None
    directions, constants = _derivatives(scales, money, program)
    ranges = face.ranges(directions, solver)
    machines, tasks = len(bag.machine_types), len(bag.task_types)
    own = [*worth.machine_types.values(), *worth.task_types.values()]
    own += [] if worth.kilowatt_per_hour is None else [worth.kilowatt_per_hour]
    sides = []
    sizes = np.abs(directions).max(axis=1).tolist()
    for value, found, constant, size in zip(own, ranges, constants, sizes, strict=True):
        assert value is not None, "the solver's own multipliers are finite"
        rounding = SAME * (abs(value) + abs(constant)) + TOLERANCE * size  # multipliers are of the order of 1
        side = _sides(value, found, constant, rounding)
        if side is None:
            return None
        sides.append(side)
    for i in range(machines, machines + tasks):  # one more task needs the largest v
        sides[i] = (sides[i][1], sides[i][0])
    more, fewer = (_worth(bag, [side[k] for side in sides]) for k in (0, 1))
    return _with_fewer(more, fewer)


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


def _worth(bag: Bag, values: list[float | None]) -> Worth:
    machines, tasks = len(bag.machine_types), len(bag.task_types)
    return Worth(
        FrozenDict({each.name: values[j] for j, each in enumerate(bag.machine_types)}),
        values[-1] if len(values) > machines + tasks else None,
        FrozenDict({each.name: values[machines + i] for i, each in enumerate(bag.task_types)}),
    )


def _derivatives(scales: Scales, money: Money, program: LinearProgram) -> tuple[Floats, list[float]]:
    """Return what machines, tasks and a kilowatt are worth, as linear functions of the multipliers.

    The formulas are those of `bag/profit.py`, with p_j = -y of the capacity, q = -y of the cap, and
    v_i = y of the demand, in the pure numbers of the program.
    """
    bag, arrays = scales.bag, scales.arrays
    tasks, machines, rows = len(bag.task_types), len(bag.machine_types), len(program.row_names)
    prices, hour = cost_model(bag), SECONDS_PER_HOUR
    directions = np.zeros((machines + tasks + (scales.cap is not None), rows))
    constants = [0.0] * len(directions)
    cap = program.row_names.index("cap") if scales.cap is not None else None
    for j, machine in enumerate(bag.machine_types):
        directions[j, tasks + j] = -hour * money.unit / scales.seconds / machine.count
        if scales.cap is not None and cap is not None:
            directions[j, cap] = hour * machine.idle_watts * money.unit / scales.cap.joules
        constants[j] = -hour * prices.energy_price * machine.idle_watts - prices.depreciation(machine)
    for i in range(tasks):
        directions[machines + i, i] = money.unit / float(arrays.task_counts[i])
    if scales.cap is not None and cap is not None:
        directions[-1, cap] = -KILO * hour * money.unit / scales.cap.joules / prices.meter
    return directions, constants
