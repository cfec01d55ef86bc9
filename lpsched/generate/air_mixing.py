"""Air between racks and CRAC units: a room of hot and cold aisles, with conserved flow.

Layout. Racks of `rack` nodes, 0.6 m wide and 2 m high, stand in rows 2.4 m apart that face each other in
pairs: they draw in air from the cold aisle between them and blow it into the hot aisle behind, each 0.6 m
from the middle of the row. CRAC units stand around the room, evenly spaced, 1 m from the racks; they blow and
draw at floor height.

Flows (m3/s). F_v is the airflow of node v, h_v in (0, 1) its height in the rack, and rho the recirculation
share. Node v draws

    rho (1/2 + h_v) F_v        of air that has just left nodes: the higher, the more
    the rest                   from CRAC units

and what leaves a node divides likewise. So on the whole a share rho of the air comes back uncooled, and as
much air of the CRAC units passes by the nodes, straight into CRAC units again (bypass): with conserved flow
there is no recirculation without it. Who exchanges with whom falls with the distance d between the one's
outlet and the other's inlet: weights exp(-d / 0.8 m) between a node and its 30 nearest (and itself, and those
that have it among theirs), exp(-d / 4 m) from and to CRAC units. Rows and columns of the weights are then
scaled in turn until they sum to the flows (Sinkhorn's method).

The flows among nodes may stop short of their sums: what they leave open goes through the CRAC units, whose
blocks are balanced to the last digit. So air is conserved at every place to about 1e-14.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.model.fields import SMALLEST
from lpsched.model.table import SparseMatrix

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers

RACK_WIDTH: Final = 0.6  # metres, all
RACK_HEIGHT: Final = 2.0
ROW_PITCH: Final = 2.4
AISLE: Final = 0.6
MARGIN: Final = 1.0
NODE_REACH: Final = 0.8
UNIT_REACH: Final = 4.0
NEAREST: Final = 30
RACKS_PER_ROW: Final = 3  # times as long as there are rows
CHUNK: Final = 500  # nodes whose distances are looked at together
ROUGH_SWEEPS: Final = 300
MOST_SWEEPS: Final = 20_000
BALANCED: Final = 2e-15


@dataclass(frozen=True, slots=True)
class Layout:
    """Where nodes draw in and blow out, where CRAC units stand (metres), and the nodes' heights in (0, 1)."""

    inlets: Floats
    outlets: Floats
    units: Floats
    heights: Floats


