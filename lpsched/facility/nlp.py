"""The paper's nonlinear program with continuous P-states, and how its answer becomes an allocation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleProgramError, InputIssue, InstanceError, NotFoundError
from lpsched.facility import air, continuous_states
from lpsched.facility.continuous_states import ContinuousPoint, CoreStates, core_states, count_variables
from lpsched.facility.recovery import core_allocation
from lpsched.lp.program import Indices, LinearProgram, LpBuilder, LpSolution, Solver, require_optimal
from lpsched.lp.smooth import SmoothStatus
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.units import KILO

if TYPE_CHECKING:
    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CoreAllocation
    from lpsched.model.table import Floats, Integers

# From continuous P-states to one P-state for each core and task type, at no more power.
#
# The second of three stages. A segment is what core k does for task type i: for f of its time, on average at w
# watts, which lie between two neighbours on the hull of its P-states. At first every segment takes the higher
# neighbour. Then, node by node, while the node draws more than it drew before, the segment that is furthest
# above its own former power, by f (watts - w), takes the lower one.
#
# Guarantee: if all segments of a node are at their lower neighbours, it draws no more than before; so no
# node ends above its former power, and what kept the redlines and the cap keeps them still. No time changes.
#
# A pair that was not used needs a P-state too, because the last stage may want it. It takes the vertex of its
# hull that is, from the most efficient to the fastest, as high as the core's other segments were on average, or
# the most efficient one if the core was idle.
#
# Source: Oxley and others, section IV-C, second step, whose rounding is only said to be simple.
USED: Final = 1e-6  # of a core's time; an interior point leaves a little in every pair
SAME: Final = 1e-9  # of a node's watts


@dataclass(frozen=True, slots=True)
class OneState:
    """One column of the tables for each core and task type (-1 where it cannot run), and the time in it."""

    column: Integers  # cores x task types
    times: Floats  # cores x task types


@dataclass(frozen=True, slots=True)
class _Segments:
    """A row for each core and task type: its vertices' places in the list of states, and its mean power."""

    first: Integers
    last: Integers
    low: Integers  # the neighbour of less power
    high: Integers  # the one of more power
    time: Floats
    watts: Floats  # on average


def one_state_each(
    arrays: air.FacilityArrays, node: Integers, states: tuple[Integers, Integers, Integers], times: Floats
) -> OneState:
    """Return one P-state for each core and task type.

    Of each core the node is given; of each state core, task type, column of the tables and part of its core's
    time. The states of a pair are one after the other, by rising watts.
    """
    core, task, column = states
    cells = np.full((len(node), len(arrays.rewards)), -1, dtype=np.int64)
    spent = np.zeros(cells.shape)
    if len(core):
        watts = arrays.watts[task, column]
        segments = _segments(core, task, watts, times)
        chosen = _rounded(segments, watts, node[core[segments.first]])
        used = segments.time > USED
        chosen = np.where(used, chosen, _as_high(segments, watts, core[segments.first], len(node)))
        where = core[chosen], task[chosen]
        cells[where], spent[where] = column[chosen], np.where(used, segments.time, 0.0)
    return OneState(cells, spent)


def _segments(core: Integers, task: Integers, watts: Floats, times: Floats) -> _Segments:
    """Return the pairs, each with the neighbours between which its mean power lies."""
    starts = np.flatnonzero(np.diff(core, prepend=-1) | np.diff(task, prepend=-1))
    ends = np.append(starts[1:], len(core)) - 1
    own = np.repeat(np.arange(len(starts)), ends - starts + 1)
    time = np.bincount(own, weights=times).astype(float)
    energy = np.bincount(own, weights=times * watts)
    mean = np.where(time > 0, energy / np.where(time > 0, time, 1.0), watts[starts])
    mean = np.clip(mean, watts[starts], watts[ends])
    below = np.bincount(own, weights=watts < mean[own]).astype(np.int64)
    high = starts + below  # the first that draws as much
    low = np.where(watts[high] > mean, high - 1, high)
    return _Segments(starts, ends, low, high, time, mean)


