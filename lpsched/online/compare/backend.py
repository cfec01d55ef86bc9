"""Days and clusters as simulations see them: how policies run on each, and how their schedules are measured.

Both are simulated, shared among processes, held against the bound and told alike (`simulations.py`); what differs
between them is here.
"""

from __future__ import annotations

import math
import pkgutil
from abc import ABC, abstractmethod
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar, cast

import numpy as np

from lpsched.cancellation import Watch
from lpsched.errors import Fault, InstanceError, InvalidScheduleError, LpschedError, StalledError
from lpsched.model.table import Table
from lpsched.online import policies
from lpsched.online.bound.no_waiting import Flows, flow_prices
from lpsched.online.bound.offers import ArrivalPrices
from lpsched.online.cluster_policies import POLICIES, cluster_policy
from lpsched.online.clusters import Clusters
from lpsched.online.curves import NodeCurves
from lpsched.online.day import Day
from lpsched.online.nodes.clusters import simulate_clusters
from lpsched.online.nodes.state import ClusterPolicy
from lpsched.online.parts import COMPLETED, Cluster, DayMachineType, DayTaskType, Period
from lpsched.online.price_policy import NAME, prices_policy
from lpsched.online.recovery import schedule_from_prices
from lpsched.online.result.policy import Earned, Judged, PolicyRun, Traces
from lpsched.online.result.simulation import kinds_by_worth, kinds_of
from lpsched.online.schedule import ClustersSchedule, DaySchedule
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import POLLED, ClusterOptions, SimulationOptions
from lpsched.online.simulate.state import Policy
from lpsched.online.tasks import ArrivingTasks, ParallelTasks
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.clusters import ClustersAccount
from lpsched.online.verify.day import DayAccount, measure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from lpsched.online.price_policy import Forecast
    from lpsched.online.simulate.engine import Simulated
    from lpsched.online.verify.accounts import Account, ToldUtility
    from lpsched.plugins import Named

STEPS: Final = 72  # of traces: 20 minutes each where the period is a day; one without an end is drawn to the last end
DRAW: Final = "lpsched.generate.day:another_day"  # by name: generators know instances, not the reverse
Instance = TypeVar("Instance", Day, Clusters)
Options = TypeVar("Options", SimulationOptions, ClusterOptions)
SomePolicy = TypeVar("SomePolicy", Policy, ClusterPolicy)
Schedule = TypeVar("Schedule", DaySchedule, ClustersSchedule)


@dataclass(frozen=True, slots=True)
class Given:
    """A policy: found by its name for each day anew, or as whoever asks brought it."""

    name: str
    kind: str
    brought: Any = None  # a policy of the stage's kind


