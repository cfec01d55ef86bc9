"""Repairing a chromosome that breaks a limit of power or heat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.facility.air import FacilityArrays, HeatMap, OutletSteps, air_groups
from lpsched.jit import compiled, compiled_inside

if TYPE_CHECKING:
    from lpsched.facility.genes import Genes, States
    from lpsched.model.table import Floats, Integers

# What repairing a chromosome needs to know of air and cooling, in arrays that compiled loops read.
#
# S steps of the outlets, N nodes, U CRAC units; the letters are those of `facility/air.py`. A hall is a run of nodes,
# in the order of the file, whose heat reaches no other node; most facilities are one.
HAIR: Final = 1e-10  # of the cap; the verifier adds up in another order


class Cooling(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What repair needs to know of air and cooling; row v of a transposed matrix is what a watt of v does."""

    hall_first: Integers  # of each hall its first node, and N at the end
    hall_of: Integers  # N
    from_power: Floats  # N x N: G transposed
    crac_from_power: Floats  # N x U: Gc transposed
    own_kelvin_per_watt: Floats  # N: how much the air that passes a node warms
    mixed: Floats  # S x N: the cooled air in each node's inlet, celsius
    room: Floats  # S x N, kelvin; this and the following as in `OutletSteps`
    crac_room: Floats  # S x U
    least_warming: Floats  # S x U
    watts_per_kelvin: Floats  # S x U
    cap_watts: float
    idle_watts: float  # of all idle nodes together, ...
    idle_warming: Floats  # N: ... their G P, ...
    idle_crac_warming: Floats  # U: ... and Gc P


def cooling_of(arrays: FacilityArrays, heat: HeatMap, steps: OutletSteps) -> Cooling:
    """Return what repair needs, contiguous in the order in which it is read."""
    per_kelvin = arrays.joules_per_m3_kelvin * arrays.airflow[arrays.node_type]
    idle = arrays.overhead_watts[arrays.node_type]
    return Cooling(
        *halls_of(heat),
        np.ascontiguousarray(heat.from_power.T),
        np.ascontiguousarray(heat.crac_from_power.T),
        1.0 / per_kelvin,
        np.ascontiguousarray(steps.outlets @ heat.from_outlets.T),
        np.ascontiguousarray(steps.room),
        np.ascontiguousarray(steps.crac_room),
        np.ascontiguousarray(steps.least_warming),
        np.ascontiguousarray(steps.watts_per_kelvin),
        arrays.cap_watts * (1.0 - HAIR),
        float(idle.sum()),
        heat.from_power @ idle,
        heat.crac_from_power @ idle,
    )


def halls_of(heat: HeatMap) -> tuple[Integers, Integers]:
    """Return the first node of each hall, with their number at the end, and the hall of each node."""
    count = len(heat.from_power)
    groups = air_groups(heat.from_power)
    if not np.array_equal(np.concatenate(groups), np.arange(count)):  # not one after the other
        groups = [np.arange(count)]
    sizes = [len(each) for each in groups]
    return np.concatenate(([0], np.cumsum(sizes))), np.repeat(np.arange(len(groups)), sizes)


# Algorithm 2, compiled: a chromosome is slowed down until it keeps redlines and cap.
#
#     P   watts of the nodes; w = G P and c = Gc P what they add to the inlets of nodes and units
#     T   outlets of all units at one of the one-degree steps of `facility/air.py`
#
#     while redlines or cap are broken:
#         take the hottest step that the redlines allow, the coldest if none does
#         v = the hottest node of those with anything left to slow down
#         while v is the hottest of them:
#             a random gene of v with DF > 0 moves to its P-state of next lower power
#
# "Hottest" is the air that leaves a node, w_v + (H T)_v + P_v / k_v: what it draws in hardly depends on its
# own power, so by its inlet a node would stay the hottest however slow it gets. When a gene has moved, w and
# c change by its watts times a column of G and Gc, so a move costs N + U, not N N; where the air of some
# nodes never reaches others, only those of its own hall count (above).
#
# The paper's loop has no end where all P-states are at their lowest power and a limit is still broken. There,
# which is our addition, all fractions shrink together by the largest factor theta that any step allows:
# limits are straight lines in theta, so for each step it is the least of as many quotients. Nodes whose idle
# power some step allows can always be repaired. Where the lowest P-states of all genes are too hot or
# draw too much at every step, the loop could only end with all of them there, so we go there at once.
#
# All its parts are in this one file, for the reason that `jit.py` gives.
#
# Source: Oxley and others, section IV-B and algorithm 2.
LESS: Final = 1.0 - 1e-12  # of a quotient, for rounding


