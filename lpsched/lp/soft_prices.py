"""Soft prices: good multipliers of a program with many blocks and few rows between them, in a few passes.

Every block i of a large program takes one of its columns (or a mixture); prices w >= 0 on the rows between
the blocks make the choices separate. What any w proves is

    g(w) = sum_i min_c (cost_c + a_c w)  -  f w          where  h w = budget,

and the best w is where g is largest. The min has corners; replaced by a soft one,

    -tau_i log sum_c exp(-(cost_c + a_c w) / tau_i),     tau_i = temperature times the size of block i,

g is smooth: its gradient is what the softly chosen columns use, its curvature a small matrix. Newton's method
with a barrier for w >= 0 then climbs in a few steps, each one pass over all columns, and the temperature falls
between climbs. With a `target` the budget is not given but found: the least at which g reaches the target.
Where the slope of g in the budget is t, Dinkelbach's rule takes (target - g) / t more of it.

Nothing here is exact, and nothing has to be: any w proves a bound, and the columns that are nearly cheapest at
these are where an exact method should begin. Neither words nor arrays of any application are known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.lp.program import Floats
    from lpsched.watch import Watch

TEMPERATURES: Final = (1e-2, 3e-3)
FIRST_TEMPERATURES: Final = (1e-1, 2e-2, 5e-3)  # of a sample, which finds the neighbourhood
SAMPLE: Final = 2_000  # blocks
SETTLED: Final = 0.03  # of the temperature: what another step may still bring
MOST_STEPS: Final = 40
NEARLY: Final = 0.95  # of the way to a price of 0
SHORTEST: Final = 1e-3
SLOWER: Final = 0.4
RISE: Final = 1e-4  # of what the slope promises, at least
REGULAR: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Soft:
    """The smooth function at one point: its value, slope and curvature."""

    value: float
    slope: Floats  # what the chosen columns use of each row, less f
    curvature: Floats  # minus the second derivatives: positive semidefinite


class Blocks(Protocol):
    """All blocks of a program, wherever their arrays live."""

    @property
    def size(self) -> int:
        """How many blocks there are."""

    @property
    def supply(self) -> Floats:
        """The vector h."""

    def sizes(self, prices: Floats) -> Any:  # noqa: ANN401 - an array of the blocks' own kind
        """Return how large the terms of each block's cheapest column are."""

    def soften(self, prices: Floats, temperatures: Any) -> Soft:  # noqa: ANN401 - as above
        """Return the smooth function, with one temperature for each block."""

    def sample(self, number: int) -> Blocks:
        """Return about so many blocks that stand for all."""


@dataclass(frozen=True, slots=True)
class SoftPrices:
    """Where the climb ended."""

    prices: Floats
    budget: float
    steps: int


def climb(
    blocks: Blocks, *, budget: float, target: float | None = None, watch: Watch, start: Floats | None = None
) -> SoftPrices:
    """Return soft prices: first of a sample of the blocks, then of all."""
    first = SoftPrices(start if start is not None else _even(blocks, budget), budget, 0)
    if blocks.size > 2 * SAMPLE:
        first = _climbed(blocks.sample(SAMPLE), first, FIRST_TEMPERATURES, target, watch)
        return _climbed(blocks, first, TEMPERATURES, target, watch)
    return _climbed(blocks, first, FIRST_TEMPERATURES + TEMPERATURES[1:], target, watch)


def _even(blocks: Blocks, budget: float) -> Floats:
    weights = np.where(blocks.supply > 0, 1.0, 1e-3)
    even: Floats = weights * (budget / float(blocks.supply @ weights))
    return even


def _climbed(
    blocks: Blocks, first: SoftPrices, temperatures: Sequence[float], target: float | None, watch: Watch
) -> SoftPrices:
    prices, budget, steps = first.prices, first.budget, first.steps
    for temperature in temperatures:
        local = temperature * blocks.sizes(prices)
        here = blocks.soften(prices, local)
        for _ in range(MOST_STEPS):
            if watch.is_over():
                return SoftPrices(prices, budget, steps)
            steps += 1
            barrier = (
                temperature * max(abs(here.value), budget * float(np.abs(here.slope).max())) / len(prices)
            )
            step, slope_t, promise = _newton(here, prices, blocks.supply, barrier)
            off = 0.0 if target is None else abs(target - here.value) / max(abs(target), abs(here.value))
            if promise <= SETTLED * temperature * abs(here.value) and off <= temperature:
                break
            prices, here = _line_search(blocks, local, prices, step, here, barrier, promise)
            if target is not None and slope_t > 0:
                wanted = budget + (target - here.value) / slope_t
                wanted = min(max(wanted, budget / 4.0), budget * 4.0)
                prices, budget = prices * (wanted / budget), wanted
                here = blocks.soften(prices, local)
            watch.tell("soft prices")
    return SoftPrices(prices, budget, steps)


def _newton(here: Soft, prices: Floats, supply: Floats, barrier: float) -> tuple[Floats, float, float]:
    """Return the step along h w = budget, the slope of g in the budget, and what the step promises."""
    slope = here.slope + barrier / prices
    matrix = here.curvature.copy()
    diagonal = np.arange(len(prices))
    matrix[diagonal, diagonal] += barrier / prices**2
    scale = 1.0 / np.sqrt(matrix[diagonal, diagonal])
    matrix *= scale[:, np.newaxis] * scale
    matrix[diagonal, diagonal] += REGULAR
    both = np.stack((slope, supply), axis=1) * scale[:, np.newaxis]
    climbs, pays = (np.linalg.solve(matrix, both) * scale[:, np.newaxis]).T
    slope_t = float(supply @ climbs) / float(supply @ pays)
    step: Floats = climbs - slope_t * pays
    return step, slope_t, float(slope @ step)


def _line_search(  # noqa: PLR0913, PLR0917 - one step of one climb
    blocks: Blocks,
    local: Any,  # noqa: ANN401 - an array of the blocks' own kind
    prices: Floats,
    step: Floats,
    here: Soft,
    barrier: float,
    promise: float,
) -> tuple[Floats, Soft]:
    """Return the point along the step at which the smooth function, barrier included, has risen enough."""
    falls = step < 0
    length = min(1.0, NEARLY * float((prices[falls] / -step[falls]).min(initial=np.inf)))
    height = here.value + barrier * float(np.log(prices).sum())
    while True:
        there = prices + length * step
        found = blocks.soften(there, local)
        risen = found.value + barrier * float(np.log(there).sum()) - height
        if risen >= RISE * length * promise or length < SHORTEST:
            return there, found
        length *= SLOWER
