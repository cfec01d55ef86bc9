"""Compiled loops that map the best pair of task and column first: by its score, or by its advantage at prices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.mapping import fits, is_needed, pile, set_up, sink, take_first, utility

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.simulate.mapping import MappingState, Pairs, ScoreTables, StateView


@compiled_inside
def formula(scores: ScoreTables, per: float, cost: float, earned: float) -> float:
    """Return weight earned / per / scale - cost; what earns nothing scores 0, whatever it takes."""
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
def look(view: StateView, scores: ScoreTables, mapping: MappingState, b: int) -> tuple[float, int]:
    """Return a task's best score and its column (-1: none fits); ties: the earliest end, then the column."""
    pairs, curves, i, f = view.pairs, view.curves, view.types[b], view.functions[b]
    start, left, arrival = mapping.start, mapping.left[0], view.arrivals[b]
    soonest, column = soonest_end(pairs, start, left, i)
    if column < 0:
        return -math.inf, -1
    if scores.by_end:
        return -soonest, column
    most, best_end = utility(curves, f, soonest - arrival), soonest
    best = formula(scores, scores.per[i, column], scores.cost[i, column], most)
    for c in range(len(pairs.column_type)):
        begin = start[pairs.column_type[c]]
        end = begin + pairs.seconds[i, c]
        limit = formula(scores, scores.per[i, c], scores.cost[i, c], most)  # if it ended soonest
        if limit < best or (limit == best and end >= best_end) or not fits(pairs, left, i, c, begin):
            continue
        earned = utility(curves, f, end - arrival)
        score = formula(scores, scores.per[i, c], scores.cost[i, c], earned)
        if score > best or (score == best and (end < best_end or (end == best_end and c < column))):
            best, best_end, column = score, end, c
    return best, column


