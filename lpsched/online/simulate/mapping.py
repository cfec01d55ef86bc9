"""The mapping state of a scheduling event, which the compiled loops of `pairs.py` and `turns.py` change.

    i, c, m     task type, column, machine; b is a waiting task, by its place in the state
    start, end  of b on the machine m of column c: ready_m, and ready_m + seconds_ic
    fits        i may use c, its machine starts before the day ends, and the joules that count today (joules_ic times
                the share of the run before the day's end) are within the energy that earlier decisions leave
    score       weight U(end) / per_ic / scale - cost_ic, or minus the end: see `online/policies.py`
    needed      a machine whose next task would become unmovable by `until`, if a waiting task can run there

Of the machines of one type only the one that is ready first (of several the lowest) matters; a heap for each type finds
it.

No score rises as machines get busier and energy is spent, so an old score is an upper bound, and tasks are scored again
only at the top of a heap. The first upper bound is the utility at the earliest end of all, over the least `per`, minus
the least cost. One exception: a run that took too much energy may fit if it begins later, when less of it is within the
day; then all bounds are made anew. A loop may stop when no machine is needed: the rest is decided anew at the next
event.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.state import Assignments, State
from lpsched.online.utility import Curves, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask

Array = TypeVar("Array", bound="np.ndarray[Any, Any]")
utility = compiled_utility()


class Pairs(NamedTuple):  # tuples, because that is what compiled functions take apart; small ones, for speed
    """Where tasks may run, and what they take there."""

    ends_at: float
    usable: Mask  # T x C: allowed, and not ruled out by the policy
    seconds: Floats  # T x C
    joules: Floats  # T x C
    first_column: Integers  # M + 1
    column_type: Integers  # C


class StateView(NamedTuple):
    """The parts of a `State` that the loops need."""

    pairs: Pairs
    curves: Curves
    until: float
    energy_left: float
    polled: bool
    arrivals: Floats  # B
    types: Integers  # B
    functions: Integers  # B
    available: Integers
    machine_type: Integers  # m
    ready: Floats  # m
    pending_at: Floats  # m


class ScoreTables(NamedTuple):
    """How a pair is scored."""

    by_end: bool  # minus the end; the rest is not used then
    weight: float
    scale: float
    per: Floats  # T x C
    cost: Floats  # T x C
    least: float  # what scores less is not mapped


class MappingState(NamedTuple):
    """What changes while a loop maps."""

    ready: Floats  # m
    next_at: Floats  # m: when the next task mapped to it gets unmovable
    left: Floats  # 1: joules
    heap: Integers  # machines: those of type j from first[j] on, size[j] of them, the soonest ready on top
    first: Integers  # M
    size: Integers  # M
    start: Floats  # M: when the first of a type is ready; infinite if there is none
    short: Integers  # M: machines of a type whose next task would get unmovable by `until`
    wanting: Integers  # M: a task type that waits and can run there, as far as known
    waiting: Integers  # T: tasks of a type that are not mapped
    tasks: Integers  # what is mapped, `done[0]` of them
    machines: Integers
    columns: Integers
    done: Integers  # 1


def view_of(state: State, usable: Mask | None = None) -> StateView:
    """Return what the loops need of a state; `usable` narrows down where tasks may run."""
    system, usable = state.system, state.allowed if usable is None else usable
    of_system = (usable, system.seconds, system.joules, system.first_column, system.column_type)
    of_state = state.arrivals, state.types, state.functions, state.available, system.machine_type
    pairs = Pairs._make((float(state.ends_at), *map(frozen, of_system)))
    curves = Curves._make(map(frozen, system.curves))
    numbers = float(state.until), float(state.energy_left), bool(state.polled)
    return StateView._make((pairs, curves, *numbers, *map(frozen, (*of_state, state.ready, state.pending_at))))


def assignments_of(state: State, mapping: MappingState) -> Assignments:
    """Return what a loop has mapped."""
    count = int(mapping.done[0])
    return Assignments(state.tasks[mapping.tasks[:count]], mapping.machines[:count], mapping.columns[:count])


def frozen(array: Array) -> Array:
    """Return a read-only view: the loops are compiled for these."""
    if array.flags.writeable or not array.flags.c_contiguous:
        view = np.ascontiguousarray(array).view()
        view.flags.writeable = False
        return cast("Array", view)
    return array


@compiled
def of_fastest_types(usable: Mask, seconds: Floats, first_column: Integers, types: Integers, count: int) -> Mask:
    """Return where tasks may run if each is limited to the `count` machine types where it is fastest."""
    kept = np.zeros(usable.shape, dtype=np.bool_)
    done = np.zeros(len(usable), dtype=np.bool_)
    for i in types:
        for _ in range(0 if done[i] else count):
            best, least = -1, math.inf
            for j in range(len(first_column) - 1):
                for c in range(first_column[j], first_column[j + 1]):
                    if usable[i, c] and not kept[i, c] and seconds[i, c] < least:
                        best, least = j, seconds[i, c]
            if best < 0:
                break
            for c in range(first_column[best], first_column[best + 1]):
                kept[i, c] = usable[i, c]
        done[i] = True
    return kept


@compiled_inside
def sink(heap: Integers, first: int, size: int, place: int, keys: Floats) -> None:
    """Let an entry of a heap sink to where it belongs: the least key is on top, then the least entry."""
    moving = heap[first + place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        low, other = heap[first + child], child + 1
        if other < size:
            high = heap[first + other]
            if keys[high] < keys[low] or (keys[high] == keys[low] and high < low):
                child, low = other, high
        if keys[moving] < keys[low] or (keys[moving] == keys[low] and moving < low):
            break
        heap[first + place] = low
        place = child
    heap[first + place] = moving


@compiled_inside
def pile(heap: Integers, first: int, size: int, keys: Floats) -> None:
    """Make a heap of entries in any order."""
    for place in range(size // 2 - 1, -1, -1):
        sink(heap, first, size, place, keys)


@compiled_inside
def set_up(view: StateView) -> MappingState:
    """Return the mapping state at the begin of an event."""
    types, count = len(view.pairs.first_column) - 1, len(view.available)
    first, size = np.zeros(types, dtype=np.int64), np.zeros(types, dtype=np.int64)
    short = np.zeros(types, dtype=np.int64)
    heap = view.available.copy()  # by rising number, hence type by type
    for place in range(count):
        m = heap[place]
        j = view.machine_type[m]
        if size[j] == 0:
            first[j] = place
        size[j] += 1
        if view.polled or view.pending_at[m] <= view.until:
            short[j] += 1
    ready = view.ready.copy()
    start = np.full(types, math.inf)
    for j in range(types):
        pile(heap, first[j], size[j], ready)
        if size[j] > 0:
            start[j] = ready[heap[first[j]]]
    waiting = np.zeros(len(view.pairs.usable), dtype=np.int64)
    for b in range(len(view.types)):
        waiting[view.types[b]] += 1
    next_at, left, wanting = view.pending_at.copy(), np.array([view.energy_left]), np.zeros(types, dtype=np.int64)
    made, done = np.empty((3, len(view.types)), dtype=np.int64), np.zeros(1, dtype=np.int64)
    return MappingState(
        ready, next_at, left, heap, first, size, start, short, wanting, waiting, made[0], made[1], made[2], done
    )


@compiled_inside
def wanted_on(pairs: Pairs, waiting: Integers, i: int, j: int) -> bool:
    """Return whether a task of type i waits and may use a machine of type j."""
    if waiting[i] > 0:
        for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
            if pairs.usable[i, c]:
                return True
    return False


@compiled_inside
def is_needed(pairs: Pairs, mapping: MappingState) -> bool:
    """Return whether a machine needs another task by the next event, and a waiting one can run there."""
    for j in range(len(mapping.size)):
        if mapping.short[j] == 0:
            continue
        if wanted_on(pairs, mapping.waiting, mapping.wanting[j], j):
            return True
        for i in range(len(mapping.waiting)):
            if wanted_on(pairs, mapping.waiting, i, j):
                mapping.wanting[j] = i
                return True
    return False


@compiled_inside
def counted(joules: float, seconds: float, start: float, ends_at: float) -> float:
    """Return the joules of a run that count today."""
    return joules * ((ends_at - start) / seconds) if start + seconds > ends_at else joules


@compiled_inside
def fits(pairs: Pairs, left: float, i: int, c: int, start: float) -> bool:
    """Return whether a run is allowed, starts today, and takes no more than the energy that is left."""
    if not pairs.usable[i, c] or start >= pairs.ends_at:
        return False
    return counted(pairs.joules[i, c], pairs.seconds[i, c], start, pairs.ends_at) <= left


@compiled_inside
def take(view: StateView, mapping: MappingState, b: int, m: int, c: int) -> None:
    """Map a task; the caller keeps the heap in order."""
    pairs, i, start, place = view.pairs, view.types[b], mapping.ready[m], mapping.done[0]
    j, seconds = pairs.column_type[c], pairs.seconds[i, c]
    mapping.tasks[place], mapping.machines[place], mapping.columns[place] = b, m, c
    mapping.done[0] += 1
    mapping.waiting[i] -= 1
    mapping.left[0] -= counted(pairs.joules[i, c], seconds, start, pairs.ends_at)
    if view.polled or (mapping.next_at[m] <= view.until and start > view.until):
        mapping.short[j] -= 1
    mapping.next_at[m] = start
    mapping.ready[m] = start + seconds


@compiled_inside
def take_first(view: StateView, mapping: MappingState, b: int, c: int) -> None:
    """Map a task to the machine of its column's type that is ready first."""
    j = view.pairs.column_type[c]
    first = mapping.first[j]
    take(view, mapping, b, mapping.heap[first], c)
    if view.polled:
        mapping.size[j] -= 1
        mapping.heap[first] = mapping.heap[first + mapping.size[j]]
    mapping.start[j] = math.inf
    if mapping.size[j] > 0:
        sink(mapping.heap, first, mapping.size[j], 0, mapping.ready)
        mapping.start[j] = mapping.ready[mapping.heap[first]]
