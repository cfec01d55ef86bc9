"""The tasks of clusters as offers: each takes q nodes of one cluster for as long as it really runs.

A type is here a *kind*: a task type with cores, work and request. What was requested does not matter: the
bound holds against schedulers that know how long tasks run as well.

Where tasks cost what they wait (`instance/waiting.py`), a kind has a function of straight pieces of its own:
intervals start at minus a cost, and the rate is what a second costs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lpsched.formulations.arrival_offers import Offers
from lpsched.instance.cluster_arrays import cluster_arrays
from lpsched.instance.period import COMPLETED

if TYPE_CHECKING:
    from lpsched.instance.cluster_arrays import ClusterArrays
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.waiting import WaitingCost


def offers_of_clusters(clusters: Clusters) -> Offers:
    """Return the tasks of clusters."""
    arrays, period = cluster_arrays(clusters), clusters.period
    offers = Offers(
        arrivals=arrays.arrivals,
        task_type=arrays.kind,
        function=arrays.function,
        weights=np.ones(clusters.tasks),
        machine_counts=arrays.node_counts,
        mode_type=arrays.column_cluster,
        can_run=arrays.can_run,
        seconds=arrays.seconds,
        joules=arrays.joules,
        width=arrays.nodes.astype(float),
        first_interval=arrays.first_interval,
        after_seconds=arrays.after_seconds,
        starts_at=arrays.starts_at,
        falls_to=arrays.falls_to,
        rate_per_second=arrays.rate_per_second,
        begins_at=period.begins_at,
        ends_at=period.ends_at,
        completed=period.edge == COMPLETED,
        energy_joules=None if math.isinf(period.most_joules) else period.most_joules,
    )
    return offers if clusters.waiting is None else _waiting(offers, arrays, clusters.waiting)


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