@compiled
def repair(genes: Genes, cooling: Cooling, fractions: Floats, states: States, rng: np.random.Generator) -> int:
    """Slow a chromosome down, in place, to keep all limits; return its step of the outlets, -1 if there is none."""
    powers = node_watts(genes, fractions, states)
    warming, crac_warming = warmings(cooling, powers)
    watts, witness = powers.sum(), np.zeros(len(cooling.room), dtype=np.int64)
    step = hottest_step(cooling, warming, crac_warming, witness, len(cooling.room))
    if is_allowed(cooling, step, watts, crac_warming):
        return step
    slowest = states.copy()
    slow_down_all(genes, fractions, slowest)
    least = node_watts(genes, fractions, slowest)
    least_warming, least_crac_warming = warmings(cooling, least)
    if is_hopeless(cooling, least.sum(), least_warming, least_crac_warming, witness):
        states[:] = slowest
        return shrink(cooling, fractions, least, least_warming, least_crac_warming)
    left = np.zeros(len(powers), dtype=np.int64)
    for v in range(len(powers)):
        left[v] = slowable(genes, fractions, states, v)
    halls = len(cooling.hall_first) - 1
    nodes, celsius, seen_at = np.zeros(halls, dtype=np.int64), np.zeros((halls, 2)), -1
    while not is_allowed(cooling, step, watts, crac_warming):
        at = step if step >= 0 else len(cooling.room) - 1
        if at != seen_at:
            for hall in range(halls):
                look_at(cooling, at, powers, warming, left, hall, nodes, celsius)
            seen_at = at
        v, kelvin = hottest_node(nodes, celsius)
        if v < 0:
            return shrink(cooling, fractions, powers, warming, crac_warming)
        hottest = v
        while hottest == v:
            saved, left[v] = slow_node(genes, cooling, fractions, states, v, kelvin, rng)
            powers[v] -= saved
            watts -= saved
            add_heat(cooling, v, -saved, warming, crac_warming)
            look_at(cooling, at, powers, warming, left, cooling.hall_of[v], nodes, celsius)
            hottest, kelvin = hottest_node(nodes, celsius)
        cool = step if step >= 0 else len(cooling.room)  # and stays so, as nodes only get cooler
        step = hottest_step(cooling, warming, crac_warming, witness, cool)
    return step


@compiled
def node_watts(genes: Genes, fractions: Floats, states: States) -> Floats:
    """Return what the nodes draw: overhead, and the watts of the cores."""
    powers = genes.overhead_watts.copy()
    for v in range(len(powers)):
        first = genes.first_column[genes.node_type[v]]
        for k in range(genes.first_core[v], genes.first_core[v + 1]):
            for i in range(fractions.shape[1]):
                powers[v] += fractions[k, i] * genes.watts[i, first + states[k, i]]
    return powers


@compiled
def warmings(cooling: Cooling, powers: Floats) -> tuple[Floats, Floats]:
    """Return G P and Gc P."""
    warming = np.zeros(len(powers))
    crac_warming = np.zeros(cooling.crac_from_power.shape[1])
    for v in range(len(powers)):
        add_heat(cooling, v, powers[v], warming, crac_warming)
    return warming, crac_warming


