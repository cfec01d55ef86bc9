"""One bin and the most that it can hold: an exact knapsack of whole sizes and values, compiled.

Of items with sizes s_i and values v_i, some fit into the room R together; phi is the largest sum of their values.
With a price p of a unit of room, items with a gain g_i = v_i - p s_i > 0 are worth their room:

    phi <= U = p R + sum max(0, g_i).

A filling that leaves out such items, takes others, and leaves room empty has less than that by its loss: the sum of
|g_i| over these exceptions and p times what is empty. So within a budget of loss, only items with |g_i| up to the
budget can be exceptions. A dynamic program over those, with states (room taken, loss), finds the filling of least
loss; if it is within the budget, it is the best of all, else the budget is doubled.

Where all items are of similar size, and 20 of them fit but not 21, U is far above phi. Then two cases are looked
at: at most K items, with a price of c >= 0 an item, and at least K + 1, with one of c <= 0, where K is the number of
items with a gain at c = 0. In each, g_i = v_i - p s_i - c, U gains c K (or c (K + 1)), and every item fewer (or
more) than that is a loss of |c|. States are then kept apart by their number of items.

Source: Pisinger, A minimal algorithm for the 0-1 knapsack problem, 1997, for items that are sure to be in or out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.jit import threaded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

PRICE_BITS: Final = 46  # of the sum of all prices
WORTH_BITS: Final = 48  # of what all room of a bin may cost: more proves nothing, and would not fit in 64 bits
MOST_STATES: Final = 1 << 14  # of one knapsack, with the same number of items
MOST_STEPS: Final = 1_000_000
MOST_NODES: Final = 1 << 20  # of the tree of its choices
WINDOW: Final = 8  # by how many items fillings may differ from those with a gain
FEW_STEPS: Final = 4_000  # that may always be tried with all numbers of items together
OTHER_WAY: Final = 32  # knapsacks, after which the way that took longer is tried again
NONE: Final = -1  # within the budget
TOO_MANY: Final = -2  # states, or steps
APART: Final = 2  # items by which prices may miss the number that is wanted


# Plain loops in place of NumPy's functions, and one call of each function: both are compiled faster.
@threaded
def sort(keys: Whole, order: Whole, count: int) -> None:
    """Set the order of the first `count` keys, from small to large; of equal ones, the first comes first (Shell)."""
    for a in range(count):
        order[a] = a
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for a in range(gap, count):
            this, b = order[a], a
            while b >= gap and (keys[order[b - gap]], order[b - gap]) > (keys[this], this):
                order[b] = order[b - gap]
                b -= gap
            order[b] = this
        gap //= 3


@threaded
def room_price(  # noqa: C901, PLR0912, PLR0913, PLR0917 - one compiled loop
    sizes: Whole, values: Whole, own: Whole, count: int, sure: tuple[int, int], each: int, room: int, price: int
) -> tuple[int, float, int]:
    """Return a price at which items with a gain fit, and hardly more; how many fill the room; and the steps taken.

    The items are the first `count` of own[0]; `sure` are the room and number of others that are in at any price.
    """
    left, low, high, growth, steps = 0, 0, -1, 6, count
    inside, items = sure
    for a in range(count):
        i = own[0, a]
        if values[i] > each:
            own[1, left] = i
            left += 1
            inside += sizes[i]
    if inside <= room or left == 0:
        return 0, float(items + left), steps
    highest = max(1, (1 << WORTH_BITS) // max(room, 1))
    inside, asked = sure[0], min(max(price, 1), highest)
    while True:
        worth, more = inside, items
        for a in range(left):
            i = own[1, a]
            if values[i] - each > asked * sizes[i]:
                worth += sizes[i]
                more += 1
        kept, is_over = 0, worth > room
        for a in range(left):  # items of which it is known whether they are in are left aside
            i = own[1, a]
            if (values[i] - each > asked * sizes[i]) == is_over:
                own[1, kept] = i
                kept += 1
        steps += 2 * left
        left = kept
        if is_over:
            low = asked
        else:
            high, inside, items = asked, worth, more
        if left == 0:
            return asked, float(items), steps
        if high >= 0 and (left == 1 or high - low <= max(1, high >> 12)):
            return high, items + (room - inside) / max(1, sizes[own[1, 0]]), steps
        if high < 0:
            if asked == highest:
                return asked, float(more), steps
            asked = min(asked + max(asked >> growth, 1), highest)
            growth = max(growth - 1, 0)
        elif low == 0:
            asked = max(high - max(high >> growth, 1), high // 2 if high <= APART else 1)
            growth = max(growth - 1, 1)
        else:
            asked = (low + high) // 2


@threaded
def two_prices(  # noqa: PLR0913, PLR0917 - one compiled loop
    sizes: Whole,
    values: Whole,
    own: Whole,
    count: int,
    sure: tuple[int, int],
    limit: int,
    sign: int,
    room: int,
    each: int,
    price: int,
) -> tuple[int, int, bool, int]:
    """Return prices of an item and of room at which about `limit` items fill the room, whether so, and the steps."""
    low, high, growth, steps, p, price_high = 0, -1, 10, 0, max(price, 1), price
    asked = max(each, 1)
    for _ in range(60):
        p, found, used = room_price(sizes, values, own, count, sure, sign * asked, room, max(p, 1))
        steps += used
        if (found > limit) if sign > 0 else (found < limit):
            low = asked
        else:
            high, price_high = asked, p
        if (high >= 0 and (high - low <= max(1, high >> 12) or high == 1)) or asked > 1 << PRICE_BITS:
            break
        if high < 0:
            asked += max(asked >> growth, 1)
            growth = max(growth - 1, 0)
        elif low == 0:
            asked = max(high - max(high >> growth, 1), 1)
            growth = max(growth - 1, 1)
        else:
            asked = (low + high) // 2
    if high < 0:
        return sign * low, p, False, steps
    return sign * high, price_high, low > 0 or high == 1, steps


@threaded
def least_loss(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - one compiled loop
    sizes: Whole,
    values: Whole,
    room: int,
    prices: tuple[int, int, int],
    count: int,
    budget: int,
    most_steps: int,
    taken: NDArray[np.bool_],
    own: Whole,
    states: NDArray[np.int64],
    nodes: Whole,
) -> tuple[int, int, int]:
    """Return U, the least loss within the budget (or `NONE`, `TOO_MANY`) and the steps taken.

    `prices` are those of room and of an item, and K: the most items where that price is positive, the least where it
    is negative. What to take is set in `taken`.
    """
    price, each, limit = prices
    bound, base, number = price * room + each * limit, 0, 0
    core, removable, addable, may_leave, may_come = 0, 0, 0, 0, 0
    for a in range(count):
        i = own[0, a]
        gain = values[i] - price * sizes[i] - each
        own[2, a] = gain
        taken[i] = gain > 0
        if gain > 0:
            bound += gain
            base += sizes[i]
            number += 1
        if -budget <= gain <= budget:
            own[1, core] = a
            core += 1
            if gain > 0:
                removable += sizes[i]
                may_leave += 1
            else:
                addable += sizes[i]
                may_come += 1
    steps = 2 * count
    for k in range(core):
        own[4, k] = -abs(own[2, own[1, k]])
    order = own[5]
    sort(own[4], order, core)
    # states: before and after an item (2); room, loss and node (3); more or fewer items than at first; the states.
    middle = 0 if each == 0 else WINDOW
    rows = 2 * middle + 1
    sizes_now, sizes_new = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    now, new, used_nodes = 0, 1, 0
    states[0, 0, middle, 0], states[0, 1, middle, 0], states[0, 2, middle, 0] = base, 0, -1
    sizes_now[middle] = 1
    first, last = middle, middle
    for k in range(core):
        a = own[1, order[k]]
        gain, size, turn = own[2, a], sizes[own[0, a]], 1
        if gain > 0:
            removable -= size
            may_leave -= 1
            size, turn = -size, -1
        else:
            addable -= size
            may_come -= 1
        turn = 0 if each == 0 else turn
        extra = abs(gain)
        start, stop = max(first + min(turn, 0), 0), min(last + max(turn, 0), rows - 1)
        if first + min(turn, 0) < 0 or last + max(turn, 0) > rows - 1:
            return bound, TOO_MANY, steps
        for row in range(start, stop + 1):
            source = row - turn
            stays = sizes_now[row] if first <= row <= last else 0
            comes = sizes_now[source] if first <= source <= last else 0
            steps += stays + comes
            if steps > most_steps:
                return bound, TOO_MANY, steps
            x, y, made, top = 0, 0, 0, -(1 << 62)
            items = number + row - middle
            over = (items - may_leave > limit) if each > 0 else (each < 0 and items + may_come < limit)
            charge = 0
            if each > 0:
                charge = each * max(0, limit - items - may_come)
            elif each < 0:
                charge = -each * max(0, items - may_leave - limit)
            while (x < stays or y < comes) and not over:
                is_new = x >= stays or (y < comes and states[now, 0, source, y] + size < states[now, 0, row, x])
                if is_new:
                    used, loss = states[now, 0, source, y] + size, states[now, 1, source, y] + extra
                    node = states[now, 2, source, y]
                    y += 1
                else:
                    used, loss, node = states[now, 0, row, x], states[now, 1, row, x], states[now, 2, row, x]
                    x += 1
                if loss + charge + price * max(0, room - used - addable) > budget or used - removable > room:
                    continue
                value = price * used - loss
                if value <= top:
                    continue
                top = value
                if made > 0 and states[new, 0, row, made - 1] == used:
                    made -= 1
                if made >= states.shape[3] or used_nodes >= nodes.shape[1]:
                    return bound, TOO_MANY, steps
                if is_new:
                    nodes[0, used_nodes], nodes[1, used_nodes] = node, own[0, a]
                    node = used_nodes
                    used_nodes += 1
                states[new, 0, row, made], states[new, 1, row, made], states[new, 2, row, made] = used, loss, node
                made += 1
            sizes_new[row] = made
        first, last = start, stop
        while first < last and sizes_new[first] == 0:
            first += 1
        while last > first and sizes_new[last] == 0:
            last -= 1
        now, new = new, now
        sizes_now, sizes_new = sizes_new, sizes_now
    best, best_row, best_at = -1, 0, 0
    for row in range(first, last + 1):
        items = number + row - middle
        if (each > 0 and items > limit) or (each < 0 and items < limit):
            continue
        for x in range(sizes_now[row]):
            if states[now, 0, row, x] <= room:
                loss = states[now, 1, row, x] + price * (room - states[now, 0, row, x]) + each * (limit - items)
                if best < 0 or loss < best:
                    best, best_row, best_at = loss, row, x
    if best < 0 or best > budget:
        return bound, NONE, steps
    node = states[now, 2, best_row, best_at]
    while node >= 0:
        taken[nodes[1, node]] = not taken[nodes[1, node]]
        node = nodes[0, node]
    return bound, best, steps


@threaded
def fill(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - one compiled loop
    sizes: Whole,
    values: Whole,
    room: int,
    start: Whole,
    taken: NDArray[np.bool_],
    own: Whole,
    states: NDArray[np.int64],
    nodes: Whole,
) -> tuple[int, int]:
    """Return the most value that fits, and the steps taken; what to take is set in `taken`.

    `start` has prices and budgets to begin with, and has better ones afterwards. If the states are too many, the value
    is a bound from above, and `taken` no filling.
    """
    zero = room - room  # not 0 itself: functions that are called with a constant are compiled for it alone
    count, total, most, steps = zero, zero, zero, len(sizes)
    for i in range(len(sizes)):
        taken[i] = False
        if values[i] > 0 and sizes[i] <= room:
            own[0, count] = i
            count += 1
            total += sizes[i]
            most += values[i]
    if total <= room or count == 0:
        for a in range(count):
            taken[own[0, a]] = True
        return most, steps
    price, share, used = room_price(sizes, values, own, count, (zero, zero), zero, room, start[0])
    steps += used
    start[0], items, fits, together = price, int(share), 0, 0
    keep = np.zeros(len(sizes), dtype=np.bool_)
    for a in range(count):
        own[4, a] = sizes[own[0, a]]
    sort(own[4], own[5], count)
    while fits <= items and fits < count and together + own[4, own[5, fits]] <= room:
        together += own[4, own[5, fits]]
        fits += 1
    items = min(items, fits)
    # Case 0: any number of items. Cases 1 and 2: at most `items` of them, and at least one more. The way that took
    # fewer steps the last time goes first, the other one has its turn now and then.
    start[10] += 1
    best, is_sure, each, limit, begun = -1, True, zero, zero, steps
    for case in range(0 if (start[8] <= start[9]) != (start[10] % OTHER_WAY == 0) else 1, 3):
        at, most_steps = 3 * case - 1, MOST_STEPS
        if case == 0:
            at, most_steps = 1, max(2 * start[9], FEW_STEPS)
        else:
            limit, sign = items + case - 1, 3 - 2 * case
            if fits < limit:  # more than fit
                break
            # Prices from the items that are near a gain of 0 at the last ones; from all, where that is not enough.
            each, price = sign * start[at], min(start[at + 1], max(1, (1 << WORTH_BITS) // max(room, 1)))
            close, surely, number, window = zero, zero, zero, max(8 * start[at + 2], (most // count) >> 5)
            for a in range(count):
                i = own[0, a]
                gain = values[i] - price * sizes[i] - each
                if gain > window:
                    surely += sizes[i]
                    number += 1
                elif gain >= -window:
                    own[3, close] = i
                    close += 1
            steps += count
            for attempt in range(2):
                if attempt == 0 and (close == 0 or surely > room):
                    continue
                view, length, sure = (
                    (own[3:], close, (surely, number)) if attempt == 0 else (own[:], count, (zero, zero))
                )
                each, price, is_found, used = two_prices(
                    sizes, values, view, length, sure, limit, sign, room, start[at], price
                )
                steps += used + count
                number = 0
                for a in range(count):
                    i = own[0, a]
                    number += values[i] - price * sizes[i] > each
                if is_found and abs(number - limit) <= APART:
                    break
            start[at], start[at + 1] = abs(each), price
            at += 2
        budget, shown = max(start[at], 1), 0
        while True:
            bound, loss, used = least_loss(
                sizes, values, room, (price, each, limit), count, budget, most_steps, taken, own, states, nodes
            )
            steps += used
            if loss >= 0:
                start[at] = loss + (loss >> 2) + (bound >> 30) + 1
                if bound - loss > best:
                    best = bound - loss
                    for i in range(len(sizes)):
                        keep[i] = taken[i]
                break
            if loss == TOO_MANY:
                start[at] = budget >> 3
                if case > 0:
                    is_sure = False
                    best = max(best, bound - shown)
                break
            if bound - budget <= best or budget > bound:
                break
            shown = budget
            budget = 2 * budget if best < 0 else min(2 * budget, bound - best)
        if case == 0:
            start[8] = steps - begun
            if best >= 0:
                return best, steps
            start[8] += most_steps
            begun = steps
    start[9] = steps - begun
    for i in range(len(sizes)):
        taken[i] = keep[i] and is_sure
    return max(best, 0), steps


def workspace(items: int) -> tuple[Whole, NDArray[np.int64], Whole]:
    """Return the arrays that a knapsack of that many items needs."""
    return (
        np.empty((6, items), dtype=np.int64),
        np.empty((2, 3, 2 * WINDOW + 1, MOST_STATES), dtype=np.int64),
        np.empty((2, MOST_NODES), dtype=np.int64),
    )
