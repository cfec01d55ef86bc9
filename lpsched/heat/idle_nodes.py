"""Is there room for idle nodes? If not, say whether that is the facility or the steps of the outlets.

Powers only add to what idle nodes draw, P, and inlets and cooling rise with them. With all other units at
their coldest, the redlines of idle nodes allow unit u at most

    T_u  <=  min over inlets v of  (R_v - w_v - sum over other units H_vx low_x) / H_vu,        w = G P

and units take out sum P in all, none less than nothing. So no allocation exists at all if

    sum P (1 + 1 / best CoP of any unit up to there)  >  cap.

Else common outlets in steps of one degree are at fault, and other temperatures may do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.heat.air import crac_inlets, inlets

if TYPE_CHECKING:
    from lpsched.heat.air import HeatMap
    from lpsched.heat.steps import OutletSteps
    from lpsched.instance.array_types import Floats
    from lpsched.instance.facility_arrays import FacilityArrays


def require_room(arrays: FacilityArrays, heat: HeatMap, steps: OutletSteps) -> None:
    """Check that some step allows idle nodes.

    Raises
    ------
    InfeasibleError
        If no outlet temperatures at all do.
    NotFoundError
        If it is only known that no step does.
    """
    if not _step_allows(arrays, heat, steps, arrays.overhead_watts[arrays.node_type]):
        raise no_room(arrays, heat, steps)


def no_room(arrays: FacilityArrays, heat: HeatMap, steps: OutletSteps) -> InfeasibleError | NotFoundError:
    """Return the error that says why idle nodes have no room: proved, or only not found at these steps."""
    idle = arrays.overhead_watts[arrays.node_type]
    hottest = _hottest(arrays, heat, idle)
    least = float(idle.sum() * (1.0 + 1.0 / _best_cop(arrays, hottest)))
    if least > arrays.cap_watts:
        return InfeasibleError(
            f"idle nodes draw {idle.sum():g} W, and by their redlines no CRAC unit may blow hotter than "
            f"{hottest.max():.3f} C, so that nodes and cooling take at least {least:.1f} W, but the cap is "
            f"{arrays.cap_watts:g} W; raise the cap or the redlines"
        )
    return NotFoundError(
        f"no outlet temperature that all units share, in steps of one degree from {steps.outlets.max():g} "
        f"down to {steps.outlets.min():g} C, keeps redlines, cooling and the cap of {arrays.cap_watts:g} W, "
        "even if all nodes are idle; other temperatures may: use the method 'lp'"
    )


def _step_allows(arrays: FacilityArrays, heat: HeatMap, steps: OutletSteps, powers: Floats) -> bool:
    warming, crac_warming = heat.from_power @ powers, heat.crac_from_power @ powers
    return any(
        powers.sum() + steps.cooling_watts(step, crac_warming) <= arrays.cap_watts
        for step in steps.allowed(warming, crac_warming)
    )


def _hottest(arrays: FacilityArrays, heat: HeatMap, powers: Floats) -> Floats:
    """Return what the redlines allow each unit at most, with all others at their coldest."""
    low = arrays.outlet_low
    room = np.concatenate((arrays.redline, arrays.crac_redline)) - np.concatenate(
        (inlets(heat, powers, low), crac_inlets(heat, powers, low))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        more = room[:, None] / np.vstack((heat.from_outlets, heat.crac_from_outlets))
    highest: Floats = low + np.where(np.isnan(more), np.inf, more).min(axis=0)
    return np.clip(highest, low, arrays.outlet_high)


def _best_cop(arrays: FacilityArrays, highest: Floats) -> float:
    """Return the highest CoP of any unit at its outlet temperatures up to the highest."""
    constant, linear, quadratic = arrays.cop.T
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = np.where(quadratic != 0.0, -linear / (2.0 * quadratic), highest)
    tried = np.stack((arrays.outlet_low, highest, np.clip(bend, arrays.outlet_low, highest)))
    return float((constant + tried * (linear + tried * quadratic)).max())
