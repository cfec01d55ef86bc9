"""Verify an allocation: every limit, by plain loops. Shares no code with what it checks."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from operator import add, ge, mul, sub
from typing import TYPE_CHECKING, Final

from lpsched.facility.parts import CoreAllocation, CoreFraction, GangAllocation, PatternShare
from lpsched.model.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CracUnit

KELVIN: Final = 1e-7


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a valid allocation earns and takes; rates are per second."""

    reward_rate: float  # with the cores slowing each other down: CRR
    rates: tuple[float, ...]  # of each task type, likewise
    plain_reward_rate: float  # as if they did not: RR
    plain_rates: tuple[float, ...]
    node_watts: tuple[float, ...]
    node_inlets_celsius: tuple[float, ...]
    crac_inlets_celsius: tuple[float, ...]
    heat_removed_watts: tuple[float, ...]
    cooling_watts: tuple[float, ...]
    total_watts: float
    hottest_inlet_margin_celsius: float  # the least that an inlet stays below its redline, ...
    hottest_node: int  # ... and whose that is


@dataclass(frozen=True, slots=True)
class Examined:
    """Every broken rule; if there is none, what the allocation earns and takes."""

    violations: tuple[Violation, ...]
    measured: Measurement | None


def examine(facility: Facility, allocation: GangAllocation | CoreAllocation) -> Examined:
    """Check an allocation against every rule, and measure it if it breaks none."""
    tally = Tally(facility)
    found = _wrong_shape(facility, allocation) or tally.take(allocation)
    if found:
        return Examined(tuple(found[:MOST]), None)
    air = inlets(facility, tally.watts, allocation.outlets_celsius)
    if air is None:
        sentence = "the air does not settle, or far too slowly: nodes draw in nearly all the air that they warmed"
        return Examined((Violation("no-steady-state", sentence),), None)
    measured = _measured(facility, allocation.outlets_celsius, tally, air)
    found = _broken_limits(facility, allocation.outlets_celsius, air.rises, measured)
    return Examined(tuple(found[:MOST]), None if found else measured)


def violations(facility: Facility, allocation: GangAllocation | CoreAllocation) -> tuple[Violation, ...]:
    """Return every broken rule; an empty tuple means that the allocation is valid."""
    return examine(facility, allocation).violations


def measure(facility: Facility, allocation: GangAllocation | CoreAllocation) -> Measurement:
    """Measure a valid allocation."""
    measured = examine(facility, allocation).measured
    assert measured is not None, "only valid allocations are measured"
    return measured


def _wrong_shape(facility: Facility, allocation: GangAllocation | CoreAllocation) -> list[Violation]:
    """Return what keeps the allocation from being read at all."""
    found = []
    nodes, units = len(allocation.nodes), len(allocation.outlets_celsius)
    if nodes != len(facility.nodes):
        sentence = f"the allocation is for {nodes} nodes, but there are {len(facility.nodes)}"
        found.append(Violation("wrong-node-count", sentence))
    if units != len(facility.crac_units):
        sentence = f"{units} outlet temperatures are given, but there are {len(facility.crac_units)} CRAC units"
        found.append(Violation("wrong-outlet-count", sentence))
    for unit, outlet in zip(facility.crac_units, allocation.outlets_celsius, strict=False):
        low, high = unit.outlet_celsius
        if not math.isfinite(outlet):
            found.append(Violation("bad-number", f"{unit.name!r} blows at {outlet!r} celsius"))
        elif not low - KELVIN <= outlet <= high + KELVIN:
            sentence = f"{unit.name!r} blows at {outlet!r} celsius, but its range is {low!r} to {high!r}"
            found.append(Violation("outlet-out-of-range", sentence))
        elif _cop(unit, outlet) <= 0:  # a little beyond its range
            sentence = f"{unit.name!r} blows at {outlet!r} celsius, where its CoP is not positive"
            found.append(Violation("outlet-out-of-range", sentence))
    return found


