"""Is this a schedule of that bag, and what does it take? By plain loops and exact fractions.

Shares nothing with the code that makes schedules. Loads and energies are sums of exact rational numbers
(every double is one); they are rounded once, at the end, upwards: a measured makespan or energy is never
less than the true one.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance import Bag, Table
    from lpsched.schedule.bag import MachineGroup, Run, Schedule


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: a code for programs, a sentence for people."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a valid schedule takes; energy is `None` if the bag has no watts."""

    makespan_seconds: float
    energy_joules: float | None


def violations(bag: Bag, schedule: Schedule) -> tuple[Violation, ...]:
    """Return every broken rule; an empty tuple means that the schedule is valid."""
    found: list[Violation] = []
    places = _Places(bag)
    available = {machine.name: machine.count for machine in bag.machine_types}
    used: Counter[str] = Counter()
    done: Counter[str] = Counter()
    for group in schedule.groups:
        if group.machine_type not in available:
            found.append(
                Violation("unknown-machine-type", f"there is no machine type {group.machine_type!r}")
            )
            continue
        if group.machines < 1:
            sentence = f"a group of {group.machine_type!r} has {group.machines} machines"
            found.append(Violation("bad-number", sentence))
        used[group.machine_type] += group.machines
        for run in group.runs:
            found += places.violations(group, run)
            done[run.task_type] += group.machines * run.count
    for name, count in used.items():
        if count > available[name]:
            sentence = f"{count} machines of type {name!r} are used, but there are {available[name]}"
            found.append(Violation("no-such-machine", sentence))
    for task in bag.task_types:
        if done[task.name] != task.count:
            sentence = f"{done[task.name]} tasks of type {task.name!r} run, but there are {task.count}"
            found.append(Violation("wrong-count", sentence))
    return tuple(found)


def measure(bag: Bag, schedule: Schedule) -> Measurement:
    """Measure a valid schedule: all machines stay on until the last one is done.

    energy = sum over runs of count * seconds * watts + sum over machines of idle seconds * idle watts
    """
    places = _Places(bag)
    makespan = Fraction(0)
    busy_joules = Fraction(0)
    busy_seconds: dict[str, Fraction] = {machine.name: Fraction(0) for machine in bag.machine_types}
    for group in schedule.groups:
        load = Fraction(0)
        for run in group.runs:
            seconds = run.count * places.cell(bag.seconds, group, run)
            load += seconds
            if bag.watts is not None:
                busy_joules += group.machines * seconds * places.cell(bag.watts, group, run)
        busy_seconds[group.machine_type] += group.machines * load
        makespan = max(makespan, load)
    if bag.watts is None:
        return Measurement(_up(makespan), None)
    idle_joules = Fraction(0)
    for machine in bag.machine_types:
        idle_seconds = machine.count * makespan - busy_seconds[machine.name]
        idle_joules += idle_seconds * Fraction(machine.idle_watts)
    return Measurement(_up(makespan), _up(busy_joules + idle_joules))


class _Places:
    """Where the pairs of names stand in the bag's tables."""

    def __init__(self, bag: Bag) -> None:
        self.seconds = bag.seconds
        self.row = {task.name: i for i, task in enumerate(bag.task_types)}
        self.column: dict[tuple[str, str | None], int] = {}
        for machine in bag.machine_types:
            for state in machine.p_states if machine.p_states is not None else (None,):
                self.column[machine.name, state] = len(self.column)

    def violations(self, group: MachineGroup, run: Run) -> list[Violation]:
        pair = f"{run.task_type!r} on {group.machine_type!r}"
        found = []
        if run.count < 1:
            found.append(Violation("bad-number", f"a run of {pair} has {run.count} tasks"))
        if run.task_type not in self.row:
            found.append(Violation("unknown-task-type", f"there is no task type {run.task_type!r}"))
        elif (group.machine_type, run.p_state) not in self.column:
            found.append(
                Violation("unknown-p-state", f"{group.machine_type!r} has no P-state {run.p_state!r}")
            )
        elif self._value(self.seconds, group, run) is None:
            state = "" if run.p_state is None else f" in P-state {run.p_state!r}"
            found.append(Violation("cannot-run", f"{pair} cannot run{state}"))
        return found

    def cell(self, table: Table, group: MachineGroup, run: Run) -> Fraction:
        value = self._value(table, group, run)
        assert value is not None, "only valid schedules are measured"
        return Fraction(value)

    def _value(self, table: Table, group: MachineGroup, run: Run) -> float | None:
        return table[self.row[run.task_type], self.column[group.machine_type, run.p_state]]


def _up(exact: Fraction) -> float:
    rounded = float(exact)
    return rounded if rounded >= exact else math.nextafter(rounded, math.inf)
