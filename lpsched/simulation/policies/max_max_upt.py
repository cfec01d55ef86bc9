"""Max-Max UPT: of all pairs of task and column the one of the most utility per second; then the next.

Source: Friese, thesis of 2015, section 2.4.3, 3.3.2 and 4.3.4 (Max UPT).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_first
from lpsched.simulation.scores import by_utility_per_time

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def max_max_upt(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility_per_time)
