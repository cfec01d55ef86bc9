"""The orders in which tasks get their turn, and the P-states of those who know only the first.

Of tasks that arrived at the same time, the lowest number comes first, whether the first or the last arrivals
go first. A task's priority is the utility that it begins with. P-state 0 is the first of a machine type;
where a pair is absent in it, the machine is no choice for policies that know no other.

Source: Friese, thesis of 2015, section 4.3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Integers, Mask
    from lpsched.simulation.state import State

FIRST: Final = "first P-states"  # in the policy's memory


def first_come(state: State) -> Integers:
    """Return the places of the tasks, those that came first first."""
    return np.arange(len(state.tasks), dtype=np.int64)


def last_come(state: State) -> Integers:
    """Return the places of the tasks, those that came last first."""
    order: Integers = np.argsort(-state.arrivals, kind="stable")
    return order


def by_priority(state: State, order: Integers) -> Integers:
    """Return the places in an order that puts higher priorities first, and otherwise stays as it was."""
    system = state.system
    priorities = system.starts_at[system.first_interval[state.functions[order]]]
    return order[np.argsort(-priorities, kind="stable")]


def first_p_states(state: State) -> Mask:
    """Return what is allowed in P-state 0."""
    first = np.zeros(len(state.system.column_type), dtype=bool)
    first[state.system.first_column[:-1]] = True
    return state.allowed & first
