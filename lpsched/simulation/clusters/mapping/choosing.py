"""Which of the free nodes a task takes. Compiled.

    [s, e)   when the task runs; an opening fits if begin <= s and e <= end
    voids    that it leaves in an opening: one before it if begin < s, one after it if e < end < infinity
    size     of the opening, end - begin

Fewest voids first, then the smallest opening, then the lowest node. (The source says: fewest voids, then the
smallest voids to put the task into.)

Source: Machovec et al. (2016), section III.F and figure 5.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled, compiled_inside
from lpsched.simulation.clusters.mapping.heaps import pile, sink, sorted_by

if TYPE_CHECKING:
    from lpsched.instance.array_types import Integers
    from lpsched.simulation.clusters.mapping.openings import Openings


@compiled_inside
def joined_ranges(ranges: Integers) -> Integers:
    """Return ranges of nodes (2 x R) by rising node, and neighbours as one."""
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
def chosen(openings: Openings, nodes: int, start: float, until: float) -> Integers:
    """Return the ranges of nodes (2 x R: low, high; rising) that a task takes.

    If fewer nodes are free all that time, these.
    """
    low, high, begin, end = openings
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
        pile(heap, size, sizes)
        while size > 0 and nodes > 0:
            i = heap[0]  # of equals the lowest node: see `Openings`
            ranges[0, made], ranges[1, made] = low[i], min(high[i], low[i] + nodes)
            nodes -= ranges[1, made] - ranges[0, made]
            made += 1
            size -= 1
            heap[0] = heap[size]
            sink(heap, size, 0, sizes)
    return joined_ranges(ranges[:, :made].copy())
