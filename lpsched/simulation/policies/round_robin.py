"""Round-Robin: each task as it comes, on the next machine that can take it, in an order drawn once a day.

After a task, the machine behind its own is asked first; machines that cannot take a task are passed over. A
task runs in the first P-state that fits, for the thesis has no P-states there.

Source: Friese, thesis of 2015, section 2.4.2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.simulation.draft import Draft

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.state import Assignment, State

ORDER: Final = "order"  # in the policy's memory: machines
NEXT: Final = "next"  # likewise: the place in that order that is asked first


def round_robin(state: State, rng: np.random.Generator, /) -> list[Assignment]:
    """Answer as a task arrives."""
    if ORDER not in state.memory:
        state.memory.update({ORDER: rng.permutation(len(state.ready)).tolist(), NEXT: 0})
    draft = Draft(state)
    for place in range(len(state.tasks)):
        _take_the_next(draft, place)
    return draft.assignments


def _take_the_next(draft: Draft, place: int) -> None:
    """Map a task to the next machine that can take it, if there is one."""
    memory, system = draft.state.memory, draft.system
    order: list[int] = memory[ORDER]
    for step in range(len(order)):
        at = (memory[NEXT] + step) % len(order)
        j = system.machine_type[order[at]]
        for column in range(*system.first_column[j : j + 2].tolist()):
            if draft.fits(place, order[at], column):
                draft.take(place, order[at], column)
                memory[NEXT] = (at + 1) % len(order)
                return
