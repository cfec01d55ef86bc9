"""The static heuristics by name: those of lpsched, those that others register, those of installed packages.

A heuristic is a function from a bag and a random generator to a schedule, compact or task by task:

    @register("mine")
    def mine(bag, rng): ...

A package announces its own in its `pyproject.toml`, and they are there once it is installed:

    [project.entry-points."lpsched.heuristics"]
    mine = "package.module:function"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.heuristics.k_percent_best import k_percent_best
from lpsched.heuristics.max_min import max_min
from lpsched.heuristics.min_energy import min_energy
from lpsched.heuristics.min_min import min_min
from lpsched.heuristics.minimum_completion_time import minimum_completion_time
from lpsched.heuristics.minimum_execution_time import minimum_execution_time
from lpsched.heuristics.opportunistic import opportunistic
from lpsched.heuristics.random_mapping import random_mapping
from lpsched.heuristics.sufferage import sufferage
from lpsched.named import Named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule
    from lpsched.schedule.tasks import TaskRow

Heuristic: TypeAlias = "Callable[[Bag, np.random.Generator], Schedule | Iterable[TaskRow]]"

A_DAY: Final = "a day, whose tasks have arrivals and utilities"
OF_BAGS: Final[Named[Heuristic]] = Named(
    "bag",
    "lpsched.heuristics",
    {
        "min-min": min_min,
        "max-min": max_min,
        "sufferage": sufferage,
        "met": minimum_execution_time,
        "mct": minimum_completion_time,
        "olb": opportunistic,
        "k-percent-best": k_percent_best,
        "min-energy": min_energy,
        "random": random_mapping,
    },
    {"max-utility": A_DAY, "utility-per-energy": A_DAY},
)


register, forget = OF_BAGS.register, OF_BAGS.forget
names, heuristic = OF_BAGS.names, OF_BAGS.get
