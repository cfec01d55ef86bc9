"""Clusters on the stage: how policies run on them, and how schedules of them are measured.

Where tasks are judged by what they wait, policies that need utility are not among all, and are refused. A
policy that uses place-holders is called so: `max-upe:placeholders`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.compare.cluster_rehearsals import rehearse, rehearse_bound
from lpsched.compare.simulated_facts import earned_by_kind, length_of, traces_of
from lpsched.compare.stage import FoundBound, Given, drawn_again, refusal
from lpsched.errors import InvalidScheduleError
from lpsched.pipeline.arrivals import cluster_bound
from lpsched.result.policy_columns import Judged
from lpsched.result.policy_run import PolicyRun
from lpsched.schedule.clusters import ClustersSchedule
from lpsched.simulation.clusters.engine import simulate_clusters
from lpsched.simulation.clusters.options import ClusterOptions
from lpsched.simulation.clusters.policy import ClusterPolicy
from lpsched.simulation.clusters.registry import POLICIES, cluster_policy, cluster_policy_names
from lpsched.verify.clusters import ClustersAccount

if TYPE_CHECKING:
    import numpy as np

    from lpsched.errors import InstanceError
    from lpsched.formulations.arrival_prices import ArrivalPrices
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.waiting import WaitingCost
    from lpsched.schedule.day import DaySchedule
    from lpsched.simulation.clusters.engine import SimulatedClusters
    from lpsched.watch import Watch

NOTHING: Final = ClustersSchedule(())


def no_offline_schedule() -> InstanceError:
    """Return the refusal of a schedule that knows the whole day; whoever can, tells it before the work."""
    needed = "a day of machines: others have no such schedule"
    return refusal("offline", "clusters", needed, "leave it out")


@dataclass(frozen=True, slots=True)
class ClusterStage:
    """Clusters, and how they are run."""

    instance: Clusters
    options: ClusterOptions

    @property
    def judged(self) -> Judged:
        """By utility, or by what tasks wait."""
        return Judged.CLUSTERS if self.instance.waiting is None else Judged.WAITING

    @property
    def waiting(self) -> WaitingCost | None:
        """What waiting costs, if it does."""
        return self.instance.waiting

    def another(self, trial: int) -> ClusterStage:
        """Return the stage of another trial.

        Raises
        ------
        InstanceError
            If nobody knows how to draw clusters like those given.
        """
        return ClusterStage(drawn_again(self.instance, trial), self.options)

    def all_names(self) -> tuple[str, ...]:
        """Return the names that `all` stands for."""
        return tuple(name for name in cluster_policy_names() if self._suits(self._policy(name)))

    def _policy(self, name: str) -> ClusterPolicy:
        return cluster_policy(name, placeholders=self.options.placeholders)

    def _suits(self, policy: ClusterPolicy) -> bool:
        return self.instance.waiting is None or not policy.needs_utility

    def find(self, policy: object) -> Given:
        """Return a policy that can be run so.

        Raises
        ------
        InstanceError
            If there is none of that name, or it needs a utility that tasks do not have.
        """
        given, found = self._given(policy)
        if not self._suits(found):
            shown = f"{given.name!r}, which looks at utility, for tasks that are judged by what they wait"
            needed = f"one of {', '.join(self.all_names())}"
            raise refusal("policies", shown, needed, "choose another, or give the tasks a utility")
        return given

    def _given(self, policy: object) -> tuple[Given, ClusterPolicy]:
        if isinstance(policy, str):
            found = self._policy(policy)
            own = policy.partition(":")[0] in POLICIES.registered
            return Given(found.name, "policy", found if own else None), found
        if isinstance(policy, ClusterPolicy):
            return Given(policy.name, "function", policy), policy
        if not callable(policy):
            needed = "a name, a ClusterPolicy or a function"
            raise refusal("policies", repr(policy), needed, "bring one of them")
        name = getattr(policy, "__name__", type(policy).__name__)
        found = ClusterPolicy(name, policy)
        return Given(name, "function", found), found

    def rehearse(self, name: str) -> None:
        """Let a policy run two tasks on a cluster."""
        rehearse(name, self.instance.waiting, self.options)

    def rehearse_bound(self) -> None:
        """Find the bound of two tasks on a cluster."""
        rehearse_bound(self.instance.waiting)

    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> SimulatedClusters:
        """Run a policy on the clusters; its name says whether it uses place-holders."""
        policy = given.brought or cluster_policy(given.name)
        return simulate_clusters(self.instance, policy, rng, self.options, watch=watch)

    def naive(self) -> float:
        """Return what all tasks would earn, or minus what they would cost, if none waited."""
        clusters, waiting = self.instance, self.instance.waiting
        if waiting is None:
            return ClustersAccount(clusters, NOTHING).details().if_none_waits
        at_once = [
            waiting.cost(0.0, clusters.fastest_seconds(kind) or 0.0, cores=kind.cores)
            for kind in clusters.kinds
        ]
        costs = math.fsum(at_once[kind] for kind in memoryview(clusters.kind_numbers).cast("q"))
        return 0.0 - costs  # no cost is 0, not -0

    def bound(self, *, time_limit: float | None, watch: Watch) -> FoundBound:
        """Prove what no schedule of the clusters can pass."""
        found = cluster_bound(self.instance, time_limit=time_limit, watch=watch)
        names = [cluster.name for cluster in self.instance.clusters]
        hours = tuple(zip(names, found.per_machine_hour, strict=True))
        per_kwh = None if self.instance.watts is None else found.per_kwh
        return FoundBound(found.bound, found.seconds, hours, per_kwh, found.prices)

    def offline(self, prices: ArrivalPrices, watch: Watch) -> ClustersSchedule:  # noqa: ARG002 - every stage is asked so
        """Refuse: nobody has a way to one yet.

        Raises
        ------
        InstanceError
            Always.
        """
        raise no_offline_schedule()

    def measured(self, trial: int, schedule: DaySchedule | ClustersSchedule) -> PolicyRun:
        """Check a schedule, and measure it.

        Raises
        ------
        InvalidScheduleError
            If it breaks a rule.
        """
        assert isinstance(schedule, ClustersSchedule), "of clusters"
        clusters = self.instance
        account = ClustersAccount(clusters, schedule)
        measured = account.measured
        if measured is None:
            first = account.violations[0]
            raise InvalidScheduleError(f"{clusters.name}, trial {trial}: {first.code}: {first.sentence}")
        found = account.details()
        names = [cluster.name for cluster in clusters.clusters]
        length = length_of(clusters.period, measured.makespan_seconds)
        shares = measured.utilisation_by_cluster or (0.0,) * len(names)
        return PolicyRun(
            trial,
            measured,
            naive=found.if_none_waits,
            earned=() if clusters.waiting is not None else earned_by_kind(clusters, found.utility_by_told),
            busy=tuple(zip(names, shares, strict=True)),
            traces=traces_of(clusters.period, length, account),
            costly_tasks=None if clusters.waiting is None else clusters.tasks,
        )


def usual_options(clusters: Clusters) -> ClusterOptions:
    """Return how clusters are run if nobody says: as traces are where tasks are judged by what they wait."""
    return ClusterOptions() if clusters.waiting is None else ClusterOptions(every_seconds=None)
