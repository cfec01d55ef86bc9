"""Array views of a bag for the numerics, single tasks of it, and how heterogeneous its table is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from lpsched.bag.cost import cost_model
from lpsched.bag.model import COV_TABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats, Integers, Mask, Table


# Array views of a bag for the numerics: read-only, absent pairs masked and 0.
# Shapes: T task types, M machine types, C columns (machine type and P-state).
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class BagArrays:
    """The numbers of a bag; an absent pair has `can_run` False and 0 elsewhere."""

    task_counts: Floats  # T
    machine_counts: Floats  # M
    idle_watts: Floats  # M
    machine_of: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    watts: Floats | None  # T x C

    @property
    def firsts(self) -> Integers:
        """M: the first column of each machine type; the columns of one are neighbours."""
        return np.searchsorted(self.machine_of, np.arange(len(self.machine_counts)))


def arrays_of(bag: Bag) -> BagArrays:
    """Return the views; counts are exact in a double, because a bag holds at most 10^15 of anything."""
    seconds = _cells(bag.seconds)
    can_run = ~np.isnan(seconds)
    return BagArrays(
        task_counts=_fixed(np.array([task.count for task in bag.task_types], dtype=float)),
        machine_counts=_fixed(np.array([machine.count for machine in bag.machine_types], dtype=float)),
        idle_watts=_fixed(np.array([machine.idle_watts for machine in bag.machine_types])),
        machine_of=_fixed(np.array([j for j, _ in bag.modes], dtype=np.int64)),
        can_run=_fixed(can_run),
        seconds=_fixed(np.where(can_run, seconds, 0.0)),
        watts=None if bag.watts is None else _fixed(np.where(can_run, _cells(bag.watts), 0.0)),
    )


def usable_arrays(bag: Bag) -> BagArrays:
    """Return the views without pairs longer than the deadline; with all, if a task type would be left without any."""
    arrays, deadline = arrays_of(bag), bag.site.deadline_seconds
    if deadline is None:
        return arrays
    usable = arrays.can_run & (arrays.seconds <= deadline)
    if usable.all() or not usable.any(axis=1).all():
        return arrays
    return replace(
        arrays,
        can_run=_fixed(usable),
        seconds=_fixed(np.where(usable, arrays.seconds, 0.0)),
        watts=None if arrays.watts is None else _fixed(np.where(usable, arrays.watts, 0.0)),
    )


def usable_bag(bag: Bag) -> Bag:
    """Return the bag without its deadline, and without the pairs that take longer than that."""
    free, usable = bag.without_deadline(), usable_arrays(bag).can_run
    if usable.sum() == arrays_of(bag).can_run.sum():
        return free
    seconds, watts = (
        None if table is None else replace(table, packed=np.where(usable, _cells(table), np.nan).tobytes())
        for table in (bag.seconds, bag.watts)
    )
    return free.model_copy(update={"seconds": seconds, "watts": watts})


def covs_of(bag: Bag) -> dict[str, Floats]:
    """Return the bag's own coefficients of variation, by the keys of its tables; 0 where a pair cannot run."""
    covs: dict[str, Floats] = {key: np.nan_to_num(_cells(bag.tables[key])) for key in COV_TABLES if key in bag.tables}
    return covs if bag.watts is not None else covs | {"watts_cov": np.zeros((bag.seconds.rows, bag.seconds.columns))}


def _cells(table: Table) -> Floats:
    return np.frombuffer(table.packed).reshape(table.rows, table.columns)


def _fixed(array: NDArray[Scalar]) -> NDArray[Scalar]:
    array.flags.writeable = False
    return array


