"""Seconds or watts by task type, cluster, P-state and number of nodes: a curve in each cell.

A cell tells values for some numbers of nodes, rising. Between two of them the value is on the straight line
(the double nearest to it); outside them nobody knows, and nothing is guessed. A pair without a cell cannot
run.

Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an Oversubscribed Energy-
Constrained Heterogeneous Environment" (2016), section II.B and figure 2.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TypeAlias

Points: TypeAlias = tuple[tuple[int, float], ...]  # (nodes, value), by rising nodes


@dataclass(frozen=True, slots=True)
class NodeCurves:
    """Cells by task type i and column (cluster and P-state); `None` where a pair cannot run.

    >>> curves = NodeCurves((((((1, 100.0), (2, 70.0), (4, 50.0))), None),))
    >>> curves.at(0, 0, 3), curves.at(0, 0, 5), curves.at(0, 1, 1)
    (60.0, None, None)
    """

    cells: tuple[tuple[Points | None, ...], ...]

    def at(self, i: int, column: int, nodes: int) -> float | None:
        """Return the value for a number of nodes; `None` where it is not known."""
        points = self.cells[i][column]
        if points is None or not points[0][0] <= nodes <= points[-1][0]:
            return None
        place = bisect_left(points, nodes, key=lambda point: point[0])
        right, high = points[place]
        if right == nodes:
            return high
        left, low = points[place - 1]
        return _between(low, right - nodes, high, nodes - left)

    def said(self) -> list[list[list[list[float]] | None]]:
        """Return the cells as lists, for a hash: 8 and 8.0 are one, as are 0.0 and -0.0."""
        return [
            [None if cell is None else [[n, value + 0.0] for n, value in cell] for cell in row]
            for row in self.cells
        ]


def _between(low: float, low_weight: int, high: float, high_weight: int) -> float:
    """Return the weighted mean of two numbers: exact in whole numbers, whose quotient Python rounds once."""
    low_top, low_bottom = low.as_integer_ratio()
    high_top, high_bottom = high.as_integer_ratio()
    top = low_top * high_bottom * low_weight + high_top * low_bottom * high_weight
    return top / (low_bottom * high_bottom * (low_weight + high_weight))
