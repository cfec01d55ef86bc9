"""Is this an allocation for that facility, and what does it earn? By plain loops, as the physics goes.

Shares nothing with the code that makes allocations: no arrays, no solved matrices.

    work of the nodes    `nodes.py`: rates of the tasks, watts of each node      equations 1, 3, 4, 9 and 10
    temperatures         `air.py`                                                equations 6 and 7
    watts of a CRAC      density * heat capacity * airflow
                         * (inlet - outlet) / CoP(outlet)                        equation 5
    rules                inlets at most their redlines (equation 8); no CRAC unit heats; outlets within their
                         ranges; nodes and units together draw at most the cap
    reward per second    sum_i r_i min(rate of i, arrivals of i)                 equations 2 and 11

An allocation comes from doubles that were added up in some order, so a rule counts as broken only beyond a
billionth of its limit (`ROUNDING`), a temperature beyond a ten-millionth of a kelvin (`KELVIN`): far above
what adding up can do to an honest allocation. Proofs are about these allocations: they grant twice as much
(`certificate/facility.py`, which shares no code with this).
Nodes, units and cores are told by their place in the file, from 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.verify.air import inlets, watts_per_kelvin
from lpsched.verify.nodes import MOST, ROUNDING, Tally
from lpsched.verify.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.facility import Facility
    from lpsched.schedule.facility import CoreAllocation, GangAllocation
    from lpsched.verify.air import Inlets

KELVIN: Final = 1e-7


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a valid allocation earns and takes.

    Attributes
    ----------
    reward_rate, rates
        Per second, and tasks of each type per second, with the cores slowing each other down: CRR.
    plain_reward_rate, plain_rates
        The same as if they did not: RR.
    hottest_inlet_margin_celsius, hottest_node
        The least that an inlet stays below its redline, and which node's that is.
    """

    reward_rate: float
    rates: tuple[float, ...]
    plain_reward_rate: float
    plain_rates: tuple[float, ...]
    node_watts: tuple[float, ...]
    node_inlets_celsius: tuple[float, ...]
    crac_inlets_celsius: tuple[float, ...]
    heat_removed_watts: tuple[float, ...]
    cooling_watts: tuple[float, ...]
    total_watts: float
    hottest_inlet_margin_celsius: float
    hottest_node: int


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
        sentence = "the air does not settle: nodes draw in nearly all the air that they warmed"
        return Examined((Violation("no-steady-state", sentence),), None)
    measured = _measured(facility, allocation.outlets_celsius, tally, air)
    found = _broken_limits(facility, allocation.outlets_celsius, measured)
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
        sentence = (
            f"{units} outlet temperatures are given, but there are {len(facility.crac_units)} CRAC units"
        )
        found.append(Violation("wrong-outlet-count", sentence))
    for unit, outlet in zip(facility.crac_units, allocation.outlets_celsius, strict=False):
        low, high = unit.outlet_celsius
        if not math.isfinite(outlet):
            found.append(Violation("bad-number", f"{unit.name!r} blows at {outlet!r} celsius"))
        elif not low - KELVIN <= outlet <= high + KELVIN:
            sentence = f"{unit.name!r} blows at {outlet!r} celsius, but its range is {low!r} to {high!r}"
            found.append(Violation("outlet-out-of-range", sentence))
    return found


def _measured(facility: Facility, outlets: Sequence[float], tally: Tally, air: Inlets) -> Measurement:
    """Return what the tally and the air come to."""
    removed, cooling = [], []
    for unit, inlet, outlet in zip(facility.crac_units, air.units, outlets, strict=True):
        heat = watts_per_kelvin(facility, unit.airflow_m3_per_second) * (inlet - outlet)
        removed.append(heat)
        cooling.append(max(0.0, heat) / _cop(unit.cop, outlet))  # a unit that would heat saves nothing
    margins = [
        facility.node_types[j].redline_celsius - inlet
        for j, inlet in zip(facility.nodes, air.nodes, strict=True)
    ]
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


def _reward(facility: Facility, rates: Sequence[float]) -> float:
    """Return what tasks at these rates earn, rounded down."""
    exact = sum(
        (
            Fraction(task.reward) * Fraction(min(rate, task.arrivals_per_second))
            for task, rate in zip(facility.task_types, rates, strict=True)
        ),
        Fraction(0),
    )
    nearest = float(exact)
    return nearest if nearest <= exact else math.nextafter(nearest, -math.inf)


def _cop(coefficients: Sequence[float], outlet: float) -> float:
    return math.fsum(each * outlet**power for power, each in enumerate(coefficients))


def _broken_limits(facility: Facility, outlets: Sequence[float], measured: Measurement) -> list[Violation]:
    """Return the redlines that are passed, the units that would heat, and whether the cap is broken."""
    found = []
    for v, (j, inlet) in enumerate(zip(facility.nodes, measured.node_inlets_celsius, strict=True)):
        kind = facility.node_types[j]
        if inlet > kind.redline_celsius + KELVIN:
            drawn = f"draws in air of {inlet!r} celsius, but its redline is {kind.redline_celsius!r}"
            found.append(Violation("over-redline", f"node {v} ({kind.name!r}) {drawn}"))
    for unit, inlet, outlet in zip(facility.crac_units, measured.crac_inlets_celsius, outlets, strict=True):
        if unit.redline_celsius is not None and inlet > unit.redline_celsius + KELVIN:
            drawn = f"draws in air of {inlet!r} celsius, but its redline is {unit.redline_celsius!r}"
            found.append(Violation("over-crac-redline", f"{unit.name!r} {drawn}"))
        if inlet < outlet - KELVIN:
            sentence = (
                f"{unit.name!r} draws in air of {inlet!r} celsius and would have to heat it to {outlet!r}"
            )
            found.append(Violation("would-heat", sentence))
    if measured.total_watts > facility.power_cap_watts * (1.0 + ROUNDING):
        drawn = f"{measured.total_watts!r} W are drawn, but the cap is {facility.power_cap_watts!r} W"
        found.append(Violation("over-power-cap", drawn))
    return found
