"""The simulation engine: when scheduling events are, and what happens at each.

The engine owns the clock and the state, calls a policy, and checks every decision. Its two backends, machines that run
one task each (`simulate/days.py`) and nodes of clusters (`nodes/clusters.py`), say when the next event is, what a
policy sees, and how its decisions are carried out.

At equal times: tasks end; then what is due starts, and queues move up; then tasks arrive; then comes the scheduling
event. The clock stands still while a policy computes. At a scheduling event:

  1. what is due has started; all other waiting tasks may be mapped anew
  2. tasks that can no longer earn enough are dropped, and choices that take too much energy filtered out (`options.py`)
  3. the policy is called, and each of its decisions checked
  4. its decisions are carried out; one that would break the energy constraint is not, and its task waits

A simulation ends with its period; without an end of the period, when nothing waits, or when all tasks have arrived,
nothing runs, and the policy maps nothing.

Sources: Friese, thesis of 2015, 2.4, 3.3 and 4.3 (there, mapping that takes longer than a minute delays the next event,
and a task that fits nowhere is not considered again before the next day); Machovec et al. (2016), sections III.A to
III.C and III.G.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.errors import InputIssue, InstanceError, StalledError
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.nodes.state import ClusterPolicy, ClusterState
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
    from lpsched.online.simulate.state import Policy, State

REPORT_EVERY: Final = 256  # scheduling events
MOST_EVENTS: Final = 5_000_000  # one a minute for ten years
NO_TASKS: Final = np.zeros(0, dtype=np.int64)


class Grid:
    """Events at even distances: `anchor` is where the grid begins (at first 0), `step` how many steps are over."""

    def __init__(self, every_seconds: float | None) -> None:
        self.seconds = every_seconds
        self.anchor, self.step = 0.0, 0

    @property
    def tick(self) -> float:
        """The next point of the grid; infinite if there is none."""
        return math.inf if self.seconds is None else self.anchor + (self.step + 1) * self.seconds

    def is_long(self, until: float, points: float) -> bool:
        """Return whether more than `points` points of the grid come before a time."""
        return self.seconds is not None and until > self.tick + points * self.seconds

    def skip_to(self, time: float) -> None:
        """Skip the points before a time.

        >>> grid = Grid(60.0)
        >>> grid.skip_to(121.0)
        >>> grid.tick
        180.0
        """
        assert self.seconds is not None
        steps = math.ceil((time - self.anchor) / self.seconds)
        if self.anchor + steps * self.seconds < time:  # the quotient was rounded
            steps += 1
        elif self.anchor + (steps - 1) * self.seconds >= time:
            steps -= 1
        self.step = max(self.step, steps - 1)

    def after(self, now: float) -> float:
        """Return the next point, or if that is not after `now` in doubles, the next double."""
        return max(self.tick, math.nextafter(now, math.inf))


# Scheduling events of days, by time and by arrivals, whichever is first:
#     by time      on a grid: at s, 2 s, 3 s, ... with s = `every_seconds`
#     by arrivals  with the n-th arrival since the last event, n = `every_arrivals`, after all of the same time; without
#                  a grid also with the last arrival of all, for an incomplete batch
#     both         after an event by arrivals the grid begins anew at that time
# Events at which nothing could be mapped are skipped, but stay on the grid; so are they where more than a thousand
# would pass in which nothing arrives and no machine can take another task.
# Source: Friese, thesis of 2015, 2.4.1 and 2.7.4; 3.3.1 and 4.3.1 for the minute.
LONG: Final = 1000  # events


class Triggers(Grid):
    """The scheduling events of a day."""

    def __init__(self, options: SimulationOptions, arrivals: Floats) -> None:
        super().__init__(options.every_seconds)
        self.batch, self.arrivals = options.every_arrivals, arrivals

    def next_event(self, now: float, arrived: int, *, something_waits: bool) -> float:
        """Advance to the next event, given how many tasks have arrived, and return its time; infinite if there is none.

        `something_waits`: there will be something to map at the next point of the grid even if nothing arrives.
        """
        left, by_arrivals, next_arrival = self.arrivals[arrived:], math.inf, math.inf
        if len(left):
            next_arrival = float(left[0])
            if self.batch is not None and (self.batch <= len(left) or self.seconds is None):
                by_arrivals = float(left[min(self.batch, len(left)) - 1])
        if not something_waits and self.tick < next_arrival < math.inf:
            self.skip_to(next_arrival)
        by_time = self.after(now)
        if by_arrivals < by_time:
            self.anchor, self.step = by_arrivals, 0
            return by_arrivals
        self.step += 1
        return by_time

    def pass_over(self, first_opening: Callable[[], float], next_arrival: float) -> None:
        """Skip a long time in which nothing arrives and no machine can take another task.

        Decisions made there would be made anew before they take effect; tasks that would be dropped there are dropped
        later.
        """
        if self.is_long(next_arrival, LONG):
            end = min(first_opening(), next_arrival)
            if self.is_long(end, LONG) and end < math.inf and self.seconds is not None:
                self.step = max(self.step, math.floor((end - self.anchor) / self.seconds) - 2)


class TaskOutcome(IntEnum):
    """What became of a task by the end."""

    WAITING = 0  # never mapped, or mapped but not begun
    RAN = 1
    DROPPED = 2


Seen = TypeVar("Seen", bound="State | ClusterState")
Answer = TypeVar("Answer")
Schedule = TypeVar("Schedule")


@dataclass(frozen=True, slots=True)
class SimulationTrace(Generic[Schedule]):
    """What happened: a schedule for the verifier, the outcome of every task, and the times of scheduling events."""

    schedule: Schedule  # of all tasks that began, warm-up included
    outcomes: Integers  # N, of TaskOutcome
    dropped_at: Floats  # N: when each dropped task was dropped; NaN for the others
    event_at: Floats  # when each scheduling event was
    event_seconds: Floats  # how long the policy (with dropping and filter) took at each
    is_whole: bool  # False: stopped by the token before the end
    rejected: int = 0  # decisions that were not carried out, since energy or time were not left


class Engine(ABC, Generic[Seen, Answer, Schedule]):
    """A running simulation: the tasks that have arrived, their outcomes, and what a scheduling event does."""

    subject: ClassVar[str]  # of messages: what is simulated
    done: ClassVar[str]  # what a policy does with tasks
    answers: ClassVar[str]  # what it returns
    ask: ClassVar[Callable[..., Any]]  # calls a policy with a state and a generator, and checks its answer
    must_run: bool = False  # whether all tasks have to run, since waiting has a cost
    one_by_one: bool = False  # whether each task has an event of its own

    def __init__(
        self,
        instance: Day | Clusters,
        policy: Policy | ClusterPolicy,
        rng: np.random.Generator,
        options: SimulationOptions | ClusterOptions,
        cancel: CancelToken | None,
    ) -> None:
        self.instance, self.policy, self.rng, self.options = instance, policy, rng, options
        if issues := tuple(self._misfits()):
            raise self._error(*issues)
        self.cancel = cancel if cancel is not None else CancelToken()
        self.ends_at, self.arrivals = instance.period.ends_at, np.frombuffer(instance.arriving.arrivals)
        self.drops = options.drop_below > 0.0 and not self.one_by_one  # before the policy is asked
        self.waiting = NO_TASKS  # that have come and may be mapped, by rising number
        self.arrived = 0
        self.memory: dict[str, Any] = {}  # of the policy
        tasks = instance.tasks
        self.outcomes = np.full(tasks, TaskOutcome.WAITING, dtype=np.int64)
        self.dropped_at, self.starts = np.full(tasks, np.nan), np.zeros(tasks)
        self.columns = np.zeros(tasks, np.int64)
        self.event_at: list[float] = []
        self.event_seconds: list[float] = []
        self.rejected = 0
        self.has_mapped = False
        self.could_map_at: float | None = None  # when a task first fitted
        self._set_up()

    @abstractmethod
    def _set_up(self) -> None:
        """Prepare what the tasks run on."""

    @abstractmethod
    def _next_event(self, now: float) -> float:
        """Advance to the next scheduling event, and return its time; infinite if there is none."""

    @abstractmethod
    def _settle(self, now: float) -> bool:
        """Process everything that is due by now; return whether waiting tasks may have begun."""

    @abstractmethod
    def _look(self, now: float) -> None:
        """Prepare for a scheduling event."""

    @abstractmethod
    def _most_utility(self, tasks: Integers, now: float) -> Floats:
        """Return the most that each task could still earn."""

    @abstractmethod
    def _see(self, now: float) -> Seen:
        """Return the state as a policy sees it, choices filtered."""

    @abstractmethod
    def _carry_out(self, answer: Answer, state: Seen) -> Integers:
        """Apply the decisions that fit; return the tasks that may be mapped at the next event."""

    @abstractmethod
    def _fits_now(self, state: Seen) -> Mask:
        """Return where each task could start now with the energy that is left (B x C)."""

    @abstractmethod
    def _schedule(self, ran: Integers) -> Schedule:
        """Return the schedule of the tasks that ran, given by start."""

    def run(self) -> SimulationTrace[Schedule]:
        """Run all scheduling events, and return what happened."""
        now, is_whole = 0.0, True
        while is_whole and (now := self._next_event(now)) < self.ends_at:
            if is_whole := not self.cancel.expired():
                self._event(now)
        if is_whole:
            self._settle(math.inf)
            self._raise_if_stalled()
        ran = np.flatnonzero(self.outcomes == TaskOutcome.RAN)
        schedule = self._schedule(ran[np.argsort(self.starts[ran], kind="stable")])
        arrays = (self.outcomes, self.dropped_at, np.array(self.event_at), np.array(self.event_seconds))
        for array in arrays:
            array.flags.writeable = False
        return SimulationTrace(schedule, *arrays, is_whole, self.rejected)

    def _next_arrival(self) -> float:
        return float(self.arrivals[self.arrived]) if self.arrived < len(self.arrivals) else math.inf

    def _count_arrived(self, now: float) -> int:
        return int(np.searchsorted(self.arrivals, now, side="right"))

    def _drop(self, tasks: Integers, now: float) -> None:
        self.outcomes[tasks] = TaskOutcome.DROPPED
        self.dropped_at[tasks] = now

    def _event(self, now: float) -> None:
        """Process one scheduling event."""
        if len(self.event_at) >= MOST_EVENTS and not self.one_by_one:
            found = f"{MOST_EVENTS:,} scheduling events by {now!r} s, and no end"
            raise self._error(InputIssue(("every_seconds",), found, "fewer", "map tasks less often"))
        if self._settle(now):
            self.waiting = self.waiting[self.outcomes[self.waiting] == TaskOutcome.WAITING]
        if (arrived := self._count_arrived(now)) > self.arrived:
            come = np.arange(self.arrived, arrived)
            self.waiting = np.concatenate((self.waiting, come)) if len(self.waiting) else come
            self.arrived = arrived
        if not len(self.waiting):
            return
        events = len(self.event_at)
        if events % REPORT_EVERY == 0:
            self.cancel.report(f"{self.policy.name}: {now / SECONDS_PER_HOUR:.1f} h, {events:,} scheduling events")
        began = time.perf_counter()
        self.waiting.flags.writeable = False  # for one kind of arrays a loop is compiled once
        self._look(now)
        if self.drops:
            low = self._most_utility(self.waiting, now) < self.options.drop_below
            if low.any():
                self._drop(self.waiting[low], now)
                self.waiting = self.waiting[~low]
        state = self._see(now) if len(self.waiting) else None
        answer = None if state is None else self.ask(self.policy, state, self.rng)
        self.event_at.append(now)
        self.event_seconds.append(time.perf_counter() - began)
        if state is not None and answer is not None:
            self.waiting = self._carry_out(answer, state)
            if not self.has_mapped and self.could_map_at is None:
                earns = self.must_run or (self._most_utility(state.tasks, now) > 0.0)[:, np.newaxis]
                self.could_map_at = now if (self._fits_now(state) & earns).any() else None

    def _raise_if_stalled(self) -> None:
        """Raise an error if nothing was mapped though something fitted, or if tasks that have to run did not."""
        left, events = int((self.outcomes == TaskOutcome.WAITING).sum()), len(self.event_at)
        who, do = f"policy {self.policy.name!r}", f"let it return {self.answers} of some of state.tasks"
        if not self.has_mapped and self.could_map_at is not None:
            what = f"{who} {self.done} nothing at {events:,} scheduling events"
            though = f"though some of its {left:,} tasks fitted, the first at {self.could_map_at!r} s"
            raise StalledError(f"{what}, {though}; {do}")
        if self.must_run and left:
            what = f"{who} left {left:,} of {len(self.outcomes):,} tasks waiting"
            raise StalledError(f"{what}, and all have to run where waiting has a cost; {do}")

    def _misfits(self) -> Iterator[InputIssue]:
        """Yield the errors of options, and of a policy, that do not fit the instance."""
        every, ends_at = self.options.every_seconds, self.instance.period.ends_at
        if (every or 0.0) >= ends_at:
            do = "shorten it: there would be no scheduling event"
            yield InputIssue(("every_seconds",), f"{every!r} s", f"less than the day has, {ends_at!r} s", do)

    def _error(self, *issues: InputIssue) -> InstanceError:
        return InstanceError(f"simulating {self.subject}", issues)
