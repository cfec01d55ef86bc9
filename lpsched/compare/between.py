"""Our own schedules between the vertices of the exact front, as many as an evolved population has.

Let two neighbouring vertices have x and y tasks of each type in each mode. Any mixture (1 - s) x + s y is on
the edge between them, if tasks could be split. It is rounded to whole tasks and placed, as a vertex is. Edges
get mixtures by their length, with energy and makespan both in units of the front's extent.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.recovery.lpt import place
from lpsched.recovery.rounding import round_shares
from lpsched.recovery.waiting import ended

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance import Bag
    from lpsched.instance.arrays import Floats
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
    tasks = [task.count for task in bag.task_types]
    whole = sum(_length(front, one, other) for (one, _), (other, _) in pairwise(known))
    for (one, first), (other, second) in pairwise(known):
        yield first
        between = round((points - len(known)) * _length(front, one, other) / whole) if whole else 0
        start, end = _shares(bag, first), _shares(bag, second)
        for step in range(1, between + 1):
            share = step / (between + 1)
            counts = round_shares((1.0 - share) * start + share * end, tasks)
            yield ended(bag, counts, place(bag, counts), late=False)
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
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column: dict[tuple[str, str | None], int] = {}
    for machine in bag.machine_types:
        for state in machine.p_states if machine.p_states is not None else (None,):
            column[machine.name, state] = len(column)
    shares = np.zeros((len(row), len(column)))
    for group in schedule.groups:
        for run in group.runs:
            i = row[run.task_type]
            shares[i, column[group.machine_type, run.p_state]] += (
                group.machines * run.count / bag.task_types[i].count
            )
    return shares
