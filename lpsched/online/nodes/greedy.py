"""A compiled loop that places the best task first, in the free slots of clusters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.nodes.free_slots import FreeSlots, Orders, chosen, earliest, joined, orders_of, taken
from lpsched.online.simulate.mapping import frozen, pile, sink
from lpsched.online.utility import Curves, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.nodes.state import ClusterState


# B tasks that may be mapped, L kinds among them, M clusters, C columns.
class StateView(NamedTuple):  # tuples, because that is what compiled functions take apart
    """The parts of a `ClusterState` that the loop needs."""

    # What a kind takes in a column, as planned
    cluster: Integers  # C
    nodes: Integers  # L x C
    seconds: Floats  # L x C
    joules: Floats  # L x C
    per: Floats  # L x C: what utility is divided by
    curves: Curves
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


class MappingState(NamedTuple):
    """What changes while the loop maps."""

    drafts: list[FreeSlots]  # M
    orders: list[Orders]  # M: of the drafts at the version `sorted_at`
    version: Integers  # M: how often something was taken
    sorted_at: Integers  # M: the version
    start: Floats  # L x C: the earliest start, or a time before it
    seen_at: Integers  # L x C: the version at which that was the earliest start; -1: never
    blocked: Mask  # L x C: there was no energy for it
    too_late: Mask  # L x C: it cannot start by `until`
    left: Floats  # 1: joules
    cancellable: Integers  # 1: no task before this one can start by `until`


def view_of(state: ClusterState, per: Floats) -> StateView:
    """Return what the loop needs of a state; `per` (K x C) is what utility is divided by."""
    arrays, tasks = state.arrays, state.tasks
    kinds, kind = np.unique(arrays.kind[tasks], return_inverse=True)
    seconds = arrays.requested_seconds[kinds]
    joules = arrays.watts[kinds] * seconds
    planned = frozen(arrays.column_cluster), arrays.nodes[kinds], seconds, joules, per[kinds]
    curves = Curves._make(map(frozen, arrays.curves))
    waiting = kind, arrays.arrivals[tasks], arrays.function[tasks], frozen(state.allowed)
    return StateView(
        *planned, curves, *waiting, *map(float, (state.now, state.ends_at, state.until, state.energy_left))
    )


def free_of(state: ClusterState) -> tuple[FreeSlots, Integers]:
    """Return the free slots of all clusters from now on, one cluster after the other, and the first of each (M + 1)."""
    now = float(state.now)
    parts = [each.slots if each.since == now else joined(each.slots, now) for each in state.profiles]
    if len(parts) == 1:
        return parts[0], np.array([0, len(parts[0].low)])
    first = np.cumsum([0, *(len(each.low) for each in parts)], dtype=np.int64)
    return FreeSlots._make(map(np.concatenate, zip(*parts, strict=True))), first


utility = compiled_utility()


@compiled_inside
def set_up(view: StateView, slots: FreeSlots, first: Integers) -> MappingState:
    """Return the mapping state at the begin of an event."""
    (low, high, begin, end), shape = slots, view.nodes.shape
    drafts = [FreeSlots(low[a:b], high[a:b], begin[a:b], end[a:b]) for a, b in zip(first[:-1], first[1:])]  # noqa: B905, RUF007 - compiled
    orders, version = [orders_of(draft) for draft in drafts], np.zeros(len(drafts), dtype=np.int64)
    start, seen_at = np.full(shape, view.now), np.full(shape, -1, dtype=np.int64)
    blocked, too_late = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    left, cancellable = np.array([view.energy_left]), np.zeros(1, dtype=np.int64)
    return MappingState(drafts, orders, version, version.copy(), start, seen_at, blocked, too_late, left, cancellable)


@compiled_inside
def start_before(view: StateView, mapping: MappingState, k: int, c: int, before: float) -> float:
    """Return the earliest start of a kind in a column, infinite if that is not before some time."""
    m = view.cluster[c]
    if mapping.seen_at[k, c] == mapping.version[m]:
        return float(mapping.start[k, c]) if mapping.start[k, c] < before else math.inf
    if mapping.start[k, c] >= before:
        return math.inf
    if mapping.sorted_at[m] != mapping.version[m]:
        mapping.orders[m] = orders_of(mapping.drafts[m])
        mapping.sorted_at[m] = mapping.version[m]
    limits = (mapping.start[k, c], before)
    nodes, seconds = view.nodes[k, c], view.seconds[k, c]
    start = earliest(mapping.drafts[m], mapping.orders[m], nodes, seconds, limits)
    mapping.start[k, c] = start if start < math.inf else before
    if start < math.inf:
        mapping.seen_at[k, c] = mapping.version[m]
    return float(start)


@compiled_inside
def counted(view: StateView, k: int, c: int, start: float) -> float:
    """Return the joules of a run that are taken before the day ends."""
    seconds, ends_at, joules = view.seconds[k, c], view.ends_at, float(view.joules[k, c])
    if start + seconds <= ends_at:
        return joules
    return joules * min(1.0, (ends_at - start) / seconds) if start < ends_at else 0.0


@compiled_inside
def take(view: StateView, mapping: MappingState, k: int, c: int, start: float) -> Integers:
    """Place a task of a kind at a start; return the nodes that it takes."""
    m, until = view.cluster[c], start + view.seconds[k, c]
    mapping.left[0] -= counted(view, k, c, start)
    nodes = chosen(mapping.drafts[m], view.nodes[k, c], start, until)
    if start < until:  # a short run late may take no time in doubles
        mapping.drafts[m] = taken(mapping.drafts[m], start, until, nodes)
        mapping.version[m] += 1
    return nodes


# The task of the highest objective is placed first, then the highest of the rest, and so on.
#     k, c        kind of a task, column
#     s, e        earliest start of k in c with what has been placed, and its planned end, s + seconds_kc
#     fits        c is allowed, s is before the day ends, and the joules of the run until then are left
#     objective   U(e) / per_kc; of a task its largest over the columns that fit, of equals the lowest column
# Of equal objectives the lowest task is placed; what earns nothing is not placed.
#
# Earliest starts only rise as nodes are taken, utility only falls, and energy only gets less. So an old objective is an
# upper bound, and tasks are looked at again only at the top of a heap. A first bound supposes that everything starts
# now. Starts are searched once for each kind, column and state of the cluster. One exception: a run without enough
# energy may fit if it begins later, when less of it is within the day; then all bounds are made anew. The loop may stop
# when no task is left that could start by `until`: the rest is decided anew at the next scheduling event.
@compiled_inside
def objective(view: StateView, b: int, c: int, start: float) -> float:
    """Return the objective of a task that starts then; infinite if it takes nothing."""
    k = view.kind[b]
    earned = utility(view.curves, view.function[b], start + view.seconds[k, c] - view.arrivals[b])
    if earned <= 0.0:
        return 0.0
    return float(earned / view.per[k, c]) if view.per[k, c] > 0.0 else math.inf


@compiled_inside
def look(view: StateView, mapping: MappingState, b: int) -> tuple[float, int, float]:
    """Return a task's best objective, its column and its start; the column is -1 if it has none above 0."""
    k, ends_at = view.kind[b], view.ends_at
    best, column, best_start = 0.0, -1, math.inf
    for c in range(len(view.cluster)):
        if not view.allowed[b, c] or mapping.start[k, c] >= ends_at:
            continue
        if objective(view, b, c, mapping.start[k, c]) <= best:  # nor better at its earliest start
            continue
        start = start_before(view, mapping, k, c, ends_at)
        if start == math.inf:
            continue
        if counted(view, k, c, start) > mapping.left[0]:
            mapping.blocked[k, c] = True
            continue
        value = objective(view, b, c, start)
        if value > best:
            best, column, best_start = value, c, start
    return best, column, best_start


