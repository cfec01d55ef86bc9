"""How far outlets, heat and inlets can go in a box, if the reward has to be at least some value.

For one unit after the other the program of the box is asked for the highest and the lowest T_u + Q_u / k_u
(its inlet), Q_u and T_u. What counts is the bound that its multipliers prove, not the point it finds, so few
rounds of columns are enough and the new range is valid whatever the solver did. A limit that some point of
the box nearly reaches is not asked for. Narrower ranges make higher planes of cooling power, which make
narrower ranges.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.outlet_box import Goal

if TYPE_CHECKING:
    from lpsched.formulations.cooling_envelope import Ranges
    from lpsched.instance.array_types import Floats
    from lpsched.lp.program import LpSolution
    from lpsched.search.outlet_boxes import BoxSolver
    from lpsched.search.outlet_record import Limit, RecordedBox
    from lpsched.watch import Watch

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
        of_what = (
            ("low", "least", "cool").index(limit)
            if limit not in UPPER
            else ("high", "most", "warm").index(limit)
        )
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
        heat = (
            None if limit in {"high", "low"} else own if outlets is None else own / program.curve.per_kelvin
        )
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
