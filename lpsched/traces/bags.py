"""From jobs of a log to a bag: means of cells, a fit for cells without samples, and the table of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.io.content import csv_bytes
from lpsched.model.fields import MOST
from lpsched.model.table import Table
from lpsched.traces.jobs import Jobs, refused, require_few_groups

# How long jobs of one task type took on one machine type, and at which power: means, samples and spread.
#
# A machine is a node (a processor, in logs that count those) and runs one task at a time. A job of width w that
# took t seconds is w tasks of t seconds each, and its joules J are shared among them. Per cell, over its jobs:
#     seconds  mean        sum w t / sum w                             node-seconds stay what they were
#              deviation   square root of  sum w (t - mean)^2 / sum w  times  N / (N - 1),  N jobs
#     watts    mean        sum J / sum w t                             joules stay what they were
#              deviation   the same with J / (w t) in place of t and w t in place of w
#     variation            deviation / mean
# Watts are of those jobs whose joules are known; a deviation needs two jobs.
Values = NDArray[np.float64]  # task types by columns; NaN where there is none


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
    """What the jobs of a log say of each pair of a task type and a machine type."""

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
        means_of(cell, jobs.run_seconds, jobs.width.astype(np.float64), shape),
        means_of(cell[known], watts, node_seconds[known], shape),
    )


def means_of(
    cell: NDArray[np.int64], values: NDArray[np.float64], weights: NDArray[np.float64], shape: tuple[int, int]
) -> Means:
    """Return mean and spread of the values of each cell, by weights."""
    count = shape[0] * shape[1]
    samples = np.bincount(cell, minlength=count)
    weight = np.bincount(cell, weights=weights, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):  # a cell without samples is NaN
        mean = np.bincount(cell, weights=weights * values, minlength=count) / weight
        squares = np.bincount(cell, weights=weights * (values - mean[cell]) ** 2, minlength=count)
        deviation = np.sqrt(squares / weight * (samples / (samples - 1.0)))
    deviation = np.where(samples > 1, deviation, np.nan)
    return Means(samples.reshape(shape), mean.reshape(shape), deviation.reshape(shape))


# Estimates for cells without samples. A cell is taken to be the product of something of its task type and something of
# its machine type (the two-way analysis of variance without interaction, on logarithms): with r_i and c_j their
# logarithms,
#    log v_ij  =  r_i + c_j,     with the least  sum over cells with samples of  n_ij (log v_ij - r_i - c_j)^2
# where n_ij is the number of samples. Given c, the best r_i is the weighted mean of log v_ij - c_j over the row; put
# in, that leaves one linear equation per machine type. A cell is estimated only if its row and its column are
# *connected* over cells with samples; there the estimate is unique. Powers of pairs whose times are known are needed
# even otherwise: those are taken as typical of the machine type, the geometric mean of its column, by samples
# (`typical`). Real machines differ more than that, so estimated cells are marked.
def estimates(values: NDArray[np.float64], samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return an estimate for every cell that is connected, NaN elsewhere; values are task types by machine types.

    >>> two, all_but_one = np.array([[1.0, 3.0], [2.0, np.nan]]), np.array([[1, 1], [1, 0]])
    >>> estimates(two, all_but_one).round(9)
    array([[1., 3.],
           [2., 6.]])
    """
    weights, logs = _weighted_logs(values, samples)
    per_row = np.maximum(weights.sum(axis=1), 1.0)  # empty rows have no say
    share = weights / per_row[:, None]
    # sum_i n_ij (log v_ij - r_i - c_j) = 0 for every j, with r_i = sum_k share_ik (log v_ik - c_k)
    matrix = np.diag(weights.sum(axis=0)) - weights.T @ share
    wanted = (weights * logs).sum(axis=0) - weights.T @ (share * logs).sum(axis=1)
    column = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    row = (share * (logs - column)).sum(axis=1)
    return np.where(connected(weights > 0), np.exp(row[:, None] + column), np.nan)


