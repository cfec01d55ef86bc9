"""What each machine of a valid schedule does: when it is done, and the energy that it takes.

    completion  =  seconds of all its tasks, one after the other from 0 on
    energy      =  sum over its tasks of seconds * watts  +  (makespan - completion) * its idle watts

Machines that do the same are told together, so that 10^12 of them are a few entries; those that run nothing
at all are told too. The energies of all machines add up to the schedule's. Plain loops and exact sums, as in
`bag.py`; every number is rounded up, once.

Source: Friese, thesis of 2015, section 6.4.3, where a machine that is done is switched off (no idle watts).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.verify.bag import Tables
from lpsched.verify.violation import UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.schedule.bag import MachineGroup, Schedule


@dataclass(frozen=True, slots=True)
class MachineLoad:
    """How many machines of a type do the same, and what each of them takes; no energy without watts."""

    machine_type: str
    machines: int
    completion_seconds: float
    energy_joules: float | None


def machine_loads(bag: Bag, schedule: Schedule) -> tuple[MachineLoad, ...]:
    """Return the loads of all machines of a valid schedule, by machine type in the bag's order.

    Within a type those that are done last come first.

    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> from lpsched.schedule.bag import MachineGroup, Run, Schedule
    >>> cpu = MachineType(name="cpu", count=3, idle_watts=1.0)
    >>> bag = Bag("b", (cpu,), (TaskType(name="a", count=4),), Table.of([[2.0]]), Table.of([[5.0]]))
    >>> for load in machine_loads(bag, Schedule((MachineGroup("cpu", 2, (Run("a", 2),)),))):
    ...     print(load.machines, load.completion_seconds, load.energy_joules)
    2 4.0 20.0
    1 0.0 4.0
    """
    tables = Tables(bag)
    busy = [(group.machine_type, group.machines, *_load(tables, group)) for group in schedule.groups]
    makespan = max((seconds for _, _, seconds, _ in busy), default=Fraction(0))
    if schedule.makespan_seconds is not None:
        makespan = Fraction(schedule.makespan_seconds)
    used: Counter[str] = Counter()
    for name, machines, _, _ in busy:
        used[name] += machines
    idle = [
        (each.name, each.count - used[each.name], Fraction(0), Fraction(0))
        for each in bag.machine_types
        if each.count > used[each.name]
    ]
    place = {each.name: (j, Fraction(each.idle_watts)) for j, each in enumerate(bag.machine_types)}
    loads = sorted((*busy, *idle), key=lambda each: (place[each[0]][0], -each[2]))
    return tuple(
        MachineLoad(
            name,
            machines,
            rounded_up(seconds),
            None if bag.watts is None else rounded_up(joules + (makespan - seconds) * place[name][1]),
        )
        for name, machines, seconds, joules in loads
    )


def _load(tables: Tables, group: MachineGroup) -> tuple[Fraction, Fraction]:
    """Return the seconds and the joules of the tasks of one machine of a group."""
    seconds = joules = 0
    for run in group.runs:
        cell = tables.cell(run.task_type, group.machine_type, run.p_state)
        assert not isinstance(cell, Violation), "only valid schedules are looked into"
        seconds, joules = seconds + run.count * cell[0], joules + run.count * cell[1]
    return Fraction(seconds, UNIT), Fraction(joules, UNIT * UNIT)
