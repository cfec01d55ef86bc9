"""From shares of patterns to gangs, and from gangs to single cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.facility.air import largest_share
from lpsched.facility.schedule import CoreAllocation, CoreFraction, CoreRun, GangAllocation, PatternShare

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays, HeatMap
    from lpsched.facility.model import Facility
    from lpsched.facility.patterns import FacilityRelaxation, NodePattern


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
# which `heat.largest_share` finds. A hair is left (`HAIR`), because the verifier adds up in another order.
HAIR: Final = 1e-10  # of a node's time
LEAST_SHARE: Final = 1e-12  # of a node's time; below, a pattern is the solver's noise


def gang(facility: Facility, arrays: FacilityArrays, heat: HeatMap, relaxed: FacilityRelaxation) -> GangAllocation:
    """Return the allocation of the relaxation's patterns, each node's time at most 100 %, all limits kept."""
    shares = [_whole(node) for node in relaxed.shares]
    overhead = arrays.overhead_watts[arrays.node_type]
    own = np.array([sum(share * pattern.watts for share, pattern in node) for node in shares])
    theta = largest_share(arrays, heat, overhead, own, relaxed.outlets)
    return GangAllocation(
        tuple(map(float, relaxed.outlets)),
        tuple(
            tuple(PatternShare(theta * share, _runs(facility, pattern)) for share, pattern in node) for node in shares
        ),
    )


def _whole(node: tuple[tuple[float, NodePattern], ...]) -> list[tuple[float, NodePattern]]:
    """Return the patterns that run at all, together for at most the whole time."""
    kept = [(share, pattern) for share, pattern in node if share > LEAST_SHARE and pattern.runs]
    total = max(1.0, sum(share for share, _ in kept) * (1 + HAIR))
    return [(share / total, pattern) for share, pattern in kept]


def _runs(facility: Facility, pattern: NodePattern) -> tuple[CoreRun, ...]:
    return tuple(
        CoreRun(facility.task_types[i].name, cores, facility.p_state(column)) for i, column, cores in pattern.runs
    )


# From patterns to cores that divide their time on their own: the paper's DF(i, k) and PS(i, k).
#
# A gang runs task type i in P-state p for tau_ip core-seconds a second on a node. Independent cores can do
# the same in the same time, each one task type after the other, at the same power; only who runs beside whom
# is now a matter of chance. Core k is slowed down by what the *other* cores do on average,
#
#     1 + sum_b PD(i, b) (tau_b - tau_b of core k itself),        b over memory classes,
#
# so work slows down least where a core holds much of what would harm it: cores are filled one by one, to 100
# %, with the memory classes in the order in which they harm themselves, worst first.
#
# PS(i, k) is one P-state. Where a core would run a task type in several, it takes the one of them that does
# most within the core's time at the power that the several would have drawn. The hungriest always fits.
#
# Guarantee: every node draws what it draws under the gang, so all temperatures, and the power of the cooling,
# are as they were; no core is busy for more than all of its time. What is done in a second is usually less:
# see `tests/facility/test_cores.py`.
Piece = tuple[int, int, float]  # task type, column of the tables, part of a core's time
FULL: Final = 1.0 - 1e-12  # a core with less left than this is full
ROUNDING: Final = 1.0 + 1e-12  # of a sum of a few doubles


def core_by_core(facility: Facility, gang: GangAllocation) -> CoreAllocation:
    """Return what each core does on its own, after a gang that keeps every limit."""
    order = _order(facility)
    rows = {task.name: i for i, task in enumerate(facility.task_types)}
    done: dict[tuple[int, tuple[PatternShare, ...]], tuple[tuple[CoreFraction, ...], ...]] = {}
    nodes = []
    for j, patterns in zip(facility.nodes, gang.nodes, strict=True):
        if (j, patterns) not in done:
            work = _work(facility, rows, j, patterns)
            work.sort(key=lambda piece: (order[piece[0]], piece[1]))
            filled = _filled(work, facility.node_types[j].cores)
            done[j, patterns] = tuple(_in_one_state(facility, core) for core in filled)
        nodes.append(done[j, patterns])
    return CoreAllocation(gang.outlets_celsius, tuple(nodes))


def _order(facility: Facility) -> list[tuple[float, int]]:
    """Return for each task type its place in the order of filling: what harms itself most comes first."""
    table = facility.degradation
    if table is None:
        return [(0.0, i) for i in range(len(facility.task_types))]
    return [(-(table[own, own] or 0.0), i) for i, own in enumerate(facility.class_of)]


def _work(facility: Facility, rows: dict[str, int], j: int, patterns: tuple[PatternShare, ...]) -> list[Piece]:
    """Return tau: the core time that a node's patterns take, by task type and column."""
    first = sum(kind.modes for kind in facility.node_types[:j])
    states = facility.node_types[j].p_states or (None,)
    taken: dict[tuple[int, int], float] = {}
    for pattern in patterns:
        for run in pattern.runs:
            key = rows[run.task_type], first + states.index(run.p_state)
            taken[key] = taken.get(key, 0.0) + pattern.share * run.cores
    return [(i, column, time) for (i, column), time in taken.items() if time > 0.0]


def _filled(work: list[Piece], cores: int) -> list[list[Piece]]:
    """Cut the work so that it fills one core after the other."""
    filled: list[list[Piece]] = [[] for _ in range(cores)]
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


def _in_one_state(facility: Facility, core: list[Piece]) -> tuple[CoreFraction, ...]:
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
