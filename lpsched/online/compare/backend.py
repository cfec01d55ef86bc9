"""Backends of simulations of days and of clusters: how policies run, and how their schedules are measured."""

from __future__ import annotations

import math
import pkgutil
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeVar, cast

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.errors import InputIssue, InstanceError, InvalidScheduleError, LpschedError, StalledError
from lpsched.model.table import Table
from lpsched.online import policies
from lpsched.online.bound.no_waiting import Flows, flow_prices
from lpsched.online.bound.offers import ArrivalPrices
from lpsched.online.cluster_policies import POLICIES, cluster_policy
from lpsched.online.clusters import Clusters
from lpsched.online.curves import NodeCurves
from lpsched.online.day import Day
from lpsched.online.nodes.clusters import simulate_clusters
from lpsched.online.nodes.offline import offline_schedule
from lpsched.online.nodes.state import ClusterPolicy
from lpsched.online.parts import COMPLETED, ArrivingTasks, Cluster, DayMachineType, DayTaskType, ParallelTasks, Period
from lpsched.online.policies import PRICES, Forecast, prices_policy
from lpsched.online.recovery import schedule_from_prices
from lpsched.online.result.groups import group_results
from lpsched.online.result.policy import Earned, Judged, PolicyRun, Traces
from lpsched.online.result.simulation import kinds_by_worth, kinds_of
from lpsched.online.schedule import ClustersSchedule, DaySchedule
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import POLLED, ClusterOptions, SimulationOptions
from lpsched.online.simulate.state import Policy
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.clusters import ClustersAccount
from lpsched.online.verify.day import DayAccount, measure

if TYPE_CHECKING:
    from lpsched.online.simulate.engine import SimulationTrace
    from lpsched.online.verify.accounts import Account, UtilityTotals
    from lpsched.plugins import Named

STEPS: Final = 72  # of traces: 20 minutes each where the period is a day; one without an end is drawn to the last end
DRAW: Final = "lpsched.generate.day:another_day"  # by name: generators know instances, not the reverse
OFFLINE_FROM: Final = ("sjf", "easy")  # policies whose schedules the offline one begins with
Instance = TypeVar("Instance", Day, Clusters)
Options = TypeVar("Options", SimulationOptions, ClusterOptions)
SomePolicy = TypeVar("SomePolicy", Policy, ClusterPolicy)
Schedule = TypeVar("Schedule", DaySchedule, ClustersSchedule)


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """A policy: by its name, looked up for each day anew, or as given by the caller."""

    name: str
    kind: str
    policy: Any = None  # of the backend's policy class


@dataclass(frozen=True, slots=True)
class SimulationBackend(ABC, Generic[Instance, Options, SomePolicy, Schedule]):
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
    def warm_up_backend(self) -> SimulationBackend[Instance, Options, SomePolicy, Schedule]:
        """Return a backend of two tasks, which ends within a minute, to compile the loops before anything is timed."""

    @abstractmethod
    def run(self, spec: PolicySpec, rng: np.random.Generator, cancel: CancelToken) -> SimulationTrace[Schedule]:
        """Simulate a policy."""

    @abstractmethod
    def no_wait_reference(self) -> float:
        """Return the no-wait reference: the utility of all tasks, or minus their cost, if none waited."""

    @abstractmethod
    def offline(self, prices: ArrivalPrices, cancel: CancelToken) -> Schedule:
        """Return a schedule that knows all tasks, at the prices of the bound."""

    @abstractmethod
    def _account(self, schedule: Any) -> Account[Any]:  # noqa: ANN401 - of the backend's kind
        """Check a schedule."""

    @abstractmethod
    def _details(self, account: Any, length: float) -> dict[str, Any]:  # noqa: ANN401 - as `_account` made it
        """Return fields of `PolicyRun`: no-wait reference, by priority, and how busy machines were in the period."""

    def _names(self) -> Sequence[str]:
        return self.registry.names()

    @abstractmethod
    def _policy(self, name: str) -> SomePolicy:
        """Return the policy of a name."""

    @abstractmethod
    def _suits(self, policy: SomePolicy) -> bool:
        """Return whether a policy can run on this instance with these options."""

    @abstractmethod
    def _unsuited(self, name: str) -> InstanceError:
        """Return the error for a policy that cannot."""

    def warm_up(self, name: str) -> None:
        """Simulate two tasks under a policy, so that its loops are compiled; errors do not matter."""
        with suppress(LpschedError):
            self.warm_up_backend().run(PolicySpec(name, "policy"), np.random.default_rng(0), CancelToken())

    def another(self, trial: int) -> Self:
        """Return the backend of another trial, by the generator that made the instance; raises `InstanceError`."""
        return replace(self, instance=pkgutil.resolve_name(DRAW)(self.instance, trial))

    def all_names(self) -> tuple[str, ...]:
        """Return the names that `all` stands for: every policy that can run here."""
        return tuple(name for name in self._names() if self._suits(self._policy(name)))

    def find(self, policy: object) -> PolicySpec:
        """Return a policy that can run here; raises `InstanceError` for others."""
        kind, found = "function", policy
        if isinstance(policy, str):
            kind, found = "policy", self._policy(policy)
        elif not isinstance(policy, self.policy_class):
            if not callable(policy):
                needed = f"a name, a {self.policy_class.__name__} or a function"
                raise input_error("policies", repr(policy), needed, "bring one of them")
            found = self.policy_class(getattr(policy, "__name__", type(policy).__name__), policy)
        chosen = cast("SomePolicy", found)
        if not self._suits(chosen):
            raise self._unsuited(chosen.name)
        is_known = isinstance(policy, str) and policy.partition(":")[0] not in self.registry.registered
        return PolicySpec(chosen.name, kind, None if is_known else chosen)  # other processes look up the others

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

    def _earned(self, found: Sequence[UtilityTotals]) -> tuple[Earned, ...]:
        """Return what tasks of each priority, or own function, earned; those worth most first."""
        parts: defaultdict[str, list[UtilityTotals]] = defaultdict(list)
        for kind, each in zip(kinds_of(self.instance), found, strict=True):
            parts[kind].append(each)
        return tuple(
            Earned(kind, math.fsum(each.earned for each in parts[kind]), no_wait_utility(parts[kind]))
            for kind in kinds_by_worth(self.instance)
        )


