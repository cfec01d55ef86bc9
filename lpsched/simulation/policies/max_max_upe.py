"""Max-Max UPE: of all pairs of waiting task and column the one of the most utility per joule; then the next.

A pair that takes no energy comes before all others if it earns anything, and is worth 0 if it earns nothing.

Source: Friese, thesis of 2015, section 3.3.2 and 4.3.4 (Max UPE).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_first
from lpsched.simulation.scores import by_utility_per_energy

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def max_max_upe(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility_per_energy)
