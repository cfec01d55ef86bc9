"""Schedules of a day by NSGA-II: two of its front, seeded with the four heuristics of the thesis.

Importing this loads pymoo and a compiler.

Source: Friese, thesis of 2015, section 5.5.2 for the seeds, 5.6 for utility per energy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.evolve.nsga2 import evolve_front
from lpsched.evolve.running import limits
from lpsched.online.evolve import DayProblem
from lpsched.online.heuristics import heuristic_for_days

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.cancellation import Watch
    from lpsched.model.arrays import Floats
    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule

SEEDS: Final = ("min-energy", "max-utility", "utility-per-energy", "min-min")


def evolved_day(  # noqa: PLR0913 - options are keyword-only
    day: Day,
    *,
    seed: int,
    generations: int | None,
    drop_below: float | None,
    watch: Watch,
    bound: Callable[[float], float],
) -> dict[str, DaySchedule]:
    """Let schedules evolve; return the one of most utility and the one of most utility per joule.

    Those who watch hear how far the front is below a bound on the utility at each energy, on average.
    """
    rng = np.random.default_rng(seed)
    generations, watch = limits(generations, watch)
    seeds = [heuristic_for_days(name)(day, rng, drop_below=drop_below) for name in SEEDS]
    front = evolve_front(
        DayProblem(day, drop_below),
        rng=rng,
        seeds=seeds,
        generations=generations,
        watch=watch,
        judge=lambda scores: mean_gap(scores, bound),
    )
    joules, utility = np.array(front.points).T
    with np.errstate(divide="ignore", invalid="ignore"):  # without energy: infinite, or nothing at all
        per_joule = np.nan_to_num(utility / joules, nan=0.0, posinf=np.inf)
    aims = {"most utility": int(np.argmax(utility)), "most utility/MJ": int(np.argmax(per_joule))}
    return {aim: front.schedule(number) for aim, number in aims.items()}


def mean_gap(scores: Floats, bound: Callable[[float], float]) -> float:
    """Return the share of the bound that points (joules, minus utility) do not earn, on average.

    >>> mean_gap(np.array([[1.0, -2.0], [2.0, -6.0]]), lambda joules: 4.0 * joules)
    0.375
    """
    most = np.array([bound(joules) for joules in scores[:, 0].tolist()])
    earned = np.divide(-scores[:, 1], most, out=np.ones_like(most), where=most > 0.0)
    return float(np.mean(1.0 - earned))
