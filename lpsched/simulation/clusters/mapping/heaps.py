"""Heaps, sorting and searching: small loops, which compile in a fraction of the time of NumPy's. Compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled_inside

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers


@compiled_inside
def sink(heap: Integers, size: int, place: int, keys: Floats) -> None:
    """Let an entry of a heap sink to where it belongs: the least key is on top, then the least entry."""
    moving = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        low, other = heap[child], child + 1
        if other < size:
            high = heap[other]
            if keys[high] < keys[low] or (keys[high] == keys[low] and high < low):
                child, low = other, high
        if keys[moving] < keys[low] or (keys[moving] == keys[low] and moving < low):
            break
        heap[place] = low
        place = child
    heap[place] = moving


@compiled_inside
def pile(heap: Integers, size: int, keys: Floats) -> None:
    """Make a heap of entries in any order."""
    for place in range(size // 2 - 1, -1, -1):
        sink(heap, size, place, keys)


@compiled_inside
def sorted_by(keys: Floats) -> Integers:
    """Return 0, 1, 2 ... by rising key; equals keep their order."""
    size = len(keys)
    heap, order = np.arange(size), np.empty(size, dtype=np.int64)
    pile(heap, size, keys)
    for place in range(size):
        order[place] = heap[0]
        heap[0] = heap[size - 1 - place]
        sink(heap, size - 1 - place, 0, keys)
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
