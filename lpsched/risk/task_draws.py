"""Times and powers of single tasks, drawn once for all: common random numbers.

Each of N tasks has, in each of S samples, one draw for its time and one for its power: the number of one of
256 equally likely bins. What the draw stands for depends on where the task runs: the mean of that bin of the
pair's gamma distribution (`quantiles.py`), which is the table's mean times a number that only depends on the
pair's coefficient of variation. So whoever schedules, in whatever order and on
whatever machines, a task that is long in a sample is long everywhere, and two schedules differ by their
merits, not by their luck. The bins' mean is the table's, exactly.

One byte for a draw: 6,000 tasks and 100 samples take 1.2 MB, which stays in a processor's cache.

Source: Friese, thesis of 2015, section 7.3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import Fault, InstanceError
from lpsched.risk.options import LEAST_SAMPLES, SOURCE
from lpsched.risk.quantiles import BINS, bin_means
from lpsched.risk.spreads import spread_of

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.risk.options import RiskOptions

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
    """Draw for all tasks of a bag or a day whose tables, T x C, are these.

    Raises
    ------
    InstanceError
        If that were too much to hold.
    """
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
