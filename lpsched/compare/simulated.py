"""The pieces of a simulation: one policy on the day of one trial, or the bounds of that day.

Trial 0 is the day itself, trial t a new draw of the generator that made it, judged over the same period. What
is left to chance depends on the seed, the trial and the name of the policy, and on nothing else: neither on
other policies nor on the order in which anything is run.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compare.policies import find_policy, offline_schedule
from lpsched.compare.rehearsals import rehearse, rehearse_bound
from lpsched.compare.schedulers import plain_words, reason
from lpsched.compare.simulated_facts import busy_shares, earned_by_kind, naive_utility, traces_of
from lpsched.errors import InvalidScheduleError, PolicyError, StalledError
from lpsched.generate.trials import another_day
from lpsched.pipeline.arrivals import arrival_bound
from lpsched.result.policy_run import PolicyRun
from lpsched.result.simulation import TrialBounds
from lpsched.schedule.day import DaySchedule
from lpsched.simulation.engine import Fate, SimulatedDay, simulate_day
from lpsched.verify.day import DayAccount, details

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance.day import Day
    from lpsched.simulation.options import SimulationOptions
    from lpsched.simulation.policy import Policy
    from lpsched.watch import Watch

STOPPED: Final = "stopped before its end"
BOUND: Final = "bound"
NOTHING: Final = DaySchedule(())


@dataclass(frozen=True, slots=True)
class Given:
    """A policy: found by its name for each day anew, or as whoever asks brought it."""

    name: str
    kind: str
    brought: Policy | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of all trials."""

    day: Day
    policies: tuple[Given, ...]
    options: SimulationOptions
    seed: int
    bound: bool
    offline: bool
    time_limit: float | None  # of a bound, in seconds


@dataclass(frozen=True, slots=True)
class Piece:
    """A policy, by its place, in a trial; without a policy: the bounds, and the offline schedule."""

    trial: int
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a piece."""

    piece: Piece
    run: PolicyRun | None = None
    schedule: DaySchedule | None = None  # of the first trial
    bounds: TrialBounds | None = None


class Simulating:
    """Does pieces of a simulation; keeps the day of the trial that it was asked for last."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._drawn: tuple[int, Day] = (0, question.day)
        self._rehearsed: set[str] = set()

    def name_of(self, piece: Piece) -> str:
        """Return what to call a piece."""
        what = BOUND if piece.place is None else self.question.policies[piece.place].name
        return f"trial {piece.trial}, {what}"

    def __call__(self, piece: Piece, watch: Watch) -> Done:
        """Do one piece."""
        day = self.day_of(piece.trial)
        if piece.place is None:
            return self._bounded(piece, day, watch)
        return self._ran(piece, day, self.question.policies[piece.place], watch)

    def day_of(self, trial: int) -> Day:
        """Return the day of a trial.

        Raises
        ------
        InstanceError
            If nobody knows how to draw another day like the one given.
        """
        given = self.question.day
        if trial == 0:
            return given
        if self._drawn[0] != trial:
            self._drawn = trial, another_day(given, trial)
        return self._drawn[1]

    def _bounded(self, piece: Piece, day: Day, watch: Watch) -> Done:
        """Find what the tasks could earn at most, and what they would in a schedule from those prices."""
        naive = TrialBounds(piece.trial, naive_utility(details(day, NOTHING)))
        if not self.question.bound:
            return Done(piece, bounds=naive)
        self._rehearse(BOUND, rehearse_bound)
        found = arrival_bound(day, time_limit=self.question.time_limit, watch=watch)
        names = [machine.name for machine in day.machine_types]
        bounds = replace(
            naive,
            bound=found.bound,
            bound_seconds=found.seconds,
            per_machine_hour=tuple(zip(names, found.per_machine_hour, strict=True)),
            per_kwh=found.per_kwh,
        )
        if not self.question.offline:
            return Done(piece, bounds=bounds)
        began = time.perf_counter()
        schedule = offline_schedule(day, found.prices, watch=watch)
        run = measured_run(day, piece.trial, schedule)
        run = replace(run, seconds=time.perf_counter() - began)
        return Done(piece, run, _kept(piece, schedule), bounds)

    def _policy(self, given: Given, day: Day) -> Policy:
        """Return a policy; one of ours has rehearsed."""
        if given.brought is not None:
            return given.brought
        self._rehearse(given.name, lambda: rehearse(given.name, self.question.options))
        return find_policy(given.name, day)

    def _rehearse(self, name: str, rehearsal: Callable[[], None]) -> None:
        """Do it, unless this process has: compiled loops stay."""
        if name not in self._rehearsed:
            rehearsal()
            self._rehearsed.add(name)

    def _ran(self, piece: Piece, day: Day, given: Given, watch: Watch) -> Done:
        """Run a policy; one that fails leaves its reason. A mistake of ours is raised."""
        refusals = (PolicyError, StalledError) if given.brought is None else (Exception,)
        began = time.perf_counter()
        try:
            policy = self._policy(given, day)
            began = time.perf_counter()
            rng = random_generator(self.question.seed, piece.trial, given.name)
            simulated = simulate_day(day, policy, rng, self.question.options, watch=watch)
            took = time.perf_counter() - began
            run = _measured(day, piece.trial, simulated) if simulated.is_whole else None
        except refusals as error:
            why = plain_words(reason(error))
            return Done(piece, PolicyRun(piece.trial, reason=why, seconds=time.perf_counter() - began))
        if run is None:
            return Done(piece, PolicyRun(piece.trial, reason=STOPPED, seconds=took))
        return Done(piece, replace(run, seconds=took), _kept(piece, simulated.schedule))


def random_generator(seed: int, trial: int, name: str) -> np.random.Generator:
    """Return the generator of a policy in a trial, whatever else is run."""
    of_name = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.default_rng([seed, trial, of_name])


def measured_run(day: Day, trial: int, schedule: DaySchedule) -> PolicyRun:
    """Check a schedule, and measure it.

    Raises
    ------
    InvalidScheduleError
        If it breaks a rule.
    """
    account = DayAccount(day, schedule)
    measured = account.measured
    if measured is None:
        first = account.violations[0]
        raise InvalidScheduleError(f"{day.name}, trial {trial}: {first.code}: {first.sentence}")
    found = account.details()
    return PolicyRun(
        trial,
        measured,
        naive=naive_utility(found),
        earned=earned_by_kind(day, found),
        busy=busy_shares(day, measured, found.busy_seconds),
        traces=traces_of(day, account, measured),
    )


def _measured(day: Day, trial: int, simulated: SimulatedDay) -> PolicyRun:
    """Measure a simulated day, and count what became of the tasks that did not run."""
    begin, end = day.period.begins_at, day.period.ends_at
    arrivals = np.frombuffer(day.arriving.arrivals)
    waiting = (simulated.fates == Fate.WAITING) & (arrivals < end)
    dropped = (simulated.fates == Fate.DROPPED) & (simulated.dropped_at >= begin)
    events = len(simulated.event_at)
    return replace(
        measured_run(day, trial, simulated.schedule),
        dropped=int(dropped.sum()),
        waiting=int(waiting.sum()),
        events=events,
        event_seconds=float(simulated.event_seconds.mean()) if events else None,
    )


def _kept(piece: Piece, schedule: DaySchedule) -> DaySchedule | None:
    """Keep the schedule of the first trial only: those of all would fill the memory."""
    return schedule if piece.trial == 0 else None
