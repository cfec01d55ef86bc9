"""Max-Max Util: of all waiting tasks the one that earns most where it earns most; then the next.

A task earns most where it ends soonest, so its machine is that of Min-Min; which task goes first differs.

Source: Friese, thesis of 2015, section 2.4.3, 3.3.2 and 4.3.4 (Max Utility).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_first
from lpsched.simulation.scores import by_utility

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def max_max_util(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility)
