"""Knapsacks with whole numbers of each item, on a grid of cells: a proved bound, and fillings that fit.

    max  sum v_i a_i    subject to    sum s_i a_i <= capacity,    a_i whole,    0 <= a_i <= limits_i

The capacity is cut into equal cells. Sizes are rounded *down* to whole cells (0 is allowed) and values *up*
to whole units, so what is best on the grid is never less than the truth: `surely_most`. A unit is a power of
two so small that the best total, at most the best value of a cell times all cells, still is below 2^30: 32
bits hold it, and only the last few digits of a value are lost.

The table grows item by item: best[c] = max(best[c], best[c - s] + v), with the copies of an item in lots of
1, 2, 4, ... and the rest. Which lots were taken is kept, so that fillings can be traced back. A trace that
is too long for the true capacity starts the next one lower by as much; with `overfull` the first comes
along even so: it is what the bound counts.

An item that is no smaller and has no more value than one of which there is plenty is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.lp.program import Floats, Integers

TOTAL_BITS: Final = 30
FEW_ITEMS: Final = 12  # for which a kinder grid is sought
MORE_CELLS: Final = 1.25
GRIDS: Final = 500
APART: Final = 200  # of all cells: how far the next filling begins below the last
TRACES: Final = 12  # that may fail before a search for fillings ends
LARGE_STEPS: Final = 8  # traces, after which failed ones go down faster
LOT: Final = 6e-6  # seconds of work counted for each lot,
CELL: Final = 1.2e-9  # and for each of its cells
ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Grid:
    """How fine the grid is, how many fillings that fit are wanted, and whether the one that the bound counts is."""

    cells: int
    wanted: int = 1
    overfull: bool = False


@dataclass(frozen=True, slots=True)
class Fillings:
    """About the largest value of a filling, and good ones, best first, as counts of all items."""

    most: float
    counts: list[Integers]
    work: float = 0.0  # in counted seconds


def good_fillings(sizes: Floats, values: Floats, limits: Integers, capacity: float, grid: Grid) -> Fillings:
    """Return good fillings. Items too large for the capacity, or without value, are in none of them."""
    use = _useful(sizes.tolist(), values.tolist(), limits.tolist(), capacity)
    if not use:
        return Fillings(0.0, [])
    own_sizes = sizes[use]
    cells = _kind(own_sizes, capacity, grid.cells)
    table, exponent = _grown(own_sizes, values[use], limits[use], capacity, cells)
    found = []
    for filling in table.fillings(own_sizes, capacity, grid):
        counts = np.zeros(len(sizes), dtype=np.int64)
        counts[use] = filling
        found.append(counts)
    work = len(table.steps) * (LOT + CELL * cells)
    return Fillings(math.ldexp(int(table.best[cells]), -exponent), found, work)


def surely_most(sizes: Floats, values: Floats, limits: Integers, capacity: float, cells: int) -> Fraction:
    """Return an upper bound of the value of all fillings; `values` are doubles that the true ones do not exceed.

    Doubles suffice for the rest as well: sizes are rounded down, and values and limits up by more than the rounding of
    a product or a quotient.
    """
    use = _useful(sizes.tolist(), values.tolist(), limits.tolist(), capacity)
    if not use:
        return Fraction(0)
    cells = _kind(sizes[use], capacity, cells)
    table, exponent = _grown(sizes[use], values[use], limits[use], capacity, cells, keep=False)
    return int(table.best[cells]) / Fraction(2) ** exponent


def _grown(  # noqa: PLR0913 - a knapsack and its grid
    sizes: Floats, values: Floats, limits: Integers, capacity: float, cells: int, *, keep: bool = True
) -> tuple[_Table, int]:
    """Return the table of a knapsack in doubles, on the safe side, and the exponent of its unit."""
    most = np.minimum(limits, np.floor(capacity / sizes + 1e-9)).astype(np.int64)
    # Sizes in whole cells: exactly, also where doubles cannot decide, as for whole seconds.
    amounts = sizes * (cells / capacity)
    nearest = np.rint(amounts).astype(np.int64)
    small = np.floor(amounts).astype(np.int64)
    for k in np.flatnonzero(np.abs(amounts - nearest) <= ROUNDING * np.maximum(amounts, 1.0)).tolist():
        fits = Fraction(sizes[k]) * cells >= int(nearest[k]) * Fraction(capacity)
        small[k] = nearest[k] if fits else nearest[k] - 1
    # With a unit of 2^-exponent no total reaches 2^30, rounding up of values included.
    dense = float((values / np.maximum(small, 1)).max()) * cells
    total = dense + float((values * most)[small == 0].sum())
    copies = cells + int(most[small == 0].sum())
    assert copies < 1 << (TOTAL_BITS - 1), "rounding up adds one unit for each copy"
    exponent = TOTAL_BITS - 1 - math.frexp(total)[1]
    whole = np.floor(np.ldexp(values, exponent)).astype(np.int64) + 1
    return _Table(small, whole, most, cells, keep=keep), exponent


class _Table:
    """The best value for each number of cells, and which lots were taken to get there."""

    def __init__(self, sizes: Integers, values: Integers, limits: Integers, cells: int, *, keep: bool = True) -> None:
        self.cells, self.width = cells, len(sizes)
        self.best = np.zeros(cells + 1, dtype=np.int32)
        self.steps: list[tuple[int, int, int, NDArray[np.bool_]]] = []
        room = np.empty(cells + 1, dtype=np.int32)
        for item in np.argsort(-sizes, kind="stable"):
            left, power = int(limits[item]), 1
            while left > 0:
                lot = min(power, left)
                left, power = left - lot, 2 * power
                size, value = lot * int(sizes[item]), lot * int(values[item])
                if size > cells:
                    break
                grown, rest = room[: cells + 1 - size], self.best[size:]
                np.add(self.best[: cells + 1 - size], np.int32(value), out=grown)
                if keep:
                    self.steps.append((int(item), lot, size, grown > rest))
                np.maximum(rest, grown, out=rest)

    def fillings(self, sizes: Floats, capacity: float, grid: Grid) -> list[Integers]:
        """Return different fillings whose true sizes fit, from the fullest cell down."""
        found: list[Integers] = []
        cell, wanted = self.cells, grid.wanted
        for trace in range(TRACES + 2 * wanted):
            if cell <= 0 or len(found) >= wanted:
                break
            counts, at = np.zeros(self.width, dtype=np.int64), cell
            for item, lot, size, taken in reversed(self.steps):
                if at >= size and taken[at - size]:
                    counts[item] += lot
                    at -= size
            over = float(counts @ sizes) - capacity
            if over > 0:
                if grid.overfull and trace == 0:
                    found.append(counts)
                    wanted += 1
                step = math.ceil(over * self.cells / capacity) if trace < LARGE_STEPS else cell // 100
                cell -= max(1, step)
                continue
            if not any(np.array_equal(counts, each) for each in found):
                found.append(counts)
            cell = int(np.searchsorted(self.best[: cell + 1], self.best[cell], side="left")) - 1
            cell -= self.cells // APART if wanted > 1 else 0
        return found


def _useful(sizes: list[float], values: list[float], limits: list[int], capacity: float) -> list[int]:
    """Return the items that fit, have a value, and that no other can replace."""
    use = [k for k, size in enumerate(sizes) if size <= capacity and values[k] > 0 and limits[k] > 0]
    kept: list[int] = []
    highest = 0.0
    for k in sorted(use, key=lambda k: (sizes[k], -values[k])):
        if values[k] > highest:
            kept.append(k)
            if limits[k] * sizes[k] >= capacity:
                highest = values[k]
    return kept


def _kind(sizes: Floats, capacity: float, cells: int) -> int:
    """Return a number of cells, up to a quarter more, at which rounding down takes the least of any size."""
    if len(sizes) > FEW_ITEMS:
        return cells
    counts = _grids(cells)
    scaled = sizes[:, np.newaxis] * (counts / capacity)
    return int(counts[np.argmin((1 - np.floor(scaled) / scaled).max(axis=0))])


@cache
def _grids(cells: int) -> Integers:
    """Return the numbers of cells to choose from."""
    return np.unique(np.linspace(cells, MORE_CELLS * cells, GRIDS).astype(np.int64))
