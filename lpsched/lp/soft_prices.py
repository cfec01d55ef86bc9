"""Soft prices: good multipliers of a program with many blocks and few rows between them, in a few passes.

Every block i of a large program takes one of its columns (or a mixture); prices w >= 0 on the rows between
the blocks separate them. What any w proves is

    g(w) = sum_i min_c (cost_c + a_c w)  -  f w          where  h w = budget,

and the best w is where g is largest. The min is not smooth; replaced by a soft one,

    -tau_i log sum_c exp(-(cost_c + a_c w) / tau_i),     tau_i = temperature times the size of block i,

g is smooth: its gradient is what the softly chosen columns use, its curvature a small matrix. Newton's
method with a barrier for w >= 0 then climbs in a few steps, each one pass over all columns, and the
temperature falls between climbs. With a `target` the budget is not given but found: the least at which g
reaches the target. Where the slope of g in the budget is t, Dinkelbach's rule takes (target - g) / t more.

Nothing here is exact, and nothing has to be: any w proves a bound, and the columns that are nearly cheapest
at these are where an exact method should begin. Nothing here depends on an application.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Floats

SAMPLE: Final = 10  # blocks for each price
MOST_STEPS: Final = 40
NEARLY: Final = 0.95  # of the way to a price of 0
SHORTEST: Final = 1e-3
SLOWER: Final = 0.4
RISE: Final = 1e-4  # of what the slope promises, at least
NOISE: Final = 1e-8  # of the value: a rise that single precision may hide; then what is used must fall
REGULAR: Final = 1e-6  # of the diagonal: the passes may be in single precision
DAMPED: Final = 10.0  # times as much damping after a step that was too long, and as much less after one that was not
LEAST_DAMPING: Final = 1.0  # of the barrier


@dataclass(frozen=True, slots=True)
class Cooling:
    """How far to go: the temperatures, and what a step may still promise at the end of each, as its share.

    At a low temperature and well settled, the soft shares themselves are nearly feasible.
    """

    temperatures: tuple[float, ...]
    settled: float
    balanced: float = 0.0  # or by how much more of a row may be used than the budget buys, as such a share


SKETCH: Final = Cooling((1e-1, 2e-2, 5e-3), 0.03)  # of a sample: finds the neighbourhood
NEAR: Final = Cooling((1e-2, 3e-3), 0.03)  # enough for columns to finish
CLOSE: Final = Cooling((1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 5e-5), 1e-7, 0.3)  # an answer of its own


@dataclass(frozen=True, slots=True)
class Soft:
    """The smooth function at one point: its value, slope and curvature."""

    value: float
    slope: Floats  # what the chosen columns use of each row, less f
    curvature: Any  # minus the second derivatives: positive semidefinite; an array of the blocks' own kind


class Blocks(Protocol):
    """All blocks of a program, wherever their arrays live."""

    @property
    def xp(self) -> Any:  # noqa: ANN401 - numpy or cupy
        """The module of their arrays."""

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
        """Return about `number` blocks that represent all."""


@dataclass(frozen=True, slots=True)
class SoftPrices:
    """Where the climb ended."""

    prices: Floats
    budget: float
    steps: int


def climb(
    blocks: Blocks, cooling: Cooling, *, budget: float, target: float | None = None, cancel: CancelToken
) -> SoftPrices:
    """Return soft prices: first of a sample of the blocks, then of all."""
    enough = SAMPLE * len(blocks.supply)
    sample = blocks.sample(enough) if blocks.size > 2 * enough else blocks
    weights = np.where(blocks.supply > 0, 1.0, 1e-3)
    even = SoftPrices(weights * (budget / float(blocks.supply @ weights)), budget, 0)
    return _climbed(blocks, _climbed(sample, even, SKETCH, target, cancel), cooling, target, cancel)


def _climbed(
    blocks: Blocks, first: SoftPrices, cooling: Cooling, target: float | None, cancel: CancelToken
) -> SoftPrices:
    prices, budget, steps, damping = first.prices, first.budget, first.steps, 0.0
    for temperature in cooling.temperatures:
        local = temperature * blocks.sizes(prices)
        here = blocks.soften(prices, local)
        for _ in range(MOST_STEPS):
            if cancel.expired():
                return SoftPrices(prices, budget, steps)
            steps += 1
            barrier = temperature * max(abs(here.value), budget * float(np.abs(here.slope).max())) / len(prices)
            step, slope_t, promise = _newton(here, prices, blocks.supply, (barrier, damping), blocks.xp)
            excess = float((here.slope / blocks.supply).max()) / slope_t - 1.0
            off = 0.0 if target is None else abs(target - here.value) / max(abs(target), abs(here.value))
            is_settled = (
                promise <= cooling.settled * temperature * abs(here.value) or excess <= cooling.balanced * temperature
            )
            if is_settled and off <= temperature:
                break
            prices, here, is_long = _line_search(blocks, local, prices, step, here, barrier, promise)
            if is_long:
                damping = max(LEAST_DAMPING, damping * DAMPED)
            elif damping > 0.0:
                damping = damping / DAMPED if damping > LEAST_DAMPING / DAMPED else 0.0
            if target is not None and slope_t > 0:
                wanted = budget + (target - here.value) / slope_t
                wanted = min(max(wanted, budget / 4.0), budget * 4.0)
                prices, budget = prices * (wanted / budget), wanted
                here = blocks.soften(prices, local)
            cancel.report("soft prices")
    return SoftPrices(prices, budget, steps)


def _newton(
    here: Soft,
    prices: Floats,
    supply: Floats,
    barrier_and_damping: tuple[float, float],
    xp: Any,  # noqa: ANN401 - numpy or cupy
) -> tuple[Floats, float, float]:
    """Return the step along h w = budget, the slope of g in the budget, and what the step promises.

    The colder it is, the fewer blocks are undecided between columns, and in some directions the curvature is nearly 0
    where it is not a little further on; damping (Levenberg's) shortens the step in those more than in others.
    """
    barrier, damping = barrier_and_damping
    slope = here.slope + barrier / prices
    matrix = here.curvature.copy()
    diagonal = xp.arange(len(prices))
    matrix[diagonal, diagonal] = xp.maximum(matrix[diagonal, diagonal], 0.0) + xp.asarray(
        barrier * (1.0 + damping) / prices**2
    )
    scale = 1.0 / xp.sqrt(matrix[diagonal, diagonal])
    matrix *= scale[:, np.newaxis] * scale
    matrix[diagonal, diagonal] += REGULAR
    both = xp.asarray(np.stack((slope, supply), axis=1)) * scale[:, np.newaxis]
    solved = _solved(matrix, both, xp) * scale[:, np.newaxis]
    climbs, pays = (solved if xp is np else xp.asnumpy(solved)).T
    slope_t = float(supply @ climbs) / float(supply @ pays)
    step: Floats = climbs - slope_t * pays
    return step, slope_t, float(slope @ step)


def _solved(matrix: Any, sides: Any, xp: Any) -> Any:  # noqa: ANN401 - arrays of either module
    if xp is np:
        return np.linalg.solve(matrix, sides)
    from cupyx import lapack  # noqa: PLC0415

    try:
        return lapack.posv(matrix, sides)  # by Cholesky: twice as fast on a GPU
    except np.linalg.LinAlgError:  # rounding left it indefinite
        return xp.linalg.solve(matrix, sides)


def _line_search(  # noqa: PLR0913, PLR0917 - one step of one climb
    blocks: Blocks,
    local: Any,  # noqa: ANN401 - an array of the blocks' own kind
    prices: Floats,
    step: Floats,
    here: Soft,
    barrier: float,
    promise: float,
) -> tuple[Floats, Soft, bool]:
    """Return a point along the step at which the smooth function, barrier included, has risen enough.

    If there is none, that is where it was; and whether the step was too long for the first point.
    """

    def peak(soft: Soft) -> float:
        return float((soft.slope / blocks.supply).max())

    falls = step < 0
    length = min(1.0, NEARLY * float((prices[falls] / -step[falls]).min(initial=np.inf)))
    height = here.value + barrier * float(np.log(prices).sum())
    is_long = False
    while length >= SHORTEST or not is_long:
        there = prices + length * step
        found = blocks.soften(there, local)
        risen = found.value + barrier * float(np.log(there).sum()) - height
        hidden = length * promise <= NOISE * abs(here.value)
        if risen >= RISE * length * promise or (hidden and peak(found) <= peak(here)):
            return there, found, is_long
        length *= SLOWER
        is_long = True
    return prices, here, True


# Smooth convex functions of variables that are not negative: downhill by a quasi-Newton method.
#
#     min  f(x)    subject to    x >= 0,        f convex and differentiable, x of some thousands of numbers
#
# A variable at 0 whose slope is not negative stays there; the others move along - H g, where H estimates the inverse of
# the second derivatives from the last steps and the changes of slope along them (L-BFGS). A variable that would become
# negative stops at 0, and the step is shortened until f has fallen by a part of what the slope promised. Every point on
# the way is feasible, so it can end at any time. Newton's method, as above, is for few prices with one budget: here
# they are thousands, one for every machine type and slot of time, and their matrix would take longer than the passes.
#
# Source: Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982; Nocedal,
# Updating quasi-Newton matrices with limited storage, 1980.
MEMORY: Final = 20  # steps that H is made of
FALL: Final = 1e-4  # of what the slope promises, at least
LEAST_LENGTH: Final = 1e-6
STRAIGHT: Final = 1e-12  # curvature along a step, relative to its length: less carries no information
LOOK_BACK: Final = 5  # steps over which f must still fall


Memory: TypeAlias = "deque[tuple[Floats, Floats]]"  # the last steps, and the changes of slope along them


def _downhill(memory: Memory, slope: Floats, free: Floats) -> Floats:
    """Return - H g within the free variables; `free` is 1 for those and 0 for the others."""
    ahead = -slope * free
    weights = []
    for step, change in reversed(memory):
        weight = float(step @ ahead) / float(step @ change)
        ahead = ahead - weight * change * free
        weights.append(weight)
    if memory:
        step, change = memory[-1]
        ahead *= float(step @ change) / float(change @ change)
    for (step, change), weight in zip(memory, reversed(weights), strict=True):
        ahead = ahead + (weight - float(change @ ahead) / float(step @ change)) * step * free
    return ahead


def descend(
    smooth: Callable[[Floats], tuple[float, Floats]], start: Floats, *, steps: int, settled: float, cancel: CancelToken
) -> Floats:
    """Return the lowest point found; it ends when f has fallen by less than `settled`, relative, of late."""
    memory: Memory = deque(maxlen=MEMORY)
    here, (value, slope) = start, smooth(start)
    heights = deque([value], maxlen=LOOK_BACK + 1)
    for _ in range(steps):
        if cancel.expired():
            break
        found = _step(smooth, here, value, slope, memory)
        if found is None:
            if not memory:
                break
            memory.clear()
            continue
        there, value, changed = found
        step, change = there - here, changed - slope
        if float(step @ change) > STRAIGHT * float(step @ step):
            memory.append((step, change))
        here, slope = there, changed
        heights.append(value)
        if len(heights) > LOOK_BACK and heights[0] - value <= settled * abs(value):
            break
    return here


def _step(
    smooth: Callable[[Floats], tuple[float, Floats]], here: Floats, value: float, slope: Floats, memory: Memory
) -> tuple[Floats, float, Floats] | None:
    """Return the next point with its value and slope, or `None` if none along the way is lower."""
    free = np.where((here > 0.0) | (slope < 0.0), 1.0, 0.0)
    ahead = _downhill(memory, slope, free)
    if not memory:  # nothing is known of the curvature: as far as the largest variable, at most
        steepest = float(np.abs(ahead).max(initial=0.0))
        if steepest == 0.0:
            return None
        ahead *= max(float(here.max()), 1.0) / steepest
    length = 1.0
    while length >= LEAST_LENGTH:
        there = np.maximum(here + length * ahead, 0.0)
        found, changed = smooth(there)
        if found <= value + FALL * min(0.0, float(slope @ (there - here))) and found < value:
            return there, found, changed
        length *= SLOWER
    return None
