"""FCFS: who came first is mapped first, to the machine that is ready first.

A task that fits nowhere is passed over. See `orders.py`.

Source: Friese, thesis of 2015, section 4.3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import ready_in_turn
from lpsched.simulation.policies.orders import first_come, first_p_states

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def fcfs(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event, with the first P-state only."""
    return ready_in_turn(state, first_come(state), usable=first_p_states(state))


def fcfs_all(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event; a later P-state is taken if no earlier one fits."""
    return ready_in_turn(state, first_come(state))
