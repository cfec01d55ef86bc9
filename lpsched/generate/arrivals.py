"""When tasks arrive.

Evenly at random: each task's arrival is drawn from the whole span by itself, so that the number of tasks in
any minute varies as chance will have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats


def even_arrivals(rng: np.random.Generator, number: int, span_seconds: float) -> Floats:
    """Return arrivals from 0 to the span in rising order, to a hundredth of a second.

    >>> even_arrivals(np.random.default_rng(0), 3, 60.0).tolist()
    [2.46, 16.19, 38.22]
    """
    return np.round(np.sort(rng.random(number)) * span_seconds, 2)
