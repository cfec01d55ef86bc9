"""What does every task gain at most at some prices? Tasks that run equally long are looked at together.

Of the columns those are looked at on which a task could gain more than on another; the most promising first.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from lpsched.certificate.arrival_runs import Column, Falling, Run, Span, joule_price
from lpsched.certificate.fixed_point import fixed
from lpsched.certificate.waiting_costs import Rising
from lpsched.instance.clusters import Clusters
from lpsched.instance.period import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.certificate.arrival_runs import Slots
    from lpsched.instance.day import Day
    from lpsched.instance.period import Period

FEW: Final = 3  # tasks for which corners are not listed
NOTHING: Final = -(1 << 4096)  # less than any gain: for tasks that must run


def gains(instance: Day | Clusters, slots: list[Slots], per_joule: int) -> Iterator[int]:
    """Yield what every task gains at most."""
    if isinstance(instance, Clusters):
        yield from _of_clusters(instance, slots, per_joule)
    else:
        yield from _of_day(instance, slots, per_joule)


def _of_day(day: Day, slots: list[Slots], per_joule: int) -> Iterator[int]:
    span = _span(day.period)
    functions = memoryview(day.function_numbers).cast("q")
    for i, by_function in _alike(day.arriving.arrival_seconds, day.arriving.type_numbers, functions).items():
        columns = [
            Column(slots[j], Run(fixed(e), joule_price(per_joule, e, a)), span)
            for (j, _), e, a in zip(day.modes, day.seconds.row(i), day.watts.row(i), strict=True)
            if e is not None and a is not None
        ]
        for f, arrivals in by_function.items():
            yield from _gains_of(Falling(day.functions[f]), columns, arrivals, 0)


def _of_clusters(clusters: Clusters, slots: list[Slots], per_joule: int) -> Iterator[int]:
    span, waiting = _span(clusters.period), clusters.waiting
    kinds = memoryview(clusters.kind_numbers).cast("q")
    functions = kinds if waiting is not None else memoryview(clusters.function_numbers).cast("q")
    for i, by_function in _alike(clusters.arriving.arrival_seconds, kinds, functions).items():
        kind = clusters.kinds[i]
        listed = sum(len(arrivals) for arrivals in by_function.values()) > FEW
        columns, fastest = [], float("inf")
        for column, (c, _) in enumerate(clusters.modes):
            seconds, nodes = clusters.seconds_of(kind, column), clusters.nodes_of(kind, column)
            if seconds is None or nodes is None:
                continue
            fastest = min(fastest, seconds)
            price = joule_price(per_joule, seconds, clusters.watts_of(kind, column) or 0.0)
            run = Run(fixed(seconds), price, nodes, waiting is not None)
            columns.append(Column(slots[c], run, span, listed=listed))
        for f, arrivals in by_function.items():
            if waiting is None:
                yield from _gains_of(Falling(clusters.functions[f]), columns, arrivals, 0)
            else:
                yield from _gains_of(Rising(waiting, fastest, kind.cores), columns, arrivals, NOTHING)


def _span(period: Period) -> Span:
    end = None if period.length_seconds is None else fixed(period.ends_at)
    return Span(fixed(period.begins_at), end, period.edge == COMPLETED)


def _alike(
    arrivals: memoryview[float], types: memoryview[int], functions: memoryview[int]
) -> dict[int, dict[int, list[int]]]:
    """Return the arrivals of tasks by their type, then by their utility function."""
    found: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for arrival, i, f in zip(arrivals, types, functions, strict=True):
        found[i][f].append(fixed(arrival))
    return found


def _gains_of(
    utility: Falling | Rising, columns: list[Column], arrivals: list[int], nothing: int
) -> Iterator[int]:
    """Yield what tasks of one type and utility function gain at most; `nothing` if they do not run."""
    most = [column.top(utility) for column in columns]
    ranked = sorted(
        zip((m - each.cheapest for m, each in zip(most, columns, strict=True)), columns, strict=True),
        key=lambda pair: -pair[0],
    )
    for arrival in arrivals:
        best = nothing
        for top, column in ranked:
            if top <= best:
                break
            best = column.whole_runs(arrival, utility, best)
        for top, column in zip(most, columns, strict=True):
            if top > best:
                best = column.cut_runs(arrival, utility, best)
        yield best
