"""Allocations: of a relaxation's patterns, core by core after a gang, and by the greedy rule."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.facility.air import facility_arrays, heat_map, largest_share, no_idle_allocation, outlet_steps
from lpsched.facility.parts import CoreAllocation, CoreFraction, CoreRun, GangAllocation, PatternShare

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays, HeatMap, OutletSteps
    from lpsched.facility.model import Facility
    from lpsched.facility.patterns import FacilityRelaxation, NodePattern
    from lpsched.model.table import Floats

Segment = tuple[int, int, float]  # task type, column of the tables, part of a core's time


def core_allocation(facility: Facility, outlets: Iterable[float], cores: Iterable[Iterable[Segment]]) -> CoreAllocation:
    """Return an allocation of what all cores do, in the order of the nodes."""
    names, left = [task.name for task in facility.task_types], iter(cores)
    nodes = [
        tuple(
            tuple(CoreFraction(names[i], part, facility.p_state(column)) for i, column, part in core)
            for core in islice(left, facility.node_types[j].cores)
        )
        for j in facility.nodes
    ]
    return CoreAllocation(tuple(map(float, outlets)), tuple(nodes))


# From the relaxation's shares to an allocation that keeps every limit, not only within tolerances.
#
# Patterns that are mixed over time are a real allocation, so there is nothing to round. But a solver lets
# limits slip by its tolerances. With the watts w_v that node v's patterns take above its overhead O_v, all
# nodes run their patterns for theta of their shares:
#
#    P_v(theta)  =  O_v + theta w_v,          the largest theta <= 1 with
#
#    G P + H T  <=  R,    Gc P + Hc T  <=  R_c,    sum P + sum_u k_u (Gc P + Hc T - T)_u / CoP_u(T_u)  <=  cap
#
# which `largest_share` finds. A hair is left (`HAIR`), because the verifier adds up in another order.
HAIR: Final = 1e-10  # of a node's time
LEAST_SHARE: Final = 1e-12  # of a node's time; below, a pattern is the solver's noise


def gang(facility: Facility, arrays: FacilityArrays, heat: HeatMap, relaxed: FacilityRelaxation) -> GangAllocation:
    """Return the allocation of the relaxation's patterns, each node's time at most 100 %, all limits kept."""
    shares = [_whole(node) for node in relaxed.shares]
    overhead = arrays.overhead_watts[arrays.node_type]
    own = np.array([sum(share * pattern.watts for share, pattern in node) for node in shares])
    theta = largest_share(arrays, heat, overhead, own, relaxed.outlets)
    names = [task.name for task in facility.task_types]
    nodes = [
        tuple(
            PatternShare(theta * share, tuple(CoreRun(names[i], n, facility.p_state(k)) for i, k, n in pattern.runs))
            for share, pattern in node
        )
        for node in shares
    ]
    return GangAllocation(tuple(map(float, relaxed.outlets)), tuple(nodes))


def _whole(node: tuple[tuple[float, NodePattern], ...]) -> list[tuple[float, NodePattern]]:
    """Return the patterns that run at all, together for at most the whole time."""
    kept = [(share, pattern) for share, pattern in node if share > LEAST_SHARE and pattern.runs]
    total = max(1.0, sum(share for share, _ in kept) * (1 + HAIR))
    return [(share / total, pattern) for share, pattern in kept]


# From patterns to cores that divide their time on their own: the paper's DF(i, k) and PS(i, k).
#
# A gang runs task type i in P-state p for tau_ip core-seconds a second on a node. Independent cores can do
# the same in the same time, each one task type after the other, at the same power; only which task types run
# together is now random. Core k is slowed down by what the *other* cores do on average,
#
#     1 + sum_b PD(i, b) (tau_b - tau_b of core k itself),        b over memory classes,
#
# so work slows down least where a core holds much of what would harm it: cores are filled one by one, to 100
# %, with the memory classes in the order in which they harm themselves, worst first.
#
# PS(i, k) is one P-state. Where a core would run a task type in several, it takes the one of them that does
# most within the core's time at the power that the several would have drawn. The one of most power always fits.
#
# Guarantee: every node draws what it draws under the gang, so all temperatures, and the power of the cooling,
# are as they were; no core is busy for more than all of its time. What is done in a second is usually less:
# see `tests/facility/test_cores.py`.
FULL: Final = 1.0 - 1e-12  # a core with less left than this is full
ROUNDING: Final = 1.0 + 1e-12  # of a sum of a few doubles


def core_by_core(facility: Facility, gang: GangAllocation) -> CoreAllocation:
    """Return what each core does on its own, after a gang that keeps every limit."""
    table, order = facility.degradation, [0.0] * len(facility.task_types)
    if table is not None:  # what harms itself most comes first
        order = [-(table[own, own] or 0.0) for own in facility.class_of]
    rows = {task.name: i for i, task in enumerate(facility.task_types)}
    done: dict[tuple[int, tuple[PatternShare, ...]], tuple[tuple[CoreFraction, ...], ...]] = {}
    nodes = []
    for j, patterns in zip(facility.nodes, gang.nodes, strict=True):
        if (j, patterns) not in done:
            work = _work(facility, rows, j, patterns)
            work.sort(key=lambda segment: (order[segment[0]], *segment))
            filled = _filled(work, facility.node_types[j].cores)
            done[j, patterns] = tuple(_in_one_state(facility, core) for core in filled)
        nodes.append(done[j, patterns])
    return CoreAllocation(gang.outlets_celsius, tuple(nodes))


def _work(facility: Facility, rows: dict[str, int], j: int, patterns: tuple[PatternShare, ...]) -> list[Segment]:
    """Return tau: the core time that a node's patterns take, by task type and column."""
    first = sum(kind.modes for kind in facility.node_types[:j])
    states = facility.node_types[j].p_states or (None,)
    taken: dict[tuple[int, int], float] = {}
    for pattern in patterns:
        for run in pattern.runs:
            key = rows[run.task_type], first + states.index(run.p_state)
            taken[key] = taken.get(key, 0.0) + pattern.share * run.cores
    return [(i, column, time) for (i, column), time in taken.items() if time > 0.0]


