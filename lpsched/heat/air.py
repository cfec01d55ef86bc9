"""Where the heat goes: inlets as a linear function of node powers and outlet temperatures.

    P  watts of the nodes, T  celsius of the air that leaves the CRAC units, k_v = (joules per m3 K) airflow_v

Air that passes node v warms by P_v / k_v; every inlet is a mixture of outlets. With the mixing matrix M cut
into blocks (N nodes, C units), and the inlets t of the nodes and s of the units,

    t  =  M_NN (t + P / k)  +  M_NC T        =  G  P  +  H  T
    s  =  M_CN (t + P / k)  +  M_CC T        =  Gc P  +  Hc T        all four matrices non-negative

Source: Oxley and others, equations 6 and 7; Tang, Gupta and Varsamopoulos 2008 for the recirculation matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.facility_arrays import dense, facility_arrays

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.facility import Facility
    from lpsched.instance.facility_arrays import FacilityArrays


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


def inlets(heat: HeatMap, powers: Floats, outlets: Floats) -> Floats:
    """Return the temperatures of the air that the nodes draw in."""
    return heat.from_power @ powers + heat.from_outlets @ outlets


def crac_inlets(heat: HeatMap, powers: Floats, outlets: Floats) -> Floats:
    """Return the temperatures of the air that the CRAC units draw in."""
    return heat.crac_from_power @ powers + heat.crac_from_outlets @ outlets
