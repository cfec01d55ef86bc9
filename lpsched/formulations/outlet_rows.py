"""The rows that a program with free outlet temperatures gets when they are broken: air, and cooling power.

    air[v]      (G P + H T)_v  <=  R_v            of a node,      Q_u / k_u + T_u  <=  R_u     of a unit
    cooling[u]  w_u  >=  a Q_u + b T_u + c        a plane below Q_u g_u(T_u), on the box it was made for

Rows of air hold on every box. A plane holds on a box that lies in its own; on others it is switched off. In
an ascent tangents take the place of planes, and only the last ones count. T is counted from the coldest
outlet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.cooling_envelope import CoolingCurve, Planes, Ranges, planes
from lpsched.formulations.node_market import KILO
from lpsched.lp.master import Rows

if TYPE_CHECKING:
    from lpsched.heat import HeatMap
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.facility_arrays import FacilityArrays
    from lpsched.lp.program import LinearProgram, LpSolution

BROKEN: Final = 1e-9  # kelvin
BELOW: Final = 1e-7  # kilowatts of cooling that may be missing before a plane is added
AT_ONCE: Final = 60  # rows of air added in a round


@dataclass(frozen=True, slots=True)
class _Plane:
    unit: int
    of: Ranges | Planes  # the box on which it holds, or the tangents that it is one of
    constant: float


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    lower: float
    upper: float
    columns: list[int]
    values: list[float]


class OutletRows:
    """Knows which rows are there, and all others without writing them out."""

    def __init__(self, arrays: FacilityArrays, heat: HeatMap) -> None:
        self.floor = arrays.outlet_low
        self.per_kelvin = heat.crac_watts_per_kelvin / KILO
        self.curve = CoolingCurve(arrays, self.per_kelvin)
        self.warms = heat.from_power * KILO  # G
        self.mixes = heat.from_outlets  # H
        self.redlines = np.concatenate((arrays.redline, arrays.crac_redline))
        self.room = self.redlines - np.concatenate((self.mixes @ self.floor, self.floor))
        self.there: list[int | _Plane] = []  # places of air and planes, in the order in which they came

    def air_prices(self, multipliers: Floats) -> Floats:
        """Return the price of a kelvin at each node and unit, from the multipliers of these rows."""
        prices = np.zeros(len(self.redlines))
        for multiplier, what in zip(multipliers.tolist(), self.there, strict=False):
            if not isinstance(what, _Plane):
                prices[what] = max(-multiplier, 0.0)
        prices[~np.isfinite(self.redlines)] = 0.0
        return prices

    def multipliers(self, air: Floats) -> Floats:
        """Return what the multipliers of these rows are at prices of air; 0 for planes."""
        return np.array([0.0 if isinstance(what, _Plane) else -air[what] for what in self.there])

    def lower_limits(self, box: Ranges, tangents: Planes | None) -> Floats:
        """Return the lower limits of these rows on a box; planes that do not hold there have none."""
        limits = np.full(len(self.there), -np.inf)
        for row, what in enumerate(self.there):
            if isinstance(what, _Plane) and _holds(what, box, tangents):
                limits[row] = what.constant
        return limits

    def broken(self, solution: LpSolution, box: Ranges, tangents: Planes | None) -> Rows | None:
        """Return the rows of air, and the planes, that a point breaks most."""
        power, t, heat, watts = (solution[block] for block in ("P", "t", "Q", "w"))
        air = np.concatenate((self.warms @ power + self.mixes @ t, heat / self.per_kelvin + t))
        excess = air - self.room - solution["over"][1]
        excess[self._places()] = -np.inf
        worst = np.argsort(-excess, kind="stable")[:AT_ONCE]
        rows = self._air(worst[excess[worst] > BROKEN], solution.program)
        outlets = self.floor + t
        found = tangents
        if found is None:
            found = planes(self.curve, box, np.clip(heat, box.least, box.most), outlets)
        missing = np.flatnonzero(found.at(heat, outlets) > watts + BELOW)
        return _joined(rows + self._cooling(found, missing, tangents or box, solution.program))

    def air(self, places: Integers, program: LinearProgram) -> Rows | None:
        """Return the rows of air at these places that are not there yet."""
        return _joined(self._air(places[~np.isin(places, self._places())], program))

    def _places(self) -> list[int]:
        return [what for what in self.there if not isinstance(what, _Plane)]

    def _air(self, places: Integers, program: LinearProgram) -> list[_Row]:
        blocks, found = program.blocks, []
        nodes = len(self.warms)
        for place in places.tolist():
            if place < nodes:
                near = np.flatnonzero(self.warms[place])
                columns = [*blocks["P"][near].tolist(), *blocks["t"].tolist()]
                values = [*self.warms[place, near].tolist(), *self.mixes[place].tolist()]
            else:
                unit = place - nodes
                columns = [int(blocks["Q"][unit]), int(blocks["t"][unit])]
                values = [1.0 / self.per_kelvin[unit], 1.0]
            columns.append(int(blocks["over"][1]))
            found.append(_Row(f"air[{place}]", -np.inf, float(self.room[place]), columns, [*values, -1.0]))
            self.there.append(place)
        return found

    def _cooling(
        self, made: Planes, units: Integers, of: Ranges | Planes, program: LinearProgram
    ) -> list[_Row]:
        blocks, found = program.blocks, []
        for unit in units.tolist():
            constant = float(made.constant[unit] + made.outlet[unit] * self.floor[unit])
            columns = [int(blocks[block][unit]) for block in ("w", "Q", "t")]
            values = [1.0, -float(made.heat[unit]), -float(made.outlet[unit])]
            found.append(_Row(f"cooling[{unit}]", constant, np.inf, columns, values))
            self.there.append(_Plane(unit, of, constant))
        return found


def _holds(plane: _Plane, box: Ranges, tangents: Planes | None) -> bool:
    if tangents is not None or isinstance(plane.of, Planes):
        return plane.of is tangents
    unit, own = plane.unit, plane.of
    return bool(
        own.low[unit] <= box.low[unit]
        and box.high[unit] <= own.high[unit]
        and own.least[unit] <= box.least[unit]
        and box.most[unit] <= own.most[unit]
        and own.cool[unit] <= box.cool[unit]
        and box.warm[unit] <= own.warm[unit]
    )


def _joined(rows: list[_Row]) -> Rows | None:
    if not rows:
        return None
    return Rows(
        names=tuple(row.name for row in rows),
        lower=np.array([row.lower for row in rows]),
        upper=np.array([row.upper for row in rows]),
        starts=np.cumsum([0, *(len(row.columns) for row in rows)]).astype(np.int32),
        columns=np.array([each for row in rows for each in row.columns], dtype=np.int32),
        values=np.array([each for row in rows for each in row.values]),
    )
