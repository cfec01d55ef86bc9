"""The machine types where a task is fastest. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers, Mask


@compiled
def of_fastest_types(
    usable: Mask, seconds: Floats, first_column: Integers, types: Integers, count: int
) -> Mask:
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