def _measured(facility: Facility, outlets: Sequence[float], tally: Tally, air: Inlets) -> Measurement:
    """Return what the tally and the air come to."""
    removed, cooling = [], []
    for unit, rise, outlet in zip(facility.crac_units, air.rises, outlets, strict=True):
        heat = watts_per_kelvin(facility, unit.airflow_m3_per_second) * rise
        removed.append(heat)
        cooling.append(float(Fraction(max(0.0, heat)) / _cop(unit, outlet)))  # a unit that would heat saves nothing
    redlines = [facility.node_types[j].redline_celsius for j in facility.nodes]
    margins = [redline - inlet for redline, inlet in zip(redlines, air.nodes, strict=True)]
    return Measurement(
        reward_rate=_reward(facility, tally.rates),
        rates=tuple(tally.rates),
        plain_reward_rate=_reward(facility, tally.plain_rates),
        plain_rates=tuple(tally.plain_rates),
        node_watts=tuple(tally.watts),
        node_inlets_celsius=air.nodes,
        crac_inlets_celsius=air.units,
        heat_removed_watts=tuple(removed),
        cooling_watts=tuple(cooling),
        total_watts=math.fsum(tally.watts) + math.fsum(cooling),
        hottest_inlet_margin_celsius=min(margins),
        hottest_node=margins.index(min(margins)),
    )


def _cop(unit: CracUnit, outlet: float) -> Fraction:
    """Return the coefficient of performance, exactly: near a zero of it doubles would leave few digits."""
    return sum((Fraction(each) * Fraction(outlet) ** power for power, each in enumerate(unit.cop)), Fraction(0))


def _reward(facility: Facility, rates: Sequence[float]) -> float:
    """Return what tasks at these rates earn, rounded down."""
    exact = Fraction(0)
    for task, rate in zip(facility.task_types, rates, strict=True):
        exact += Fraction(task.reward) * Fraction(min(rate, task.arrivals_per_second))
    nearest = float(exact)
    return nearest if nearest <= exact else math.nextafter(nearest, -math.inf)


def _broken_limits(
    facility: Facility, outlets: Sequence[float], rises: Sequence[float], measured: Measurement
) -> list[Violation]:
    """Return the redlines that are passed, the units that would heat, and whether the cap is broken."""
    found = []
    for v, (j, inlet) in enumerate(zip(facility.nodes, measured.node_inlets_celsius, strict=True)):
        kind = facility.node_types[j]
        if inlet > kind.redline_celsius + KELVIN:
            drawn = f"draws in air of {inlet:.10g} celsius, but its redline is {kind.redline_celsius!r}"
            found.append(Violation("over-redline", f"node {v} ({kind.name!r}) {drawn}"))
    places = zip(facility.crac_units, measured.crac_inlets_celsius, rises, outlets, strict=True)
    for unit, inlet, rise, outlet in places:
        if unit.redline_celsius is not None and inlet > unit.redline_celsius + KELVIN:
            drawn = f"draws in air of {inlet:.10g} celsius, but its redline is {unit.redline_celsius!r}"
            found.append(Violation("over-crac-redline", f"{unit.name!r} {drawn}"))
        if rise < -KELVIN:
            sentence = f"{unit.name!r} draws in air of {inlet:.10g} celsius and would have to heat it to {outlet!r}"
            found.append(Violation("would-heat", sentence))
    if measured.total_watts > facility.power_cap_watts * (1.0 + ROUNDING):
        drawn = f"{measured.total_watts!r} W are drawn, but the cap is {facility.power_cap_watts!r} W"
        found.append(Violation("over-power-cap", drawn))
    return found


# What do the nodes of an allocation do? Rates and watts, and the rules that each node keeps by itself.
#
# Two forms are known. With PD(i, t) the degradation of task type i by task type t,
#
#   gang    the cores of a pattern run at once, each at     speed / (1 + sum of PD over the other cores)
#   cores   each core k divides its time on its own, f(i, k) of it for task type i, and is slowed down by what
#           the other cores l do on average:                f(i, k) speed / (1 + sum_lt f(t, l) PD(i, t))
#           equations 1, 9 and 10 for any number of cores, additive, as the paper's text has it
#
#   watts of a node     overhead + sum of (share of the time) * (watts of the core)         equation 4
#   rules               task type i runs only where 1 / speed < deadline (equation 3); a pattern runs on no
#                       more cores than there are; no core is busy for more than all of its time, and it runs
#                       a task type always in the same P-state
ROUNDING: Final = 1e-9  # as a share of a limit; what adding up doubles may do
MOST: Final = 1000  # violations that are reported; more would not help


