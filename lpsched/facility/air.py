"""Air and cooling: what node powers and outlet temperatures do to inlets and to the power cap; array views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import InfeasibleError, NotFoundError

if TYPE_CHECKING:
    from lpsched.facility.model import Facility, SparseMatrix
    from lpsched.model.table import Floats, Integers, Table


# Array views of a facility for the numerics: read-only; a pair that cannot run in time has speed 0.
#
# Shapes: N nodes, U CRAC units, I task types, J node types, C columns (node type and P-state), L classes.
@dataclass(frozen=True, slots=True)
class FacilityArrays:
    """The numbers of a facility; a pair that is absent, or too slow, has speed and watts 0."""

    node_type: Integers  # N
    cores: Integers  # J
    overhead_watts: Floats  # J
    airflow: Floats  # J, cubic metres per second
    redline: Floats  # N, celsius
    crac_airflow: Floats  # U
    outlet_low: Floats  # U, celsius
    outlet_high: Floats  # U
    cop: Floats  # U x 3: constant, linear, quadratic
    crac_redline: Floats  # U, inf where there is none
    arrivals: Floats  # I, per second
    rewards: Floats  # I
    mode_type: Integers  # C: the node type of each column
    speeds: Floats  # I x C, tasks per second of one core
    watts: Floats  # I x C
    class_of: Integers  # I: row of each task type in `degradation`
    degradation: Floats  # L x L; all 0 where the facility has none
    cap_watts: float
    joules_per_m3_kelvin: float  # of air


def facility_arrays(facility: Facility, *, colocation: bool = True) -> FacilityArrays:
    """Return the views; without co-location, cores do not slow each other down."""
    speeds, watts = _cells(facility.speeds), _cells(facility.watts)
    deadlines = np.array([np.inf if t.deadline_seconds is None else t.deadline_seconds for t in facility.task_types])
    with np.errstate(divide="ignore"):
        runs = (np.nan_to_num(speeds) > 0) & (1.0 / np.nan_to_num(speeds) < deadlines[:, None])  # equation 3
    degraded, units = colocation and facility.degradation is not None, facility.crac_units
    return FacilityArrays(
        node_type=np.array(facility.nodes, dtype=np.int64),
        cores=np.array([kind.cores for kind in facility.node_types], dtype=np.int64),
        overhead_watts=np.array([kind.overhead_watts for kind in facility.node_types]),
        airflow=np.array([kind.airflow_m3_per_second for kind in facility.node_types]),
        redline=np.array([facility.node_types[j].redline_celsius for j in facility.nodes]),
        crac_airflow=np.array([unit.airflow_m3_per_second for unit in units]),
        outlet_low=np.array([unit.outlet_celsius[0] for unit in units]),
        outlet_high=np.array([unit.outlet_celsius[1] for unit in units]),
        cop=np.array([(*unit.cop, 0.0, 0.0)[:3] for unit in units]),
        crac_redline=np.array([np.inf if u.redline_celsius is None else u.redline_celsius for u in units]),
        arrivals=np.array([task.arrivals_per_second for task in facility.task_types]),
        rewards=np.array([task.reward for task in facility.task_types]),
        mode_type=np.array([j for j, _ in facility.modes], dtype=np.int64),
        speeds=np.where(runs, speeds, 0.0),
        watts=np.where(runs, watts, 0.0),
        class_of=np.array(facility.class_of if degraded else [0] * len(facility.task_types), dtype=np.int64),
        degradation=_cells(facility.degradation) if degraded else np.zeros((1, 1)),
        cap_watts=facility.power_cap_watts,
        joules_per_m3_kelvin=facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin,
    )


def dense(matrix: SparseMatrix) -> Floats:
    """Return the matrix with its zeros."""
    starts = np.frombuffer(matrix.starts, dtype=np.int64)
    full = np.zeros((matrix.rows, matrix.columns))
    full[np.repeat(np.arange(matrix.rows), np.diff(starts)), np.frombuffer(matrix.places, dtype=np.int64)] = (
        np.frombuffer(matrix.packed)
    )
    return full


def _cells(table: Table | None) -> Floats:
    assert table is not None
    return np.frombuffer(table.packed).reshape(table.rows, table.columns)


# Where the heat goes: inlets as a linear function of node powers and outlet temperatures.
#
#   P  watts of the nodes, T  celsius of the air that leaves the CRAC units, k_v = (joules per m3 K) airflow_v
#
# Air that passes node v warms by P_v / k_v; every inlet is a mixture of outlets. With the mixing matrix M cut
# into blocks (N nodes, C units), and the inlets t of the nodes and s of the units,
#
#     t  =  M_NN (t + P / k)  +  M_NC T        =  G  P  +  H  T
#     s  =  M_CN (t + P / k)  +  M_CC T        =  Gc P  +  Hc T        all four matrices non-negative
#
# Source: Oxley and others, equations 6 and 7; Tang, Gupta and Varsamopoulos 2008 for the recirculation matrix.
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
    for room in air_groups(among):
        own = among[np.ix_(room, room)]
        sources = np.hstack((own / per_kelvin[room], supply[room]))
        solved = np.linalg.solve(np.eye(len(room)) - own, sources)
        from_power[np.ix_(room, room)], from_outlets[room] = solved[:, : len(room)], solved[:, len(room) :]
    outlets_from_power = from_power.copy()
    outlets_from_power[np.arange(nodes), np.arange(nodes)] += 1.0 / per_kelvin
    return HeatMap(from_power, from_outlets, back @ outlets_from_power, back @ from_outlets + bypass, crac_per_kelvin)


def air_groups(among: Floats) -> list[Integers]:
    """Return the nodes in groups between which no air goes directly; most facilities are one group."""
    to, source = np.nonzero(among)
    room = np.arange(len(among))
    while True:  # each takes the lowest number among its neighbours, and that one's number
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


# What cooling takes, and how hot the units may blow.
#
#     heat taken out by unit u       Q_u  =  k_u (s_u - T_u),          sum Q = sum P, as air is conserved
#     power that this takes          Q_u / CoP_u(T_u)
#     redlines                       G P + H T <= R,   Gc P + Hc T <= R_c
#
# Source: Oxley and others, equations 5 and 8.
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


def largest_share(arrays: FacilityArrays, heat: HeatMap, overhead: Floats, work: Floats, outlets: Floats) -> float:
    """Return the largest theta <= 1 for which nodes that draw `overhead + theta * work` keep all limits.

    Redlines and cap rise with theta along straight lines, so it is the least of as many quotients. A unit
    that takes out next to no heat at a smaller theta would have to heat; the verifier would say so.
    """

    def limited(theta: float) -> Floats:
        powers = overhead + theta * work
        drawn = total_watts(arrays, heat, powers, outlets)
        return np.concatenate((inlets(heat, powers, outlets), crac_inlets(heat, powers, outlets), [drawn]))

    limits = np.concatenate((arrays.redline, arrays.crac_redline, [arrays.cap_watts]))
    limits = limits * (1 - HAIR * np.sign(limits))
    idle, full = limited(0.0), limited(1.0)
    over = (full > limits) & (full - idle > HAIR * np.maximum(1.0, np.abs(limits)))  # others it cannot fix
    room = (limits[over] - idle[over]) / (full[over] - idle[over])
    return float(np.clip(room.min(initial=1.0), 0.0, 1.0))


# Outlet temperatures as the paper's methods set them: all units alike, lowered one degree at a time.
#
# Every unit starts at the redline (the lowest, where nodes differ), as far as its range allows, and all are
# lowered together by one degree until no redline is passed and no unit would have to heat. Step s blows at
#
#     T_su  =  min(high_u, max(low_u, R_min - s)),          s = 0, 1, 2 ... until every unit is at its lowest
#
# What depends on T alone is worked out once. A step then allows nodes of power P if
#
#     G P   <=  R - H T_s            no node too hot
#     Gc P  <=  R_c - Hc T_s         no unit too hot
#     Gc P  >=  T_s - Hc T_s         no unit would have to heat
#
# and cooling takes  sum_u (Gc P - (T_s - Hc T_s))_u k_u / CoP_u(T_su)  watts.
#
# Source: Oxley and others, algorithms 1 (line 9) and 2 (line 2).
DEGREE: Final = 1.0


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


# Are idle nodes allowed? If not, the error says whether that is the facility or the steps of the outlets.
#
# Powers only add to what idle nodes draw, P, and inlets and cooling rise with them. With all other units at
# their coldest, the redlines of idle nodes allow unit u at most
#
#     T_u  <=  min over inlets v of  (R_v - w_v - sum over other units H_vx low_x) / H_vu,        w = G P
#
# and units take out sum P in all, none less than nothing. So no allocation exists at all if
#
#     sum P (1 + 1 / best CoP of any unit up to there)  >  cap.
#
# Else common outlets in steps of one degree are the reason, and other temperatures may do.
def require_idle_allocation(arrays: FacilityArrays, heat: HeatMap, steps: OutletSteps) -> None:
    """Check that some step allows idle nodes."""
    idle = arrays.overhead_watts[arrays.node_type]
    crac_warming = heat.crac_from_power @ idle
    allowed = steps.allowed(heat.from_power @ idle, crac_warming)
    if not any(idle.sum() + steps.cooling_watts(step, crac_warming) <= arrays.cap_watts for step in allowed):
        raise no_idle_allocation(arrays, heat, steps)


def no_idle_allocation(arrays: FacilityArrays, heat: HeatMap, steps: OutletSteps) -> InfeasibleError | NotFoundError:
    """Return the error for idle nodes that are not allowed: proved, or only not found at these steps."""
    idle, low = arrays.overhead_watts[arrays.node_type], arrays.outlet_low
    air = np.concatenate((inlets(heat, idle, low), crac_inlets(heat, idle, low)))
    room = np.concatenate((arrays.redline, arrays.crac_redline)) - air
    with np.errstate(divide="ignore", invalid="ignore"):
        more = room[:, None] / np.vstack((heat.from_outlets, heat.crac_from_outlets))
    hottest: Floats = np.clip(low + np.where(np.isnan(more), np.inf, more).min(axis=0), low, arrays.outlet_high)
    constant, linear, quadratic = arrays.cop.T
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = np.where(quadratic != 0.0, -linear / (2.0 * quadratic), hottest)
    tried = np.stack((low, hottest, np.clip(bend, low, hottest)))
    best_cop = float((constant + tried * (linear + tried * quadratic)).max())  # of any unit, up to the hottest outlets
    least = float(idle.sum() * (1.0 + 1.0 / best_cop))
    if least > arrays.cap_watts:
        return InfeasibleError(
            f"idle nodes draw {idle.sum():g} W, and by their redlines no CRAC unit may blow hotter than "
            f"{hottest.max():.3f} °C, so that nodes and cooling take at least {least:.1f} W, but the cap is "
            f"{arrays.cap_watts:g} W; raise the cap or the redlines"
        )
    return NotFoundError(
        f"no outlet temperature that all units share, in steps of one degree from {steps.outlets.max():g} "
        f"down to {steps.outlets.min():g} °C, keeps redlines, cooling and the cap of {arrays.cap_watts:g} W, "
        "even if all nodes are idle; other temperatures may: use the method 'lp'"
    )
