"""The best choice of each task at given prices. Compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.bound.offers import LATE, ChoiceTable, Corners, Grid, Tables
from lpsched.online.utility import decayed as plain_decayed

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers


# The worth of a task that ends, or starts, a time t after its arrival, rounded up:
#     utility        of the time t from arrival to end, in intervals (`online/utility.py`)
#     minus a cost   of the time t from arrival to start, straight segments:  s - r (t - t_k)
# Neither ever rises. `tail` is the time between a run's start and the moment that matters: all of the run, or nothing.
# For what is added against rounding see "Rounding" below.
MARGIN: Final = 2.0**-40  # of the utility at which an interval starts, or of a cost
LATE_SHARE: Final = 2.0**-49
decayed = compiled_inside(plain_decayed)


@compiled_inside
def tail(tables: Tables, i: int, column: int) -> float:
    """Return how long after its start a run's worth is fixed."""
    return float(0.0 if tables.waits else tables.seconds[i, column])


@compiled_inside
def interval_at(tables: Tables, p: int, last: int, seconds: float) -> int:
    """Return the interval of a time, from interval p on; `last` is where the function ends."""
    while p + 1 < last and tables.after_seconds[p + 1] <= seconds:
        p += 1
    return p


@compiled_inside
def worth_up(tables: Tables, p: int, seconds: float) -> float:
    """Return the worth of a time in interval p, or a hair more."""
    since = max(0.0, seconds - tables.after_seconds[p])
    if tables.waits:
        rise = tables.rate_per_second[p] * since
        return float(tables.starts_at[p] - rise + MARGIN * (abs(tables.starts_at[p]) + rise))
    return decayed(tables.starts_at[p], tables.falls_to[p], tables.rate_per_second[p], since) + float(
        MARGIN * tables.starts_at[p]
    )


@compiled_inside
def latest_worth(tables: Tables, n: int, time: float) -> float:
    """Return the most utility of a task that ends at a time or later."""
    f, since = tables.function[n], time - tables.arrivals[n]
    since = max(0.0, since - LATE_SHARE * (abs(time) + tables.arrivals[n]))
    p = interval_at(tables, tables.first_interval[f], tables.first_interval[f + 1], since)
    return worth_up(tables, p, since)


REST: Final = 2.0**-46  # see "Rounding" below


@compiled_inside
def slack(tables: Tables, grid: Grid, i: int, column: int, worth: float) -> float:
    """Return what is added to a value, so that rounding cannot have made it too small."""
    return float(REST * abs(worth) + tables.width[i, column] * grid.hair[tables.mode_type[column]])


@compiled_inside
def bar(found: ChoiceTable, n: int) -> float:
    """Return the value above which a choice matters."""
    return float(found.floor[n] if found.is_list else found.best[n])


@compiled_inside
def take(  # noqa: PLR0913, PLR0917 - compiled
    found: ChoiceTable, n: int, column: int, value: float, worth: float, joules: float, start: float, end: float
) -> None:
    """Keep a choice if it is the best so far, or list it if it is above the floor."""
    if not found.is_list:
        if value > found.best[n]:
            found.best[n], found.column[n], found.start[n] = value, column, start
    elif value > found.floor[n]:
        k = found.number[0]
        if k < len(found.offer):
            found.offer[k], found.listed[k] = n, column
            found.near[k, 0], found.near[k, 1] = worth, joules
            found.near[k, 2], found.near[k, 3] = start, end
        found.number[0] = k + 1


# The cost of a run's machines, and its breakpoints. W_j(t) is what one machine of type j costs from the first slot to
# time t: a straight line within a slot. A run on q of them from tau to tau + e costs q (W_j(tau + e) - W_j(tau)), with
# breakpoints where it begins or ends at the edge of a slot. Where many tasks run equally long, breakpoints and costs
# are listed once for all of them.
@compiled_inside
def above(values: Floats, number: int, limit: float) -> int:
    """Return the place of the first of `number` rising values that is above a limit."""
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if values[middle] > limit:
            high = middle
        else:
            low = middle + 1
    return low