class Tally:
    """Adds up what an allocation does: watts of each node, tasks a second of each type."""

    def __init__(self, facility: Facility) -> None:
        self.facility = facility
        self.row = {task.name: i for i, task in enumerate(facility.task_types)}
        self.column: dict[tuple[int, str | None], int] = {}
        for j, kind in enumerate(facility.node_types):
            for state in kind.p_states or (None,):
                self.column[j, state] = len(self.column)
        self.watts: list[float] = []
        self.rates = [0.0] * len(facility.task_types)
        self.plain_rates = [0.0] * len(facility.task_types)

    def take(self, allocation: GangAllocation | CoreAllocation) -> list[Violation]:
        """Go through all nodes; return the rules that they break by themselves."""
        found: list[Violation] = []
        for v, j in enumerate(self.facility.nodes):
            where = f"node {v} ({self.facility.node_types[j].name!r})"
            self.watts.append(self.facility.node_types[j].overhead_watts)
            if isinstance(allocation, GangAllocation):
                found += self._take_patterns(where, j, allocation.nodes[v])
            else:
                found += self._take_cores(where, j, allocation.nodes[v])
            if len(found) >= MOST:
                break
        return found

    def _take_patterns(self, where: str, j: int, patterns: Sequence[PatternShare]) -> list[Violation]:
        """Count a node that runs patterns in turn."""
        found = _bad_shares(where, [pattern.share for pattern in patterns])
        cores = self.facility.node_types[j].cores
        for pattern in patterns:
            broken = []
            for run in pattern.runs:
                broken += self._forbidden(where, j, run.task_type, run.p_state)
                if run.cores < 1:
                    broken.append(Violation("bad-number", f"{where}: a run has {run.cores} cores"))
            used = sum(run.cores for run in pattern.runs)
            if used > cores:
                sentence = f"{where}: a pattern runs on {used} cores, but there are {cores}"
                broken.append(Violation("too-many-cores", sentence))
            found += broken
            for at, run in enumerate(pattern.runs if not broken else ()):
                i, column = self.row[run.task_type], self.column[j, run.p_state]
                slower = 1.0
                for place, other in enumerate(pattern.runs):
                    count = other.cores - (1 if place == at else 0)  # a core does not slow itself down
                    slower += count * self._degradation(i, self.row[other.task_type])
                self._count(i, column, run.cores * pattern.share, slower)
        return found

    def _take_cores(self, where: str, j: int, cores: Sequence[Sequence[CoreFraction]]) -> list[Violation]:
        """Count a node whose cores divide their time independently."""
        expected = self.facility.node_types[j].cores
        if len(cores) != expected:
            sentence = f"{where}: the allocation has {len(cores)} cores, but there are {expected}"
            return [Violation("wrong-core-count", sentence)]
        found: list[Violation] = []
        for k, parts in enumerate(cores):
            found += _bad_shares(f"{where}, core {k}", [part.fraction for part in parts])
            states: dict[str, str | None] = {}
            for part in parts:
                found += self._forbidden(f"{where}, core {k}", j, part.task_type, part.p_state)
                if states.setdefault(part.task_type, part.p_state) != part.p_state:
                    sentence = f"{where}, core {k}: {part.task_type!r} runs in more than one P-state"
                    found.append(Violation("two-p-states", sentence))
        for k, parts in enumerate(cores) if not found else ():
            others = [part for other, each in enumerate(cores) if other != k for part in each]
            for part in parts:
                i, column = self.row[part.task_type], self.column[j, part.p_state]
                slower = 1.0
                for other in others:
                    slower += other.fraction * self._degradation(i, self.row[other.task_type])
                self._count(i, column, part.fraction, slower)
        return found

    def _count(self, i: int, column: int, time: float, slower: float) -> None:
        """Add what some core time of the node gone through last brings and draws."""
        speed, watts = self.facility.speeds[i, column], self.facility.watts[i, column]
        assert speed is not None, "only pairs that can run are counted"
        assert watts is not None, "what can run has watts"
        self.rates[i] += time * speed / slower
        self.plain_rates[i] += time * speed
        self.watts[-1] += time * watts

    def _degradation(self, i: int, other: int) -> float:
        facility = self.facility
        table, of = facility.degradation, facility.class_of
        return 0.0 if table is None else table[of[i], of[other]] or 0.0

    def _forbidden(self, where: str, j: int, task_type: str, state: str | None) -> list[Violation]:
        """Return whether a task type cannot, or may not, run on a node type in a P-state."""
        if task_type not in self.row:
            return [Violation("unknown-task-type", f"{where}: there is no task type {task_type!r}")]
        if (j, state) not in self.column:
            return [Violation("unknown-p-state", f"{where}: there is no P-state {state!r}")]
        what = f"{where}: {task_type!r}" + ("" if state is None else f" in P-state {state!r}")
        speed = self.facility.speeds[self.row[task_type], self.column[j, state]]
        if not speed:
            return [Violation("cannot-run", f"{what} cannot run")]
        deadline = self.facility.task_types[self.row[task_type]].deadline_seconds
        if deadline is not None and 1.0 / speed >= deadline:
            sentence = f"{what} takes {1.0 / speed!r} s, but must take less than its deadline of {deadline!r} s"
            return [Violation("misses-deadline", sentence)]
        return []


