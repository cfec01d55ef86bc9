"""Schedules of a bag by NSGA-II: those of its front, seeded with what min-min and min-energy find.

Importing this loads pymoo and a compiler.

Without a limit it runs 1,000 generations, or a minute if they take longer: the same seed then gives the same
answer wherever a minute is enough.

Source: Friese, thesis of 2015, section 6.5.1.2, whose seeds they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.bag.evolve import BagProblem
from lpsched.bag.heuristics import min_energy, min_min
from lpsched.evolve.nsga2 import evolve_front
from lpsched.evolve.running import limits

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.cancellation import Watch


def evolved_schedules(bag: Bag, *, seed: int, generations: int | None, watch: Watch) -> list[Schedule]:
    """Let schedules evolve, and return those that nothing beats in energy and makespan."""
    rng = np.random.default_rng(seed)
    generations, watch = limits(generations, watch)
    seeds = () if bag.watts is None else (min_min(bag, rng), min_energy(bag, rng))
    front = evolve_front(BagProblem(bag), rng=rng, seeds=seeds, generations=generations, watch=watch)
    return list(front.schedules())
