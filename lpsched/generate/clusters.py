"""Clusters with parallel tasks: speed-ups by the model of Downey, task types, tables of seconds and watts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.generate import arrivals as arriving
from lpsched.generate.bags import gamma_draws, rounded, six_digits
from lpsched.generate.options import HOURS_PER_DAY, POWER_SCALING, MachovecOptions
from lpsched.model.fields import numbered
from lpsched.online.clusters import Clusters, DayTaskType, ParallelTasks
from lpsched.online.curves import NodeCurves, Points
from lpsched.online.parts import Cluster, Levels
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.generate.arrivals import Rates
    from lpsched.model.table import Floats, Integers


# How much faster a program runs on n cores than on one: Downey's model.
#     A      average parallelism of the program: what it could keep busy on average, at least 1
#     sigma  how much its parallelism varies: 0 does not at all; above 1, the program is largely sequential with
#            bursts of much parallelism
#     n      cores
#
#     sigma <= 1   S(n)  =  A n / (A + sigma (n - 1) / 2)                    for 1 <= n <= A
#                  S(n)  =  A n / (sigma (A - 1/2) + n (1 - sigma / 2))      for A <= n <= 2 A - 1
#                  S(n)  =  A                                                for n >= 2 A - 1
#     sigma >= 1   S(n)  =  n A (sigma + 1) / (sigma (n + A - 1) + A)        for 1 <= n <= A + A sigma - sigma
#                  S(n)  =  A                                                from there on
# Both agree at sigma = 1. S(1) is 1, and S never falls.
# Source: Downey, A model for speedup of parallel programs, technical report UCB/CSD-97-933 (1997).
def speed_up(cores: Integers, parallelism: float, sigma: float) -> Floats:
    """Return how many times faster than one core each number of cores is.

    >>> speed_up(np.array([1, 4, 7, 100]), 4.0, 0.0).tolist()
    [1.0, 4.0, 4.0, 4.0]
    >>> speed_up(np.array([1, 4, 13, 14]), 4.0, 3.0).tolist()
    [1.0, 2.56, 4.0, 4.0]
    """
    n, a = cores.astype(float), parallelism
    if sigma > 1.0:
        rising = n * a * (sigma + 1.0) / (sigma * (n + a - 1.0) + a)
        return np.where(n <= a + a * sigma - sigma, rising, a)
    within = a * n / (a + sigma * (n - 1.0) / 2.0)
    beyond = a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
    return np.where(n <= a, within, np.where(n <= 2.0 * a - 1.0, beyond, a))


# Task types of the Jobs paper:
#     u       utility at the start, evenly within the range of the priority; priority and urgency by table I
#     t       ~ Gaussian((1 + (18 - 1) (u - 1) / (8 - 1)) hours, coefficient of variation 0.15), never below a tenth of
#             its mean: seconds on a single core, the longer the more utility a task has
#     home    for general-purpose types any general-purpose cluster; for special-purpose types their own
#     n       cores, by table II evenly between the ends of its row; `max` are the cores of the home cluster: 20 % 2 to
#             4, 20 % 5 to 256, 40 % 257 to 4,096, 19 % 4,097 to max - 1, 1 % max
#     A       average parallelism, log-evenly from 0.5 to 2 % of n, at least 1
#     sigma   evenly from 4 to 10
# In clusters that are smaller than a row of table II, the row ends where the cluster does. Task types of the same
# clusters are next to each other: the general-purpose ones first, then those of the first special-purpose cluster, and
# so on. Source: Machovec et al. (2016), section IV.B, tables I and II; `options.py` says what is ours.
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
    pairs = arriving.draw_pairs(rng, number)
    low, high = np.array([arriving.UTILITY_RANGES[priority] for priority, _ in pairs]).T
    utilities = high - rng.random(number) * (high - low)  # the upper end belongs to the range
    general = rng.integers(max(1, len(options.nodes)), size=options.general_task_types)
    special = np.arange(len(options.nodes), len(options.clusters))
    home = np.concatenate([general, np.repeat(special, options.special_task_types)])
    cores = _cores(rng, options, home)
    along = (utilities - LEAST_UTILITY) / (MOST_UTILITY - LEAST_UTILITY)
    hours = options.shortest_hours + (options.longest_hours - options.shortest_hours) * along
    spread = np.maximum(SHORTEST_SHARE, rng.normal(1.0, options.time_cov, size=number))
    least, most = options.parallelism_share_least, options.parallelism_share_most
    return TypeDraws(
        priorities=[priority for priority, _ in pairs],
        urgencies=[urgency for _, urgency in pairs],
        utilities=utilities,
        home=home,
        single_core_seconds=SECONDS_PER_HOUR * hours * spread,
        cores=cores,
        parallelism=np.maximum(1.0, cores * least * (most / least) ** rng.random(number)),
        sigmas=rng.uniform(options.sigma_least, options.sigma_most, size=number),
    )


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


# Seconds and watts of the Jobs paper's task types, by cluster, P-state and number of nodes.
#
# With G(mean, V) of `bags.py`, task type i, cluster c, P-state k of power scaling f_k = 1, 0.75, 0.5:
#  t_ic   seconds on a single core: the type's at home, ~ G(t_i, 0.3) in other clusters
#  d_i    ~ G(133, 0.2)        watts of one node, on the whole
#  D_ic   ~ G(d_i, 0.2)        in cluster c
#  r_ic   ~ G(1, V)            the randomness of the pair; V is 0.3 for general-purpose task types, 0.2 for
#                              special-purpose ones
#  p_ick  ~ G(f_k r_ic, V/10)              factor of power
#  s_ick  ~ G(sqrt(f_k r_ic), V/10)        factor of speed
#
#  watts of m nodes     m D_ic p_ick
#  seconds on m nodes   t_ic / s_ick / S(cores), with the speed-up S of `speed_up`. On as many nodes as the
#                       type takes for its cores it uses just these; on more or fewer, all that they have
# so in one pair power and speed go up together, as they do from one P-state to another. Curves of seconds have points
# at 1, 2, 4, ... and all nodes of the cluster and at the number that the type takes; watts are a line. General-purpose
# types run in general-purpose clusters only, special-purpose ones in their own only. Numbers are rounded to six digits.
# Source: Machovec et al. (2016), section IV.B. It does not say whether a root goes over f_k alone, whether
# power and speed have one randomness, and for what it is drawn anew: over both, one, for each pair are ours.
GENERAL_COV: Final = 0.3
SPECIAL_COV: Final = 0.2
STATE_SHARE: Final = 0.1  # of these, between P-states


def draw_curves(rng: np.random.Generator, options: MachovecOptions, types: TypeDraws) -> tuple[NodeCurves, NodeCurves]:
    """Draw the curves of seconds and of watts."""
    seconds, watts = draw_single(rng, options, types)
    cluster_numbers, home = np.arange(len(options.clusters)), types.home[:, np.newaxis]
    general = (cluster_numbers < len(options.nodes)) & (home < len(options.nodes))
    runs = (cluster_numbers == home) | general
    pairs = [
        [
            (seconds_curves(cluster, types, i, seconds[i, c]), watts_curves(cluster, watts[i, c]))
            if runs[i, c]
            else ((None,) * options.p_states,) * 2
            for c, cluster in enumerate(options.clusters)
        ]
        for i in range(options.task_types)
    ]
    of_seconds, of_watts = (
        NodeCurves(tuple(tuple(cell for pair in row for cell in pair[which]) for row in pairs)) for which in (0, 1)
    )
    return of_seconds, of_watts


def draw_single(rng: np.random.Generator, options: MachovecOptions, types: TypeDraws) -> tuple[Floats, Floats]:
    """Draw t_ic / s_ick, seconds on a single core, and D_ic p_ick, watts of a single node."""
    size = (options.task_types, len(options.clusters))
    on_one_core = np.broadcast_to(types.single_core_seconds[:, np.newaxis], size)
    varied = gamma_draws(rng, on_one_core, options.cluster_cov)
    if options.single_core == "home":
        at_home = np.arange(size[1]) == types.home[:, np.newaxis]
        varied = np.where(at_home, on_one_core, varied)
    row_watts = gamma_draws(rng, np.full((size[0], 1), options.node_watts), options.watts_cov)
    node_watts = gamma_draws(rng, np.broadcast_to(row_watts, size), options.watts_cov)
    speed, power = draw_states(rng, options, types)
    return varied[:, :, np.newaxis] / speed, node_watts[:, :, np.newaxis] * power


def draw_states(rng: np.random.Generator, options: MachovecOptions, types: TypeDraws) -> tuple[Floats, Floats]:
    """Draw s_ick and p_ick, the factors of speed and of power."""
    shape = (len(types.home), len(options.clusters), options.p_states)
    speed, power = np.empty(shape), np.empty(shape)
    special = types.home >= len(options.nodes)
    for rows, cov in ((~special, GENERAL_COV), (special, SPECIAL_COV)):
        randomness = gamma_draws(rng, np.ones((int(rows.sum()), shape[1], 1)), cov)
        scaled = randomness * np.array(POWER_SCALING[: options.p_states])
        power[rows] = gamma_draws(rng, scaled, STATE_SHARE * cov)
        speed[rows] = gamma_draws(rng, np.sqrt(scaled), STATE_SHARE * cov)
    return speed, power


def seconds_curves(cluster: Cluster, types: TypeDraws, i: int, single: Floats) -> tuple[Points, ...]:
    """Return the curve of each P-state, from its seconds on a single core."""
    cores = int(types.cores[i])
    own = cluster.nodes_for(cores)
    nodes = sorted({*(2**k for k in range(cluster.nodes.bit_length())), cluster.nodes, own})
    nodes = [each for each in nodes if each <= cluster.nodes]
    used = np.array([cores if each == own else each * cluster.cores_per_node for each in nodes])
    faster = speed_up(used, float(types.parallelism[i]), float(types.sigmas[i]))
    values = rounded(single[:, np.newaxis] / faster)
    return tuple(tuple(zip(nodes, row, strict=True)) for row in values.tolist())


def watts_curves(cluster: Cluster, single: Floats) -> tuple[Points, ...]:
    """Return the line of each P-state, from the watts of a single node."""
    found = []
    for watts in map(six_digits, single.tolist()):
        last = (cluster.nodes, float(f"{cluster.nodes * watts:.15g}"))
        found.append(((1, watts), last) if cluster.nodes > 1 else (last,))
    return tuple(found)


# The Jobs paper's clusters: 100,000 cores, and tasks of a hundred types that take many nodes, for 28 hours.
#     N, T    tasks in 24 hours on average, and task types
#     rate    N / T / 24 hours for each type, times the waves of `arrivals.py` for types of at most 4,096 cores; for
#             larger ones, 2 between 9:00 and 18:00 and (24 - 2 x 9) / 15 = 0.4 in the other 15 hours: the mean over the
#             day is 1
# Tasks of a type agree in cores, in starting utility and in urgency; utility classes are drawn evenly for each task.
# How many tasks there are is random; a draw without any is drawn again. Arrivals have hundredths of a second. Energy
# and utility are prorated at the edges of the 24 hours that count, after four hours of warm-up with the rates of their
# time of day. Schedulers know how long tasks run. Trial t of a seed is the same kind of clusters from the random
# numbers of the seeds (seed, t). Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an
# Oversubscribed Energy-Constrained Heterogeneous Environment" (2016), section IV. What it leaves out is in
# `options.py`.
NAME: Final = "machovec"
DAY_SECONDS: Final = SECONDS_PER_HOUR * HOURS_PER_DAY
WORK_HOURS: Final = (9.0, 18.0)
WORK_RATE: Final = 2.0


def machovec_clusters(name: str, seed: int, options: MachovecOptions, trial: tuple[int, ...] = ()) -> Clusters:
    """Generate clusters; the same seed, options and trial give the same clusters.

    >>> made = machovec_clusters("half", 1, MachovecOptions(tasks=2_500))
    >>> made.cores, made.nodes, made.period.ends_at, 2_600 < made.tasks < 3_200
    (100000, 1900, 100800.0, True)
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, *trial]))
    types = draw_types(rng, options)
    seconds, watts = draw_curves(rng, options, types)
    arrivals, of_type = _tasks(rng, options, types)
    names = map(str.__add__, types.priorities, numbered("", options.task_types))  # a priority for each task type
    priorities = dict(zip(names, map(six_digits, types.utilities.tolist()), strict=True))
    levels = _levels(rng, types, list(priorities), of_type)
    return Clusters(
        name=name,
        clusters=options.clusters,
        task_types=tuple(DayTaskType(label) for label in numbered("task", options.task_types)),
        seconds=seconds,
        watts=watts,
        tasks=ParallelTasks.of(arrivals.tolist(), of_type.tolist(), types.cores[of_type].tolist(), utilities=levels),
        priorities=priorities,
        urgencies=arriving.THESIS_LEVELS.urgencies,
        utility_classes=arriving.TWENTY_CLASSES,
        period=options.period,
        made_by=options.note(NAME, seed, trial),
    )


