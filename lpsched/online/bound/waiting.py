"""Prices of node time where waiting has a cost: from mean busy times, then downhill over all starts. Compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.jit import compiled, compiled_inside
from lpsched.online.bound.choices import above, interval_at
from lpsched.online.bound.offers import ArrivalPrices, tables_of
from lpsched.online.bound.prices import Looker, Scales, SoftSum, on_slots, total_of

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers
    from lpsched.online.bound.offers import Offers, Tables


# Mean busy times: good prices at once, from a schedule that may split everything.
#
# A task n arrives at r, runs e seconds on q of the m nodes of a cluster, and costs c for every second that it waits.
# Its area is a = q e. Let nodes be one, and tasks be interrupted and run at any rate y_n(t) >= 0:
#     min   sum_n (c_n / a_n) integral of t y_n(t)
#     s.t.  integral of y_n from r_n on  =  a_n                  for each task n
#           sum_n y_n(t)                <=  m                    for each time t
# In a real schedule the mean of t over the run is start + e / 2; so the optimum, less sum_n c_n (r_n + e_n / 2), is a
# bound on the cost of waiting. It is reached by serving, at every time, the task with the largest c / a of those that
# have arrived. The dual is
#     max   sum_n a_n u_n  -  m integral of w         s.t.  u_n <= (c_n / a_n) t + w(t)   for t >= r_n,    w >= 0
# and while n is served w(t) = u_n - (c_n / a_n) t: the price falls at the rate c / a of the task that is served, to 0
# at the end of a busy time. At an arrival that interrupts it rises; what was interrupted goes on where the line of its
# own price is met again. So prices are found backwards: the last time that a task is served ends with the price of
# what follows, and that is its line (`anchor`, `height`). What ends just as another task arrives is taken as
# interrupted with nothing left: the price that follows its end is that of what it would have been followed by.
#
# As prices of slots they prove more than that bound: there tasks run in one piece, and the cost is the true one. Here c
# is the slope of the last segment of the cost, and a task is on the column where its area is least; that is only where
# the search begins.
#
# Source: Goemans, Queyranne, Schulz, Skutella and Wang, Single machine scheduling with release dates, 2002.
@compiled
def served(arrivals: Floats, seconds: Floats, rates: Floats, order: Integers) -> tuple[Floats, Floats, Integers]:
    """Serve the task of the highest rate first; return begins, ends and tasks of what is served.

    `seconds` are areas divided by all nodes; `order` sorts tasks by arrival.
    """
    count = len(arrivals)
    begins, ends, tasks = np.empty(2 * count), np.empty(2 * count), np.empty(2 * count, dtype=np.int64)
    left, here, number, arrived = seconds.copy(), [(0.0, 0)], 0, 0
    here.pop()  # the list of those that have arrived is typed by what was in it
    now = -np.inf
    while arrived < count or len(here) > 0:
        if len(here) == 0:
            now = max(now, arrivals[order[arrived]])
        while arrived < count and arrivals[order[arrived]] <= now:
            n = order[arrived]
            heappush(here, (-rates[n], n))
            arrived += 1
        n = here[0][1]
        end = now + left[n]
        if arrived < count and arrivals[order[arrived]] <= end:  # if it ends just then, its end is served later
            end = arrivals[order[arrived]]
            left[n] = max(0.0, left[n] - (end - now))
        else:
            heappop(here)
        begins[number], ends[number], tasks[number] = now, end, n
        number += 1
        now = end
    return begins[:number], ends[:number], tasks[:number]


@compiled
def served_prices(begins: Floats, ends: Floats, tasks: Integers, rates: Floats) -> Floats:
    """Return the price as each task begins to be served, from what is served in order of time."""
    anchor, height = np.full(len(rates), np.nan), np.zeros(len(rates))
    tops, following = np.empty(len(begins)), 0.0
    for k in range(len(begins) - 1, -1, -1):
        n = tasks[k]
        if np.isnan(anchor[n]):
            is_busy = k + 1 < len(begins) and begins[k + 1] <= ends[k]
            anchor[n], height[n] = ends[k], following if is_busy else 0.0
        tops[k] = following = height[n] + rates[n] * (anchor[n] - begins[k])
    return tops


def busy_time_prices(offers: Offers, edges: Floats) -> ArrivalPrices:
    """Return the mean prices in each slot that mean busy times make, cluster by cluster."""
    columns = offers.smallest_columns
    areas = offers.width[offers.task_type, columns] * offers.seconds[offers.task_type, columns]
    rises = offers.rate_per_second[offers.first_interval[offers.function + 1] - 1]
    per_second = np.zeros((len(offers.machine_counts), len(edges) - 1))
    for j, machines in enumerate(offers.machine_counts.tolist()):
        own = np.flatnonzero((offers.mode_type[columns] == j) & (areas > 0.0))
        if len(own):
            arrivals, rates = offers.arrivals[own], rises[own] / areas[own]
            begins, ends, tasks = served(arrivals, areas[own] / machines, rates, np.argsort(arrivals, kind="stable"))
            tops, falls = served_prices(begins, ends, tasks, rates), rates[tasks]
            costs = np.cumsum((ends - begins) * (tops - 0.5 * falls * (ends - begins)))
            k = np.maximum(0, np.searchsorted(begins, edges, side="right") - 1)
            since = np.clip(edges - begins[k], 0.0, ends[k] - begins[k])
            until = np.concatenate(([0.0], costs))[k] + since * (tops[k] - 0.5 * falls[k] * since)
            per_second[j] = np.maximum(0.0, np.diff(until)) / np.diff(edges)
    return ArrivalPrices(edges, per_second, 0.0)


# The soft sum over all starts. Where waiting has a cost, a task has thousands of starts that are nearly as good as the
# best, and prices that are good for some of them are bad for the others. So all are seen: from the arrival on, corner
# after corner (edges of slots, those less e, breaks of the cost), until the wait alone costs more than the best start
# by `FAR` temperatures. A pass over two thousand tasks and as many slots takes some milliseconds.
FAR: Final = 25.0  # temperatures: exp(-25) is nothing


class NearStarts(NamedTuple):
    """Room for the starts of one task that are near its best."""

    values: Floats
    widths: Floats
    places: Integers  # x 3: cluster, slot of the start, slot of the end
    offsets: Floats  # x 2: how far into these slots


@compiled_inside
def starts_on(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables,
    edges: Floats,
    prices: Floats,
    sums: Floats,
    near: NearStarts,
    n: int,
    i: int,
    column: int,
    number: int,
    best: float,
    far: float,
) -> tuple[int, float]:
    """List the starts of a task on a column that are no farther from its best than that; count them."""
    size, arrival, stop = len(edges), tables.arrivals[n], tables.first_interval[tables.function[n] + 1]
    j, e, q = tables.mode_type[column], tables.seconds[i, column], tables.width[i, column]
    p = tables.first_interval[tables.function[n]]
    start, following = arrival, p + 1
    one, other = above(edges, size, start), above(edges, size, start + e)
    while start < np.inf:
        p = interval_at(tables, p, stop, start - arrival)
        worth = tables.starts_at[p] - tables.rate_per_second[p] * (start - arrival - tables.after_seconds[p])
        if worth <= best - far:
            break
        s, t = max(one - 1, 0), max(other - 1, 0)
        late = start - edges[s] if 0 < one < size else 0.0
        later = start + e - edges[t] if 0 < other < size else 0.0
        value = worth - q * (sums[j, t] + prices[j, t] * later - sums[j, s] - prices[j, s] * late)
        if value > best - far:
            near.values[number], near.widths[number] = value, q
            near.places[number, 0], near.places[number, 1], near.places[number, 2] = j, s, t
            near.offsets[number, 0], near.offsets[number, 1] = late, later
            best, number = max(best, value), number + 1
        edge = edges[one] if one < size else np.inf
        less = edges[other] - e if other < size else np.inf
        corner = arrival + tables.after_seconds[following] if following < stop else np.inf
        start = max(start, min(edge, less, corner))
        if edge <= less and edge <= corner:
            one += 1
        elif less <= corner:
            other += 1
        else:
            following += 1
    return number, best


@compiled
def soft_waits(  # noqa: PLR0913, PLR0917 - compiled
    tables: Tables,
    types: Integers,
    weights: Floats,
    edges: Floats,
    prices: Floats,
    sums: Floats,
    temperature: float,
    within: Floats,
    before: Floats,
) -> float:
    """Return the soft sum of minus costs over all starts; add up machine time in the last two."""
    columns, breaks = tables.seconds.shape[1], np.max(tables.first_interval[1:] - tables.first_interval[:-1])
    room = columns * (2 * len(edges) + breaks + 1)
    near = NearStarts(np.empty(room), np.empty(room), np.empty((room, 3), dtype=np.int64), np.empty((room, 2)))
    total, far = 0.0, FAR * temperature
    for n in range(len(types)):
        number, best = 0, -np.inf
        for column in range(columns):
            if tables.can_run[types[n], column]:
                number, best = starts_on(tables, edges, prices, sums, near, n, types[n], column, number, best, far)
        weight = 0.0
        for k in range(number):
            near.values[k] = math.exp((near.values[k] - best) / temperature)
            weight += near.values[k]
        total += weights[n] * (best + temperature * math.log(weight))
        for k in range(number):
            part = weights[n] * near.widths[k] * near.values[k] / weight
            j, s, t = near.places[k, 0], near.places[k, 1], near.places[k, 2]
            before[j, t] += part
            within[j, t] += part * near.offsets[k, 1]
            before[j, s] -= part
            within[j, s] -= part * near.offsets[k, 0]
    return total


class AllStarts(SoftSum):
    """The smooth function of the prices that all starts make."""

    def __init__(self, offers: Offers, edges: Floats) -> None:
        super().__init__(offers, edges)
        self._tables, self._weights = tables_of(offers), np.array(offers.weights)
        self._types = np.array(offers.task_type, dtype=np.int64)

    def summed(  # noqa: PLR0913, PLR0917 - as it is compiled
        self, prices: Floats, sums: Floats, per_joule: float, temperature: float, within: Floats, before: Floats
    ) -> tuple[float, float]:
        """Return the soft sum, and no energy, which is free."""
        del per_joule
        own = self._tables, self._types, self._weights, self.edges
        return soft_waits(*own, prices, sums, temperature, within, before), 0.0


# The descent sees all starts, so one is enough at each temperature: it leads to within a percent of the best prices on
# these slots. As elsewhere bounds on the way are evaluated anew (`Looker`), and the best prices are kept.
STEPS: Final = 100  # of one descent
STILL: Final = 1e-6  # of the cost: a gain of a few steps that is less is rounding
TEMPERATURES: Final = (0.1, 0.03, 0.01, 0.003, 0.001)  # of the mean cost of waiting as long as a task runs


def waiting_prices(  # noqa: PLR0913 - options are keyword-only
    offers: Offers,
    edges: Floats,
    *,
    start: ArrivalPrices | None = None,
    temperatures: tuple[float, ...] = TEMPERATURES,
    cancel: CancelToken | None = None,
    listener: Callable[[float, ArrivalPrices], object] | None = None,
) -> ArrivalPrices:
    """Return the best prices found on these slots, from `start` on or else from those of mean busy times.

    `listener` gets each bound that is better, and its prices.
    """
    cancel = cancel if cancel is not None else CancelToken()
    report = listener if listener is not None else lambda *_: None
    best = prices = busy_time_prices(offers, edges) if start is None else on_slots(start, edges)
    looker, scales, soft = Looker(offers, edges), Scales(offers, edges), AllStarts(offers, edges)
    lowest = total_of(offers, best, looker.best(best).best)
    report(lowest, best)
    for temperature in temperatures:
        if cancel.expired():
            break
        prices = scales.descended(soft, prices, temperature * scales.utility, cancel, steps=STEPS, settled=STILL)
        bound = total_of(offers, prices, looker.best(prices).best)
        if bound < lowest:
            best, lowest = prices, bound
            report(lowest, best)
    return best
