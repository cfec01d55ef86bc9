"""The best task and free slot first. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.nodes.openings import Openings, chosen, earliest, joined, orders_of, pile, sink, taken
from lpsched.online.simulate.board import frozen
from lpsched.online.utility import Curves, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.nodes.openings import Orders
    from lpsched.online.nodes.state import ClusterState


# The state as tuples of arrays, for the compiled loop that maps: what is, and what changes.
#
# Letters: B tasks that may be mapped, L kinds among them, M clusters, C columns.


class Present(NamedTuple):  # tuples, because that is what compiled functions take apart
    """What the loop needs to know of a `ClusterState`."""

    # What a kind takes in a column, as planned
    cluster: Integers  # C
    nodes: Integers  # L x C
    seconds: Floats  # L x C
    joules: Floats  # L x C
    per: Floats  # L x C: what utility is divided by
    worths: Curves
    # The tasks that may be mapped
    kind: Integers  # B
    arrivals: Floats  # B
    function: Integers  # B
    allowed: Mask  # B x C
    # When something may start, and what energy there is
    now: float
    ends_at: float  # nothing starts then or later
    until: float  # what starts later than this need not be mapped
    energy_left: float


class Board(NamedTuple):
    """What changes while the loop maps."""

    drafts: list[Openings]  # M
    orders: list[Orders]  # M: of the drafts as they were when they were `sorted_at`
    version: Integers  # M: how often something was taken
    sorted_at: Integers  # M: the version
    start: Floats  # L x C: the earliest start, or a time before it
    seen_at: Integers  # L x C: the version at which that was the earliest start; -1: never
    blocked: Mask  # L x C: there was no energy for it
    too_late: Mask  # L x C: it cannot start by `until`
    left: Floats  # 1: joules
    watched: Integers  # 1: no task before this one can start by `until`


def present_of(state: ClusterState, per: Floats) -> Present:
    """Return what the loop needs of a state; `per` (K x C) is what utility is divided by."""
    arrays, tasks = state.arrays, state.tasks
    kinds, kind = np.unique(arrays.kind[tasks], return_inverse=True)
    seconds = arrays.requested_seconds[kinds]
    joules = arrays.watts[kinds] * seconds
    planned = frozen(arrays.column_cluster), arrays.nodes[kinds], seconds, joules, per[kinds]
    worths = Curves._make(map(frozen, arrays.curves))
    waiting = kind, arrays.arrivals[tasks], arrays.function[tasks], frozen(state.allowed)
    return Present(*planned, worths, *waiting, *map(float, (state.now, state.ends_at, state.until, state.energy_left)))


def free_of(state: ClusterState) -> tuple[Openings, Integers]:
    """Return the openings of all clusters from now on, one cluster after the other, and the first of each (M + 1)."""
    now = float(state.now)
    parts = [each.openings if each.since == now else joined(each.openings, now) for each in state.profiles]
    first = np.cumsum([0, *(len(each.low) for each in parts)], dtype=np.int64)
    return Openings._make(map(np.concatenate, zip(*parts, strict=True))), first


# The board on which parallel tasks are mapped: free nodes, energy, earliest starts. Compiled.
utility = compiled_utility()


@compiled_inside
def set_up(present: Present, openings: Openings, first: Integers) -> Board:
    """Return the board as the event begins."""
    (low, high, begin, end), shape = openings, present.nodes.shape
    drafts = [Openings(low[a:b], high[a:b], begin[a:b], end[a:b]) for a, b in zip(first[:-1], first[1:])]  # noqa: B905, RUF007 - compiled
    orders, version = [orders_of(draft) for draft in drafts], np.zeros(len(drafts), dtype=np.int64)
    start, seen_at = np.full(shape, present.now), np.full(shape, -1, dtype=np.int64)
    blocked, too_late = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    left, watched = np.array([present.energy_left]), np.zeros(1, dtype=np.int64)
    return Board(drafts, orders, version, version.copy(), start, seen_at, blocked, too_late, left, watched)


@compiled_inside
def start_before(present: Present, board: Board, k: int, c: int, before: float) -> float:
    """Return the earliest start of a kind in a column, infinite if that is not before some time."""
    m = present.cluster[c]
    if board.seen_at[k, c] == board.version[m]:
        return float(board.start[k, c]) if board.start[k, c] < before else math.inf
    if board.start[k, c] >= before:
        return math.inf
    if board.sorted_at[m] != board.version[m]:
        board.orders[m] = orders_of(board.drafts[m])
        board.sorted_at[m] = board.version[m]
    limits = (board.start[k, c], before)
    nodes, seconds = present.nodes[k, c], present.seconds[k, c]
    start = earliest(board.drafts[m], board.orders[m], nodes, seconds, limits)
    board.start[k, c] = start if start < math.inf else before
    if start < math.inf:
        board.seen_at[k, c] = board.version[m]
    return float(start)


@compiled_inside
def counted(present: Present, k: int, c: int, start: float) -> float:
    """Return the joules of a run that are taken before the day ends."""
    seconds, ends_at, joules = present.seconds[k, c], present.ends_at, float(present.joules[k, c])
    if start + seconds <= ends_at:
        return joules
    return joules * min(1.0, (ends_at - start) / seconds) if start < ends_at else 0.0


@compiled_inside
def take(present: Present, board: Board, k: int, c: int, start: float) -> Integers:
    """Let a task of a kind start then: return the nodes that it takes."""
    m, until = present.cluster[c], start + present.seconds[k, c]
    board.left[0] -= counted(present, k, c, start)
    nodes = chosen(board.drafts[m], present.nodes[k, c], start, until)
    if start < until:  # a short run late may take no time in doubles
        board.drafts[m] = taken(board.drafts[m], start, until, nodes)
        board.version[m] += 1
    return nodes


# The task of the highest objective is placed first, then the highest of the rest, and so on. Compiled.
#
#     k, c        kind of a task, column
#     s, e        earliest start of k in c with what has been placed, and its planned end, s + seconds_kc
#     fits        c is allowed, s is before the day ends, and the joules of the run until then are left
#     objective   U(e) / per_kc; of a task its largest over the columns that fit, of equals the lowest column
#
# The task of the largest objective is placed, of equals the lowest number; what earns nothing is not placed.
#
# Earliest starts only rise as nodes are taken, utility only falls, and energy only gets less. So an old
# objective is an upper bound, and tasks are looked at again only as they come to the top of a heap. A first
# bound supposes that everything starts now. Starts are looked for once for each kind, column and state of the
# cluster. There is one exception: a run for which there was not enough energy may fit if it begins later,
# when less of it is within the day. When this happens all bounds are made anew.
#
# The loop may stop when no task is left that could start by `until`: all that it could still decide will be
# decided anew at the next mapping event.
@compiled_inside
def objective(present: Present, b: int, c: int, start: float) -> float:
    """Return what a task is worth that starts then; what takes nothing is worth infinitely much."""
    k = present.kind[b]
    earned = utility(present.worths, present.function[b], start + present.seconds[k, c] - present.arrivals[b])
    if earned <= 0.0:
        return 0.0
    return float(earned / present.per[k, c]) if present.per[k, c] > 0.0 else math.inf


@compiled_inside
def look(present: Present, board: Board, b: int) -> tuple[float, int, float]:
    """Return a task's best objective, its column and its start; the column is -1 if it has none above 0."""
    k, ends_at = present.kind[b], present.ends_at
    best, column, best_start = 0.0, -1, math.inf
    for c in range(len(present.cluster)):
        if not present.allowed[b, c] or board.start[k, c] >= ends_at:
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
def fill(present: Present, board: Board, done: Mask, keys: Floats, heap: Integers) -> int:
    """Fill the heap with the tasks that may earn something, by upper bounds; return how many there are."""
    size = 0
    for b in range(len(keys)):
        if done[b]:
            continue
        k, soonest, least = present.kind[b], math.inf, math.inf
        for c in range(len(present.cluster)):
            if present.allowed[b, c] and board.start[k, c] < present.ends_at:
                soonest = min(soonest, board.start[k, c] + present.seconds[k, c])
                least = min(least, present.per[k, c])
        earned = 0.0
        if soonest < math.inf:
            earned = utility(present.worths, present.function[b], soonest - present.arrivals[b])
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
    for c in range(len(present.cluster)):
        for k in range(len(board.start) if present.cluster[c] == m else 0):
            if board.blocked[k, c]:
                start = start_before(present, board, k, c, present.ends_at)
                if start < math.inf and counted(present, k, c, start) <= board.left[0]:
                    board.blocked[k, c], again = False, True
    return again


