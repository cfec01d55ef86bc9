"""Runs over the begin or the end of the period, of which only a share counts. Compiled.

Where such a run gains most, and how that is rounded, is in `arrival_choices.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import compiled_inside
from lpsched.formulations.arrival_costs import above, run_cost
from lpsched.formulations.arrival_tables import LATE
from lpsched.formulations.arrival_takes import bar, slack, take
from lpsched.formulations.arrival_worths import interval_at, latest_worth, worth_up

if TYPE_CHECKING:
    from lpsched.formulations.arrival_tables import Found, Grid, Tables
    from lpsched.instance.array_types import Floats

ENOUGH: Final = 1.0 + 2.0**-20  # more than all that is added to a utility


@compiled_inside
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


@compiled_inside
def cut_runs(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, found: Found, n: int, i: int, column: int, first: float, last: float
) -> None:
    """Look at all starts from first to last, where only a share of the run may count; prorated."""
    arrival, e = tables.arrivals[n], tables.seconds[i, column]
    joules = tables.joules[i, column]
    price = grid.per_joule * joules
    stop = tables.first_interval[tables.function[n] + 1]
    late = LATE * (abs(first) + abs(last) + arrival + e)
    off = min(1.0, 4.0 * late / e)
    since = e if first == arrival else first + e - arrival - late
    p = interval_at(tables, tables.first_interval[tables.function[n]], stop, since)
    worth = utility = worth_up(tables, p, since)
    right = first  # the piece that ends with the very first start has no length
    while True:
        more = slack(tables, grid, i, column, worth + price) + off * (worth + price)
        if utility - price + more <= bar(found, n):
            return
        share = min(1.0, max(0.0, (min(right + e, tables.end) - max(right, tables.begin)) / e))
        value = share * (worth - price) - run_cost(tables, grid, i, column, right) + more
        take(found, n, column, value, share * worth, share * joules, right, right + e)
        if right >= last:
            return
        while p + 1 < stop and arrival + (tables.after[p + 1] - e) <= right:
            p += 1
        left, utility = right, worth_up(tables, p, right + e - arrival - late)
        breaks = arrival + (tables.after[p + 1] - e) if p + 1 < stop else np.inf
        right = next_corner(tables, grid.edges, left, last, e, breaks)
        is_rising = left < tables.begin and right + e <= tables.end + late
        worth = utility if is_rising else worth_up(tables, p, right + e - arrival - late)


@compiled_inside
def look_at_cut_runs(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: Tables, grid: Grid, found: Found, n: int, i: int, least_price: float
) -> None:
    """Look at the runs of an offer of which only a share counts, if they can matter."""
    arrival, begin, end = tables.arrivals[n], tables.begin, tables.end
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
