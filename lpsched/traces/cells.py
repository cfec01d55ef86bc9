"""How long jobs of one task type took on one machine type, and at which power: means, samples and spread.

A machine is a node (a processor, in logs that count those) and runs one task at a time. A job of width w that
took t seconds is w tasks of t seconds each, and its joules J are shared among them. Per cell, over its jobs:

    seconds  mean        sum w t / sum w                             node-seconds stay what they were
             deviation   square root of  sum w (t - mean)^2 / sum w  times  N / (N - 1),  N jobs
    watts    mean        sum J / sum w t                             joules stay what they were
             deviation   the same with J / (w t) in place of t and w t in place of w
    variation            deviation / mean

Watts are of those jobs whose joules are known; a deviation needs two jobs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.traces.jobs import Jobs


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """A mean and a spread in each cell, task types by machine types; NaN where there is none."""

    samples: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @property
    def variation(self) -> NDArray[np.float64]:
        """The deviation as a share of the mean; NaN where there is none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = self.deviation / self.mean
        return np.where(self.mean > 0, share, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What the jobs of a log tell of each pair of a task type and a machine type."""

    tasks: NDArray[np.int64]
    seconds: Means
    watts: Means


def cells_of(jobs: Jobs) -> Cells:
    """Return the cells of all jobs."""
    shape = (len(jobs.groups), len(jobs.machines))
    cell = jobs.group * shape[1] + jobs.machine
    node_seconds = jobs.width * jobs.run_seconds
    known = ~np.isnan(jobs.joules)
    watts = jobs.joules[known] / node_seconds[known]
    tasks = np.zeros(shape[0] * shape[1], np.int64)
    np.add.at(tasks, cell, jobs.width)
    return Cells(
        tasks.reshape(shape),
        _means(cell, jobs.run_seconds, jobs.width.astype(np.float64), shape),
        _means(cell[known], watts, node_seconds[known], shape),
    )


def _means(
    cell: NDArray[np.int64],
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    shape: tuple[int, int],
) -> Means:
    count = shape[0] * shape[1]
    samples = np.bincount(cell, minlength=count)
    weight = np.bincount(cell, weights=weights, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):  # a cell without samples is NaN
        mean = np.bincount(cell, weights=weights * values, minlength=count) / weight
        squares = np.bincount(cell, weights=weights * (values - mean[cell]) ** 2, minlength=count)
        deviation = np.sqrt(squares / weight * (samples / (samples - 1.0)))
    deviation = np.where(samples > 1, deviation, np.nan)
    return Means(samples.reshape(shape), mean.reshape(shape), deviation.reshape(shape))
