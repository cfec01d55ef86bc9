"""K-Best Types: each task as it comes, on the K machine types where it is fastest, where it ends soonest.

A machine type is as fast as the fastest of its P-states that is allowed. K = 1 is MET-Max Util, all types are
Max Util.

Source: Friese, thesis of 2015, section 2.4.2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import best_in_turn
from lpsched.simulation.scores import by_end

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.policy import Choose
    from lpsched.simulation.state import Assignments, State


def k_best_types(count: int = 1) -> Choose:
    """Return the rule for so many machine types."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_in_turn(state, by_end, fastest_types=count)

    return choose