@compiled_inside
def add_heat(cooling: Cooling, v: int, watts: float, warming: Floats, crac_warming: Floats) -> None:
    """Add what some watts of a node do to the inlets; by plain loops, because they make no arrays."""
    hall = cooling.hall_of[v]
    for each in range(cooling.hall_first[hall], cooling.hall_first[hall + 1]):
        warming[each] += watts * cooling.from_power[v, each]
    for unit in range(len(crac_warming)):
        crac_warming[unit] += watts * cooling.crac_from_power[v, unit]


@compiled
def hottest_step(cooling: Cooling, warming: Floats, crac_warming: Floats, witness: Integers, cool: int) -> int:
    """Return the first step that redlines and units allow, -1 if there is none.

    Steps from `cool` on are known to keep the redlines: a colder one does where a hotter one does.
    """
    for s in range(len(cooling.room)):
        if s >= cool or is_cool(cooling, s, warming, crac_warming, witness):
            heats = False
            for u in range(len(crac_warming)):
                heats |= crac_warming[u] < cooling.least_warming[s, u]
            if not heats:
                return s
    return -1


@compiled_inside
def is_cool(cooling: Cooling, step: int, warming: Floats, crac_warming: Floats, witness: Integers) -> bool:
    """Return whether a step keeps all redlines; its witness is the node that was too hot last time."""
    if warming[witness[step]] > cooling.room[step, witness[step]]:
        return False
    for u in range(len(crac_warming)):
        if crac_warming[u] > cooling.crac_room[step, u]:
            return False
    for v in range(len(warming)):
        if warming[v] > cooling.room[step, v]:
            witness[step] = v
            return False
    return True


@compiled_inside
def is_allowed(cooling: Cooling, step: int, watts: float, crac_warming: Floats) -> bool:
    """Return whether there is a step, and nodes that draw these watts keep the cap at it."""
    return step >= 0 and watts + cooling_watts(cooling, step, crac_warming) <= cooling.cap_watts


@compiled_inside
def is_hopeless(cooling: Cooling, watts: float, warming: Floats, crac_warming: Floats, witness: Integers) -> bool:
    """Return whether nodes are too hot or draw too much at every step, also if they drew more."""
    for s in range(len(cooling.room)):
        if is_allowed(cooling, s, watts, crac_warming) and is_cool(cooling, s, warming, crac_warming, witness):
            return False
    return True


@compiled_inside
def cooling_watts(cooling: Cooling, step: int, crac_warming: Floats) -> float:
    """Return what the units draw at a step."""
    total = 0.0
    for u in range(len(crac_warming)):
        total += (crac_warming[u] - cooling.least_warming[step, u]) * cooling.watts_per_kelvin[step, u]
    return total


@compiled
def look_at(  # noqa: PLR0913, PLR0917 - a compiled function has no keyword-only arguments
    cooling: Cooling,
    step: int,
    powers: Floats,
    warming: Floats,
    left: Integers,
    hall: int,
    nodes: Integers,
    celsius: Floats,
) -> None:
    """Note whose air leaves hottest in a hall, of the nodes with something left (-1: none), and how hot."""
    hottest, first, second = -1, -np.inf, -np.inf
    for v in range(cooling.hall_first[hall], cooling.hall_first[hall + 1]):
        if left[v] > 0:
            leaving = cooling.mixed[step, v] + warming[v] + powers[v] * cooling.own_kelvin_per_watt[v]
            if leaving > first:
                hottest, first, second = v, leaving, first
            elif leaving > second:
                second = leaving
    nodes[hall], celsius[hall, 0], celsius[hall, 1] = hottest, first, second


@compiled
def hottest_node(nodes: Integers, celsius: Floats) -> tuple[int, float]:
    """Return whose air leaves hottest in all halls, and by how much; -1 if no node has anything left."""
    hottest, first, second = -1, -np.inf, -np.inf
    for hall in range(len(nodes)):
        if celsius[hall, 0] > first:
            hottest, first, second = nodes[hall], celsius[hall, 0], max(first, celsius[hall, 1])
        else:
            second = max(second, celsius[hall, 0])
    return hottest, first - second


