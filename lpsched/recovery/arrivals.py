"""A schedule of a day rounded from the prices that bound it, knowing the whole day.

At the best prices every task has its best column and start, and tasks that are worth more than their price
all run; but machines are whole. So tasks are put, one by one as they arrive, into the gap of a real machine
where their value at the prices is largest (`arrival_lines.py`); those that are not worth their price wait.
Then tasks that are left take the place of runs that are worth less, what is behind moves up, and gaps are
filled at lower and lower prices, as long as that brings anything and there is energy.

It says how much of the distance between a policy and the bound is the bound's own: what this schedule earns
can be earned, though not by anybody who does not know the future. No promise is made of how near it comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import require_compiler
from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.period import COMPLETED
from lpsched.recovery.arrival_lines import NOBODY, Lines, Market, insert, place, replace, squeeze
from lpsched.schedule.day import DaySchedule, PlacedTask
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.formulations.arrival_prices import ArrivalPrices
    from lpsched.instance.array_types import Integers
    from lpsched.instance.day import Day

FILLING: Final = ((1.0, 1.0), (0.5, 0.97), (0.5, 0.9), (0.2, 0.7), (0.1, 0.0))  # of w and of lambda
MOST_ROUNDS: Final = 6
FEW: Final = 0.001  # of all tasks: fewer exchanges are not worth another round
ROUNDING: Final = 1e-9  # of the energy is kept for it


def schedule_from_prices(
    day: Day, prices: ArrivalPrices, *, start: DaySchedule | None = None, watch: Watch | None = None
) -> DaySchedule:
    """Return a schedule of the day that is good at these prices.

    Parameters
    ----------
    start
        A valid schedule to begin with, instead of an empty one. What is returned is worth no
        less, its energy paid.

    Raises
    ------
    MissingExtraError
        If Numba is not installed.
    """
    require_compiler("the schedule that knows the whole day", "simulate")
    watch = watch if watch is not None else Watch()
    market, lines = _market(day, prices), _no_lines(day)
    order = np.arange(day.tasks)
    if start is not None:
        _line_up(day, start, market, lines)
    insert(market, lines, order)
    for _ in range(MOST_ROUNDS):
        if watch.is_over():
            break
        exchanged = replace(market, lines, order)
        squeeze(market, lines)
        insert(market, lines, order)
        if exchanged <= FEW * day.tasks:
            break
    for of_time, of_energy in FILLING[1:]:
        if watch.is_over():
            break
        insert(_cheaper(market, of_time, of_energy), lines, order)
        squeeze(market, lines)
    return _schedule(day, lines)


def _market(day: Day, prices: ArrivalPrices) -> Market:
    arrays, period = day_arrays(day), day.period
    types = np.arange(len(arrays.machine_counts))
    seconds = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=0)
    shortest = np.minimum.reduceat(seconds, np.searchsorted(arrays.mode_type, types))
    steps = prices.per_second * np.diff(prices.edges)
    return Market(
        arrays.arrivals,
        arrays.task_type,
        arrays.function,
        arrays.can_run,
        arrays.seconds,
        arrays.seconds * arrays.watts,
        arrays.mode_type,
        np.concatenate(([0], np.cumsum(arrays.machine_counts))),
        shortest,
        arrays.first_interval,
        arrays.after_seconds,
        arrays.starts_at,
        arrays.falls_to,
        arrays.rate_per_second,
        period.begins_at,
        period.ends_at,
        period.edge == COMPLETED,
        prices.edges,
        np.ascontiguousarray(prices.per_second),
        np.concatenate((np.zeros((len(types), 1)), np.cumsum(steps, axis=1)), axis=1),
        prices.per_second.min(axis=1),
        float(prices.per_joule),
    )


def _cheaper(market: Market, of_time: float, of_energy: float) -> Market:
    return market._replace(
        per_second=market.per_second * of_time,
        paid=market.paid * of_time,
        least=market.least * of_time,
        per_joule=market.per_joule * of_energy,
    )


def _no_lines(day: Day) -> Lines:
    tasks, energy = day.tasks, day.period.energy_constraint_joules

    def nobody(count: int) -> Integers:
        return np.full(count, NOBODY, dtype=np.int64)

    left = np.array([np.inf if energy is None else energy * (1.0 - ROUNDING)])
    return Lines(
        nobody(day.machines),
        nobody(tasks),
        np.zeros(tasks),
        np.zeros(tasks),
        nobody(tasks),
        nobody(tasks),
        left,
    )


def _line_up(day: Day, schedule: DaySchedule, market: Market, lines: Lines) -> None:
    """Put the runs of a schedule on their machines."""
    types = {machine.name: j for j, machine in enumerate(day.machine_types)}
    columns = {(j, day.p_state(c)): c for c, (j, _) in enumerate(day.modes)}
    last: dict[int, int] = {}
    for each in sorted(schedule.placed, key=lambda placed: placed.start_seconds):
        j = types[each.machine_type]
        machine = int(market.first_machine[j]) + each.machine - 1
        before = last.get(machine, NOBODY)
        free = max(day.arriving.arrival_seconds[each.task], lines.end[before] if before != NOBODY else 0.0)
        start = max(free, each.start_seconds)  # it may have been rounded
        place(lines, market, each.task, columns[j, each.p_state], machine, before, start)
        last[machine] = each.task


def _schedule(day: Day, lines: Lines) -> DaySchedule:
    first = np.concatenate(([0], np.cumsum([machine.count for machine in day.machine_types])))
    placed = []
    for task in np.flatnonzero(lines.column != NOBODY).tolist():
        j, _ = day.modes[int(lines.column[task])]
        number = int(lines.machine[task]) - int(first[j]) + 1
        name, state = day.machine_types[j].name, day.p_state(int(lines.column[task]))
        placed.append(PlacedTask(task, name, number, float(lines.start[task]), state))
    return DaySchedule(tuple(placed))
