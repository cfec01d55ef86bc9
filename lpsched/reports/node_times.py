"""Which nodes of which cluster run what, and when: what the picture of nodes over time shows.

Every run is a rectangle for each range of its nodes, from its start to its end; its look tells something of
it (`node_looks.py`). Of more rectangles than can be seen, cells are made, a thousand in time and some hundred
in nodes: each shows the look that takes most of it, or nothing where nodes are idle for most of it. So the
picture stays small, however many tasks and nodes there are.

    busy    of a cluster in a column of time: node-seconds that runs take of it / node-seconds that it has.
            Until t runs take the sum of nodes x max(0, t - start), less that of nodes x max(0, t - end).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.instance.p_states import column_numbers
from lpsched.reports.node_looks import Looks, looks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.instance.array_types import Floats
    from lpsched.instance.clusters import Clusters
    from lpsched.schedule.clusters import ClustersSchedule

COLUMNS: Final = 1000  # of time
ROWS: Final = 240  # of nodes, in a cluster
BUSY_COLUMNS: Final = 112
MOST_RECTANGLES: Final = 3000
MOST_CLUSTERS: Final = 12
BEYOND: Final = 0.03  # of the period's length, that is shown after its end
HALF: Final = 0.5


class Rectangle(NamedTuple):
    """Nodes between two edges (0 is that of the first node) that show one look for some seconds."""

    look: int
    low: float
    high: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class ClusterTimes:
    """One cluster: its rectangles, and how busy it is in each of some even columns of time."""

    name: str
    nodes: int
    rectangles: tuple[Rectangle, ...]
    busy: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """What the picture shows, from `begin` to `end`, in seconds of the instance."""

    clusters: tuple[ClusterTimes, ...]  # the largest, where there are many
    looks: Looks
    begin: float
    end: float
    edges: tuple[float, ...]  # of the period
    is_exact: bool  # a rectangle for each run and range, not cells

    @property
    def busy(self) -> tuple[float, ...]:
        """How busy all nodes that are shown are."""
        nodes = sum(each.nodes for each in self.clusters)
        columns = zip(*(each.busy for each in self.clusters), strict=True)
        return tuple(
            sum(share * each.nodes for share, each in zip(column, self.clusters, strict=True)) / nodes
            for column in columns
        )


def node_times(clusters: Clusters, schedule: ClustersSchedule) -> NodeTimes:
    """Return what the nodes run."""
    looks = looks_of(clusters, schedule)
    rectangles = _rectangles(clusters, schedule, looks)
    begin, end = _span(clusters, rectangles)
    by_size = sorted(range(len(clusters.clusters)), key=lambda c: -clusters.clusters[c].nodes)
    shown = sorted(by_size[:MOST_CLUSTERS])
    is_exact = sum(len(rectangles[c]) for c in shown) <= MOST_RECTANGLES
    made = []
    for c in shown:
        name, nodes = clusters.clusters[c].name, clusters.clusters[c].nodes
        own = [_cut(each, begin, end) for each in rectangles[c] if each.end > begin and each.start < end]
        drawn = own if is_exact else list(_cells(own, nodes, begin, end))
        made.append(ClusterTimes(name, nodes, tuple(drawn), _busy(own, nodes, begin, end)))
    period = clusters.period
    own_edges = [] if period.is_whole else [period.begins_at, period.ends_at]
    edges = tuple(edge for edge in own_edges if begin <= edge <= end)
    return NodeTimes(tuple(made), looks, begin, end, edges, is_exact)


def _rectangles(clusters: Clusters, schedule: ClustersSchedule, looks: Looks) -> list[list[Rectangle]]:
    """Return the rectangles of each cluster."""
    column_of = column_numbers(clusters.clusters)
    kinds, kind_of = clusters.kinds, memoryview(clusters.kind_numbers).cast("q")
    seconds: dict[tuple[int, int], float] = {}
    made: list[list[Rectangle]] = [[] for _ in clusters.clusters]
    for placed, look in zip(schedule.placed, looks.numbers, strict=True):
        key = kind_of[placed.task], column_of[placed.cluster, placed.p_state]
        if key not in seconds:
            seconds[key] = clusters.seconds_of(kinds[key[0]], key[1]) or 0.0
        start, end = placed.start_seconds, placed.start_seconds + seconds[key]
        own = made[clusters.modes[key[1]][0]]
        own += (Rectangle(look, first - 1, last, start, end) for first, last in placed.nodes)
    return made


def _span(clusters: Clusters, rectangles: Sequence[Sequence[Rectangle]]) -> tuple[float, float]:
    """Return what time is shown: until shortly after the period, or until the last run ends."""
    period = clusters.period
    last = max((each.end for own in rectangles for each in own), default=0.0)
    if period.length_seconds is not None:
        beyond = period.ends_at + BEYOND * period.length_seconds
        return 0.0, max(period.ends_at, min(last, beyond))
    first = clusters.arriving.arrival_seconds[0] if clusters.tasks else 0.0
    return first, max(first, last)


def _cut(each: Rectangle, begin: float, end: float) -> Rectangle:
    return each._replace(start=max(begin, each.start), end=min(end, each.end))


def _cells(rectangles: Sequence[Rectangle], nodes: int, begin: float, end: float) -> Iterator[Rectangle]:
    """Return cells, those beside each other that look alike in one."""
    rows, width = min(ROWS, nodes), (end - begin) / COLUMNS
    height = nodes / rows
    taken = np.zeros((1 + max((each.look for each in rectangles), default=0), rows, COLUMNS))
    for each in rectangles:
        top, over_rows = _overlaps(each.low / height, each.high / height, rows)
        left, over_columns = _overlaps((each.start - begin) / width, (each.end - begin) / width, COLUMNS)
        part = taken[each.look, top : top + len(over_rows), left : left + len(over_columns)]
        part += np.outer(over_rows, over_columns)
    shown = np.where(taken.sum(axis=0) >= HALF, taken.argmax(axis=0), -1)
    for row, line in enumerate(shown.tolist()):
        column = 0
        for look, several in groupby(line):
            after = column + len(list(several))
            if look >= 0:
                start, stop = begin + width * column, begin + width * after
                yield Rectangle(look, row * height, (row + 1) * height, start, stop)
            column = after


def _overlaps(low: float, high: float, count: int) -> tuple[int, Floats]:
    """Return the first of the unit intervals that [low, high) touches, and how much of each it covers."""
    first = min(int(low), count - 1)
    edges = np.arange(first, min(count, int(np.ceil(high))) + 1)
    return first, np.diff(np.clip(edges, low, high))


def _busy(rectangles: Sequence[Rectangle], nodes: int, begin: float, end: float) -> tuple[float, ...]:
    """Return the busy share of each column of time."""
    if end <= begin:
        return (0.0,) * BUSY_COLUMNS
    times = np.linspace(begin, end, BUSY_COLUMNS + 1)
    widths = np.array([each.high - each.low for each in rectangles])
    until = _since(times, np.array([each.start for each in rectangles]), widths)
    until -= _since(times, np.array([each.end for each in rectangles]), widths)
    shares = np.diff(until) / (nodes * np.diff(times))
    return tuple(np.clip(shares, 0.0, 1.0).tolist())  # rounding only


def _since(times: Floats, marks: Floats, widths: Floats) -> Floats:
    """Return, for each time t, the sum of width x max(0, t - mark)."""
    order = np.argsort(marks)
    marks, widths = marks[order], widths[order]
    number = np.concatenate(([0.0], np.cumsum(widths)))
    moment = np.concatenate(([0.0], np.cumsum(widths * marks)))
    passed = np.searchsorted(marks, times, side="right")
    sums: Floats = times * number[passed] - moment[passed]
    return sums
