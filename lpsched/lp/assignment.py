"""Items into bins: prices that prove that they do not fit, and fillings found with the same prices.

Every item i goes into one bin j, takes s_ij of its room there, and no bin holds more than its room R_j:

    sum_j x_ij = 1,      sum_i s_ij x_ij <= R_j,      x_ij = 0 or 1.

Give each item any price v_i >= 0, and let phi_j be the most that one bin can hold at these prices, whatever the
other bins hold: a knapsack (`lp/one_bin.py`). Every item is in one bin, so if they all fit, sum_i v_i <= sum_j phi_j.
Where

    L(v) = sum_i v_i - sum_j phi_j(v) > 0

they do not fit: a proof. L is concave, and its slope in v_i is one less the number of bins that took the item, so
`ascend` raises the prices of items that no bin took and lowers those of items taken twice (a deflected subgradient
method, with steps by Polyak's rule). The mean of what the bins took along the way is close to a solution in shares:
`dive` gives the surest items to their bins, prices the rest again, and goes on; where L > 0 of the rest, it goes back.

All sizes and prices are whole numbers, all sums and comparisons exact: prices with L > 0 are a proof, not an estimate.

Source: Camerini, Fratta, Maffioli, On improving relaxation methods by modified gradient techniques, 1975.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.jit import threaded
from lpsched.lp.one_bin import PRICE_BITS, fill, sort, workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Real = NDArray[np.float64]

NEVER: Final = 1 << 40  # the size of an item in a bin that cannot hold it
MOST_DEPTH: Final = 400  # rounds of a dive
MOST_FORBIDDEN: Final = 4096  # pairs
LITTLE: Final = 1e-12
SOME: Final = 0.05  # the share from which noise matters
SURE: Final = 0.9  # the share from which an item is given to its bin
FADE: Final = 0.08  # the weight of the last iteration in the mean, at least
PATIENCE: Final = 10  # iterations without a gain, after which steps are shorter
SHORTER: Final = 0.6
SHORTEST: Final = 1e-3
DEFLECTED: Final = 1.5
BACK: Final = 8  # dead ends, after which a dive goes back one round more


@threaded
def ascend(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - one compiled loop
    sizes: Whole,
    rooms: Whole,
    prices: Real,
    is_open: NDArray[np.bool_],
    iterations: int,
    starts: Whole,
    mean: Real,
    whole: Whole,
    stop: NDArray[np.bool_],
    own: Whole,
    states: NDArray[np.int64],
    nodes: Whole,
) -> tuple[int, int]:
    """Raise L for the open items; return the best L and the steps taken.

    `prices` are then those of the best L, `whole` the same in whole numbers, `mean` what the bins took of each item.
    """
    bins, items = sizes.shape
    total, free = 0.0, 0
    for i in range(items):
        if is_open[i]:
            free += 1
            total += prices[i]
        else:
            prices[i] = 0.0
    if not total > 0.0:
        for i in range(items):
            if is_open[i]:
                prices[i] = 1.0
        total = float(free)
    scale = float(1 << PRICE_BITS) / total
    best_prices, rounded = prices.copy(), np.zeros(items, dtype=np.int64)
    slope, ahead, taken = np.zeros(items), np.zeros(items), np.zeros(items, dtype=np.bool_)
    best, steps, vain, length = -(1 << 62), 0, 0, 1.0
    for j in range(bins):
        for i in range(items):
            mean[j, i] = 0.0
    for turn in range(iterations):
        asked = 0
        for i in range(items):
            rounded[i] = int(prices[i] * scale + 0.5)
            asked += rounded[i]
            slope[i] = 1.0 if is_open[i] else 0.0
        here, weight = asked, max(FADE, 1.0 / (turn + 1.0))
        for j in range(bins):
            most, used = fill(sizes[j], rounded, rooms[j], starts[j], taken, own, states, nodes)
            here -= most
            steps += used
            for i in range(items):
                mean[j, i] *= 1.0 - weight
                if taken[i]:
                    slope[i] -= 1.0
                    mean[j, i] += weight
        if here > best:
            vain = 0 if here > best + (asked >> 17) else vain
            best = here
            for i in range(items):
                best_prices[i], whole[i] = prices[i], rounded[i]
        else:
            vain += 1
        if here > 0 or stop[0]:
            break
        level = 0.0
        for i in range(items):
            level += slope[i] / free
        across, norm = 0.0, 0.0
        for i in range(items):
            if is_open[i]:
                slope[i] -= level  # the sum of all prices stays
            across += slope[i] * ahead[i]
            norm += ahead[i] * ahead[i]
        deflection = -DEFLECTED * across / norm if across < 0.0 < norm else 0.0
        norm = 0.0
        for i in range(items):
            ahead[i] = slope[i] + deflection * ahead[i]
            norm += ahead[i] * ahead[i]
        if norm < LITTLE:  # every item is in one bin
            break
        wanted = max(0.02 * abs(float(best)), 1e-4 * float(asked))
        step = length * (wanted - float(here)) / (scale * norm)
        left = 0.0
        for i in range(items):
            if is_open[i]:
                prices[i] = max(prices[i] + step * ahead[i], 0.0)
                left += prices[i]
        if not left > 0.0:
            break
        for i in range(items):
            prices[i] *= total / left
        if vain >= PATIENCE:
            length *= SHORTER
            vain = 0
            for i in range(items):
                prices[i], ahead[i] = best_prices[i], 0.0
            if length < SHORTEST:
                break
    for i in range(items):
        prices[i] = best_prices[i]
    return best, steps


class Outcome(IntEnum):
    """How a dive ended."""

    OPEN = 0  # nothing found, nothing proved
    IMPOSSIBLE = 1  # the items do not fit
    FOUND = 2


@threaded
def random(seed: NDArray[np.uint64]) -> float:
    """Return a number from 0 to 1 (xorshift64*)."""
    x = seed[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    seed[0] = x
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) * 2.0**-53


def seeded(seed: int) -> NDArray[np.uint64]:
    """Return where `random` begins."""
    return np.array([(seed * 2654435761 + 88172645463325252) % (1 << 64) or 1], dtype=np.uint64)


@threaded
def dive(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - one compiled loop
    given: Whole,
    rooms: Whole,
    prices: Real,
    starts: Whole,
    first: int,
    later: int,
    share: float,
    noise: float,
    seed: NDArray[np.uint64],
    most_steps: int,
    chosen: Whole,
    whole: Whole,
    stop: NDArray[np.bool_],
    own: Whole,
    states: NDArray[np.int64],
    nodes: Whole,
) -> tuple[int, int]:
    """Look for a filling; return the outcome and the steps taken.

    The bin of each item is set in `chosen`: of all items if found, else of those in the deepest round (-1: none).
    `prices` are then those of the first ascent, with `whole` the proof where there is one.
    """
    bins, items = given.shape
    sizes, room, is_open = given.copy(), rooms.copy(), np.ones(items, dtype=np.bool_)
    mean, bin_of, now = np.zeros((bins, items)), np.full(items, -1, dtype=np.int64), prices.copy()
    score, place, rounded = np.zeros(items), np.zeros(items, dtype=np.int64), np.zeros(items, dtype=np.int64)
    kept_bins = np.zeros((MOST_DEPTH, items), dtype=np.int64)
    kept_prices, kept_starts = np.zeros((MOST_DEPTH, items)), np.zeros((MOST_DEPTH, *starts.shape), dtype=np.int64)
    last = np.zeros((MOST_DEPTH, 2), dtype=np.int64)
    forbidden, count = np.zeros((3, MOST_FORBIDDEN), dtype=np.int64), 0
    depth, free, deepest, steps, dead_ends, order = 0, items, -1, 0, 0, np.zeros(items, dtype=np.int64)
    for i in range(items):
        chosen[i] = -1
    while free > 0:
        is_first = depth == 0 and dead_ends == 0
        turns = first if is_first else later
        best, used = ascend(sizes, room, now, is_open, turns, starts, mean, rounded, stop, own, states, nodes)
        if is_first:
            for i in range(items):
                prices[i], whole[i] = now[i], rounded[i]
            if best > 0:
                return 1, steps + used
        steps += used
        is_dead = best > 0
        if not is_dead:
            if items - free > deepest:
                deepest = items - free
                for i in range(items):
                    chosen[i] = bin_of[i]
            for i in range(items):
                score[i] = -1.0
                if not is_open[i]:
                    continue
                for j in range(bins):
                    if sizes[j, i] <= room[j]:
                        x = mean[j, i]
                        if noise > 0.0 and x > SOME:
                            x += noise * random(seed)
                        if x > score[i]:
                            score[i], place[i] = x, j
                if score[i] < 0.0:
                    is_dead = True
                    break
        if stop[0] or steps > most_steps or depth >= MOST_DEPTH - 1 or (is_dead and depth == 0):
            return 0, steps
        if is_dead:  # back to the round before, or further, and without its least sure choice
            dead_ends += 1
            depth -= 1
            many = dead_ends
            while many % BACK == 0 and depth > 0:
                depth -= 1
                many //= BACK
            while count > 0 and forbidden[2, count - 1] > depth:
                count -= 1
            if count < MOST_FORBIDDEN:
                forbidden[0, count], forbidden[1, count], forbidden[2, count] = last[depth, 0], last[depth, 1], depth
                count += 1
            free = 0
            for j in range(bins):
                room[j] = rooms[j]
                for k in range(starts.shape[1]):
                    starts[j, k] = kept_starts[depth, j, k]
            for i in range(items):
                bin_of[i], now[i] = kept_bins[depth, i], kept_prices[depth, i]
                is_open[i] = bin_of[i] < 0
                if is_open[i]:
                    free += 1
                else:
                    room[bin_of[i]] -= given[bin_of[i], i]
                for j in range(bins):
                    sizes[j, i] = given[j, i] if is_open[i] else NEVER
            for k in range(count):
                sizes[forbidden[1, k], forbidden[0, k]] = NEVER
            continue
        for j in range(bins):
            for k in range(starts.shape[1]):
                kept_starts[depth, j, k] = starts[j, k]
        for i in range(items):
            kept_bins[depth, i], kept_prices[depth, i] = bin_of[i], now[i]
            rounded[i] = -int(score[i] * float(1 << PRICE_BITS))
        sort(rounded, order, items)
        least = max(1, int(free * share))
        most, done = max(least, free // 4), 0
        for k in range(items):
            i = order[k]
            if done >= most or score[i] < 0.0 or (done >= least and score[i] < SURE):
                break
            j = place[i]
            if given[j, i] <= room[j]:
                bin_of[i], is_open[i] = j, False
                room[j] -= given[j, i]
                for h in range(bins):
                    sizes[h, i] = NEVER
                last[depth, 0], last[depth, 1] = i, j
                done += 1
        free -= done
        if done == 0:
            return 0, steps
        depth += 1
    for i in range(items):
        chosen[i] = bin_of[i]
    return 2, steps


@dataclass(frozen=True, slots=True)
class Pace:
    """How thoroughly a dive goes: iterations of its first ascent and of those after, items a round, noise, steps."""

    first: int = 60
    later: int = 15
    share: float = 0.05
    noise: float = 0.0
    most_steps: int = 300_000_000


@dataclass(frozen=True, slots=True)
class Dive:
    """What a dive found: bins of the items (-1: none yet), prices to go on with, and, as a proof, whole ones."""

    outcome: Outcome
    bins: Whole
    prices: Real
    whole: Whole
    steps: int


@dataclass(frozen=True)
class Assignment:
    """Items and bins, by what each item takes in each bin (bins x items); `NEVER` where it cannot be."""

    sizes: Whole

    def dive(  # noqa: PLR0913, PLR0917 - where to begin, and how
        self,
        rooms: Whole,
        prices: Real,
        unit_prices: Real,
        pace: Pace,
        seed: int,
        stop: NDArray[np.bool_] | None = None,
    ) -> Dive:
        """Look for a filling, from prices of items and of a unit of room; `stop` is set by another thread to end it."""
        bins, items = self.sizes.shape
        stop = np.zeros(1, dtype=np.bool_) if stop is None else stop
        scale = float(1 << PRICE_BITS) / float(prices.sum())
        starts = np.zeros((bins, 11), dtype=np.int64)
        starts[:, 0] = starts[:, 3] = starts[:, 6] = np.maximum(unit_prices * scale, 1.0)
        starts[:, [1, 4, 7]] = int(1e-4 * scale * float(prices.mean())) + 1
        starts[:, [2, 5]] = int(0.1 * scale * float(prices.mean())) + 1
        chosen, whole, now = np.zeros(items, dtype=np.int64), np.zeros(items, dtype=np.int64), prices.copy()
        sizes = np.where(self.sizes <= rooms[:, np.newaxis], self.sizes, NEVER)
        start = seeded(seed)
        outcome, steps = dive(
            sizes,
            rooms,
            now,
            starts,
            pace.first,
            pace.later,
            pace.share,
            pace.noise,
            start,
            pace.most_steps,
            chosen,
            whole,
            stop,
            *workspace(items),
        )
        return Dive(Outcome(outcome), chosen, now, whole, steps)
