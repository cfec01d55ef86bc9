"""The mapping state: machines by when they are ready, energy, what is needed. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.jit import compiled_inside
from lpsched.online.simulate.mapping.present import Board
from lpsched.online.utility import compiled_utility

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.simulate.mapping.present import Pairs, Present


utility = compiled_utility()


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
    most = len(present.types)
    return Board(
        ready,
        present.pending_at.copy(),
        np.array([present.energy_left]),
        heap,
        first,
        size,
        start,
        short,
        np.zeros(types, dtype=np.int64),
        waiting,
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
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
def first_fitting(pairs: Pairs, left: float, i: int, j: int, start: float) -> int:
    """Return the first column of a machine type that fits a task which starts then; -1 if none does."""
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        if fits(pairs, left, i, c, start):
            return c
    return -1


@compiled_inside
def fastest_fitting(pairs: Pairs, left: float, i: int, j: int, start: float) -> int:
    """Return the column of the least seconds, likewise."""
    found = -1
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        faster = found < 0 or pairs.seconds[i, c] < pairs.seconds[i, found]
        if faster and fits(pairs, left, i, c, start):
            found = c
    return found


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