def _levels(rng: np.random.Generator, types: TypeDraws, priorities: list[str], of_type: Integers) -> list[Levels]:
    classes = tuple(arriving.TWENTY_CLASSES)
    every = [
        [Levels(priority, urgency, kind) for kind in classes]
        for priority, urgency in zip(priorities, types.urgencies, strict=True)
    ]
    drawn = rng.integers(len(classes), size=len(of_type))
    return [every[i][k] for i, k in zip(of_type.tolist(), drawn.tolist(), strict=True)]


def _tasks(rng: np.random.Generator, options: MachovecOptions, types: TypeDraws) -> tuple[Floats, Integers]:
    per_second = options.tasks / options.task_types / DAY_SECONDS

    def draw() -> Iterator[tuple[Rates, float]]:
        return ((_rates(rng, options, cores), per_second) for cores in types.cores.tolist())

    return arriving.draw_tasks(rng, draw, SECONDS_PER_HOUR * options.hours, options.period.warm_up_seconds)


def _rates(rng: np.random.Generator, options: MachovecOptions, cores: int) -> Rates:
    if cores > options.core_steps[-1]:
        return work_hours(options.begins_at_hour)
    waves = arriving.draw_waves(rng, DAY_SECONDS)
    return waves if options.wave_amplitude is None else replace(waves, amplitude=options.wave_amplitude)


def work_hours(begins_at_hour: float) -> arriving.Bursts:
    """Return the rates of large tasks, in a period that begins at a time of day.

    >>> work_hours(8.0).at(SECONDS_PER_HOUR * np.array([0.9, 1.0, 9.9, 10.0, -14.5])).tolist()
    [0.4, 2.0, 2.0, 0.4, 2.0]
    """
    begin, end = WORK_HOURS
    rest = (HOURS_PER_DAY - WORK_RATE * (end - begin)) / (HOURS_PER_DAY - (end - begin))
    return arriving.Bursts(
        DAY_SECONDS,
        SECONDS_PER_HOUR * np.array([0.0, begin, end]),
        np.array([rest, WORK_RATE, rest]),
        SECONDS_PER_HOUR * begins_at_hour,
    )