@compiled_inside
def spent_until(edges: Floats, prices: Floats, sums: Floats, time: float) -> float:
    """Return what one machine costs from the first slot to a time."""
    slots = len(prices)
    if time <= edges[0]:
        return 0.0
    if time >= edges[slots]:
        return float(sums[slots])
    k = above(edges, slots, time) - 1
    return float(sums[k] + prices[k] * (time - edges[k]))


@compiled_inside
def run_cost(tables: Tables, grid: Grid, i: int, column: int, start: float) -> float:
    """Return what all machines of a run cost."""
    j = tables.mode_type[column]
    later = spent_until(grid.edges, grid.prices[j], grid.sums[j], start + tables.seconds[i, column])
    cost = later - spent_until(grid.edges, grid.prices[j], grid.sums[j], start)
    return float(max(0.0, tables.width[i, column] * cost))


@compiled_inside
def least_cost(tables: Tables, grid: Grid, i: int, column: int, start: float) -> float:
    """Return what a whole run that starts then or later costs at least; quick rather than close."""
    edges = grid.edges
    slots = len(edges) - 1
    if start < edges[0] or tables.ends_at > edges[slots]:
        return 0.0  # time outside the slots is free
    k = min(above(edges, slots, start), slots) - 1
    lowest = grid.lowest[tables.mode_type[column], k]
    return float(tables.width[i, column] * tables.seconds[i, column] * lowest)


@compiled_inside
def first_whole(tables: Tables, i: int, column: int) -> float:
    """Return from when on a run may start so as to count wholly."""
    return float(tables.begins_at - tables.seconds[i, column] if tables.completed else tables.begins_at)


# Sums of two doubles whose rounding is known: Knuth's and Dekker's. Tasks that end with the period, or are due as it
# begins, are many where times are round numbers, and a hair would be all their utility.
@compiled_inside
def ends_after(start: float, seconds: float, time: float) -> bool:
    """Return whether a run ends after a time, by the exact sum."""
    end = start + seconds
    if end != time:
        return bool(end > time)
    added = end - start
    return bool((start - (end - added)) + (seconds - added) > 0.0)


@compiled_inside
def elapsed(since: float, until: float) -> float:
    """Return the time from one to a later one, the exact difference rounded down; else nothing above 0."""
    seconds = until - since
    return float(seconds if until - seconds >= since else np.nextafter(seconds, 0.0))


@compiled_inside
def find_corners(tables: Tables, grid: Grid, corners: Corners, i: int, column: int) -> None:
    """List the corners of a run's cost among the starts at which its share is 1, in order."""
    e = tables.seconds[i, column]
    first, last = first_whole(tables, i, column), tables.ends_at - e
    edges, size = grid.edges, len(grid.edges)
    starts, costs = corners.starts[column], corners.costs[column]
    count, one, other = 0, 0, 0
    while one < size or other < size:
        if other >= size or (one < size and edges[one] <= edges[other] - e):
            start = edges[one]
            one += 1
        else:
            start = edges[other] - e
            other += 1
        if first <= start < last:
            starts[count] = start
            count += 1
    if last < np.inf:
        starts[count] = last
        count += 1
    least, cheaper = corners.least[column], corners.cheaper[column]
    for k in range(count - 1, -1, -1):
        costs[k] = run_cost(tables, grid, i, column, starts[k])
        least[k] = costs[k] if k == count - 1 else min(costs[k], least[k + 1])
        following = k + 1
        while following < count and costs[following] >= costs[k]:
            following = cheaper[following]
        cheaper[k] = following
    corners.number[column] = count
    corners.cheapest[column] = 0.0
    if count and starts[0] <= first:
        corners.cheapest[column] = least[0]


# Runs over the begin or the end of the period, of which only a share counts; see below.
ENOUGH: Final = 1.0 + 2.0**-20  # more than all that is added to a utility


@compiled_inside
def next_corner(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, edges: Floats, left: float, last: float, e: float, breaks: float
) -> float:
    """Return the first start after another at which something has a corner, or the last of all."""
    right = min(last, breaks)
    one = above(edges, len(edges), left)
    if one < len(edges):
        right = min(right, edges[one])
    other = above(edges, len(edges), left + e)
    while other < len(edges) and edges[other] - e <= left:
        other += 1
    if other < len(edges):
        right = min(right, edges[other] - e)
    if left < tables.begins_at:
        right = min(right, tables.begins_at)
    if left < tables.ends_at - e:
        right = min(right, tables.ends_at - e)
    return float(right)