@dataclass(frozen=True, slots=True)
class Stage(ABC, Generic[Instance, Options, SomePolicy, Schedule]):
    """An instance with the options of its simulation."""

    policy_class: ClassVar[type]
    registry: ClassVar[Named[Any]]
    instance: Instance
    options: Options

    @property
    @abstractmethod
    def judged(self) -> Judged:
        """By what its tasks are judged."""

    @abstractmethod
    def rehearsal(self) -> Stage[Instance, Options, SomePolicy, Schedule]:
        """Return a stage of two tasks, which is over in a minute, for what is compiled before anything is timed."""

    @abstractmethod
    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> Simulated[Schedule]:
        """Run a policy."""

    @abstractmethod
    def naive(self) -> float:
        """Return what all tasks would earn, or minus what they would cost, if none waited."""

    def offline(self, prices: ArrivalPrices, watch: Watch) -> Schedule:  # noqa: ARG002 - clusters have none
        """Return a schedule that knows all tasks, at the prices of the bound."""
        raise no_offline_schedule()

    @abstractmethod
    def _account(self, schedule: Any) -> Account[Any]:  # noqa: ANN401 - of the stage's kind
        """Check a schedule."""

    @abstractmethod
    def _details(self, account: Any, length: float) -> dict[str, Any]:  # noqa: ANN401 - as `_account` made it
        """Return fields of `PolicyRun`: naive figure, by priority, and how busy machines were in the period."""

    def _names(self) -> Sequence[str]:
        """Return the names of all policies."""
        return self.registry.names()

    @abstractmethod
    def _policy(self, name: str) -> SomePolicy:
        """Return the policy of a name."""

    @abstractmethod
    def _suits(self, policy: SomePolicy) -> bool:
        """Tell whether a policy can be run so."""

    @abstractmethod
    def _unsuited(self, name: str) -> InstanceError:
        """Return the refusal of a policy that cannot."""

    def rehearse(self, name: str) -> None:
        """Let a policy run two tasks, so that its loops are compiled; how it fares does not matter."""
        with suppress(LpschedError):
            self.rehearsal().run(Given(name, "policy"), np.random.default_rng(0), Watch())

    def another(self, trial: int) -> Self:
        """Return the stage of another trial, by the generator that made the instance; raises `InstanceError`."""
        return replace(self, instance=pkgutil.resolve_name(DRAW)(self.instance, trial))

    def all_names(self) -> tuple[str, ...]:
        """Return the names that `all` stands for: every policy that can be run so."""
        return tuple(name for name in self._names() if self._suits(self._policy(name)))

    def find(self, policy: object) -> Given:
        """Return a policy that can be run so; raises `InstanceError` of others."""
        kind, brought = "function", policy
        if isinstance(policy, str):
            kind, brought = "policy", self._policy(policy)
        elif not isinstance(policy, self.policy_class):
            if not callable(policy):
                needed = f"a name, a {self.policy_class.__name__} or a function"
                raise refusal("policies", repr(policy), needed, "bring one of them")
            brought = self.policy_class(getattr(policy, "__name__", type(policy).__name__), policy)
        found = cast("SomePolicy", brought)
        if not self._suits(found):
            raise self._unsuited(found.name)
        is_known = isinstance(policy, str) and policy.partition(":")[0] not in self.registry.registered
        return Given(found.name, kind, None if is_known else found)  # what is known here only is brought along

    def measured(self, trial: int, schedule: object) -> PolicyRun:
        """Check a schedule, and measure it; raises `InvalidScheduleError` if it breaks a rule."""
        account, period = self._account(schedule), self.instance.period
        for first in account.violations[:1]:
            raise InvalidScheduleError(f"{self.instance.name}, trial {trial}: {first.code}: {first.sentence}")
        measured = account.require_measured()
        length = period.length_seconds
        if length is None:  # until the last task ends
            length = max(0.0, (measured.makespan_seconds or 0.0) - period.begins_at)
        since = [length * step / STEPS for step in range(STEPS)] + [length]
        counted = account.traces([min(period.begins_at + seconds, period.ends_at) for seconds in since])
        return PolicyRun(trial, measured, traces=Traces(tuple(since), *counted), **self._details(account, length))

    def _earned(self, found: Sequence[ToldUtility]) -> tuple[Earned, ...]:
        """Return what tasks of each priority, or own function, earned; those worth most first."""
        parts: defaultdict[str, list[ToldUtility]] = defaultdict(list)
        for kind, each in zip(kinds_of(self.instance), found, strict=True):
            parts[kind].append(each)
        return tuple(
            Earned(kind, math.fsum(each.earned for each in parts[kind]), naive_utility(parts[kind]))
            for kind in kinds_by_worth(self.instance)
        )


def naive_utility(found: Sequence[ToldUtility]) -> float:
    """Return what tasks would earn if each began at once where it is quickest."""
    return math.fsum(each.if_none_waits for each in found)


def refusal(name: str, found: str, needed: str, do: str) -> InstanceError:
    """Return the error about something that cannot be asked of a simulation."""
    return InstanceError("simulate", (Fault((name,), found, needed, do),))


def no_offline_schedule() -> InstanceError:
    """Return the refusal of a schedule that knows all tasks; whoever can, tells it before the work."""
    needed = "a day of machines: others have no such schedule"
    return refusal("offline", "clusters", needed, "leave it out")


