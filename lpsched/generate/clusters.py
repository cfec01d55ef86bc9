"""The Jobs paper's clusters: 100,000 cores, and tasks of a hundred types that take many nodes, for 28 hours.

    N, T    tasks in 24 hours on average, and task types
    rate    N / T / 24 hours for each type, times the waves of `arrival_rates.py` for types of at most 4,096
            cores; for larger ones, 2 between 9:00 and 18:00 and (24 - 2 x 9) / 15 = 0.4 in the other 15
            hours: the mean over the day is 1

Task types come by `cluster_types.py`, tables by `cluster_tables.py`. Tasks of a type agree in cores, in
starting utility and in urgency; utility classes are drawn evenly for each task. How many tasks there are is
random; a draw without any is drawn again. Arrivals have hundredths of a second. Energy and utility are
prorated at the edges of the 24 hours that count, after four hours of warm-up with the rates of their time of
day. Schedulers know how long tasks run.

Trial t of a seed is the same kind of clusters from other random numbers, those of the seeds (seed, t).

Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an Oversubscribed Energy-
Constrained Heterogeneous Environment" (2016), section IV. What it leaves out is in `cluster_options.py`.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.generate.arrival_rates import SECONDS_PER_HOUR, Bursts, draw_arrivals, draw_waves, in_order
from lpsched.generate.cluster_options import HOURS_PER_DAY, MachovecOptions
from lpsched.generate.cluster_tables import draw_curves
from lpsched.generate.cluster_types import draw_types
from lpsched.generate.cov import six_digits
from lpsched.generate.utilities import THESIS_LEVELS, TWENTY_CLASSES
from lpsched.instance.clusters import Clusters, DayTaskType, ParallelTasks
from lpsched.instance.day_tasks import Levels
from lpsched.instance.fields import numbered
from lpsched.instance.utility_levels import UtilityLevels

if TYPE_CHECKING:
    from lpsched.generate.arrival_rates import Rates
    from lpsched.generate.cluster_types import TypeDraws
    from lpsched.instance.array_types import Floats, Integers

NAME: Final = "machovec"
DAY_SECONDS: Final = SECONDS_PER_HOUR * HOURS_PER_DAY
WORK_HOURS: Final = (9.0, 18.0)
WORK_RATE: Final = 2.0


def machovec_clusters(
    name: str, seed: int, options: MachovecOptions, trial: tuple[int, ...] = ()
) -> Clusters:
    """Generate clusters; the same seed, options and trial give the same clusters.

    >>> made = machovec_clusters("half", 1, MachovecOptions(tasks=2_500))
    >>> made.cores, made.nodes, made.period.ends_at, 2_600 < made.tasks < 3_200
    (100000, 1900, 100800.0, True)
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, *trial]))
    types = draw_types(rng, options)
    seconds, watts = draw_curves(rng, options, types)
    arrivals, of_type = _tasks(rng, options, types)
    priorities = _priorities(types)
    levels = _levels(rng, types, list(priorities), of_type)
    return Clusters(
        name,
        options.clusters,
        tuple(DayTaskType(label) for label in numbered("task", options.task_types)),
        seconds,
        watts,
        ParallelTasks.of(
            arrivals.tolist(), of_type.tolist(), types.cores[of_type].tolist(), utilities=levels
        ),
        UtilityLevels(priorities, THESIS_LEVELS.urgencies, TWENTY_CLASSES),
        period=options.period,
        made_by=_made_by(seed, options, trial),
    )


def _made_by(seed: int, options: MachovecOptions, trial: tuple[int, ...]) -> dict[str, Any]:
    """Return what makes the clusters again, without options that are not given."""
    said = {"generator": NAME, "seed": seed} | ({"trial": trial} if trial else {})
    return said | {key: value for key, value in asdict(options).items() if value is not None}


def _priorities(types: TypeDraws) -> dict[str, float]:
    """Return a priority for each task type: its level and number, and its utility."""
    endings = numbered("", len(types.priorities))
    return {
        level + ending: six_digits(utility)
        for level, ending, utility in zip(types.priorities, endings, types.utilities.tolist(), strict=True)
    }


def _levels(
    rng: np.random.Generator, types: TypeDraws, priorities: list[str], of_type: Integers
) -> list[Levels]:
    """Draw a utility class for each task."""
    classes = tuple(TWENTY_CLASSES)
    every = [
        [Levels(priority, urgency, kind) for kind in classes]
        for priority, urgency in zip(priorities, types.urgencies, strict=True)
    ]
    drawn = rng.integers(len(classes), size=len(of_type))
    return [every[i][k] for i, k in zip(of_type.tolist(), drawn.tolist(), strict=True)]


def _tasks(rng: np.random.Generator, options: MachovecOptions, types: TypeDraws) -> tuple[Floats, Integers]:
    """Draw when tasks arrive, in rising order, and of which type they are."""
    length, warm_up = SECONDS_PER_HOUR * options.hours, options.period.warm_up_seconds
    per_second = options.tasks / options.task_types / DAY_SECONDS
    while True:
        found = [
            draw_arrivals(rng, _rates(rng, options, cores), per_second=per_second, begin=-warm_up, end=length)
            for cores in types.cores.tolist()
        ]
        if any(len(each) for each in found):
            return in_order(found, warm_up)


def _rates(rng: np.random.Generator, options: MachovecOptions, cores: int) -> Rates:
    if cores > options.core_steps[-1]:
        return work_hours(options.begins_at_hour)
    waves = draw_waves(rng, DAY_SECONDS)
    return waves if options.wave_amplitude is None else replace(waves, amplitude=options.wave_amplitude)


def work_hours(begins_at_hour: float) -> Bursts:
    """Return the rates of large tasks, in a period that begins at a time of day.

    >>> work_hours(8.0).at(SECONDS_PER_HOUR * np.array([0.9, 1.0, 9.9, 10.0, -14.5])).tolist()
    [0.4, 2.0, 2.0, 0.4, 2.0]
    """
    begin, end = WORK_HOURS
    rest = (HOURS_PER_DAY - WORK_RATE * (end - begin)) / (HOURS_PER_DAY - (end - begin))
    return Bursts(
        DAY_SECONDS,
        SECONDS_PER_HOUR * np.array([0.0, begin, end]),
        np.array([rest, WORK_RATE, rest]),
        SECONDS_PER_HOUR * begins_at_hour,
    )
