"""Free slots of the nodes of a cluster, and the earliest start of parallel tasks in them. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.mapping import pile, sink

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers


# Sorting and searching by small loops, which compile in a fraction of the time of NumPy's.
@compiled_inside
def sorted_by(keys: Floats) -> Integers:
    """Return 0, 1, 2 ... by rising key; equals keep their order."""
    size = len(keys)
    heap, order = np.arange(size), np.empty(size, dtype=np.int64)
    pile(heap, 0, size, keys)
    for place in range(size):
        order[place] = heap[0]
        heap[0] = heap[size - 1 - place]
        sink(heap, 0, size - 1 - place, 0, keys)
    return order


@compiled_inside
def first_above(values: Integers, limit: int) -> int:
    """Return the place of the first of rising values that is above a limit."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


# The free time of a cluster's nodes as rectangles: slots.
#    slot      nodes low to high (excluded), each of them free from `begin` to `end`, and busy just before and just
#              after; an end may be infinite. The slots of one node never touch each other.
#    n, d      nodes and seconds that a task needs
#    fits      a slot from which a task may start at s: begin <= s and s + d <= end, in doubles
# A task takes whole slots and cuts at most one, so that there are hardly more slots than ranges of nodes in use. No
# loop here counts nodes or seconds. Nothing is changed in place: each change returns new slots, and a copy costs
# nothing.
#
# Earliest start: the number of nodes that fit rises only where a slot begins, hence the earliest start is one of these
# times, or the first that is allowed. Slots come in the order of their begins, and go in the order of their ends, each
# once: two orders, sorted once for all queries until something changes.
class FreeSlots(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """Free nodes; those that are free at the same time come by rising node."""

    low: Integers
    high: Integers
    begin: Floats
    end: Floats


Orders: TypeAlias = "tuple[Integers, Integers]"


@compiled
def orders_of(slots: FreeSlots) -> Orders:
    """Return the slots sorted by their begins, and by their ends."""
    return sorted_by(slots.begin), sorted_by(slots.end)


@compiled
def earliest(slots: FreeSlots, orders: Orders, nodes: int, seconds: float, limits: tuple[float, float]) -> float:
    """Return the first start, between two limits, at which enough nodes fit; infinite if there is none."""
    not_before, before = limits
    low, high, begin, end = slots
    by_begin, by_end = orders
    count, coming, going, found = len(low), 0, 0, 0
    while coming < count:
        start = max(begin[by_begin[coming]], not_before)
        if start >= before:
            break
        while coming < count and begin[by_begin[coming]] <= start:
            i = by_begin[coming]
            if start + seconds <= end[i]:
                found += high[i] - low[i]
            coming += 1
        while going < count and end[by_end[going]] < start + seconds:
            i = by_end[going]
            if max(begin[i], not_before) + seconds <= end[i]:  # else it never came
                found -= high[i] - low[i]
            going += 1
        if found >= nodes:
            return float(start)
    return math.inf


@compiled_inside
def empty(most: int) -> FreeSlots:
    """Return room for `most` slots."""
    return FreeSlots(np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most), np.empty(most))


@compiled_inside
def first(slots: FreeSlots, count: int) -> FreeSlots:
    """Return the first `count` slots."""
    low, high, begin, end = slots
    return FreeSlots(low[:count], high[:count], begin[:count], end[:count])


@compiled_inside
def put(into: FreeSlots, size: int, nodes: tuple[int, int], begin: float, end: float) -> int:
    """Add a slot unless it is empty; return how many there are then."""
    if nodes[0] < nodes[1] and begin < end:
        into.low[size], into.high[size] = nodes
        into.begin[size], into.end[size] = begin, end
        size += 1
    return size


@compiled
def overlapping(slots: FreeSlots, start: float, until: float, ranges: Integers) -> tuple[int, int]:
    """Return how many nodes of rising ranges are free from one time to another, and in how many segments."""
    lows, highs, nodes, segments = ranges[0], ranges[1], 0, 0
    for i in range(len(slots.low)):
        if slots.begin[i] <= start and until <= slots.end[i]:
            r = first_above(highs, slots.low[i])
            while r < len(lows) and lows[r] < slots.high[i]:
                nodes += min(slots.high[i], highs[r]) - max(slots.low[i], lows[r])
                segments += 1
                r += 1
    return nodes, segments


@compiled
def taken(slots: FreeSlots, start: float, until: float, ranges: Integers) -> FreeSlots:
    """Return what is left when ranges of free nodes (2 x R: low, high) are busy from one time to another."""
    low, high, begin, end = slots
    lows, highs, size = ranges[0], ranges[1], 0
    left = empty(len(low) + 3 * overlapping(slots, start, until, ranges)[1])
    for i in range(len(low)):
        rest = low[i]
        if begin[i] <= start and until <= end[i]:
            r = first_above(highs, low[i])
            while r < len(lows) and lows[r] < high[i]:
                inside = (max(low[i], lows[r]), min(high[i], highs[r]))
                size = put(left, size, (rest, inside[0]), begin[i], end[i])
                size = put(left, size, inside, begin[i], start)
                size = put(left, size, inside, until, end[i])
                rest = inside[1]
                r += 1
        size = put(left, size, (rest, high[i]), begin[i], end[i])
    return first(left, size)


