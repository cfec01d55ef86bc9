"""Min-Min Comp: of all waiting tasks the one that can end soonest, where it ends soonest; then the next.

Source: Friese, thesis of 2015, section 2.4.3 and 3.3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_first
from lpsched.simulation.scores import by_end

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def min_min(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_end)