def _rounded(segments: _Segments, watts: Floats, node: Integers) -> Integers:
    """Return the state of each segment: the higher, or where the node would draw more, the lower."""
    chosen = segments.high.copy()
    above = segments.time * (watts[segments.high] - segments.watts)
    saved = segments.time * (watts[segments.high] - watts[segments.low])
    excess = np.bincount(node, weights=above)
    drawn = np.bincount(node, weights=segments.time * segments.watts)
    for segment in np.lexsort((-above, node)).tolist():
        v = node[segment]
        if excess[v] > SAME * drawn[v] and saved[segment] > 0:
            chosen[segment] = segments.low[segment]
            excess[v] -= saved[segment]
    return chosen


def _as_high(segments: _Segments, watts: Floats, core: Integers, cores: int) -> Integers:
    """Return for each pair the vertex that is as high on its hull as the core's segments are on average."""
    span = watts[segments.last] - watts[segments.first]
    height = np.where(span > 0, (segments.watts - watts[segments.first]) / np.where(span > 0, span, 1.0), 0.0)
    weight = np.where(segments.time > USED, segments.time, 0.0)
    busy = np.bincount(core, weights=weight, minlength=cores)
    mean = np.bincount(core, weights=weight * height, minlength=cores) / np.where(busy > 0, busy, 1.0)
    return segments.first + np.rint(mean[core] * (segments.last - segments.first)).astype(np.int64)


# Core times: the most reward at fixed outlet temperatures, when each core and task type has its one P-state.
#
# The last of three stages.
#
# Data       r_i, a_i            reward and arrivals per second of task type i
#            s_ki, w_ki          speed and watts of task type i on core k in its P-state there
#            PD(a, b)            degradation of class a by class b,  D_ka  the slowdown of class a on core k
#            O_v, T, G, H, Gc, Hc, k    overhead watts, outlet temperatures and the heat map
# Variables  f_ki                part of its time that core k gives to task type i
#            z_i                 share of the arrivals that is done
#            P_v                 kilowatts of node v above its overhead
#
#     max   sum_i r_i a_i z_i
#     s.t.  a_i z_i  <=  sum_k s_ki f_ki / D_ka,   a the class of i              (done)
#           sum_i f_ki  <=  1                                                    (core)
#           sum over the node's other cores l of PD(a, class of i) f_li  <=  D_ka - 1      (beside)
#           P_v  =  sum over its cores of w_ki f_ki                              (power)
#           sum_v P_v (1 + sum_u k_u Gc_uv / CoP_u)  <=  cap - what idle nodes take        (cap)
#           G P  <=  R - t,       T - s  <=  Gc P  <=  R_c - s,       where it may bind    (node, unit, cools)
#
# with the inlets t of the nodes and s of the units when all nodes are idle.
#
# How cores slow each other down is not linear in f, so the slowdowns D of some known times are held: no class
# that runs on a core may be slowed down more than it was. A class that does not run on a core has no row; if it
# is now to run there, it is counted with the worst slowdown that there could be. So the known times are a point
# of the program, and what it promises is at most what its own times earn. To solve it again with its own, lower
# slowdowns can only gain; that is repeated until it gains no more.
#
# Source: Oxley and others, section IV-C, third step.
NAME: Final = "core_times"
RUNS: Final = 1e-9  # of a core's time; less is a solver's noise
SLACK: Final = 1.0 + 1e-6  # of the most that a node can draw