@compiled_inside
def cut_out(slots: FreeSlots, times: Floats, time: float, ranges: Integers) -> tuple[FreeSlots, FreeSlots]:
    """Split slots into those beside the ranges, or without this time, and those that have both."""
    low, high, begin, end = slots
    lows, highs, rests, insides = ranges[0], ranges[1], 0, 0
    most = len(low) + len(lows)  # in each segment a range begins, or a slot does
    beside, within = empty(len(low) + most), empty(most)
    for i in range(len(low)):
        rest = low[i]
        if times[i] == time:
            r = first_above(highs, low[i])
            while r < len(lows) and lows[r] < high[i]:
                inside = (max(low[i], lows[r]), min(high[i], highs[r]))
                rests = put(beside, rests, (rest, inside[0]), begin[i], end[i])
                insides = put(within, insides, inside, begin[i], end[i])
                rest = inside[1]
                r += 1
        rests = put(beside, rests, (rest, high[i]), begin[i], end[i])
    return first(beside, rests), first(within, insides)


@compiled_inside
def at_node(segments: FreeSlots, order: Integers, place: int, node: int, upto: int) -> tuple[int, int]:
    """Return which segment has a node (-1: none), and up to where that is so; `place` is the next segment."""
    if place == len(order):
        return -1, upto
    i = order[place]
    if segments.low[i] > node:
        return -1, min(upto, segments.low[i])
    return i, min(upto, segments.high[i])


@compiled
def freed(slots: FreeSlots, start: float, until: float, ranges: Integers) -> FreeSlots:
    """Return what is free when ranges of nodes are no longer busy from one time to another, joined with what was."""
    rest, before = cut_out(slots, slots.end, start, ranges)
    rest, after = cut_out(rest, rest.begin, until, ranges)
    orders = sorted_by(before.low.astype(np.float64)), sorted_by(after.low.astype(np.float64))
    made = empty(len(rest.low) + 2 * (len(before.low) + len(after.low)) + ranges.shape[1])
    size, p, q = 0, 0, 0
    for i in range(len(rest.low)):
        size = put(made, size, (rest.low[i], rest.high[i]), rest.begin[i], rest.end[i])
    for r in range(ranges.shape[1]):
        node = ranges[0, r]
        while node < ranges[1, r]:
            i, upto = at_node(before, orders[0], p, node, ranges[1, r])
            j, upto = at_node(after, orders[1], q, node, upto)
            begin, end = before.begin[i] if i >= 0 else start, after.end[j] if j >= 0 else until
            size = put(made, size, (node, upto), begin, end)
            node = upto
            p += 1 if i >= 0 and before.high[i] == node else 0
            q += 1 if j >= 0 and after.high[j] == node else 0
    return first(made, size)


@compiled
def joined(slots: FreeSlots, since: float) -> FreeSlots:
    """Return the slots from a time on, adjacent ones with the same times as one."""
    low, high, end = slots.low, slots.high, slots.end
    begin = np.maximum(slots.begin, since)
    order = sorted_by(low.astype(np.float64))
    lows, gone = low[order], end <= since
    made, size = empty(len(low)), 0
    for place in range(len(order)):
        i = order[place]
        if gone[i]:
            continue
        top, goes_on = high[i], True
        while goes_on:
            goes_on, other = False, first_above(lows, top - 1)
            while other < len(lows) and lows[other] == top:
                j = order[other]
                if not gone[j] and begin[j] == begin[i] and end[j] == end[i]:
                    top, gone[j], goes_on = high[j], True, True
                    break
                other += 1
        size = put(made, size, (low[i], top), begin[i], end[i])
    return first(made, size)


# Which of the free nodes a task takes, to run in [s, e): fewest voids first, then the smallest slot (end - begin), then
# the lowest node. Voids of a slot: one before the task if begin < s, one after it if e < end < infinity. (The source
# says: fewest voids, then the smallest voids to put the task into.)
# Source: Machovec et al. (2016), section III.F and figure 5.
@compiled_inside
def joined_ranges(ranges: Integers) -> Integers:
    """Return ranges of nodes (2 x R) by rising node, adjacent ones as one."""
    order = sorted_by(ranges[0].astype(np.float64))
    made, size = np.empty_like(ranges), 0
    for i in order:
        if size > 0 and made[1, size - 1] == ranges[0, i]:
            made[1, size - 1] = ranges[1, i]
        else:
            made[0, size], made[1, size] = ranges[0, i], ranges[1, i]
            size += 1
    return made[:, :size].copy()


@compiled
def chosen(slots: FreeSlots, nodes: int, start: float, until: float) -> Integers:
    """Return the ranges of nodes (2 x R: low, high; rising) that a task takes; all that are free, if fewer are."""
    low, high, begin, end = slots
    sizes, heap = np.zeros(len(low)), np.empty(len(low), dtype=np.int64)
    ranges, made = np.empty((2, len(low)), dtype=np.int64), 0
    for voids in range(3):
        size = 0
        for i in range(len(low) if nodes > 0 else 0):
            if begin[i] <= start and until <= end[i]:
                leaves = (1 if begin[i] < start else 0) + (1 if until < end[i] < math.inf else 0)
                if leaves == voids:
                    sizes[i] = end[i] - begin[i]
                    heap[size] = i
                    size += 1
        pile(heap, 0, size, sizes)
        while size > 0 and nodes > 0:
            i = heap[0]  # of equals the lowest node: see `Openings`
            ranges[0, made], ranges[1, made] = low[i], min(high[i], low[i] + nodes)
            nodes -= ranges[1, made] - ranges[0, made]
            made += 1
            size -= 1
            heap[0] = heap[size]
            sink(heap, 0, size, 0, sizes)
    return joined_ranges(ranges[:, :made].copy())
