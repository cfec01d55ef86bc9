"""The most that whole tasks on one machine are worth: bounds from above, made better until one is exact; in integers.

A pattern x takes x_i of at most n_i copies of item i, of size s_i > 0 and value v_i > 0, which fit in the room T. Let
p >= 0 be any price of a unit of room, and r_i = v_i - p s_i. Its value is

    sum v x  =  U - loss,       U = p T + sum n_i max(0, r_i)
                                loss = p (T - sum s x) + sum r_i (n_i - x_i) where r_i > 0 + sum |r_i| x_i elsewhere

and every term of the loss is at least 0. So U is no less than any value, and a pattern of a value above U - b differs
from "all copies where r_i > 0, no others" only in items with |r_i| < b, all differences together below b: few
patterns, if b is small. They are listed, and either the best is among them, or no pattern is worth as much.

Where few tasks fill a machine, their number is what counts: if 33.3 of them fit and 33 or 34 are whole, U is
far above both. Patterns of at most k items, and of at least k + 1, have a loss with one more price each: sigma for an
item, r_i = v_i - p s_i - sigma, and U and the loss contain sigma k and sigma (k - sum x), with sigma >= 0 for at
most k and sigma <= 0 for at least k.

Any prices will do; good ones make U small. They come from the items by falling value per size: p is that of the first
which does not fit whole, sigma is found by bisection.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FINE: Final = 32  # bits behind the point of a value per size
HALVINGS: Final = 18  # of the range in which a price of an item is looked for
EASY: Final = 4000  # steps: what takes no more is not split by the number of items
GAIN: Final = 2  # of what is to be proved, one part: a split must prove as much at once


class Item(NamedTuple):
    """What may be in a pattern, and how often."""

    size: int
    value: int
    limit: int


class Knapsack:
    """What is known of the best pattern of some items in a room: none is worth more than `most`.

    `spend` is called with the number of states that are about to be listed.
    """

    def __init__(self, items: Sequence[Item], room: int, spend: Callable[[int], None]) -> None:
        self.items, self.room, self.spend = items, room, spend
        _, _, self.number, self.is_cut = _critical(items, room, 0)
        self.parts = [_Part(items, room)]
        self.most = self.first = self.parts[0].bound
        self.exact = self.is_split = False

    def refine(self, by: int) -> None:
        """Prove that no pattern is worth as much as `by` less than was known at first, or find the best one."""
        aim = max(0, self.first - by)
        if not self.is_cut or self.is_split or not self._is_easy(aim):
            self._split(aim)
            for part in self.parts:
                part.refine(max(aim, *(each.bound for each in self.parts if each.exact), 0), self.spend)
        best = max(self.parts, key=lambda part: (part.bound, part.exact))
        self.most, self.exact = max(0, best.bound), best.exact or best.bound <= 0

    def _is_easy(self, aim: int) -> bool:
        """Return whether it was done in a few steps."""
        left = EASY

        def spend(steps: int) -> None:
            nonlocal left
            left -= steps
            if left < 0:
                raise _HardError
            self.spend(steps)

        try:
            self.parts[0].refine(aim, spend)
        except _HardError:
            return False
        return True

    def _split(self, aim: int) -> None:
        """Separate patterns of few items from those of many, if that proves enough at once."""
        if self.is_cut and not self.is_split:
            gain = self.first - max(part.bound for part in self._by_number)
            if GAIN * gain >= self.first - aim:
                self.parts, self.is_split = self._by_number, True

    @cached_property
    def _by_number(self) -> list[_Part]:
        self.spend(2 * HALVINGS * len(self.items))
        few, many = _few(self.items, self.room, self.number), _many(self.items, self.room, self.number + 1)
        return [few] if many is None else [few, many]


class _HardError(Exception):
    pass


def _critical(items: Sequence[Item], room: int, fee: int) -> tuple[int, int, int, bool]:
    """Fill the room by falling value per size, each value less a fee.

    Returns value and size of the item that is cut (0 and 1: none is), the number of whole items, and if one is cut.
    """
    number = 0
    for size, value, limit in sorted(items, key=lambda item: (fee - item.value << FINE) // item.size):
        if value <= fee:
            break
        if size * limit > room:
            return value - fee, size, number + room // size, room % size > 0
        room -= size * limit
        number += limit
    return 0, 1, number, False


def _few(items: Sequence[Item], room: int, number: int) -> _Part:
    """Return the patterns of at most `number` items, at good prices."""
    low, high = 0, max(item.value for item in items)
    for _ in range(HALVINGS):
        fee = (low + high) // 2
        low, high = (low, fee) if _critical(items, room, fee)[2:] <= (number, False) else (fee, high)
    return _Part(items, room, high, number, few=True)


def _many(items: Sequence[Item], room: int, number: int) -> _Part | None:
    """Return the patterns of at least `number` items, at good prices; `None` if there are none."""
    left, least = number, 0
    for size, _, limit in sorted(items):
        taken = min(left, limit)
        left, least = left - taken, least + taken * size
    if left or least > room:
        return None
    high, low = 0, -1
    while _critical(items, room, low)[2] < number and low.bit_length() < 2 * FINE:
        high, low = low, 2 * low
    for _ in range(HALVINGS):
        fee = (low + high) // 2
        low, high = (fee, high) if _critical(items, room, fee)[2] >= number else (low, fee)
    return _Part(items, room, low, number, few=False)


@dataclass(slots=True)
class _Change:
    """One copy more or less of an item: what it loses, in units of 1 / per; and how many copies there are."""

    loss: int
    size: int
    count: int
    limit: int


class _Part:
    """The patterns of at most (`few`) or at least `number` items; of any items, where a fee of 0 does not count them.

    The price of a unit of room is the value per size that is left of the item that is cut if every item costs the fee.
    """

    def __init__(self, items: Sequence[Item], room: int, fee: int = 0, number: int = 0, *, few: bool = True) -> None:
        price, per, _, _ = _critical(items, room, fee)
        common = math.gcd(price, per)
        price, per = price // common, per // common
        self.room, self.price, self.per, self.fee, self.number, self.few = room, price, per, fee * per, number, few
        self.size = self.count = 0  # of all copies with r > 0
        self.total = price * room + self.fee * number  # U, in units of 1 / per
        self.changes: list[_Change] = []
        one = 1 if fee else 0
        for size, value, limit in items:
            gain = (value - fee) * per - price * size
            if gain > 0:
                self.size, self.count, self.total = (
                    self.size + size * limit,
                    self.count + one * limit,
                    self.total + gain * limit,
                )
                self.changes.append(_Change(gain, -size, -one, limit))
            else:
                self.changes.append(_Change(-gain, size, one, limit))
        self.bound, self.exact = self.total // per, False

    def refine(self, aim: int, spend: Callable[[int], None]) -> None:
        """Find the best pattern if it is worth the aim or more; else prove that none is."""
        if self.exact or self.bound < aim:
            return
        loss = self._least_loss(self.total - aim * self.per, spend)
        self.exact = loss is not None
        self.bound = aim - 1 if loss is None else (self.total - loss) // self.per

    def _least_loss(self, budget: int, spend: Callable[[int], None]) -> int | None:
        """Return the least loss of a pattern, if it is within the budget.

        A state is the size and the loss of a pattern in one number, by the number of items. Changes are made by falling
        loss. Of states with as many items, one that is no smaller than another and worth no more is left out; so is one
        that cannot get into the room, or to the right number of items, within the budget by the changes left.
        """
        spend(len(self.changes))
        lots, bits, found = self._lots(budget), budget.bit_length(), None
        down, up = -sum(size for _, size, _ in lots if size < 0), sum(size for _, size, _ in lots if size > 0)
        fewer, more = -sum(one for _, _, one in lots if one < 0), sum(one for _, _, one in lots if one > 0)
        states = {self.count: [self.size << bits]}
        for loss, size, one in ((0, 0, 0), *lots):  # at first nothing is changed
            down, up = down + min(size, 0), up - max(size, 0)
            fewer, more = fewer + min(one, 0), more - max(one, 0)
            spend(2 * sum(len(codes) for codes in states.values()))
            grown, states = _grown(states, bits, (loss, size, one), budget - loss), {}
            for count, codes in grown.items():
                left = budget - self._fees(count, fewer, more)
                if left < 0:
                    continue
                del codes[bisect_left(codes, self.room + down + 1 << bits) :]
                kept = self._undominated(codes, bits, self.room - up, left)
                within = bisect_left(kept, self.room + 1 << bits)
                if within and self._fees(count, 0, 0) <= budget:
                    size_of, loss_of = divmod(kept[within - 1], 1 << bits)
                    total = loss_of + self.price * (self.room - size_of) + self._fees(count, 0, 0)
                    if total <= budget:
                        found, budget = total, total - self.per  # a better one is worth 1 more
                if kept:
                    states[count] = kept
            if not states:
                break
        return found

    def _lots(self, budget: int) -> list[tuple[int, int, int]]:
        """Return changes that add up to all that are within the budget, by falling loss: loss, size, items."""
        lots = [
            (lot * change.loss, lot * change.size, lot * change.count)
            for change in self.changes
            if change.loss <= budget
            for lot in lots_of(min(change.limit, budget // change.loss) if change.loss else change.limit)
        ]
        return sorted(lots, reverse=True)

    def _fees(self, count: int, fewer: int, more: int) -> int:
        """Return what is lost at least because of a number of items which may still change; too much if it is wrong."""
        short = self.number - count
        if not self.fee:
            return 0
        if short + fewer < 0 if self.few else short - more > 0:
            return self.total + 1
        return self.fee * max(0, short - more) if self.few else -self.fee * max(0, -short - fewer)

    def _undominated(self, codes: list[int], bits: int, low: int, budget: int) -> list[int]:
        """Return the states that are worth more than all smaller ones; a size below `low` is a loss."""
        kept, price, best = [], self.price, -1 << bits
        slope = price + (1 << bits)
        for code in codes:
            size = code >> bits
            value = slope * size - code  # price * size - loss
            if value > best:
                best = value
                if price * max(low, size) - value <= budget:
                    kept.append(code)
        return kept


def _grown(states: dict[int, list[int]], bits: int, change: tuple[int, int, int], budget: int) -> dict[int, list[int]]:
    """Return states with and without a change, by size and loss; those before which lose more than `budget` stay."""
    loss, size, one = change
    grown, mask, step = dict(states), (1 << bits) - 1, (size << bits) + loss
    for count, codes in states.items():
        changed = [code + step for code in codes if code & mask <= budget]
        grown[count + one] = sorted(grown.get(count + one, []) + changed)
    return grown


def lots_of(limit: int) -> list[int]:
    """Return 1, 2, 4, ... and a rest: their sums are the numbers from 0 to the limit."""
    powers = [1 << k for k in range((limit + 1).bit_length() - 1)]
    rest = limit - sum(powers)
    return [*powers, rest] if rest else powers
