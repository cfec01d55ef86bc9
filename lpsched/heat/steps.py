"""Outlet temperatures as the paper's methods set them: all units alike, lowered one degree at a time.

Every unit starts at the redline (the lowest, where nodes differ), as far as its range allows, and all are
lowered together by one degree until no redline is passed and no unit would have to heat. Step s blows at

    T_su  =  min(high_u, max(low_u, R_min - s)),          s = 0, 1, 2 ... until every unit is at its lowest

What depends on T alone is worked out once. A step then allows nodes of power P if

    G P   <=  R - H T_s            no node too hot
    Gc P  <=  R_c - Hc T_s         no unit too hot
    Gc P  >=  T_s - Hc T_s         no unit would have to heat

and cooling takes  sum_u (Gc P - (T_s - Hc T_s))_u k_u / CoP_u(T_su)  watts.

Source: Oxley and others, algorithms 1 (line 9) and 2 (line 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.heat.cooling import cop

if TYPE_CHECKING:
    from lpsched.heat.air import HeatMap
    from lpsched.instance.array_types import Floats
    from lpsched.instance.facility_arrays import FacilityArrays

DEGREE: Final = 1.0
HAIR: Final = 1e-10  # kelvin; the verifier adds up in another order


@dataclass(frozen=True, slots=True)
class OutletSteps:
    """The steps, hottest first: S of them, for N nodes and U units."""

    outlets: Floats  # S x U, celsius
    room: Floats  # S x N: the most that node powers may warm each node's inlet, kelvin
    crac_room: Floats  # S x U: likewise each unit's
    least_warming: Floats  # S x U: the least that they must, so that no unit heats
    watts_per_kelvin: Floats  # S x U: of cooling

    def allowed(self, warming: Floats, crac_warming: Floats) -> list[int]:
        """Return the steps that allow nodes which warm the inlets by G P and Gc P, whatever the cap."""
        cool = np.all(warming <= self.room, axis=1)
        cool &= np.all((crac_warming <= self.crac_room) & (crac_warming >= self.least_warming), axis=1)
        return np.flatnonzero(cool).tolist()

    def hottest(self, warming: Floats, crac_warming: Floats) -> int | None:
        """Return the first of the steps that allow such nodes, if there is one."""
        return next(iter(self.allowed(warming, crac_warming)), None)

    def cooling_watts(self, step: int, crac_warming: Floats) -> float:
        """Return what the units draw at a step."""
        return float((crac_warming - self.least_warming[step]) @ self.watts_per_kelvin[step])


def outlet_steps(arrays: FacilityArrays, heat: HeatMap) -> OutletSteps:
    """Return the steps of a facility."""
    hottest = float(arrays.redline.min())
    count = max(0, int(np.ceil((hottest - arrays.outlet_low.min()) / DEGREE)))
    levels = hottest - DEGREE * np.arange(count + 1)
    outlets = np.clip(levels[:, None], arrays.outlet_low, arrays.outlet_high)
    outlets = outlets[np.append(True, np.any(np.diff(outlets, axis=0) != 0.0, axis=1))]
    crac_mixed = outlets @ heat.crac_from_outlets.T
    return OutletSteps(
        outlets,
        arrays.redline - outlets @ heat.from_outlets.T - HAIR,
        arrays.crac_redline - crac_mixed - HAIR,
        outlets - crac_mixed,
        heat.crac_watts_per_kelvin / np.stack([cop(arrays, each) for each in outlets]),
    )
