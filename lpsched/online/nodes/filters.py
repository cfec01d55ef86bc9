"""The energy filters: choices that take more than a fair share of the day's energy are not offered.

At the beginning of a mapping event, when place-holders are gone, in a piece of time with an energy constraint
(see `online/simulate/machines.py`):

    e_rem   joules that neither running nor reserved tasks take of the constraint
    r_rem   core-seconds that neither running nor reserved tasks take from now to the end (6)
    r, e    means of core-seconds (planned seconds times cores allocated, equation 1) and of joules

The source does not say over what the means are taken: here over all kinds of tasks and all columns, that is
clusters and P-states, in which they can run. A choice of just the budget is offered. Where no core-seconds
are left, everything is.

Source: Machovec et al. (2016), section III.G, equations 6 to 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.online.nodes.state import PER_TASK
from lpsched.online.simulate.filters import require_an_end

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Mask
    from lpsched.online.arrays import ClusterArrays
    from lpsched.online.nodes.reservations import Book
    from lpsched.online.nodes.state import ClusterOptions
    from lpsched.online.parts import Period


def resources(arrays: ClusterArrays) -> Floats:
    """Return planned seconds times cores allocated (equation 1), K x C; 0 where a kind cannot run.

    Cores allocated are all those of its nodes.
    """
    cores = arrays.nodes * arrays.cores_per_node[arrays.column_cluster]
    return arrays.requested_seconds * cores


def resources_left(all_cores: int, begin: float, end: float, planned: float) -> float:
    """Return the core-seconds that are not allocated (equation 6).

        sum over nodes i of (unallocated time remaining on i) (cores of i)  =  cores (end - begin) - planned

    >>> resources_left(10, 100.0, 160.0, 200.0)
    400.0
    """
    return max(0.0, all_cores * (end - begin) - planned)


def tasks_left(r_rem: float, mean_resources: float, e_rem: float, mean_joules: float) -> float:
    """Return how many tasks may still be run (equation 7).

        min(r_rem / r, e_rem / e)

    >>> tasks_left(400.0, 20.0, 600.0, 60.0)
    10.0
    """
    return min(r_rem / mean_resources, e_rem / mean_joules if mean_joules > 0.0 else math.inf)


def per_task_budget(leniency: float, e_rem: float, tasks: float, mean_joules: float) -> float:
    """Return the joules that a choice may take (equation 8).

        leniency e_rem / tasks left

    Where no energy is left, e_rem / tasks left is the mean of joules, as it is just before that.

    >>> per_task_budget(2.0, 600.0, 10.0, 60.0), per_task_budget(2.0, 0.0, 0.0, 60.0)
    (120.0, 120.0)
    """
    return leniency * (e_rem / tasks if tasks > 0.0 else mean_joules)


def per_resource_budget(leniency: float, e_rem: float, r_rem: float) -> float:
    """Return the joules per core-second that a choice may take (equation 9).

        leniency e_rem / r_rem

    >>> per_resource_budget(4.0, 600.0, 400.0)
    6.0
    """
    return leniency * e_rem / r_rem


@dataclass(frozen=True, slots=True)
class ClusterFilter:
    """A filter of one day."""

    per_task: bool
    leniency: float
    joules: Floats  # K x C
    resources: Floats  # K x C
    mean_joules: float
    mean_resources: float
    all_cores: int

    def allowed(self, can_run: Mask, book: Book, now: float) -> Mask:
        """Return which kinds and columns can run and pass the filter."""
        accounts, piece = book.accounts, book.accounts.piece(now)
        if math.isinf(accounts.limits[piece]):
            return can_run
        end, e_rem = float(accounts.edges[piece + 1]), max(0.0, accounts.left(piece))
        r_rem = resources_left(self.all_cores, now, end, book.planned_resources(now, end))
        if r_rem <= 0.0:
            return can_run
        if self.per_task:
            tasks = tasks_left(r_rem, self.mean_resources, e_rem, self.mean_joules)
            passes = self.joules <= per_task_budget(self.leniency, e_rem, tasks, self.mean_joules)
        else:
            passes = self.joules <= per_resource_budget(self.leniency, e_rem, r_rem) * self.resources
        passed: Mask = can_run & passes
        passed.flags.writeable = False
        return passed


def filter_of(options: ClusterOptions, period: Period, arrays: ClusterArrays) -> ClusterFilter | None:
    """Return the filter that the options ask for; none where there is no energy constraint."""
    if options.energy_filter is None or period.energy_constraint_joules is None or not len(arrays.can_run):
        return None
    require_an_end(period)
    used = resources(arrays)
    return ClusterFilter(
        per_task=options.energy_filter == PER_TASK,
        leniency=options.factor,
        joules=arrays.joules,
        resources=used,
        mean_joules=float(arrays.joules[arrays.can_run].mean()),
        mean_resources=float(used[arrays.can_run].mean()),
        all_cores=int(np.dot(arrays.node_counts, arrays.cores_per_node)),
    )
