"""At given prices, what gains most by running now is mapped first, per second of its run. Compiled.

    s, e        start of a run on the machine of its type that is ready first, and its seconds
    cost        what its machine time and its energy cost at the prices, of each task type and column
    surplus     U(s + e) - cost
    hold        patience times the largest surplus that the task would have if it started `later` instead,
                on any column that it may use and that fits: what it keeps if it waits
    advantage   (surplus - hold) / e, times the part of the run that is before the day ends

Only runs that start before `soon` and whose surplus is above the hold (and 0) are mapped: later ones can be
decided better at the next mapping event. Scores fall as machines get busy and energy is spent, so that a
task's last score bounds its next one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.mapping.board import fits, set_up, sink, take_first, utility

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.simulate.mapping.present import Board, Pairs, Present


class Terms(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """On what terms runs are taken."""

    cost: Floats  # T x C
    soon: float  # what starts then or later is left for the next event
    later: float  # when a task that waits would start
    patience: float  # from 0 to 1
    whole: bool  # runs must end before the day does, or count for nothing


@compiled_inside
def part_of(pairs: Pairs, terms: Terms, seconds: float, start: float) -> float:
    """Return which part of a run counts."""
    if start + seconds <= pairs.ends_at:
        return 1.0
    return 0.0 if terms.whole else (pairs.ends_at - start) / seconds


@compiled_inside
def hold_of(present: Present, terms: Terms, b: int) -> float:
    """Return what a task keeps if it waits."""
    pairs, i, f, most = present.pairs, present.types[b], present.functions[b], 0.0
    for c in range(len(pairs.column_type)):
        if fits(pairs, present.energy_left, i, c, terms.later):
            seconds = pairs.seconds[i, c]
            earned = utility(present.worths, f, terms.later + seconds - present.arrivals[b])
            most = max(most, part_of(pairs, terms, seconds, terms.later) * (earned - terms.cost[i, c]))
    return terms.patience * most


@compiled_inside
def gain_of(present: Present, terms: Terms, board: Board, b: int, hold: float) -> tuple[float, int]:
    """Return a task's best advantage and its column (-1: none); ties go to the lowest column."""
    pairs, i, f, best, column = present.pairs, present.types[b], present.functions[b], 0.0, -1
    for c in range(len(pairs.column_type)):
        start, seconds = board.start[pairs.column_type[c]], pairs.seconds[i, c]
        if start >= terms.soon or not fits(pairs, board.left[0], i, c, start):
            continue
        surplus = utility(present.worths, f, start + seconds - present.arrivals[b]) - terms.cost[i, c]
        advantage = (part_of(pairs, terms, seconds, start) * surplus - hold) / seconds
        if advantage > best:
            best, column = advantage, c
    return best, column


@compiled_inside
def most_gains(present: Present, terms: Terms, board: Board, keys: Floats) -> None:
    """Write minus an upper bound of each task's advantage; infinite if it can have none."""
    pairs, types = present.pairs, len(board.waiting)
    soonest, cost, least = np.full(types, math.inf), np.full(types, math.inf), np.full(types, math.inf)
    for i in range(types):
        for c in range(len(pairs.column_type) if board.waiting[i] > 0 else 0):
            start = board.start[pairs.column_type[c]]
            if start < terms.soon and fits(pairs, board.left[0], i, c, start):
                soonest[i] = min(soonest[i], start + pairs.seconds[i, c])
                cost[i], least[i] = min(cost[i], terms.cost[i, c]), min(least[i], pairs.seconds[i, c])
    for b in range(len(keys)):
        i, surplus = present.types[b], 0.0
        if soonest[i] < math.inf:
            elapsed = soonest[i] - present.arrivals[b]
            surplus = utility(present.worths, present.functions[b], elapsed) - cost[i]
        keys[b] = -surplus / least[i] if surplus > 0.0 else math.inf


@compiled_inside
def heap_of(keys: Floats, heap: Integers) -> int:
    """Fill a heap with the tasks that may gain anything; return how many there are."""
    size = 0
    for b in range(len(keys)):
        if keys[b] < math.inf:
            heap[size] = b
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        sink(heap, 0, size, place, keys)
    return size


@compiled
def most_gaining_first(present: Present, terms: Terms) -> Board:
    """Map the run of the largest advantage, then the largest of the rest, as long as there is any."""
    board, pairs, tasks = set_up(present), present.pairs, len(present.types)
    keys, heap, holds = np.empty(tasks), np.empty(tasks, dtype=np.int64), np.full(tasks, -1.0)
    columns, seen = np.full(tasks, -1, dtype=np.int64), np.zeros(tasks, dtype=np.int64)
    turns = np.zeros(len(board.size), dtype=np.int64)
    most_gains(present, terms, board, keys)
    size = heap_of(keys, heap)
    while size > 0:
        b = heap[0]
        c = columns[b]
        j = pairs.column_type[c]  # of no use if c is -1
        if c < 0 or seen[b] != turns[j] or not fits(pairs, board.left[0], present.types[b], c, board.start[j]):
            if holds[b] < 0.0:
                holds[b] = hold_of(present, terms, b)
            best, c = gain_of(present, terms, board, b, holds[b])
            keys[b], columns[b], seen[b] = -best, c, turns[pairs.column_type[c]]
        else:
            take_first(present, board, b, c)
            turns[j] += 1
            c = -1
        if c < 0:  # mapped, or nothing to gain
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            sink(heap, 0, size, 0, keys)
    return board