def typical(values: NDArray[np.float64], samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the geometric mean of each column, by samples; NaN where it has none.

    >>> typical(np.array([[2.0, np.nan], [8.0, np.nan]]), np.array([[1, 0], [1, 0]]))
    array([ 4., nan])
    """
    weights, logs = _weighted_logs(values, samples)
    total = weights.sum(axis=0)
    means = np.exp((weights * logs).sum(axis=0) / np.maximum(total, 1.0))
    return np.where(total > 0, means, np.nan)


def _weighted_logs(
    values: NDArray[np.float64], samples: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return samples of cells that have some and a positive value, else 0; and logarithms, else 0."""
    weights = np.where((samples > 0) & (np.nan_to_num(values) > 0), samples, 0).astype(np.float64)
    return weights, np.log(np.where(weights > 0, values, 1.0))


def connected(has_samples: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether one gets from the row to the column of each cell over cells with samples.

    >>> connected(np.array([[True, True, False], [True, False, False], [False, False, True]])).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    columns = has_samples.shape[1]
    part = np.arange(columns)  # the lowest column that each is connected with, so far
    while True:
        of_row = np.where(has_samples, part, columns).min(axis=1, initial=columns)
        now = np.minimum(part, np.where(has_samples, of_row[:, None], columns).min(axis=0, initial=columns))
        if (now == part).all():
            break
        part = now
    together: NDArray[np.bool_] = of_row[:, None] == part  # a row without samples has no part
    return together


# Jobs of a log as a bag. Each job counts as many tasks as it is wide, one on each of its nodes, without the duty to run
# at the same time, and each with the mean time of its type (`cells_of`). So node-seconds and joules are those of the
# log. A bag has neither arrivals nor tasks that need several machines at once.
#
# A pair without jobs is absent: it cannot run. With `fill` it is estimated where that can be done (`estimates`), and so
# are powers of pairs whose jobs have no energy; of a machine type without any energy in its jobs, none is known.
MOST_LISTED: Final = 20  # cells that a message names


@dataclass(frozen=True, slots=True, eq=False)
class LoggedBag:
    """A bag, and what its tables rest on: where there are no samples, cells are estimated or absent."""

    bag: Bag
    cells: Cells
    estimated_seconds: NDArray[np.bool_]
    estimated_watts: NDArray[np.bool_]

    @classmethod
    def of(cls, bag: Bag, cells: Cells, seconds: Values, watts: Values | None) -> LoggedBag:
        """Return the bag of these tables; what they have beyond the samples is estimated."""
        guessed = ~np.isnan(seconds) & (cells.seconds.samples == 0)
        if watts is None:
            return cls(bag, cells, guessed, np.zeros_like(guessed))
        return cls(bag, cells, guessed, ~np.isnan(watts) & (cells.watts.samples == 0))


def bag_of(name: str, jobs: Jobs, machines: Sequence[int], *, fill: bool = False, watts: bool = True) -> LoggedBag:
    """Return jobs as a bag; `machines` are the counts of machine types, in the order of `jobs.machines`.

    `fill` estimates what no job says; `watts` writes powers, if any job has its energy.
    """
    require_few_groups(name, jobs.groups)
    total = float(jobs.width.astype(np.float64).sum())
    if total > MOST:
        found = f"jobs with {total:.3g} nodes or processors in all"
        raise refused(name, found, "at most 10^15: each is a task", "check the log's sizes")
    cells = cells_of(jobs)
    seconds, powers = with_estimates(name, (jobs.groups, jobs.machines), cells, fill=fill, watts=watts)
    bag = Bag(
        name,
        tuple(MachineType(name=each, count=count) for each, count in zip(jobs.machines, machines, strict=True)),
        tuple(
            TaskType(name=each, count=int(count))
            for each, count in zip(jobs.groups, cells.tasks.sum(axis=1), strict=True)
        ),
        seconds=Table.of(seconds.tolist()),
        watts=None if powers is None else Table.of(powers.tolist()),
    )
    return LoggedBag.of(bag, cells, seconds, powers)


def with_estimates(
    name: str, names: tuple[Sequence[str], Sequence[str]], cells: Cells, *, fill: bool, watts: bool
) -> tuple[Values, Values | None]:
    """Return the means of seconds and watts, with `fill` also estimates; no watts where none are asked for or known.

    An error names the pairs with a time and without a power, by the names of rows and columns.
    """
    seconds, powers = cells.seconds.mean, cells.watts.mean
    if fill:
        seconds = _filled(seconds, cells.seconds)
    if not (watts and cells.watts.samples.any()):
        return seconds, None
    if fill:
        powers = _filled(powers, cells.watts)
        powers = np.where(np.isnan(powers), typical(cells.watts.mean, cells.watts.samples), powers)
    powers = np.where(np.isnan(seconds), np.nan, powers)
    _require_powers(name, names, ~np.isnan(seconds) & np.isnan(powers), fill=fill)
    return seconds, powers


def _filled(mean: NDArray[np.float64], known: Means) -> NDArray[np.float64]:
    return np.where(known.samples > 0, mean, estimates(mean, known.samples))


def with_powers(logged: LoggedBag, watts_per_node: float) -> LoggedBag:
    """Return the bag with one power for whatever runs."""
    rows = [[None if cell is None else watts_per_node for cell in row] for row in logged.bag.seconds]
    return replace(logged, bag=logged.bag.model_copy(update={"watts": Table.of(rows)}))


def _require_powers(
    name: str, names: tuple[Sequence[str], Sequence[str]], lacking: NDArray[np.bool_], *, fill: bool
) -> None:
    """Raise an error for pairs with a time and without a power."""
    do = "leave all powers out (--no-watts)"
    do = do if fill else f"estimate it (--fill), or {do}"
    issues = [
        InputIssue(
            ("watts", names[0][i], names[1][j]),
            f"no sample of {quote(names[0][i])} on {quote(names[1][j])} with its energy",
            "at least one, since others do",
            do,
        )
        for i, j in np.argwhere(lacking)[:MOST_LISTED].tolist()
    ]
    if issues:
        raise InstanceError(name, tuple(issues))


# What the cells of a bag's tables rest on, as a CSV beside the bag: one row per pair that can run.
#
# jobs                 samples of the time; 0 where it is estimated
# tasks                the nodes of those jobs together
# seconds              as in the bag, with deviation and variation over the jobs
# jobs_with_energy     samples of the power; 0 where it is estimated, or not known
# watts                as in the bag, with deviation and variation over those jobs
# estimated            empty, `seconds`, `watts`, or `seconds and watts`
COLUMNS: Final = (
    "task_type", "machine_type", "jobs", "tasks", "seconds", "seconds_deviation", "seconds_variation",
    "jobs_with_energy", "watts", "watts_deviation", "watts_variation", "estimated",
)  # fmt: skip


def cell_rows(logged: LoggedBag) -> Iterator[tuple[str | int | float | None, ...]]:
    """Yield a row of `COLUMNS` for every pair that can run; `None` where a number is not known."""
    bag, cells = logged.bag, logged.cells
    spread = (cells.seconds.deviation, cells.seconds.variation)
    power_spread = (cells.watts.deviation, cells.watts.variation)
    for i, task in enumerate(bag.task_types):
        for j, label in enumerate(label for machine in bag.machine_types for label in machine.columns):
            seconds = bag.seconds[i, j]
            if seconds is None:
                continue
            guessed = {"seconds": logged.estimated_seconds[i, j], "watts": logged.estimated_watts[i, j]}
            own = int(cells.seconds.samples[i, j]), int(cells.tasks[i, j]), seconds
            power = int(cells.watts.samples[i, j]), None if bag.watts is None else bag.watts[i, j]
            spreads = [[_known(each[i, j]) for each in pair] for pair in (spread, power_spread)]
            estimated = " and ".join(name for name, is_guess in guessed.items() if is_guess)
            yield (task.name, label, *own, *spreads[0], *power, *spreads[1], estimated)


def cells_as_csv(logged: LoggedBag) -> bytes:
    """Return the rows as CSV; a number has all its digits."""
    return csv_bytes(COLUMNS, cell_rows(logged), for_people=True)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
