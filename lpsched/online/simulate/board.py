"""The mapping state of an event, which the compiled loops of `pairs.py` and `turns.py` change.

    i, c, m     task type, column, machine; b is a waiting task, by its place in the state
    start, end  of b on the machine m of column c: ready_m, and ready_m + seconds_ic
    fits        c may be used by i, its machine starts before the day ends, and the joules that count today,
                joules_ic times the share of the run before the day's end, are within what is left of the
                day's energy after what this event mapped already
    score       weight U(end) / per_ic / scale - cost_ic, or minus the end: see `online/policies.py`
    needed      a machine whose next task would get unmovable by `until`, if a task that waits can run there

Of the machines of one type only the one that is ready first, of several the lowest, is looked at: it serves
every task best. A heap for each type finds it.

No score rises as machines get busier and energy gets less. So an old score is an upper bound, and tasks are looked at
again only as they come to the top of a heap. A first upper bound needs one exponential for a task: the utility at the
earliest end of all, over the least `per`, minus the least cost. There is one exception: a run that would have taken too
much energy may fit if it begins later, when less of it is within the day. When this happens all bounds are made anew.

A loop may stop when no machine is needed any more: all it could still decide will be decided anew by the
next event. The order in which equals are taken: see `online/policies.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.state import Assignments
from lpsched.online.utility import Curves, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.simulate.state import State


# The state as tuples of arrays, for the compiled loops that map: what is, how pairs score, what changes.
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


class Present(NamedTuple):
    """What the loops need to know of a `State`, whose letters these are."""

    pairs: Pairs
    worths: Curves
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


class Board(NamedTuple):
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


def present_of(state: State, usable: Mask | None = None) -> Present:
    """Return what the loops need of a state; `usable` narrows down where tasks may run."""
    system, usable = state.system, state.allowed if usable is None else usable
    of_system = (usable, system.seconds, system.joules, system.first_column, system.column_type)
    of_state = state.arrivals, state.types, state.functions, state.available, system.machine_type
    pairs = Pairs._make((float(state.ends_at), *map(frozen, of_system)))
    worths = Curves._make(map(frozen, system.curves))
    numbers = float(state.until), float(state.energy_left), bool(state.polled)
    return Present._make((pairs, worths, *numbers, *map(frozen, (*of_state, state.ready, state.pending_at))))


def assignments_of(state: State, board: Board) -> Assignments:
    """Return what a loop has mapped."""
    count = int(board.done[0])
    return Assignments(state.tasks[board.tasks[:count]], board.machines[:count], board.columns[:count])


def frozen(array: Array) -> Array:
    """Return a read-only view: the loops are compiled for these, whoever made the state."""
    if array.flags.writeable or not array.flags.c_contiguous:
        view = np.ascontiguousarray(array).view()
        view.flags.writeable = False
        return cast("Array", view)
    return array


@compiled
def of_fastest_types(usable: Mask, seconds: Floats, first_column: Integers, types: Integers, count: int) -> Mask:
    """Return where tasks may run if each is limited to so many machine types, those where it is fastest."""
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
def set_up(present: Present) -> Board:
    """Return the board as the event begins."""
    types, count = len(present.pairs.first_column) - 1, len(present.available)
    first, size = np.zeros(types, dtype=np.int64), np.zeros(types, dtype=np.int64)
    short = np.zeros(types, dtype=np.int64)
    heap = present.available.copy()  # by rising number, hence type by type
    for place in range(count):
        m = heap[place]
        j = present.machine_type[m]
        if size[j] == 0:
            first[j] = place
        size[j] += 1
        if present.polled or present.pending_at[m] <= present.until:
            short[j] += 1
    ready = present.ready.copy()
    start = np.full(types, math.inf)
    for j in range(types):
        for place in range(size[j] // 2 - 1, -1, -1):
            sink(heap, first[j], size[j], place, ready)
        if size[j] > 0:
            start[j] = ready[heap[first[j]]]
    waiting = np.zeros(len(present.pairs.usable), dtype=np.int64)
    for b in range(len(present.types)):
        waiting[present.types[b]] += 1
    next_at, left, wanting = present.pending_at.copy(), np.array([present.energy_left]), np.zeros(types, dtype=np.int64)
    made, done = np.empty((3, len(present.types)), dtype=np.int64), np.zeros(1, dtype=np.int64)
    return Board(
        ready, next_at, left, heap, first, size, start, short, wanting, waiting, made[0], made[1], made[2], done
    )


@compiled_inside
def wanted_on(pairs: Pairs, waiting: Integers, i: int, j: int) -> bool:
    """Tell whether a task of type i waits and may use a machine of type j."""
    if waiting[i] > 0:
        for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
            if pairs.usable[i, c]:
                return True
    return False


@compiled_inside
def is_needed(pairs: Pairs, board: Board) -> bool:
    """Tell whether a machine needs another task by the next event, and one that waits can run there."""
    for j in range(len(board.size)):
        if board.short[j] == 0:
            continue
        if wanted_on(pairs, board.waiting, board.wanting[j], j):
            return True
        for i in range(len(board.waiting)):
            if wanted_on(pairs, board.waiting, i, j):
                board.wanting[j] = i
                return True
    return False


@compiled_inside
def counted(joules: float, seconds: float, start: float, ends_at: float) -> float:
    """Return the joules of a run that count today."""
    return joules * ((ends_at - start) / seconds) if start + seconds > ends_at else joules


@compiled_inside
def fits(pairs: Pairs, left: float, i: int, c: int, start: float) -> bool:
    """Tell whether a run may be there, starts today, and takes no more than the energy that is left."""
    if not pairs.usable[i, c] or start >= pairs.ends_at:
        return False
    return counted(pairs.joules[i, c], pairs.seconds[i, c], start, pairs.ends_at) <= left


@compiled_inside
def take(present: Present, board: Board, b: int, m: int, c: int) -> None:
    """Map a task; whoever uses the heap puts it in order."""
    pairs, i, start, place = present.pairs, present.types[b], board.ready[m], board.done[0]
    j, seconds = pairs.column_type[c], pairs.seconds[i, c]
    board.tasks[place], board.machines[place], board.columns[place] = b, m, c
    board.done[0] += 1
    board.waiting[i] -= 1
    board.left[0] -= counted(pairs.joules[i, c], seconds, start, pairs.ends_at)
    if present.polled or (board.next_at[m] <= present.until and start > present.until):
        board.short[j] -= 1
    board.next_at[m] = start
    board.ready[m] = start + seconds


@compiled_inside
def take_first(present: Present, board: Board, b: int, c: int) -> None:
    """Map a task to the machine of its column's type that is ready first."""
    j = present.pairs.column_type[c]
    first = board.first[j]
    take(present, board, b, board.heap[first], c)
    if present.polled:
        board.size[j] -= 1
        board.heap[first] = board.heap[first + board.size[j]]
    board.start[j] = math.inf
    if board.size[j] > 0:
        sink(board.heap, first, board.size[j], 0, board.ready)
        board.start[j] = board.ready[board.heap[first]]
