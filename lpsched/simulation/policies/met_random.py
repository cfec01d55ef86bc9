"""MET-Random: each task as it comes, on any machine of the type where it is fastest, in the fastest P-state.

Source: Friese, thesis of 2015, section 2.4.2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import drawn_in_turn

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def met_random(state: State, rng: np.random.Generator, /) -> Assignments:
    """Answer as a task arrives."""
    return drawn_in_turn(state, rng, "fastest", fastest_types=1)