@compiled_inside
def can_start_soon(present: Present, board: Board, k: int, c: int) -> bool:
    """Tell whether a kind can start in a column by `until`; once it cannot it never can in this event."""
    if not board.too_late[k, c]:
        before = min(np.nextafter(present.until, math.inf), present.ends_at)
        has_energy = counted(present, k, c, min(present.until, present.ends_at)) <= board.left[0]
        board.too_late[k, c] = not has_energy or start_before(present, board, k, c, before) == math.inf
    return not board.too_late[k, c]


@compiled_inside
def goes_on(present: Present, board: Board, done: Mask) -> bool:
    """Tell whether a task is left that could start by `until`."""
    if present.until == math.inf:
        return True
    for b in range(board.watched[0], len(done)):
        for c in range(0 if done[b] else len(present.cluster)):
            if present.allowed[b, c] and can_start_soon(present, board, present.kind[b], c):
                board.watched[0] = b
                return True
    board.watched[0] = len(done)
    return False


@compiled
def best_first(
    present: Present, openings: Openings, first: Integers
) -> tuple[Integers, Integers, Floats, list[Integers]]:
    """Place tasks, the best first, as long as there are any that fit.

    Return their places in the state, their columns, starts and nodes (2 x R each: low, high), in this order.
    """
    board, tasks = set_up(present, openings, first), len(present.kind)
    keys, heap, done = np.zeros(tasks), np.empty(tasks, dtype=np.int64), np.zeros(tasks, dtype=np.bool_)
    columns, starts = np.full(tasks, -1, dtype=np.int64), np.zeros(tasks)
    order, nodes = np.empty(tasks, dtype=np.int64), [first.reshape(1, -1)]
    nodes.pop()  # so that it is known what a list of these holds
    size = fill(present, board, done, keys, heap)
    while size > 0 and goes_on(present, board, done):
        b = heap[0]
        k, c = present.kind[b], columns[b]
        is_best = c >= 0 and start_before(present, board, k, c, present.ends_at) == starts[b]  # as it was looked at
        if not is_best or counted(present, k, c, starts[b]) > board.left[0]:
            value, c, starts[b] = look(present, board, b)
            keys[b], columns[b] = -value, c
        else:
            order[len(nodes)], done[b] = b, True
            nodes.append(take(present, board, k, c, starts[b]))
            if may_fit_now(present, board, present.cluster[c]):
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
    return order, columns[order], starts[order], nodes