# Days. Their policies by name are those of the registry, and the one that plans, which is given a planner:
# `prices` needs prices for what it expects; simulations know no formulations, so the planner is put in here.
class DayStage(Stage[Day, SimulationOptions, Policy, DaySchedule]):
    """A day, and how it is run."""

    __slots__ = ()
    policy_class = Policy
    registry = policies.POLICIES
    judged = Judged.DAY

    def _names(self) -> Sequence[str]:
        return policy_names()

    def _policy(self, name: str) -> Policy:
        return find_policy(name, self.instance)

    def _suits(self, policy: Policy) -> bool:
        return not (self.options.machines == POLLED and policy.immediate)

    def _unsuited(self, name: str) -> InstanceError:
        shown = f"{name!r}, which maps each task as it comes, and polled machines"
        return refusal("policies", shown, "machines with queues for it", "choose queued machines")

    def rehearsal(self) -> DayStage:
        """Return a day of two tasks."""
        day = Day(
            name="rehearsal",
            machine_types=(DayMachineType("machine", 1, ("P0", "P1")),),
            task_types=(DayTaskType("task"),),
            seconds=Table.of([[1.0, 2.0]]),
            watts=Table.of([[100.0, 40.0]]),
            tasks=ArrivingTasks.of([0.0, 0.5], [0, 0], ["worth", "worth"]),
            utility_functions=WORTH,
        )
        return DayStage(day, self.options)

    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> Simulated[DaySchedule]:
        """Run a policy on the day."""
        policy = given.brought or self._policy(given.name)
        return simulate_day(self.instance, policy, rng, self.options, watch=watch)

    def naive(self) -> float:
        """Return what all tasks would earn if each began at once where it is quickest."""
        return naive_utility(self._account(DaySchedule(())).details().utility_by_told)

    def offline(self, prices: ArrivalPrices, watch: Watch) -> DaySchedule:
        """Return the best schedule found that knows the whole day, at the prices of its bound.

        It begins with nothing, or with what the policy `prices` did, and improves both; the better one is it.
        """
        day, found = self.instance, [schedule_from_prices(self.instance, prices, watch=watch)]
        with suppress(StalledError):
            run = simulate_day(day, find_policy(NAME, day), np.random.default_rng(0), SimulationOptions(), watch=watch)
            if run.is_whole:
                found += [run.schedule, schedule_from_prices(day, prices, start=run.schedule, watch=watch)]
        return max(found, key=lambda schedule: measure(day, schedule).utility)

    def _account(self, schedule: DaySchedule) -> DayAccount:
        return DayAccount(self.instance, schedule)

    def _details(self, account: DayAccount, length: float) -> dict[str, Any]:
        found = account.details()
        busy: defaultdict[str, list[float]] = defaultdict(list)
        for (name, _), seconds in found.busy_seconds.items():
            busy[name].append(seconds)
        shares = tuple(
            (each.name, math.fsum(busy[each.name]) / (each.count * length) if length else 0.0)
            for each in self.instance.machine_types
        )
        told = found.utility_by_told
        return {"naive": naive_utility(told), "earned": self._earned(told), "busy": shares}


WORTH: Final = {"worth": UtilityFunction((Interval(0.0, 8.0, 1.0, 0.01),))}  # of tasks of a rehearsal


def policy_names() -> list[str]:
    """Return the names of all policies of days, ours that plans among them."""
    return sorted({*policies.names(), NAME})


def find_policy(name: str, day: Day) -> Policy:
    """Return the policy of a name, for a day."""
    if name == NAME:
        return prices_policy(planned, whole=day.period.edge == COMPLETED)
    plain = name.partition(":")[0]
    if plain not in policy_names():
        raise policies.POLICIES.unknown(plain, policy_names())
    return policies.policy(name)


def planned(forecast: Forecast, before: ArrivalPrices | None) -> ArrivalPrices:
    """Return prices for a forecast, from those of the last plan on."""
    system, types = forecast.system, forecast.types
    flows = Flows(
        forecast.expected,
        forecast.worths,
        system.can_run[types],
        system.seconds[types],
        system.joules[types],
        system.column_type,
        forecast.machine_seconds,
        forecast.energy_joules,
    )
    start = None if before is None else (before.per_second, before.per_joule)
    return ArrivalPrices(forecast.edges, *flow_prices(flows, start))


