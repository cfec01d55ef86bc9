"""Whole patterns: which ones the machines should run so that all tasks are done within a limit.

    min  sum cost_P y_P + sum big_i s_i    s.t.    sum_P a_iP y_P + s_i >= n_i,    sum_{P of j} y_P <= m_j

over patterns that take no longer than the limit; y should be whole. Two ways to get there:

    dive    keep the whole parts of y, or else round up the largest fractions; the tasks and machines that
            are left are a smaller program of the same kind, with patterns of their own. Its prices find them
            (knapsacks), and a short integer program settles the last few machines.
    choose  one integer program over the patterns with the least reduced costs, and more patterns near them,
            found with prices that are shaken a little. Good where a machine runs few tasks.

Neither proves anything. What is covered twice or not at all is for `plans.py` to settle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.recovery.plans import Plan, plan_of
from lpsched.lp.highs import whole_point
from lpsched.lp.knapsack import Grid, good_fillings
from lpsched.lp.program import Columns, LpBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.bag.arrays import Items, Pattern
    from lpsched.cancellation import Watch
    from lpsched.lp.program import LinearProgram, LpSolution, Master, Solver
    from lpsched.model.arrays import Floats, Integers

WHOLE: Final = 1e-6
LARGE: Final = 0.1  # the smallest fraction that is rounded up
ROUNDED_UP: Final = 0.15  # of the machines left, at a time
LAST_MACHINES: Final = 10  # for the integer program
ROUNDS: Final = 6  # of pricing, after some patterns were kept
FIRST_ROUNDS: Final = 60
AT_ONCE: Final = 2
MOST_PATTERNS: Final = 1_500  # in an integer program
SHAKEN: Final = ((0.02, 6), (0.1, 6))  # by how much prices are shaken, and how often
MORE_SHAKEN: Final = ((0.02, 15),)
SHAKEN_AT_ONCE: Final = 4
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
    watch: Watch
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
        self.solution: LpSolution = self._master.solve(self.watch)

    @property
    def shares(self) -> Floats:
        """How often each pattern is run; not a whole number yet."""
        return self.solution.values[len(self.tasks) :]

    def improve(self, rounds: int) -> None:
        """Price patterns of what is left, and solve again, while that finds new ones."""
        for _ in range(rounds):
            if self.watch.is_over() or not self.add(self._priced(self._prices(), AT_ONCE)):
                return
            self.solution = self._master.solve(self.watch)

    def shake(self, rng: np.random.Generator, ways: Iterable[tuple[float, int]]) -> None:
        """Find more patterns near the best ones: price with prices that are a little off."""
        prices = self._prices()
        for noise, times in ways:
            for _ in range(times):
                if self.watch.is_over():
                    return
                shaken = prices * (1.0 + noise * rng.standard_normal(len(prices)))
                self.add(self._priced(shaken, SHAKEN_AT_ONCE))
        self.solution = self._master.solve(self.watch)

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
        """Take tasks and machines out of the program: these patterns, so many times, are settled."""
        for number, times in kept.items():
            pattern = self.patterns[number]
            self.tasks = np.maximum(self.tasks - times * self.items.tasks_in(pattern.counts), 0)
            self.machines[pattern.machine] -= times
        program = self._master.program
        self._master.change_limits(
            program.upper,
            np.append(self.tasks, np.full(len(self.machines), -np.inf)),
            np.append(np.full(len(self.tasks), np.inf), self.machines),
        )
        self.solution = self._master.solve(self.watch)

    def whole(self, gap: float, seconds: float) -> list[Pattern]:
        """Return whole patterns for what is left, by a short integer program; none if it finds none."""
        types = len(self.tasks)
        usable = [
            each
            for each in self.patterns
            if self.machines[each.machine] > 0 and np.all(self.items.tasks_in(each.counts) <= self.tasks)
        ]
        reduced = self._columns(usable).reduced_costs(self.solution.multipliers)
        chosen = [usable[number] for number in np.argsort(reduced, kind="stable")[:MOST_PATTERNS]]
        program = self._empty().with_columns(self._columns(chosen))
        lower = np.append(self.tasks, np.full(len(self.machines), -np.inf))
        upper = np.append(np.full(types, np.inf), self.machines)
        program = program.with_limits(program.upper, lower, upper)
        share = self.watch.share(min(seconds, OF_WORK * self.watch.work_left()))
        point = whole_point(program, watch=share, gap=gap)
        if point is None:
            return []
        times = point[types:].astype(np.int64)
        return [each for each, number in zip(chosen, times, strict=True) for _ in range(number)]

    def _prices(self) -> Floats:
        multipliers = self.solution.multipliers[: len(self.tasks)]
        return np.where(np.isfinite(multipliers), multipliers * self.unit, 0.0)

    def _priced(self, prices: Floats, number: int) -> Iterable[Pattern]:
        """Yield patterns of what is left that are worth most at these prices."""
        items = self.items
        limits = self.tasks[items.task_of]
        for j in np.flatnonzero(self.machines > 0).tolist():
            values = prices[items.task_of] - items.costs[:, j]
            filled = good_fillings(items.seconds[:, j], values, limits, self.limit, Grid(self.cells, number))
            self.watch.count(filled.work)
            for counts in filled.counts:
                yield items.pattern(j, counts)

    def _empty(self) -> LinearProgram:
        """Return the program without patterns: nothing is run."""
        items, lp = self.items, LpBuilder("cover")
        s = lp.variables("s", upper=SLACK * items.tasks.astype(float))
        lp.objective([(s, items.dear(self.limit) / self.unit)])
        for i, count in enumerate(items.tasks.tolist()):
            lp.between(f"demand[{i}]", [(s[i : i + 1], 1.0)], count, np.inf)
        for j, count in enumerate(items.machines.tolist()):
            lp.at_most(f"machines[{j}]", [], count)
        return lp.build()

    def _columns(self, patterns: Sequence[Pattern]) -> Columns:
        """Return patterns as columns of the program."""
        items = self.items
        rows, values, starts = [], [], [0]
        for each in patterns:
            tasks = items.tasks_in(each.counts)
            use = np.flatnonzero(tasks)
            rows += [*use.tolist(), len(items.tasks) + each.machine]
            values += [*tasks[use].tolist(), 1.0]
            starts.append(len(rows))
        return Columns(
            costs=np.array([each.cost / self.unit for each in patterns]),
            upper=np.array([SLACK * items.machines[each.machine] for each in patterns]),
            starts=np.array(starts, dtype=np.int32),
            rows=np.array(rows, dtype=np.int32),
            values=np.array(values, dtype=float),
        )


def dive(cover: Cover, rng: np.random.Generator) -> Plan | None:
    """Return a plan by rounding again and again, `None` if time ran out; the program is used up."""
    chosen: list[Pattern] = []
    while cover.tasks.sum() > 0:
        if cover.watch.is_over():
            return None
        kept = _next_kept(cover)
        if not kept:
            break
        chosen += [cover.patterns[number] for number, times in kept.items() for _ in range(times)]
        cover.keep(kept)
        cover.improve(ROUNDS)
    if cover.tasks.sum() > 0 and cover.machines.sum() > 0:
        cover.shake(rng, SHAKEN)
        chosen += cover.whole(LAST_GAP, LAST_SECONDS)
    return plan_of(cover.items, chosen, cover.limit)


def choose(cover: Cover, rng: np.random.Generator) -> Plan | None:
    """Return a plan by one integer program, `None` if that found nothing in time."""
    cover.shake(rng, MORE_SHAKEN)
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
