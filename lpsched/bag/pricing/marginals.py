"""Marginal values of a solve: derivatives of the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag import profit
from lpsched.bag.certificate.bounds import Multipliers
from lpsched.bag.relaxation import scales_of
from lpsched.bag.search.machine_counts import longest_task
from lpsched.errors import SolverError
from lpsched.lp.dual_face import dual_face
from lpsched.lp.program import require_optimal
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import bound_text, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.bag.model import Bag
    from lpsched.bag.profit import Money
    from lpsched.bag.questions import Relaxed
    from lpsched.bag.relaxation import Relaxation, Scales
    from lpsched.lp.program import LinearProgram, Solver
    from lpsched.model.arrays import Floats


# What one more is worth: the derivative of the LP bound, and what is proved about one whole machine or task.
#
# Worth      marginal values, from the multipliers of the linear program: no promise about schedules
# OneMore    between which two numbers the best possible changes, from bounds and verified schedules with and
#            without it

SAME: Final = 1e-6  # relative: derivatives no further apart are shown as one
KILOWATT: Final = "marginal value of one more kilowatt under the cap (LP)"
TWO_SIDED: Final = (
    "a / b: one more / one fewer. The linear program is degenerate there: its bound has two derivatives."
)
UNFINISHED: Final = "No marginal values: the linear program was not solved to the end."


def machine_heading(unit: str) -> str:
    """Return the heading above marginal values of machines; `unit` is that of the profit.

    >>> machine_heading("USD/hour"), task_heading("USD/hour")
    ('marginal value of one more (LP), USD/h', 'minimum price for one more task (LP), USD')
    """
    return f"marginal value of one more (LP), {_short(unit)}"


def task_heading(unit: str) -> str:
    """Return the heading above marginal prices of tasks."""
    return f"minimum price for one more task (LP), {unit.removesuffix('/hour')}"


def _short(unit: str) -> str:
    return unit.removesuffix("our") if unit.endswith("/hour") else unit


@dataclass(frozen=True, slots=True)
class Worth:
    """Marginal values of one more, in money: derivatives of the LP bound on profit.

    They say how the bound of the linear program begins to change, of split tasks and of the longest task, and
    promise nothing about schedules: whole tasks move in steps (`OneMore`). `None` instead of a number: the
    bound changes without end, since the limits leave no room for any more (or fewer).

    Attributes
    ----------
    machine_types
        One more machine of a type, per hour, after all that it costs.
    kilowatt_per_hour
        One more kilowatt under the cap, where it is measured; `None` without a cap.
    task_types
        The minimum price for one more task of a type.
    one_fewer
        The same for one fewer: larger for machines and kilowatts, smaller for tasks, where the program is
        degenerate, else equal. `None` if only one set of the solver's multipliers is known (large bags).
    """

    machine_types: FrozenDict[str, float | None]
    kilowatt_per_hour: float | None
    task_types: FrozenDict[str, float | None]
    one_fewer: Worth | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the marginal values as they appear in JSON."""
        fewer = self.one_fewer
        return _plain(self) | {"one_fewer": None if fewer is None else _plain(fewer)}

    def machine_text(self, name: str) -> str:
        """Return the marginal value of a machine type; two, where one fewer has another."""
        more, fewer = self.machine_types[name], self.one_fewer
        return number(more) if fewer is None else both_sides(more, fewer.machine_types[name])

    def task_text(self, name: str) -> str:
        """Return the minimum price of a task type; two, where one fewer has another."""
        more, fewer = self.task_types[name], self.one_fewer
        return number(more) if fewer is None else both_sides(more, fewer.task_types[name])

    def kilowatt_text(self) -> str:
        """Return the marginal value of a kilowatt; two, where one fewer has another."""
        more, fewer = self.kilowatt_per_hour, self.one_fewer
        return number(more) if fewer is None else both_sides(more, fewer.kilowatt_per_hour)

    @property
    def is_two_sided(self) -> bool:
        """Whether anything is worth more or less if there is one fewer."""
        texts = [self.kilowatt_text(), *map(self.machine_text, self.machine_types)]
        return any(" / " in text for text in [*texts, *map(self.task_text, self.task_types)])


def _plain(worth: Worth) -> dict[str, Any]:
    return {
        "machine_types": dict(worth.machine_types),
        "kilowatt_per_hour": worth.kilowatt_per_hour,
        "task_types": dict(worth.task_types),
    }


def both_sides(more: float | None, fewer: float | None) -> str:
    """Return one number, or two that differ.

    >>> both_sides(1.0, 1.0 + 1e-9), both_sides(1.0, 2.0), both_sides(1.0, None)
    ('1', '1 / 2', '1 / -')
    """
    if more == fewer:
        return number(more)
    if more is not None and fewer is not None and abs(more - fewer) <= SAME * max(abs(more), abs(fewer)):
        return number(more)
    return f"{number(more)} / {number(fewer)}"