# A bag as items to pack on machines, in doubles: what patterns are made of, and their scores.
#
# An *item* is a task type and the number of a P-state, i K + k with K the most P-states that any machine type
# has. A *pattern* is what one machine may run: a count of each item. For a schedule of makespan t whose
# patterns cost `cost` in all, above what the machines cost anyway, the score is
#
#     (N - cost) / t                where a bag brings an income N: money per second,
#     -(cost + t per_second)        where none does: cost and makespan, to be small.
#
# The first is the profit rate less its constant, the second minus a weighted sum of energy and makespan: of a
# cost of 0 and 1 a second, minus the makespan. More is always better.
LITTLE: Final = 1e-6
PENALTY: Final = 30.0  # times what a task costs where it is cheapest
PENALTY_SHARE: Final = 10.0  # times its share of what the whole bag is about


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one machine of a type runs: counts of all items, and what they take."""

    machine: int
    counts: Integers
    seconds: float
    cost: float
    reach: float  # the limit from which a bound has to count it: sizes rounded down may let it in too early
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
        return np.asarray(np.abs(self.costs).min(axis=1).reshape(len(self.tasks), -1).min(axis=1))

    def size(self, seconds: float) -> float:
        """Return an amount of the order of what the bag brings or costs in `seconds`."""
        about = abs(self.income or 0.0) + self.per_second * seconds
        return max(about, float(self.tasks @ self.cheapest)) or 1.0

    def penalties(self, seconds: float) -> Floats:
        """Return what a program should pay for a task that is not run: more than any that is run costs."""
        penalties: Floats = np.maximum(
            PENALTY * self.cheapest, PENALTY_SHARE * self.size(seconds) / float(self.tasks.sum())
        )
        runs = np.where(np.isfinite(self.seconds), self.costs, 0.0).max(axis=1)
        costliest = np.maximum.reduceat(runs, np.arange(0, len(runs), self.states))
        return np.where(penalties > costliest, penalties, PENALTY * costliest)

    def score(self, cost: float, seconds: float) -> float:
        """Return the score of a schedule; minus infinity for one that is too late."""
        if seconds > self.latest:
            return -np.inf
        if self.income is not None:
            return (self.income - cost) / seconds
        return -(cost + seconds * self.per_second)

    def value_of_second(self, cost: float, seconds: float) -> float:
        """Return the value of ending a second sooner, in money or whatever is counted."""
        least = LITTLE * self.size(seconds) / seconds
        if self.income is not None:
            return max((self.income - cost) / seconds, least)
        return max(self.per_second, least)

    def tasks_in(self, counts: Integers) -> Integers:
        """Return how many tasks of each type these counts of items are, along the last axis."""
        return np.asarray(counts.reshape(*counts.shape[:-1], len(self.tasks), self.states).sum(axis=-1))

    def demand_met(self, pattern: Pattern) -> dict[int, float]:
        """Return how many tasks of each type a pattern runs, without those of which it runs none."""
        tasks = self.tasks_in(pattern.counts)
        use = np.flatnonzero(tasks)
        return dict(zip(use.tolist(), tasks[use].tolist(), strict=True))

    def pattern(self, machine: int, counts: Integers, limit: float = np.inf) -> Pattern:
        """Return a pattern that was found for a limit."""
        use = counts > 0
        seconds = float(counts[use] @ self.seconds[use, machine])
        cost = float(counts[use] @ self.costs[use, machine])
        joules = 0.0 if self.joules is None else float(counts[use] @ self.joules[use, machine])
        return Pattern(machine, counts, seconds, cost, min(seconds, limit), joules)

    def end(self, seconds: float, joules: float) -> float:
        """Return when a schedule of these loads and joules may end: a power cap may require idle time."""
        return max(seconds, joules / self.headroom) if self.joules is not None and self.headroom > 0 else seconds

    def with_cap_price(self, price: float) -> Items:
        """Return items whose costs include this price of their joules above idle under the cap."""
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
    """Return the items of a bag; a task costs per_joule e (a - b), and with `wear` what wears off."""
    arrays = usable_arrays(bag)
    costs = np.where(arrays.can_run, 0.0, np.inf)
    above = np.zeros_like(costs)  # joules above idle
    if arrays.watts is not None:
        watts = arrays.watts - arrays.idle_watts[arrays.machine_of]
        costs += per_joule * arrays.seconds * watts
        above = arrays.seconds * watts
    if wear:
        prices = cost_model(bag)
        worn = np.array([prices.wear(each) for each in bag.machine_types])
        costs += arrays.seconds * worn[arrays.machine_of]
    types, states = len(bag.task_types), max(each.modes for each in bag.machine_types)
    j, k = np.array(bag.modes).T

    def by_item(table: Floats, absent: float) -> Floats:
        cells = np.full((types, states, len(bag.machine_types)), absent)
        cells[:, k, j] = table
        return cells.reshape(types * states, -1)

    return Items(
        tasks=arrays.task_counts.astype(np.int64),
        machines=arrays.machine_counts.astype(np.int64),
        task_of=np.repeat(np.arange(types), states),
        seconds=by_item(np.where(arrays.can_run, arrays.seconds, np.inf), np.inf),
        costs=by_item(costs, np.inf),
        income=income,
        per_second=per_second,
        latest=bag.site.deadline_seconds or np.inf,
        joules=None if headroom is None else by_item(above, 0.0),
        headroom=headroom or 0.0,
    )


def heterogeneity(bag: Bag) -> Heterogeneity:
    """Measure a bag's seconds."""
    arrays = arrays_of(bag)
    first = [column for column, (_, k) in enumerate(bag.modes) if k == 0]
    seconds = np.where(arrays.can_run, arrays.seconds, np.nan)[:, first]
    speeds = np.nan_to_num(1.0 / seconds)
    return Heterogeneity(
        across_task_types=_spread(list(seconds.T)),
        across_machine_types=_spread(list(seconds)),
        machine_performance_homogeneity=homogeneity(speeds.sum(axis=0)),
        task_difficulty_homogeneity=homogeneity(speeds.sum(axis=1)),
        task_machine_affinity=affinity(speeds[:, (speeds > 0).all(axis=0)]),
    )


