"""Random: tasks in any order, each on any machine that can run it, in any P-state.

One that is drawn is drawn from what passes the filter and fits.

Source: Friese, thesis of 2015, section 4.3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import drawn_in_order

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def random_batch(state: State, rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return drawn_in_order(state, rng)