@compiled_inside
def cut_runs(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, grid: Grid, found: ChoiceTable, n: int, i: int, column: int, first: float, last: float
) -> None:
    """Look at all starts from first to last, where only a share of the run may count; prorated."""
    arrival, e = tables.arrivals[n], tables.seconds[i, column]
    joules = tables.joules[i, column]
    price = grid.per_joule * joules
    stop = tables.first_interval[tables.function[n] + 1]
    late = LATE * (abs(first) + abs(last) + arrival + e)
    off = min(1.0, 4.0 * late / e)
    since = e if first == arrival else max(e, first + e - arrival - late)
    p = interval_at(tables, tables.first_interval[tables.function[n]], stop, since)
    worth = utility = worth_up(tables, p, since)
    right = first  # the segment that ends with the very first start has no length
    while True:
        more = slack(tables, grid, i, column, worth + price) + off * (worth + price)
        if utility - price + more <= bar(found, n):
            return
        share = min(1.0, max(0.0, (min(right + e, tables.ends_at) - max(right, tables.begins_at)) / e))
        value = share * (worth - price) - run_cost(tables, grid, i, column, right) + more
        take(found, n, column, value, share * worth, share * joules, right, right + e)
        if right >= last:
            return
        while p + 1 < stop and arrival + (tables.after_seconds[p + 1] - e) <= right:
            p += 1
        left, utility = right, worth_up(tables, p, right + e - arrival - late)
        breaks = arrival + (tables.after_seconds[p + 1] - e) if p + 1 < stop else np.inf
        right = next_corner(tables, grid.edges, left, last, e, breaks)
        is_rising = left < tables.begins_at and right + e <= tables.ends_at + late
        worth = utility if is_rising else worth_up(tables, p, right + e - arrival - late)


@compiled_inside
def look_at_cut_runs(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, grid: Grid, found: ChoiceTable, n: int, i: int, least_price: float
) -> None:
    """Look at the runs of an offer of which only a share counts, if they can matter."""
    arrival, begin, end = tables.arrivals[n], tables.begins_at, tables.ends_at
    if tables.completed or arrival >= end:
        return
    least = bar(found, n) + least_price
    # What runs over the begin ends after it; what runs over the end, after that.
    over_begin = arrival < begin and ENOUGH * latest_worth(tables, n, begin) > least
    over_end = end < np.inf and ENOUGH * latest_worth(tables, n, end) > least
    if not (over_begin or over_end):
        return
    for column in range(tables.seconds.shape[1]):
        if tables.can_run[i, column]:
            e = tables.seconds[i, column]
            if over_begin:
                cut_runs(tables, grid, found, n, i, column, max(arrival, begin - e), begin)
            if over_end:
                cut_runs(tables, grid, found, n, i, column, max(arrival, begin, end - e), end)


