"""The heuristics for days, by name: ours, those that others register, those of installed packages.

A heuristic is a function from a day, a random generator and an option to a schedule:

    @register_for_days("mine")
    def mine(day, rng, *, drop_below=None): ...

A package announces its own in its `pyproject.toml`, and they are there once it is installed:

    [project.entry-points."lpsched.day_heuristics"]
    mine = "package.module:function"

Whatever a heuristic hands back is checked by the verifier before anybody sees a number of it. Heuristics for
bags have a registry of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from lpsched.heuristics.arrivals.max_max import (
    max_max_utility,
    max_max_utility_per_energy,
    max_max_utility_per_power,
    max_max_utility_per_time,
)
from lpsched.heuristics.arrivals.max_utility import max_utility
from lpsched.heuristics.arrivals.min_energy import min_energy
from lpsched.heuristics.arrivals.min_min import min_min
from lpsched.heuristics.arrivals.minimum_completion_time import mct
from lpsched.heuristics.arrivals.random_machine import random_machine
from lpsched.heuristics.arrivals.utility_per_energy import utility_per_energy
from lpsched.named import Named

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule


class DayHeuristic(Protocol):
    """Maps the tasks of a day to machines, P-states and start times."""

    def __call__(
        self, day: Day, rng: np.random.Generator, /, *, drop_below: float | None = None
    ) -> DaySchedule:
        """Return a schedule; a task that would earn less than `drop_below` is dropped."""


OF_DAYS: Final[Named[DayHeuristic]] = Named(
    "day",
    "lpsched.day_heuristics",
    {
        "min-energy": min_energy,
        "max-utility": max_utility,
        "utility-per-energy": utility_per_energy,
        "mct": mct,
        "min-min": min_min,
        "max-max-utility": max_max_utility,
        "max-max-utility-per-time": max_max_utility_per_time,
        "max-max-utility-per-power": max_max_utility_per_power,
        "max-max-utility-per-energy": max_max_utility_per_energy,
        "random": random_machine,
    },
)


register_for_days, forget_for_days = OF_DAYS.register, OF_DAYS.forget
names_for_days, heuristic_for_days = OF_DAYS.names, OF_DAYS.get
