"""The greedy allocation of a facility: the most tasks per joule first, one core at a time.

    efficiency of a pair (i, j)   the most of  s_ijk / a_ijk  over the P-states k, speed by watts

1. In each pair of task type i and node type j only the most efficient P-state counts.
2. The first pair in the order of efficiency gives one core of node type j to task type i, for all its time.
3. The CRAC units blow as hot as the redlines allow, all alike, in steps of one degree (`facility/air.py`).
4. Back to 2, until that core would break the cap (it stays idle then), no outlet temperature would do, or no
   pair is left: one leaves when its node type has no idle core, or its task type does as many as arrive.

The rule looks neither at rewards nor at who slows down whom. What the paper leaves open is settled so: of a
node type, the first idle core in the order of the file; of equal pairs, the first task type, then the first
node type. The paper names only the end of the cores as the end of a pair; a task type would then be given
cores long after all its tasks are done, and no more task types could run than there are node types.

Source: Oxley and others, algorithm 1 and equation 12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.facility.air import facility_arrays, heat_map, no_room, outlet_steps
from lpsched.facility.schedule import CoreAllocation, CoreFraction

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays, HeatMap, OutletSteps
    from lpsched.facility.model import Facility

Pair = tuple[int, int, int]  # task type, node type, column of the tables


def greedy(instance: Facility) -> CoreAllocation:
    """Return the greedy allocation of a facility; it keeps the cap and every redline."""
    arrays, heat = facility_arrays(instance), heat_map(instance)
    room = _Room(arrays, heat)
    idle = [  # the node of each idle core, the last of the file first
        [v for v in np.flatnonzero(arrays.node_type == j)[::-1].tolist() for _ in range(int(cores))]
        for j, cores in enumerate(arrays.cores)
    ]
    given: list[list[tuple[int, int]]] = [[] for _ in instance.nodes]  # of its busy cores: type and column
    rates = np.zeros(len(arrays.arrivals))
    for i, j, column in pairs_by_efficiency(arrays):
        while idle[j] and rates[i] < arrays.arrivals[i]:
            v = idle[j][-1]
            if not room.takes(v, float(arrays.watts[i, column])):
                return _allocation(instance, room, given)
            idle[j].pop()
            given[v].append((i, column))
            rates[i] += arrays.speeds[i, column]
    return _allocation(instance, room, given)


def pairs_by_efficiency(arrays: FacilityArrays) -> list[Pair]:
    """Return every pair that can run, each with its most efficient P-state, the most efficient pair first."""
    with np.errstate(divide="ignore", invalid="ignore"):  # no watts at all: nothing is more efficient
        efficiency = np.where(arrays.speeds > 0.0, arrays.speeds / arrays.watts, -1.0)
    found = []
    for i, row in enumerate(efficiency):
        for j in range(len(arrays.cores)):
            columns = np.flatnonzero(arrays.mode_type == j)
            best = columns[np.argmax(row[columns])]
            if row[best] >= 0.0:
                found.append((-float(row[best]), i, j, int(best)))
    return [(i, j, column) for _, i, j, column in sorted(found)]


class _Room:
    """Keeps what the nodes draw, how much they warm the air, and the step of the outlet temperatures."""

    def __init__(self, arrays: FacilityArrays, heat: HeatMap) -> None:
        self.steps: OutletSteps = outlet_steps(arrays, heat)
        self.heat, self.cap = heat, arrays.cap_watts
        idle = arrays.overhead_watts[arrays.node_type]
        self.watts = float(idle.sum())
        self.warming, self.crac_warming = heat.from_power @ idle, heat.crac_from_power @ idle
        self.step = 0
        if not self._fits():
            raise no_room(arrays, heat, self.steps)

    def takes(self, node: int, watts: float) -> bool:
        """Let a node draw so many watts more, and tell whether cap and redlines allow it."""
        self.watts += watts
        self.warming = self.warming + watts * self.heat.from_power[:, node]
        self.crac_warming = self.crac_warming + watts * self.heat.crac_from_power[:, node]
        return self._fits()

    def _fits(self) -> bool:
        """Find the hottest step that the redlines allow, and take it if the cap allows that."""
        step = self.steps.hottest(self.warming, self.crac_warming)
        if step is None or self.watts + self.steps.cooling_watts(step, self.crac_warming) > self.cap:
            return False
        self.step = step
        return True


def _allocation(instance: Facility, room: _Room, given: list[list[tuple[int, int]]]) -> CoreAllocation:
    """Write down what each core does; the idle cores of a node come last."""
    nodes = []
    for j, busy in zip(instance.nodes, given, strict=True):
        kind = instance.node_types[j]
        cores: list[tuple[CoreFraction, ...]] = []
        for i, column in busy:
            part = CoreFraction(instance.task_types[i].name, 1.0, instance.p_state(column))
            cores.append((part,))
        nodes.append((*cores, *(() for _ in range(kind.cores - len(busy)))))
    return CoreAllocation(tuple(room.steps.outlets[room.step].tolist()), tuple(nodes))
