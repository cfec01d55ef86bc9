"""How far the feasible region of energy and makespan reaches in any direction, straight from the maths.

    min   a E + b t     over the rows of `front.py` without L, for any a and b with a I + b >= 0

I is what all machines draw when idle: with less, to wait for ever would be best. A region is closed and
convex, so it is known when this minimum is known for every direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulp

from models.front import cells, solve, write_rows

if TYPE_CHECKING:
    from lpsched.bag.model import Bag


def support(bag: Bag, joules_weight: float, seconds_weight: float) -> float:
    """Return the least a E + b t of a bag without limits."""
    e, a = cells(bag, bag.seconds), cells(bag, bag.watts)
    size = max(bag.task_types[i].count * each * max(1.0, a[i, j, k]) for (i, j, k), each in e.items())
    model = pulp.LpProblem("region", pulp.LpMinimize)
    unit = max(bag.task_types[i].count * each for (i, _, _), each in e.items())
    at = write_rows(model, bag, unit, None, (0.0, None))
    model += (joules_weight * at.joules + seconds_weight * at.seconds) * (1.0 / size)
    solve(model)
    return float(joules_weight * pulp.value(at.joules) + seconds_weight * pulp.value(at.seconds))
