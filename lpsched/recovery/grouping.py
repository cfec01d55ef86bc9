"""From single machines to groups: machines of a type that run the same are one group.

What a machine runs is told by columns, as everywhere in recovery: ``{(i, column): count}``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lpsched.schedule.bag import MachineGroup, Run, Schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lpsched.instance import Bag


def grouped(bag: Bag, machines: Iterable[tuple[int, Mapping[tuple[int, int], int]]]) -> Schedule:
    """Return the schedule of machines ``(j, what it runs)``; idle ones may be left out.

    Each machine runs its longest tasks first, ties by index; groups come in the order of machine types.
    """
    alike = Counter(
        (j, tuple(sorted((cell, count) for cell, count in runs.items() if count))) for j, runs in machines
    )
    groups = []
    for (j, cells), number in sorted(alike.items()):
        if not cells:
            continue
        machine = bag.machine_types[j]
        runs = []
        for (i, column), count in sorted(cells, key=lambda cell: (-(bag.seconds[cell[0]] or 0.0), cell[0])):
            k = bag.modes[column][1]
            p_state = machine.p_states[k] if machine.p_states is not None else None
            runs.append(Run(bag.task_types[i].name, count, p_state))
        groups.append(MachineGroup(machine.name, number, tuple(runs)))
    return Schedule(tuple(groups))