@compiled_inside
def fill(view: StateView, mapping: MappingState, done: Mask, keys: Floats, heap: Integers) -> int:
    """Fill the heap with the tasks that may earn something, by upper bounds; return how many there are."""
    size = 0
    for b in range(len(keys)):
        if done[b]:
            continue
        k, soonest, least = view.kind[b], math.inf, math.inf
        for c in range(len(view.cluster)):
            if view.allowed[b, c] and mapping.start[k, c] < view.ends_at:
                soonest = min(soonest, mapping.start[k, c] + view.seconds[k, c])
                least = min(least, view.per[k, c])
        earned = 0.0
        if soonest < math.inf:
            earned = utility(view.curves, view.function[b], soonest - view.arrivals[b])
        done[b] = earned <= 0.0  # and never will
        if not done[b]:
            keys[b] = -earned / least if least > 0.0 else -math.inf
            heap[size] = b
            size += 1
    pile(heap, 0, size, keys)
    return size


@compiled_inside
def may_fit_now(view: StateView, mapping: MappingState, m: int) -> bool:
    """Return whether a run in a cluster that had too little energy fits now, since it would start later."""
    again = False
    for c in range(len(view.cluster)):
        for k in range(len(mapping.start) if view.cluster[c] == m else 0):
            if mapping.blocked[k, c]:
                start = start_before(view, mapping, k, c, view.ends_at)
                if start < math.inf and counted(view, k, c, start) <= mapping.left[0]:
                    mapping.blocked[k, c], again = False, True
    return again


