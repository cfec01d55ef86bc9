"""Task types of the Jobs paper: what each is worth, how urgent it is, how large, and how long on one core.

    u       utility at the start, evenly within the range of the priority; priority and urgency by table I
    t       ~ Gaussian((1 + (18 - 1) (u - 1) / (8 - 1)) hours, coefficient of variation 0.15), never below a
            tenth of its mean: seconds on a single core, the longer the more a task is worth
    home    for general-purpose types any general-purpose cluster; for special-purpose types their own
    n       cores, by table II evenly between the ends of its row; `max` are the cores of the home cluster:
            20 % 2 to 4, 20 % 5 to 256, 40 % 257 to 4,096, 19 % 4,097 to max - 1, 1 % max
    A       average parallelism, log-evenly from 0.5 to 2 % of n, at least 1
    sigma   evenly from 4 to 10

In clusters that are smaller than a row of table II, the row ends where the cluster does. Task types of the
same clusters are next to each other: the general-purpose ones first, then those of the first special-purpose
cluster, and so on.

Source: Machovec et al. (2016), section IV.B, tables I and II; `cluster_options.py` says what is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.generate.arrival_rates import SECONDS_PER_HOUR
from lpsched.generate.utilities import UTILITY_RANGES, draw_pairs

if TYPE_CHECKING:
    from lpsched.generate.cluster_options import MachovecOptions
    from lpsched.instance.array_types import Floats, Integers

LEAST_UTILITY: Final = 1.0
MOST_UTILITY: Final = 8.0
SHORTEST_SHARE: Final = 0.1  # of the mean
CORE_CHANCES: Final = (0.20, 0.20, 0.40, 0.19, 0.01)  # of the rows of table II
FEWEST_CORES: Final = 2


@dataclass(frozen=True, slots=True)
class TypeDraws:
    """What was drawn for each task type."""

    priorities: list[str]
    urgencies: list[str]
    utilities: Floats  # u
    home: Integers  # number of a cluster
    single_core_seconds: Floats  # t
    cores: Integers  # n
    parallelism: Floats  # A
    sigmas: Floats


def draw_types(rng: np.random.Generator, options: MachovecOptions) -> TypeDraws:
    """Draw all task types."""
    number = options.task_types
    pairs = draw_pairs(rng, number)
    low, high = np.array([UTILITY_RANGES[priority] for priority, _ in pairs]).T
    utilities = high - rng.random(number) * (high - low)  # the upper end belongs to the range
    home = _homes(rng, options)
    cores = _cores(rng, options, home)
    return TypeDraws(
        priorities=[priority for priority, _ in pairs],
        urgencies=[urgency for _, urgency in pairs],
        utilities=utilities,
        home=home,
        single_core_seconds=_single_core_seconds(rng, options, utilities),
        cores=cores,
        parallelism=_parallelism(rng, options, cores),
        sigmas=rng.uniform(options.sigma_least, options.sigma_most, size=number),
    )


def _homes(rng: np.random.Generator, options: MachovecOptions) -> Integers:
    general = rng.integers(max(1, len(options.nodes)), size=options.general_task_types)
    special = np.arange(len(options.nodes), len(options.clusters))
    return np.concatenate([general, np.repeat(special, options.special_task_types)])


def _single_core_seconds(rng: np.random.Generator, options: MachovecOptions, utilities: Floats) -> Floats:
    along = (utilities - LEAST_UTILITY) / (MOST_UTILITY - LEAST_UTILITY)
    hours = options.shortest_hours + (options.longest_hours - options.shortest_hours) * along
    spread = np.maximum(SHORTEST_SHARE, rng.normal(1.0, options.time_cov, size=len(utilities)))
    seconds: Floats = SECONDS_PER_HOUR * hours * spread
    return seconds


def _cores(rng: np.random.Generator, options: MachovecOptions, home: Integers) -> Integers:
    """Draw a row of table II for each type, and cores within it."""
    most = np.array([cluster.cores for cluster in options.clusters])[home]
    first, second, third = options.core_steps
    rows = rng.choice(len(CORE_CHANCES), size=len(home), p=CORE_CHANCES)
    begins = np.stack(np.broadcast_arrays(FEWEST_CORES, first + 1, second + 1, third + 1, most))
    ends = np.stack(np.broadcast_arrays(first, second, third, most - 1, most))
    begin = np.minimum(np.take_along_axis(begins, rows[np.newaxis], axis=0)[0], most)
    end = np.clip(np.take_along_axis(ends, rows[np.newaxis], axis=0)[0], begin, most)
    cores: Integers = rng.integers(begin, end, endpoint=True)
    return cores


def _parallelism(rng: np.random.Generator, options: MachovecOptions, cores: Integers) -> Floats:
    least, most = options.parallelism_share_least, options.parallelism_share_most
    drawn: Floats = np.maximum(1.0, cores * least * (most / least) ** rng.random(len(cores)))
    return drawn
