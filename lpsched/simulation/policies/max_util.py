"""Max Util: each task as it comes, where it ends soonest and so earns most.

Source: Friese, thesis of 2015, section 2.4.2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_in_turn
from lpsched.simulation.scores import by_end

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def max_util(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_in_turn(state, by_end)
