"""The engine for clusters: owns the clock and the truth, asks a policy, checks every answer.

Of equal times: tasks end; then reservations that are due start; then tasks arrive; then comes the mapping
event, which sees all of that. The clock stands still while a policy thinks. A mapping event:

    1. place-holders are forgotten; those that were due have started                  (`book.py`)
    2. tasks that can no longer earn enough are dropped                               (`dropping.py`)
    3. choices that take too much energy are filtered out                             (`filters.py`)
    4. the policy is asked, and each of its placements checked                        (`answers.py`)
    5. what starts now begins; what starts later is reserved, or held for the time being. What would break the
       energy constraint is not done, whatever the policy says: the task waits

What policies plan with is what was requested of a task; energy is counted as it will really be taken. The day
is over when its period is. A period without an end is over when nothing waits any more, or when nothing
arrives, runs or is reserved any more and the policy places nothing.

Source: Machovec et al. (2016), sections III.A to III.C and III.G.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError
from lpsched.simulation.clusters.happened import SimulatedClusters
from lpsched.simulation.clusters.running import Running
from lpsched.simulation.happened import Fate
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from lpsched.instance.clusters import Clusters
    from lpsched.simulation.clusters.options import ClusterOptions
    from lpsched.simulation.clusters.policy import ClusterPolicy

__all__ = ["Fate", "SimulatedClusters", "simulate_clusters"]


def simulate_clusters(
    clusters: Clusters,
    policy: ClusterPolicy,
    rng: np.random.Generator,
    options: ClusterOptions,
    *,
    watch: Watch | None = None,
) -> SimulatedClusters:
    """Run clusters under a policy.

    Raises
    ------
    InstanceError
        If the options or the policy do not fit the instance.
    PolicyError
        If the policy answers with something that cannot be; the error names the policy and the placement.
    StalledError
        If the policy places nothing all day, though there was something to place; or leaves tasks waiting
        that all have to run.
    """
    faults = tuple(_misfits(clusters, policy, options))
    if faults:
        raise InstanceError("simulating clusters", faults)
    running = Running(clusters, policy, rng, options, watch if watch is not None else Watch())
    is_whole = running.run()
    if is_whole:
        running.raise_if_stalled()
    return running.record.simulated(clusters, is_whole=is_whole)


def _misfits(clusters: Clusters, policy: ClusterPolicy, options: ClusterOptions) -> Iterator[Fault]:
    """Find options, and a policy, that do not fit the instance."""
    if clusters.waiting is not None and policy.needs_utility:
        found = f"{policy.name!r} for tasks without utility, which cost what they wait"
        needed = "a policy that needs no utility, for instance easy or conservative"
        yield Fault(("policy",), found, needed, "choose another, or give tasks a utility")
    if clusters.waiting is not None and options.drop_below > 0.0:
        found = f"{options.drop_below!r} for tasks that cost what they wait"
        yield Fault(("drop_below",), found, "0, since all of them have to run", "leave it out")
    if (options.every_seconds or 0.0) >= clusters.period.ends_at:
        found = f"{options.every_seconds!r} s"
        needed = f"less than the day has, {clusters.period.ends_at!r} s"
        yield Fault(("every_seconds",), found, needed, "shorten it: there would be no mapping event")