# Clusters. Where tasks are judged by what they wait, policies that need utility are not among all, and are refused. A
# policy that uses place-holders is called so: `max-upe:placeholders`.
class ClusterStage(Stage[Clusters, ClusterOptions, ClusterPolicy, ClustersSchedule]):
    """Clusters, and how they are run."""

    __slots__ = ()
    policy_class = ClusterPolicy
    registry = POLICIES

    @property
    def judged(self) -> Judged:
        """By utility, or by what tasks wait."""
        return Judged.CLUSTERS if self.instance.waiting is None else Judged.WAITING

    def _policy(self, name: str) -> ClusterPolicy:
        return cluster_policy(name, placeholders=self.options.placeholders)

    def _suits(self, policy: ClusterPolicy) -> bool:
        return self.instance.waiting is None or not policy.needs_utility

    def _unsuited(self, name: str) -> InstanceError:
        shown = f"{name!r}, which looks at utility, for tasks that are judged by what they wait"
        needed = f"one of {', '.join(self.all_names())}"
        return refusal("policies", shown, needed, "choose another, or give the tasks a utility")

    def rehearsal(self) -> ClusterStage:
        """Return clusters with two tasks, each in need of both nodes, looked at ten times a second."""
        waiting, curve = self.instance.waiting, ((1, 1.0), (2, 0.5))
        clusters = Clusters(
            name="rehearsal",
            clusters=(Cluster("cluster", 2, 1, ("P0", "P1")),),
            task_types=(DayTaskType("task"),),
            seconds=NodeCurves(((curve, curve),)),
            watts=NodeCurves(((curve, curve),)),
            tasks=ParallelTasks.of([0.0, 0.2], [0, 0], [2, 2], utilities=["worth"] * 2 if waiting is None else ()),
            utility_functions=WORTH if waiting is None else {},
            waiting=waiting,
            period=Period(0.0, 3.0, energy_constraint_joules=10.0) if waiting is None else Period(),
        )
        return ClusterStage(clusters, replace(self.options, every_seconds=0.1))

    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> Simulated[ClustersSchedule]:
        """Run a policy on the clusters; its name says whether it uses place-holders."""
        policy = given.brought or cluster_policy(given.name)
        return simulate_clusters(self.instance, policy, rng, self.options, watch=watch)

    def naive(self) -> float:
        """Return what all tasks would earn, or minus what they would cost, if none waited."""
        clusters, waiting = self.instance, self.instance.waiting
        if waiting is None:
            return self._account(ClustersSchedule(())).details().if_none_waits
        at_once = [
            waiting.cost(0.0, clusters.fastest_seconds(kind) or 0.0, cores=kind.cores) for kind in clusters.kinds
        ]
        costs = math.fsum(at_once[kind] for kind in memoryview(clusters.kind_numbers).cast("q"))
        return 0.0 - costs  # no cost is 0, not -0

    def _account(self, schedule: ClustersSchedule) -> ClustersAccount:
        return ClustersAccount(self.instance, schedule)

    def _details(self, account: ClustersAccount, length: float) -> dict[str, Any]:  # noqa: ARG002 - it was measured
        clusters, found = self.instance, account.details()
        shares = account.require_measured().utilisation_by_cluster or (0.0,) * len(clusters.clusters)
        return {
            "naive": found.if_none_waits,
            "earned": self._earned(found.utility_by_told) if clusters.waiting is None else (),
            "busy": tuple((each.name, share) for each, share in zip(clusters.clusters, shares, strict=True)),
            "costly_tasks": None if clusters.waiting is None else clusters.tasks,
        }


def usual_options(clusters: Clusters) -> ClusterOptions:
    """Return how clusters are run if nobody says: as traces are where tasks are judged by what they wait."""
    return ClusterOptions() if clusters.waiting is None else ClusterOptions(every_seconds=None)