# The best choice of a task at some prices: on which column, and from when on. A task that starts at tau on q machines
# of a column of machine type j, for e seconds and J joules, gains at most
#     v(tau)  =  share(tau) (U(tau + e - arrival) - lambda J)  -  q (W_j(tau + e) - W_j(tau)).
# To find the largest v, cut time at all breakpoints; between them U is convex and falls.
#    share 1           U convex, the rest straight: v is convex, so largest at an end of the segment
#    over the end      share (T - tau) / e falls in a straight line, and U falls convexly: their product is convex (f g
#                      has the second derivative f'' g + 2 f' g' + f g''), v largest at an end
#    over all of it    share (T - B) / e is constant: convex
#    over the begin    share rises, U falls: not convex. But U is at most what it is where the segment begins; with that
#                      in its place v is straight, so no more than it is at an end of the segment
# Breakpoints of v are: arrival; edges of slots; those less e; B, T, B - e and T - e; and where U breaks, arrival + t_k
# - e, where the limit from the left counts, because U jumps down. Where the share is 1, the cost of a run at the edges
# is the same for all tasks of a type. U falls, so of these only those matter at which the cost is less than at all
# earlier ones, and none once U - lambda J less the least cost to come is too little. Types with few tasks have no such
# list: from the arrival on, breakpoint follows breakpoint.
#
# A task whose waiting has a cost has - cost(tau - arrival) in place of U, straight between its breaks, and every share
# is 1: v is straight between breakpoints. Such a task must run, so its best may be less than 0.
#
# Rounding. Every value is rounded up: it is at least what the formula says in real numbers. With u = 2^-53,
#   times    sums of doubles as large as z are off by at most 3 u z: they, and the order of two breakpoints, are right
#            but for `late` = 2^-49 z. A time since arrival that is too early by that makes U no smaller. A start that
#            is off by as much changes the share by at most 4 late / e, and the cost by 4 late times the highest price;
#            there z need not be more than 12 times the last edge, because a run that starts or ends four times as late
#            as that is surely after the slots, and a start is computed without adding e to anything larger than the
#            start itself.
#            Whether the first start counts, and in which interval of U it ends, is exact (`ends_after`, `elapsed`); at
#            the begin of a prorated period it need not be, because there U just before counts as well
#   U        f + (s - f) exp(-x) is off by less than (3 + x exp(-x)) 2^-52 s: s 2^-40 is added. A cost s + r x is off by
#            less than 8 u (|s| + r x), what made s and r counted in: 2^-40 of that is added
#   W        a sum of S products is off by at most (S + 2) u of the whole sum: (S + 9) 2^-50 of it is added. The product
#            with q is off by u of itself, and all that is added is taken q times: S + 9 times 8 is more than S + 3
#   rest     a few more operations on U, lambda J and W: 2^-46 of U + lambda J is added
@compiled_inside
def whole_runs(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, grid: Grid, corners: Corners, found: ChoiceTable, n: int, i: int, column: int
) -> None:
    """Look at the starts at which a run's share is 1."""
    arrival, e = tables.arrivals[n], tables.seconds[i, column]
    first = max(arrival, first_whole(tables, i, column))
    if ends_after(first, e, tables.ends_at):
        return
    joules = tables.joules[i, column]
    f, off = tables.function[n], tail(tables, i, column)
    stop = tables.first_interval[f + 1]
    since = off
    if tables.completed:  # whatever is to count ends after the begin
        since = max(off, elapsed(arrival, tables.begins_at))
    elif first > arrival:
        since = max(off, first + off - arrival - LATE * (first + off + arrival))
    p = interval_at(tables, tables.first_interval[f], stop, since)
    utility = worth_up(tables, p, since)
    price = grid.per_joule * joules
    cost = run_cost(tables, grid, i, column, first)
    k, cheapest = 0, least_cost(tables, grid, i, column, first)
    if tables.is_often[i]:
        k = above(corners.starts[column], corners.number[column], first)
        cheapest = min(cost, corners.least[column, k]) if k < corners.number[column] else cost
    more = slack(tables, grid, i, column, abs(utility) + price)
    if utility - price - cheapest + more <= bar(found, n):
        return
    take(found, n, column, utility - price - cost + more, utility, joules, first, first + e)
    q = p
    while q + 1 < stop:  # to end just before utility breaks
        start = arrival + (tables.after_seconds[q + 1] - off)
        worth, late = tables.last[q], LATE * (abs(start) + arrival + e)
        more = slack(tables, grid, i, column, abs(worth) + price)
        if start > tables.ends_at - e + late or worth - price - cheapest + more <= bar(found, n):
            break
        if start >= first:
            value = worth - price - run_cost(tables, grid, i, column, start) + more
            take(found, n, column, value, worth, joules, start, start + e)
        q += 1
    if tables.is_often[i]:
        listed_corners(tables, grid, corners, found, n, i, column, k, p)
    else:
        corners_in_turn(tables, grid, found, n, i, column, first, cost, p)


@compiled_inside
def worth_at(tables: Tables, n: int, p: int, start: float, off: float) -> tuple[float, int]:
    """Return the most that a task is worth which starts then, and the interval of that, from p on."""
    arrival = tables.arrivals[n]
    since = start + off - arrival - LATE * (abs(start) + arrival + off)
    p = interval_at(tables, p, tables.first_interval[tables.function[n] + 1], since)
    return worth_up(tables, p, since), p


