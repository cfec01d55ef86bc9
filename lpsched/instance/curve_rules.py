"""What curves over numbers of nodes must satisfy: whole numbers of nodes that rise, and sound values."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import Fault, quote
from lpsched.instance.fields import LARGEST, MOST, SMALLEST, describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.errors import Place
    from lpsched.instance.cluster_parts import Cluster
    from lpsched.instance.day_parts import DayTaskType
    from lpsched.instance.node_curves import NodeCurves
    from lpsched.instance.parallel_tasks import ParallelTasks
    from lpsched.instance.table import Check

MOST_CURVE_POINTS: Final = 100_000  # of one cell


def broken_curves(key: str, curves: NodeCurves, shape: tuple[int, int], check: Check) -> Iterator[Fault]:
    """Return the faults of curves: their shape, and what cells say."""
    widths = {len(row) for row in curves.cells}
    if len(curves.cells) != shape[0] or widths - {shape[1]}:
        found = f"cells of {len(curves.cells)} x {max(widths, default=0)}"
        yield Fault((key,), found, f"{shape[0]} x {shape[1]}, task types x columns", "mend its shape")
        return
    for i, row in enumerate(curves.cells):
        for column, cell in enumerate(row):
            if cell is not None:
                yield from broken_cell(cell, (key, i, column), check)


def broken_cell(points: object, place: Place, check: Check) -> Iterator[Fault]:
    """Return the faults of one cell, whatever it is."""
    if not isinstance(points, tuple) or not 1 <= len(points) <= MOST_CURVE_POINTS:
        needed = f"1 to {MOST_CURVE_POINTS:,} pairs of nodes and a value"
        yield Fault(place, describe(points), needed, "leave it out if the pair cannot run")
        return
    bad = [fault for k, point in enumerate(points) for fault in _broken_point(point, (*place, k), check)]
    yield from bad
    for k, ((nodes, _), (more, _)) in enumerate([] if bad else pairwise(points), start=1):
        if more <= nodes:
            found = f"{more:,} nodes after {nodes:,}"
            yield Fault((*place, k), found, "numbers of nodes that rise", "sort or join them")


def _broken_point(point: object, place: Place, check: Check) -> Iterator[Fault]:
    if not isinstance(point, tuple) or len(point) != 2:  # noqa: PLR2004 - a pair
        yield Fault(place, describe(point), "a pair of nodes and a value", "complete it")
        return
    nodes, value = point
    if isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= MOST:
        needed = "a whole number of nodes from 1 to 10^15"
        yield Fault(place, describe(nodes), needed, "correct it")
    try:
        check(value)
    except PydanticCustomError as refused:
        yield Fault(place, **(refused.context or {}))


def lonely_curves(
    seconds: NodeCurves, watts: NodeCurves, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
) -> Iterator[Fault]:
    """Return the faults of pairs that have a time but no power, or a power but no time."""
    places = [(c, k) for c, cluster in enumerate(clusters) for k in range(cluster.modes)]
    for i, task in enumerate(types):
        for (c, k), time, power in zip(places, seconds.cells[i], watts.cells[i], strict=True):
            if (time is None) == (power is None):
                continue
            cluster = clusters[c]
            pair = f"{quote(task.name)} on {quote(cluster.name)}"
            pair += f" at {quote(cluster.p_states[k])}" if cluster.p_states is not None else ""
            has, lacks, word = ("time", "power", "watts") if power is None else ("power", "time", "seconds")
            do = f"give it {word}, or remove its {has}"
            yield Fault((word, i, c), f"a {has} but no {lacks} for {pair}", "both or neither", do)


def too_long_or_short(seconds: NodeCurves, tasks: ParallelTasks) -> Iterator[Fault]:
    """Return the faults of tasks whose work and curves are each sound, but not their product."""
    bounds = [_bounds(row) for row in seconds.cells]
    told = [each for each in bounds if each is not None]
    if not tasks.count or not told:
        return
    least, most = min(tasks.work_factors), max(tasks.requested_factors)
    if least * min(low for low, _ in told) >= SMALLEST and most * max(high for _, high in told) <= LARGEST:
        return
    columns = zip(tasks.type_numbers, tasks.work_factors, tasks.requested_factors, strict=True)
    for n, (i, work, requested) in enumerate(columns):
        low, high = bounds[i] or (1.0, 1.0)
        if work * low < SMALLEST or requested * high > LARGEST:
            found = f"work that makes {work * low:g} to {requested * high:g} seconds"
            needed = f"{SMALLEST:g} to {LARGEST:g} seconds"
            yield Fault(("tasks", n, "work"), found, needed, "correct the unit")


def _bounds(row: Sequence[tuple[tuple[int, float], ...] | None]) -> tuple[float, float] | None:
    """Return the least and the most that a type's curves say."""
    values = [value for cell in row if cell is not None for _, value in cell]
    return (min(values), max(values)) if values else None
