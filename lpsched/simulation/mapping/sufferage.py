"""Who would suffer most if another took its machine is mapped first, machine by machine. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled, compiled_inside
from lpsched.simulation.mapping.board import (
    fastest_fitting,
    fits,
    is_needed,
    set_up,
    take_first,
    utility,
)

if TYPE_CHECKING:
    from lpsched.simulation.mapping.present import Board, Pairs, Present


@compiled_inside
def second_start_on(board: Board, j: int) -> float:
    """Return when the second machine of a type is ready; infinite if there is none."""
    start = math.inf
    for child in range(1, min(3, board.size[j])):  # the second of a heap is below its top
        start = min(start, board.ready[board.heap[board.first[j] + child]])
    return start


@compiled_inside
def two_best(pairs: Pairs, board: Board, i: int) -> tuple[int, float, float]:
    """Return where a task type ends soonest (-1: nowhere), that end, and the one on the second-best machine.

    A machine offers its fastest column that fits. The second machine of a type counts if its first fits.
    """
    column, soonest, second = -1, math.inf, math.inf
    for j in range(len(board.size)):
        start = board.start[j]
        c = fastest_fitting(pairs, board.left[0], i, j, start)
        if c < 0:
            continue
        end = start + pairs.seconds[i, c]
        if end < soonest:
            column, soonest, second = c, end, min(second, soonest)
        else:
            second = min(second, end)
        start = second_start_on(board, j)
        c = fastest_fitting(pairs, board.left[0], i, j, start)
        if c >= 0:
            second = min(second, start + pairs.seconds[i, c])
    return column, soonest, second


@compiled_inside
def loss(present: Present, b: int, soonest: float, second: float) -> float:
    """Return what a task loses that has to take the second-best machine; all, if there is none."""
    f, arrival = present.functions[b], present.arrivals[b]
    elsewhere = utility(present.worths, f, second - arrival) if second < math.inf else 0.0
    return utility(present.worths, f, soonest - arrival) - elsewhere


@compiled
def worst_sufferers_first(present: Present) -> Board:
    """Map, round by round, to each machine the task that would suffer most of those that prefer it."""
    pairs = present.pairs
    board, tasks, types = set_up(present), len(present.types), len(present.pairs.usable)
    mapped = np.zeros(tasks, dtype=np.bool_)
    column = np.empty(types, dtype=np.int64)
    soonest, second = np.empty(types), np.empty(types)
    champion, most = np.empty(len(board.size), dtype=np.int64), np.empty(len(board.size))
    while is_needed(pairs, board):
        for i in range(types):
            column[i] = -1
            if board.waiting[i] > 0:
                column[i], soonest[i], second[i] = two_best(pairs, board, i)
        champion[:], most[:] = -1, 1.0
        for b in range(tasks):
            i = present.types[b]
            if mapped[b] or column[i] < 0:
                continue
            j, gained = pairs.column_type[column[i]], -loss(present, b, soonest[i], second[i])
            if champion[j] < 0 or gained < most[j]:
                champion[j], most[j] = b, gained
        if champion.max() < 0:
            break
        by_number = np.argsort(champion)
        for place in np.argsort(most[by_number], kind="mergesort"):  # keeps the order of equals
            j = by_number[place]
            b = champion[j]
            c = column[present.types[b]] if b >= 0 else -1
            if c >= 0 and fits(pairs, board.left[0], present.types[b], c, board.start[j]):
                take_first(present, board, b, c)
                mapped[b] = True
    return board
