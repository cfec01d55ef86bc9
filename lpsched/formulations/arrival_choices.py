"""What is the best that a task can do at some prices? On which column, and from when on. Compiled.

A task that starts at tau on a column of machine type j, for e seconds and J joules, gains at most

    v(tau)  =  share(tau) (U(tau + e - arrival) - lambda J)  -  (W_j(tau + e) - W_j(tau)),

where W_j(t) is what a machine of type j costs from the first slot to time t: a straight line within a slot.
Where is v largest? Cut time where something has a corner; between corners U is convex and falls.

    share 1           U convex, the rest straight: v is convex, so largest at an end of the piece
    over the end      share (T - tau) / e falls in a straight line, and so does U, convexly: their product is
                      convex (f g has the second derivative f'' g + 2 f' g' + f g''), v largest at an end
    over all of it    share (T - B) / e is constant: convex
    over the begin    share rises, U falls: no. But U is at most what it is where the piece begins; with that
                      in its place v is straight, so no more than it is at an end of the piece

Corners of v are: arrival; edges of slots; those less e; B, T, B - e and T - e; and where U breaks, arrival +
t_k - e, where the limit from the left counts, because U jumps down. Where the share is 1, what a run costs at
the edges is the same for all tasks of a type. U falls, so of these corners only those matter at which the
cost is less than at all earlier ones, and none once U - lambda J less the least cost to come is too little.

Rounding. Every value is rounded up: it is at least what the formula says in real numbers. With u = 2^-53,

    times    sums of doubles as large as z are off by at most 3 u z: they, and the order of two corners, are
             right but for `late` = 2^-49 z. A time since arrival that is so much too early makes U no
             smaller. A start that is off by as much changes the share by at most 4 late / e, and the cost by
             4 late times the highest price; there z need not be more than 12 times the last edge, because
             whoever starts or ends four times as late as that is surely after the slots, and a start is
             worked out without adding e to anything larger than the start itself
    U        f + (s - f) exp(-x) is off by less than (3 + x exp(-x)) 2^-52 s: s 2^-40 is added
    W        a sum of S products is off by at most (S + 2) u of the whole sum: (S + 9) 2^-50 of it is added
    rest     a few more operations on U, lambda J and W: 2^-46 of U + lambda J is added
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import compiled

if TYPE_CHECKING:
    from lpsched.formulations.arrival_tables import Corners, Found, Grid, Tables
    from lpsched.instance.arrays import Floats, Integers

MARGIN: Final = 2.0**-40  # of the utility at which an interval starts
LATE: Final = 2.0**-49
REST: Final = 2.0**-46
ENOUGH: Final = 1.0 + 2.0**-20  # more than all that is added to a utility


@compiled
def above(values: Floats, number: int, limit: float) -> int:
    """Return the place of the first of so many rising values that is above a limit."""
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if values[middle] > limit:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def spent_until(edges: Floats, prices: Floats, sums: Floats, time: float) -> float:
    """Return what a machine costs from the first slot to a time."""
    slots = len(prices)
    if time <= edges[0]:
        return 0.0
    if time >= edges[slots]:
        return float(sums[slots])
    k = above(edges, slots, time) - 1
    return float(sums[k] + prices[k] * (time - edges[k]))


@compiled
def run_cost(grid: Grid, j: int, start: float, end: float) -> float:
    """Return what a machine of a type costs from start to end."""
    later = spent_until(grid.edges, grid.prices[j], grid.sums[j], end)
    return max(0.0, later - spent_until(grid.edges, grid.prices[j], grid.sums[j], start))


@compiled
def interval_at(tables: Tables, p: int, last: int, seconds: float) -> int:
    """Return the interval of a time, from interval p on; `last` is where the function ends."""
    while p + 1 < last and tables.after[p + 1] <= seconds:
        p += 1
    return p


@compiled
def utility_up(tables: Tables, p: int, seconds: float) -> float:
    """Return the utility of a time in interval p, or a hair more."""
    since = max(0.0, seconds - tables.after[p])
    fall = (tables.high[p] - tables.low[p]) * math.exp(-tables.rate[p] * since)
    return float(tables.low[p] + fall + MARGIN * tables.high[p])


@compiled
def slack(grid: Grid, j: int, worth: float) -> float:
    """Return what is added to a value, so that rounding cannot have made it too small."""
    return float(REST * worth + grid.hair[j])


@compiled
def find_corners(tables: Tables, grid: Grid, corners: Corners, i: int, column: int) -> None:
    """List the corners of a run's cost among the starts at which its share is 1, in order."""
    e, j = tables.seconds[i, column], tables.column_type[column]
    first = tables.begin - e if tables.completed else tables.begin
    last = tables.end - e
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
        costs[k] = run_cost(grid, j, starts[k], starts[k] + e)
        least[k] = costs[k] if k == count - 1 else min(costs[k], least[k + 1])
        following = k + 1
        while following < count and costs[following] >= costs[k]:
            following = cheaper[following]
        cheaper[k] = following
    corners.number[column] = count
    corners.cheapest[column] = 0.0
    if count and starts[0] <= first:
        corners.cheapest[column] = least[0]


