"""How warm is the air where it is drawn in? The mixing itself, gone through until nothing moves.

Air that passes node v leaves it P_v / (density * heat capacity * airflow_v) kelvin warmer; the air that a
place draws in is a mixture of what left other places, each at its own temperature:

    inlet of v  =  sum over u of share(v, u) * outlet of u

The nodes start as cold as they could be. One after the other draws in, warms and gives back its air, and
again, so temperatures only rise, ever more slowly. They are taken when what is still to come is below
`SETTLED`.

The three forms of mixing are brought to shares of inlet air here, by this file's own arithmetic: of the air
that v draws in, alpha(u, v) * airflow_u / airflow_v left u. With a recirculation matrix the inlets are given
outright: the supply, and so many kelvin for each watt of each node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.facility import Facility

SETTLED: Final = 1e-11  # kelvin still to come; a rule about temperatures looks at 1e-7
AIR_ROUNDING: Final = 1e-13  # kelvin: moves of a double near 100 celsius that mean nothing
MOST_SWEEPS: Final = 10_000

Row = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Inlets:
    """Temperatures of the air that nodes and CRAC units draw in."""

    nodes: tuple[float, ...]
    units: tuple[float, ...]


def watts_per_kelvin(facility: Facility, airflow: float) -> float:
    """Return the power that warms an airflow by one kelvin."""
    return facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin * airflow


def inlets(facility: Facility, watts: Sequence[float], outlets: Sequence[float]) -> Inlets | None:
    """Return the temperatures that the air settles at; `None` if it does not."""
    if facility.mixing.form == "recirculation":
        return _given(facility, watts, outlets[0])
    drawn = _shares(facility)
    warmer = [
        power / watts_per_kelvin(facility, facility.node_types[j].airflow_m3_per_second)
        for power, j in zip(watts, facility.nodes, strict=True)
    ]
    coldest = min(outlets)
    leaving = [coldest + kelvin for kelvin in warmer] + list(outlets)
    pace, before = 1.0, 0.0
    for _ in range(MOST_SWEEPS):
        moved = _sweep(drawn, warmer, leaving)
        if before:
            pace = moved / before
        if moved <= AIR_ROUNDING or (pace < 1 and moved * pace <= SETTLED * (1 - pace)):  # a geometric series
            break
        before = moved
    else:
        return None
    met = [_mixed(row, leaving) for row in drawn]
    count = len(warmer)
    return Inlets(tuple(met[:count]), tuple(met[count:]))


def _sweep(drawn: list[Row], warmer: list[float], leaving: list[float]) -> float:
    """Let every node draw in air, warm it and give it back; return the largest change."""
    moved = 0.0
    for v, kelvin in enumerate(warmer):
        left = _mixed(drawn[v], leaving) + kelvin
        moved = max(moved, abs(left - leaving[v]))
        leaving[v] = left
    return moved


def _mixed(row: Row, leaving: list[float]) -> float:
    return sum(share * leaving[u] for u, share in row)


def _shares(facility: Facility) -> list[Row]:
    """Return for each place, nodes first, where the air that it draws in comes from."""
    matrix = facility.mixing.matrix
    rows = [matrix.row(place) for place in range(matrix.rows)]
    if facility.mixing.form == "inlet_mix":
        return rows
    flows = [facility.node_types[j].airflow_m3_per_second for j in facility.nodes]
    flows += [unit.airflow_m3_per_second for unit in facility.crac_units]
    drawn: list[Row] = [[] for _ in flows]
    for u, row in enumerate(rows):
        for v, share in row:
            drawn[v].append((u, share * flows[u] / flows[v]))
    return drawn


def _given(facility: Facility, watts: Sequence[float], supply: float) -> Inlets:
    """Return the inlets of a recirculation matrix: air comes from one unit, and all heat goes back to it."""
    matrix = facility.mixing.matrix
    nodes = tuple(supply + sum(kelvin * watts[w] for w, kelvin in matrix.row(v)) for v in range(matrix.rows))
    passing = watts_per_kelvin(facility, facility.crac_units[0].airflow_m3_per_second)
    return Inlets(nodes, (supply + math.fsum(watts) / passing,))
