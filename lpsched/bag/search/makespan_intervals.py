"""Bounds of whole tasks, interval by interval of makespans: scores, exact proofs, and the search for the best bound."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.bag.arrays import Items, Pattern, items_of
from lpsched.bag.cost import exact_cost_model, exact_pair
from lpsched.bag.packing import CELLS, PackingOracle, Prices
from lpsched.bag.problem import Problem, prover_of
from lpsched.cancellation import CancelToken
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.knapsack import surely_most
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.lp.program import Master, Solver
    from lpsched.model.table import Floats, Integers


# Scores of an objective: what patterns are searched by, in exact numbers, in doubles, and back again.
#
#     profit     score = profit rate + K, in money per second      made of kappa and N
#     energy     score = -E, in joules                             made of d, and I a second
#     makespan   score = -t, in seconds                            made of nothing, and 1 a second
#
# Never to run the bag earns -K, a score of 0. Where no deadline forbids that, the last interval of makespans has
# no end, and no bound of it is less.
@dataclass(frozen=True, slots=True)
class Scoring:
    """The scores of one problem."""

    maximise: bool
    fixed_rate: Fraction  # K: what the score of a profit has more than the profit
    prover: PackingProver
    items: Items
    rounded: Callable[[Fraction], Fraction]  # to what whole tasks can take, where something is minimised

    def of_value(self, value: float) -> float:
        """Return the score of what a schedule achieves."""
        return value / SECONDS_PER_HOUR + float(self.fixed_rate) if self.maximise else -value

    def to_value(self, score: float) -> float:
        """Return the objective value of a score."""
        return (score - float(self.fixed_rate)) * SECONDS_PER_HOUR if self.maximise else -score

    def to_bound(self, score: Fraction) -> float:
        """Return the bound that a proved bound of the score is, rounded to the side that stays true."""
        if not self.maximise:
            return rounded_down(self.rounded(-score))
        return rounded_up(SECONDS_PER_HOUR * (score - self.fixed_rate))


def scoring_of(problem: Problem) -> Scoring:
    """Return the scores of a problem; the items are those of the prover, in doubles."""
    bag, name = problem.bag, problem.objective.name
    known, nothing, earns = prover_of(bag), Fraction(0), name == "profit"
    per_joule = {"profit": known.per_joule, "energy": Fraction(1)}.get(name, nothing)
    per_second = {"energy": known.idle_watts, "makespan": Fraction(1)}.get(name, nothing)
    income = known.income() if earns else None
    items = items_of(
        bag,
        per_joule=float(per_joule),
        wear=earns,
        income=None if income is None else float(income),
        per_second=float(per_second),
        headroom=None if known.headroom is None else float(known.headroom),
    )
    return Scoring(
        maximise=problem.objective.maximise,
        fixed_rate=known.fixed_rate() if earns else nothing,
        prover=PackingProver(bag, per_joule, earns, income, per_second, known.headroom),
        items=items,
        rounded=known.whole_joules if name == "energy" else known.whole_seconds,
    )


# What prices prove about the makespans of an interval, in exact arithmetic.
#
# Let v_i be any price of a task, omega_j >= 0 any price of a machine's second, mu >= 0 any price of a joule above idle
# under an average-power cap P, and phi_j at least the largest value of a pattern of machine type j which takes no
# longer than t2: the sum of v_i - f_ijk - omega_j e_ijk - mu d_ijk over its tasks. A machine of a schedule whose
# makespan t is in [t1, t2] runs such a pattern. Added up over all machines, every task is in there once, the machines
# of type j work at most m_j t seconds, and all tasks take at most (P - I) t joules above idle:
#
#     sum of f over all tasks  >=  A - t B,     A = sum n_i v_i - sum m_j phi_j,
#                                               B = sum m_j omega_j + mu (P - I)
#
#     profit   f = kappa,    (N - cost) / t     <=  (N - A) / t + B
#     cost     f = wE d,     -(cost + t L)      <=  -A + t (B - L)        with L = wE I + wt
#
# Both are monotone in t, so the worse end of the interval decides; if there is no last makespan, what comes
# of t without end (where B > L, prices are first scaled down to equality). With v_i = min_jk (f_ijk + omega_j
# e_ijk) over what is done within t2, no pattern has any value, and phi = 0: the plain proof. Otherwise
# phi is a knapsack (`lp/knapsack.py`), in whole numbers, of values that are rounded up.
#
# Sums are exact: doubles are taken as the fractions that they are. Where doubles are compared or rounded
# instead, it is to the side that stays true, by far more than their rounding (`SURE`).
SURE: Final = 1e-13


class Task(NamedTuple):
    """One task type in one column: its machine type, its seconds and what it costs above idle."""

    machine: int
    seconds: Fraction
    cost: Fraction
    joules: Fraction  # above idle


@dataclass(frozen=True)
class PackingProver:
    """Evaluates the formulas above for one bag."""

    bag: Bag
    per_joule: Fraction
    wear: bool
    income: Fraction | None  # N, or `None` where costs are asked for
    per_second: Fraction
    headroom: Fraction | None  # P - I, under a power cap

    @cached_property
    def tasks(self) -> list[list[Task]]:
        """Where each task type can run, and what it costs there."""
        bag, prices = self.bag, exact_cost_model(self.bag)
        assert bag.watts is not None or not self.per_joule, "a price of energy needs watts"
        worn = [prices.wear(machine) if self.wear else Fraction(0) for machine in bag.machine_types]
        found: list[list[Task]] = []
        for i, row in enumerate(bag.seconds):
            usable = [column for column, seconds in enumerate(row) if seconds is not None]
            pairs = [(bag.modes[column][0], *exact_pair(bag, i, column)) for column in usable]
            found.append([Task(j, e, e * worn[j] + self.per_joule * joules, joules) for j, e, joules in pairs])
        return found

    def line(self, prices: Prices, end: float, cells: int = 0) -> tuple[Fraction, Fraction]:
        """Return A and B: cost >= A - t B for makespans t up to an end; by knapsacks, if there is a grid of cells."""
        omega, mu = [Fraction(each) for each in prices.machines.tolist()], Fraction(prices.cap)
        cost, supply = Fraction(0), self._supply(omega, mu)
        if cells:
            return self._packed(prices, omega, mu, end, cells), supply
        if math.isinf(end) and self.income is None and supply > self.per_second:
            factor = self.per_second / supply
            omega, mu = [each * factor for each in omega], mu * factor
            supply = self._supply(omega, mu)
        for task, row in zip(self.bag.task_types, self._cheapest(omega, mu, end), strict=True):
            cost += task.count * min(each.cost + omega[each.machine] * each.seconds + mu * each.joules for each in row)
        return cost, supply

    def score(
        self, a: Fraction, b: Fraction, start: float, end: float, income: Fraction | None = None
    ) -> Fraction | None:
        """Return the score that no schedule of an interval exceeds, at N or another income; `None` if unbounded."""
        income = self.income if income is None else income
        ends = [Fraction(start)] if math.isinf(end) else [Fraction(start), Fraction(end)]
        if income is not None:
            rates = [(income - a) / t for t in ends]
            return b + max(rates if len(rates) > 1 else [*rates, Fraction(0)])
        if len(ends) == 1 and b > self.per_second:
            return None
        return max((b - self.per_second) * t for t in ends) - a

    def _packed(self, prices: Prices, omega: Sequence[Fraction], mu: Fraction, end: float, cells: int) -> Fraction:
        """Return A by knapsacks."""
        machine, seconds, paid, sizes = self._terms(omega, mu)
        # More than v - f - omega e - mu d, whatever the rounding: see `_cheapest`.
        value = prices.tasks[:, np.newaxis] - paid + SURE * (sizes + np.abs(prices.tasks)[:, np.newaxis])
        usable = np.isfinite(seconds) & (seconds <= end) & (value > 0)
        counts = np.broadcast_to(np.array([task.count for task in self.bag.task_types])[:, np.newaxis], value.shape)
        cost = Fraction(0)
        for task, price in zip(self.bag.task_types, prices.tasks.tolist(), strict=True):
            cost += task.count * Fraction(price)
        for j, each in enumerate(self.bag.machine_types):
            own = usable & (machine == j)
            cost -= each.count * surely_most(seconds[own], value[own], counts[own], end, cells)
        return cost

    def _cheapest(self, omega: Sequence[Fraction], mu: Fraction, end: float) -> list[list[Task]]:
        """Return the pairs of each task type that can be its cheapest within the limit.

        The terms are worked out in doubles. Each rounding is off by at most 2^-53 of the sizes of the parts,
        and there are fewer than ten: what is further above the least than `SURE` of them is not the least.
        """
        _, seconds, terms, sizes = self._terms(omega, mu)
        usable = np.isfinite(seconds) & (seconds <= end)
        most = np.where(usable, terms + SURE * sizes, np.inf).min(axis=1, keepdims=True)
        near = usable & (terms - SURE * sizes <= most)
        return [[row[at] for at in np.flatnonzero(own).tolist()] for row, own in zip(self.tasks, near, strict=True)]

    def _terms(self, omega: Sequence[Fraction], mu: Fraction) -> tuple[Integers, Floats, Floats, Floats]:
        """Return machine types, seconds, f + omega e + mu d and the size of its parts, of all pairs."""
        machine, seconds, cost, joules = self._table
        price = np.array([float(each) for each in omega])[machine]
        timed, heated = price * np.where(np.isfinite(seconds), seconds, 0.0), float(mu) * joules
        return machine, seconds, cost + timed + heated, np.abs(cost) + timed + np.abs(heated)

    @cached_property
    def _table(self) -> tuple[Integers, Floats, Floats, Floats]:
        """Machine types, seconds, costs and joules of all pairs; a row a task type, filled up at its end."""
        width = max(len(row) for row in self.tasks)
        machine = np.zeros((len(self.tasks), width), dtype=np.int64)
        seconds, cost, joules = (np.full(machine.shape, fill) for fill in (np.inf, 0.0, 0.0))
        for i, row in enumerate(self.tasks):
            for at, each in enumerate(row):
                machine[i, at], seconds[i, at] = each.machine, float(each.seconds)
                cost[i, at], joules[i, at] = float(each.cost), float(each.joules)
        return machine, seconds, cost, joules

    def _supply(self, omega: Sequence[Fraction], mu: Fraction) -> Fraction:
        """Return B."""
        supply = sum((j.count * price for j, price in zip(self.bag.machine_types, omega, strict=True)), Fraction(0))
        return supply + mu * (self.headroom or 0)


# Best first over intervals of the makespan: lower and upper bounds on the best objective value.
#
# A leaf is an interval [t1, t2] of makespans with a proved bound of the score of every schedule that ends there
# (`bag/packing.py`); together the leaves cover all makespans, and the largest bound among them is the
# bound of all. So the leaf with the largest bound is always the one to work on:
#
#     wide                 bounded by the plain program; halved, geometrically
#     1 % wide or less     bounded by patterns, on a grid of cells
#     narrow               bounded again on a finer grid; then a schedule of its makespan is asked for
#     tried already        halved further, until it is as narrow as it pays
#
# A child is never above its parent, whose prices hold for it as well, often with a better bound. The last
# interval has no end where there is no deadline. A leaf whose bound is no better than the best schedule known
# is not looked at again.
WIDE: Final = 1.01  # times the start: wider intervals are bounded by the plain program only
NARROW: Final = 1 + 5e-4
NARROWEST: Final = 1 + 1e-4
FEWEST_CELLS: Final = 2_500  # of the first grid
CELLS_A_TASK: Final = 1_000  # that a machine runs: each is rounded by up to a cell
APART: Final = 1e-3  # makespans closer than that, relatively, are not both tried
FINER: Final = 4  # times the cells of the first grid
MANY_TASKS: Final = 50  # a machine: from there on the first grid is fine enough
PATTERN_GAP: Final = 2e-5  # of program and bound of an interval
FIRST_STEP: Final = 1.05  # where the first interval without an end is cut
NEXT_STEP: Final = 1.5
EXACT: Final = 8e-6  # seconds of work counted for each pair in an exact proof,
CELL: Final = 5e-9  # and for each of its cells, where it has a grid


@dataclass(frozen=True, slots=True)
class Proof:
    """What proves a bound: prices, for an interval, on a grid of cells; on none if tasks may be split."""

    prices: Prices
    start: float
    end: float
    line: tuple[Fraction, Fraction]  # A and B: all that they say, for any makespan up to the end
    cells: int = 0


@dataclass(frozen=True, slots=True)
class Leaf:
    """Makespans, the score that no schedule of theirs exceeds, and its proof, maybe for a wider interval."""

    start: float
    end: float
    bound: Fraction | None
    level: int  # bounded by 0: the plain program, 1: patterns, 2: patterns on the finer grid
    proof: Proof

    @property
    def rank(self) -> float:
        """The bound as a double, for the order of work."""
        return math.inf if self.bound is None else float(self.bound)

    @property
    def ratio(self) -> float:
        """How wide it is."""
        return self.end / self.start


@dataclass
class IntervalSearch:
    """The leaves, and the programs that bound them."""

    items: Items
    proofs: PackingProver
    solver: Solver
    low: float  # no schedule is shorter
    high: float  # nor needs one be longer; may be infinite
    fixed_rate: float = 0.0  # what is taken off a score before it is reported: gaps are relative to what is left
    cells: int = 0  # of the first grid; 0: as many as the tasks of a machine need
    leaves: list[Leaf] = field(default_factory=list)  # those that are done with
    tried: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Bound all makespans by one interval."""
        self._heap: list[tuple[float, float, Leaf]] = []
        self.per_machine = float(self.items.tasks.sum() / self.items.machines.sum())
        self.cells = self.cells or int(min(CELLS, max(FEWEST_CELLS, CELLS_A_TASK * self.per_machine)))
        self.oracle = PackingOracle(self.items, self.low, self.low, self.high, self.cells)
        program = self.oracle.master().with_columns(self.oracle.pairs())
        self._plain: Master = self.solver.master(program)
        self._columns: ColumnGeneration[Pattern] | None = None
        self._push(self._bounded(self.low, self.high, None, CancelToken()))

    @property
    def patterns(self) -> list[Pattern]:
        """All patterns that were found for bounds; they may be too long for their limit by rounding."""
        return [] if self._columns is None else self._columns.labels

    def near(self, leaf: Leaf, most: int) -> list[tuple[int, Integers]]:
        """Return patterns that fit into a leaf, those first that cost least at its prices."""
        prices = leaf.proof.prices
        fitting = [each for each in self.patterns if each.seconds <= leaf.end]
        paid = [each.cost + prices.cap * each.joules + prices.machines[each.machine] * each.seconds for each in fitting]
        met = [prices.tasks @ self.items.tasks_in(each.counts) for each in fitting]
        order = np.argsort(np.array(paid) - np.array(met), kind="stable")[:most]
        return [(fitting[number].machine, fitting[number].counts) for number in order]

    @property
    def bound(self) -> Fraction | None:
        """What no schedule exceeds; `None` if that is not known."""
        bounds = [leaf.bound for leaf in self.all_leaves()]
        known = [each for each in bounds if each is not None]
        return max(known) if len(known) == len(bounds) else None

    def all_leaves(self) -> list[Leaf]:
        """Return leaves that cover all makespans."""
        return self.leaves + [leaf for _, _, leaf in self._heap]

    def refine(self, value: float, gap: float, cancel: CancelToken) -> Leaf | None:
        """Improve bounds to the gap from `value`, the best score; return a leaf to search schedules for, if any."""
        while self._heap and not cancel.expired():
            leaf = self._heap[0][2]
            if leaf.rank - value <= gap * abs(leaf.rank - self.fixed_rate):
                return None
            if self._wants_schedule(leaf):
                self.tried.append(leaf.end)
                return leaf
            better = self._bettered(leaf, value, cancel)
            heapq.heappop(self._heap)  # only now: if a program fails, no makespan is lost
            if not better:
                self.leaves.append(leaf)
            for each in better:
                self._push(each)
        return None

    @property
    def _finest(self) -> int:
        return 1 if self.per_machine > MANY_TASKS else 2

    def _wants_schedule(self, leaf: Leaf) -> bool:
        """Return whether a leaf is narrow, bounded well enough, and not near a makespan that was tried."""
        if leaf.ratio > NARROW or leaf.level < (self._finest if self.tried else 1):
            return False
        return all(abs(math.log(leaf.end / other)) > APART for other in self.tried)

    def _bettered(self, leaf: Leaf, value: float, cancel: CancelToken) -> list[Leaf]:
        """Return leaves in place of one, with better bounds; none if it is as narrow as it pays."""
        if leaf.level == 0 and leaf.ratio <= WIDE:
            return [self._packed(leaf, 1 if leaf.ratio > NARROW else self._finest, value, cancel)]
        if leaf.ratio > NARROW:
            return self._halves(leaf, value, cancel)
        if leaf.level < self._finest:
            return [self._packed(leaf, self._finest, value, cancel)]
        return self._halves(leaf, value, cancel) if leaf.ratio > NARROWEST else []

    def _push(self, leaf: Leaf) -> None:
        heapq.heappush(self._heap, (-leaf.rank, leaf.start, leaf))

    def _halves(self, leaf: Leaf, value: float, cancel: CancelToken) -> list[Leaf]:
        """Cut an interval in two."""
        middle = math.sqrt(leaf.start * leaf.end)
        if math.isinf(leaf.end):
            middle = leaf.start * (FIRST_STEP if value == -math.inf else NEXT_STEP)
        return [self._bounded(*cut, leaf, cancel) for cut in ((leaf.start, middle), (middle, leaf.end))]

    def _bounded(self, start: float, end: float, parent: Leaf | None, cancel: CancelToken) -> Leaf:
        """Return an interval bounded by the plain program, or by its parent where that is better."""
        oracle = self.oracle
        oracle.start, oracle.end = start, end
        self._limit(self._plain, oracle.pairs_upper())
        prices = oracle.prices(self._plain.solve(cancel).multipliers)
        cancel.count(EXACT * self.items.seconds.size)
        line = self.proofs.line(prices, end)
        leaf = Leaf(start, end, self.proofs.score(*line, start, end), 0, Proof(prices, start, end, line))
        if parent is None:
            return leaf
        own = Leaf(start, end, self.proofs.score(*parent.proof.line, start, end), 0, parent.proof)
        return leaf if leaf.rank <= own.rank else own

    def _packed(self, leaf: Leaf, level: int, value: float, cancel: CancelToken) -> Leaf:
        """Return an interval bounded by patterns, if that is better."""
        oracle = self.oracle
        oracle.start, oracle.end = leaf.start, leaf.end
        oracle.cells = self.cells * (FINER if level > 1 else 1)
        if self._columns is None:
            self._columns = ColumnGeneration(self.solver, oracle.master(), oracle, [], stage=None, mixed=1.0)
        columns = self._columns
        upper = oracle.upper(columns.labels)
        self._limit(columns.master, upper)
        columns.forget(np.flatnonzero(upper == 0))  # too long, but by rounding they may fit this end yet
        enough = oracle.value(value) if math.isfinite(value) else math.inf
        found = columns.run(gap=PATTERN_GAP, cancel=cancel, enough=enough)
        prices = oracle.prices(found.multipliers)
        line = self.proofs.line(prices, leaf.end, oracle.cells)
        bound = self.proofs.score(*line, leaf.start, leaf.end)
        cancel.count((EXACT + CELL * oracle.cells) * self.items.seconds.size)
        if bound is None or (leaf.bound is not None and bound >= leaf.bound):
            return replace(leaf, level=level)
        proof = Proof(prices, leaf.start, leaf.end, line, oracle.cells)
        return Leaf(leaf.start, leaf.end, bound, level, proof)

    def _limit(self, master: Master, upper: Floats) -> None:
        """Set the interval of a program, and how often its patterns or pairs may be used."""
        program, first = master.program, 1 + len(self.items.tasks)
        least, most = self.oracle.interval()
        master.change_limits(
            np.append(program.upper[:first], upper),
            np.append(program.row_lower[:-1], least),
            np.append(program.row_upper[:-1], most),
        )
