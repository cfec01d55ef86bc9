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

from lpsched.compare.outside import plain_words, reason
from lpsched.errors import PolicyError, StalledError
from lpsched.result.policy_run import PolicyRun
from lpsched.result.simulation import TrialBounds
from lpsched.simulation.happened import Fate

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.compare.stage import Given, Happened, Stage
    from lpsched.schedule.clusters import ClustersSchedule
    from lpsched.schedule.day import DaySchedule
    from lpsched.watch import Watch

STOPPED: Final = "stopped before its end"
BOUND: Final = "bound"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of all trials."""

    stage: Stage
    policies: tuple[Given, ...]
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
    schedule: DaySchedule | ClustersSchedule | None = None  # of the first trial
    bounds: TrialBounds | None = None


class Simulating:
    """Does pieces of a simulation; keeps the day of the trial that it was asked for last."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._drawn: tuple[int, Stage] = (0, question.stage)
        self._rehearsed: set[str] = set()

    def name_of(self, piece: Piece) -> str:
        """Return what to call a piece."""
        what = BOUND if piece.place is None else self.question.policies[piece.place].name
        return f"trial {piece.trial}, {what}"

    def __call__(self, piece: Piece, watch: Watch) -> Done:
        """Do one piece."""
        stage = self.stage_of(piece.trial)
        if piece.place is None:
            return self._bounded(piece, stage, watch)
        return self._ran(piece, stage, self.question.policies[piece.place], watch)

    def stage_of(self, trial: int) -> Stage:
        """Return the stage of a trial.

        Raises
        ------
        InstanceError
            If nobody knows how to draw another day like the one given.
        """
        given = self.question.stage
        if trial == 0:
            return given
        if self._drawn[0] != trial:
            self._drawn = trial, given.another(trial)
        return self._drawn[1]

    def _bounded(self, piece: Piece, stage: Stage, watch: Watch) -> Done:
        """Find what the tasks could earn at most, and what they would in a schedule from those prices."""
        naive = TrialBounds(piece.trial, stage.naive(), tasks=stage.instance.tasks)
        if not self.question.bound:
            return Done(piece, bounds=naive)
        self._rehearse(BOUND, stage.rehearse_bound)
        found = stage.bound(time_limit=self.question.time_limit, watch=watch)
        bounds = replace(
            naive,
            bound=found.bound,
            bound_seconds=found.seconds,
            per_machine_hour=found.per_hour,
            per_kwh=found.per_kwh,
        )
        if not self.question.offline:
            return Done(piece, bounds=bounds)
        began = time.perf_counter()
        schedule = stage.offline(found.prices, watch)
        run = stage.measured(piece.trial, schedule)
        run = replace(run, seconds=time.perf_counter() - began)
        return Done(piece, run, _kept(piece, schedule), bounds)

    def _rehearse(self, name: str, rehearsal: Callable[[], None]) -> None:
        """Do it, unless this process has: compiled loops stay."""
        if name not in self._rehearsed:
            rehearsal()
            self._rehearsed.add(name)

    def _ran(self, piece: Piece, stage: Stage, given: Given, watch: Watch) -> Done:
        """Run a policy, one of ours once it has rehearsed; one that fails leaves its reason.

        A mistake of ours is raised.
        """
        refusals = (PolicyError, StalledError) if given.brought is None else (Exception,)
        began = time.perf_counter()
        try:
            if given.brought is None:
                self._rehearse(given.name, lambda: stage.rehearse(given.name))
            began = time.perf_counter()
            rng = random_generator(self.question.seed, piece.trial, given.name)
            happened = stage.run(given, rng, watch)
            took = time.perf_counter() - began
            run = _measured(stage, piece.trial, happened) if happened.is_whole else None
        except refusals as error:
            why = plain_words(reason(error))
            return Done(piece, PolicyRun(piece.trial, reason=why, seconds=time.perf_counter() - began))
        if run is None:
            return Done(piece, PolicyRun(piece.trial, reason=STOPPED, seconds=took))
        return Done(piece, replace(run, seconds=took), _kept(piece, happened.schedule))


def random_generator(seed: int, trial: int, name: str) -> np.random.Generator:
    """Return the generator of a policy in a trial, whatever else is run."""
    of_name = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.default_rng([seed, trial, of_name])


def _measured(stage: Stage, trial: int, happened: Happened) -> PolicyRun:
    """Measure a simulated day, and count what became of the tasks that did not run."""
    period = stage.instance.period
    arrivals = np.frombuffer(stage.instance.arriving.arrivals)
    waiting = (happened.fates == Fate.WAITING) & (arrivals < period.ends_at)
    dropped = (happened.fates == Fate.DROPPED) & (happened.dropped_at >= period.begins_at)
    events = len(happened.event_at)
    return replace(
        stage.measured(trial, happened.schedule),
        dropped=int(dropped.sum()),
        waiting=int(waiting.sum()),
        events=events,
        event_seconds=float(happened.event_seconds.mean()) if events else None,
    )


def _kept(piece: Piece, schedule: DaySchedule | ClustersSchedule) -> DaySchedule | ClustersSchedule | None:
    """Keep the schedule of the first trial only: those of all would fill the memory."""
    return schedule if piece.trial == 0 else None
