"""What cooling must be able to do: keep the redlines and the cap at least while all nodes are idle.

Only what the file alone proves is refused here. With t the inlets, P the node powers, T the outlets of the
CRAC units, k = (joules per m3 K) airflow and M the shares of inlet air,

    t_v  =  sum_w M_vw (t_w + P_w / k_w)  +  sum_u M_vu T_u

rises with every P and T. So the coldest air that a node can ever draw in is the one with idle nodes and all
units at their coldest; starting below and repeating the equation approaches it from below, and every step of
that is a proof. Whether the redlines and the cap can be kept together is for the solver to say.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault
from lpsched.facility.rules import airflows, inlet_shares, matrix_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.facility.parts import Room

SETTLED: Final = 1e-6  # kelvin
FORGIVEN: Final = 1e-9  # kelvin, or as a share of the cap, for the rounding of doubles
MOST_SWEEPS: Final = 300


def broken_cooling_rules(facility: Room) -> tuple[Fault, ...]:
    """Return what no setting of the CRAC units could mend, in a facility whose air is sound."""
    return (
        *_redlines_can_be_kept(facility, coldest_inlets(facility)),
        *_the_cap_covers_idle_nodes_and_their_cooling(facility),
        *_no_unit_always_heats(facility),
    )


def _joules_per_kelvin(facility: Room) -> float:
    return facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin


def _idle_watts(facility: Room) -> list[float]:
    return [facility.node_types[j].overhead_watts for j in facility.nodes]


def coldest_inlets(facility: Room) -> list[float]:
    """Return a lower bound of the air that each place draws in, whatever runs and however units are set."""
    low = [unit.outlet_celsius[0] for unit in facility.crac_units]
    idle = _idle_watts(facility)
    nodes = len(idle)
    if facility.mixing.form == "recirculation":
        rows = matrix_rows(facility.mixing.matrix)
        inlets = [low[0] + sum(d * idle[w] for w, d in zip(*row, strict=True)) for row in rows]
        flow = facility.crac_units[0].airflow_m3_per_second
        return [*inlets, low[0] + sum(idle) / (_joules_per_kelvin(facility) * flow)]
    per_kelvin = [_joules_per_kelvin(facility) * flow for flow in airflows(facility)[:nodes]]
    warming = [watts / k for watts, k in zip(idle, per_kelvin, strict=True)]
    shares = inlet_shares(facility)
    outlets = [min(low) + warm for warm in warming] + low
    for _ in range(MOST_SWEEPS):
        most = 0.0
        for v in range(nodes):  # with the newest values: still from below, and sooner there
            warmer = _mixed(shares[v], outlets) + warming[v]
            most = max(most, warmer - outlets[v])
            outlets[v] = warmer
        if most < SETTLED:
            break
    return [_mixed(row, outlets) for row in shares]


def _mixed(row: tuple[list[int], list[float]], outlets: list[float]) -> float:
    places, shares = row
    return sum(map(float.__mul__, shares, map(outlets.__getitem__, places)))


def _redlines_can_be_kept(facility: Room, coldest: list[float]) -> Iterator[Fault]:
    when = "with idle nodes and all CRAC units at their coldest"
    do = "raise it, lower outlet_celsius, or mend the mixing"
    for j, kind in enumerate(facility.node_types):
        own = [v for v, each in enumerate(facility.nodes) if each == j]
        worst = max(own, key=coldest.__getitem__, default=None)
        if worst is not None and coldest[worst] > kind.redline_celsius + FORGIVEN:
            air = f"node {worst} draws in air of {_up(coldest[worst], 4)} C {when}"
            needed = f"at least {_up(coldest[worst], 4)} C"
            path = ("node_types", j, "redline_celsius")
            yield Fault(path, f"{kind.redline_celsius:g} C, but {air}", needed, do)
    for u, unit in enumerate(facility.crac_units):
        inlet = coldest[len(facility.nodes) + u]
        if unit.redline_celsius is not None and inlet > unit.redline_celsius + FORGIVEN:
            found = f"{unit.redline_celsius:g} C, but it draws in air of {_up(inlet, 4)} C {when}"
            yield Fault(("crac_units", u, "redline_celsius"), found, f"at least {_up(inlet, 4)} C", do)


def _up(value: float, digits: int) -> str:
    """Write a number rounded up, so that what a message asks for is enough."""
    return f"{math.ceil(value * 10**digits) / 10**digits:,.{digits}f}"


def _the_cap_covers_idle_nodes_and_their_cooling(facility: Room) -> Iterator[Fault]:
    """Check the cap against what is always drawn: the units take out all heat, none better than the best."""
    overhead = sum(_idle_watts(facility))
    best = max(unit.performance(celsius) for unit in facility.crac_units for celsius in unit.outlet_celsius)
    least = overhead * (1.0 + 1.0 / best)
    if facility.power_cap_watts < least * (1.0 - FORGIVEN):
        cooling = f"{overhead / best:,.1f} W to cool them, at a CoP of {best:.4g}"
        found = f"{facility.power_cap_watts:,.1f} W, but idle nodes draw {overhead:,.1f} W and it takes {cooling}"
        yield Fault(("power_cap_watts",), found, f"at least {_up(least, 1)} W", "raise it, or drop nodes")


def _no_unit_always_heats(facility: Room) -> Iterator[Fault]:
    """Check that each unit's inlet can be as warm as its coldest outlet.

    The warmest case for unit u is itself at its coldest, the others at their warmest, all cores busy. Its
    inlet is then not below the coldest of these outlets, so only units that begin above others' ends matter.
    """
    if facility.mixing.form == "recirculation":
        return
    high = [unit.outlet_celsius[1] for unit in facility.crac_units]
    for u, unit in enumerate(facility.crac_units):
        low = unit.outlet_celsius[0]
        if low <= min(high):
            continue
        warmest = warmest_inlet(facility, u)
        if warmest is not None and warmest < low - SETTLED:
            found = f"from {low:g} C up, but the air that it draws in never has more than {warmest:.4f} C"
            needed = "an outlet no warmer than its inlet: a CRAC unit cools, and never heats"
            yield Fault(("crac_units", u, "outlet_celsius"), found, needed, "lower it, or raise the others'")


def warmest_inlet(facility: Room, u: int) -> float | None:
    """Return an upper bound of what unit u draws in when it is at its coldest; `None` if none is found.

    Repeating the equation from below, the steps d shrink: once d_new <= r d_old at every node with r < 1, all
    further steps together are at most d_new r / (1 - r).
    """
    outlets = [unit.outlet_celsius[1] for unit in facility.crac_units]
    outlets[u] = facility.crac_units[u].outlet_celsius[0]
    nodes, shares = len(facility.nodes), inlet_shares(facility)
    per_kelvin = [_joules_per_kelvin(facility) * flow for flow in airflows(facility)[:nodes]]
    warming = [watts / k for watts, k in zip(_busy_watts(facility), per_kelvin, strict=True)]
    leaving = [min(outlets) + warm for warm in warming]
    steps = [0.0] * nodes
    for _ in range(MOST_SWEEPS):
        newer = [_mixed(shares[v], leaving + outlets) + warming[v] for v in range(nodes)]
        taken = [b - a for a, b in zip(leaving, newer, strict=True)]
        ratio = max((b / a if a > 0 else 2.0 for a, b in zip(steps, taken, strict=True) if b > 0), default=0.0)
        steps, leaving = taken, newer
        if ratio < 1.0 and max(steps) * ratio / (1.0 - ratio) < SETTLED:
            rest = [step * ratio / (1.0 - ratio) for step in steps]
            ends = [leaves + more for leaves, more in zip(leaving, rest, strict=True)]
            return _mixed(shares[nodes + u], ends + outlets)
    return None


def _busy_watts(facility: Room) -> list[float]:
    """Return the most that each node can draw."""
    columns = [j for j, kind in enumerate(facility.node_types) for _ in range(kind.modes)]
    most = [0.0] * len(facility.node_types)
    for row in facility.watts:
        for j, watts in zip(columns, row, strict=True):
            most[j] = max(most[j], watts or 0.0)
    return [facility.node_types[j].overhead_watts + facility.node_types[j].cores * most[j] for j in facility.nodes]
