"""From prices to a schedule that knows all tasks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.cancellation import Watch
from lpsched.jit import compiled, compiled_inside, require_compiler
from lpsched.online.arrays import day_arrays
from lpsched.online.parts import COMPLETED
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.utility import Curves, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.bound.offers import ArrivalPrices
    from lpsched.online.day import Day


# Runs lined up on machines, in gaps between other runs or in the place of one. Compiled.
#
# Machines have numbers over all types; the runs on each are a chain by rising start, named by the numbers of
# their tasks. What a run brings, at prices w of machine time and lambda of energy:
#
#     worth   =  share (U(end - arrival) - lambda joules)             share: of the period that counts
#     value   =  worth - integral of w over the run - w times the gaps beside it that nothing could fill
#
# `insert` looks in all machines for the gap where a task has the most value, from its arrival on and, if that
# is before the period, from where it begins to count; `replace` for a run that can make way: there the task
# must be worth more than that run. Both look at STEPS runs ahead at most. `squeeze` lets runs start earlier
# where nothing is in the way.
STEPS: Final = 15
NOBODY: Final = -1
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
    """What runs where; column NOBODY: the task does not run."""

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
def worth_of(market: Market, n: int, c: int, start: float) -> float:
    """Return what a run is worth, its energy paid."""
    i = market.types[n]
    end = start + market.seconds[i, c]
    share = share_of(market, start, end)
    if share <= 0.0:
        return 0.0
    return share * (utility(market, n, end) - market.per_joule * float(market.joules[i, c]))


@compiled_inside
def taken_by(market: Market, n: int, c: int, start: float) -> float:
    """Return the joules of a run that count."""
    i = market.types[n]
    return float(market.joules[i, c]) * share_of(market, start, start + market.seconds[i, c])


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
def wasted(market: Market, j: int, before: float, behind: float, start: float) -> float:
    """Return what the time beside a run costs that no run could fill."""
    seconds = 0.0
    if before < market.shortest[j]:
        seconds += before
    if behind < market.shortest[j]:
        seconds += behind
    if seconds == 0.0:
        return 0.0
    return price_until(market, j, start + seconds) - price_until(market, j, start)


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
    if before == NOBODY:
        lines.following[n], lines.head[m] = lines.head[m], n
    else:
        lines.following[n], lines.following[before] = lines.following[before], n
    lines.left[0] -= taken_by(market, n, c, start)


@compiled_inside
def take_out(lines: Lines, market: Market, before: int, n: int) -> None:
    """Let a task not run any more."""
    lines.left[0] += taken_by(market, n, lines.column[n], lines.start[n])
    if before == NOBODY:
        lines.head[lines.machine[n]] = lines.following[n]
    else:
        lines.following[before] = lines.following[n]
    lines.column[n] = NOBODY


@compiled_inside
def ahead_of(lines: Lines, m: int, time: float) -> tuple[int, int]:
    """Return the last run on a machine that ends by a time, and the one behind it."""
    before, run = NOBODY, lines.head[m]
    while run != NOBODY and lines.end[run] <= time:
        before, run = run, lines.following[run]
    return before, run


@compiled_inside
def gap_on(market: Market, lines: Lines, n: int, c: int, m: int, time: float) -> tuple[int, float]:  # noqa: PLR0913, PLR0917 - compiled
    """Return behind which run, and when, a task could start at the earliest; infinite: not soon."""
    seconds = market.seconds[market.types[n], c]
    before, run = ahead_of(lines, m, time)
    start = time
    for _ in range(STEPS):
        if run == NOBODY or start + seconds <= lines.start[run]:
            return before, start
        before, start, run = run, float(lines.end[run]), lines.following[run]
    return before, math.inf


@compiled_inside
def value_on(market: Market, lines: Lines, n: int, c: int, before: int, start: float, m: int) -> float:  # noqa: PLR0913, PLR0917 - compiled
    """Return the value of a run in a gap; 0 if there is not the energy for it."""
    if start >= market.ends_at or taken_by(market, n, c, start) > lines.left[0]:
        return 0.0
    j, end = market.column_type[c], start + market.seconds[market.types[n], c]
    following = lines.head[m] if before == NOBODY else lines.following[before]
    ahead = start if before == NOBODY else start - lines.end[before]
    behind = math.inf if following == NOBODY else lines.start[following] - end
    paid = price_until(market, j, end) - price_until(market, j, start)
    return worth_of(market, n, c, start) - paid - wasted(market, j, ahead, behind, start)


@compiled_inside
def best_gap(market: Market, lines: Lines, n: int) -> tuple[int, int, int, float]:
    """Return the column, machine, run behind and start of the most value for a task; column NOBODY: none."""
    best, column, machine, behind, at = 0.0, NOBODY, NOBODY, NOBODY, 0.0
    for c in range(len(market.column_type)):
        j = market.column_type[c]
        for turn in range(2 if market.can_run[market.types[n], c] else 0):
            time = begin_of(market, n, c, turn)
            if most_of(market, n, c, time) <= best:
                continue
            for m in range(market.first_machine[j], market.first_machine[j + 1]):
                before, start = gap_on(market, lines, n, c, m, time)
                if most_of(market, n, c, start) > best:
                    value = value_on(market, lines, n, c, before, start, m)
                    if value > best:
                        best, column, machine, behind, at = value, c, m, before, start
    return column, machine, behind, at


@compiled
def insert(market: Market, lines: Lines, order: Integers) -> int:
    """Give each task that does not run the gap of the most value, in this order; return how many got one."""
    found = 0
    for n in order:
        if lines.column[n] == NOBODY:
            column, machine, behind, at = best_gap(market, lines, n)
            if column != NOBODY:
                place(lines, market, n, column, machine, behind, at)
                found += 1
    return found


@compiled_inside
def exchange_on(  # noqa: PLR0913, PLR0917 - compiled
    market: Market, lines: Lines, n: int, c: int, m: int, time: float, best: float
) -> tuple[float, int, int, float]:
    """Return what is gained if a task replaces a run, that run, the one before it, and the start."""
    gone, behind, at, seconds = NOBODY, NOBODY, 0.0, market.seconds[market.types[n], c]
    before, run = ahead_of(lines, m, time)
    for _ in range(STEPS):
        start = time if before == NOBODY else max(time, float(lines.end[before]))
        if run == NOBODY or most_of(market, n, c, start) <= best:
            break
        after = lines.following[run]
        if after == NOBODY or start + seconds <= lines.start[after]:
            freed = taken_by(market, run, lines.column[run], lines.start[run])
            gain = worth_of(market, n, c, start) - worth_of(market, run, lines.column[run], lines.start[run])
            if gain > best and taken_by(market, n, c, start) <= lines.left[0] + freed:
                best, gone, behind, at = gain, run, before, start
        before, run = run, after
    return best, gone, behind, at


@compiled
def replace(market: Market, lines: Lines, order: Integers) -> int:
    """Let each task that does not run replace the run by which most is gained; return how often that was."""
    found = 0
    for n in order:
        if lines.column[n] != NOBODY:
            continue
        best, column, gone, behind, at = LEAST_GAIN, NOBODY, NOBODY, NOBODY, 0.0
        for c in range(len(market.column_type)):
            j = market.column_type[c]
            for turn in range(2 if market.can_run[market.types[n], c] else 0):
                time = begin_of(market, n, c, turn)
                if most_of(market, n, c, time) <= best:
                    continue
                for m in range(market.first_machine[j], market.first_machine[j + 1]):
                    gain, run, before, start = exchange_on(market, lines, n, c, m, time, best)
                    if run != NOBODY:
                        best, column, gone, behind, at = gain, c, run, before, start
        if column != NOBODY:
            m = lines.machine[gone]
            take_out(lines, market, behind, gone)
            place(lines, market, n, column, m, behind, at)
            found += 1
    return found


@compiled
def squeeze(market: Market, lines: Lines) -> None:
    """Let runs start as early as nothing is in the way, if they lose no worth and there is the energy."""
    for m in range(len(lines.head)):
        free, run = 0.0, lines.head[m]
        while run != NOBODY:
            c, start = lines.column[run], max(free, market.arrivals[run])
            if start < lines.start[run]:
                more = taken_by(market, run, c, start) - taken_by(market, run, c, lines.start[run])
                gains = worth_of(market, run, c, start) >= worth_of(market, run, c, lines.start[run])
                if gains and more <= lines.left[0]:
                    lines.start[run], lines.end[run] = start, start + market.seconds[market.types[run], c]
                    lines.left[0] -= more
            free, run = lines.end[run], lines.following[run]


# A schedule of a day rounded from the prices that bound it, knowing the whole day.
#
# At the best prices every task has its best column and start, and tasks that are worth more than their price
# all run; but machines are whole. So tasks are put, one by one as they arrive, into the gap of a real machine
# where their value at the prices is largest (`best_gap`); those that are not worth their price wait.
# Then tasks that are left take the place of runs that are worth less, what is behind moves up, and gaps are
# filled at lower and lower prices, as long as that brings anything and there is energy.
#
# It says how much of the distance between a policy and the bound is the bound's own: what this schedule earns
# can be earned, though not by anybody who does not know the future. No promise is made of how near it comes.
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
        arrays.curves,
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
        nobody(day.machines), nobody(tasks), np.zeros(tasks), np.zeros(tasks), nobody(tasks), nobody(tasks), left
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
