"""Drawing uncertain times and powers of tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import Fault, InstanceError
from lpsched.model.risk import LEAST_SAMPLES, SOURCE, ends_of

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers
    from lpsched.model.risk import Cov, RiskOptions


# Gamma distributions cut into equally likely bins, each stood for by its mean.
#
# Of a gamma distribution with mean 1 and coefficient of variation v, shape k = 1 / v^2, and y = log x:
#
#     density of y  ~  exp(k (y - exp y))        F = its integral        L = the integral of density * exp y
#
# L over F is the Lorenz curve: which part of the mean comes from the smallest F of all values. Both are
# summed up on a grid of y that is denser towards large values, until the density has fallen by exp(-40). The
# mean of the values between the quantiles q / Q and (q + 1) / Q is then
#
#     Q (L((q + 1) / Q) - L(q / Q))
#
# and since L goes from 0 to 1, the mean of all bins is 1, exactly. What a bin's mean leaves out is the
# variance within bins: of 256 bins 0.08 % of all variance at v = 0.1, 0.4 % at v = 1, 0.8 % at v = 1.5, 6 %
# at v = 5.
#
# Source: Friese, thesis of 2015, section 7.3.2, which cuts gamma distributions into bins too.
BINS: Final = 256  # so that a draw is one byte
POINTS: Final = 4096
DECAY: Final = 40.0  # exp(-40) is 4e-18
SURE: Final = 1e-6  # below, a coefficient of variation makes no difference


def bin_means(cov: float, bins: int = BINS) -> Floats:
    """Return the means of equally likely bins of a gamma distribution with mean 1, rising.

    >>> bin_means(1.0, 2).round(4).tolist()  # of an exponential one: 1 - log 2 and 1 + log 2
    [0.3069, 1.6931]
    """
    if cov < SURE:
        return np.ones(bins)
    shape = 1.0 / (cov * cov)
    y = _grid(shape)
    density = np.exp(shape * (y - np.expm1(y)))
    mass, share = (_integral(each, y) for each in (density, density * np.exp(y)))
    lorenz = np.interp(np.arange(bins + 1) / bins, mass, share)
    return bins * np.diff(lorenz)


def _grid(shape: float) -> Floats:
    """Return logarithms from where to where the density is of any account, denser towards the larger."""
    far = DECAY / shape  # exp y - 1 - y at both ends
    low = -(1.0 + far) if far > 1.0 else -2.0 * math.sqrt(far)
    high = math.log1p(2.0 * far) if far > 1.0 else math.sqrt(2.0 * far)
    steps: Floats = np.linspace(1.0, 0.0, POINTS) ** 2
    return high - (high - low) * steps


def _integral(heights: Floats, y: Floats) -> Floats:
    """Return the integral up to each point, as a share of the whole."""
    parts = 0.5 * (heights[1:] + heights[:-1]) * np.diff(y)
    sums: Floats = np.concatenate(([0.0], np.cumsum(parts)))
    return np.asarray(sums / sums[-1])


# How far times and powers scatter: one coefficient of variation for each pair and P-state.
#
# The tables' seconds and watts are means. A task's own seconds and watts are gamma-distributed around them,
# each task by itself, with the coefficients of variation (standard deviation / mean) below. Where a range is
# asked for, each pair draws one of 64 values that divide the range evenly: so few, that the bins of all of
# them stay in a processor's cache.
#
# Source: Friese, thesis of 2015, section 7.3.2.
LEVELS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Coefficients of variation, T x C; 0 is certain."""

    seconds_cov: Floats
    watts_cov: Floats


def spread_of(shape: tuple[int, int], options: RiskOptions, rng: np.random.Generator) -> Spread:
    """Return a coefficient for each pair and P-state: the one that is asked for, or drawn from its range.

    >>> from lpsched.model.risk import RiskOptions
    >>> spread = spread_of((2, 3), RiskOptions(cov=0.3, power_cov=(0.1, 0.2)), np.random.default_rng(0))
    >>> spread.seconds_cov.tolist(), bool((spread.watts_cov >= 0.1).all())
    ([[0.3, 0.3, 0.3], [0.3, 0.3, 0.3]], True)
    """
    return Spread(_drawn(shape, options.cov, rng), _drawn(shape, options.powers, rng))


