"""Smooth convex functions of variables that are not negative: downhill by a quasi-Newton method.

    min  f(x)    subject to    x >= 0,        f convex and differentiable, x of some thousands of numbers

A variable at 0 whose slope is not negative stays there; the others move along - H g, where H is what the last
steps and the changes of slope along them tell about the inverse of the second derivatives (L-BFGS). Whoever
would become negative stops at 0, and the step is shortened until f has fallen by a part of what the slope
promised. Every point on the way is allowed, so it can end at any time.

Why not Newton's method, as in `soft_prices.py`? There, prices are few and share one budget. Here they are
thousands: one for every machine type and slot of time, and their matrix would take longer than the passes.

Source: Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982; Nocedal,
Updating quasi-Newton matrices with limited storage, 1980.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.cancellation import Watch
    from lpsched.lp.program import Floats

MEMORY: Final = 20  # steps that H is made of
FALL: Final = 1e-4  # of what the slope promises, at least
SHORTEST: Final = 1e-6
SLOWER: Final = 0.4
STRAIGHT: Final = 1e-12  # curvature along a step, relative to its length: less tells nothing
LOOK_BACK: Final = 5  # steps over which f must still fall


@dataclass(slots=True)
class Memory:
    """The last steps, and the changes of slope along them."""

    pairs: deque[tuple[Floats, Floats]] = field(default_factory=lambda: deque(maxlen=MEMORY))

    def learn(self, step: Floats, change: Floats) -> None:
        """Remember a step, unless f was straight along it."""
        if float(step @ change) > STRAIGHT * float(step @ step):
            self.pairs.append((step, change))

    def downhill(self, slope: Floats, free: Floats) -> Floats:
        """Return - H g within the free variables; `free` is 1 for those and 0 for the others."""
        ahead = -slope * free
        weights = []
        for step, change in reversed(self.pairs):
            weight = float(step @ ahead) / float(step @ change)
            ahead = ahead - weight * change * free
            weights.append(weight)
        if self.pairs:
            step, change = self.pairs[-1]
            ahead *= float(step @ change) / float(change @ change)
        for (step, change), weight in zip(self.pairs, reversed(weights), strict=True):
            ahead = ahead + (weight - float(change @ ahead) / float(step @ change)) * step * free
        return ahead


def descend(
    smooth: Callable[[Floats], tuple[float, Floats]], start: Floats, *, steps: int, settled: float, watch: Watch
) -> Floats:
    """Return the lowest point found; it ends when f has fallen by less than `settled`, relative, of late.

    The nearest point to (3, -1) that is not negative:

    >>> from lpsched.cancellation import Watch
    >>> away = lambda x: (float(((x - [3.0, -1.0]) ** 2).sum()), 2.0 * (x - [3.0, -1.0]))
    >>> descend(away, np.array([1.0, 1.0]), steps=20, settled=1e-9, watch=Watch()).round(6).tolist()
    [3.0, 0.0]
    """
    here, memory = start, Memory()
    value, slope = smooth(here)
    heights = deque([value], maxlen=LOOK_BACK + 1)
    for _ in range(steps):
        if watch.is_over():
            break
        found = _step(smooth, here, value, slope, memory)
        if found is None:
            if not memory.pairs:
                break
            memory.pairs.clear()
            continue
        there, value, changed = found
        memory.learn(there - here, changed - slope)
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
    ahead = memory.downhill(slope, free)
    if not memory.pairs:  # nothing is known of the curvature: as far as the largest variable, at most
        steepest = float(np.abs(ahead).max(initial=0.0))
        if steepest == 0.0:
            return None
        ahead *= max(float(here.max()), 1.0) / steepest
    length = 1.0
    while length >= SHORTEST:
        there = np.maximum(here + length * ahead, 0.0)
        found, changed = smooth(there)
        if found <= value + FALL * min(0.0, float(slope @ (there - here))) and found < value:
            return there, found, changed
        length *= SLOWER
    return None