def _bad_shares(where: str, shares: Sequence[float]) -> list[Violation]:
    """Return whether parts of the time are no parts, or together more than all of it."""
    for share in shares:
        if not 0.0 <= share <= math.inf:  # which NaN is not
            return [Violation("bad-number", f"{where}: {share!r} is no part of the time")]
    total = math.fsum(shares)
    if total > 1.0 + ROUNDING:
        return [Violation("over-full-time", f"{where}: busy for {total!r} of the time, more than all of it")]
    return []


# How warm is the air where it is drawn in? The mixing itself, gone through until hardly anything moves, then proved.
#
# Air that passes node v leaves it P_v / (density * heat capacity * airflow_v) kelvin warmer; the air that a
# place draws in is a mixture of what left other places, each at its own temperature:
#
#     inlet of v  =  sum over u of share(v, u) * outlet of u
#
# What moves little may have far to go, so the last move says nothing of the end. With x_v by how much the air that
# leaves node v is warmer than the coldest outlet, and S the shares among nodes, x = b + S x, and
#
#     any z > 0 with z > S z proves that there is exactly one x,  and then any y >= b + S y  that x <= y
#
# So z = 1 + S z and x are approached, and y is x and as much of z as is missing anywhere. A node that draws in its own
# air is solved for first, so that S has no shares on its diagonal. Both conditions are checked with sums rounded up:
# what is reported of air and heat is not below what the air settles at, but for the last digit of a double. Differences
# to outlets are added up, not temperatures: a large airflow turns the last digits of those into watts.
#
# The three forms of mixing are brought to shares of inlet air here, by this file's own arithmetic: of the air
# that v draws in, alpha(u, v) * airflow_u / airflow_v left u. With a recirculation matrix the inlets are
# given outright: the supply, and some kelvin for each watt of each node.
SETTLED: Final = 1e-13  # of a kelvin, or of the largest difference: what the last sweep moves at most
SLACK: Final = 0.25  # the same for z, which need not be exact: z - S z is then at least 0.75 or so
MOST_KELVIN: Final = 2e-8  # by which y may be above x; a rule about temperatures looks at 1e-7
MOST_SWEEPS: Final = 10_000
UP: Final = 2.0**-50  # of the sum of sizes: more than rounding takes from quotients, products and their sum by `fsum`

Row = tuple[list[int], list[float]]  # places, and the shares of their air


@dataclass(frozen=True, slots=True)
class Inlets:
    """Temperatures of the air that nodes and CRAC units draw in, and by how much units draw in warmer air than blow."""

    nodes: tuple[float, ...]
    units: tuple[float, ...]
    rises: tuple[float, ...]


def watts_per_kelvin(facility: Facility, airflow: float) -> float:
    """Return the power that warms an airflow by one kelvin."""
    return facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin * airflow


def inlets(facility: Facility, watts: Sequence[float], outlets: Sequence[float]) -> Inlets | None:
    """Return the temperatures that the air settles at, rounded up; `None` if it does not, or far too slowly."""
    if facility.mixing.form == "recirculation":  # air comes from one unit, and all heat goes back to it
        matrix, supply = facility.mixing.matrix, outlets[0]
        nodes = tuple(supply + sum(kelvin * watts[w] for w, kelvin in matrix.row(v)) for v in range(matrix.rows))
        rise = math.fsum(watts) / watts_per_kelvin(facility, facility.crac_units[0].airflow_m3_per_second)
        return Inlets(nodes, (supply + rise,), (rise,))
    coldest, count = min(outlets), len(watts)
    drawn, unwarmed = _shares(facility), [0.0] * count
    off = 0.0 if facility.mixing.form == "inlet_mix" else UP  # by which sums of shares may be, from rounding
    warmer = [
        _warmer(row, outlets, coldest, unwarmed, off)
        + power / watts_per_kelvin(facility, facility.node_types[j].airflow_m3_per_second)
        for row, power, j in zip(drawn, watts, facility.nodes, strict=False)
    ]
    keeps = [sum(s for u, s in zip(*row, strict=True) if u == v) for v, row in enumerate(drawn[:count])]
    if max(keeps) >= 1.0:
        return None
    rows = [
        (row[0], [0.0 if u == v else share / (1.0 - keeps[v]) for u, share in zip(*row, strict=True)])
        for v, row in enumerate(_among_nodes(row, count) for row in drawn[:count])
    ]
    leaving = _settled(rows, [kelvin / (1.0 - keep) for kelvin, keep in zip(warmer, keeps, strict=True)])
    if leaving is None:
        return None
    met = tuple(coldest + _warmer(row, outlets, coldest, leaving, off) for row in drawn[:count])
    rises = [_warmer(row, outlets, own, leaving, off) for row, own in zip(drawn[count:], outlets, strict=True)]
    return Inlets(met, tuple(map(add, outlets, rises)), tuple(rises))


