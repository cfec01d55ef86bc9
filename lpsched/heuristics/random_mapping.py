"""Random: every task runs on a machine drawn evenly from all that can run it, in a P-state drawn evenly too.

What a sensible rule must beat. How many of n_i equal tasks fall on each machine type and P-state, and of
those on each machine, is drawn at once by multinomial distributions; where there are fewer tasks than
machines, the machine of each task is drawn. So of all rules on counts this one alone grows with the number of
machines. A machine runs its tasks in the order of the file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.instance.arrays import arrays_of
from lpsched.schedule.bag import MachineGroup, Run, Schedule

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.arrays import BagArrays

MOST_DRAWS: Final = 2_000_000  # a few seconds, and as many runs in the schedule


def random_mapping(bag: Bag, rng: np.random.Generator) -> Schedule:
    """Hand out the tasks at random.

    Raises
    ------
    InstanceError
        If more than `MOST_DRAWS` numbers would have to be drawn.
    """
    arrays = arrays_of(bag)
    places = (arrays.can_run * arrays.machine_counts[arrays.machine_of]).sum(axis=1)
    draws = int(np.minimum(arrays.task_counts, places).sum())
    if draws > MOST_DRAWS:
        found = f"{bag.machines:,} machines, for which random draws {draws:,} numbers"
        fault = Fault(("machine_types",), found, f"at most {MOST_DRAWS:,}", "leave random out")
        raise InstanceError(bag.name, (fault,))
    pasts: list[dict[int, list[Run]]] = [{} for _ in bag.machine_types]  # by the machine's number
    for i, task in enumerate(bag.task_types):
        columns = np.flatnonzero(arrays.can_run[i])
        shares = rng.multinomial(task.count, _chances(arrays, columns))
        for place in np.flatnonzero(shares).tolist():
            j, k = bag.modes[columns[place]]
            machine = bag.machine_types[j]
            state = None if machine.p_states is None else machine.p_states[k]
            for number, count in _drawn(int(shares[place]), machine.count, rng):
                pasts[j].setdefault(number, []).append(Run(task.name, count, state))
    return Schedule(
        tuple(
            MachineGroup(machine.name, number, runs)
            for machine, own in zip(bag.machine_types, pasts, strict=True)
            for runs, number in Counter(map(tuple, own.values())).items()
        )
    )


def _chances(arrays: BagArrays, columns: Integers) -> Floats:
    """Return the chance of each column that can run a task: even over machines, then over their P-states."""
    own = arrays.machine_of[columns]
    weights = arrays.machine_counts[own] / np.bincount(own)[own]
    chances: Floats = weights / weights.sum()
    return chances


def _drawn(tasks: int, machines: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw a machine for each task; return machines that got any, and how many."""
    if tasks < machines:
        numbers, counts = np.unique(rng.integers(machines, size=tasks), return_counts=True)
    else:
        drawn = rng.multinomial(tasks, np.full(machines, 1.0 / machines))
        numbers = np.flatnonzero(drawn)
        counts = drawn[numbers]
    return list(zip(numbers.tolist(), counts.tolist(), strict=True))