@dataclass(frozen=True, slots=True)
class CoreTimes:
    """A facility whose outlets and P-states are fixed, for K cores and I task types."""

    arrays: air.FacilityArrays
    heat: air.HeatMap
    outlets: Floats
    node: Integers  # K
    column: Integers  # K x I: of the tables, -1 where a core cannot run a task type

    @property
    def speeds(self) -> Floats:
        """Tasks per second of each core, K x I."""
        return self._cells(self.arrays.speeds)

    @property
    def watts(self) -> Floats:
        """Watts of each core, K x I."""
        return self._cells(self.arrays.watts)

    def _cells(self, table: Floats) -> Floats:
        tasks = np.arange(self.column.shape[1])
        return np.where(self.column >= 0, table[tasks, self.column], 0.0)

    def node_watts(self, times: Floats) -> Floats:
        """Return what the nodes draw above their overhead."""
        spent = (self.watts * times).sum(axis=1)
        return np.bincount(self.node, weights=spent, minlength=len(self.arrays.node_type)).astype(float)

    def slowdowns(self, times: Floats) -> Floats:
        """Return how much longer a task of each type takes on each core beside the others, K x I."""
        own = self.arrays.class_of
        harm = times @ self.arrays.degradation[:, own].T  # of each class, by each core
        of_node = np.zeros((len(self.arrays.node_type), harm.shape[1]))
        np.add.at(of_node, self.node, harm)
        return 1.0 + np.maximum(of_node[self.node] - harm, 0.0)[:, own]

    def worst(self) -> Floats:
        """Return the slowdowns beside cores that always run what harms most, K x I."""
        others = self.arrays.cores[self.arrays.node_type[self.node]] - 1
        slower: Floats = 1.0 + others[:, None] * self.arrays.degradation.max(axis=1)[self.arrays.class_of]
        return slower

    def ceilings(self, times: Floats) -> Floats:
        """Return the slowdowns that are held: where a class runs its own, elsewhere the worst, K x I."""
        own = self.arrays.class_of
        runs = np.zeros((len(self.node), len(self.arrays.degradation)))
        np.add.at(runs.T, own, times.T)
        return np.where(runs[:, own] > RUNS, self.slowdowns(times), self.worst())

    def reward_rate(self, times: Floats) -> float:
        """Return what these times bring in a second."""
        done = (self.speeds * times / self.slowdowns(times)).sum(axis=0)
        return float(self.arrays.rewards @ np.minimum(done, self.arrays.arrivals))


def compile_lp(fixed: CoreTimes, known: Floats) -> LinearProgram:
    """Return the program above with the slowdowns of the known times; its blocks are the letters."""
    arrays, speeds = fixed.arrays, fixed.speeds
    cores, tasks = speeds.shape
    earns = arrays.rewards * arrays.arrivals
    useful = np.where((speeds > 0) & (earns > 0), 1.0, 0.0)
    most = fixed.node_watts(useful)
    ceilings = fixed.ceilings(known)

    lp = LpBuilder(NAME)
    f = lp.variables("f", useful)
    z = lp.variables("z", np.where(earns > 0, 1.0, 0.0))
    power = lp.variables("P", SLACK * most / KILO)
    lp.objective([(z, -earns / _all(earns))])
    rates = useful * speeds / ceilings / np.where(earns > 0, arrays.arrivals, 1.0)
    core, task = np.meshgrid(np.arange(cores), np.arange(tasks), indexing="ij")
    lp.at_most_each([f"done[{i}]" for i in range(tasks)], [(np.arange(tasks), z, 1.0), (task, f, -rates)], 0.0)
    lp.at_most_each([f"core[{k}]" for k in range(cores)], [(core, f, useful)], 1.0)
    _hold_slowdowns(lp, fixed, f, ceilings)
    nodes = np.arange(len(most))
    lp.equal_each(
        [f"power[{v}]" for v in nodes], [(nodes, power, 1.0), (fixed.node[core], f, -useful * fixed.watts / KILO)], 0.0
    )
    _limit_power(lp, fixed, power, most)
    return lp.build()


def _hold_slowdowns(lp: LpBuilder, fixed: CoreTimes, f: Indices, ceilings: Floats) -> None:
    """Add the rows beside, where a ceiling is below the worst."""
    arrays = fixed.arrays
    first = np.searchsorted(fixed.node, np.arange(len(arrays.node_type) + 1))
    one_of = {int(a): int(np.argmax(arrays.class_of == a)) for a in np.unique(arrays.class_of)}
    worst = fixed.worst()
    for k, v in enumerate(fixed.node.tolist()):
        others = np.delete(f[first[v] : first[v + 1]], k - first[v], axis=0)
        for a, i in one_of.items():
            if ceilings[k, i] < worst[k, i]:
                harm = arrays.degradation[a, arrays.class_of]
                terms = [(others, np.broadcast_to(harm, others.shape))]
                lp.at_most(f"beside[{k},{a}]", terms, float(ceilings[k, i]) - 1.0)


