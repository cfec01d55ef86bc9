"""The rules again, for reading: one task at a time, one machine at a time, on plain lists.

Every machine is a row of its own; seconds are exact fractions; ties go to the lowest task type, then to the lowest
machine type. What comes out is the load of every machine, by machine type.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule

Loads = Counter[tuple[int, Fraction]]


class Room:
    """Single machines and single tasks."""

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        self.machines = [(j, m) for j, each in enumerate(bag.machine_types) for m in range(each.count)]
        self.ready = dict.fromkeys(self.machines, Fraction(0))
        self.left = [task.count for task in bag.task_types]

    def seconds(self, i: int, j: int) -> Fraction | None:
        """Return the fastest time over P-states; `None` where the pair cannot run."""
        cells = [self.bag.seconds[i, c] for c, (own, _) in enumerate(self.bag.modes) if own == j]
        times = [Fraction(cell) for cell in cells if cell is not None]
        return min(times) if times else None

    def ends(self, i: int) -> list[tuple[Fraction, tuple[int, int]]]:
        """Return when each machine would end a task of type i, the earliest first."""
        found = []
        for machine in self.machines:
            seconds = self.seconds(i, machine[0])
            if seconds is not None:
                found.append((self.ready[machine] + seconds, machine))
        return sorted(found)

    def run(self, i: int, machine: tuple[int, int]) -> None:
        seconds = self.seconds(i, machine[0])
        assert seconds is not None
        self.ready[machine] += seconds
        self.left[i] -= 1

    def types_left(self) -> list[int]:
        return [i for i, count in enumerate(self.left) if count]

    def loads(self) -> Loads:
        return Counter((j, ready) for (j, _), ready in self.ready.items() if ready)


def min_min(bag: Bag) -> Loads:
    room = Room(bag)
    while types := room.types_left():
        _, i, machine = min((end, i, machine) for i in types for end, machine in room.ends(i)[:1])
        room.run(i, machine)
    return room.loads()


def max_min(bag: Bag) -> Loads:
    room = Room(bag)
    while types := room.types_left():
        _, i, machine = min((-end, i, machine) for i in types for end, machine in room.ends(i)[:1])
        room.run(i, machine)
    return room.loads()


def sufferage(bag: Bag) -> Loads:
    room = Room(bag)
    while types := room.types_left():
        found = []
        for i in types:
            ends = room.ends(i)
            suffering = ends[1][0] - ends[0][0] if len(ends) > 1 else Fraction(10**60)
            found.append((-suffering, i, ends[0][1]))
        _, i, machine = min(found)
        room.run(i, machine)
    return room.loads()


def _in_order(bag: Bag, choose) -> Loads:
    room = Room(bag)
    for i, task in enumerate(bag.task_types):
        for _ in range(task.count):
            room.run(i, choose(room, i))
    return room.loads()


def mct(bag: Bag) -> Loads:
    return _in_order(bag, lambda room, i: room.ends(i)[0][1])


def olb(bag: Bag) -> Loads:
    return _in_order(bag, lambda room, i: min((room.ready[machine], machine) for _, machine in room.ends(i))[1])


def met(bag: Bag) -> Loads:
    def choose(room: Room, i: int) -> tuple[int, int]:
        fastest = min((room.seconds(i, j), j) for j, _ in room.machines if room.seconds(i, j) is not None)[1]
        return min((room.ready[machine], machine) for machine in room.machines if machine[0] == fastest)[1]

    return _in_order(bag, choose)


REFERENCES = {"min-min": min_min, "max-min": max_min, "sufferage": sufferage, "mct": mct, "olb": olb, "met": met}


def loads_of(bag: Bag, schedule: Schedule) -> Loads:
    """Return the loads of a compact schedule."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    number = {machine.name: j for j, machine in enumerate(bag.machine_types)}
    column = {}
    for c, (j, k) in enumerate(bag.modes):
        states = bag.machine_types[j].p_states
        column[bag.machine_types[j].name, None if states is None else states[k]] = c
    loads: Loads = Counter()
    for group in schedule.groups:
        load = Fraction(0)
        for run in group.runs:
            seconds = bag.seconds[row[run.task_type], column[group.machine_type, run.p_state]]
            assert seconds is not None
            load += run.count * Fraction(seconds)
        loads[number[group.machine_type], load] += group.machines
    return loads
