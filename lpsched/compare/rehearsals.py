"""A rehearsal: a day of two tasks comes first, so that compiling is timed with no policy and no bound."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compare.policies import find_policy
from lpsched.errors import LpschedError
from lpsched.instance import Table
from lpsched.instance.day import ArrivingTasks, Day, DayMachineType, DayTaskType
from lpsched.instance.utility import Interval, UtilityFunction
from lpsched.pipeline.arrivals import arrival_bound
from lpsched.simulation.engine import simulate_day

if TYPE_CHECKING:
    from lpsched.simulation.options import SimulationOptions


def two_tasks() -> Day:
    """Return a day that is over in a minute."""
    worth = UtilityFunction((Interval(0.0, 8.0, 1.0, 0.01),))
    return Day(
        "rehearsal",
        (DayMachineType("machine", 1, ("P0", "P1")),),
        (DayTaskType("task"),),
        Table.of([[1.0, 2.0]]),
        Table.of([[100.0, 40.0]]),
        ArrivingTasks.of([0.0, 0.5], [0, 0], ["worth", "worth"]),
        utility_functions={"worth": worth},
    )


def rehearse(name: str, options: SimulationOptions) -> None:
    """Let a policy run that day; how it fares does not matter."""
    day = two_tasks()
    with contextlib.suppress(LpschedError):
        simulate_day(day, find_policy(name, day), np.random.default_rng(0), options)


def rehearse_bound() -> None:
    """Find the bound of that day."""
    arrival_bound(two_tasks())
