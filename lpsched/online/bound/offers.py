"""What each task could do: when and where it may run, what that takes and earns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lpsched.online.arrays import cluster_arrays, day_arrays
from lpsched.online.parts import COMPLETED
from lpsched.online.utility import UtilityArrays, intervals_at, utilities

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.arrays import ClusterArrays, DayArrays
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.parts import Period
    from lpsched.online.utility import WaitingCost


# What arrives, as plain arrays: tasks of a day or of clusters, or expected ones, each standing for so many.
#
# A price policy plans with expected tasks, thinned: one of them may weigh as much as ten. A day's own tasks
# weigh 1 each, and take one machine each; what the tasks of clusters take: `offers_of_clusters`.
@dataclass(frozen=True, slots=True)
class Offers(UtilityArrays):
    """N offers, T task types, C columns of M machine types."""

    arrivals: Floats  # N, seconds
    task_type: Integers  # N
    function: Integers  # N
    weights: Floats  # N: how many tasks each stands for
    machine_counts: Integers  # M
    mode_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    joules: Floats  # T x C
    width: Floats  # T x C: how many machines a task takes there
    begins_at: float  # of the period that counts
    ends_at: float  # infinite if it never ends
    completed: bool  # only tasks that end in the period count, and wholly; else runs are prorated
    energy_joules: float | None  # that may be taken in the period, rounding granted
    waits: bool = False  # tasks must run and cost what they wait: intervals start at minus a cost, rates raise it

    @property
    def count(self) -> int:
        """How many offers there are."""
        return len(self.arrivals)

    @property
    def fastest_seconds(self) -> Floats:
        """The seconds of each offer where it runs fastest; 0 where it cannot run."""
        fastest = np.where(self.can_run, self.seconds, np.inf).min(axis=1)
        return np.where(np.isfinite(fastest), fastest, 0.0)[self.task_type]

    @property
    def least_machine_seconds(self) -> Floats:
        """The machine time of each offer where it takes least; 0 where it cannot run."""
        least = np.where(self.can_run, self.width * self.seconds, np.inf).min(axis=1)
        return np.where(np.isfinite(least), least, 0.0)[self.task_type]

    def worths(self, seconds: Floats) -> Floats:
        """Return what each is worth so long after its arrival: at its end, or at its start if that costs."""
        if not self.waits:
            return utilities(self, self.function, seconds)
        now = intervals_at(self, self.function, seconds)
        costs: Floats = self.starts_at[now] - self.rate_per_second[now] * (seconds - self.after_seconds[now])
        return costs

    @property
    def stakes(self) -> Floats:
        """What is at stake for each: its utility at first; or what it costs to wait as long as it runs."""
        at_once = self.worths(np.zeros(self.count))
        return at_once - self.worths(self.fastest_seconds) if self.waits else at_once

    def risen(self) -> Offers:
        """Return them with what waiting costs beyond not waiting at all: the rest no price can change."""
        first, sizes = self.first_interval[:-1], np.diff(self.first_interval)
        return replace(self, starts_at=self.starts_at - np.repeat(self.starts_at[first], sizes))

    def thinned(self, number: int) -> Offers:
        """Return about so many of them, evenly, heavier by as much."""
        step = max(1, self.count // number)
        return replace(
            self,
            arrivals=self.arrivals[::step],
            task_type=self.task_type[::step],
            function=self.function[::step],
            weights=self.weights[::step] * (self.weights.sum() / self.weights[::step].sum()),
        )


def offers_of(day: Day) -> Offers:
    """Return the tasks of a day."""
    arrays = day_arrays(day)
    joules, width = arrays.seconds * arrays.watts, np.ones(arrays.seconds.shape)
    return _offers(day.period, arrays, arrays.task_type, (arrays.machine_counts, arrays.mode_type), joules, width)


# The tasks of clusters as offers: each takes q nodes of one cluster for as long as it really runs.
#
# A type is here a *kind*: a task type with cores, work and request. What was requested does not matter: the
# bound holds against schedulers that know how long tasks run as well.
#
# Where tasks cost what they wait (`online/utility.py`), a kind has a function of straight pieces of its own:
# intervals start at minus a cost, and the rate is what a second costs.
def offers_of_clusters(clusters: Clusters) -> Offers:
    """Return the tasks of clusters."""
    arrays = cluster_arrays(clusters)
    machines = arrays.node_counts, arrays.column_cluster
    offers = _offers(clusters.period, arrays, arrays.kind, machines, arrays.joules, arrays.nodes.astype(float))
    return offers if clusters.waiting is None else _waiting(offers, arrays, clusters.waiting)


def _offers(  # noqa: PLR0913, PLR0917 - what differs between days and clusters
    period: Period,
    arrays: DayArrays | ClusterArrays,
    types: Integers,
    machines: tuple[Integers, Integers],  # how many of each type, and the type of each column
    joules: Floats,
    width: Floats,
) -> Offers:
    return Offers(
        arrivals=arrays.arrivals,
        task_type=types,
        function=arrays.function,
        weights=np.ones(len(arrays.arrivals)),
        machine_counts=machines[0],
        mode_type=machines[1],
        can_run=arrays.can_run,
        seconds=arrays.seconds,
        joules=joules,
        width=width,
        **arrays.curves._asdict(),
        begins_at=period.begins_at,
        ends_at=period.ends_at,
        completed=period.edge == COMPLETED,
        energy_joules=None if math.isinf(period.most_joules) else period.most_joules,
    )


def _waiting(offers: Offers, arrays: ClusterArrays, waiting: WaitingCost) -> Offers:
    """Return the offers with minus the cost of waiting in place of utility."""
    fastest = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=1)
    costs = [
        waiting.pieces(seconds, cores=cores)
        for seconds, cores in zip(fastest.tolist(), arrays.cores.tolist(), strict=True)
    ]
    pieces = [piece for each in costs for piece in each]
    return replace(
        offers,
        function=arrays.kind,
        first_interval=np.cumsum([0, *(len(each) for each in costs)], dtype=np.int64),
        after_seconds=np.array([piece.after_seconds for piece in pieces]),
        starts_at=np.array([-piece.cost for piece in pieces]),
        falls_to=np.zeros(len(pieces)),
        rate_per_second=np.array([piece.per_second for piece in pieces]),
        waits=True,
    )
