"""What is the best that a task can do at some prices? On which column, and from when on. Compiled.

A task that starts at tau on q machines of a column of machine type j, for e seconds and J joules, gains at
most

    v(tau)  =  share(tau) (U(tau + e - arrival) - lambda J)  -  q (W_j(tau + e) - W_j(tau)),

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
Types of which there are few tasks have no such list: from the arrival on, corner follows corner.

A task that costs what it waits has - cost(tau - arrival) in place of U, straight between its breaks, and
every share is 1: v is straight between corners. Such a task must run, so its best may be less than 0.

Rounding. Every value is rounded up: it is at least what the formula says in real numbers. With u = 2^-53,

    times    sums of doubles as large as z are off by at most 3 u z: they, and the order of two corners, are
             right but for `late` = 2^-49 z. A time since arrival that is so much too early makes U no
             smaller. A start that is off by as much changes the share by at most 4 late / e, and the cost by
             4 late times the highest price; there z need not be more than 12 times the last edge, because
             whoever starts or ends four times as late as that is surely after the slots, and a start is
             worked out without adding e to anything larger than the start itself
    U        f + (s - f) exp(-x) is off by less than (3 + x exp(-x)) 2^-52 s: s 2^-40 is added. A cost s + r x
             is off by less than 8 u (|s| + r x), what made s and r counted in: 2^-40 of that is added
    W        a sum of S products is off by at most (S + 2) u of the whole sum: (S + 9) 2^-50 of it is added.
             The product with q is off by u of itself, and all that is added is taken q times: S + 9 times 8
             is more than S + 3
    rest     a few more operations on U, lambda J and W: 2^-46 of U + lambda J is added
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled, compiled_inside
from lpsched.formulations.arrival_costs import above, find_corners, first_whole, least_cost, run_cost
from lpsched.formulations.arrival_cut_runs import look_at_cut_runs
from lpsched.formulations.arrival_tables import LATE
from lpsched.formulations.arrival_takes import bar, slack, take
from lpsched.formulations.arrival_worths import interval_at, tail, worth_up

if TYPE_CHECKING:
    from lpsched.formulations.arrival_tables import Corners, Found, Grid, Tables
    from lpsched.instance.array_types import Floats, Integers


@compiled_inside
def whole_runs(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, corners: Corners, found: Found, n: int, i: int, column: int
) -> None:
    """Look at the starts at which a run's share is 1."""
    arrival, e = tables.arrivals[n], tables.seconds[i, column]
    first = max(arrival, first_whole(tables, i, column))
    if first > tables.end - e + (LATE * (tables.end + e) if tables.end < np.inf else 0.0):
        return
    joules = tables.joules[i, column]
    f, off = tables.function[n], tail(tables, i, column)
    stop = tables.first_interval[f + 1]
    since = off if first == arrival else first + off - arrival - LATE * (first + off + arrival)
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
        start = arrival + (tables.after[q + 1] - off)
        worth, late = tables.last[q], LATE * (abs(start) + arrival + e)
        more = slack(tables, grid, i, column, abs(worth) + price)
        if start > tables.end - e + late or worth - price - cheapest + more <= bar(found, n):
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
def listed_corners(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, corners: Corners, found: Found, n: int, i: int, column: int, k: int, p: int
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
def corners_in_turn(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables,
    grid: Grid,
    found: Found,
    n: int,
    i: int,
    column: int,
    first: float,
    lowest: float,
    p: int,
) -> None:
    """Look at the corners after the first start, those that cost less than all before."""
    e, joules, off = tables.seconds[i, column], tables.joules[i, column], tail(tables, i, column)
    price, last = grid.per_joule * joules, tables.end - e
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
def rank_columns(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
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