@compiled_inside
def slow_node(  # noqa: PLR0913, PLR0917 - a compiled function has no keyword-only arguments
    genes: Genes, cooling: Cooling, fractions: Floats, states: States, v: int, kelvin: float, rng: np.random.Generator
) -> tuple[float, int]:
    """Slow random genes of a node down until its air is cooler by `kelvin`, or none is left.

    Returns the watts saved and how many genes are left. Others only get cooler, so none becomes the hottest before.
    """
    kelvin_per_watt = cooling.own_kelvin_per_watt[v] + cooling.from_power[v, v]
    saved, left = 0.0, slowable(genes, fractions, states, v)
    while left > 0 and saved * kelvin_per_watt <= kelvin:
        saved += slow_down(genes, fractions, states, v, int(rng.random() * left))
        left = slowable(genes, fractions, states, v)
    return saved, left


@compiled_inside
def slowable(genes: Genes, fractions: Floats, states: States, v: int) -> int:
    """Return how many genes of a node have a fraction above 0 and a P-state of lower power."""
    first, count = genes.first_column[genes.node_type[v]], 0
    for k in range(genes.first_core[v], genes.first_core[v + 1]):
        for i in range(fractions.shape[1]):
            if fractions[k, i] > 0.0 and genes.lower_state[i, first + states[k, i]] >= 0:
                count += 1
    return count


@compiled_inside
def slow_down(genes: Genes, fractions: Floats, states: States, v: int, place: int) -> float:
    """Move one of the node's slowable genes, by its place among them, and return the watts saved."""
    first, count = genes.first_column[genes.node_type[v]], 0
    for k in range(genes.first_core[v], genes.first_core[v + 1]):
        for i in range(fractions.shape[1]):
            column = first + states[k, i]
            if fractions[k, i] > 0.0 and genes.lower_state[i, column] >= 0:
                if count == place:
                    states[k, i] = genes.lower_state[i, column]
                    saved = genes.watts[i, column] - genes.watts[i, first + states[k, i]]
                    return float(fractions[k, i] * saved)
                count += 1
    return 0.0


@compiled_inside
def slow_down_all(genes: Genes, fractions: Floats, states: States) -> None:
    """Move every gene with a fraction above 0 to its P-state of lowest power."""
    for v in range(len(genes.node_type)):
        first = genes.first_column[genes.node_type[v]]
        for k in range(genes.first_core[v], genes.first_core[v + 1]):
            for i in range(fractions.shape[1]):
                if fractions[k, i] > 0.0:
                    states[k, i] = genes.lowest_state[i, first + states[k, i]]


@compiled_inside
def shrink(cooling: Cooling, fractions: Floats, powers: Floats, warming: Floats, crac_warming: Floats) -> int:
    """Multiply all fractions by the largest factor that some step allows, and return the step."""
    best, factor = -1, -1.0
    for s in range(len(cooling.room)):
        idle = cooling.idle_watts + cooling_watts(cooling, s, cooling.idle_crac_warming)
        busy = powers.sum() + cooling_watts(cooling, s, crac_warming)
        least, most = 0.0, share(cooling.cap_watts - idle, busy - idle)
        for v in range(len(powers)):
            idle = cooling.idle_warming[v]
            most = min(most, share(cooling.room[s, v] - idle, warming[v] - idle))
        for u in range(len(crac_warming)):
            idle = cooling.idle_crac_warming[u]
            most = min(most, share(cooling.crac_room[s, u] - idle, crac_warming[u] - idle))
            if cooling.least_warming[s, u] > idle:
                missing, offered = cooling.least_warming[s, u] - idle, crac_warming[u] - idle
                least = max(least, missing / offered if offered > 0.0 else np.inf)
        if least <= most and most > factor:
            best, factor = s, most
    if best >= 0:
        for k in range(fractions.shape[0]):
            for i in range(fractions.shape[1]):
                fractions[k, i] *= factor * LESS
    return best


@compiled_inside
def share(room: float, wanted: float) -> float:
    """Return how much of what is wanted fits into the room, at most 1; below 0 where nothing does."""
    if room < 0.0:
        return -1.0
    return 1.0 if wanted <= room else room / wanted
