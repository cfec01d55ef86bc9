"""A bag as items to pack on machines, in doubles: what patterns are made of, and what they are worth.

An *item* is a task type and the number of a P-state, i K + k with K the most P-states that any machine type
has. A *pattern* is what one machine may run: so many of each item. For a schedule of makespan t whose
patterns cost `cost` in all, above what the machines cost anyway, the score is

    (N - cost) / t                where a bag brings an income N: money per second,
    -(cost + t per_second)        where none does: cost and makespan, to be small.

The first is the profit rate less its constant, the second minus a weighted sum of energy and makespan: of a
cost of 0 and 1 a second, minus the makespan. More is always better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.arrays import usable_arrays

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.bag import Bag

SECONDS_PER_HOUR: Final = 3600
LITTLE: Final = 1e-6
DEAR: Final = 30.0  # times what a task costs where it is cheapest
DEAR_SHARE: Final = 10.0  # times its share of what the whole bag is about


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one machine of a type runs: counts of all items, and what they take.

    `reach` is the limit from which a bound has to count it: sizes rounded down may let it in too early.
    """

    machine: int
    counts: Integers
    seconds: float
    cost: float
    reach: float
    joules: float = 0.0  # above idle, where there is a power cap


@dataclass(frozen=True)
class Items:
    """Seconds and costs of each item on each machine type; infinite where it cannot run."""

    tasks: Integers  # n_i
    machines: Integers  # m_j
    task_of: Integers  # the task type of each item
    seconds: Floats  # items x machine types
    costs: Floats  # likewise, above idle
    income: float | None = None  # N
    per_second: float = 0.0
    latest: float = np.inf  # no makespan may be longer
    joules: Floats | None = None  # items x machine types: above idle, where there is a power cap
    headroom: float = 0.0  # P - I: watts that the cap leaves above the idle floor

    @property
    def states(self) -> int:
        """K: how many items a task type has."""
        return len(self.task_of) // len(self.tasks)

    @property
    def limits(self) -> Integers:
        """How many of each item there are at most."""
        return self.tasks[self.task_of]

    @property
    def cheapest(self) -> Floats:
        """What a task of each type costs where that is nearest to nothing."""
        cheapest: Floats = np.abs(self.costs).min(axis=1).reshape(len(self.tasks), -1).min(axis=1)
        return cheapest

    def size(self, seconds: float) -> float:
        """Return an amount of the order of what the bag brings or costs in so many seconds."""
        about = abs(self.income or 0.0) + self.per_second * seconds
        return max(about, float(self.tasks @ self.cheapest)) or 1.0

    def dear(self, seconds: float) -> Floats:
        """Return what a program should pay for a task that is not run: more than any that is run costs."""
        dear: Floats = np.maximum(
            DEAR * self.cheapest, DEAR_SHARE * self.size(seconds) / float(self.tasks.sum())
        )
        return dear

    def score(self, cost: float, seconds: float) -> float:
        """Return what a schedule is worth; one that is too late, nothing at all."""
        if seconds > self.latest:
            return -np.inf
        if self.income is not None:
            return (self.income - cost) / seconds
        return -(cost + seconds * self.per_second)

    def second_worth(self, cost: float, seconds: float) -> float:
        """Return what being done a second sooner is worth in money, or whatever is counted."""
        least = LITTLE * self.size(seconds) / seconds
        if self.income is not None:
            return max((self.income - cost) / seconds, least)
        return max(self.per_second, least)

    def tasks_in(self, counts: Integers) -> Integers:
        """Return how many tasks of each type these counts of items are, along the last axis."""
        by_task: Integers = counts.reshape(*counts.shape[:-1], len(self.tasks), self.states).sum(axis=-1)
        return by_task

    def pattern(self, machine: int, counts: Integers, limit: float = np.inf) -> Pattern:
        """Return a pattern that was found for a limit."""
        use = counts > 0
        seconds = float(counts[use] @ self.seconds[use, machine])
        cost = float(counts[use] @ self.costs[use, machine])
        joules = 0.0 if self.joules is None else float(counts[use] @ self.joules[use, machine])
        return Pattern(machine, counts, seconds, cost, min(seconds, limit), joules)

    def end(self, seconds: float, joules: float) -> float:
        """Return when a schedule of these loads and joules may end: a power cap may ask it to wait."""
        return (
            max(seconds, joules / self.headroom) if self.joules is not None and self.headroom > 0 else seconds
        )

    def with_cap_price(self, price: float) -> Items:
        """Return items that cost what their joules above idle are worth under the cap as well."""
        if self.joules is None or price <= 0:
            return self
        return replace(self, costs=self.costs + price * np.where(np.isfinite(self.costs), self.joules, 0.0))


def items_of(  # noqa: PLR0913 - what an objective counts
    bag: Bag,
    *,
    per_joule: float,
    wear: bool,
    income: float | None = None,
    per_second: float = 0.0,
    headroom: float | None = None,
) -> Items:
    """Return the items of a bag; a task costs per_joule e (a - b), and what wears off, if that counts.

    `headroom` is what a power cap leaves above the idle floor, in watts; `None` without a cap.
    """
    arrays = usable_arrays(bag)
    own = np.where(arrays.can_run, arrays.seconds, np.inf)
    costs = np.where(arrays.can_run, 0.0, np.inf)
    if arrays.watts is not None:
        above = arrays.watts - arrays.idle_watts[arrays.machine_of]
        costs += per_joule * arrays.seconds * above
    if wear:
        worn = np.array([each.wear_per_busy_hour / SECONDS_PER_HOUR for each in bag.machine_types])
        costs += arrays.seconds * worn[arrays.machine_of]
    types, states = len(bag.task_types), max(each.modes for each in bag.machine_types)
    seconds_by_item = np.full((types, states, len(bag.machine_types)), np.inf)
    costs_by_item = seconds_by_item.copy()
    above_by_item = np.zeros_like(seconds_by_item)
    for column, (j, k) in enumerate(bag.modes):
        seconds_by_item[:, k, j], costs_by_item[:, k, j] = own[:, column], costs[:, column]
        if arrays.watts is not None:
            above_by_item[:, k, j] = arrays.seconds[:, column] * (
                arrays.watts[:, column] - arrays.idle_watts[j]
            )
    return Items(
        tasks=arrays.task_counts.astype(np.int64),
        machines=arrays.machine_counts.astype(np.int64),
        task_of=np.repeat(np.arange(types), states),
        seconds=seconds_by_item.reshape(types * states, -1),
        costs=costs_by_item.reshape(types * states, -1),
        income=income,
        per_second=per_second,
        latest=bag.site.deadline_seconds or np.inf,
        joules=None if headroom is None else above_by_item.reshape(types * states, -1),
        headroom=headroom or 0.0,
    )
