"""Best first over intervals of the makespan: lower and upper bounds on the best objective value.

A leaf is an interval [t1, t2] of makespans with a proved bound of the score of every schedule that ends there
(`bag/packing.py`); together the leaves cover all makespans, and the largest bound among them is the
bound of all. So the leaf with the largest bound is always the one to work on:

    wide                 bounded by the plain program; halved, geometrically
    1 % wide or less     bounded by patterns, on a grid of cells
    narrow               bounded again on a finer grid; then a schedule of its makespan is asked for
    tried already        halved further, until it is as narrow as it pays

A child is never above its parent, whose prices hold for it as well, often with a better bound. The last
interval has no end where there is no deadline. A leaf whose bound is no better than the best schedule known
is not looked at again.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from lpsched.bag.packing import CELLS, PackingOracle, Prices
from lpsched.cancellation import Watch
from lpsched.lp.columns import ColumnGeneration

if TYPE_CHECKING:
    from fractions import Fraction

    from lpsched.bag.arrays import Items, Pattern
    from lpsched.lp.program import Master, Solver
    from lpsched.model.arrays import Floats, Integers

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


class Proofs(Protocol):
    """Proves in exact arithmetic what prices say of an interval; `None` where that is nothing."""

    def line(self, prices: Prices, end: float, cells: int = 0) -> tuple[Fraction, Fraction]:
        """Return A and B: cost >= A - t B for makespans t up to an end; by patterns, if there are cells."""

    def score(self, a: Fraction, b: Fraction, start: float, end: float) -> Fraction | None:
        """Return the score that no schedule of an interval exceeds, by A and B."""


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
    """Makespans, the score that no schedule of theirs exceeds, and its proof, maybe for a wider interval.

    `level` says how it is bounded: 0 by the plain program, 1 by patterns, 2 by patterns on the finer grid.
    """

    start: float
    end: float
    bound: Fraction | None
    level: int
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
    proofs: Proofs
    solver: Solver
    low: float  # no schedule is shorter
    high: float  # nor needs one be longer; may be infinite
    standing: float = 0.0  # what is taken off a score before it is told: gaps are relative to what is left
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
        self._push(self._bounded(self.low, self.high, None, Watch()))

    @property
    def patterns(self) -> list[Pattern]:
        """All patterns that were found for bounds; they may be too long for their limit by rounding."""
        return [] if self._columns is None else self._columns.labels

    def near(self, leaf: Leaf, most: int) -> list[tuple[int, Integers]]:
        """Return patterns that fit into a leaf, those first that cost least at its prices."""
        prices = leaf.proof.prices
        items = self.items.with_cap_price(prices.cap)
        fitting = [each for each in self.patterns if each.seconds <= leaf.end]
        reduced = [
            each.cost
            + prices.cap * each.joules
            + prices.machines[each.machine] * each.seconds
            - prices.tasks @ items.tasks_in(each.counts)
            for each in fitting
        ]
        order = np.argsort(reduced, kind="stable")[:most]
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

    def refine(self, value: float, gap: float, watch: Watch) -> Leaf | None:
        """Work on bounds until a leaf asks for a schedule that ends with it; `None` when all is done.

        `value` is the score of the best schedule; bounds within the relative gap of it are good enough.
        """
        while self._heap and not watch.is_over():
            leaf = self._heap[0][2]
            if leaf.rank - value <= gap * abs(leaf.rank - self.standing):
                return None
            if self._asks(leaf):
                self.tried.append(leaf.end)
                return leaf
            better = self._bettered(leaf, value, watch)
            heapq.heappop(self._heap)  # only now: if a program fails, no makespan is lost
            if not better:
                self.leaves.append(leaf)
            for each in better:
                self._push(each)
        return None

    @property
    def _finest(self) -> int:
        return 1 if self.per_machine > MANY_TASKS else 2

    def _asks(self, leaf: Leaf) -> bool:
        """Tell whether a leaf is narrow, bounded well enough, and not near a makespan that was tried."""
        if leaf.ratio > NARROW or leaf.level < (self._finest if self.tried else 1):
            return False
        return all(abs(math.log(leaf.end / other)) > APART for other in self.tried)

    def _bettered(self, leaf: Leaf, value: float, watch: Watch) -> list[Leaf]:
        """Return leaves in place of one, with better bounds; none if it is as narrow as it pays."""
        if leaf.level == 0 and leaf.ratio <= WIDE:
            return [self._packed(leaf, 1 if leaf.ratio > NARROW else self._finest, value, watch)]
        if leaf.ratio > NARROW:
            return self._halves(leaf, value, watch)
        if leaf.level < self._finest:
            return [self._packed(leaf, self._finest, value, watch)]
        return self._halves(leaf, value, watch) if leaf.ratio > NARROWEST else []

    def _push(self, leaf: Leaf) -> None:
        heapq.heappush(self._heap, (-leaf.rank, leaf.start, leaf))

    def _halves(self, leaf: Leaf, value: float, watch: Watch) -> list[Leaf]:
        """Cut an interval in two."""
        middle = math.sqrt(leaf.start * leaf.end)
        if math.isinf(leaf.end):
            middle = leaf.start * (FIRST_STEP if value == -math.inf else NEXT_STEP)
        cuts = ((leaf.start, middle), (middle, leaf.end))
        return [self._bounded(*cut, leaf, watch) for cut in cuts]

    def _bounded(self, start: float, end: float, parent: Leaf | None, watch: Watch) -> Leaf:
        """Return an interval bounded by the plain program, or by its parent where that is better."""
        oracle = self.oracle
        oracle.start, oracle.end = start, end
        self._limit(self._plain, oracle.pairs_upper())
        prices = oracle.prices(self._plain.solve(watch).multipliers)
        watch.count(EXACT * self.items.seconds.size)
        line = self.proofs.line(prices, end)
        leaf = Leaf(start, end, self.proofs.score(*line, start, end), 0, Proof(prices, start, end, line))
        if parent is None:
            return leaf
        own = Leaf(start, end, self.proofs.score(*parent.proof.line, start, end), 0, parent.proof)
        return leaf if leaf.rank <= own.rank else own

    def _packed(self, leaf: Leaf, level: int, value: float, watch: Watch) -> Leaf:
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
        found = columns.run(gap=PATTERN_GAP, watch=watch, enough=enough)
        prices = oracle.prices(found.multipliers)
        line = self.proofs.line(prices, leaf.end, oracle.cells)
        bound = self.proofs.score(*line, leaf.start, leaf.end)
        watch.count((EXACT + CELL * oracle.cells) * self.items.seconds.size)
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
