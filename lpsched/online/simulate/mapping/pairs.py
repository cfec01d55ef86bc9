"""The best pair of task and column first; or the worst sufferer. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.mapping.board import fastest_fitting, fits, is_needed, set_up, sink, take_first, utility

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.simulate.mapping.present import Board, Pairs, Present, ScoreTables


# The pair of task and column that scores best of all is mapped first. Compiled.
@compiled_inside
def formula(scores: ScoreTables, per: float, cost: float, earned: float) -> float:
    """Return weight earned / per / scale - cost; what earns nothing is worth 0, whatever it takes."""
    if earned <= 0.0 or scores.weight <= 0.0:
        return -cost
    return math.inf if per <= 0.0 else scores.weight * (earned / per / scores.scale) - cost


@compiled_inside
def soonest_end(pairs: Pairs, start: Floats, left: float, i: int) -> tuple[float, int]:
    """Return the earliest end of a task type, and its column: -1 if none fits."""
    column, soonest = -1, math.inf
    for c in range(len(pairs.column_type)):
        begin = start[pairs.column_type[c]]
        if begin + pairs.seconds[i, c] < soonest and fits(pairs, left, i, c, begin):
            column, soonest = c, begin + pairs.seconds[i, c]
    return soonest, column


@compiled_inside
def look(present: Present, scores: ScoreTables, board: Board, b: int) -> tuple[float, int]:
    """Return a task's best score and its column (-1: none fits); ties: the earliest end, then the column."""
    pairs, worths, i, f = present.pairs, present.worths, present.types[b], present.functions[b]
    start, left, arrival = board.start, board.left[0], present.arrivals[b]
    soonest, column = soonest_end(pairs, start, left, i)
    if column < 0:
        return -math.inf, -1
    if scores.by_end:
        return -soonest, column
    most, best_end = utility(worths, f, soonest - arrival), soonest
    best = formula(scores, scores.per[i, column], scores.cost[i, column], most)
    for c in range(len(pairs.column_type)):
        begin = start[pairs.column_type[c]]
        end = begin + pairs.seconds[i, c]
        limit = formula(scores, scores.per[i, c], scores.cost[i, c], most)  # if it ended soonest
        if limit < best or (limit == best and end >= best_end) or not fits(pairs, left, i, c, begin):
            continue
        earned = utility(worths, f, end - arrival)
        score = formula(scores, scores.per[i, c], scores.cost[i, c], earned)
        if score > best or (score == best and (end < best_end or (end == best_end and c < column))):
            best, best_end, column = score, end, c
    return best, column


@compiled_inside
def bounds(present: Present, scores: ScoreTables, board: Board, keys: Floats) -> None:
    """Write minus an upper bound of each task's score; infinite if nothing fits its type, or is worth it."""
    pairs, types, left = present.pairs, len(board.waiting), board.left[0]
    soonest, per, cost = np.full(types, math.inf), np.full(types, math.inf), np.full(types, math.inf)
    for i in range(types):
        if board.waiting[i] > 0:
            for c in range(len(pairs.column_type)):
                start = board.start[pairs.column_type[c]]
                if fits(pairs, left, i, c, start):
                    soonest[i] = min(soonest[i], start + pairs.seconds[i, c])
                    per[i], cost[i] = min(per[i], scores.per[i, c]), min(cost[i], scores.cost[i, c])
    for b in range(len(keys)):
        i = present.types[b]
        keys[b] = soonest[i]
        if soonest[i] < math.inf and not scores.by_end:
            earned = utility(present.worths, present.functions[b], soonest[i] - present.arrivals[b])
            bound = formula(scores, per[i], cost[i], earned)
            keys[b] = -bound if bound >= scores.least else math.inf


@compiled_inside
def may_fit_now(pairs: Pairs, board: Board, j: int, before: float, left: float) -> bool:
    """Tell whether a run on machine type j fits now that took too much energy when it began `before`."""
    now = board.start[j]
    if left == math.inf or now >= pairs.ends_at:
        return False
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        for i in range(len(board.waiting)):
            crosses = board.waiting[i] > 0 and now + pairs.seconds[i, c] > pairs.ends_at
            if crosses and fits(pairs, board.left[0], i, c, now) and not fits(pairs, left, i, c, before):
                return True
    return False


@compiled_inside
def next_alike(present: Present, scores: ScoreTables) -> Integers:
    """Return for each task the next one that never scores better, -1 if there is none.

    By their ends, all tasks of one type score alike, and the lowest goes first.
    """
    following = np.full(len(present.types), -1, dtype=np.int64)
    last = np.full(len(present.pairs.usable), -1, dtype=np.int64)
    for b in range(len(present.types) if scores.by_end else 0):
        i = present.types[b]
        if last[i] >= 0:
            following[last[i]] = b
        last[i] = b
    return following


@compiled_inside
def heap_of_tasks(heap: Integers, keys: Floats, mapped: Mask, following: Integers) -> int:
    """Fill a heap with the tasks that may be next and may fit somewhere; return how many there are."""
    behind, size = np.zeros(len(keys), dtype=np.bool_), 0
    for b in range(len(keys)):
        if following[b] >= 0:
            behind[following[b]] = not mapped[b]
        if not mapped[b] and not behind[b] and keys[b] < math.inf:
            heap[size] = b
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        sink(heap, 0, size, place, keys)
    return size


@compiled
def best_pairs_first(present: Present, scores: ScoreTables) -> Board:
    """Map the pair of task and column that scores best of all, then the best of the rest, and so on."""
    board, pairs, tasks = set_up(present), present.pairs, len(present.types)
    keys, heap, following = np.empty(tasks), np.empty(tasks, dtype=np.int64), next_alike(present, scores)
    mapped, columns = np.zeros(tasks, dtype=np.bool_), np.full(tasks, -1, dtype=np.int64)
    turns, seen = np.zeros(len(board.size), dtype=np.int64), np.zeros(tasks, dtype=np.int64)
    bounds(present, scores, board, keys)
    size = heap_of_tasks(heap, keys, mapped, following)
    goes_on = is_needed(pairs, board)
    while size > 0 and goes_on:
        b = heap[0]
        c = columns[b]
        j = pairs.column_type[c]  # of no use if c is -1
        before, left = board.start[j], board.left[0]
        if c < 0 or seen[b] != turns[j] or not fits(pairs, left, present.types[b], c, before):
            score, c = look(present, scores, board, b)
            keys[b], columns[b], seen[b] = -score, c, turns[pairs.column_type[c]]
            if c < 0 or score < scores.least:  # nowhere to go, nor those that are alike; or not worth it
                size -= 1
                heap[0] = heap[size]
        else:
            take_first(present, board, b, c)
            mapped[b] = True
            turns[j] += 1
            goes_on = is_needed(pairs, board)
            if may_fit_now(pairs, board, j, before, left):
                columns[:] = -1
                bounds(present, scores, board, keys)
                size = heap_of_tasks(heap, keys, mapped, following)
                continue
            if following[b] < 0:
                size -= 1
                heap[0] = heap[size]
            else:
                heap[0] = following[b]
        if size > 0:
            sink(heap, 0, size, 0, keys)
    return board


@compiled
def best_one_by_one(present: Present, scores: ScoreTables, order: Integers) -> Board:
    """Map one task after another, each where it scores best."""
    board = set_up(present)
    for b in order:
        if not is_needed(present.pairs, board):
            break
        c = look(present, scores, board, b)[1]
        if c >= 0:
            take_first(present, board, b, c)
    return board


# Who would suffer most if another took its machine is mapped first, machine by machine. Compiled.
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