@compiled
def bar(found: Found, n: int) -> float:
    """Return what a choice must be worth to matter."""
    return float(found.floor[n] if found.is_list else found.best[n])


@compiled
def take(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    found: Found, n: int, column: int, value: float, worth: float, joules: float, start: float, end: float
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


@compiled
def whole_runs(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, corners: Corners, found: Found, n: int, i: int, column: int
) -> None:
    """Look at the starts at which a run's share is 1."""
    arrival, e = tables.arrivals[n], tables.seconds[i, column]
    begin = tables.begin - e if tables.completed else tables.begin
    first = max(arrival, begin)
    if first > tables.end - e + (LATE * (tables.end + e) if tables.end < np.inf else 0.0):
        return
    j, joules = tables.column_type[column], tables.joules[i, column]
    f = tables.function[n]
    stop = tables.first_interval[f + 1]
    since = e if first == arrival else first + e - arrival - LATE * (first + e + arrival)
    p = interval_at(tables, tables.first_interval[f], stop, since)
    utility = utility_up(tables, p, since)
    price = grid.per_joule * joules
    starts, costs, least = corners.starts[column], corners.costs[column], corners.least[column]
    count = corners.number[column]
    k = above(starts, count, first)
    cost = run_cost(grid, j, first, first + e)
    cheapest = min(cost, least[k]) if k < count else cost
    more = slack(grid, j, utility + price)
    if utility - price - cheapest + more <= bar(found, n):
        return
    take(found, n, column, utility - price - cost + more, utility, joules, first, first + e)
    q = p
    while q + 1 < stop:  # to end just before utility breaks
        start = arrival + (tables.after[q + 1] - e)
        worth, late = tables.last[q], LATE * (abs(start) + arrival + e)
        more = slack(grid, j, worth + price)
        if start > tables.end - e + late or worth - price - cheapest + more <= bar(found, n):
            break
        if start >= first:
            value = worth - price - run_cost(grid, j, start, start + e) + more
            take(found, n, column, value, worth, joules, start, start + e)
        q += 1
    while k < count:
        late = LATE * (abs(starts[k]) + arrival + e)
        since = starts[k] + e - arrival - late
        p = interval_at(tables, p, stop, since)
        worth = utility_up(tables, p, since)
        more = slack(grid, j, worth + price)
        if worth - price - least[k] + more <= bar(found, n):
            break
        take(found, n, column, worth - price - costs[k] + more, worth, joules, starts[k], starts[k] + e)
        k = corners.cheaper[column, k]


@compiled
def next_corner(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
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
    if left < tables.begin:
        right = min(right, tables.begin)
    if left < tables.end - e:
        right = min(right, tables.end - e)
    return float(right)


@compiled
def cut_runs(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, found: Found, n: int, i: int, column: int, first: float, last: float
) -> None:
    """Look at all starts from first to last, where only a share of the run may count; prorated."""
    arrival, e = tables.arrivals[n], tables.seconds[i, column]
    j, joules = tables.column_type[column], tables.joules[i, column]
    price = grid.per_joule * joules
    stop = tables.first_interval[tables.function[n] + 1]
    late = LATE * (abs(first) + abs(last) + arrival + e)
    off = min(1.0, 4.0 * late / e)
    since = e if first == arrival else first + e - arrival - late
    p = interval_at(tables, tables.first_interval[tables.function[n]], stop, since)
    worth = utility = utility_up(tables, p, since)
    right = first  # the piece that ends with the very first start has no length
    while True:
        more = slack(grid, j, worth + price) + off * (worth + price)
        if utility - price + more <= bar(found, n):
            return
        share = min(1.0, max(0.0, (min(right + e, tables.end) - max(right, tables.begin)) / e))
        value = share * (worth - price) - run_cost(grid, j, right, right + e) + more
        take(found, n, column, value, share * worth, share * joules, right, right + e)
        if right >= last:
            return
        while p + 1 < stop and arrival + (tables.after[p + 1] - e) <= right:
            p += 1
        left, utility = right, utility_up(tables, p, right + e - arrival - late)
        breaks = arrival + (tables.after[p + 1] - e) if p + 1 < stop else np.inf
        right = next_corner(tables, grid.edges, left, last, e, breaks)
        is_rising = left < tables.begin and right + e <= tables.end + late
        worth = utility if is_rising else utility_up(tables, p, right + e - arrival - late)


@compiled
def rank_columns(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, corners: Corners, i: int, f: int, tops: Floats, ranked: Integers
) -> None:
    """Sort the columns of a task type by what a task can gain on them at most, and write how much that is."""
    begun, stop = tables.first_interval[f], tables.first_interval[f + 1]
    for column in range(len(tops)):
        tops[column] = -np.inf
        if tables.can_run[i, column]:
            e, price = tables.seconds[i, column], grid.per_joule * tables.joules[i, column]
            utility = utility_up(tables, interval_at(tables, begun, stop, e), e)
            more = slack(grid, tables.column_type[column], utility + price)
            tops[column] = utility - price - corners.cheapest[column] + more
        place = column  # sorted by hand: NumPy's own sort takes seconds to compile
        while place > 0 and tops[ranked[place - 1]] < tops[column]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = column


@compiled
def latest_utility(tables: Tables, n: int, time: float) -> float:
    """Return what a task earns at most that ends at a time or later."""
    f, since = tables.function[n], time - tables.arrivals[n]
    since = max(0.0, since - LATE * (abs(time) + tables.arrivals[n]))
    p = interval_at(tables, tables.first_interval[f], tables.first_interval[f + 1], since)
    return utility_up(tables, p, since)


@compiled
def look_at_cut_runs(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, found: Found, n: int, i: int, least_price: float
) -> None:
    """Look at the runs of an offer of which only a share counts, if they can matter."""
    arrival, begin, end = tables.arrivals[n], tables.begin, tables.end
    if tables.completed or arrival >= end:
        return
    least = bar(found, n) + least_price
    # What runs over the begin ends after it; what runs over the end, after that.
    over_begin = arrival < begin and ENOUGH * latest_utility(tables, n, begin) > least
    over_end = end < np.inf and ENOUGH * latest_utility(tables, n, end) > least
    if not (over_begin or over_end):
        return
    for column in range(tables.seconds.shape[1]):
        if tables.can_run[i, column]:
            e = tables.seconds[i, column]
            if over_begin:
                cut_runs(tables, grid, found, n, i, column, max(arrival, begin - e), begin)
            if over_end:
                cut_runs(tables, grid, found, n, i, column, max(arrival, begin, end - e), end)


@compiled
def look(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, corners: Corners, found: Found, order: Integers, task_type: Integers
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
                    find_corners(tables, grid, corners, i, column)
                    least_price = min(least_price, grid.per_joule * tables.joules[i, column])
        if i != last_type or f != last_function:
            rank_columns(tables, grid, corners, i, f, tops, ranked)
            last_type, last_function = i, f
        for place in range(columns):
            if tops[ranked[place]] <= bar(found, n):
                break
            whole_runs(tables, grid, corners, found, n, i, int(ranked[place]))
        look_at_cut_runs(tables, grid, found, n, i, least_price)
