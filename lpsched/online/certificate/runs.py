"""The most that a task can gain at given prices, in whole numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from lpsched.model.fixed_point import PLACES, fixed, float_down, product_up
from lpsched.online.utility import BOUNDED, CORE_SECONDS, CORES, SECONDS, SLOWDOWN, UtilityFunction, WaitingCost

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# What does a task cost that waited so long? From the definition (`online/utility.py`), in whole numbers.
#     seconds             w d                          w is the weight: 1, the cores, or cores times f
#     slowdown            w (1 + d / f)                f is the fewest seconds in which the task can run
#     bounded slowdown    w max(1, (d + f) / max(f, b))
#     points              w times the line through them
# Each is made of straight segments (begin, cost there, cost per second), exact until they become whole numbers,
# and then rounded down. A schedule's own cost is worked out in doubles: 2^-40 of it is granted.
GRANTED: Final = 40  # bits after which a cost is rounding
Segment: TypeAlias = tuple[Fraction, Fraction, Fraction]


class Rising:
    """Minus the cost of waiting, by segments; it is fixed when a task starts."""

    def __init__(self, waiting: WaitingCost, seconds: float, cores: int) -> None:
        fastest = Fraction(seconds)
        weight = Fraction({CORES: cores}.get(waiting.weight, 1))
        if waiting.weight == CORE_SECONDS:
            weight = cores * fastest
        segments = list(_segments(waiting, fastest))
        self.begins = [_down(begin) for begin, _, _ in segments]
        self._costs = [_down(weight * cost) for _, cost, _ in segments]
        self._slopes = [_down(weight * slope) for _, _, slope in segments]

    def interval(self, since: int) -> int:
        """Return the segment of a time since arrival."""
        return bisect_right(self.begins, since) - 1

    def most(self, k: int, since: int) -> int:
        """Return minus the cost by segment k, or a hair more."""
        cost = self._costs[k] + ((self._slopes[k] * (since - self.begins[k])) >> PLACES)
        return (abs(cost) >> GRANTED) - cost


def _segments(waiting: WaitingCost, fastest: Fraction) -> list[Segment]:
    """Return the segments for a weight of 1."""
    one, none = Fraction(1), Fraction(0)
    if waiting.measure == SECONDS:
        return [(none, none, one)]
    if waiting.measure == SLOWDOWN:
        return [(none, one, 1 / fastest)]
    if waiting.measure == BOUNDED:
        least = Fraction(waiting.at_least_seconds)
        if fastest >= least:
            return [(none, one, 1 / fastest)]
        return [(none, one, none), (least - fastest, one, 1 / least)]
    points = [(Fraction(after), Fraction(cost)) for after, cost in waiting.points]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    slopes.append(slopes[-1] if slopes else none)
    return [(point[0], point[1], slope) for point, slope in zip(points, slopes, strict=True)]


def _down(exact: Fraction) -> int:
    return (exact.numerator << PLACES) // exact.denominator


# What can a task gain at most on one column? In exact whole numbers, but for `exp`.
#
# A number x is kept as x 2^256 (`model/fixed_point.py`), so that all times are exact. A task that arrives at a and
# starts at tau on this column, on q machines and e seconds long, gains at most
#     share (U(tau + e - a) - lambda J)  -  q (W(tau + e) - W(tau)),      W(t): what the slots cost until t.
# Where tasks cost what they wait, - cost(tau - a) is in the place of U, straight between its breaks.
#
# Runs that count wholly start between two times; what they cost has corners where a run begins or ends at the
# edge of a slot, the same for all tasks. Between two corners, and two breaks of U, the gain is convex, hence
# largest at an end; just before a break, where U is about to jump, its limit counts. U never rises, so a
# later corner matters only if the cost there is less than before, and none does if U now, less lambda J and
# the least cost to come, is no better than what is known. If few tasks run equally long, their corners are
# not listed but taken in turn, and the least cost to come is not known: 0.
#
# All other runs are cut at begin or end, and are looked at segment by segment. Over the end, the gain is convex
# on each segment as well. Over the begin the share rises while U falls: there U at the left end of a segment,
# times the share at its right end, is more.
#
# U in doubles is off by less than (3 + x exp(-x)) 2^-52 of the s at which the interval starts: 2^-40 s is
# added. Times in it are rounded down first. Everything else is exact or rounded up.
MARGIN: Final = 2.0**-40
OFTEN: Final = 8  # corners that are not listed, after which it is asked whether all that follow are too late


class TooManyStepsError(Exception):
    """The corners of a certificate's slots would take too long."""