@dataclass(frozen=True, slots=True)
class Between:
    """Two numbers between which another lies, rounded outwards; `None`: nothing is known on that side."""

    at_least: float | None
    at_most: float | None

    @classmethod
    def of(cls, at_least: Fraction, at_most: Fraction) -> Between:
        """Return the doubles around two exact numbers.

        >>> Between.of(Fraction(1, 3), Fraction(1, 2))
        Between(at_least=0.3333333333333333, at_most=0.5)
        """
        return cls(rounded_down(at_least), rounded_up(at_most))

    def texts(self) -> tuple[str, str]:
        """Return both, rounded outwards; a change of 0 is written as such."""
        return bound_text(self.at_least, upper=False), bound_text(self.at_most, upper=True)


def changes_between(before: tuple[float, float], after: tuple[float, float]) -> Between:
    """Return between what the change of the best possible lies; each of both is (value, bound).

    The best lies between value and bound, before and after. So of something to be maximised the change is at
    least (value after) - (bound before), and at most (bound after) - (value before); of something to be
    minimised, the other way round.

    >>> changes_between((18.0, 20.0), (12.0, 15.0))
    Between(at_least=-8.0, at_most=-3.0)
    """
    (old_value, old_bound), (value, bound) = before, after
    ends = Fraction(value) - Fraction(old_bound), Fraction(bound) - Fraction(old_value)
    return Between.of(min(ends), max(ends))


@dataclass(frozen=True, slots=True)
class OneMore:
    """What one whole machine or task more changes, all else as it is: proved on both sides.

    Attributes
    ----------
    unit
        Of the objective.
    machine_types
        Between what the change of the best possible lies, with one more machine of a type.
    task_types
        Likewise with one more task; for profit it is a price instead (`sells`). Below `at_least` no schedule
        with the task earns more than the best without it (proved); at `at_most` a verified schedule with it
        earns as much as the bound without it.
    effort
        How hard the schedules and bounds with one more were looked for.
    """

    unit: str
    machine_types: FrozenDict[str, Between] = field(default_factory=lambda: FrozenDict({}))
    task_types: FrozenDict[str, Between] = field(default_factory=lambda: FrozenDict({}))
    sells: bool = False
    effort: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the steps as they appear in JSON."""
        word = "break_even_price" if self.sells else "best_changes_by"
        return {
            "effort": self.effort,
            "machine_types": _words(self.machine_types, "best_changes_by"),
            "task_types": _words(self.task_types, word),
        }

    def machine_table(self) -> tuple[tuple[str, str, str], list[tuple[str, ...]]]:
        """Return headers and rows: a machine type, and between what the best possible changes."""
        changes = f"changes the best possible by at least (proved), {_short(self.unit)}"
        return ("one more machine", changes, "at most"), _rows(self.machine_types.items())

    def task_table(self) -> tuple[tuple[str, str, str], list[tuple[str, ...]]]:
        """Return headers and rows: a task type, and between what its break-even price lies."""
        first = f"changes the best possible by at least (proved), {_short(self.unit)}"
        if self.sells:
            first = f"break-even price at least (proved), {self.unit.removesuffix('/hour')}"
        return ("one more task", first, "at most"), _rows(self.task_types.items())


def _words(steps: FrozenDict[str, Between], word: str) -> dict[str, Any]:
    return {
        name: {f"{word}_at_least": each.at_least, f"{word}_at_most": each.at_most}
        for name, each in steps.items()
    }


def _rows(steps: Iterable[tuple[str, Between]]) -> list[tuple[str, ...]]:
    return [(name, *step.texts()) for name, step in steps]


# Marginal values: by how much the LP bound changes with one more machine, kilowatt or task, per unit of it.
#
# These are derivatives of the bound of the linear program, not limits of schedules: whole tasks move in
# steps, and what one more machine really changes is for `bag/pricing/one_more.py` to say. All commands, pages
# and studies show the numbers from here.
#
# The program here is that of split tasks, and of the longest task: no schedule is shorter, however many
# machines and tasks there are. A least makespan that is counted (`relaxation.py`) is a row of the bound too,
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


def _two_sided(
    bag: Bag, relaxation: Relaxation, worth: Worth, solver: Solver, shortest: float
) -> Worth | None:
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
    per_joule, hour = profit.energy_price(bag), profit.SECONDS_PER_HOUR
    directions = np.zeros((machines + tasks + (scales.cap is not None), rows))
    constants = [0.0] * len(directions)
    cap = program.row_names.index("cap") if scales.cap is not None else None
    for j, machine in enumerate(bag.machine_types):
        directions[j, tasks + j] = -hour * money.unit / scales.seconds / machine.count
        if scales.cap is not None and cap is not None:
            directions[j, cap] = hour * machine.idle_watts * money.unit / scales.cap.joules
        lost = machine.purchase_price / (machine.mean_hours_to_failure or math.inf)
        constants[j] = -hour * per_joule * machine.idle_watts - lost
    for i in range(tasks):
        directions[machines + i, i] = money.unit / float(arrays.task_counts[i])
    if scales.cap is not None and cap is not None:
        meter = bag.site.pue if bag.site.cap_measured_at == "facility" else 1.0
        directions[-1, cap] = -1000.0 * hour * money.unit / scales.cap.joules / meter
    return directions, constants
