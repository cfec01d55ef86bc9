"""Steps uphill from fixed outlet temperatures, and the best that was found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.facility.air import heat_removed
from lpsched.facility.outlets.box import Goal
from lpsched.facility.outlets.envelope import Ranges
from lpsched.facility.outlets.fixed import best_at, node_watts
from lpsched.lp.program import LpStatus
from lpsched.units import KILO

if TYPE_CHECKING:
    from lpsched.cancellation import Watch
    from lpsched.facility.air import HeatMap
    from lpsched.facility.outlets.box import BoxPrices, BoxSolver
    from lpsched.facility.outlets.fixed import Pool
    from lpsched.facility.patterns import FacilityRelaxation, Run
    from lpsched.lp.columns import Generated
    from lpsched.lp.program import LpSolution, Solver
    from lpsched.model.arrays import Floats


# What a search over boxes has to remember, so that its bound can be proved again: steps with their prices.
#
# A box that is looked at once more after its ranges were narrowed is still the same box; one that is cut has
# two others in its place.
Limit: TypeAlias = Literal["low", "high", "least", "most", "cool", "warm"]
RecordedStep: TypeAlias = "tuple[Limit, int, BoxPrices]"


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

    def halves(self) -> tuple[RecordedBox, RecordedBox]:
        """Return what the two parts of this box begin with: its own prices, until they have better ones."""
        fresh = RecordedBox(prices=self.prices, bound=self.bound)
        return fresh, replace(fresh, steps=[])


# Better outlet temperatures, step by step: cooling power made linear, and every step judged by the truth.
#
# Where node powers P and temperatures T are known, Q g(T) is replaced by its tangent there, and the program
# of `facility/outlets/box.py` with T free within some kelvin of where it is says where to go. The
# temperatures that it finds are judged by the program with fixed temperatures, whose cooling power is the
# true one. A step that brings less than it should is tried again with fewer kelvin. Ends in a point that no
# small step betters; others may be better, so it is begun from several places, and it proves nothing.
FIRST_KELVIN: Final = 1.0
AROUND: Final = 0.5  # kelvin, for prices
LAST_KELVIN: Final = 0.02
SHORTER: Final = 0.3
LONGER: Final = 2.0
GOOD: Final = 0.5  # of what the tangents promise: then the next step may be longer
LITTLE: Final = 2.0  # times the gap, of the value: a promise that is not worth a step


class Ascent:
    """Climbs from one place after the other; remembers the best."""

    def __init__(self, boxes: BoxSolver, heat: HeatMap, pool: Pool, solver: Solver, *, gap: float) -> None:
        self.boxes, self.heat, self.pool, self.solver, self.gap = boxes, heat, pool, solver, gap
        self.best: FacilityRelaxation | None = None
        self.steps = 0

    def judge(self, outlets: Floats, watch: Watch) -> FacilityRelaxation | None:
        """Return the best allocation at these temperatures, `None` if there is none."""
        try:
            point = best_at(
                self.pool.market.arrays,
                self.heat,
                outlets,
                solver=self.solver,
                gap=self.gap,
                watch=watch,
                pool=self.pool,
            )
        except (InfeasibleError, NotFoundError):
            return None
        if self.best is None or point.value > self.best.value:
            self.best = point
        return point

    def climb_from(self, outlets: Floats, heat: Floats, watch: Watch) -> None:
        """Go up from any temperatures, with some heat (kilowatts) of the units to begin with."""
        point = self.judge(outlets, watch)
        if point is None:
            _, place = self._step(outlets, heat, FIRST_KELVIN, watch)
            point = self.judge(place, watch)
        if point is not None:
            self.climb(point, watch)

    def climb(self, point: FacilityRelaxation, watch: Watch) -> None:
        """Go up from an allocation."""
        self.boxes.begin_at(point)
        kelvin = FIRST_KELVIN
        while kelvin > LAST_KELVIN and not watch.is_over():
            promised, place = self._step(point.outlets, self._heat(point), kelvin, watch)
            if promised - point.value <= LITTLE * self.gap * abs(point.value):
                return
            found = self.judge(place, watch)
            if found is not None and found.value > point.value:
                kelvin *= LONGER if found.value - point.value >= GOOD * (promised - point.value) else 1.0
                point = found
            else:
                kelvin *= SHORTER

    def priced(self, point: FacilityRelaxation, watch: Watch) -> FacilityRelaxation:
        """Return a point with what limits are worth there, if temperatures may follow when a limit moves.

        There cap and redlines often meet at a corner, and the program with fixed temperatures has several
        sets of prices. Those of the tangents are the ones at which no small change of a temperature pays.
        """
        self.boxes.begin_at(point)  # it may be the first that this program hears of
        program, market = self.boxes.program, self.pool.market
        solved = self._solved(point.outlets, self._heat(point), AROUND, watch)
        found = program.prices(solved.multipliers)
        prices = market.prices(
            worths=found.worths,
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

    def _step(self, outlets: Floats, heat: Floats, kelvin: float, watch: Watch) -> tuple[float, Floats]:
        """Return what the tangents promise within some kelvin, and where."""
        self.steps += 1
        program = self.boxes.program
        solution = self._solved(outlets, heat, kelvin, watch).solution
        place: Floats = np.clip(program.floor + solution["t"], program.box.low, program.box.high)
        return -solution.value * program.market.unit, place

    def _solved(self, outlets: Floats, heat: Floats, kelvin: float, watch: Watch) -> Generated[Run]:
        """Solve the program of the tangents within some kelvin."""
        program = self.boxes.program
        largest = program.largest
        box = Ranges(
            np.clip(outlets - kelvin, largest.low, largest.high),
            np.clip(outlets + kelvin, largest.low, largest.high),
            largest.least,
            largest.most,
            largest.cool,
            largest.warm,
        )
        tangents = program.curve.tangents(heat, outlets)
        return self.boxes.solve(box, gap=self.gap, tangents=tangents, watch=watch)


# How far outlets, heat and inlets can go in a box, if the reward has to be at least some value.
#
# For one unit after the other the program of the box is asked for the highest and the lowest T_u + Q_u / k_u
# (its inlet), Q_u and T_u. What counts is the bound that its multipliers prove, not the point it finds, so
# few rounds of columns are enough and the new range is valid whatever the solver did. A limit that some point
# of the box nearly reaches is not asked for. Narrower ranges make higher planes of cooling power, which make
# narrower ranges.
GAP: Final = 1e-3
ROUNDS: Final = 3  # of columns for one limit
NEARLY: Final = 0.05  # of the range: a limit that close to a point is not asked for
INLETS: Final[tuple[Limit, ...]] = ("warm", "cool")
LIMITS: Final[tuple[Limit, ...]] = (*INLETS, "most", "least", "high", "low")
UPPER: Final = ("warm", "most", "high")
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

    def run(self, units: list[int], watch: Watch, limits: tuple[Limit, ...] = LIMITS) -> Ranges | None:
        """Return the box with narrower limits; `None` if it turns out empty."""
        for unit in units:
            for limit in limits:
                if watch.is_over():
                    return self.box
                if not self._is_near(unit, limit):
                    self._tighten(unit, limit, watch)
                    if any(low[unit] > high[unit] for low, high in self._ends()):
                        return None
        return self.box

    def _ends(self) -> tuple[tuple[Floats, Floats], ...]:
        box = self.box
        return (box.low, box.high), (box.least, box.most), (box.cool, box.warm)

    def _is_near(self, unit: int, limit: Limit) -> bool:
        """Tell whether some known point comes near a limit, or there is nothing left to narrow."""
        curve = self.boxes.program.curve
        if limit in INLETS and not curve.falls[unit]:
            return True
        of_what = ("low", "least", "cool").index(limit) if limit not in UPPER else ("high", "most", "warm").index(limit)
        low, high = (float(each[unit]) for each in self._ends()[of_what])
        place, near = high if limit in UPPER else low, NEARLY * (high - low)
        reached = [
            (outlets[unit], heat[unit], outlets[unit] + heat[unit] / curve.per_kelvin[unit])[of_what]
            for outlets, heat in self.points
        ]
        return high - low <= OUTWARD or any(abs(each - place) <= near for each in reached)

    def _tighten(self, unit: int, limit: Limit, watch: Watch) -> None:
        program = self.boxes.program
        sign = 1.0 if limit in UPPER else -1.0
        own = np.where(np.arange(program.units) == unit, sign, 0.0)
        outlets = None if limit in {"most", "least"} else own
        heat = None if limit in {"high", "low"} else own if outlets is None else own / program.curve.per_kelvin
        goal = Goal(0.0, outlets, heat, self.least_reward)
        found = self.boxes.solve(self.box, gap=GAP, goal=goal, watch=watch, most=ROUNDS)
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