def _filled(work: list[Segment], cores: int) -> list[list[Segment]]:
    """Cut the work so that it fills one core after the other."""
    filled: list[list[Segment]] = [[] for _ in range(cores)]
    core, used = 0, 0.0
    for i, column, total in work:
        time = total
        while time > 0.0:
            if used >= FULL and core < cores - 1:
                core, used = core + 1, 0.0
            part = min(time, 1.0 - used) if core < cores - 1 else time  # the last takes what rounding leaves
            filled[core].append((i, column, part))
            used += part
            time -= part
    return filled


def _in_one_state(facility: Facility, core: list[Segment]) -> tuple[CoreFraction, ...]:
    """Return the fractions of a core, each task type in one P-state."""
    spare = max(0.0, 1.0 - sum(time for _, _, time in core))
    fractions = []
    for i in dict.fromkeys(i for i, _, _ in core):
        own = [(column, time) for each, column, time in core if each == i]
        column, time = own[0] if len(own) == 1 else _one_of(facility, i, own, spare)
        spare = max(0.0, spare + sum(part for _, part in own) - time)
        name, state = facility.task_types[i].name, facility.p_state(column)
        fractions.append(CoreFraction(name, min(1.0, time), state))
    return tuple(fractions)


def _one_of(facility: Facility, i: int, own: list[tuple[int, float]], spare: float) -> tuple[int, float]:
    """Return the column, and the time in it, that does most at the power of all."""
    speeds, watts = facility.speeds, facility.watts
    most = spare + sum(time for _, time in own)
    power = sum(time * (watts[i, column] or 0.0) for column, time in own)
    fitting = []
    for column, time in own:
        draws = watts[i, column] or 0.0
        needed = power / draws if draws else time
        if needed <= most * ROUNDING and (draws or not power):
            fitting.append((needed * (speeds[i, column] or 0.0), column, needed))
    _, column, needed = max(fitting)
    return column, needed


