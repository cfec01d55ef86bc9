"""Sufferage: each machine to the task that would lose most of those that would earn most there.

In a round every waiting task names the machine where it ends soonest, and suffers by what it would earn less
on the second-best machine; nothing there, if there is no other. Each machine that is named takes the task
that suffers most of those that name it. Those that are taken are mapped, and the next round begins. Of one
round, who suffers most goes first, which matters where energy is short.

A machine offers the fastest P-state that fits. As everywhere, of a machine type the first machine to be
ready takes the task; the second counts as second-best.

Source: Friese, thesis of 2015, section 2.4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.choosing import by_sufferage

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignments, State


def sufferage(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return by_sufferage(state)
