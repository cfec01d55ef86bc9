"""Better outlet temperatures, step by step: cooling power made linear, and every step judged by the truth.

Where node powers P and temperatures T are known, Q g(T) is replaced by its tangent there, and the program of
`formulations/outlet_box.py` with T free within some kelvin of where it is says where to go. The temperatures
that it finds are judged by the program with fixed temperatures, whose cooling power is the true one. A step
that brings less than it should is tried again with fewer kelvin. Ends in a point that no small step betters;
others may be better, so it is begun from several places, and it proves nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.formulations.cooling_envelope import Ranges
from lpsched.formulations.node_market import KILO
from lpsched.heat import heat_removed
from lpsched.lp.program import LpStatus
from lpsched.search.fixed_outlets import best_at, node_watts

if TYPE_CHECKING:
    from lpsched.formulations.facility_relaxation import FacilityRelaxation
    from lpsched.formulations.node_market import Run
    from lpsched.heat import HeatMap
    from lpsched.instance.array_types import Floats
    from lpsched.lp.columns import Generated
    from lpsched.lp.program import Solver
    from lpsched.search.fixed_outlets import Pool
    from lpsched.search.outlet_boxes import BoxSolver
    from lpsched.watch import Watch

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
