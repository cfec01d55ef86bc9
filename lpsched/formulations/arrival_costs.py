"""What do the nodes of a run cost, and where does that have corners? Compiled.

W_j(t) is what one machine of type j costs from the first slot to time t: a straight line within a slot. A run
on q of them from tau to tau + e costs q (W_j(tau + e) - W_j(tau)), with corners where it begins or ends at
the edge of a slot. Where many tasks run equally long, corners and costs are listed once for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled_inside

if TYPE_CHECKING:
    from lpsched.formulations.arrival_tables import Corners, Grid, Tables
    from lpsched.instance.array_types import Floats


@compiled_inside
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
    j = tables.column_type[column]
    later = spent_until(grid.edges, grid.prices[j], grid.sums[j], start + tables.seconds[i, column])
    cost = later - spent_until(grid.edges, grid.prices[j], grid.sums[j], start)
    return float(max(0.0, tables.width[i, column] * cost))


@compiled_inside
def least_cost(tables: Tables, grid: Grid, i: int, column: int, start: float) -> float:
    """Return what a whole run that starts then or later costs at least; quick rather than close."""
    edges = grid.edges
    slots = len(edges) - 1
    if start < edges[0] or tables.end > edges[slots]:
        return 0.0  # time outside the slots is free
    k = min(above(edges, slots, start), slots) - 1
    lowest = grid.lowest[tables.column_type[column], k]
    return float(tables.width[i, column] * tables.seconds[i, column] * lowest)


@compiled_inside
def first_whole(tables: Tables, i: int, column: int) -> float:
    """Return from when on a run may start so as to count wholly."""
    return float(tables.begin - tables.seconds[i, column] if tables.completed else tables.begin)


@compiled_inside
def find_corners(tables: Tables, grid: Grid, corners: Corners, i: int, column: int) -> None:
    """List the corners of a run's cost among the starts at which its share is 1, in order."""
    e = tables.seconds[i, column]
    first, last = first_whole(tables, i, column), tables.end - e
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