class Steps:
    """How many corners may still be looked at."""

    def __init__(self, most: float = math.inf) -> None:
        self.left = most

    def spend(self, steps: int) -> None:
        """Count some; raises `TooManyStepsError` if there were too many."""
        self.left -= steps
        if self.left < 0:
            raise TooManyStepsError


class Slots:
    """What one machine type costs in each slot."""

    def __init__(self, edges: Sequence[int], prices: Sequence[int], steps: Steps | None = None) -> None:
        self.edges, self.prices, self.steps = edges, prices, steps or Steps()
        self.around = [0, *prices, 0]  # the price before each edge, and after the last
        self.sums = [0]  # with twice as many places
        for k, price in enumerate(prices):
            self.sums.append(self.sums[-1] + price * (edges[k + 1] - edges[k]))

    def cost(self, start: int, end: int) -> int:
        """Return what a run costs, or a hair less."""
        return self.exact(start, end) >> PLACES

    def exact(self, start: int, end: int) -> int:
        """Return what it costs, with twice as many places."""
        return self._until(end) - self._until(start)

    def _until(self, time: int) -> int:
        k = bisect_right(self.edges, time) - 1
        if k < 0:
            return 0
        if k >= len(self.prices):
            return self.sums[-1]
        return self.sums[k] + self.prices[k] * (time - self.edges[k])


class Falling:
    """A utility function, by intervals."""

    def __init__(self, function: UtilityFunction) -> None:
        self.intervals = function.intervals
        self.begins = [fixed(each.after_seconds) for each in function.intervals]

    def interval(self, since: int) -> int:
        """Return the interval of a time since arrival."""
        return bisect_right(self.begins, since) - 1

    def most(self, k: int, since: int) -> int:
        """Return the utility by interval k at a time that is in it, or at its end; or a hair more."""
        interval = self.intervals[k]
        seconds = max(0.0, float_down(since) - interval.after_seconds)
        fall = (interval.starts_at - interval.falls_to) * math.exp(-interval.rate_per_second * seconds)
        return -fixed(-(interval.falls_to + fall + MARGIN * interval.starts_at))  # rounded up


class Span(NamedTuple):
    """The period that counts; no end: it never ends."""

    begin: int
    end: int | None
    completed: bool  # only runs that end in it count, and wholly


class Run(NamedTuple):
    """What a task of some type takes on some column."""

    seconds: int
    price: int  # of all its joules
    width: int = 1  # machines
    waits: bool = False  # whether it costs what it waits


