"""The most that tasks on clusters earn if they can be split and nodes of a cluster are one, from the maths.

The program is that of `arrivals.py`: a task takes q nodes of one cluster, whose time is shared. Where tasks
cost what they wait,

    max   - sum over tasks n, columns c, starts tau of  cost_n(tau - arrival) x_n,c,tau

all of them must run (the sum over c and tau is 1), and of the starts only those matter that are arrivals,
edges of slots, those less e, or where the cost has a corner.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from models.arrivals import HAIR, Optimum, Start, optimum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.online.clusters import Clusters, Kind


def most_earned(clusters: Clusters, edges: Sequence[float]) -> Optimum:
    """Return the optimum with slots between these edges."""
    own = [list(ways(clusters, n, edges)) for n in range(clusters.tasks)]
    counts = [cluster.nodes for cluster in clusters.clusters]
    limit = clusters.period.energy_constraint_joules
    return optimum(own, counts, edges, limit, must_run=clusters.waiting is not None)


def ways(clusters: Clusters, n: int, edges: Sequence[float]) -> Iterator[Start]:
    """Yield every way to run a task that may be best at some prices."""
    kind = clusters.kinds[memoryview(clusters.kind_numbers).cast("q")[n]]
    for column, (c, _) in enumerate(clusters.modes):
        e, q = clusters.seconds_of(kind, column), clusters.nodes_of(kind, column)
        if e is None or q is None:
            continue
        joules = e * (clusters.watts_of(kind, column) or 0.0)
        found = _waits(clusters, n, kind, e, edges) if clusters.waiting else _ends(clusters, n, e, edges)
        for tau, earned, part in found:
            yield Start(c, tau, tau + e, earned, part * joules, q)


def _waits(
    clusters: Clusters, n: int, kind: Kind, e: float, edges: Sequence[float]
) -> Iterator[tuple[float, float, float]]:
    """Yield starts, minus what they cost, and that all of it counts."""
    waiting, arrival = clusters.waiting, clusters.arriving.arrival_seconds[n]
    fastest = clusters.fastest_seconds(kind)
    assert waiting is not None
    assert fastest is not None
    corners = {arrival + segment.after_seconds for segment in waiting.segments(fastest, cores=kind.cores)}
    corners |= {*edges, *(each - e for each in edges)}
    for tau in sorted(each for each in corners if each >= arrival):
        yield tau, -waiting.cost(tau - arrival, fastest, cores=kind.cores), 1.0


def _ends(clusters: Clusters, n: int, e: float, edges: Sequence[float]) -> Iterator[tuple[float, float, float]]:
    """Yield starts, what counts of their utility, and which part of their joules."""
    period, arrival = clusters.period, clusters.arriving.arrival_seconds[n]
    function = clusters.functions[memoryview(clusters.function_numbers).cast("q")[n]]
    breaks = [arrival + each.after_seconds for each in function.intervals[1:]]
    times = [*edges, period.begins_at, period.ends_at]
    corners = {*times, *(each - e for each in (*times, *breaks)), arrival}
    starts = sorted(each for each in corners if arrival <= each < period.ends_at)
    for before, tau in pairwise([*starts[:1], *starts]):
        worth = function.at(e if tau == arrival else max(0.0, tau + e - arrival - HAIR))
        part = period.share(tau, tau + e)
        if period.edge == "completed":
            part = 1.0 if period.begins_at - HAIR <= tau + e <= period.ends_at + HAIR else 0.0
        elif before < period.begins_at and tau + e <= period.ends_at + HAIR:
            worth = function.at(before + e - arrival)
        if part:
            yield tau, part * worth, part
