"""The search for the best outlet temperatures: steps uphill, and boxes that are split until the bound is met."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.facility.air import FacilityArrays, HeatMap, even_outlets, heat_removed
from lpsched.facility.outlets.box import BoxPrices, BoxSolver, Goal, Limit, RecordedStep
from lpsched.facility.outlets.envelope import Ranges, planes
from lpsched.facility.outlets.fixed import ROUNDED, Pool, best_at, node_watts
from lpsched.facility.patterns import FacilityRelaxation, NodeMarket, Run
from lpsched.lp.program import LpSolution, LpStatus, Solver
from lpsched.units import KILO

if TYPE_CHECKING:
    from lpsched.lp.columns import Generated
    from lpsched.model.table import Floats


# What a search over boxes has to remember, so that its bound can be proved again: steps with their prices.
#
# A box that is looked at once more after its ranges were narrowed is still the same box; one that is cut has
# two others in its place.
@dataclass(slots=True)
class RecordedBox:
    """Limits that were narrowed, each by prices; then a cut, or the prices that bound the reward."""

    steps: list[RecordedStep] = field(default_factory=list)
    prices: BoxPrices | None = None
    bound: float = np.inf
    cut: tuple[bool, int, float, int, int] | None = None  # whether heat is cut, unit, where, below, above

    def note(self, bound: float, prices: BoxPrices) -> None:
        """Remember the prices that prove most."""
        if bound < self.bound:
            self.bound, self.prices = bound, prices


# Better outlet temperatures, step by step: cooling power made linear, and every step evaluated with the true one.
#
# Where node powers P and temperatures T are known, Q g(T) is replaced by its tangent there, and the program of
# `facility/outlets/box.py` with T free within some kelvin gives the next temperatures. These are evaluated by the
# program with fixed temperatures, whose cooling power is the true one. A step that brings less than it should is tried
# again with fewer kelvin. Ends in a point that no small step improves; others may be better, so it begins from several
# places, and it proves nothing.
FIRST_KELVIN: Final = 1.0
AROUND: Final = 0.5  # kelvin, for prices
LAST_KELVIN: Final = 0.02
SHORTER: Final = 0.3
LONGER: Final = 2.0
GOOD: Final = 0.5  # of what the tangents promise: then the next step may be longer
LITTLE: Final = 2.0  # times the gap, of the value: a promise too small for a step


class Ascent:
    """Climbs from one place after the other; remembers the best."""

    def __init__(self, boxes: BoxSolver, heat: HeatMap, pool: Pool, solver: Solver, *, gap: float) -> None:
        self.boxes, self.heat, self.pool, self.solver, self.gap = boxes, heat, pool, solver, gap
        self.best: FacilityRelaxation | None = None

    def evaluate(self, outlets: Floats, cancel: CancelToken) -> FacilityRelaxation | None:
        """Return the best allocation at these temperatures, `None` if there is none."""
        arrays = self.pool.market.arrays
        try:
            point = best_at(arrays, self.heat, outlets, solver=self.solver, gap=self.gap, cancel=cancel, pool=self.pool)
        except (InfeasibleError, NotFoundError):
            return None
        if self.best is None or point.value > self.best.value:
            self.best = point
        return point

    def climb_from(self, outlets: Floats, heat: Floats, cancel: CancelToken) -> None:
        """Go up from any temperatures, with some heat (kilowatts) of the units to begin with."""
        point = self.evaluate(outlets, cancel)
        if point is None:
            _, place = self._step(outlets, heat, FIRST_KELVIN, cancel)
            point = self.evaluate(place, cancel)
        if point is not None:
            self.climb(point, cancel)

    def climb(self, point: FacilityRelaxation, cancel: CancelToken) -> None:
        """Go up from an allocation."""
        self.boxes.begin_at(point)
        kelvin = FIRST_KELVIN
        while kelvin > LAST_KELVIN and not cancel.expired():
            promised, place = self._step(point.outlets, self._heat(point), kelvin, cancel)
            if promised - point.value <= LITTLE * self.gap * abs(point.value):
                return
            found = self.evaluate(place, cancel)
            if found is not None and found.value > point.value:
                kelvin *= LONGER if found.value - point.value >= GOOD * (promised - point.value) else 1.0
                point = found
            else:
                kelvin *= SHORTER

    def priced(self, point: FacilityRelaxation, cancel: CancelToken) -> FacilityRelaxation:
        """Return a point with the marginal values of limits there, if temperatures may follow when a limit moves.

        There cap and redlines often meet at a vertex, and the program with fixed temperatures has several
        sets of prices. Those of the tangents are the ones at which no small change of a temperature pays.
        """
        self.boxes.begin_at(point)  # it may be the first of this program
        program, market = self.boxes.program, self.pool.market
        solved = self._solved(point.outlets, self._heat(point), AROUND, cancel)
        found = program.prices(solved.multipliers)
        prices = market.prices(
            tasks=found.task_values,
            cap=found.cap,
            redlines=found.air[: program.nodes],
            crac_redlines=found.air[program.nodes :],
            cooling=np.maximum(found.cap * program.curve.at(point.outlets) - found.heat, 0.0),
            nodes=found.nodes,
        )
        return replace(point, prices=prices, priced=solved.status is LpStatus.OPTIMAL)

    def _heat(self, point: FacilityRelaxation) -> Floats:
        powers = node_watts(self.pool.market.arrays, point)
        return np.maximum(heat_removed(self.heat, powers, point.outlets), 0.0) / KILO

    def _step(self, outlets: Floats, heat: Floats, kelvin: float, cancel: CancelToken) -> tuple[float, Floats]:
        """Return what the tangents promise within some kelvin, and where."""
        program = self.boxes.program
        solution = self._solved(outlets, heat, kelvin, cancel).solution
        place: Floats = np.clip(program.floor + solution["t"], program.box.low, program.box.high)
        return -solution.value * program.market.unit, place

    def _solved(self, outlets: Floats, heat: Floats, kelvin: float, cancel: CancelToken) -> Generated[Run]:
        """Solve the program of the tangents within some kelvin."""
        largest, tangents = self.boxes.program.largest, self.boxes.program.curve.tangents(heat, outlets)
        low, high = (np.clip(outlets + step, largest.low, largest.high) for step in (-kelvin, kelvin))
        return self.boxes.solve(replace(largest, low=low, high=high), gap=self.gap, tangents=tangents, cancel=cancel)


# How far outlets, heat and inlets can go in a box, if the reward has to be at least some value.
#
# For one unit after the other the program of the box is asked for the highest and the lowest T_u + Q_u / k_u (its
# inlet), Q_u and T_u. What counts is the bound that its multipliers prove, not the point it finds, so few rounds of
# columns are enough and the new range is valid whatever the solver did. A limit that some point of the box nearly
# reaches is not asked for. Narrower ranges make higher planes of cooling power, which make narrower ranges.
ROUNDS: Final = 3  # of columns for one limit
NEARLY: Final = 0.05  # of the range: a limit that close to a point is not asked for
INLETS: Final[tuple[Limit, ...]] = ("warm", "cool")
LIMITS: Final[tuple[Limit, ...]] = (*INLETS, "most", "least", "high", "low")
LOWER: Final[tuple[Limit, ...]] = ("low", "least", "cool")  # as in `Ranges.ends`
UPPER: Final[tuple[Limit, ...]] = ("high", "most", "warm")
OUTWARD: Final = 1e-6  # kelvin or kilowatts, for rounding


@dataclass(slots=True)
class Tightening:
    """One pass over the limits of a box."""

    boxes: BoxSolver
    box: Ranges
    least_reward: float  # in shares of what all arrivals bring
    record: RecordedBox
    points: list[tuple[Floats, Floats]] = field(default_factory=list)  # temperatures and heat that were met

    def note(self, solution: LpSolution) -> None:
        """Remember a point of the program."""
        if solution["over"].max() <= OUTWARD:
            self.points.append((self.boxes.program.floor + solution["t"], solution["Q"]))

    def run(self, units: list[int], cancel: CancelToken, limits: tuple[Limit, ...] = LIMITS) -> Ranges | None:
        """Return the box with narrower limits; `None` if it turns out empty."""
        for unit in units:
            for limit in limits:
                if cancel.expired():
                    return self.box
                if not self._is_near(unit, limit):
                    self._tighten(unit, limit, cancel)
                    if any(low[unit] > high[unit] for low, high in self.box.ends):
                        return None
        return self.box

    def _is_near(self, unit: int, limit: Limit) -> bool:
        """Return whether some known point comes near a limit, or there is nothing left to narrow."""
        curve = self.boxes.program.curve
        if limit in INLETS and not curve.falls[unit]:
            return True
        of_what = (UPPER if limit in UPPER else LOWER).index(limit)
        low, high = (float(each[unit]) for each in self.box.ends[of_what])
        place, near = high if limit in UPPER else low, NEARLY * (high - low)
        reached = [
            (outlets[unit], heat[unit], outlets[unit] + heat[unit] / curve.per_kelvin[unit])[of_what]
            for outlets, heat in self.points
        ]
        return high - low <= OUTWARD or any(abs(each - place) <= near for each in reached)

    def _tighten(self, unit: int, limit: Limit, cancel: CancelToken) -> None:
        program = self.boxes.program
        sign = 1.0 if limit in UPPER else -1.0
        own = np.where(np.arange(program.units) == unit, sign, 0.0)
        outlets = None if limit in {"most", "least"} else own
        heat = None if limit in {"high", "low"} else own if outlets is None else own / program.curve.per_kelvin
        goal = Goal(0.0, outlets, heat, self.least_reward)
        found = self.boxes.solve(self.box, gap=GAP, goal=goal, cancel=cancel, most=ROUNDS)
        self.note(found.solution)
        proved = -found.bound + OUTWARD
        if outlets is not None:
            proved += sign * program.floor[unit]
        limits = getattr(self.box, limit).copy()
        before = limits[unit]
        limits[unit] = min(before, proved) if sign > 0 else max(before, -proved)
        if limits[unit] != before:
            self.box = replace(self.box, **{limit: limits})
            self.record.steps.append((limit, unit, program.prices(found.multipliers)))


# The best outlet temperatures of a facility, and a bound for all of them.
#
# Real values come from ascents, bounds from boxes of outlets, heat and inlets of the units
# (`facility/outlets/box.py`). The box of everything has its inlets narrowed first; then, best bound first,
#
#     the box with the largest bound is narrowed as long as that lowers its bound well,
#     then halved where the cooling power of its point is furthest below the truth.
#
# Together the boxes hold every allocation whose reward is above `cutoff`, a little more than the best one known; so the
# largest of their bounds, or the cutoff if that is larger, is the bound of all. One may stop at any time.
GAP: Final = 1e-3
NOTHING: Final = 1e-12  # of what all arrivals would bring: what rounding leaves where nothing can be earned
FINE: Final = 0.02  # of the gap asked for: how exact programs are
FINEST: Final = 1e-6
UNITS: Final = 8  # whose ranges are narrowed in one pass: those of most doubt
PROGRESS: Final = 0.3  # of a box's distance from the cutoff: what a pass over its ranges should bring
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
    arrays: FacilityArrays, heat: HeatMap, *, solver: Solver, gap: float = GAP, cancel: CancelToken | None = None
) -> OutletAnswer:
    """Return outlet temperatures whose best allocation is within the relative gap of the bound."""
    search = BoxSearch(arrays, heat, solver, gap, cancel or CancelToken())
    search.run()
    return search.answer()


class BoxSearch:
    """The leaves, the best point, and the program that bounds them."""

    def __init__(self, arrays: FacilityArrays, heat: HeatMap, solver: Solver, gap: float, cancel: CancelToken) -> None:
        self.arrays, self.heat, self.gap, self.cancel = arrays, heat, gap, cancel
        market = NodeMarket(arrays)
        self.unit = market.unit
        self.boxes = BoxSolver(market, heat, solver)
        fine = max(FINEST, FINE * gap)
        # boxes of an ascent are small: their program is not burdened with what the large ones need
        self.ascent = Ascent(BoxSolver(market, heat, solver), heat, Pool(market), solver, gap=fine)
        self.leaves: list[_Leaf] = []
        self.record = [RecordedBox(self.boxes.program.first_ranges())]
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
        """Work until the gap is closed or the token has expired."""
        first = self.ascent.evaluate(even_outlets(self.arrays, self.heat), self.cancel)
        if first is not None:
            self.boxes.begin_at(first)
        self._push(self._bounded(self.boxes.program.largest, 0))
        if first is None and self.leaves:
            self._climb(self.leaves[0].solution)
        elif first is not None and not self._is_closed():
            self.ascent.climb(first, self.cancel)
        if self.leaves and not self._is_closed():  # narrow the inlets: of all ranges these say most about the others
            leaf = self.leaves.pop()
            box = self._narrowed(leaf, list(range(len(self.arrays.cop))), INLETS)
            if box is not None:
                self._push(self._bounded(box, leaf.place))
        while self.leaves and not self.cancel.expired() and not self._is_closed():
            self.cancel.report("outlets", (self.bound - self.value) / self.bound)
            leaf = self.leaves[0]
            better = self._bettered(leaf)
            heapq.heappop(self.leaves)  # only now: if a program fails, no box is lost
            for each in better:
                self._push(each)

    def answer(self) -> OutletAnswer:
        """Return the best point and the bound."""
        if self.ascent.best is None:
            if self.bound <= 0 and not self.leaves:
                low, high = self.arrays.outlet_low.min(), self.arrays.outlet_high.max()
                raise InfeasibleError(
                    f"no outlet temperatures between {low:g} and {high:g} °C keep redlines, cooling and the cap of "
                    f"{self.arrays.cap_watts:g} W, even if all nodes are idle; raise the cap or the redlines, or widen "
                    "the range of the outlet temperatures"
                )
            raise NotFoundError(
                "no outlet temperatures were found that keep redlines, cap and cooling, and none were proved "
                "impossible; allow more time"
            )
        status: Literal["optimal", "limit"] = "optimal" if self._is_closed() else "limit"
        best = self.ascent.best
        over = self.cancel.expired()  # then prices would be those of temperatures that cannot follow
        best = replace(best, priced=False) if over else self.ascent.priced(best, self.cancel)
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
        enough = -self.cutoff / self.unit if self.value else np.inf
        found = self.boxes.solve(box, gap=max(FINEST, FINE * self.gap), cancel=self.cancel, enough=enough)
        self.solved += 1
        recorded = self.record[place]
        recorded.note(-found.bound * self.unit, self.boxes.program.prices(found.multipliers))
        return _Leaf(-recorded.bound, self.solved, place, box, found.solution)

    def _narrowed(self, leaf: _Leaf, units: list[int], limits: tuple[Limit, ...] = LIMITS) -> Ranges | None:
        """Return the box of a leaf with narrower limits of some units; `None` if nothing is left of it."""
        tightening = Tightening(self.boxes, leaf.box, self.cutoff / self.unit, self.record[leaf.place])
        tightening.note(leaf.solution)
        box = tightening.run(units, self.cancel, limits)
        if box is None:
            self.done = max(self.done, self.cutoff)
        return box

    def _bettered(self, leaf: _Leaf) -> list[_Leaf]:
        """Return leaves in place of one."""
        while True:
            box = self._narrowed(leaf, self._by_doubt(leaf)[:UNITS])
            if box is None:
                return []
            before = -leaf.rank
            leaf = self._bounded(box, leaf.place)
            if -leaf.rank <= self.cutoff or self.cancel.expired():
                return [leaf]
            if self.solved >= 2 ** (self.climbs + 1):  # at 2, 4, 8 ... boxes
                self._climb(leaf.solution)
            if max((box.high - box.low).max(), (box.most - box.least).max()) <= NARROWEST:
                self.done = max(self.done, -leaf.rank)
                return []
            if before + leaf.rank < PROGRESS * (before - self.cutoff):
                return self._halves(leaf)

    def _climb(self, solution: LpSolution) -> None:
        """Go up from the point of a box."""
        self.climbs += 1
        self.ascent.climb_from(self.boxes.program.floor + solution["t"], solution["Q"], self.cancel)

    def _by_doubt(self, leaf: _Leaf) -> list[int]:
        """Return the units, first the one whose cooling power is furthest below the truth."""
        program, solution = self.boxes.program, leaf.solution
        doubts = solution["Q"] * program.curve.at(program.floor + solution["t"]) - solution["w"]
        return [int(unit) for unit in np.argsort(-doubts, kind="stable")]

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
            inside = [
                half
                for half in halves
                if half.low[unit] <= outlets[unit] <= half.high[unit]
                and half.least[unit] <= heat[unit] <= half.most[unit]
            ] or list(halves)
            heights.append(min(planes(program.curve, half, heat, outlets).at(heat, outlets)[unit] for half in inside))
        is_heat = int(np.argmax(heights))
        at, halves = choices[is_heat]
        below = len(self.record)
        recorded = self.record[leaf.place]
        recorded.cut = bool(is_heat), unit, at, below, below + 1
        self.record += [RecordedBox(prices=recorded.prices, bound=recorded.bound) for _ in halves]  # until better
        return [self._bounded(half, below + above) for above, half in enumerate(halves)]


def _cut(box: Ranges, unit: int, names: tuple[str, str], place: float) -> tuple[float, tuple[Ranges, Ranges]]:
    """Return where a box is cut, near a place, and the parts below and above."""
    low, high = getattr(box, names[0]), getattr(box, names[1])
    margin = MIDDLE * (high[unit] - low[unit])
    place = min(max(place, low[unit] + margin), high[unit] - margin)
    below, above = high.copy(), low.copy()
    below[unit] = above[unit] = place
    return place, (replace(box, **{names[1]: below}), replace(box, **{names[0]: above}))