def affinity(speeds: Floats) -> float | None:
    """Return the task-machine affinity of a table of positive speeds, `None` if it has one row or column."""
    if min(speeds.shape) < 2:  # noqa: PLR2004 - the mean of no singular values
        return None
    types, machines = speeds.shape
    row_sum, column_sum = np.sqrt(machines / types), np.sqrt(types / machines)
    standard = speeds / speeds.max()
    for _ in range(ROUNDS):
        standard = standard * (row_sum / standard.sum(axis=1, keepdims=True))
        scale = column_sum / standard.sum(axis=0, keepdims=True)
        standard = standard * scale
        if np.abs(scale - 1.0).max() < CLOSE:
            break
    others = np.linalg.svd(standard, compute_uv=False)[1:]
    return float(others.mean())


def homogeneity(performances: Floats) -> float | None:
    """Return the mean ratio of sorted neighbours, `None` if there are fewer than two above 0."""
    positive = np.sort(performances[performances > 0])
    return float((positive[:-1] / positive[1:]).mean()) if len(positive) > 1 else None


def _spread(lines: list[Floats]) -> Spread:
    measured = [_moments(line[~np.isnan(line)]) for line in lines]
    known = [np.array([each[k] for each in measured if each[k] is not None], dtype=float) for k in range(3)]
    return Spread(*(float(np.mean(each)) if len(each) else None for each in known))


def _moments(line: Floats) -> tuple[float | None, float | None, float | None]:
    if len(line) < 2:  # noqa: PLR2004 - one number has no spread
        return None, None, None
    line = line / line.mean()
    second, third, fourth = (float(((line - 1.0) ** k).mean()) for k in (2, 3, 4))
    if second < ROUNDING**2:
        return 0.0, None, None
    skewness = third / second**1.5
    return second**0.5, skewness if abs(skewness) > ROUNDING else 0.0, fourth / second**2


# How different tasks and machines are: numbers that describe a table of seconds.
#
# Of a machine type with P-states only the first one counts. Speeds are s_ij = 1 / e_ij, 0 where a pair cannot run.
#
# *Spread.* Coefficient of variation (standard deviation / mean), skewness (m3 / m2^1.5) and kurtosis (m4 / m2^2, 3 for
# a normal distribution), with m_k the k-th central moment. Across task types: within each column of seconds, averaged
# over the columns. Across machine types: within each row, averaged over the rows. A line with fewer than two times has
# no spread, one with equal times has neither skewness nor kurtosis; they are left out of the averages.
#
# *Machine performance homogeneity.* The performance of a machine type is the sum of its column of speeds.
# Sorted upwards, MPH is the mean of the ratios of neighbours, p_j / p_(j+1): 1 if all perform alike.
# *Task difficulty homogeneity* is the same of the row sums.
#
# *Task-machine affinity.* Scale rows and columns of the speeds until all row sums are sqrt(M / T) and all
# column sums sqrt(T / M); the largest singular value is then 1. TMA is the mean of the others:
#
#     TMA = sum_{k >= 2} sigma_k / (min(T, M) - 1)
#
# 0 if all tasks rank the machines alike, near 1 if every machine has tasks of its own. The scaling need not
# exist where pairs are absent, so TMA is taken over the machine types that can run everything.
#
# Source: Al-Qawasmeh, Maciejewski, Roberts and Siegel, Characterizing task-machine affinity in heterogeneous
# computing environments, 2011; Friese, section 3.5.3.2 of the thesis of 2015.
ROUNDS: Final = 10_000  # of scaling; it converges geometrically, and each round is cheap
CLOSE: Final = 1e-13
ROUNDING: Final = 1e-14  # what is smaller is an error of rounding


@dataclass(frozen=True, slots=True)
class Spread:
    """Shape of a distribution of seconds; `None` where there are too few."""

    coefficient_of_variation: float | None
    skewness: float | None
    kurtosis: float | None


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """The measures above; `None` where one is not defined."""

    across_task_types: Spread
    across_machine_types: Spread
    machine_performance_homogeneity: float | None
    task_difficulty_homogeneity: float | None
    task_machine_affinity: float | None