def _warmer(row: Row, outlets: Sequence[float], origin: float, leaving: list[float], off: float) -> float:
    """Return by how much the air that a place draws in is above a temperature, rounded up.

    Air of nodes is given as kelvin above the coldest outlet; `off` is what rounding may do to the sum of the shares.
    """
    count, shares = len(leaving), row[1]
    (places, ours), coldest = _among_nodes(row, count), min(outlets)
    units = zip(row[0][len(places) :], shares[len(places) :], strict=True)
    terms = [share * (outlets[u - count] - origin) for u, share in units]
    terms += [math.fsum([*shares, -1.0]) * origin]  # as written, shares sum to 1 but for some digits
    terms += [math.fsum(ours) * (coldest - origin)]
    return _sum_up([*terms, off * abs(origin), *_products((places, ours), leaving)])


def _among_nodes(row: Row, count: int) -> Row:
    end = bisect_left(row[0], count)  # nodes come first
    return row[0][:end], row[1][:end]


def _products(row: Row, x: list[float]) -> Iterator[float]:
    return map(mul, row[1], map(x.__getitem__, row[0]))


def _sum_up(products: list[float]) -> float:
    return math.fsum(products) + UP * math.fsum(map(abs, products))


def _settled(rows: list[Row], given: list[float]) -> list[float] | None:
    """Return a y >= given + S y that is little above the x = given + S x; `None` if none is found."""
    ones = [1.0] * len(rows)
    slack, found = _approached(rows, ones, SLACK), _approached(rows, given, SETTLED)
    if slack is None or found is None:
        return None
    least = min(z - _sum_up([*_products(row, slack)]) for row, z in zip(rows, slack, strict=True))
    if not (least > 0.0 and min(slack) > 0.0):
        return None
    step = 2.0 * max(0.0, *map(sub, _applied(rows, given, found), found)) / least
    raised = [x + step * z for x, z in zip(found, slack, strict=True)]
    is_proved = all(map(ge, raised, _applied(rows, given, raised)))
    return raised if is_proved and step * max(slack) <= MOST_KELVIN else None


def _applied(rows: list[Row], given: list[float], x: list[float]) -> list[float]:
    return [_sum_up([own, *_products(row, x)]) for row, own in zip(rows, given, strict=True)]


def _approached(rows: list[Row], given: list[float], least: float) -> list[float] | None:
    """Return x with x = given + S x but for what a last sweep moves: `least`, or hardly any of its digits."""
    x = [0.0] * len(rows)
    for _ in range(MOST_SWEEPS):
        moved = 0.0
        for v, (row, own) in enumerate(zip(rows, given, strict=True)):
            new = own + sum(_products(row, x))
            moved = max(moved, abs(new - x[v]))
            x[v] = new
        if moved <= max(least, SETTLED * max(map(abs, x))):
            return x
    return None


def _shares(facility: Facility) -> list[Row]:
    """Return for each place, nodes first, where the air that it draws in comes from, by place."""
    matrix = facility.mixing.matrix
    rows = [matrix.row(place) for place in range(matrix.rows)]
    if facility.mixing.form == "inlet_mix":
        return [([u for u, _ in row], [share for _, share in row]) for row in rows]
    flows = [facility.node_types[j].airflow_m3_per_second for j in facility.nodes]
    flows += [unit.airflow_m3_per_second for unit in facility.crac_units]
    drawn: list[Row] = [([], []) for _ in flows]
    for u, row in enumerate(rows):
        for v, share in row:
            drawn[v][0].append(u)
            drawn[v][1].append(share if u == v else share * flows[u] / flows[v])
    return drawn
