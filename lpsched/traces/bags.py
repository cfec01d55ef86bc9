"""Jobs of a log as a bag: what ran, what it ran on, and how long it took there.

Each job counts as many tasks as it is wide, one on each of its nodes, freed from the duty to run at the same
time, and each with the mean time of its type (`cells.py`). So node-seconds and joules are those of the log.
A bag knows nothing of arrivals, nor of tasks that need several machines at once: it is the load, not the day.

A pair that no job tells of is absent: it cannot run. With `fill` it is estimated where that can be done
(`filling.py`), and so are powers of pairs whose jobs tell no energy; of a machine type of which no job at all
tells its energy, nobody knows any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError, quote
from lpsched.instance import Bag, MachineType, Table, TaskType
from lpsched.instance.fields import MOST
from lpsched.traces.cells import Cells, Means, cells_of
from lpsched.traces.filling import estimates, typical
from lpsched.traces.jobs import refused, require_few_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lpsched.traces.jobs import Jobs

MOST_TOLD: Final = 20  # cells that a message names


@dataclass(frozen=True, slots=True, eq=False)
class LoggedBag:
    """A bag, and what its tables rest on: where there are no samples, cells are estimated or absent."""

    bag: Bag
    cells: Cells
    estimated_seconds: NDArray[np.bool_]
    estimated_watts: NDArray[np.bool_]


def bag_of(
    name: str, jobs: Jobs, machines: Sequence[int], *, fill: bool = False, watts: bool = True
) -> LoggedBag:
    """Return jobs as a bag.

    Parameters
    ----------
    machines
        How many there are of each type, in the order of `jobs.machines`.
    fill
        Estimate what no job tells.
    watts
        Write powers, if any job tells its energy.

    Raises
    ------
    InstanceError
        If some pairs have times but no powers, and these are neither estimated nor left out as a whole.
    """
    require_few_groups(name, jobs.groups)
    total = float(jobs.width.astype(np.float64).sum())
    if total > MOST:
        found = f"jobs with {total:.3g} nodes or processors in all"
        raise refused(name, found, "at most 10^15: each is a task", "check the log's sizes")
    cells = cells_of(jobs)
    seconds, powers = cells.seconds.mean, cells.watts.mean
    if not (watts and cells.watts.samples.any()):
        powers = np.full_like(seconds, np.nan)
        watts = False
    if fill:
        seconds = _filled(seconds, cells.seconds)
        powers = _filled(powers, cells.watts) if watts else powers
        powers = np.where(np.isnan(powers), typical(cells.watts.mean, cells.watts.samples), powers)
    powers = np.where(np.isnan(seconds), np.nan, powers)
    if watts:
        _require_powers(name, jobs, ~np.isnan(seconds) & np.isnan(powers), fill=fill)
    bag = Bag(
        name,
        tuple(
            MachineType(name=each, count=count) for each, count in zip(jobs.machines, machines, strict=True)
        ),
        tuple(
            TaskType(name=each, count=int(count))
            for each, count in zip(jobs.groups, cells.tasks.sum(axis=1), strict=True)
        ),
        seconds=Table.of(seconds.tolist()),
        watts=Table.of(powers.tolist()) if watts else None,
    )
    return LoggedBag(
        bag,
        cells,
        estimated_seconds=~np.isnan(seconds) & (cells.seconds.samples == 0),
        estimated_watts=~np.isnan(powers) & (cells.watts.samples == 0),
    )


def _filled(mean: NDArray[np.float64], known: Means) -> NDArray[np.float64]:
    return np.where(known.samples > 0, mean, estimates(mean, known.samples))


def with_powers(logged: LoggedBag, watts_per_node: float) -> LoggedBag:
    """Return the bag with one power for whatever runs."""
    rows = [[None if cell is None else watts_per_node for cell in row] for row in logged.bag.seconds]
    return replace(logged, bag=replace(logged.bag, watts=Table.of(rows)))


def _require_powers(name: str, jobs: Jobs, lacking: NDArray[np.bool_], *, fill: bool) -> None:
    """Refuse pairs with a time and without a power: nobody could say what they cost."""
    do = "leave all powers out (--no-watts)"
    do = do if fill else f"estimate it (--fill), or {do}"
    faults = [
        Fault(
            ("watts", jobs.groups[i], jobs.machines[j]),
            f"no job of {quote(jobs.groups[i])} on {quote(jobs.machines[j])} that tells its energy",
            "at least one, since others do",
            do,
        )
        for i, j in np.argwhere(lacking)[:MOST_TOLD].tolist()
    ]
    if faults:
        raise InstanceError(name, tuple(faults))
