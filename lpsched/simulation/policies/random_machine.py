"""Random: each task as it comes, on any machine that can run it.

The machine is drawn from those that may take the task; it runs in the first P-state that fits, for the
thesis has no P-states there.

Source: Friese, thesis of 2015, section 2.4.2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import drawn_in_turn

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def random_machine(state: State, rng: np.random.Generator, /) -> Assignments:
    """Answer as a task arrives."""
    return drawn_in_turn(state, rng, "first")
