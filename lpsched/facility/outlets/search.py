"""The search for the best outlet temperatures: boxes are split until the bound meets what was found."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.cancellation import Watch
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.facility.air import even_outlets
from lpsched.facility.outlets.ascent import INLETS, Ascent, RecordedBox, RecordedStep, Tightening
from lpsched.facility.outlets.box import BoxSolver
from lpsched.facility.outlets.envelope import Ranges, planes
from lpsched.facility.outlets.fixed import ROUNDED, Pool
from lpsched.facility.patterns import NodeMarket

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays, HeatMap
    from lpsched.facility.patterns import FacilityRelaxation
    from lpsched.lp.program import LpSolution, Solver
    from lpsched.model.arrays import Floats


# The best outlet temperatures of a facility, and a bound for all of them.
#
# Real values come from ascents (`ascent.py`), bounds from boxes of outlets, heat and inlets of the units
# (`facility/outlets/box.py`). The box of everything has its inlets narrowed first; then, best bound first,
#
#     the box with the largest bound is narrowed (`ascent.py`) as long as that lowers its bound well,
#     then halved where the cooling power of its point is furthest below the truth.
#
# Together the boxes hold every allocation whose reward is above `cutoff`, a little more than the best one
# known; so the largest of their bounds, or the cutoff if that is larger, is the bound of all. One may stop at
# any time.
GAP: Final = 1e-3
NOTHING: Final = 1e-12  # of what all arrivals would bring: what rounding leaves where nothing can be earned
FINE: Final = 0.02  # of the gap asked for: how exact programs are
FINEST: Final = 1e-6
UNITS: Final = 8  # whose ranges are narrowed in one pass: those of most doubt
WORTH: Final = 0.3  # of a box's distance from the cutoff: what a pass over its ranges should bring
MIDDLE: Final = 0.2  # of a range, at least, on each side of where it is halved
NARROWEST: Final = 1e-5  # kelvin or kilowatts: a box that is narrower than that is done with


@dataclass(frozen=True, slots=True)
class OutletAnswer:
    """The best allocation found, and what none exceeds at any outlet temperatures in range."""

    point: FacilityRelaxation
    bound: float
    boxes: int  # whose programs were solved
    status: Literal["optimal", "limit"]  # within the gap, or stopped before
    cutoff: float  # boxes hold all allocations that earn more than this
    record: tuple[RecordedBox, ...]  # what proves the bound


@dataclass(order=True, slots=True)
class _Leaf:
    rank: float  # minus its bound
    number: int
    place: int = field(compare=False)  # in the record
    box: Ranges = field(compare=False)
    solution: LpSolution = field(compare=False)


def best_outlets(
    arrays: FacilityArrays, heat: HeatMap, *, solver: Solver, gap: float = GAP, watch: Watch | None = None
) -> OutletAnswer:
    """Return outlet temperatures whose best allocation is within the relative gap of the bound."""
    search = BoxSearch(arrays, heat, solver, gap, watch or Watch())
    search.run()
    return search.answer()


class BoxSearch:
    """The leaves, the best point, and the program that bounds them."""

    def __init__(self, arrays: FacilityArrays, heat: HeatMap, solver: Solver, gap: float, watch: Watch) -> None:
        self.arrays, self.heat, self.gap, self.watch = arrays, heat, gap, watch
        market = NodeMarket(arrays)
        self.unit = market.unit
        self.boxes = BoxSolver(market, heat, solver)
        fine = max(FINEST, FINE * gap)
        # boxes of an ascent are small: their program is not burdened with what the large ones need
        self.ascent = Ascent(BoxSolver(market, heat, solver), heat, Pool(market), solver, gap=fine)
        self.leaves: list[_Leaf] = []
        first: list[RecordedStep] = [*self.boxes.program.first_ranges()]
        self.record = [RecordedBox(first)]
        self.done = 0.0  # the largest bound, or cutoff, of leaves that are done with
        self.solved = self.climbs = 0

    @property
    def value(self) -> float:
        """The reward of the best point, 0 if there is none: an allocation never earns less."""
        return 0.0 if self.ascent.best is None else self.ascent.best.value

    @property
    def cutoff(self) -> float:
        """Rewards up to this one need no bound."""
        return self.value * (1.0 + 0.5 * self.gap)

    @property
    def bound(self) -> float:
        """What no allocation exceeds."""
        largest = -self.leaves[0].rank if self.leaves else -np.inf
        return max(self.done, largest, self.value)

    def run(self) -> None:
        """Work until the gap is closed or the watch is over."""
        first = self.ascent.judge(even_outlets(self.arrays, self.heat), self.watch)
        if first is not None:
            self.boxes.begin_at(first)
        self._push(self._bounded(self.boxes.program.largest, 0))
        if first is None and self.leaves:
            self._climb(self.leaves[0].solution)
        elif first is not None and not self._is_closed():
            self.ascent.climb(first, self.watch)
        if self.leaves and not self._is_closed():
            self._narrow_inlets()
        while self.leaves and not self.watch.is_over() and not self._is_closed():
            self.watch.tell("outlets", (self.bound - self.value) / self.bound)
            leaf = self.leaves[0]
            better = self._bettered(leaf)
            heapq.heappop(self.leaves)  # only now: if a program fails, no box is lost
            for each in better:
                self._push(each)

    def _narrow_inlets(self) -> None:
        """Narrow what all units may draw in: of all ranges these say most about the others."""
        leaf = self.leaves.pop()
        inlets = Tightening(self.boxes, leaf.box, self.cutoff / self.unit, self.record[leaf.place])
        inlets.note(leaf.solution)
        box = inlets.run(list(range(len(self.arrays.cop))), self.watch, INLETS)
        if box is None:
            self.done = max(self.done, self.cutoff)
        else:
            self._push(self._bounded(box, leaf.place))

    def answer(self) -> OutletAnswer:
        """Return the best point and the bound."""
        if self.ascent.best is None:
            if self.bound <= 0 and not self.leaves:
                raise InfeasibleError(_impossible(self.arrays))
            raise NotFoundError(
                "no outlet temperatures were found that keep redlines, cap and cooling, and none were proved "
                "impossible; allow more time"
            )
        status: Literal["optimal", "limit"] = "optimal" if self._is_closed() else "limit"
        best = self.ascent.best
        over = self.watch.is_over()  # then prices would be those of temperatures that cannot follow
        best = replace(best, priced=False) if over else self.ascent.priced(best, self.watch)
        return OutletAnswer(best, self.bound * (1.0 + ROUNDED), self.solved, status, self.cutoff, tuple(self.record))

    def _is_closed(self) -> bool:
        room = max(self.gap * self.bound, NOTHING * self.unit)
        return self.ascent.best is not None and self.bound - self.value <= room

    def _push(self, leaf: _Leaf) -> None:
        if -leaf.rank <= self.cutoff:
            self.done = max(self.done, self.cutoff if self.ascent.best else -leaf.rank)
        else:
            heapq.heappush(self.leaves, leaf)

    def _bounded(self, box: Ranges, place: int) -> _Leaf:
        """Return a box with its bound; never above one that is known already."""
        found = self.boxes.solve(
            box,
            gap=max(FINEST, FINE * self.gap),
            watch=self.watch,
            enough=-self.cutoff / self.unit if self.value else np.inf,
        )
        self.solved += 1
        recorded = self.record[place]
        recorded.note(-found.bound * self.unit, self.boxes.program.prices(found.multipliers))
        return _Leaf(-recorded.bound, self.solved, place, box, found.solution)

    def _bettered(self, leaf: _Leaf) -> list[_Leaf]:
        """Return leaves in place of one."""
        while True:
            narrowed = Tightening(self.boxes, leaf.box, self.cutoff / self.unit, self.record[leaf.place])
            narrowed.note(leaf.solution)
            box = narrowed.run(self._by_doubt(leaf)[:UNITS], self.watch)
            if box is None:
                self.done = max(self.done, self.cutoff)
                return []
            before = -leaf.rank
            leaf = self._bounded(box, leaf.place)
            if -leaf.rank <= self.cutoff or self.watch.is_over():
                return [leaf]
            if self.solved >= 2 ** (self.climbs + 1):  # at 2, 4, 8 ... boxes
                self._climb(leaf.solution)
            if max((box.high - box.low).max(), (box.most - box.least).max()) <= NARROWEST:
                self.done = max(self.done, -leaf.rank)
                return []
            if before + leaf.rank < WORTH * (before - self.cutoff):
                return self._halves(leaf)

    def _climb(self, solution: LpSolution) -> None:
        """Go up from the point of a box."""
        self.climbs += 1
        self.ascent.climb_from(self.boxes.program.floor + solution["t"], solution["Q"], self.watch)

    def _doubts(self, leaf: _Leaf) -> Floats:
        """Return by how much the cooling power of each unit is below the truth."""
        program, solution = self.boxes.program, leaf.solution
        outlets = program.floor + solution["t"]
        doubts: Floats = solution["Q"] * program.curve.at(outlets) - solution["w"]
        return doubts

    def _by_doubt(self, leaf: _Leaf) -> list[int]:
        return [int(unit) for unit in np.argsort(-self._doubts(leaf), kind="stable")]

    def _halves(self, leaf: _Leaf) -> list[_Leaf]:
        """Cut the unit of most doubt in two, in temperature or heat, whichever raises its planes more."""
        program, box, solution = self.boxes.program, leaf.box, leaf.solution
        unit = self._by_doubt(leaf)[0]
        heat = np.clip(solution["Q"], box.least, box.most)
        outlets = np.clip(program.floor + solution["t"], box.low, box.high)
        choices = [
            _cut(box, unit, ("low", "high"), float(outlets[unit])),
            _cut(box, unit, ("least", "most"), float(heat[unit])),
        ]
        heights = []
        for _, halves in choices:
            inside = [half for half in halves if _holds(half, unit, heat, outlets)] or list(halves)
            heights.append(min(planes(program.curve, half, heat, outlets).at(heat, outlets)[unit] for half in inside))
        is_heat = int(np.argmax(heights))
        at, halves = choices[is_heat]
        below = len(self.record)
        recorded = self.record[leaf.place]
        recorded.cut = bool(is_heat), unit, at, below, below + 1
        self.record += recorded.halves()
        return [self._bounded(half, below + above) for above, half in enumerate(halves)]


def _cut(box: Ranges, unit: int, names: tuple[str, str], place: float) -> tuple[float, tuple[Ranges, Ranges]]:
    """Return where a box is cut, near a place, and the parts below and above."""
    low, high = getattr(box, names[0]), getattr(box, names[1])
    margin = MIDDLE * (high[unit] - low[unit])
    place = min(max(place, low[unit] + margin), high[unit] - margin)
    below, above = high.copy(), low.copy()
    below[unit] = above[unit] = place
    return place, (replace(box, **{names[1]: below}), replace(box, **{names[0]: above}))


def _holds(box: Ranges, unit: int, heat: Floats, outlets: Floats) -> bool:
    return bool(box.low[unit] <= outlets[unit] <= box.high[unit] and box.least[unit] <= heat[unit] <= box.most[unit])


def _impossible(arrays: FacilityArrays) -> str:
    return (
        f"no outlet temperatures between {arrays.outlet_low.min():g} and {arrays.outlet_high.max():g} C keep "
        f"redlines, cooling and the cap of {arrays.cap_watts:g} W, even if all nodes are idle; raise the cap "
        "or the redlines, or widen the range of the outlet temperatures"
    )
