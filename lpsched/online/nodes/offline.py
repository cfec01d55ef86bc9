"""Schedules of clusters that know all tasks: how good a schedule can be, where waiting has a cost. Compiled."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.arrays import cluster_arrays
from lpsched.online.bound.offers import offers_of
from lpsched.online.bound.prices import Looker
from lpsched.online.logged import on_nodes
from lpsched.online.nodes.backfilling import Steps, add, step_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats, Integers
    from lpsched.online.bound.offers import ArrivalPrices
    from lpsched.online.clusters import Clusters
    from lpsched.online.schedule import ClustersSchedule


# List scheduling: tasks in some order, each at the earliest time from its arrival on at which enough nodes are free for
# its whole run, beside those placed before. It knows what no scheduler knows, all arrivals and real run times, and so
# shows how much of a gap is the bound's. The orders that are tried:
#     cost by area     the slope of a task's cost over its node-seconds, the largest first: Smith's rule
#     cost by length   the same over its seconds
#     prices           when a task would best start at the prices of the bound
#     a schedule       by its starts: those of the policies `sjf` and `easy`
# and then, from the best of them, orders in which some tasks are moved at random, a fixed number of rounds. An order is
# kept if it costs less. Of several clusters a task takes the one where it can start first or, tried as well, end first,
# of equals that with the smallest area; or the one that it has in the schedule. In each it has the P-state in which it
# runs shortest. By the starts and on the clusters of a schedule, no task starts later than there: tasks that come
# before it in the order end no later. So what is found costs no more than the schedules that it begins with.
BY_START, BY_END = 0, 1  # how a task chooses its cluster
ROUNDS: Final = 1_000
MOST_PLACED: Final = 2_000_000  # tasks in all rounds
MOVED: Final = 0.01  # share of the tasks that are moved in a round at most
FEW: Final = 3  # tasks, and places, by which an order may change in any case
SPREAD: Final = 0.2  # standard deviation of a move, as a share of the order


class NodeTasks(NamedTuple):  # tuples, because that is what compiled functions take apart
    """What list scheduling needs: K kinds of N tasks on M clusters."""

    kind: Integers  # N
    arrivals: Floats  # N
    need: Integers  # K x M: nodes; more than there are where a kind cannot run
    seconds: Floats  # K x M
    nodes: Integers  # M


@compiled_inside
def fit_from(steps: Steps, nodes: int, seconds: float, time: float) -> float:
    """Return the first start from a time on at which enough nodes are free for a run."""
    i, size, start = step_at(steps, time), steps.size[0], time
    while i < size:
        if steps.free[i] < nodes:
            i += 1
            start = steps.times[i]
        elif i + 1 == size or steps.times[i + 1] >= start + seconds:
            return start
        else:
            i += 1
    return start


@compiled
def list_scheduled(tasks: NodeTasks, order: Integers, given: Integers, rule: int) -> tuple[Floats, Integers]:
    """Return the start and the cluster of each task: the given one or, of -1, where it can start, or end, first."""
    count, clusters = len(order), len(tasks.nodes)
    room, steps = 2 * count + 3, []
    for m in range(clusters):
        steps.append(Steps(np.zeros(room), np.full(room, tasks.nodes[m]), np.ones(1, dtype=np.int64)))  # noqa: PERF401 - compiled
    starts, where = np.empty(count), np.empty(count, dtype=np.int64)
    for n in order:
        k, best, soonest, least = tasks.kind[n], -1, math.inf, math.inf
        for m in range(clusters):
            need, seconds = tasks.need[k, m], tasks.seconds[k, m]
            if need <= tasks.nodes[m] and given[n] in (-1, m):
                start, area = fit_from(steps[m], need, seconds, tasks.arrivals[n]), need * seconds
                when = start + seconds if rule == BY_END else start
                if when < soonest or (when == soonest and area < least):
                    best, soonest, least, starts[n] = m, when, area, start
        where[n] = best
        add(steps[best], starts[n], starts[n] + tasks.seconds[k, best], -tasks.need[k, best])
    return starts, where


def offline_schedule(
    clusters: Clusters,
    prices: ArrivalPrices,
    *,
    schedules: Sequence[ClustersSchedule] = (),
    cancel: CancelToken | None = None,
) -> ClustersSchedule:
    """Return the best schedule found with all tasks known, no worse than the given ones; all tasks run."""
    search = _Search(clusters)
    anywhere, places = np.full(clusters.tasks, -1), {each.name: m for m, each in enumerate(clusters.clusters)}
    starts = [(order, anywhere) for order in search.first_orders(prices)]
    for schedule in schedules:
        placed = sorted(schedule.placed, key=lambda each: each.start_seconds)
        order, where = np.array([each.task for each in placed]), anywhere.copy()
        where[order] = [places[each.cluster] for each in placed]
        starts += [(order, anywhere), (order, where)]
    for order, where in starts:
        for rule in (BY_START, BY_END) if len(places) > 1 else (BY_START,):
            search.attempt(order, where, rule)
    rng = np.random.default_rng(0)
    ranks, count = np.arange(clusters.tasks, dtype=float), clusters.tasks
    most = max(FEW, round(MOVED * count))
    for _ in range(min(ROUNDS, MOST_PLACED // count)):
        if cancel is not None and cancel.expired():
            break
        drawn, moved = ranks.copy(), rng.integers(0, count, rng.integers(1, most + 1))
        drawn[moved] += rng.normal(0.0, max(FEW, SPREAD * count), len(moved))
        search.attempt(search.order[np.argsort(drawn, kind="stable")], search.given, search.rule)
    columns = search.columns[search.tasks.kind, search.where]
    return on_nodes(clusters, search.starts.tolist(), columns.tolist()).schedule


class _Search:
    """The best schedule so far, and what made it: the order, and how clusters are chosen."""

    def __init__(self, clusters: Clusters) -> None:
        arrays, waiting = cluster_arrays(clusters), clusters.waiting
        assert waiting is not None, "waiting has a cost"
        edges, kinds = arrays.first_column.tolist(), np.arange(len(arrays.can_run))
        seconds = np.where(arrays.can_run, arrays.seconds, math.inf)
        parts = [np.argmin(seconds[:, a:b], axis=1) + a for a, b in pairwise(edges)]
        self.columns = np.stack(parts, axis=1)  # K x M: where a kind runs shortest
        own = kinds[:, np.newaxis], self.columns
        need = np.where(arrays.can_run[own], arrays.nodes[own], arrays.node_counts + 1)
        length = np.where(arrays.can_run[own], arrays.seconds[own], 0.0)
        self.tasks = NodeTasks(arrays.kind.copy(), arrays.arrivals.copy(), need, length, arrays.node_counts.copy())
        self._offers = offers_of(clusters)
        self._segments = [
            waiting.segments(clusters.fastest_seconds(kind) or 0.0, cores=kind.cores) for kind in clusters.kinds
        ]
        self.cost, self.order = math.inf, np.arange(clusters.tasks)
        self.given, self.rule = np.full(clusters.tasks, -1), BY_START
        self.starts, self.where = self.tasks.arrivals, np.zeros(clusters.tasks, dtype=np.int64)

    def first_orders(self, prices: ArrivalPrices) -> list[Integers]:
        """Return the orders to begin with."""
        tasks = self.tasks
        length = np.where(tasks.need <= tasks.nodes, tasks.seconds, math.inf)
        area, shortest = (length * tasks.need).min(axis=1)[tasks.kind], length.min(axis=1)[tasks.kind]
        slope = np.array([each[-1].per_second for each in self._segments])[tasks.kind]
        best = Looker(self._offers, prices.edges).best(prices)
        return [np.argsort(key, kind="stable") for key in (-slope / area, -slope / shortest, best.start)]

    def attempt(self, order: Integers, given: Integers, rule: int) -> None:
        """Schedule tasks in an order, and keep it if it costs less."""
        starts, where = list_scheduled(self.tasks, order, given, rule)
        cost = self._cost(starts)
        if cost < self.cost:
            self.cost, self.starts, self.where = cost, starts, where
            self.order, self.given, self.rule = order, given, rule

    def _cost(self, starts: Floats) -> float:
        total = 0.0
        for kind, wait in zip(self.tasks.kind.tolist(), (starts - self.tasks.arrivals).tolist(), strict=True):
            now = self._segments[kind][0]
            for segment in self._segments[kind][1:]:
                if segment.after_seconds <= wait:
                    now = segment
            total += now.cost + now.per_second * (wait - now.after_seconds)
        return total
