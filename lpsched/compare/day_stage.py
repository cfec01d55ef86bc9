"""Days of machines on the stage: how policies run on them, and how schedules of them are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.compare.policies import find_policy, offline_schedule, policy_names
from lpsched.compare.rehearsals import rehearse, rehearse_bound
from lpsched.compare.simulated_facts import busy_shares, earned_by_kind, length_of, naive_utility, traces_of
from lpsched.compare.stage import FoundBound, Given, drawn_again, refusal
from lpsched.errors import InvalidScheduleError
from lpsched.pipeline.arrivals import arrival_bound
from lpsched.result.policy_columns import Judged
from lpsched.result.policy_run import PolicyRun
from lpsched.schedule.day import DaySchedule
from lpsched.simulation.engine import simulate_day
from lpsched.simulation.options import POLLED
from lpsched.simulation.policy import Policy
from lpsched.simulation.registry import POLICIES
from lpsched.verify.day import DayAccount, details

if TYPE_CHECKING:
    import numpy as np

    from lpsched.formulations.arrival_prices import ArrivalPrices
    from lpsched.instance.day import Day
    from lpsched.schedule.clusters import ClustersSchedule
    from lpsched.simulation.engine import SimulatedDay
    from lpsched.simulation.options import SimulationOptions
    from lpsched.watch import Watch

NOTHING: Final = DaySchedule(())


@dataclass(frozen=True, slots=True)
class DayStage:
    """A day, and how it is run."""

    instance: Day
    options: SimulationOptions

    @property
    def judged(self) -> Judged:
        """By utility."""
        return Judged.DAY

    @property
    def waiting(self) -> None:
        """Tasks are not judged by it."""
        return None

    def another(self, trial: int) -> DayStage:
        """Return the stage of another trial.

        Raises
        ------
        InstanceError
            If nobody knows how to draw another day like the one given.
        """
        return DayStage(drawn_again(self.instance, trial), self.options)

    def all_names(self) -> tuple[str, ...]:
        """Return the names that `all` stands for."""
        names = policy_names()
        polled = self.options.machines == POLLED
        return tuple(name for name in names if not (polled and find_policy(name, self.instance).immediate))

    def find(self, policy: object) -> Given:
        """Return a policy that can be run so.

        Raises
        ------
        InstanceError
            If there is none of that name, or it cannot be run so.
        """
        given = self._given(policy)
        is_immediate = (given.brought or find_policy(given.name, self.instance)).immediate
        if self.options.machines == POLLED and is_immediate:
            shown = f"{given.name!r}, which maps each task as it comes, and polled machines"
            raise refusal("policies", shown, "machines with queues for it", "choose queued machines")
        return given

    def _given(self, policy: object) -> Given:
        if isinstance(policy, str):
            found = find_policy(policy, self.instance)
            return Given(policy, "policy", found if policy in POLICIES.registered else None)
        if isinstance(policy, Policy):
            return Given(policy.name, "function", policy)
        if not callable(policy):
            raise refusal("policies", repr(policy), "a name, a Policy or a function", "bring one of them")
        name = getattr(policy, "__name__", type(policy).__name__)
        return Given(name, "function", Policy(name, policy))

    def rehearse(self, name: str) -> None:
        """Let a policy run a day of two tasks."""
        rehearse(name, self.options)

    def rehearse_bound(self) -> None:
        """Find the bound of a day of two tasks."""
        rehearse_bound()

    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> SimulatedDay:
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

    def measured(self, trial: int, schedule: DaySchedule | ClustersSchedule) -> PolicyRun:
        """Check a schedule, and measure it.

        Raises
        ------
        InvalidScheduleError
            If it breaks a rule.
        """
        assert isinstance(schedule, DaySchedule), "of a day"
        day = self.instance
        account = DayAccount(day, schedule)
        measured = account.measured
        if measured is None:
            first = account.violations[0]
            raise InvalidScheduleError(f"{day.name}, trial {trial}: {first.code}: {first.sentence}")
        found = account.details()
        length = length_of(day.period, measured.makespan_seconds)
        return PolicyRun(
            trial,
            measured,
            naive=naive_utility(found.utility_by_told),
            earned=earned_by_kind(day, found.utility_by_told),
            busy=busy_shares(day, length, found.busy_seconds),
            traces=traces_of(day.period, length, account),
        )
