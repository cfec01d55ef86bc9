"""What cooling takes, and how hot the units may blow, in plain functions.

    heat taken out by unit u       Q_u  =  k_u (s_u - T_u),          sum Q = sum P, as air is conserved
    power that this takes          Q_u / CoP_u(T_u)
    redlines                       G P + H T <= R,   Gc P + Hc T <= R_c

Source: Oxley and others, equations 5 and 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.heat.air import crac_inlets, inlets

if TYPE_CHECKING:
    from lpsched.heat.air import HeatMap
    from lpsched.instance.array_types import Floats
    from lpsched.instance.facility_arrays import FacilityArrays

HALVINGS: Final = 30
HAIR: Final = 1e-10  # of each limit; the verifier adds up in another order


def cop(arrays: FacilityArrays, outlets: Floats) -> Floats:
    """Return the coefficient of performance of each unit at its outlet temperature."""
    constant, linear, quadratic = arrays.cop.T
    value: Floats = constant + outlets * (linear + outlets * quadratic)
    return value


def heat_removed(heat: HeatMap, powers: Floats, outlets: Floats) -> Floats:
    """Return the watts of heat that each CRAC unit takes out; below 0 it would have to heat."""
    return heat.crac_watts_per_kelvin * (crac_inlets(heat, powers, outlets) - outlets)


def cooling_watts(arrays: FacilityArrays, heat: HeatMap, powers: Floats, outlets: Floats) -> Floats:
    """Return the watts that each CRAC unit draws."""
    return heat_removed(heat, powers, outlets) / cop(arrays, outlets)


def total_watts(arrays: FacilityArrays, heat: HeatMap, powers: Floats, outlets: Floats) -> float:
    """Return what the nodes and the CRAC units draw together."""
    return float(powers.sum() + cooling_watts(arrays, heat, powers, outlets).sum())


def hottest_common_outlet(arrays: FacilityArrays, heat: HeatMap, powers: Floats) -> float:
    """Return the highest temperature at which all units may blow by the redlines; may be out of range."""
    room = (arrays.redline - heat.from_power @ powers) / heat.from_outlets.sum(axis=1)
    crac_room = (arrays.crac_redline - heat.crac_from_power @ powers) / heat.crac_from_outlets.sum(axis=1)
    return float(min(room.min(), crac_room.min(), arrays.outlet_high.min()))


def even_outlets(arrays: FacilityArrays, heat: HeatMap) -> Floats:
    """Return one temperature for all units: the hottest if every node takes the same share of the cap."""
    kinds = range(len(arrays.cores))
    busiest = [arrays.cores[j] * arrays.watts[:, arrays.mode_type == j].max(initial=0.0) for j in kinds]
    idle, busy = arrays.overhead_watts[arrays.node_type], np.array(busiest)[arrays.node_type]
    low, high = 0.0, 1.0
    outlets: Floats = arrays.outlet_low
    for _ in range(HALVINGS):
        share = 0.5 * (low + high)
        powers = idle + share * busy
        outlets = np.clip(hottest_common_outlet(arrays, heat, powers), arrays.outlet_low, arrays.outlet_high)
        fits = total_watts(arrays, heat, powers, outlets) <= arrays.cap_watts
        low, high = (share, high) if fits else (low, share)
    return outlets


def largest_share(
    arrays: FacilityArrays, heat: HeatMap, overhead: Floats, work: Floats, outlets: Floats
) -> float:
    """Return the largest theta <= 1 for which nodes that draw `overhead + theta * work` keep all limits.

    Redlines and cap rise with theta along straight lines, so it is the least of as many quotients. A unit
    that takes out next to no heat at a smaller theta would have to heat; the verifier would say so.
    """

    def limited(theta: float) -> Floats:
        powers = overhead + theta * work
        return np.concatenate(
            (
                inlets(heat, powers, outlets),
                crac_inlets(heat, powers, outlets),
                [total_watts(arrays, heat, powers, outlets)],
            )
        )

    limits = np.concatenate((arrays.redline, arrays.crac_redline, [arrays.cap_watts]))
    limits = limits * (1 - HAIR * np.sign(limits))
    idle, full = limited(0.0), limited(1.0)
    over = (full > limits) & (full - idle > HAIR * np.maximum(1.0, np.abs(limits)))  # others it cannot mend
    room = (limits[over] - idle[over]) / (full[over] - idle[over])
    return float(np.clip(room.min(initial=1.0), 0.0, 1.0))
