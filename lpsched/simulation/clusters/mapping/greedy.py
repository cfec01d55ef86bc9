"""The task of the highest objective is placed first, then the highest of the rest, and so on. Compiled.

    k, c        kind of a task, column
    s, e        earliest start of k in c with what has been placed, and its planned end, s + seconds_kc
    fits        c is allowed, s is before the day ends, and the joules of the run until then are left
    objective   U(e) / per_kc; of a task its largest over the columns that fit, of equals the lowest column

The task of the largest objective is placed, of equals the lowest number; what earns nothing is not placed.

Earliest starts only rise as nodes are taken, utility only falls, and energy only gets less. So an old
objective is an upper bound, and tasks are looked at again only as they come to the top of a heap. A first
bound supposes that everything starts now. Starts are looked for once for each kind, column and state of the
cluster. There is one exception: a run for which there was not enough energy may fit if it begins later, when
less of it is within the day. When this happens all bounds are made anew.

The loop may stop when no task is left that could start by `until`: all that it could still decide will be
decided anew at the next mapping event.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled, compiled_inside
from lpsched.simulation.clusters.mapping.board import counted, set_up, start_before, take, utility
from lpsched.simulation.clusters.mapping.heaps import pile, sink
from lpsched.simulation.clusters.mapping.present import Mapped

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers, Mask
    from lpsched.simulation.clusters.mapping.present import Board, Free, Present


@compiled_inside
def objective(present: Present, b: int, c: int, start: float) -> float:
    """Return what a task is worth that starts then; what takes nothing is worth infinitely much."""
    waiting, tables = present.waiting, present.tables
    k = waiting.kind[b]
    elapsed = start + tables.seconds[k, c] - waiting.arrivals[b]
    earned = utility(present.worths, waiting.function[b], elapsed)
    if earned <= 0.0:
        return 0.0
    return float(earned / tables.per[k, c]) if tables.per[k, c] > 0.0 else math.inf


@compiled_inside
def look(present: Present, board: Board, b: int) -> tuple[float, int, float]:
    """Return a task's best objective, its column and its start; the column is -1 if it has none above 0."""
    k, ends_at = present.waiting.kind[b], present.times.ends_at
    best, column, best_start = 0.0, -1, math.inf
    for c in range(len(present.tables.cluster)):
        if not present.waiting.allowed[b, c] or board.start[k, c] >= ends_at:
            continue
        if objective(present, b, c, board.start[k, c]) <= best:  # nor better at its earliest start
            continue
        start = start_before(present, board, k, c, ends_at)
        if start == math.inf:
            continue
        if counted(present, k, c, start) > board.left[0]:
            board.blocked[k, c] = True
            continue
        value = objective(present, b, c, start)
        if value > best:
            best, column, best_start = value, c, start
    return best, column, best_start


@compiled_inside
def is_still_best(present: Present, board: Board, k: int, c: int, start: float) -> bool:
    """Tell whether a task may still start in its best column when it could as it was looked at."""
    if start_before(present, board, k, c, present.times.ends_at) != start:
        return False
    return bool(counted(present, k, c, start) <= board.left[0])


@compiled_inside
def fill(present: Present, board: Board, done: Mask, keys: Floats, heap: Integers) -> int:
    """Fill the heap with the tasks that may earn something, by upper bounds; return how many there are."""
    tables, waiting, size = present.tables, present.waiting, 0
    for b in range(len(keys)):
        if done[b]:
            continue
        k, soonest, least = waiting.kind[b], math.inf, math.inf
        for c in range(len(tables.cluster)):
            if waiting.allowed[b, c] and board.start[k, c] < present.times.ends_at:
                soonest = min(soonest, board.start[k, c] + tables.seconds[k, c])
                least = min(least, tables.per[k, c])
        earned = 0.0
        if soonest < math.inf:
            earned = utility(present.worths, waiting.function[b], soonest - waiting.arrivals[b])
        done[b] = earned <= 0.0  # and never will
        if not done[b]:
            keys[b] = -earned / least if least > 0.0 else -math.inf
            heap[size] = b
            size += 1
    pile(heap, size, keys)
    return size


@compiled_inside
def may_fit_now(present: Present, board: Board, m: int) -> bool:
    """Tell whether a run in a cluster that had too little energy fits now, since it would start later."""
    again = False
    for c in range(len(present.tables.cluster)):
        for k in range(len(board.start) if present.tables.cluster[c] == m else 0):
            if board.blocked[k, c]:
                start = start_before(present, board, k, c, present.times.ends_at)
                if start < math.inf and counted(present, k, c, start) <= board.left[0]:
                    board.blocked[k, c], again = False, True
    return again


@compiled_inside
def can_start_soon(present: Present, board: Board, k: int, c: int) -> bool:
    """Tell whether a kind can start in a column by `until`; once it cannot it never can in this event."""
    if board.too_late[k, c]:
        return False
    until, ends_at = present.times.until, present.times.ends_at
    before = min(np.nextafter(until, math.inf), ends_at)
    if (
        counted(present, k, c, min(until, ends_at)) > board.left[0]
        or start_before(present, board, k, c, before) == math.inf
    ):
        board.too_late[k, c] = True
    return not board.too_late[k, c]


@compiled_inside
def goes_on(present: Present, board: Board, done: Mask) -> bool:
    """Tell whether a task is left that could start by `until`."""
    if present.times.until == math.inf:
        return True
    for b in range(board.watched[0], len(done)):
        for c in range(0 if done[b] else len(present.tables.cluster)):
            if present.waiting.allowed[b, c] and can_start_soon(present, board, present.waiting.kind[b], c):
                board.watched[0] = b
                return True
    board.watched[0] = len(done)
    return False


@compiled
def best_first(present: Present, free: Free) -> Mapped:
    """Place tasks, the best first, as long as there are any that fit."""
    board, tasks = set_up(present, free), len(present.waiting.kind)
    keys, heap, done = np.zeros(tasks), np.empty(tasks, dtype=np.int64), np.zeros(tasks, dtype=np.bool_)
    columns, starts = np.full(tasks, -1, dtype=np.int64), np.zeros(tasks)
    order, nodes = np.empty(tasks, dtype=np.int64), [free.first_opening.reshape(1, -1)]
    nodes.pop()  # so that it is known what a list of these holds
    size = fill(present, board, done, keys, heap)
    while size > 0 and goes_on(present, board, done):
        b = heap[0]
        k, c = present.waiting.kind[b], columns[b]
        if c < 0 or not is_still_best(present, board, k, c, starts[b]):
            value, c, starts[b] = look(present, board, b)
            keys[b], columns[b] = -value, c
        else:
            order[len(nodes)], done[b] = b, True
            nodes.append(take(present, board, k, c, starts[b]))
            if may_fit_now(present, board, present.tables.cluster[c]):
                columns[~done] = -1
                size = fill(present, board, done, keys, heap)
                continue
            c = -1
        if c < 0:  # placed, or nowhere to go
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            sink(heap, size, 0, keys)
    order = order[: len(nodes)]
    return Mapped(order, columns[order], starts[order], nodes)
