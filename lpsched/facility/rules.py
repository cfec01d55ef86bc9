"""What the air and the cooling of a facility must satisfy, once everything else is valid.

The mixing matrix fits, air is conserved, and all of it is cooled; then, redlines can be kept at least while all nodes
are idle. This module is plain Python: the verifier reads facilities without NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from operator import lt
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from lpsched.errors import InfeasibleError, InputIssue, Place, quote
from lpsched.facility.parts import MIXING_KEYS, Air, CracUnit, Mixing, NodeType
from lpsched.model.fields import SMALLEST
from lpsched.units import LARGE

if TYPE_CHECKING:
    from lpsched.model.table import SparseMatrix, Table

OFF_BALANCE: Final = 1e-6  # of the air of a place; printed matrices have six digits or so
WORD: Final = 8  # bytes

Issues: TypeAlias = "Iterator[InputIssue]"
Shares = list[tuple[list[int], list[float]]]  # of each place: from where, and how much of its inlet air


class MachineRoom(Protocol):
    """The part of a facility that these rules need: nodes, CRAC units and the air between them."""

    name: str
    node_types: tuple[NodeType, ...]
    nodes: tuple[int, ...]
    crac_units: tuple[CracUnit, ...]
    watts: Table
    mixing: Mixing
    air: Air
    power_cap_watts: float


def the_matrix_fits(facility: MachineRoom) -> Issues:
    """Check form, size, packing and entries of the mixing matrix."""
    form, matrix = facility.mixing.form, facility.mixing.matrix
    if form not in MIXING_KEYS:
        yield InputIssue(("mixing",), repr(form), "one of " + ", ".join(MIXING_KEYS), "choose one")
        return
    path: Place = ("mixing", MIXING_KEYS[form])
    size, of_what = len(facility.nodes) + len(facility.crac_units), "nodes and CRAC units"
    if form == "recirculation":
        size, of_what = len(facility.nodes), "nodes"
        if len(facility.crac_units) != 1:
            found = f"a recirculation matrix and {len(facility.crac_units)} CRAC units"
            do = "bring inlet_mix or alpha, or join the units to one"
            yield InputIssue(path, found, "one unit, whose outlet is the supply temperature", do)
    if (matrix.rows, matrix.columns) != (size, size):
        found = f"a matrix of {matrix.rows} x {matrix.columns}"
        yield InputIssue(path, found, f"{size} x {size}, {of_what}", "fix its shape")
        return
    if not _is_packed(matrix):
        yield InputIssue(path, "a matrix whose bytes do not fit", "rows, columns and values", "use SparseMatrix.of")
        return
    for v, (places, values) in enumerate(matrix_rows(matrix)):
        if sum(values) < math.inf and min(values, default=1.0) >= SMALLEST:  # no NaN: that sum is not below
            continue
        for place, value in zip(places, values, strict=True):
            if not SMALLEST <= value < math.inf:
                needed = f"a number from {SMALLEST:g}"
                yield InputIssue((*path, v, place), repr(value), needed, "leave zeros out")


def _is_packed(matrix: SparseMatrix) -> bool:
    if len(matrix.starts) != WORD * (matrix.rows + 1) or len(matrix.places) != len(matrix.packed):
        return False
    starts = memoryview(matrix.starts).cast("q").tolist()
    if starts[0] != 0 or WORD * starts[-1] != len(matrix.packed) or any(b < a for a, b in pairwise(starts)):
        return False
    return all(
        not places or (places[0] >= 0 and places[-1] < matrix.columns and all(map(lt, places, places[1:])))
        for places, _ in matrix_rows(matrix)
    )


def matrix_rows(matrix: SparseMatrix) -> Shares:
    """Return the entries of each row: columns, values."""
    starts = memoryview(matrix.starts).cast("q").tolist()
    places, values = memoryview(matrix.places).cast("q"), memoryview(matrix.packed).cast("d")
    return [(places[a:b].tolist(), cast("list[float]", values[a:b].tolist())) for a, b in pairwise(starts)]


def airflows(facility: MachineRoom) -> list[float]:
    """Return the airflow of each place, in cubic metres per second."""
    flows = [facility.node_types[j].airflow_m3_per_second for j in facility.nodes]
    return flows + [unit.airflow_m3_per_second for unit in facility.crac_units]


def _place(facility: MachineRoom, place: int) -> str:
    if place < len(facility.nodes):
        return f"node {place} ({quote(facility.node_types[facility.nodes[place]].name)})"
    return f"CRAC unit {quote(facility.crac_units[place - len(facility.nodes)].name)}"


def air_is_conserved_and_cooled(facility: MachineRoom) -> Issues:
    """Check the shares of all places, and that cooled air comes to every node."""
    if facility.mixing.form != "recirculation":
        yield from _air_is_conserved(facility)
        yield from _every_node_gets_air_from_a_unit(facility)


def _air_is_conserved(facility: MachineRoom) -> Issues:
    """Check that the shares of each place sum to 1, and that as much air leaves it as enters it."""
    key, flows = MIXING_KEYS[facility.mixing.form], airflows(facility)
    given = facility.mixing.form == "inlet_mix"
    other = [0.0] * len(flows)  # inlet_mix: air that others draw from a place; alpha: air that reaches it
    for place, (places, shares) in enumerate(matrix_rows(facility.mixing.matrix)):
        total = sum(shares)
        if abs(total - 1.0) > OFF_BALANCE:
            what = "of the air that enters" if given else "of the air that leaves"
            found = f"shares {what} {_place(facility, place)} that sum to {total:.9g}"
            yield InputIssue(("mixing", key, place), found, "1", f"fix the row by {1.0 - total:+.3g}")
        for each, share in zip(places, shares, strict=True):
            other[each] += share * flows[place]
    for place, (own, total) in enumerate(zip(flows, other, strict=True)):
        if abs(total - own) > OFF_BALANCE * own:
            is_fed = "others draw in" if given else "others send"
            found = f"{total:.9g} m3/s that {is_fed} {'from' if given else 'to'} {_place(facility, place)}"
            needed = f"its airflow, {own:.9g} m3/s"
            yield InputIssue(("mixing", key), found, needed, f"fix column {place}, or the airflows")


def inlet_shares(facility: MachineRoom) -> Shares:
    """Return where the air that each place draws in comes from; of alpha, alpha(u, v) flow_u / flow_v."""
    rows = matrix_rows(facility.mixing.matrix)
    if facility.mixing.form == "inlet_mix":
        return rows
    flows = airflows(facility)
    turned: Shares = [([], []) for _ in rows]
    for u, (places, values) in enumerate(rows):
        for v, alpha in zip(places, values, strict=True):
            turned[v][0].append(u)
            turned[v][1].append(alpha * flows[u] / flows[v])
    return turned


def _every_node_gets_air_from_a_unit(facility: MachineRoom) -> Issues:
    """Check that air of a unit reaches each node: then I - M_NN, whose rows sum to at most 1, has an inverse >= 0."""
    nodes, inlets = len(facility.nodes), inlet_shares(facility)[: len(facility.nodes)]
    if all(places and places[-1] >= nodes for places, _ in inlets):
        return  # straight from a unit, as in most rooms
    takers: list[list[int]] = [[] for _ in airflows(facility)]
    for v, (places, _) in enumerate(inlets):
        for u in places:
            takers[u].append(v)
    fed = set(range(nodes, len(takers)))
    waiting = list(fed)
    while waiting:
        reached = [v for v in takers[waiting.pop()] if v not in fed]
        fed.update(reached)
        waiting += reached
    lost = [v for v in range(nodes) if v not in fed]
    if lost:
        others = f" and {len(lost) - 1} other nodes" if len(lost) > 1 else ""
        found = f"{_place(facility, lost[0])}{others} with no air that ever was in a CRAC unit"
        needed = "a way for cooled air to every node; else heat never leaves (I - M_NN is singular)"
        yield InputIssue(("mixing", MIXING_KEYS[facility.mixing.form]), found, needed, "fix the matrix")


# What cooling must be able to do: keep the redlines and the cap at least while all nodes are idle.
#
# Only what the file alone proves is rejected here. With t the inlets, P the node powers, T the outlets of the
# CRAC units, k = (joules per m3 K) airflow and M the shares of inlet air,
#
#     t_v  =  sum_w M_vw (t_w + P_w / k_w)  +  sum_u M_vu T_u
#
# rises with every P and T. So the coldest air that a node can ever draw in is the one with idle nodes and all
# units at their coldest; starting below and repeating the equation approaches it from below, and every step of
# that is a proof. Whether the redlines and the cap can be kept together is for the solver to say.
SETTLED: Final = 1e-6  # kelvin
FORGIVEN: Final = 1e-9  # kelvin, or as a share of the cap, for the rounding of doubles
MOST_SWEEPS: Final = 300


def cooling_can_be_set(facility: MachineRoom) -> Issues:
    """Find redlines and outlets that no setting of the CRAC units can keep, once the air is valid."""
    yield from _redlines_can_be_kept(facility, coldest_inlets(facility))
    yield from _no_unit_always_heats(facility)


def _joules_per_kelvin(facility: MachineRoom) -> float:
    return facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin


def _warming(facility: MachineRoom, watts: list[float]) -> list[float]:
    """Return by how many kelvin the air that passes each node warms."""
    return [each / (_joules_per_kelvin(facility) * flow) for each, flow in zip(watts, airflows(facility), strict=False)]


def _idle_watts(facility: MachineRoom) -> list[float]:
    return [facility.node_types[j].overhead_watts for j in facility.nodes]


def coldest_inlets(facility: MachineRoom) -> list[float]:
    """Return a lower bound of the air that each place draws in, whatever runs and however units are set."""
    low = [unit.outlet_celsius[0] for unit in facility.crac_units]
    idle = _idle_watts(facility)
    nodes = len(idle)
    if facility.mixing.form == "recirculation":
        rows = matrix_rows(facility.mixing.matrix)
        inlets = [low[0] + sum(d * idle[w] for w, d in zip(*row, strict=True)) for row in rows]
        flow = facility.crac_units[0].airflow_m3_per_second
        return [*inlets, low[0] + sum(idle) / (_joules_per_kelvin(facility) * flow)]
    warming, shares = _warming(facility, idle), inlet_shares(facility)
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


def _redlines_can_be_kept(facility: MachineRoom, coldest: list[float]) -> Issues:
    places: list[tuple[Place, float | None, str, int]] = []
    for j, kind in enumerate(facility.node_types):
        own = [v for v, each in enumerate(facility.nodes) if each == j]
        worst = max(own, key=coldest.__getitem__, default=None)
        if worst is not None:
            places.append((("node_types", j), kind.redline_celsius, f"node {worst}", worst))
    for u, unit in enumerate(facility.crac_units):
        places.append((("crac_units", u), unit.redline_celsius, "it", len(facility.nodes) + u))
    for path, redline, who, place in places:
        if redline is not None and coldest[place] > redline + FORGIVEN:
            air = f"air of {_up(coldest[place], 4)} °C with idle nodes and all CRAC units at their coldest"
            needed, do = f"at least {_up(coldest[place], 4)} °C", "raise it, lower outlet_celsius, or fix the mixing"
            yield InputIssue((*path, "redline_celsius"), f"{redline:g} °C, but {who} draws in {air}", needed, do)


def _up(value: float, digits: int) -> str:
    """Write a number rounded up, so that what a message asks for is enough."""
    if value >= LARGE:  # or infinity, where cooling takes more than any double
        return f"{value * (1.0 + 1e-3):.4g}"
    return f"{math.ceil(value * 10**digits) / 10**digits:,.{digits}f}"


def require_cap(facility: MachineRoom) -> None:
    """Raise an error if the cap is below what is always drawn: the units remove all heat, none better than the best."""
    overhead = sum(_idle_watts(facility))
    best = max(unit.performance(celsius) for unit in facility.crac_units for celsius in unit.outlet_celsius)
    least = overhead * (1.0 + 1.0 / best)
    if facility.power_cap_watts < least * (1.0 - FORGIVEN):
        raise InfeasibleError(
            f"{facility.name}: no allocation keeps the power cap of {facility.power_cap_watts:,.1f} W: idle nodes draw "
            f"{overhead:,.1f} W, and it takes {overhead / best:,.1f} W to cool them, at a CoP of {best:.4g}; raise the "
            f"cap to at least {_up(least, 1)} W, or drop nodes"
        )


def _no_unit_always_heats(facility: MachineRoom) -> Issues:
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
            found = f"from {low:g} °C up, but the air that it draws in never has more than {warmest:.4f} °C"
            needed = "an outlet no warmer than its inlet: a CRAC unit cools, and never heats"
            yield InputIssue(("crac_units", u, "outlet_celsius"), found, needed, "lower it, or raise the others'")


def warmest_inlet(facility: MachineRoom, u: int) -> float | None:
    """Return an upper bound of what unit u draws in when it is at its coldest; `None` if none is found.

    Repeating the equation from below, the steps d shrink: once d_new <= r d_old at every node with r < 1, all
    further steps together are at most d_new r / (1 - r).
    """
    outlets = [unit.outlet_celsius[1] for unit in facility.crac_units]
    outlets[u] = facility.crac_units[u].outlet_celsius[0]
    nodes, shares = len(facility.nodes), inlet_shares(facility)
    columns = [j for j, kind in enumerate(facility.node_types) for _ in range(kind.modes)]
    most = [0.0] * len(facility.node_types)  # watts of a core
    for row in facility.watts:
        for j, watts in zip(columns, row, strict=True):
            most[j] = max(most[j], watts or 0.0)
    busy = [kind.overhead_watts + kind.cores * most[j] for j, kind in enumerate(facility.node_types)]
    warming = _warming(facility, [busy[j] for j in facility.nodes])
    leaving = [min(outlets) + warm for warm in warming]
    steps = [0.0] * nodes
    for _ in range(MOST_SWEEPS):
        newer = [_mixed(shares[v], leaving + outlets) + warming[v] for v in range(nodes)]
        taken = [b - a for a, b in zip(leaving, newer, strict=True)]
        ratio = max((b / a if a > 0 else 2.0 for a, b in zip(steps, taken, strict=True) if b > 0), default=0.0)
        steps, leaving = taken, newer
        if ratio < 1.0 and max(steps) * ratio / (1.0 - ratio) < SETTLED:
            ends = [leaves + step * ratio / (1.0 - ratio) for leaves, step in zip(leaving, steps, strict=True)]
            return _mixed(shares[nodes + u], ends + outlets)
    return None