@compiled_inside
def can_start_soon(view: StateView, mapping: MappingState, k: int, c: int) -> bool:
    """Return whether a kind can start in a column by `until`; once it cannot, it never can in this event."""
    if not mapping.too_late[k, c]:
        before = min(np.nextafter(view.until, math.inf), view.ends_at)
        has_energy = counted(view, k, c, min(view.until, view.ends_at)) <= mapping.left[0]
        mapping.too_late[k, c] = not has_energy or start_before(view, mapping, k, c, before) == math.inf
    return not mapping.too_late[k, c]


@compiled_inside
def goes_on(view: StateView, mapping: MappingState, done: Mask) -> bool:
    """Return whether a task is left that could start by `until`."""
    if view.until == math.inf:
        return True
    for b in range(mapping.cancellable[0], len(done)):
        for c in range(0 if done[b] else len(view.cluster)):
            if view.allowed[b, c] and can_start_soon(view, mapping, view.kind[b], c):
                mapping.cancellable[0] = b
                return True
    mapping.cancellable[0] = len(done)
    return False


@compiled
def best_first(view: StateView, slots: FreeSlots, first: Integers) -> tuple[Integers, Integers, Floats, list[Integers]]:
    """Place tasks, the best first, as long as there are any that fit.

    Return their places in the state, their columns, starts and nodes (2 x R each: low, high), in this order.
    """
    mapping, tasks = set_up(view, slots, first), len(view.kind)
    keys, heap, done = np.zeros(tasks), np.empty(tasks, dtype=np.int64), np.zeros(tasks, dtype=np.bool_)
    columns, starts = np.full(tasks, -1, dtype=np.int64), np.zeros(tasks)
    order, nodes = np.empty(tasks, dtype=np.int64), [first.reshape(1, -1)]
    nodes.pop()  # so that Numba knows the type of the items
    size = fill(view, mapping, done, keys, heap)
    while size > 0 and goes_on(view, mapping, done):
        b = heap[0]
        k, c = view.kind[b], columns[b]
        is_best = c >= 0 and start_before(view, mapping, k, c, view.ends_at) == starts[b]  # as it was looked at
        if not is_best or counted(view, k, c, starts[b]) > mapping.left[0]:
            value, c, starts[b] = look(view, mapping, b)
            keys[b], columns[b] = -value, c
        else:
            order[len(nodes)], done[b] = b, True
            nodes.append(take(view, mapping, k, c, starts[b]))
            if may_fit_now(view, mapping, view.cluster[c]):
                columns[~done] = -1
                size = fill(view, mapping, done, keys, heap)
                continue
            c = -1
        if c < 0:  # placed, or nowhere to go
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            sink(heap, 0, size, 0, keys)
    order = order[: len(nodes)]
    return order, columns[order], starts[order], nodes