@compiled_inside
def listed_corners(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, grid: Grid, corners: Corners, found: ChoiceTable, n: int, i: int, column: int, k: int, p: int
) -> None:
    """Look at the listed corners from the k-th on, each cheaper than the one before."""
    e, joules, off = tables.seconds[i, column], tables.joules[i, column], tail(tables, i, column)
    price = grid.per_joule * joules
    starts, costs, least = corners.starts[column], corners.costs[column], corners.least[column]
    while k < corners.number[column]:
        worth, p = worth_at(tables, n, p, starts[k], off)
        more = slack(tables, grid, i, column, abs(worth) + price)
        if worth - price - least[k] + more <= bar(found, n):
            break
        take(found, n, column, worth - price - costs[k] + more, worth, joules, starts[k], starts[k] + e)
        k = corners.cheaper[column, k]


@compiled_inside
def corners_in_turn(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, grid: Grid, found: ChoiceTable, n: int, i: int, column: int, first: float, lowest: float, p: int
) -> None:
    """Look at the corners after the first start, those that cost less than all before."""
    e, joules, off = tables.seconds[i, column], tables.joules[i, column], tail(tables, i, column)
    price, last = grid.per_joule * joules, tables.ends_at - e
    edges, size = grid.edges, len(grid.edges)
    one, other = above(edges, size, first), above(edges, size, first + e)
    start = first
    while start < last and (one < size or other < size):  # after all of them a run costs nothing
        if one < size and (other >= size or edges[one] <= edges[other] - e):
            start = max(start, edges[one])
            one += 1
        else:
            start = max(start, edges[other] - e)
            other += 1
        start = min(start, last)
        worth, p = worth_at(tables, n, p, start, off)
        more = slack(tables, grid, i, column, abs(worth) + price)
        least = least_cost(tables, grid, i, column, start)
        if worth - price - least + more <= bar(found, n):
            break
        cost = run_cost(tables, grid, i, column, start)
        if cost < lowest:
            lowest = cost
            take(found, n, column, worth - price - cost + more, worth, joules, start, start + e)


@compiled_inside
def rank_columns(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, grid: Grid, corners: Corners, n: int, i: int, tops: Floats, ranked: Integers
) -> None:
    """Sort the columns of a task by what it can gain on them at most, and write how much that is."""
    f = tables.function[n]
    begun, stop = tables.first_interval[f], tables.first_interval[f + 1]
    for column in range(len(tops)):
        tops[column] = -np.inf
        if tables.can_run[i, column]:
            since, price = tail(tables, i, column), grid.per_joule * tables.joules[i, column]
            worth = worth_up(tables, interval_at(tables, begun, stop, since), since)
            cheapest = corners.cheapest[column]
            if not tables.is_often[i]:
                first = max(tables.arrivals[n], first_whole(tables, i, column))
                cheapest = least_cost(tables, grid, i, column, first)
            tops[column] = worth - price - cheapest + slack(tables, grid, i, column, abs(worth) + price)
        place = column  # sorted by hand: NumPy's own sort takes seconds to compile
        while place > 0 and tops[ranked[place - 1]] < tops[column]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = column


@compiled
def look(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables, grid: Grid, corners: Corners, found: ChoiceTable, order: Integers, task_type: Integers
) -> None:
    """Look at all choices of all offers; `order` sorts them by type, then by utility function."""
    columns = tables.seconds.shape[1]
    tops, ranked = np.empty(columns), np.arange(columns)
    last_type, last_function, least_price = -1, -1, 0.0
    for n in order:
        i, f = int(task_type[n]), int(tables.function[n])
        if i != last_type:
            least_price = np.inf
            for column in range(columns):
                if tables.can_run[i, column]:
                    least_price = min(least_price, grid.per_joule * tables.joules[i, column])
                    if tables.is_often[i]:
                        find_corners(tables, grid, corners, i, column)
        if not (tables.is_often[i] and i == last_type and f == last_function):
            rank_columns(tables, grid, corners, int(n), i, tops, ranked)
            last_type, last_function = i, f
        for place in range(columns):
            if tops[ranked[place]] <= bar(found, n):
                break
            whole_runs(tables, grid, corners, found, n, i, int(ranked[place]))
        look_at_cut_runs(tables, grid, found, n, i, least_price)