def _limit_power(lp: LpBuilder, fixed: CoreTimes, power: Indices, most: Floats) -> None:
    """Add the cap, and the rows of air that the most power could break."""
    arrays, heat, outlets = fixed.arrays, fixed.heat, fixed.outlets
    overhead = arrays.overhead_watts[arrays.node_type]
    per_kelvin = heat.crac_watts_per_kelvin / air.cop(arrays, outlets)
    weights = 1.0 + per_kelvin @ heat.crac_from_power
    idle = air.total_watts(arrays, heat, overhead, outlets)
    lp.at_most("cap", [(power, weights)], (arrays.cap_watts - idle) / KILO)
    units = air.crac_inlets(heat, overhead, outlets)
    for name, warms, room in (
        ("node", heat.from_power, arrays.redline - air.inlets(heat, overhead, outlets)),
        ("unit", heat.crac_from_power, arrays.crac_redline - units),
        ("cools", -heat.crac_from_power, units - outlets),
    ):
        for place in np.flatnonzero(np.maximum(warms, 0.0) @ most > room).tolist():
            lp.at_most(f"{name}[{place}]", [(power, warms[place] * KILO)], float(room[place]))


def read_solution(fixed: CoreTimes, solution: LpSolution) -> tuple[Floats, float]:
    """Return the times, of no core more than it has, and the reward rate that the program promises."""
    times = np.where(solution["f"] > RUNS, solution["f"], 0.0)
    times = times / np.maximum(times.sum(axis=1, keepdims=True), 1.0)
    arrays = fixed.arrays
    return times, -solution.value * _all(arrays.rewards * arrays.arrivals)


def _all(earns: Floats) -> float:
    return float(earns.sum()) or 1.0


# The paper's non-linear program of a facility, in three stages: continuous P-states, rounding, core times.
#
#     1  continuous   outlet temperatures and times, if cores could run at any power between their P-states;
#                     a local optimum of a program that is not convex, by Ipopt
#     2  rounded      one P-state for each core and task type, no node above its power of stage 1
#     3  times        a linear program for the times at these temperatures and P-states, as often as it gains
#
# NLPCL counts how cores slow each other down, NLP does not. Nothing here is a bound. An allocation that the
# solvers' tolerances let slip by a hair is shrunk until it keeps every limit.
#
# If the time is up in stage 1, its last point still says temperatures and times. The linear program fixes
# what they break; only if it has no solution at these temperatures are those taken where stage 1 began.
#
# Source: Oxley and others, section IV-C.
SECONDS: Final = 600.0  # of stage 1, where no time limit is given
MOST_VARIABLES: Final = 2_000_000  # of stage 1; more would fill the memory
GAIN: Final = 1e-6  # of the reward; less ends the third stage
MOST_ROUNDS: Final = 50  # of the third stage
LEAST_FRACTION: Final = 1e-9  # of a core's time


@dataclass(frozen=True, slots=True)
class ThreeStages:
    """An allocation of a facility, and how it was reached.

    Stage 1 ended `solved` (no small step is better), `stalled` (many steps were hardly better), by `time`,
    `stopped`, or `failed` (Ipopt found no way on; its last point was used). What its times would earn if P-states
    were continuous is known only where it was solved or stalled, because its last point may break limits.
    """

    allocation: CoreAllocation
    ended: str
    continuous_reward_rate: float | None
    rounded_reward_rate: float  # what the times of stage 1 earn in one P-state each
    reward_rate: float  # what the last linear program promises; with co-location the allocation may earn more
    iterations: int  # of Ipopt
    rounds: int  # linear programs of stage 3
    timings: FrozenDict[str, float]


