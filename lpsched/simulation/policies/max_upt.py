"""Max UPT: each task as it comes, where it earns most per second that it runs.

Source: Friese, thesis of 2015, section 2.4.2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_in_turn
from lpsched.simulation.scores import by_utility_per_time

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def max_upt(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_in_turn(state, by_utility_per_time)
