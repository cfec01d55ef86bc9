"""Power and heat of a facility, in plain functions.

    P  watts of the nodes, T  celsius of the air that leaves the CRAC units, k_u = (joules per m3 K) airflow_u

Air that passes node v warms by P_v / k_v; every inlet is a mixture of outlets. With the mixing matrix M cut
into blocks (N nodes, C units), and the inlets t of the nodes and s of the units,

    t  =  M_NN (t + P / k)  +  M_NC T        =  G  P  +  H  T
    s  =  M_CN (t + P / k)  +  M_CC T        =  Gc P  +  Hc T        all four matrices non-negative
    heat taken out by unit u       Q_u  =  k_u (s_u - T_u),          sum Q = sum P, as air is conserved
    power that this takes          Q_u / CoP_u(T_u)

Source: Oxley and others, equations 5 to 8; Tang, Gupta and Varsamopoulos 2008 for the recirculation matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.facility_arrays import dense, facility_arrays

if TYPE_CHECKING:
    from lpsched.instance.arrays import Floats, Integers
    from lpsched.instance.facility import Facility
    from lpsched.instance.facility_arrays import FacilityArrays

HALVINGS: Final = 30


@dataclass(frozen=True, slots=True)
class HeatMap:
    """How inlets depend on node powers and outlet temperatures."""

    from_power: Floats  # G, N x N, kelvin per watt
    from_outlets: Floats  # H, N x U, rows sum to 1
    crac_from_power: Floats  # Gc, U x N
    crac_from_outlets: Floats  # Hc, U x U
    crac_watts_per_kelvin: Floats  # k of the CRAC units


def heat_map(facility: Facility) -> HeatMap:
    """Solve the mixing once for all powers and temperatures."""
    arrays = facility_arrays(facility)
    nodes = len(arrays.node_type)
    per_kelvin = arrays.joules_per_m3_kelvin * arrays.airflow[arrays.node_type]
    crac_per_kelvin = arrays.joules_per_m3_kelvin * arrays.crac_airflow
    if facility.mixing.form == "recirculation":  # all air comes from one supply, all heat goes back to it
        return HeatMap(
            dense(facility.mixing.matrix),
            np.ones((nodes, 1)),
            np.full((1, nodes), 1.0 / crac_per_kelvin[0]),
            np.ones((1, 1)),
            crac_per_kelvin,
        )
    mix = inlet_mix(facility, arrays)
    among, supply = mix[:nodes, :nodes], mix[:nodes, nodes:]
    back, bypass = mix[nodes:, :nodes], mix[nodes:, nodes:]
    from_power, from_outlets = np.zeros((nodes, nodes)), np.zeros(supply.shape)
    for room in rooms(among):
        own = among[np.ix_(room, room)]
        sources = np.hstack((own / per_kelvin[room], supply[room]))
        solved = np.linalg.solve(np.eye(len(room)) - own, sources)
        from_power[np.ix_(room, room)], from_outlets[room] = solved[:, : len(room)], solved[:, len(room) :]
    outlets_from_power = from_power.copy()
    outlets_from_power[np.arange(nodes), np.arange(nodes)] += 1.0 / per_kelvin
    return HeatMap(
        from_power, from_outlets, back @ outlets_from_power, back @ from_outlets + bypass, crac_per_kelvin
    )


def rooms(among: Floats) -> list[Integers]:
    """Return the nodes in groups between which no air goes directly; most facilities are one group."""
    to, source = np.nonzero(among)
    room = np.arange(len(among))
    while True:  # everybody takes the lowest number among its neighbours, and that one's number
        lowest = room.copy()
        np.minimum.at(lowest, to, room[source])
        np.minimum.at(lowest, source, room[to])
        lowest = lowest[lowest]
        if np.array_equal(lowest, room):
            return [np.flatnonzero(room == each) for each in np.unique(room)]
        room = lowest


def inlet_mix(facility: Facility, arrays: FacilityArrays) -> Floats:
    """Return the share of each place's inlet air that left each place."""
    given = dense(facility.mixing.matrix)
    if facility.mixing.form == "inlet_mix":
        return given
    flow = np.concatenate((arrays.airflow[arrays.node_type], arrays.crac_airflow))
    return given.T * flow / flow[:, None]  # alpha(u, v) flow_u / flow_v


def cop(arrays: FacilityArrays, outlets: Floats) -> Floats:
    """Return the coefficient of performance of each unit at its outlet temperature."""
    constant, linear, quadratic = arrays.cop.T
    value: Floats = constant + outlets * (linear + outlets * quadratic)
    return value


def inlets(heat: HeatMap, powers: Floats, outlets: Floats) -> Floats:
    """Return the temperatures of the air that the nodes draw in."""
    return heat.from_power @ powers + heat.from_outlets @ outlets


def crac_inlets(heat: HeatMap, powers: Floats, outlets: Floats) -> Floats:
    """Return the temperatures of the air that the CRAC units draw in."""
    return heat.crac_from_power @ powers + heat.crac_from_outlets @ outlets


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
