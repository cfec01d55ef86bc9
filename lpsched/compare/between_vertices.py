"""Our own schedules between the vertices of the exact front, as many as an evolved population has.

Let two neighbouring vertices have x and y tasks of each type in each mode. Any mixture (1 - s) x + s y is on
the edge between them, if tasks could be split. It is rounded to whole tasks and placed, as a vertex is. Edges
get mixtures by their length, with energy and makespan both in units of the front's extent.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.recovery.lpt import Known, place
from lpsched.recovery.rounding import round_shares
from lpsched.recovery.waiting import ended
from lpsched.schedule.task_counts import task_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats
    from lpsched.result.front import FrontResult, Point
    from lpsched.schedule.bag import Schedule

POINTS: Final = 100  # of the whole front; an evolved population has as many


def schedules_along(bag: Bag, front: FrontResult, points: int = POINTS) -> Iterator[Schedule]:
    """Yield the schedules of all vertices, and of mixtures of neighbours, by rising energy."""
    known = [
        (vertex, schedule)
        for vertex, schedule in zip(front.vertices, front.schedules, strict=True)
        if schedule is not None
    ]
    tasks, placed = [task.count for task in bag.task_types], Known()
    whole = sum(_length(front, one, other) for (one, _), (other, _) in pairwise(known))
    for (one, first), (other, second) in pairwise(known):
        yield first
        between = round((points - len(known)) * _length(front, one, other) / whole) if whole else 0
        start, end = _shares(bag, first), _shares(bag, second)
        for step in range(1, between + 1):
            share = step / (between + 1)
            counts = round_shares((1.0 - share) * start + share * end, tasks)
            yield ended(bag, counts, place(bag, counts, placed), late=False)
    yield from (schedule for _, schedule in known[-1:])


def _length(front: FrontResult, one: Point, other: Point) -> float:
    """Return the length of an edge, both criteria in units of the front's extent."""
    first, last = front.vertices[0], front.vertices[-1]
    width, height = last.energy_joules - first.energy_joules, first.makespan_seconds - last.makespan_seconds
    return (other.energy_joules - one.energy_joules) / (width or 1.0) + (
        one.makespan_seconds - other.makespan_seconds
    ) / (height or 1.0)


def _shares(bag: Bag, schedule: Schedule) -> Floats:
    """Return the share of each task type that a schedule runs in each mode."""
    shares = np.zeros((len(bag.task_types), len(bag.modes)))
    for i, (task, row) in enumerate(zip(bag.task_types, task_counts(bag, schedule), strict=True)):
        for column, count in row.items():
            shares[i, column] = count / task.count
    return shares
