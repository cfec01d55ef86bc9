"""A schedule with all tasks known, recovered from the prices of the bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.jit import compiled, compiled_inside, require_compiler
from lpsched.model.fields import column_numbers
from lpsched.online.arrays import day_arrays
from lpsched.online.parts import COMPLETED
from lpsched.online.schedule import DaySchedule, schedule_of_columns
from lpsched.online.utility import Curves, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.bound.offers import ArrivalPrices
    from lpsched.online.day import Day


# Runs lined up on machines, in gaps between other runs or in the place of one. Machines have numbers over all types;
# the runs on each are a chain by rising start, named by the numbers of their tasks. What a run brings, at prices w of
# machine time and lambda of energy:
#     worth   =  share (U(end - arrival) - lambda joules)             share: of the period that counts
#     value   =  worth - integral of w over the run - w times the gaps beside it that nothing could fill
# `insert` finds the gap on any machine where a task has the most value, from its arrival on and, if that is before the
# period, from where it begins to count; or, replacing, a run that can be taken out: there the task must be worth more
# than that run. Both look at STEPS runs ahead at most. `squeeze` lets runs start earlier where nothing is in the way.
STEPS: Final = 15
NO_RUN: Final = -1
LEAST_GAIN: Final = 1e-9  # for which runs are exchanged
utility_at = compiled_utility()


class Market(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """A day and its prices."""

    arrivals: Floats  # N
    types: Integers  # N
    functions: Integers  # N
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    joules: Floats  # T x C
    column_type: Integers  # C
    first_machine: Integers  # M + 1
    shortest: Floats  # M: seconds of the shortest run
    curves: Curves
    begins_at: float
    ends_at: float
    completed: bool
    edges: Floats  # S + 1
    per_second: Floats  # M x S
    paid: Floats  # M x (S + 1): the price of all time since the first edge
    least: Floats  # M: the lowest price of a second
    per_joule: float


class Lines(NamedTuple):
    """What runs where; column NO_RUN: the task does not run."""

    head: Integers  # machines: the first run
    following: Integers  # N
    start: Floats  # N
    end: Floats  # N
    column: Integers  # N
    machine: Integers  # N
    left: Floats  # 1: joules


@compiled_inside
def utility(market: Market, n: int, end: float) -> float:
    """Return what a task earns that ends then."""
    return utility_at(market.curves, market.functions[n], end - market.arrivals[n])


@compiled_inside
def share_of(market: Market, start: float, end: float) -> float:
    """Return which part of a run counts."""
    if market.completed:
        return 1.0 if market.begins_at < end <= market.ends_at else 0.0
    within = min(end, market.ends_at) - max(start, market.begins_at)
    return 1.0 if within >= end - start else max(0.0, within) / (end - start)


@compiled_inside
def price_until(market: Market, j: int, time: float) -> float:
    """Return what a machine of type j costs from the first edge until a time."""
    edges = market.edges
    if time <= edges[0]:
        return 0.0
    if time >= edges[-1]:
        return float(market.paid[j, -1])
    s = np.searchsorted(edges, time, side="right") - 1
    return float(market.paid[j, s] + market.per_second[j, s] * (time - edges[s]))


@compiled_inside
def brought(market: Market, n: int, c: int, start: float) -> tuple[float, float]:
    """Return what a run is worth, its energy paid, and its joules that count."""
    i = market.types[n]
    end, joules = start + market.seconds[i, c], float(market.joules[i, c])
    share = share_of(market, start, end)
    worth = share * (utility(market, n, end) - market.per_joule * joules) if share > 0.0 else 0.0
    return worth, joules * share


@compiled_inside
def begin_of(market: Market, n: int, c: int, turn: int) -> float:
    """Return from when on to look: the arrival, then where a run begins to count; infinite: not at all."""
    arrival = market.arrivals[n]
    if turn == 0:
        return float(arrival)
    if arrival >= market.begins_at:
        return math.inf
    if market.completed:
        seconds = float(market.seconds[market.types[n], c])
        return max(float(arrival), float(np.nextafter(market.begins_at, math.inf)) - seconds)
    return market.begins_at


@compiled_inside
def most_of(market: Market, n: int, c: int, start: float) -> float:
    """Return about the most value of a run that starts then or later; 0 if it would start too late."""
    if start >= market.ends_at:
        return 0.0
    i, seconds = market.types[n], float(market.seconds[market.types[n], c])
    time = float(market.least[market.column_type[c]]) * seconds
    return utility(market, n, start + seconds) - market.per_joule * float(market.joules[i, c]) - time


@compiled
def place(lines: Lines, market: Market, n: int, c: int, m: int, before: int, start: float) -> None:  # noqa: PLR0913, PLR0917 - compiled
    """Let a task run behind another one."""
    lines.start[n], lines.end[n] = start, start + market.seconds[market.types[n], c]
    lines.column[n], lines.machine[n] = c, m
    if before == NO_RUN:
        lines.following[n], lines.head[m] = lines.head[m], n
    else:
        lines.following[n], lines.following[before] = lines.following[before], n
    lines.left[0] -= brought(market, n, c, start)[1]


@compiled_inside
def take_out(lines: Lines, market: Market, before: int, n: int) -> None:
    """Let a task not run any more."""
    lines.left[0] += brought(market, n, lines.column[n], lines.start[n])[1]
    if before == NO_RUN:
        lines.head[lines.machine[n]] = lines.following[n]
    else:
        lines.following[before] = lines.following[n]
    lines.column[n] = NO_RUN


@compiled_inside
def ahead_of(lines: Lines, m: int, time: float) -> tuple[int, int]:
    """Return the last run on a machine that ends by a time, and the one behind it."""
    before, run = NO_RUN, lines.head[m]
    while run != NO_RUN and lines.end[run] <= time:
        before, run = run, lines.following[run]
    return before, run


@compiled_inside
def gap_on(  # noqa: PLR0913, PLR0917 - compiled
    market: Market, lines: Lines, n: int, c: int, m: int, time: float, best: float
) -> tuple[float, int, int, float]:
    """Return the value of a task in its first gap, NO_RUN, the run before it, and the start; `best`: not more."""
    seconds, steps, start = market.seconds[market.types[n], c], 0, time
    before, run = ahead_of(lines, m, time)
    while run != NO_RUN and start + seconds > lines.start[run] and steps < STEPS:
        before, start, run, steps = run, float(lines.end[run]), lines.following[run], steps + 1
    if steps == STEPS or most_of(market, n, c, start) <= best:
        return best, NO_RUN, before, start
    worth, joules = brought(market, n, c, start)
    if start >= market.ends_at or joules > lines.left[0]:
        return best, NO_RUN, before, start
    j, end, wasted = market.column_type[c], start + seconds, 0.0
    following = lines.head[m] if before == NO_RUN else lines.following[before]
    ahead = start if before == NO_RUN else start - lines.end[before]
    behind = math.inf if following == NO_RUN else lines.start[following] - end
    for beside in (ahead, behind):
        if beside < market.shortest[j]:  # no run could fill it
            wasted += beside
    begin = price_until(market, j, start)
    paid = price_until(market, j, end) - begin
    lost = price_until(market, j, start + wasted) - begin if wasted != 0.0 else 0.0
    return worth - paid - lost, NO_RUN, before, start


@compiled_inside
def exchange_on(  # noqa: PLR0913, PLR0917 - compiled
    market: Market, lines: Lines, n: int, c: int, m: int, time: float, best: float
) -> tuple[float, int, int, float]:
    """Return what is gained if a task replaces a run, that run, the one before it, and the start; likewise."""
    gone, behind, at, seconds = NO_RUN, NO_RUN, 0.0, market.seconds[market.types[n], c]
    before, run = ahead_of(lines, m, time)
    for _ in range(STEPS):
        start = time if before == NO_RUN else max(time, float(lines.end[before]))
        if run == NO_RUN or most_of(market, n, c, start) <= best:
            break
        after = lines.following[run]
        if after == NO_RUN or start + seconds <= lines.start[after]:
            lost, freed = brought(market, run, lines.column[run], lines.start[run])
            worth, joules = brought(market, n, c, start)
            if worth - lost > best and joules <= lines.left[0] + freed:
                best, gone, behind, at = worth - lost, run, before, start
        before, run = run, after
    return best, gone, behind, at


@compiled
def insert(market: Market, lines: Lines, order: Integers, replacing: bool) -> int:  # noqa: FBT001 - compiled
    """Give each idle task the gap of the most value, or the place of the best run to replace; return how many run."""
    found = 0
    for n in order:
        best, at = LEAST_GAIN if replacing else 0.0, 0.0
        column, machine, gone, behind = NO_RUN, NO_RUN, NO_RUN, NO_RUN
        for c in range(len(market.column_type) if lines.column[n] == NO_RUN else 0):
            j = market.column_type[c]
            for turn in range(2 if market.can_run[market.types[n], c] else 0):
                time = begin_of(market, n, c, turn)
                if most_of(market, n, c, time) <= best:
                    continue
                for m in range(market.first_machine[j], market.first_machine[j + 1]):
                    if replacing:
                        value, run, before, start = exchange_on(market, lines, n, c, m, time, best)
                    else:
                        value, run, before, start = gap_on(market, lines, n, c, m, time, best)
                    if value > best:
                        best, column, machine, gone, behind, at = value, c, m, run, before, start
        if column != NO_RUN:
            if gone != NO_RUN:
                take_out(lines, market, behind, gone)
            place(lines, market, n, column, machine, behind, at)
            found += 1
    return found


@compiled
def squeeze(market: Market, lines: Lines) -> None:
    """Let runs start as early as nothing is in the way, if they lose no worth and there is the energy."""
    for m in range(len(lines.head)):
        free, run = 0.0, lines.head[m]
        while run != NO_RUN:
            c, start = lines.column[run], max(free, market.arrivals[run])
            if start < lines.start[run]:
                worth, joules = brought(market, run, c, start)
                before, freed = brought(market, run, c, lines.start[run])
                if worth >= before and joules - freed <= lines.left[0]:
                    lines.start[run], lines.end[run] = start, start + market.seconds[market.types[run], c]
                    lines.left[0] -= joules - freed
            free, run = lines.end[run], lines.following[run]


# A schedule of a day rounded from the prices that bound it. At the best prices every task has its best column and
# start, and tasks that are worth more than their price all run; but machines are whole. So tasks are put, one by one as
# they arrive, into the gap of a real machine where their value at the prices is largest (`insert`). Then tasks that are
# left take the place of runs that are worth less, what is behind moves up, and gaps are filled at lower and lower
# prices, as long as that brings anything and there is energy.
#
# What this schedule earns can be earned, though only if the future is known: it shows how much of the gap between a
# policy and the bound is the bound's own. How near it comes is not guaranteed.
FILLING: Final = ((1.0, 1.0), (0.5, 0.97), (0.5, 0.9), (0.2, 0.7), (0.1, 0.0))  # of w and of lambda
MOST_ROUNDS: Final = 6
FEW: Final = 0.001  # of all tasks: fewer exchanges are not worth another round
ROUNDING: Final = 1e-9  # of the energy is kept for it


def schedule_from_prices(
    day: Day, prices: ArrivalPrices, *, start: DaySchedule | None = None, cancel: CancelToken | None = None
) -> DaySchedule:
    """Return a schedule of the day that is good at these prices; worth no less than the one to `start` with."""
    require_compiler("the schedule that knows the whole day", "simulate")
    cancel = cancel if cancel is not None else CancelToken()
    tasks, energy, market = day.tasks, day.period.energy_constraint_joules, _market(day, prices)
    head, *no_runs = (np.full(count, NO_RUN, dtype=np.int64) for count in (day.machines, tasks, tasks, tasks))
    left = np.array([np.inf if energy is None else energy * (1.0 - ROUNDING)])
    lines = Lines(head, no_runs[0], np.zeros(tasks), np.zeros(tasks), no_runs[1], no_runs[2], left)
    order = np.arange(tasks)
    if start is not None:
        _line_up(day, start, market, lines)
    insert(market, lines, order, False)
    for _ in range(MOST_ROUNDS):
        if cancel.expired():
            break
        exchanged = insert(market, lines, order, True)
        squeeze(market, lines)
        insert(market, lines, order, False)
        if exchanged <= FEW * tasks:
            break
    for of_time, of_energy in FILLING[1:]:
        if cancel.expired():
            break
        cheaper = {name: getattr(market, name) * of_time for name in ("per_second", "paid", "least")}
        insert(market._replace(**cheaper, per_joule=market.per_joule * of_energy), lines, order, False)
        squeeze(market, lines)
    ran = np.flatnonzero(lines.column != NO_RUN)
    columns = lines.column[ran]
    numbers = lines.machine[ran] - market.first_machine[market.column_type[columns]] + 1
    rows = zip(ran.tolist(), columns.tolist(), numbers.tolist(), lines.start[ran].tolist(), strict=True)
    return schedule_of_columns(day, rows)


def _market(day: Day, prices: ArrivalPrices) -> Market:
    arrays, period = day_arrays(day), day.period
    types = np.arange(len(arrays.machine_counts))
    seconds = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=0)
    shortest = np.minimum.reduceat(seconds, np.searchsorted(arrays.mode_type, types))
    paid = np.cumsum(prices.per_second * np.diff(prices.edges), axis=1)
    of_tasks = arrays.arrivals, arrays.task_type, arrays.function
    tables = arrays.can_run, arrays.seconds, arrays.seconds * arrays.watts, arrays.mode_type
    first = np.concatenate(([0], np.cumsum(arrays.machine_counts)))
    of_period = period.begins_at, period.ends_at, period.edge == COMPLETED
    of_time = np.ascontiguousarray(prices.per_second), np.concatenate((np.zeros((len(types), 1)), paid), axis=1)
    of_prices = prices.edges, *of_time, prices.per_second.min(axis=1), float(prices.per_joule)
    return Market._make((*of_tasks, *tables, first, shortest, arrays.curves, *of_period, *of_prices))


def _line_up(day: Day, schedule: DaySchedule, market: Market, lines: Lines) -> None:
    columns = column_numbers(day.machine_types)
    last: dict[int, int] = {}
    for each in sorted(schedule.placed, key=lambda placed: placed.start_seconds):
        column = columns[each.machine_type, each.p_state]
        machine = int(market.first_machine[market.column_type[column]]) + each.machine - 1
        before = last.get(machine, NO_RUN)
        free = max(day.arriving.arrival_seconds[each.task], lines.end[before] if before != NO_RUN else 0.0)
        start = max(free, each.start_seconds)  # it may have been rounded
        place(lines, market, each.task, column, machine, before, start)
        last[machine] = each.task