# The greedy allocation of a facility: the most tasks per joule first, one core at a time.
#
#     efficiency of a pair (i, j)   the most of  s_ijk / a_ijk  over the P-states k, speed by watts
#
# 1. In each pair of task type i and node type j only the most efficient P-state counts.
# 2. The first pair in the order of efficiency gives one core of node type j to task type i, for all its time.
# 3. The CRAC units blow as hot as the redlines allow, all alike, in steps of one degree (`facility/air.py`).
# 4. Back to 2, until that core would break the cap (it stays idle then), no outlet temperature would do, or no
#    pair is left: one leaves when its node type has no idle core, or its task type does as many as arrive.
#
# The rule looks neither at rewards nor at who slows down whom. What the paper leaves open is settled so: of a
# node type, the first idle core in the order of the file; of equal pairs, the first task type, then the first
# node type. The paper names only the end of the cores as the end of a pair; a task type would then be given
# cores long after all its tasks are done, and no more task types could run than there are node types.
#
# Source: Oxley and others, algorithm 1 and equation 12.
Pair = tuple[int, int, int]  # task type, node type, column of the tables


def greedy(instance: Facility) -> CoreAllocation:
    """Return the greedy allocation of a facility; it keeps the cap and every redline."""
    arrays, heat = facility_arrays(instance), heat_map(instance)
    steps, overhead = outlet_steps(arrays, heat), arrays.overhead_watts[arrays.node_type]
    watts, warming, crac_warming = float(overhead.sum()), heat.from_power @ overhead, heat.crac_from_power @ overhead
    step = _hottest_step(steps, arrays.cap_watts, watts, warming, crac_warming)
    if step is None:
        raise no_idle_allocation(arrays, heat, steps)
    idle = [  # the node of each idle core, the last of the file first
        [v for v in np.flatnonzero(arrays.node_type == j)[::-1].tolist() for _ in range(int(cores))]
        for j, cores in enumerate(arrays.cores)
    ]
    given: list[list[Segment]] = [[] for _ in instance.nodes]  # what its busy cores run
    rates = np.zeros(len(arrays.arrivals))
    for i, j, column in pairs_by_efficiency(arrays):
        while idle[j] and rates[i] < arrays.arrivals[i]:
            v, more = idle[j][-1], float(arrays.watts[i, column])
            watts += more
            warming = warming + more * heat.from_power[:, v]
            crac_warming = crac_warming + more * heat.crac_from_power[:, v]
            found = _hottest_step(steps, arrays.cap_watts, watts, warming, crac_warming)
            if found is None:
                break  # this core stays idle, and all others
            step = found
            idle[j].pop()
            given[v].append((i, column, 1.0))
            rates[i] += arrays.speeds[i, column]
        else:
            continue
        break
    cores: list[list[Segment]] = []  # the idle cores of a node come last
    for j, busy in zip(instance.nodes, given, strict=True):
        cores += [[segment] for segment in busy] + [[]] * (instance.node_types[j].cores - len(busy))
    return core_allocation(instance, steps.outlets[step].tolist(), cores)


def _hottest_step(steps: OutletSteps, cap: float, watts: float, warming: Floats, crac_warming: Floats) -> int | None:
    """Return the hottest step that the redlines allow, `None` if there is none or the cap does not allow it."""
    step = steps.hottest(warming, crac_warming)
    return None if step is None or watts + steps.cooling_watts(step, crac_warming) > cap else step


def pairs_by_efficiency(arrays: FacilityArrays) -> list[Pair]:
    """Return every pair that can run, each with its most efficient P-state, the most efficient pair first."""
    with np.errstate(divide="ignore", invalid="ignore"):  # no watts at all: nothing is more efficient
        efficiency = np.where(arrays.speeds > 0.0, arrays.speeds / arrays.watts, -1.0)
    found = []
    for i, row in enumerate(efficiency):
        for j in range(len(arrays.cores)):
            columns = np.flatnonzero(arrays.mode_type == j)
            best = columns[np.argmax(row[columns])]
            if row[best] >= 0.0:
                found.append((-float(row[best]), i, j, int(best)))
    return [(i, j, column) for _, i, j, column in sorted(found)]