def three_stages(
    instance: Facility,
    *,
    rng: np.random.Generator,
    colocation: bool = True,
    cancel: CancelToken | None = None,
    solver: Solver | None = None,
) -> ThreeStages:
    """Find an allocation of a facility by the paper's three stages: NLPCL, or without co-location NLP.

    `rng` draws the start of stage 1. The token limits stage 1, and ends the repetitions of stage 3; without one, or
    without a time limit, stage 1 has 600 seconds.
    """
    solver = solver if solver is not None else default_solver()
    cancel, timings = cancel or CancelToken(), dict[str, float]()
    with timed(timings, "heat"):
        arrays, heat = air.facility_arrays(instance, colocation=colocation), air.heat_map(instance)
    if (variables := count_variables(arrays)) > MOST_VARIABLES:
        found = f"{len(instance.nodes)} nodes, whose non-linear program would have {variables:,} variables"
        needed, do = f"at most {MOST_VARIABLES:,} variables", "use another method: lp, greedy or ga"
        raise InstanceError(instance.name, (InputIssue(("nodes",), found, needed, do),))
    states = core_states(arrays)
    with timed(timings, "continuous"):
        point, ended, iterations = _continuous(arrays, heat, states, rng, cancel)
    keeps_limits = ended in {"solved", "stalled"}
    with timed(timings, "rounded"):
        rounded = one_state_each(arrays, states.node, (states.core, states.task, states.column), point.times)
    with timed(timings, "times"):
        choices = [
            CoreTimes(arrays, heat, outlets, states.node, rounded.column)
            for outlets in (point.outlets, air.even_outlets(arrays, heat))
        ]
        known = [rounded.times]
        if not keeps_limits:  # the slowdowns of such times say little: try the worst ones too
            known.append(np.zeros(rounded.times.shape))
        best = _best_times(instance.name, choices, known, solver, cancel)
    earned = continuous_states.reward_rate(arrays, states, point.times)
    fixed, overhead = best.fixed, arrays.overhead_watts[arrays.node_type]
    theta = air.largest_share(arrays, heat, overhead, fixed.node_watts(best.times), fixed.outlets)
    segments = [  # of each core
        [(i, int(columns[i]), float(own[i])) for i in np.flatnonzero(own > LEAST_FRACTION).tolist()]
        for columns, own in zip(fixed.column, theta * best.times, strict=True)
    ]
    return ThreeStages(
        allocation=core_allocation(instance, fixed.outlets, segments),
        ended=ended,
        continuous_reward_rate=earned if keeps_limits else None,
        rounded_reward_rate=fixed.reward_rate(rounded.times),
        reward_rate=theta * best.promised,
        iterations=iterations,
        rounds=best.rounds,
        timings=FrozenDict(timings),
    )


def _continuous(
    arrays: air.FacilityArrays, heat: air.HeatMap, states: CoreStates, rng: np.random.Generator, cancel: CancelToken
) -> tuple[ContinuousPoint, str, int]:
    """Run stage 1; return its point, how it ended, and Ipopt's iterations; nodes idle where nothing can be earned."""
    if not len(states.core):
        return ContinuousPoint(air.even_outlets(arrays, heat), np.zeros(0)), "solved", 0
    program = continuous_states.compile_program(arrays, heat, states, rng)
    own = cancel.part(SECONDS) if cancel.remaining() is None else cancel
    solution = program.solve(cancel=own, stage="non-linear program")
    point = continuous_states.read_solution(arrays, states, solution)
    ended = solution.status.value
    if solution.status is SmoothStatus.LIMIT:
        ended = "stopped" if cancel.is_stopped else "time"
    return point, ended, solution.iterations


@dataclass(frozen=True, slots=True)
class _Last:
    """What stage 3 leaves: times at fixed temperatures and P-states, what they promise, how many programs."""

    fixed: CoreTimes
    times: Floats
    promised: float
    rounds: int


def _best_times(name: str, choices: list[CoreTimes], known: list[Floats], solver: Solver, cancel: CancelToken) -> _Last:
    """Run stage 3 from known times, at the first temperatures at which anything is allowed."""
    for fixed in choices:
        try:
            return max((_improved(fixed, times, solver, cancel) for times in known), key=lambda last: last.promised)
        except InfeasibleProgramError:
            continue
    raise NotFoundError(
        f"{name}: the non-linear program ended at outlet temperatures at which even idle nodes break the "
        "power cap or a redline; give it more time, or use the method lp, which finds better ones or proves "
        "that there are none"
    )


def _improved(fixed: CoreTimes, known: Floats, solver: Solver, cancel: CancelToken) -> _Last:
    """Solve the linear program, again with the slowdowns of its own answer as long as it gains."""
    best, rounds = _Last(fixed, known, -np.inf, 0), 0
    while rounds < MOST_ROUNDS and not (rounds and cancel.expired()):
        solution = require_optimal(solver.solve(compile_lp(fixed, best.times)))
        times, promised = read_solution(fixed, solution)
        rounds += 1
        cancel.report(f"core times: {rounds}")
        gained = promised > best.promised + GAIN * abs(promised)
        if promised > best.promised:
            best = _Last(fixed, times, promised, rounds)
        if not gained or not fixed.arrays.degradation.any():
            break
    return replace(best, rounds=rounds)