def layout(nodes: int, units: int, rack: int) -> Layout:
    """Place racks in facing rows, and CRAC units around them."""
    racks = -(-nodes // rack)
    rows = max(2, 2 * round(float(np.sqrt(racks / RACKS_PER_ROW)) / 2)) if racks > 1 else 1
    length = -(-racks // rows)
    node = np.arange(nodes)
    row, along, height = node // rack // length, node // rack % length, (node % rack + 0.5) / rack
    x, y, z = along * RACK_WIDTH, row * ROW_PITCH, height * RACK_HEIGHT
    cold = np.where(row % 2 == 0, AISLE, -AISLE)  # rows 0 and 1 face each other
    return Layout(
        np.column_stack((x, y + cold, z)),
        np.column_stack((x, y - cold, z)),
        _around(units, float(x.max()), float(y.max())),
        height,
    )


def _around(units: int, width: float, depth: float) -> Floats:
    """Return evenly spaced points of the rectangle around the racks, counted from its corner."""
    wide, deep = width + 2 * MARGIN, depth + 2 * MARGIN
    points = []
    for way in (np.arange(units) + 0.5) / units * 2 * (wide + deep):
        if way < wide:
            point = (way, 0.0)
        elif way < wide + deep:
            point = (wide, way - wide)
        elif way < 2 * wide + deep:
            point = (2 * wide + deep - way, deep)
        else:
            point = (0.0, 2 * (wide + deep) - way)
        points.append((point[0] - MARGIN, point[1] - MARGIN, 0.0))
    return np.array(points)


def air_mixing(flow: Floats, unit_flow: Floats, recirculation: float, rack: int) -> SparseMatrix:
    """Return the share of each place's inlet air that left each place, nodes first.

    Parameters
    ----------
    flow, unit_flow
        Airflow of the nodes and of the CRAC units; their sums are equal.
    recirculation
        The share of the nodes' air that comes straight from nodes: 0, or from 0.001 to 0.6.
    rack
        How many nodes stand in a rack.
    """
    room = layout(len(flow), len(unit_flow), rack)
    rows, columns, among = _among_nodes(room, flow, recirculation)
    supplied = flow - np.bincount(rows, among, len(flow))
    returned = flow - np.bincount(columns, among, len(flow))
    through = unit_flow * supplied.sum() / unit_flow.sum()
    down = balanced(np.exp(-_distances(room.inlets, room.units) / UNIT_REACH), supplied, through)
    back = balanced(np.exp(-_distances(room.units, room.outlets) / UNIT_REACH), through, returned)
    past = unit_flow - through
    bypass = np.zeros((len(unit_flow), len(unit_flow)))
    if recirculation > 0:
        bypass = balanced(np.exp(-_distances(room.units, room.units) / UNIT_REACH), past, past)
    return _joined((rows, columns, among), down, np.hstack((back, bypass)), np.concatenate((flow, unit_flow)))


def _among_nodes(room: Layout, flow: Floats, recirculation: float) -> tuple[Integers, Integers, Floats]:
    """Return rows, columns and values of the flows from node to node."""
    if recirculation == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    rows, columns = _neighbours(room)
    apart = np.sqrt(((room.inlets[rows] - room.outlets[columns]) ** 2).sum(axis=1))
    kernel = np.exp(-apart / NODE_REACH)
    wanted = recirculation * (0.5 + room.heights) * flow
    scale = np.ones(len(flow))
    for _ in range(ROUGH_SWEEPS):
        other = wanted / np.bincount(columns, kernel * scale[rows], len(flow))
        scale = wanted / np.bincount(rows, kernel * other[columns], len(flow))
    return rows, columns, scale[rows] * kernel * other[columns]


def _neighbours(room: Layout) -> tuple[Integers, Integers]:
    """Return the pairs of nodes that exchange air, in order; equal distances go to the lowest numbers."""
    nodes = len(room.heights)
    few, candidates = min(nodes, NEAREST), min(nodes, 4 * NEAREST)
    pairs = [np.arange(nodes) * (nodes + 1)]  # itself
    for start in range(0, nodes, CHUNK):
        apart = _distances(room.inlets[start : start + CHUNK], room.outlets).round(9)
        near = np.sort(np.argpartition(apart, candidates - 1, axis=1)[:, :candidates], axis=1)
        order = np.argsort(np.take_along_axis(apart, near, axis=1), axis=1, kind="stable")[:, :few]
        chosen = np.take_along_axis(near, order, axis=1)
        own = np.arange(start, start + len(chosen))[:, None]
        pairs += [(own * nodes + chosen).ravel(), (chosen * nodes + own).ravel()]
    rows, columns = np.divmod(np.unique(np.concatenate(pairs)), nodes)
    return rows, columns


def _distances(to: Floats, source: Floats) -> Floats:
    squares = np.zeros((len(to), len(source)))
    for axis in range(to.shape[1]):
        squares += (to[:, None, axis] - source[None, :, axis]) ** 2
    return np.sqrt(squares, out=squares)


def balanced(kernel: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale rows and columns of a positive matrix until they sum to what is asked; both have one total."""
    left = np.ones(len(rows))
    for _ in range(MOST_SWEEPS):
        right = columns / (left @ kernel)
        sums = kernel @ right
        if np.abs(left * sums / rows - 1).max() < BALANCED:
            break
        left = rows / sums
    return left[:, None] * kernel * right


def _joined(among: tuple[Integers, Integers, Floats], down: Floats, of_units: Floats, flows: Floats) -> SparseMatrix:
    """Put the blocks together, as shares of the inlet air of each row."""
    nodes, units = down.shape
    node, unit = np.arange(nodes), np.arange(units)
    rows = np.concatenate((among[0], np.repeat(node, units), np.repeat(nodes + unit, nodes + units)))
    columns = np.concatenate((among[1], np.tile(nodes + unit, nodes), np.tile(np.arange(nodes + units), units)))
    values = np.concatenate((among[2], down.ravel(), of_units.ravel())) / flows[rows]
    values = np.minimum(values, 1.0)  # all of a place's air, and not the rounding of doubles more
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    kept = values >= SMALLEST
    starts = np.zeros(nodes + units + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows[kept], minlength=nodes + units), out=starts[1:])
    return SparseMatrix(nodes + units, nodes + units, starts.tobytes(), columns[kept].tobytes(), values[kept].tobytes())
