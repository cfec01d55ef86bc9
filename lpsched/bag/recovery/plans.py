"""Plans: who runs how many of what; grouped by machines alike; and waiting where a power cap asks for it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.cost import exact_cost_model
from lpsched.bag.schedule import MachineGroup, Schedule, numbered, run_of, task_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lpsched.bag.arrays import Items, Pattern
    from lpsched.bag.model import Bag
    from lpsched.model.arrays import Floats, Integers


# From single machines to groups: machines of a type that run the same are one group.
#
# What a machine runs is told by columns, as everywhere in recovery: ``{(i, column): count}``.
def grouped(bag: Bag, machines: Iterable[tuple[int, Mapping[tuple[int, int], int]]]) -> Schedule:
    """Return the schedule of machines ``(j, what it runs)``; idle ones may be left out.

    Each machine runs its longest tasks first, ties by index; groups come in the order of machine types.
    """
    alike = Counter((j, tuple(sorted((cell, count) for cell, count in runs.items() if count))) for j, runs in machines)
    groups = []
    for (j, cells), number in sorted(alike.items()):
        if not cells:
            continue
        longest_first = sorted(cells, key=lambda cell: (-(bag.seconds[cell[0]] or 0.0), cell[0]))
        runs = tuple(run_of(bag, i, column, count) for (i, column), count in longest_first)
        groups.append(MachineGroup(bag.machine_types[j].name, number, runs))
    return Schedule(tuple(groups))


# Plans: what every single machine runs, in arrays; made from patterns, and turned into schedules.
#
# Patterns that were chosen to cover all tasks may run some twice and, where machines were too few, leave
# others out. Of a task type that is run too often, the dearest are dropped; those left out go, longest first,
# where they cost least. A second by which a machine then is later than the limit has a price that rises with
# it.
LATE: Final = 2.0  # times what a second is worth: one above the limit
STEEP: Final = 100.0  # by how much that price rises from the limit to twice the limit


@dataclass(frozen=True, slots=True)
class Plan:
    """Counts of items on each machine."""

    items: Items
    kinds: Integers  # the machine type of each machine
    counts: Integers  # machines x items

    @property
    def loads(self) -> Floats:
        """Seconds that each machine works."""
        return self._sums(self.items.seconds)

    @property
    def cost(self) -> float:
        """What all tasks cost above idle."""
        return float(self._sums(self.items.costs).sum())

    @property
    def score(self) -> float:
        """What the plan is worth."""
        return self.items.score(self.cost, self.items.end(float(self.loads.max()), self.joules))

    @property
    def joules(self) -> float:
        """What all tasks take above idle, where there is a power cap."""
        return 0.0 if self.items.joules is None else float(self._sums(self.items.joules).sum())

    def copy(self) -> Plan:
        """Return a plan that may be changed on its own."""
        return Plan(self.items, self.kinds, self.counts.copy())

    def schedule(self, bag: Bag) -> Schedule:
        """Return the schedule, with machines that run the same in groups."""
        states, column_of = self.items.states, {mode: column for column, mode in enumerate(bag.modes)}
        machines = []
        for j, row in zip(self.kinds.tolist(), self.counts, strict=True):
            used = np.flatnonzero(row).tolist()
            machines.append((j, {(item // states, column_of[j, item % states]): int(row[item]) for item in used}))
        return grouped(bag, machines)

    def _sums(self, table: Floats) -> Floats:
        sums: Floats = (self.counts * np.where(np.isfinite(table), table, 0.0).T[self.kinds]).sum(axis=1)
        return sums


def plan_of(items: Items, chosen: Sequence[Pattern], limit: float) -> Plan:
    """Return a plan whose machines run these patterns, corrected to run every task once."""
    plan, firsts = _idle(items)
    for pattern in chosen:
        plan.counts[firsts[pattern.machine]] = pattern.counts
        firsts[pattern.machine] += 1
    _drop(plan)
    _place(plan, limit)
    return plan


def plan_of_schedule(bag: Bag, items: Items, schedule: Schedule) -> Plan:
    """Return the plan of a schedule of a bag whose items these are; machines in no group are idle."""
    plan, firsts = _idle(items)
    for j, machines, runs in numbered(bag, schedule):
        own = slice(firsts[j], firsts[j] + machines)
        for i, column, count in runs:
            plan.counts[own, i * items.states + bag.modes[column][1]] += count
        firsts[j] += machines
    return plan


def _idle(items: Items) -> tuple[Plan, Integers]:
    """Return a plan that runs nothing, and the first machine of each type."""
    kinds = np.repeat(np.arange(len(items.machines)), items.machines)
    counts = np.zeros((len(kinds), len(items.task_of)), dtype=np.int64)
    return Plan(items, kinds, counts), np.concatenate(([0], np.cumsum(items.machines)))


def _drop(plan: Plan) -> None:
    """Drop the dearest of the tasks that are run too often."""
    items, counts = plan.items, plan.counts
    extras = items.tasks_in(counts).sum(axis=0) - items.tasks
    for i in np.flatnonzero(extras > 0):
        own = np.flatnonzero(items.task_of == i)
        costs = items.costs[own].T[plan.kinds]
        for _ in range(int(extras[i])):
            machine, k = divmod(int(np.argmax(np.where(counts[:, own] > 0, costs, -np.inf))), len(own))
            counts[machine, own[k]] -= 1


def _place(plan: Plan, limit: float) -> None:
    """Place the tasks that are left out, longest first."""
    items, counts, loads = plan.items, plan.counts, plan.loads
    worth = LATE * items.second_worth(plan.cost, limit)
    missing = items.tasks - items.tasks_in(counts).sum(axis=0)
    soonest = items.seconds.min(axis=1).reshape(len(missing), -1).min(axis=1)
    for i in np.argsort(-soonest):
        own = np.flatnonzero(items.task_of == i)
        costs, seconds = items.costs[own].T[plan.kinds], items.seconds[own].T[plan.kinds]
        for _ in range(int(missing[i])):
            late = np.maximum(0.0, loads[:, np.newaxis] + seconds - limit)
            price = costs + worth * late * (1.0 + STEEP * late / limit)
            machine, k = divmod(int(np.argmin(price)), len(own))
            counts[machine, own[k]] += 1
            loads[machine] += seconds[machine, k]


# When a schedule ends: all machines stay on until then, and waiting lowers the average power.
#
# For given tasks x, with D(x) their joules above idle and H = P - I what the cap leaves above the idle floor,
# the cap allows the makespans t with D(x) <= H t. The shortest one,
#
#     t = max(largest load, D(x) / H)        where H > 0,
#
# is best for makespan and energy, and for profit as long as what the bag brings covers what its tasks cost.
# If it does not, and a deadline forces the work, the loss is spread over the longest time: until the deadline
# (but no longer than D(x) / H where H < 0, which needs tasks that draw less than idle).
#
# All in exact fractions; the makespan is rounded once, to the side that keeps the cap.
def ended(bag: Bag, schedule: Schedule, *, late: bool) -> Schedule:
    """Return the schedule with the best end: the earliest that the cap allows, or (`late`) the latest."""
    site = bag.site
    if site.average_power_cap_watts is None and not late:
        return schedule
    headroom, joules = _power(bag, schedule)
    earliest, latest = largest_load(bag, schedule), site.deadline_seconds
    if headroom is not None and headroom > 0:
        earliest = max(earliest, _up(joules / headroom))
    if headroom is not None and headroom < 0:
        stop = _down(joules / headroom)
        latest = stop if latest is None else min(stop, latest)
    end = max(earliest, latest) if late and latest is not None else earliest
    return replace(schedule, makespan_seconds=end)


def _power(bag: Bag, schedule: Schedule) -> tuple[Fraction | None, Fraction]:
    """Return H, or `None` without a cap, and D(x)."""
    machines, headroom, joules = bag.machine_types, exact_cost_model(bag).headroom, Fraction(0)
    if headroom is None or bag.watts is None:
        return None, joules
    for i, row in enumerate(task_counts(bag, schedule)):
        for column, count in row.items():
            above = Fraction(_cell(bag.watts[i, column])) - Fraction(machines[bag.modes[column][0]].idle_watts)
            joules += count * Fraction(_cell(bag.seconds[i, column])) * above
    return headroom, joules


def largest_load(bag: Bag, schedule: Schedule) -> float:
    """Return when the last task of a schedule ends, rounded up."""
    loads = (
        sum(count * Fraction(_cell(bag.seconds[i, column])) for i, column, count in runs)
        for _, _, runs in numbered(bag, schedule)
    )
    return _up(Fraction(max(loads)))


def _cell(value: float | None) -> float:
    assert value is not None, "only pairs that can run get tasks"
    return value


def _up(exact: Fraction) -> float:
    return -_down(-exact)


def _down(exact: Fraction) -> float:
    rounded = float(exact)
    return rounded if rounded <= exact else math.nextafter(rounded, -math.inf)