@compiled_inside
def least_of_types(
    pairs: Pairs, mapping: MappingState, soon: float, per: Floats, cost: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the soonest end, the least `per` and the least cost of each type that waits, of runs that start soon."""
    least = np.full((3, len(mapping.waiting)), math.inf)
    for i in range(len(mapping.waiting)):
        for c in range(len(pairs.column_type) if mapping.waiting[i] > 0 else 0):
            start = mapping.start[pairs.column_type[c]]
            if start < soon and fits(pairs, mapping.left[0], i, c, start):
                least[0, i] = min(least[0, i], start + pairs.seconds[i, c])
                least[1, i], least[2, i] = min(least[1, i], per[i, c]), min(least[2, i], cost[i, c])
    return least[0], least[1], least[2]


@compiled_inside
def bounds(view: StateView, scores: ScoreTables, mapping: MappingState, keys: Floats) -> None:
    """Write minus an upper bound of each task's score; infinite if nothing fits its type, or scores enough."""
    soonest, per, cost = least_of_types(view.pairs, mapping, math.inf, scores.per, scores.cost)
    for b in range(len(keys)):
        i = view.types[b]
        keys[b] = soonest[i]
        if soonest[i] < math.inf and not scores.by_end:
            earned = utility(view.curves, view.functions[b], soonest[i] - view.arrivals[b])
            bound = formula(scores, per[i], cost[i], earned)
            keys[b] = -bound if bound >= scores.least else math.inf


@compiled_inside
def may_fit_now(pairs: Pairs, mapping: MappingState, j: int, before: float, left: float) -> bool:
    """Return whether a run on machine type j fits now that took too much energy when it began `before`."""
    now = mapping.start[j]
    if left == math.inf or now >= pairs.ends_at:
        return False
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        for i in range(len(mapping.waiting)):
            crosses = mapping.waiting[i] > 0 and now + pairs.seconds[i, c] > pairs.ends_at
            if crosses and fits(pairs, mapping.left[0], i, c, now) and not fits(pairs, left, i, c, before):
                return True
    return False


@compiled_inside
def next_alike(view: StateView, scores: ScoreTables) -> Integers:
    """Return for each task the next one that never scores better (by ends: of its type), -1 if there is none."""
    following = np.full(len(view.types), -1, dtype=np.int64)
    last = np.full(len(view.pairs.usable), -1, dtype=np.int64)
    for b in range(len(view.types) if scores.by_end else 0):
        i = view.types[b]
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
    pile(heap, 0, size, keys)
    return size


@compiled
def best_pairs_first(view: StateView, scores: ScoreTables) -> MappingState:
    """Map the pair of task and column that scores best of all, then the best of the rest, and so on."""
    mapping, pairs, tasks = set_up(view), view.pairs, len(view.types)
    keys, heap, following = np.empty(tasks), np.empty(tasks, dtype=np.int64), next_alike(view, scores)
    mapped, columns = np.zeros(tasks, dtype=np.bool_), np.full(tasks, -1, dtype=np.int64)
    turns, seen = np.zeros(len(mapping.size), dtype=np.int64), np.zeros(tasks, dtype=np.int64)
    bounds(view, scores, mapping, keys)
    size = heap_of_tasks(heap, keys, mapped, following)
    goes_on = is_needed(pairs, mapping)
    while size > 0 and goes_on:
        b = heap[0]
        c = columns[b]
        j = pairs.column_type[c]  # of no use if c is -1
        before, left = mapping.start[j], mapping.left[0]
        if c < 0 or seen[b] != turns[j] or not fits(pairs, left, view.types[b], c, before):
            score, c = look(view, scores, mapping, b)
            keys[b], columns[b], seen[b] = -score, c, turns[pairs.column_type[c]]
            if c < 0 or score < scores.least:  # nowhere to go, nor those that are alike; or not worth it
                size -= 1
                heap[0] = heap[size]
        else:
            take_first(view, mapping, b, c)
            mapped[b] = True
            turns[j] += 1
            goes_on = is_needed(pairs, mapping)
            if may_fit_now(pairs, mapping, j, before, left):
                columns[:] = -1
                bounds(view, scores, mapping, keys)
                size = heap_of_tasks(heap, keys, mapped, following)
                continue
            if following[b] < 0:
                size -= 1
                heap[0] = heap[size]
            else:
                heap[0] = following[b]
        if size > 0:
            sink(heap, 0, size, 0, keys)
    return mapping


@compiled
def best_one_by_one(view: StateView, scores: ScoreTables, order: Integers) -> MappingState:
    """Map one task after another, each where it scores best."""
    mapping = set_up(view)
    for b in order:
        if not is_needed(view.pairs, mapping):
            break
        c = look(view, scores, mapping, b)[1]
        if c >= 0:
            take_first(view, mapping, b, c)
    return mapping


# At given prices, the task that gains most per second by running now is mapped first.
#     s, e        start of a run on the machine of its type that is ready first, and its seconds
#     cost        what its machine time and its energy cost at the prices, of each task type and column
#     surplus     U(s + e) - cost
#     hold        patience times the largest surplus that the task would have if it started `later` instead, on any
#                 column that fits: the value of waiting
#     advantage   (surplus - hold) / e, times the part of the run that is before the day ends
# Only runs that start before `soon` and whose surplus is above the hold (and 0) are mapped: later ones can be decided
# better at the next scheduling event. Advantages fall as machines get busy and energy is spent, so that a task's last
# one bounds its next one.
class Terms(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """On what terms runs are accepted."""

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
def hold_of(view: StateView, terms: Terms, b: int) -> float:
    """Return the value of waiting of a task."""
    pairs, i, f, most = view.pairs, view.types[b], view.functions[b], 0.0
    for c in range(len(pairs.column_type)):
        if fits(pairs, view.energy_left, i, c, terms.later):
            seconds = pairs.seconds[i, c]
            earned = utility(view.curves, f, terms.later + seconds - view.arrivals[b])
            most = max(most, part_of(pairs, terms, seconds, terms.later) * (earned - terms.cost[i, c]))
    return terms.patience * most


@compiled_inside
def gain_of(view: StateView, terms: Terms, mapping: MappingState, b: int, hold: float) -> tuple[float, int]:
    """Return a task's best advantage and its column (-1: none); ties go to the lowest column."""
    pairs, i, f, best, column = view.pairs, view.types[b], view.functions[b], 0.0, -1
    for c in range(len(pairs.column_type)):
        start, seconds = mapping.start[pairs.column_type[c]], pairs.seconds[i, c]
        if start >= terms.soon or not fits(pairs, mapping.left[0], i, c, start):
            continue
        surplus = utility(view.curves, f, start + seconds - view.arrivals[b]) - terms.cost[i, c]
        advantage = (part_of(pairs, terms, seconds, start) * surplus - hold) / seconds
        if advantage > best:
            best, column = advantage, c
    return best, column


@compiled_inside
def most_gains(view: StateView, terms: Terms, mapping: MappingState, keys: Floats) -> None:
    """Write minus an upper bound of each task's advantage; infinite if it can have none."""
    soonest, least, cost = least_of_types(view.pairs, mapping, terms.soon, view.pairs.seconds, terms.cost)
    for b in range(len(keys)):
        i, surplus = view.types[b], 0.0
        if soonest[i] < math.inf:
            elapsed = soonest[i] - view.arrivals[b]
            surplus = utility(view.curves, view.functions[b], elapsed) - cost[i]
        keys[b] = -surplus / least[i] if surplus > 0.0 else math.inf


@compiled
def most_gaining_first(view: StateView, terms: Terms) -> MappingState:
    """Map the run of the largest advantage, then the largest of the rest, as long as there is any."""
    mapping, pairs, tasks = set_up(view), view.pairs, len(view.types)
    keys, heap, holds = np.empty(tasks), np.empty(tasks, dtype=np.int64), np.full(tasks, -1.0)
    columns, seen = np.full(tasks, -1, dtype=np.int64), np.zeros(tasks, dtype=np.int64)
    turns = np.zeros(len(mapping.size), dtype=np.int64)
    most_gains(view, terms, mapping, keys)
    size = heap_of_tasks(heap, keys, np.zeros(tasks, dtype=np.bool_), columns)  # none is mapped, none is alike
    while size > 0:
        b = heap[0]
        c = columns[b]
        j = pairs.column_type[c]  # of no use if c is -1
        if c < 0 or seen[b] != turns[j] or not fits(pairs, mapping.left[0], view.types[b], c, mapping.start[j]):
            if holds[b] < 0.0:
                holds[b] = hold_of(view, terms, b)
            best, c = gain_of(view, terms, mapping, b, holds[b])
            keys[b], columns[b], seen[b] = -best, c, turns[pairs.column_type[c]]
        else:
            take_first(view, mapping, b, c)
            turns[j] += 1
            c = -1
        if c < 0:  # mapped, or nothing to gain
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            sink(heap, 0, size, 0, keys)
    return mapping
