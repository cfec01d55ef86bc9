"""The simulation backend of days: how policies run on them, and how schedules of them are measured."""

from __future__ import annotations

import contextlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError, LpschedError, StalledError
from lpsched.model.table import Table
from lpsched.online import policies as registry
from lpsched.online.arrays import day_arrays
from lpsched.online.bound.no_waiting import Flows, flow_prices
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.bound.tables import ArrivalPrices
from lpsched.online.compare.backend import (
    FoundBound,
    Stage,
    busy_shares,
    earned_by_kind,
    length_of,
    naive_utility,
    refusal,
    traces_of,
)
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.parts import COMPLETED, DayMachineType, DayTaskType
from lpsched.online.policies import POLICIES
from lpsched.online.price_policy import NAME, prices_policy
from lpsched.online.recovery import schedule_from_prices
from lpsched.online.result.policy import Judged, PolicyRun
from lpsched.online.schedule import DaySchedule
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import POLLED, SimulationOptions
from lpsched.online.simulate.state import Policy
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.day import DayAccount, details, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.cancellation import Watch
    from lpsched.online.compare.backend import Given
    from lpsched.online.price_policy import Forecast
    from lpsched.online.simulate.engine import Simulated


# The policies of a day by name: those of the registry, and the one that plans, which is given a planner.
#
# `prices` needs prices for what it expects; simulations know no formulations, so the planner is put in here.
def policy_names() -> list[str]:
    """Return the names of all policies, ours that plans among them."""
    return sorted({*registry.names(), NAME})


def find_policy(name: str, day: Day, *, forecast: Day | None = None) -> Policy:
    """Return the policy of a name, for a day.

    Parameters
    ----------
    forecast
        A day that this one is expected to be like, for `prices`; without one, tasks are expected to keep
        coming as they have come.
    """
    if name != NAME:
        plain = name.partition(":")[0]
        if plain not in policy_names():
            raise registry.POLICIES.unknown(plain, policy_names())
        return registry.policy(name)
    if forecast is not None and forecast.task_types != day.task_types:
        found = f"task types other than those of {day.name!r}"
        fault = Fault(("task_types",), found, "the same, in the same order", "give a day of the same system")
        raise InstanceError(forecast.name, (fault,))
    other = None if forecast is None else day_arrays(forecast)
    return prices_policy(planned, other_day=other, whole=day.period.edge == COMPLETED)


def offline_schedule(day: Day, prices: ArrivalPrices, *, watch: Watch | None = None) -> DaySchedule:
    """Return the best schedule found that knows the whole day, at the prices of its bound.

    It begins with nothing, or with what the policy `prices` did, and improves both; the better one is it.
    """
    found = [schedule_from_prices(day, prices, watch=watch)]
    with suppress(StalledError):
        run = simulate_day(day, find_policy(NAME, day), np.random.default_rng(0), SimulationOptions(), watch=watch)
        if run.is_whole:
            found += [run.schedule, schedule_from_prices(day, prices, start=run.schedule, watch=watch)]
    return max(found, key=lambda schedule: measure(day, schedule).utility)


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
    start = None
    if before is not None:  # each slot begins with the mean of what it was
        slots = len(forecast.edges) - 1
        start = np.repeat(before.per_second.mean(axis=1, keepdims=True), slots, axis=1), before.per_joule
    per_second, per_joule = flow_prices(flows, start)
    return ArrivalPrices(forecast.edges, per_second, per_joule)


# A rehearsal: a day of two tasks comes first, so that compiling is timed with no policy and no bound.
def two_tasks() -> Day:
    """Return a day that is over in a minute."""
    worth = UtilityFunction((Interval(0.0, 8.0, 1.0, 0.01),))
    return Day(
        name="rehearsal",
        machine_types=(DayMachineType("machine", 1, ("P0", "P1")),),
        task_types=(DayTaskType("task"),),
        seconds=Table.of([[1.0, 2.0]]),
        watts=Table.of([[100.0, 40.0]]),
        tasks=ArrivingTasks.of([0.0, 0.5], [0, 0], ["worth", "worth"]),
        utility_functions={"worth": worth},
    )


def rehearse(name: str, options: SimulationOptions) -> None:
    """Let a policy run that day; how it fares does not matter."""
    day = two_tasks()
    with contextlib.suppress(LpschedError):
        simulate_day(day, find_policy(name, day), np.random.default_rng(0), options)


def rehearse_bound() -> None:
    """Find the bound of that day."""
    arrival_bound(two_tasks())


# Days of machines on the stage: how policies run on them, and how schedules of them are measured.
NOTHING: Final = DaySchedule(())


class DayStage(Stage[Day, SimulationOptions, Policy, DaySchedule]):
    """A day, and how it is run."""

    __slots__ = ()
    policy_class = Policy
    registry = POLICIES

    @property
    def judged(self) -> Judged:
        """By utility."""
        return Judged.DAY

    def _names(self) -> Sequence[str]:
        return policy_names()

    def _policy(self, name: str) -> Policy:
        return find_policy(name, self.instance)

    def _suits(self, policy: Policy) -> bool:
        return not (self.options.machines == POLLED and policy.immediate)

    def _unsuited(self, name: str) -> InstanceError:
        shown = f"{name!r}, which maps each task as it comes, and polled machines"
        return refusal("policies", shown, "machines with queues for it", "choose queued machines")

    def rehearse(self, name: str) -> None:
        """Let a policy run a day of two tasks."""
        rehearse(name, self.options)

    def rehearse_bound(self) -> None:
        """Find the bound of a day of two tasks."""
        rehearse_bound()

    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> Simulated[DaySchedule]:
        """Run a policy on the day."""
        policy = given.brought or find_policy(given.name, self.instance)
        return simulate_day(self.instance, policy, rng, self.options, watch=watch)

    def naive(self) -> float:
        """Return what all tasks would earn if each began at once where it is quickest."""
        return naive_utility(details(self.instance, NOTHING).utility_by_told)

    def bound(self, *, time_limit: float | None, watch: Watch) -> FoundBound:
        """Prove what no schedule of the day can pass."""
        found = arrival_bound(self.instance, time_limit=time_limit, watch=watch)
        names = [machine.name for machine in self.instance.machine_types]
        hours = tuple(zip(names, found.per_machine_hour, strict=True))
        return FoundBound(found.bound, found.seconds, hours, found.per_kwh, found.prices)

    def offline(self, prices: ArrivalPrices, watch: Watch) -> DaySchedule:
        """Return a schedule that knows the whole day."""
        return offline_schedule(self.instance, prices, watch=watch)

    def measured(self, trial: int, schedule: DaySchedule) -> PolicyRun:
        """Check a schedule, and measure it."""
        day, account = self.instance, DayAccount(self.instance, schedule)
        self._require_valid(trial, account.violations)
        measured, found = account.measured, account.details()
        assert measured is not None, "it breaks no rule"
        length = length_of(day.period, measured.makespan_seconds)
        return PolicyRun(
            trial,
            measured,
            naive=naive_utility(found.utility_by_told),
            earned=earned_by_kind(day, found.utility_by_told),
            busy=busy_shares(day, length, found.busy_seconds),
            traces=traces_of(day.period, length, account),
        )