def no_wait_utility(found: Sequence[UtilityTotals]) -> float:
    """Return what tasks would earn if each began at once where it is fastest."""
    return math.fsum(each.if_none_waits for each in found)


def input_error(name: str, found: str, needed: str, do: str) -> InstanceError:
    """Return the error for an invalid argument of a simulation."""
    return InstanceError("", (InputIssue((name,), found, needed, do),))


def no_offline_schedule() -> InstanceError:
    """Return the error for an offline schedule of clusters with utilities; callers raise it before the work."""
    needed = "a day of machines, or clusters where waiting has a cost: others have no such schedule"
    return input_error("offline", "clusters with utilities", needed, "leave it out")


# Policies of days are those of the registry, and `prices`, which is given a planner here.
class DayBackend(SimulationBackend[Day, SimulationOptions, Policy, DaySchedule]):
    """A day, and the options of its simulation."""

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
        return input_error("policies", shown, "machines with queues for it", "choose queued machines")

    def warm_up_backend(self) -> DayBackend:
        """Return a day of two tasks."""
        day = Day(
            name="warm-up",
            machine_types=(DayMachineType("machine", 1, ("P0", "P1")),),
            task_types=(DayTaskType("task"),),
            seconds=Table.of([[1.0, 2.0]]),
            watts=Table.of([[100.0, 40.0]]),
            tasks=ArrivingTasks.of([0.0, 0.5], [0, 0], ["worth", "worth"]),
            utility_functions=WORTH,
        )
        return DayBackend(day, self.options)

    def run(self, spec: PolicySpec, rng: np.random.Generator, cancel: CancelToken) -> SimulationTrace[DaySchedule]:
        """Simulate a policy on the day."""
        policy = spec.policy or self._policy(spec.name)
        return simulate_day(self.instance, policy, rng, self.options, cancel=cancel)

    def no_wait_reference(self) -> float:
        """Return what all tasks would earn if each began at once where it is fastest."""
        return no_wait_utility(self._account(DaySchedule(())).details().utility_by_declaration)

    def offline(self, prices: ArrivalPrices, cancel: CancelToken) -> DaySchedule:
        """Return the best schedule found with all tasks known, from none and from that of the policy `prices`."""
        day, found = self.instance, [schedule_from_prices(self.instance, prices, cancel=cancel)]
        with suppress(StalledError):
            rng = np.random.default_rng(0)
            run = simulate_day(day, find_policy(PRICES, day), rng, SimulationOptions(), cancel=cancel)
            if run.is_whole:
                found += [run.schedule, schedule_from_prices(day, prices, start=run.schedule, cancel=cancel)]
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
        declared = found.utility_by_declaration
        return {"naive": no_wait_utility(declared), "earned": self._earned(declared), "busy": shares}


WORTH: Final = {"worth": UtilityFunction((Interval(0.0, 8.0, 1.0, 0.01),))}  # of warm-up tasks


def policy_names() -> list[str]:
    """Return the names of all policies of days."""
    return sorted({*policies.names(), PRICES})