def _drawn(shape: tuple[int, int], cov: Cov, rng: np.random.Generator) -> Floats:
    """Return the coefficients; a range takes as many draws, whatever its ends are."""
    low, high = ends_of(cov)
    if not isinstance(cov, tuple):
        return np.full(shape, float(low))
    return low + (high - low) * (rng.integers(0, LEVELS, shape) + 0.5) / LEVELS


# Times and powers of single tasks, drawn once for all: common random numbers.
#
# Each of N tasks has, in each of S samples, one draw for its time and one for its power: the number of one of
# 256 equally likely bins. What the draw stands for depends on where the task runs: the mean of that bin of
# the pair's gamma distribution (`bin_means`), which is the table's mean times a number that only depends on
# the pair's coefficient of variation. So whoever schedules, in whatever order and on whatever machines, a
# task that is long in a sample is long everywhere, and two schedules differ by their merits, not by their
# luck. The bins' mean is the table's, exactly.
#
# One byte for a draw: 6,000 tasks and 100 samples take 1.2 MB, which stays in a processor's cache.
#
# Source: Friese, thesis of 2015, section 7.3.2.
Draws: TypeAlias = NDArray[np.uint8]
MOST_DRAWS: Final = 500_000_000  # bytes, of times and powers each
SPREADS, TASKS = 1, 2  # beside the seed, so that drawing the one moves no draw of the other


@dataclass(frozen=True, slots=True, eq=False)
class TaskDraws:
    """Bins of K spreads around 1, which spread each pair has, and which bin each task gets in each sample."""

    bins: Floats  # K x 256
    seconds: Floats  # T x C, as in the tables: means
    watts: Floats  # T x C
    time_spread: Integers  # T x C: a row of the bins
    power_spread: Integers  # T x C
    time_draws: Draws  # N x S
    power_draws: Draws  # N x S

    def seconds_of(self, task: int, pair: tuple[int, int]) -> Floats:
        """Return how long a task takes as such a pair, in each sample."""
        around_one = self.bins[self.time_spread[pair]][self.time_draws[task]]
        return np.asarray(self.seconds[pair] * around_one)

    def watts_of(self, task: int, pair: tuple[int, int]) -> Floats:
        """Return what a task draws as such a pair, in each sample."""
        around_one = self.bins[self.power_spread[pair]][self.power_draws[task]]
        return np.asarray(self.watts[pair] * around_one)


def task_draws(tasks: int, seconds: Floats, watts: Floats, options: RiskOptions, seed: int) -> TaskDraws:
    """Draw for all tasks of a bag or a day whose tables, T x C, are these."""
    most = MOST_DRAWS // max(1, tasks)
    if options.samples > most:
        found = f"{options.samples:,} samples of {tasks:,} tasks"
        do = f"ask for {most:,} samples" if most >= LEAST_SAMPLES else "take fewer tasks"
        raise InstanceError(SOURCE, (Fault(("samples",), found, f"at most {MOST_DRAWS:,} draws", do),))
    rows, columns = seconds.shape
    spread = spread_of((rows, columns), options, np.random.default_rng((seed, SPREADS)))
    covs = np.stack([spread.seconds_cov, spread.watts_cov])
    known, places = np.unique(covs, return_inverse=True)
    time_spread, power_spread = places.reshape(covs.shape)
    rng = np.random.default_rng((seed, TASKS))
    return TaskDraws(
        bins=np.stack([bin_means(float(cov)) for cov in known]),
        seconds=seconds,
        watts=watts,
        time_spread=time_spread,
        power_spread=power_spread,
        time_draws=rng.integers(0, BINS, (tasks, options.samples), dtype=np.uint8),
        power_draws=rng.integers(0, BINS, (tasks, options.samples), dtype=np.uint8),
    )
