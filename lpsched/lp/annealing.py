"""Items into bins with room, by simulated annealing: quick, good, and without a proof.

The state gives every item a bin, whether there is room or not. What is lowered is

    sum_i c_ij  +  weight  sum_j y_j max(0, load_j - R),

the cost of each item in its bin, and what is too much there, at the price y_j of a unit of room. A step moves an item
to one of the bins where it costs least, alone, or in exchange for an item from there, which goes to the first bin or to
a third one. Steps that make it worse by d are taken with probability exp(-d / temperature), while the temperature
falls. It ends when no bin holds too much, or after the last step.

Source: Kirkpatrick, Gelatt, Vecchi, Optimization by simulated annealing, 1983.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.jit import threaded
from lpsched.lp.assignment import NEVER, random, seeded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Real = NDArray[np.float64]

WEIGHT: Final = 3.0
HOTTEST: Final = 2.0  # times what the second best bin costs more than the best, in the median
COLDEST: Final = 0.03
NEAREST: Final = 10  # bins for each item
EVERY: Final = 1000  # steps at one temperature
TABLE: Final = 4096  # of exponentially distributed numbers


@threaded
def too_much(load: int, room: int) -> int:
    """Return what a bin holds too much."""
    return load - room if load > room else 0


# Plain loops in place of NumPy's functions are compiled faster.
@threaded
def largest(loads: Whole) -> int:
    """Return the largest load."""
    found = loads[0]
    for load in loads:
        found = max(found, load)
    return int(found)


@threaded
def anneal(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - one compiled loop
    sizes: Whole,
    costs: Real,
    near: Whole,
    weights: Real,
    bins: Whole,
    room: int,
    steps: int,
    hot: float,
    cold: float,
    seed: NDArray[np.uint64],
    best_bins: Whole,
    stop: NDArray[np.bool_],
) -> int:
    """Lower the largest load from the bins of all items; return it, with its bins in `best_bins`."""
    items, width = near.shape
    count = sizes.shape[1]
    loads, members, held = (
        np.zeros(count, dtype=np.int64),
        np.zeros((count, items), dtype=np.int64),
        np.zeros(count, dtype=np.int64),
    )
    place = np.zeros(items, dtype=np.int64)
    for i in range(items):
        j = bins[i]
        loads[j] += sizes[i, j]
        members[j, held[j]] = i
        place[i] = held[j]
        held[j] += 1
        best_bins[i] = j
    over, best = 0, largest(loads)
    for j in range(count):
        over += too_much(loads[j], room)
    waits = np.empty(TABLE)
    for k in range(TABLE):
        waits[k] = -math.log((k + 0.5) / TABLE)
    temperature, cooling = hot, (cold / hot) ** (EVERY / max(steps, EVERY))
    for step in range(steps):
        if over == 0 or stop[0]:
            break
        if step % EVERY == EVERY - 1:
            temperature *= cooling
        i = int(random(seed) * items)
        a, b = bins[i], near[i, int(random(seed) * width)]
        if a == b:
            continue
        allowed = temperature * waits[int(random(seed) * TABLE)]
        kind = int(random(seed) * 4.0)
        worse = costs[i, b] - costs[i, a]
        load_a, load_b = loads[a] - sizes[i, a], loads[b] + sizes[i, b]
        other, c, load_c = -1, a, 0
        if kind > 0:
            if held[b] == 0:
                continue
            other = members[b, int(random(seed) * held[b])]
            if kind > 1:
                c = near[other, int(random(seed) * width)]
            if c == b or sizes[other, c] >= NEVER:
                continue
            worse += costs[other, c] - costs[other, b]
            load_b -= sizes[other, b]
            if c == a:
                load_a += sizes[other, a]
            else:
                load_c = loads[c] + sizes[other, c]
        more_a = too_much(load_a, room) - too_much(loads[a], room)
        more_b = too_much(load_b, room) - too_much(loads[b], room)
        more_c = too_much(load_c, room) - too_much(loads[c], room) if c != a else 0
        if worse + weights[a] * more_a + weights[b] * more_b + weights[c] * more_c > allowed:
            continue
        over += more_a + more_b + more_c
        loads[a], loads[b] = load_a, load_b
        held[a] -= 1
        last = members[a, held[a]]
        members[a, place[i]], place[last] = last, place[i]
        bins[i] = b
        if other < 0:
            members[b, held[b]], place[i] = i, held[b]
            held[b] += 1
        else:
            if c != a:
                loads[c] = load_c
            members[b, place[other]], place[i] = i, place[other]
            members[c, held[c]], place[other] = other, held[c]
            held[c] += 1
            bins[other] = c
        if over == 0 or step % 64 == 0:
            longest = largest(loads)
            if longest < best:
                best = longest
                for k in range(items):
                    best_bins[k] = bins[k]
    return int(best)


@dataclass(frozen=True)
class Annealing:
    """Items and bins, by what an item takes in a bin (items x bins), and prices of a unit of room, for annealing."""

    sizes: Whole
    prices: Real

    def run(self, room: int, steps: int, seed: int, stop: NDArray[np.bool_]) -> tuple[int, Whole]:
        """Return the largest load that was reached, aiming at `room`, and the bins of all items."""
        can = self.sizes <= room
        paid = np.where(can, self.sizes * self.prices, np.inf)
        costs = np.where(can, paid - paid.min(axis=1, keepdims=True), float(NEVER))
        near = np.argsort(costs, axis=1, kind="stable")[:, :NEAREST]
        ordered = np.sort(costs, axis=1)
        typical = float(np.median(ordered[:, min(1, ordered.shape[1] - 1)])) or float(ordered[:, -1].min()) or 1.0
        bins = near[:, 0].copy()
        near = np.where(np.take_along_axis(can, near, axis=1), near, bins[:, np.newaxis])
        best, start = np.zeros(len(bins), dtype=np.int64), seeded(seed)
        longest = anneal(
            self.sizes,
            costs,
            np.ascontiguousarray(near),
            WEIGHT * self.prices,
            bins,
            room,
            steps,
            HOTTEST * typical,
            COLDEST * typical,
            start,
            best,
            stop,
        )
        return int(longest), best