def find_policy(name: str, day: Day) -> Policy:
    """Return the policy of a name, for a day."""
    if name == PRICES:
        return prices_policy(planned, whole=day.period.edge == COMPLETED)
    plain = name.partition(":")[0]
    if plain not in policy_names():
        raise policies.POLICIES.unknown(plain, policy_names())
    return policies.policy(name)


def planned(forecast: Forecast, before: ArrivalPrices | None) -> ArrivalPrices:
    """Return prices for a forecast, starting from those of the last plan."""
    system, types = forecast.system, forecast.types
    tables = system.can_run[types], system.seconds[types], system.joules[types], system.column_type
    flows = Flows(forecast.expected, forecast.utilities, *tables, forecast.machine_seconds, forecast.energy_joules)
    start = None if before is None else (before.per_second, before.per_joule)
    return ArrivalPrices(forecast.edges, *flow_prices(flows, start))


# Where waiting has a cost, policies that need utility are not among `all`, and are rejected. A policy that uses
# place-holders is named so: `max-upe:placeholders`.
class ClusterBackend(SimulationBackend[Clusters, ClusterOptions, ClusterPolicy, ClustersSchedule]):
    """Clusters, and the options of their simulation."""

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
        return input_error("policies", shown, needed, "choose another, or give the tasks a utility")

    def warm_up_backend(self) -> ClusterBackend:
        """Return clusters with two tasks, each on both nodes, with ten scheduling events a second."""
        waiting, curve = self.instance.waiting, ((1, 1.0), (2, 0.5))
        clusters = Clusters(
            name="warm-up",
            clusters=(Cluster("cluster", 2, 1, ("P0", "P1")),),
            task_types=(DayTaskType("task"),),
            seconds=NodeCurves(((curve, curve),)),
            watts=NodeCurves(((curve, curve),)),
            tasks=ParallelTasks.of([0.0, 0.2], [0, 0], [2, 2], utilities=["worth"] * 2 if waiting is None else ()),
            utility_functions=WORTH if waiting is None else {},
            waiting=waiting,
            period=Period(0.0, 3.0, energy_constraint_joules=10.0) if waiting is None else Period(),
        )
        return ClusterBackend(clusters, replace(self.options, every_seconds=0.1))

    def run(self, spec: PolicySpec, rng: np.random.Generator, cancel: CancelToken) -> SimulationTrace[ClustersSchedule]:
        """Simulate a policy on the clusters; its name says whether it uses place-holders."""
        policy = spec.policy or cluster_policy(spec.name)
        return simulate_clusters(self.instance, policy, rng, self.options, cancel=cancel)

    def no_wait_reference(self) -> float:
        """Return what all tasks would earn, or minus what they would cost, if none waited."""
        clusters, waiting = self.instance, self.instance.waiting
        if waiting is None:
            return self._account(ClustersSchedule(())).details().if_none_waits
        at_once = [
            waiting.cost(0.0, clusters.fastest_seconds(kind) or 0.0, cores=kind.cores) for kind in clusters.kinds
        ]
        costs = math.fsum(at_once[kind] for kind in memoryview(clusters.kind_numbers).cast("q"))
        return 0.0 - costs  # no cost is 0, not -0

    def offline(self, prices: ArrivalPrices, cancel: CancelToken) -> ClustersSchedule:
        """Return the best schedule found with all tasks known, also from those of some policies."""
        schedules, options = [], ClusterOptions(every_seconds=None)
        for name in OFFLINE_FROM:
            rng = np.random.default_rng(0)
            run = simulate_clusters(self.instance, cluster_policy(name), rng, options, cancel=cancel)
            schedules += [run.schedule] if run.is_whole else []
        return offline_schedule(self.instance, prices, schedules=schedules, cancel=cancel)

    def _account(self, schedule: ClustersSchedule) -> ClustersAccount:
        return ClustersAccount(self.instance, schedule)

    def _details(self, account: ClustersAccount, length: float) -> dict[str, Any]:  # noqa: ARG002 - it was measured
        clusters, found = self.instance, account.details()
        shares = account.require_measured().utilisation_by_cluster or (0.0,) * len(clusters.clusters)
        return {
            "naive": found.if_none_waits,
            "earned": self._earned(found.utility_by_declaration) if clusters.waiting is None else (),
            "busy": tuple((each.name, share) for each, share in zip(clusters.clusters, shares, strict=True)),
            "costly_tasks": None if clusters.waiting is None else clusters.tasks,
            "groups": () if clusters.waiting is None else group_results(clusters, account),
        }


def usual_options(clusters: Clusters) -> ClusterOptions:
    """Return the default options of clusters: events at arrivals and ends, as in traces, where waiting has a cost."""
    return ClusterOptions() if clusters.waiting is None else ClusterOptions(every_seconds=None)
