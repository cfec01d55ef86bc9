"""Plans: what every single machine runs, in arrays; made from patterns, and turned into schedules.

Patterns that were chosen to cover all tasks may run some twice and, where machines were too few, leave
others out. Of a task type that is run too often, the dearest are dropped; those left out go, longest first,
where they cost least. A second by which a machine then is later than the limit has a price that rises with
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.recovery.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.items import Items, Pattern
    from lpsched.schedule.bag import Schedule

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
        return grouped(bag, self._machines(bag))

    def by_column(self, bag: Bag) -> list[dict[int, int]]:
        """Return how many tasks of each type run in each column."""
        totals: list[dict[int, int]] = [{} for _ in bag.task_types]
        for _, cells in self._machines(bag):
            for (i, column), count in cells.items():
                totals[i][column] = totals[i].get(column, 0) + count
        return totals

    def _machines(self, bag: Bag) -> Iterator[tuple[int, dict[tuple[int, int], int]]]:
        """Yield each machine's type, and what it runs by columns."""
        states, column_of = self.items.states, {mode: column for column, mode in enumerate(bag.modes)}
        for j, row in zip(self.kinds.tolist(), self.counts, strict=True):
            cells = {}
            for item in np.flatnonzero(row).tolist():
                i, k = divmod(item, states)
                cells[i, column_of[j, k]] = int(row[item])
            yield j, cells

    def _sums(self, table: Floats) -> Floats:
        sums: Floats = (self.counts * np.where(np.isfinite(table), table, 0.0).T[self.kinds]).sum(axis=1)
        return sums


def plan_of(items: Items, chosen: Sequence[Pattern], limit: float) -> Plan:
    """Return a plan whose machines run these patterns, corrected to run every task once."""
    rows = sorted(chosen, key=lambda pattern: pattern.machine)
    kinds = np.repeat(np.arange(len(items.machines)), items.machines)
    counts = np.zeros((len(kinds), len(items.task_of)), dtype=np.int64)
    firsts = np.concatenate(([0], np.cumsum(items.machines)))
    for pattern in rows:
        counts[firsts[pattern.machine]] = pattern.counts
        firsts[pattern.machine] += 1
    plan = Plan(items, kinds, counts)
    _drop(plan)
    _place(plan, limit)
    return plan


def plan_of_schedule(bag: Bag, items: Items, schedule: Schedule) -> Plan:
    """Return the plan of a schedule of a bag whose items these are; machines in no group are idle."""
    rows = {task.name: i for i, task in enumerate(bag.task_types)}
    types = {machine.name: j for j, machine in enumerate(bag.machine_types)}
    kinds = np.repeat(np.arange(len(items.machines)), items.machines)
    counts = np.zeros((len(kinds), len(items.task_of)), dtype=np.int64)
    firsts = np.concatenate(([0], np.cumsum(items.machines)))
    for group in schedule.groups:
        j = types[group.machine_type]
        states = bag.machine_types[j].p_states
        own = slice(firsts[j], firsts[j] + group.machines)
        for run in group.runs:
            k = 0 if states is None or run.p_state is None else states.index(run.p_state)
            counts[own, rows[run.task_type] * items.states + k] += run.count
        firsts[j] += group.machines
    return Plan(items, kinds, counts)


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
