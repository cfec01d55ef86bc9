"""The simulation backend of clusters: how policies run on them, and how schedules of them are measured."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import LpschedError
from lpsched.online.bound.solve import cluster_bound
from lpsched.online.cluster_policies import POLICIES, cluster_policy, cluster_policy_names
from lpsched.online.clusters import Clusters, DayTaskType, ParallelTasks
from lpsched.online.compare.backend import FoundBound, Stage, earned_by_kind, length_of, refusal, traces_of
from lpsched.online.curves import NodeCurves
from lpsched.online.nodes.clusters import simulate_clusters
from lpsched.online.nodes.state import ClusterPolicy
from lpsched.online.parts import Cluster, Period
from lpsched.online.result.policy import Judged, PolicyRun
from lpsched.online.schedule import ClustersSchedule
from lpsched.online.simulate.options import ClusterOptions
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.clusters import ClustersAccount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.cancellation import Watch
    from lpsched.errors import InstanceError
    from lpsched.online.bound.tables import ArrivalPrices
    from lpsched.online.compare.backend import Given
    from lpsched.online.simulate.engine import Simulated
    from lpsched.online.utility import WaitingCost


# A rehearsal on clusters: two tasks come first, so that compiling is timed with no policy and no bound.
EVERY_SECONDS = 0.1


def rehearse(name: str, waiting: WaitingCost | None, options: ClusterOptions) -> None:
    """Let a policy run two tasks; how it fares does not matter."""
    clusters = two_tasks(waiting)
    often = replace(options, every_seconds=EVERY_SECONDS)
    with contextlib.suppress(LpschedError):
        simulate_clusters(clusters, cluster_policy(name), np.random.default_rng(0), often)


def rehearse_bound(waiting: WaitingCost | None) -> None:
    """Find the bound of two tasks."""
    cluster_bound(two_tasks(waiting))


def two_tasks(waiting: WaitingCost | None) -> Clusters:
    """Return clusters that are done in seconds: two tasks, each in need of both nodes."""
    worth = {"worth": UtilityFunction((Interval(0.0, 8.0, 1.0, 0.01),))}
    curve = ((1, 1.0), (2, 0.5))
    small = Clusters(
        name="rehearsal",
        clusters=(Cluster("cluster", 2, 1, ("P0", "P1")),),
        task_types=(DayTaskType("task"),),
        seconds=NodeCurves(((curve, curve),)),
        watts=NodeCurves(((curve, curve),)),
        tasks=ParallelTasks.of([0.0, 0.2], [0, 0], [2, 2], utilities=["worth", "worth"]),
        utility_functions=worth,
    )
    if waiting is None:
        return small.model_copy(update={"period": Period(0.0, 3.0, energy_constraint_joules=10.0)})
    tasks = ParallelTasks.of([0.0, 0.2], [0, 0], [2, 2])
    return small.model_copy(update={"arriving": tasks, "utility_functions": {}, "waiting": waiting})


# Clusters on the stage: how policies run on them, and how schedules of them are measured.
#
# Where tasks are judged by what they wait, policies that need utility are not among all, and are refused. A
# policy that uses place-holders is called so: `max-upe:placeholders`.
NOTHING: Final = ClustersSchedule(())


def no_offline_schedule() -> InstanceError:
    """Return the refusal of a schedule that knows the whole day; whoever can, tells it before the work."""
    needed = "a day of machines: others have no such schedule"
    return refusal("offline", "clusters", needed, "leave it out")


class ClusterStage(Stage[Clusters, ClusterOptions, ClusterPolicy, ClustersSchedule]):
    """Clusters, and how they are run."""

    __slots__ = ()
    policy_class = ClusterPolicy
    registry = POLICIES

    @property
    def judged(self) -> Judged:
        """By utility, or by what tasks wait."""
        return Judged.CLUSTERS if self.instance.waiting is None else Judged.WAITING

    @property
    def waiting(self) -> WaitingCost | None:
        """What waiting costs, if it does."""
        return self.instance.waiting

    def _names(self) -> Sequence[str]:
        return cluster_policy_names()

    def _policy(self, name: str) -> ClusterPolicy:
        return cluster_policy(name, placeholders=self.options.placeholders)

    def _suits(self, policy: ClusterPolicy) -> bool:
        return self.instance.waiting is None or not policy.needs_utility

    def _unsuited(self, name: str) -> InstanceError:
        shown = f"{name!r}, which looks at utility, for tasks that are judged by what they wait"
        needed = f"one of {', '.join(self.all_names())}"
        return refusal("policies", shown, needed, "choose another, or give the tasks a utility")

    def rehearse(self, name: str) -> None:
        """Let a policy run two tasks on a cluster."""
        rehearse(name, self.instance.waiting, self.options)

    def rehearse_bound(self) -> None:
        """Find the bound of two tasks on a cluster."""
        rehearse_bound(self.instance.waiting)

    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> Simulated[ClustersSchedule]:
        """Run a policy on the clusters; its name says whether it uses place-holders."""
        policy = given.brought or cluster_policy(given.name)
        return simulate_clusters(self.instance, policy, rng, self.options, watch=watch)

    def naive(self) -> float:
        """Return what all tasks would earn, or minus what they would cost, if none waited."""
        clusters, waiting = self.instance, self.instance.waiting
        if waiting is None:
            return ClustersAccount(clusters, NOTHING).details().if_none_waits
        at_once = [
            waiting.cost(0.0, clusters.fastest_seconds(kind) or 0.0, cores=kind.cores) for kind in clusters.kinds
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
        """Refuse: nobody has a way to one yet."""
        raise no_offline_schedule()

    def measured(self, trial: int, schedule: ClustersSchedule) -> PolicyRun:
        """Check a schedule, and measure it."""
        clusters, account = self.instance, ClustersAccount(self.instance, schedule)
        self._require_valid(trial, account.violations)
        measured, found = account.measured, account.details()
        assert measured is not None, "it breaks no rule"
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