class Column:
    """One task type on one column, at some prices; `listed`: whether its corners are."""

    def __init__(self, slots: Slots, run: Run, span: Span, *, listed: bool = True) -> None:
        self.slots, self.seconds, self.price, self.width = slots, run.seconds, run.price, run.width
        self.begin, self.end, self.completed = span
        self.tail = 0 if run.waits else run.seconds  # from its start until its worth is fixed
        self.first = self.begin - run.seconds if span.completed else self.begin  # of runs that count wholly
        self.last = None if self.end is None else self.end - run.seconds
        self.corners: list[int] | None = None
        self.cheapest = 0
        if listed:
            self._list_corners()

    def cost(self, start: int) -> int:
        """Return what a run costs, or a hair less."""
        return self.width * self.slots.cost(start, start + self.seconds)

    def top(self, utility: Falling | Rising) -> int:
        """Return what a task is worth at most, its joules paid."""
        return utility.most(utility.interval(self.tail), self.tail) - self.price

    def _list_corners(self) -> None:
        self.slots.steps.spend(2 * len(self.slots.edges))
        ahead = list(self._swept(self.first))
        self.corners = [at for at, _ in ahead]
        self.costs = [cost for _, cost in ahead]
        self.least = list(self.costs)
        for k in range(len(self.least) - 2, -1, -1):
            self.least[k] = min(self.least[k], self.least[k + 1])
        self.cheapest = min([self.cost(self.first), *self.least[:1]])

    def _ahead_of(self, start: int) -> Iterator[tuple[int, int, int]]:
        """Yield the corners after a start: when, what a run costs there, and at least from there on."""
        if self.corners is None:
            yield from ((at, cost, 0) for at, cost in self._swept(start))
            return
        for k in range(bisect_right(self.corners, start), len(self.corners)):
            yield self.corners[k], self.costs[k], self.least[k]

    def _swept(self, start: int) -> Iterator[tuple[int, int]]:
        """Yield the corners after a start, and what a run costs there, from one to the next."""
        edges, count, prices = self.slots.edges, len(self.slots.edges), self.slots.around
        one, other = bisect_right(edges, start), bisect_right(edges, start + self.seconds)
        now, cost = start, self.slots.exact(start, start + self.seconds)
        while one < count or other < count:
            at = edges[other] - self.seconds if other < count else edges[one]
            is_start = one < count and edges[one] <= at
            at = edges[one] if is_start else at
            if self.last is not None and at >= self.last:
                break
            cost += (prices[other] - prices[one]) * (at - now)
            now, one, other = at, one + is_start, other + (not is_start)
            yield at, self.width * (cost >> PLACES)
        if self.last is not None and start < self.last:
            yield self.last, self.cost(self.last)

    def whole_runs(self, arrival: int, utility: Falling | Rising, best: int) -> int:
        """Return the most that runs which count wholly can gain, or `best` if that is more."""
        start = max(arrival, self.first)
        if self.last is not None and start > self.last:
            return best
        ahead = self._ahead_of(start)
        following = next(ahead, None)
        cost = self.cost(start)
        least = cost if following is None else min(cost, following[2])
        since = start + self.tail - arrival
        interval = utility.interval(since)
        worth = utility.most(interval, since) - self.price
        if worth - least <= best:
            return best
        best = max(best, worth - cost)
        for k in range(interval + 1, len(utility.begins)):  # to end just before utility breaks
            at = arrival + utility.begins[k] - self.tail
            limit = utility.most(k - 1, utility.begins[k]) - self.price
            if (self.last is not None and at > self.last) or limit - least <= best:
                break
            best = max(best, limit - self.cost(at))
        looked = 0
        while following is not None and worth - following[2] > best:
            at, there, _ = following
            looked += 1
            if there < cost or (self.corners is None and looked % OFTEN == 0):  # now and then: is it too late?
                cost, since = min(cost, there), at + self.tail - arrival
                worth = utility.most(utility.interval(since), since) - self.price
                best = max(best, worth - there)
            following = next(ahead, None)
        self.slots.steps.spend(looked)
        return best

    def cut_runs(self, arrival: int, utility: Falling | Rising, best: int) -> int:
        """Return the most that runs over begin or end can gain, or `best` if that is more."""
        if self.completed or isinstance(utility, Rising) or (self.end is not None and arrival >= self.end):
            return best
        if arrival < self.begin:
            best = self._walk(max(arrival, self.begin - self.seconds), self.begin, arrival, utility, best)
        if self.last is not None and self.end is not None:
            best = self._walk(max(arrival, self.begin, self.last), self.end, arrival, utility, best)
        return best

    def _walk(self, first: int, last: int, arrival: int, utility: Falling, best: int) -> int:
        right = first
        k = utility.interval(first + self.seconds - arrival)
        most = worth = utility.most(k, first + self.seconds - arrival) - self.price
        while most > best:
            self.slots.steps.spend(3)  # as long as three corners take
            best = max(best, self._share_of(worth, right) - self.cost(right))
            if right >= last:
                break
            left, since = right, right + self.seconds - arrival
            k = utility.interval(since)
            most = utility.most(k, since) - self.price
            right = min(each for each in self._ahead(left, last, arrival, k, utility) if each > left)
            rises = left < self.begin and (self.end is None or right + self.seconds <= self.end)
            worth = most if rises else utility.most(k, right + self.seconds - arrival) - self.price
        return best

    def _ahead(self, left: int, last: int, arrival: int, k: int, utility: Falling) -> Iterator[int]:
        """Yield places at which something may have a corner; the first one after `left` is among them."""
        edges = self.slots.edges
        yield last
        yield self.begin
        if self.last is not None:
            yield self.last
        starts = bisect_right(edges, left)
        yield from edges[starts : starts + 1]
        ends = bisect_right(edges, left + self.seconds)
        yield from (each - self.seconds for each in edges[ends : ends + 1])
        if k + 1 < len(utility.begins):
            yield arrival + utility.begins[k + 1] - self.seconds

    def _share_of(self, worth: int, start: int) -> int:
        """Return which part of a worth counts, rounded up."""
        end = start + self.seconds if self.end is None else min(start + self.seconds, self.end)
        within = max(0, end - max(start, self.begin))
        return -((-worth * within) // self.seconds)


def joule_price(per_joule: int, seconds: float, watts: float) -> int:
    """Return what the joules of a run cost, or a hair less."""
    return -product_up(-per_joule, (fixed(seconds) * fixed(watts)) >> PLACES)
