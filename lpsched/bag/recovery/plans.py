"""Plans: how many of each item every machine runs, also from patterns; grouped by equal machines; when they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.cost import exact_cost_model, exact_pair
from lpsched.bag.schedule import MachineGroup, Schedule, numbered, run_of, task_counts
from lpsched.lp.knapsack import Grid, good_fillings
from lpsched.lp.program import Columns, LinearProgram, LpBuilder, LpSolution, Master, Solver
from lpsched.lp.solvers import whole_point
from lpsched.model.fixed_point import rounded_down, rounded_up

if TYPE_CHECKING:
    from lpsched.bag.arrays import Items, Pattern
    from lpsched.bag.model import Bag
    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats, Integers


# From single machines to groups: machines of a type that run the same are one group. What a machine runs is given by
# columns, as everywhere in recovery: ``{(i, column): count}``. Each machine runs its longest tasks first, ties by
# index; groups come in the order of machine types.
def grouped(bag: Bag, machines: Iterable[tuple[int, Mapping[tuple[int, int], int]]]) -> Schedule:
    """Return the schedule of machines ``(j, what it runs)``; idle ones may be left out."""
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
# Patterns that were chosen to cover all tasks may run some twice and, where machines were too few, leave others out. Of
# a task type that is run too often, the most expensive are dropped; those left out go, longest first, where they cost
# least. A second by which a machine then is later than the limit has a price that rises with it.
LATE: Final = 2.0  # times the value of a second: the price of one above the limit
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
        """The score of the plan."""
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
        return np.asarray((self.counts * np.where(np.isfinite(table), table, 0.0).T[self.kinds]).sum(axis=1))


def plan_of(items: Items, chosen: Sequence[Pattern], limit: float) -> Plan:
    """Return a plan whose machines run these patterns, corrected to run every task once."""
    plan, firsts = _idle(items)
    counts = plan.counts
    for pattern in chosen:
        counts[firsts[pattern.machine]] = pattern.counts
        firsts[pattern.machine] += 1
    extras = items.tasks_in(counts).sum(axis=0) - items.tasks
    for i in np.flatnonzero(extras > 0):  # run too often: the most expensive are dropped
        own = np.flatnonzero(items.task_of == i)
        costs = items.costs[own].T[plan.kinds]
        for _ in range(int(extras[i])):
            machine, k = divmod(int(np.argmax(np.where(counts[:, own] > 0, costs, -np.inf))), len(own))
            counts[machine, own[k]] -= 1
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


def _place(plan: Plan, limit: float) -> None:
    """Place the tasks that are left out, longest first."""
    items, counts, loads = plan.items, plan.counts, plan.loads
    second = LATE * items.value_of_second(plan.cost, limit)
    missing = items.tasks - items.tasks_in(counts).sum(axis=0)
    soonest = items.seconds.min(axis=1).reshape(len(missing), -1).min(axis=1)
    for i in np.argsort(-soonest):
        own = np.flatnonzero(items.task_of == i)
        costs, seconds = items.costs[own].T[plan.kinds], items.seconds[own].T[plan.kinds]
        for _ in range(int(missing[i])):
            late = np.maximum(0.0, loads[:, np.newaxis] + seconds - limit)
            price = costs + second * late * (1.0 + STEEP * late / limit)
            machine, k = divmod(int(np.argmin(price)), len(own))
            counts[machine, own[k]] += 1
            loads[machine] += seconds[machine, k]


# Whole patterns: which ones the machines should run so that all tasks are done within a limit.
#
#     min  sum cost_P y_P + sum big_i s_i    s.t.    sum_P a_iP y_P + s_i >= n_i,    sum_{P of j} y_P <= m_j
#
# over patterns that take no longer than the limit; y should be whole. Two heuristics:
#
#     diving             fix the whole parts of y, or else round up the largest fractions; the tasks and machines left
#                        are a smaller program of the same kind, with patterns of their own. Its prices find them
#                        (knapsacks), and a short integer program settles the last few machines.
#     restricted master  one integer program over the patterns with the least reduced costs, and more patterns near
#                        them, found with perturbed prices. Good where a machine runs few tasks.
#
# Neither proves anything. What is covered twice or not at all is corrected by `plan_of`.
WHOLE: Final = 1e-6
LARGE: Final = 0.1  # the smallest fraction that is rounded up
ROUNDED_UP: Final = 0.15  # of the machines left, at a time
LAST_MACHINES: Final = 10  # for the integer program
ROUNDS: Final = 6  # of pricing, after some patterns were kept
FIRST_ROUNDS: Final = 60
AT_ONCE: Final = 2
MOST_PATTERNS: Final = 1_500  # in an integer program
PERTURBED: Final = ((0.02, 6), (0.1, 6))  # by how much prices are perturbed, and how often
MORE_PERTURBED: Final = ((0.02, 15),)
PERTURBED_AT_ONCE: Final = 4
SLACK: Final = 2.0  # between what a variable can be and its upper limit
LAST_SECONDS: Final = 0.6  # of counted work
CHOICE_SECONDS: Final = 3.0
OF_WORK: Final = 0.4  # at most, for an integer program
LAST_GAP: Final = 1e-3
CHOICE_GAP: Final = 1e-4


@dataclass
class Cover:
    """The program above for the tasks and machines that are left, and its patterns."""

    items: Items
    limit: float
    solver: Solver
    cancel: CancelToken
    cells: int
    patterns: list[Pattern] = field(default_factory=list)
    tasks: Integers = field(init=False)  # left to run
    machines: Integers = field(init=False)  # left to use

    def __post_init__(self) -> None:
        """Hand the program to the solver, with the patterns that there are."""
        self.unit = self.items.size(self.limit)  # costs are counted in what the bag is about
        self.tasks, self.machines = self.items.tasks.copy(), self.items.machines.copy()
        self.patterns = [each for each in self.patterns if each.seconds <= self.limit]
        self._known = {(each.machine, each.counts.tobytes()) for each in self.patterns}
        program = self._empty().with_columns(self._columns(self.patterns))
        self._master: Master = self.solver.master(program)
        self.solution: LpSolution = self._master.solve(self.cancel)

    @property
    def shares(self) -> Floats:
        """How often each pattern is run; not a whole number yet."""
        return self.solution.values[len(self.tasks) :]

    def improve(self, rounds: int) -> None:
        """Price patterns of what is left, and solve again, while that finds new ones."""
        for _ in range(rounds):
            if self.cancel.expired() or not self.add(self._priced(self._prices(), AT_ONCE)):
                return
            self.solution = self._master.solve(self.cancel)

    def perturb(self, rng: np.random.Generator, ways: Iterable[tuple[float, int]]) -> None:
        """Find more patterns near the best ones: price with prices that are a little off."""
        prices = self._prices()
        for noise, times in ways:
            for _ in range(times):
                if self.cancel.expired():
                    return
                perturbed = prices * (1.0 + noise * rng.standard_normal(len(prices)))
                self.add(self._priced(perturbed, PERTURBED_AT_ONCE))
        self.solution = self._master.solve(self.cancel)

    def add(self, patterns: Iterable[Pattern]) -> int:
        """Add the patterns that are new; return how many."""
        fresh = {(each.machine, each.counts.tobytes()): each for each in patterns if each.seconds <= self.limit}
        fresh = {key: each for key, each in fresh.items() if key not in self._known}
        if fresh:
            self._known |= fresh.keys()
            self._master.add_columns(self._columns(list(fresh.values())))
            self.patterns += fresh.values()
        return len(fresh)

    def keep(self, kept: dict[int, int]) -> None:
        """Take tasks and machines out of the program: these patterns, each as often as given, are fixed."""
        for number, times in kept.items():
            pattern = self.patterns[number]
            self.tasks = np.maximum(self.tasks - times * self.items.tasks_in(pattern.counts), 0)
            self.machines[pattern.machine] -= times
        self._master.change_limits(self._master.program.upper, *self._row_limits())
        self.solution = self._master.solve(self.cancel)

    def whole(self, gap: float, seconds: float) -> list[Pattern]:
        """Return whole patterns for what is left, by a short integer program; none if it finds none."""
        usable = [
            each
            for each in self.patterns
            if self.machines[each.machine] > 0 and np.all(self.items.tasks_in(each.counts) <= self.tasks)
        ]
        reduced = self._columns(usable).reduced_costs(self.solution.multipliers)
        chosen = [usable[number] for number in np.argsort(reduced, kind="stable")[:MOST_PATTERNS]]
        program = self._empty().with_columns(self._columns(chosen))
        program = program.with_limits(program.upper, *self._row_limits())
        share = self.cancel.share(min(seconds, OF_WORK * self.cancel.work_left()))
        point = whole_point(program, cancel=share, gap=gap)
        if point is None:
            return []
        times = point[len(self.tasks) :].astype(np.int64)
        return [each for each, number in zip(chosen, times, strict=True) for _ in range(number)]

    def _prices(self) -> Floats:
        multipliers = self.solution.multipliers[: len(self.tasks)]
        return np.where(np.isfinite(multipliers), multipliers * self.unit, 0.0)

    def _priced(self, prices: Floats, number: int) -> Iterable[Pattern]:
        """Yield the most valuable patterns of what is left at these prices."""
        items = self.items
        limits = self.tasks[items.task_of]
        for j in np.flatnonzero(self.machines > 0).tolist():
            values = prices[items.task_of] - items.costs[:, j]
            filled = good_fillings(items.seconds[:, j], values, limits, self.limit, Grid(self.cells, number))
            self.cancel.count(filled.work)
            for counts in filled.counts:
                yield items.pattern(j, counts)

    def _empty(self) -> LinearProgram:
        """Return the program without patterns: nothing is run."""
        items, lp = self.items, LpBuilder("cover")
        s = lp.variables("s", upper=SLACK * items.tasks.astype(float))
        lp.objective([(s, items.penalties(self.limit) / self.unit)])
        i, n, m = np.arange(len(items.tasks)), items.tasks.astype(float), items.machines.astype(float)
        lp.between_each([f"demand[{each}]" for each in i], [(i, s, 1.0)], n, np.inf)
        lp.at_most_each([f"machines[{j}]" for j in range(len(m))], [], m)
        return lp.build()

    def _columns(self, patterns: Sequence[Pattern]) -> Columns:
        """Return patterns as columns of the program."""
        items, types = self.items, len(self.items.tasks)
        cells = [items.demand_met(each) | {types + each.machine: 1.0} for each in patterns]
        upper = np.array([SLACK * items.machines[each.machine] for each in patterns])
        return Columns.of([each.cost / self.unit for each in patterns], upper, cells)

    def _row_limits(self) -> tuple[Floats, Floats]:
        """Return the least and the most of each row, for what is left."""
        no_least, no_most = np.full(len(self.machines), -np.inf), np.full(len(self.tasks), np.inf)
        return np.append(self.tasks, no_least), np.append(no_most, self.machines)


def diving_heuristic(cover: Cover, rng: np.random.Generator) -> Plan | None:
    """Return a plan by repeated rounding, `None` if time ran out; the program is used up."""
    chosen: list[Pattern] = []
    while cover.tasks.sum() > 0:
        if cover.cancel.expired():
            return None
        kept = _next_kept(cover)
        if not kept:
            break
        chosen += [cover.patterns[number] for number, times in kept.items() for _ in range(times)]
        cover.keep(kept)
        cover.improve(ROUNDS)
    if cover.tasks.sum() > 0 and cover.machines.sum() > 0:
        cover.perturb(rng, PERTURBED)
        chosen += cover.whole(LAST_GAP, LAST_SECONDS)
    return plan_of(cover.items, chosen, cover.limit)


def restricted_master_heuristic(cover: Cover, rng: np.random.Generator) -> Plan | None:
    """Return a plan by one integer program, `None` if that found nothing in time."""
    cover.perturb(rng, MORE_PERTURBED)
    chosen = cover.whole(CHOICE_GAP, CHOICE_SECONDS)
    return plan_of(cover.items, chosen, cover.limit) if chosen else None


def _next_kept(cover: Cover) -> dict[int, int]:
    """Return which patterns to keep how often: whole parts, or else the largest fractions, once each."""
    shares, left = cover.shares, cover.machines.copy()
    whole = np.floor(shares + WHOLE).astype(np.int64)
    if whole.any():
        return {int(number): int(whole[number]) for number in np.flatnonzero(whole)}
    if left.sum() <= LAST_MACHINES:
        return {}
    kept = {}
    for number in np.argsort(-shares, kind="stable")[: max(1, int(ROUNDED_UP * left.sum()))].tolist():
        machine = cover.patterns[number].machine
        if shares[number] > LARGE and left[machine] > 0:
            kept[number] = 1
            left[machine] -= 1
    return kept


# When a schedule ends: all machines stay on until then, and idle time lowers the average power.
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
    headroom, joules = exact_cost_model(bag).headroom, Fraction(0)
    earliest, latest = largest_load(bag, schedule), site.deadline_seconds
    if headroom is not None and bag.watts is not None:
        for i, row in enumerate(task_counts(bag, schedule)):
            for column, count in row.items():
                joules += count * exact_pair(bag, i, column)[1]
        if headroom > 0:
            earliest = max(earliest, rounded_up(joules / headroom))
        if headroom < 0:
            stop = rounded_down(joules / headroom)
            latest = stop if latest is None else min(stop, latest)
    end = max(earliest, latest) if late and latest is not None else earliest
    return replace(schedule, makespan_seconds=end)


def largest_load(bag: Bag, schedule: Schedule) -> float:
    """Return when the last task of a schedule ends, rounded up."""
    loads = (
        sum((count * Fraction(bag.seconds[i, column] or 0.0) for i, column, count in runs), Fraction(0))
        for _, _, runs in numbered(bag, schedule)
    )
    return rounded_up(max(loads))
