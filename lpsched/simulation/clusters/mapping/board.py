"""The board on which parallel tasks are mapped: free nodes, energy, earliest starts. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled_inside
from lpsched.simulation.clusters.mapping.choosing import chosen
from lpsched.simulation.clusters.mapping.openings import Openings, earliest, orders_of, taken
from lpsched.simulation.clusters.mapping.present import Board

if TYPE_CHECKING:
    from lpsched.instance.array_types import Integers
    from lpsched.simulation.clusters.mapping.present import Free, Present, Worths


@compiled_inside
def utility(worths: Worths, function: int, elapsed: float) -> float:
    """Return what a task earns that ends so many seconds after its arrival."""
    p, last = worths.first_interval[function], worths.first_interval[function + 1] - 1
    while p < last and worths.after_seconds[p + 1] <= elapsed:
        p += 1
    decay = math.exp(-worths.rate_per_second[p] * (elapsed - worths.after_seconds[p]))
    return float(worths.falls_to[p] + (worths.starts_at[p] - worths.falls_to[p]) * decay)


@compiled_inside
def set_up(present: Present, free: Free) -> Board:
    """Return the board as the event begins."""
    low, high, begin, end = free.openings
    first, shape = free.first_opening, present.tables.nodes.shape
    drafts = [
        Openings(
            low[first[m] : first[m + 1]],
            high[first[m] : first[m + 1]],
            begin[first[m] : first[m + 1]],
            end[first[m] : first[m + 1]],
        )
        for m in range(len(first) - 1)
    ]
    return Board(
        drafts,
        [orders_of(draft) for draft in drafts],
        np.zeros(len(drafts), dtype=np.int64),
        np.zeros(len(drafts), dtype=np.int64),
        np.full(shape, present.times.now),
        np.full(shape, -1, dtype=np.int64),
        np.zeros(shape, dtype=np.bool_),
        np.zeros(shape, dtype=np.bool_),
        np.array([present.energy_left]),
        np.zeros(1, dtype=np.int64),
    )


@compiled_inside
def start_before(present: Present, board: Board, k: int, c: int, before: float) -> float:
    """Return the earliest start of a kind in a column, infinite if that is not before some time."""
    m = present.tables.cluster[c]
    if board.seen_at[k, c] == board.version[m]:
        return float(board.start[k, c]) if board.start[k, c] < before else math.inf
    if board.start[k, c] >= before:
        return math.inf
    if board.sorted_at[m] != board.version[m]:
        board.orders[m] = orders_of(board.drafts[m])
        board.sorted_at[m] = board.version[m]
    limits = (board.start[k, c], before)
    nodes, seconds = present.tables.nodes[k, c], present.tables.seconds[k, c]
    start = earliest(board.drafts[m], board.orders[m], nodes, seconds, limits)
    board.start[k, c] = start if start < math.inf else before
    if start < math.inf:
        board.seen_at[k, c] = board.version[m]
    return float(start)


@compiled_inside
def counted(present: Present, k: int, c: int, start: float) -> float:
    """Return the joules of a run that are taken before the day ends."""
    seconds, ends_at = present.tables.seconds[k, c], present.times.ends_at
    joules = float(present.tables.joules[k, c])
    if start + seconds <= ends_at:
        return joules
    return joules * min(1.0, (ends_at - start) / seconds) if start < ends_at else 0.0


@compiled_inside
def take(present: Present, board: Board, k: int, c: int, start: float) -> Integers:
    """Let a task of a kind start then: return the nodes that it takes."""
    m, until = present.tables.cluster[c], start + present.tables.seconds[k, c]
    board.left[0] -= counted(present, k, c, start)
    nodes = chosen(board.drafts[m], present.tables.nodes[k, c], start, until)
    if start < until:  # a short run late may take no time in doubles
        board.drafts[m] = taken(board.drafts[m], start, until, nodes)
        board.version[m] += 1
    return nodes
