"""The most that tasks on clusters earn if they can be split and nodes of a cluster are one, from the maths.

The program is that of `arrivals.py`: a task takes q nodes of one cluster, whose time is shared. Where tasks
cost what they wait,

    max   - sum over tasks n, columns c, starts tau of  cost_n(tau - arrival) x_n,c,tau

all of them must run (the sum over c and tau is 1), and of the starts only those matter that are arrivals,
edges of slots, those less e, or where the cost has a corner.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from models.arrivals import Optimum, Start, optimum, starts

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
    arrival = Fraction(clusters.arriving.arrival_seconds[n])
    for column, (c, _) in enumerate(clusters.modes):
        seconds, q = clusters.seconds_of(kind, column), clusters.nodes_of(kind, column)
        if seconds is None or q is None:
            continue
        e, watts = Fraction(seconds), Fraction(clusters.watts_of(kind, column) or 0.0)
        if clusters.waiting:
            for tau, cost in _waits(clusters, kind, arrival, e, edges):
                yield Start(c, tau, tau + e, -cost, float(e * watts), q)
        else:
            function = clusters.functions[memoryview(clusters.function_numbers).cast("q")[n]]
            for tau, part, worth in starts(function, clusters.period, arrival, e, edges):
                yield Start(c, tau, tau + e, float(part) * worth, float(part * e * watts), q)


def _waits(
    clusters: Clusters, kind: Kind, arrival: Fraction, e: Fraction, edges: Sequence[float]
) -> Iterator[tuple[Fraction, float]]:
    """Yield starts, and what they cost."""
    waiting, fastest = clusters.waiting, clusters.fastest_seconds(kind)
    assert waiting is not None
    assert fastest is not None
    segments = waiting.segments(fastest, cores=kind.cores)
    corners = {arrival + Fraction(segment.after_seconds) for segment in segments}
    corners |= {each - off for each in map(Fraction, edges) for off in (0, e)}
    for tau in sorted(each for each in corners if each >= arrival):
        yield tau, waiting.cost(float(tau - arrival), fastest, cores=kind.cores)
