"""MET-Max Util-Max UPT: as Max-Max UPT, but a task may only use the machine type where it is fastest.

The fastest machine type is that of the column of the least seconds among those that are allowed. On it, the
P-state that ends soonest of those that fit is also the one of the most utility per second.

Source: Friese, thesis of 2015, section 2.4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_first
from lpsched.simulation.scores import by_utility_per_time

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def met_max_util_max_upt(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility_per_time, fastest_types=1)
