"""The engine of simulations: when scheduling events are, what happens at each, tasks that begin and are dropped.

The engine owns the clock and the truth, asks a policy, and checks every answer. What differs between machines that run
one task each (`simulate/days.py`) and nodes of clusters (`nodes/clusters.py`) is in two backends of it: when the next
event is, what a policy sees, and how its answer is carried out.

Of equal times: tasks end; then what is due starts, and queues move up; then tasks arrive; then comes the mapping event,
which sees all of that. The clock stands still while a policy thinks. At a mapping event:

  1. what is due has started; everything else that waits may be mapped anew
  2. tasks that can no longer earn enough are dropped                             (`filters.py`)
  3. choices that take too much energy are filtered out                           (`filters.py`)
  4. the policy is asked, and each of its decisions checked
  5. its decisions are carried out; what would break the energy constraint is not, whatever the policy says, and waits

The simulation is over when its period is. A period without an end is over when nothing waits any more; or when all
tasks have arrived, nothing runs, and the policy maps nothing.

Source: Friese, thesis of 2015, 2.4, 3.3 and 4.3. There, mapping that takes longer than a minute delays the next event,
and a task that fits nowhere is not looked at again before the next day. Machovec et al. (2016), sections III.A to III.C
and III.G.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

import numpy as np

from lpsched.cancellation import Watch
from lpsched.errors import Fault, InstanceError, StalledError
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.nodes.state import ClusterPolicy, ClusterState
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
    from lpsched.online.simulate.state import Policy, State

TELL_EVERY: Final = 256  # mapping events
MOST_EVENTS: Final = 5_000_000  # one a minute for ten years
NO_TASKS: Final = np.zeros(0, dtype=np.int64)


# When scheduling events are: on a grid of times, after so many arrivals, or as something arrives or ends.
class Grid:
    """Events at even distances; `anchor` is where the grid begins, `step` how many of its steps are over.

    The simulation begins as if there had been an event at 0.
    """

    def __init__(self, every_seconds: float | None) -> None:
        self.seconds = every_seconds
        self.anchor, self.step = 0.0, 0

    @property
    def tick(self) -> float:
        """The next point of the grid; infinite if there is none."""
        return math.inf if self.seconds is None else self.anchor + (self.step + 1) * self.seconds

    def is_long(self, until: float, points: float) -> bool:
        """Tell whether more than so many points of the grid come before a time."""
        return self.seconds is not None and until > self.tick + points * self.seconds

    def skip_to(self, time: float) -> None:
        """Leave out the points before a time.

        >>> grid = Grid(60.0)
        >>> grid.skip_to(121.0)
        >>> grid.tick
        180.0
        """
        assert self.seconds is not None, "there is a grid"
        steps = math.ceil((time - self.anchor) / self.seconds)
        if self.anchor + steps * self.seconds < time:  # the quotient was rounded
            steps += 1
        elif self.anchor + (steps - 1) * self.seconds >= time:
            steps -= 1
        self.step = max(self.step, steps - 1)

    def after(self, now: float) -> float:
        """Return the next point, and in any case a time after now: a grid may be too fine for doubles."""
        return max(self.tick, math.nextafter(now, math.inf))


# Of days: so long after the last event, after so many arrivals, or what is first.
#
#     by time      events lie on a grid: at s, 2 s, 3 s, ... with s = `every_seconds`
#     by arrivals  an event comes with the n-th arrival since the last one, n = `every_arrivals`; those that
#                  arrive in the same instant arrive before it. Without a grid, the last arrival of all brings
#                  an event too, so that an incomplete batch is not left behind
#     both         whichever is first; after an event by arrivals the grid begins anew at that time
#
# An event at which nothing could be mapped is left out, but stays on the grid: it costs nothing to wait long
# for the next task. Nor does it to wait long for a machine: where more than a thousand events would pass in
# which nothing arrives, and no machine can take another task, they are left out too.
#
# Source: Friese, thesis of 2015, 2.4.1 and 2.7.4; 3.3.1 and 4.3.1 for the minute.
LONG: Final = 1000  # events


class Triggers(Grid):
    """The events of a day to come."""

    def __init__(self, options: SimulationOptions, arrivals: Floats) -> None:
        super().__init__(options.every_seconds)
        self.batch, self.arrivals = options.every_arrivals, arrivals

    def next_event(self, now: float, arrived: int, *, something_waits: bool) -> float:
        """Move on from an event, by which so many tasks have arrived, to the next; infinite if there is none.

        Something waits: there will be something to map at the next point of the grid even if nothing arrives.
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
        """Leave out a long span in which nothing arrives and no machine can take another task.

        Whatever a policy said there would be said anew before anything comes of it; a task that would have
        been dropped there is dropped afterwards.
        """
        if self.is_long(next_arrival, LONG):
            end = min(first_opening(), next_arrival)
            if self.is_long(end, LONG) and end < math.inf and self.seconds is not None:
                self.step = max(self.step, math.floor((end - self.anchor) / self.seconds) - 2)


class Fate(IntEnum):
    """What became of a task by the end."""

    WAITING = 0  # never mapped, or mapped but not begun
    RAN = 1
    DROPPED = 2


Seen = TypeVar("Seen", bound="State | ClusterState")
Answer = TypeVar("Answer")
Schedule = TypeVar("Schedule")


@dataclass(frozen=True, slots=True)
class Simulated(Generic[Schedule]):
    """What happened: a schedule for the verifier, the fate of every task, and what mapping took."""

    schedule: Schedule  # of all tasks that began, warm-up included
    fates: Integers  # N, of Fate
    dropped_at: Floats  # N: when each dropped task was dropped; NaN for the others
    event_at: Floats  # when each mapping event was
    event_seconds: Floats  # how long the policy (with dropping and filter) took at each
    is_whole: bool  # False: stopped by the watch before the end
    refused: int = 0  # decisions that were not carried out, for they did not fit energy or time


class Engine(ABC, Generic[Seen, Answer, Schedule]):
    """A simulation on its way: the tasks that have come, what became of them, and what a mapping event does."""

    subject: ClassVar[str]  # that is simulated
    done: ClassVar[str]  # what a policy does with tasks
    answers: ClassVar[str]  # what it returns
    ask: ClassVar[Callable[..., Any]]  # a policy about a state, with a generator, and check its answer
    must_run: bool = False  # whether all tasks have to run, since they cost what they wait
    one_by_one: bool = False  # whether each task has an event of its own: then they have an end

    def __init__(
        self,
        instance: Day | Clusters,
        policy: Policy | ClusterPolicy,
        rng: np.random.Generator,
        options: SimulationOptions | ClusterOptions,
        watch: Watch | None,
    ) -> None:
        self.instance, self.policy, self.rng, self.options = instance, policy, rng, options
        if faults := tuple(self._misfits()):
            raise self._refusal(*faults)
        self.watch = watch if watch is not None else Watch()
        self.ends_at, self.arrivals = instance.period.ends_at, np.frombuffer(instance.arriving.arrivals)
        self.drops = options.drop_below > 0.0 and not self.one_by_one  # before the policy is asked
        self.waiting = NO_TASKS  # that have come and may be mapped, by rising number
        self.arrived = 0
        self.memory: dict[str, Any] = {}  # of the policy
        tasks = instance.tasks
        self.fates = np.full(tasks, Fate.WAITING, dtype=np.int64)
        self.dropped_at, self.starts = np.full(tasks, np.nan), np.zeros(tasks)
        self.columns = np.zeros(tasks, np.int64)
        self.event_at: list[float] = []
        self.event_seconds: list[float] = []
        self.refused = 0
        self.has_mapped = False
        self.could_map_at: float | None = None  # when a policy could first have mapped something
        self._set_up()

    @abstractmethod
    def _set_up(self) -> None:
        """Prepare what the tasks run on."""

    @abstractmethod
    def _next_event(self, now: float) -> float:
        """Move on to the next mapping event, and return its time; infinite if there is none."""

    @abstractmethod
    def _settle(self, now: float) -> bool:
        """Let everything happen that is due by now; tell whether tasks that waited may have begun."""

    @abstractmethod
    def _look(self, now: float) -> None:
        """Prepare for a mapping event."""

    @abstractmethod
    def _most_utility(self, tasks: Integers, now: float) -> Floats:
        """Return the most that each task could earn."""

    @abstractmethod
    def _see(self, now: float) -> Seen:
        """Return the present as a policy sees it, choices filtered."""

    @abstractmethod
    def _carry_out(self, answer: Answer, state: Seen) -> Integers:
        """Do what the policy says, as far as it fits; return the tasks that may be mapped at the next event."""

    @abstractmethod
    def _fits_now(self, state: Seen) -> Mask:
        """Tell where each task could start, and has the energy (B x C)."""

    @abstractmethod
    def _schedule(self, ran: Integers) -> Schedule:
        """Return the schedule of the tasks that ran, given by start."""

    def run(self) -> Simulated[Schedule]:
        """Go from mapping event to mapping event."""
        now, is_whole = 0.0, True
        while is_whole and (now := self._next_event(now)) < self.ends_at:
            if is_whole := not self.watch.is_over():
                self._event(now)
        if is_whole:
            self._settle(math.inf)
            self._raise_if_stalled()
        ran = np.flatnonzero(self.fates == Fate.RAN)
        schedule = self._schedule(ran[np.argsort(self.starts[ran], kind="stable")])
        arrays = (self.fates, self.dropped_at, np.array(self.event_at), np.array(self.event_seconds))
        for array in arrays:
            array.flags.writeable = False
        return Simulated(schedule, *arrays, is_whole, self.refused)

    def _next_arrival(self) -> float:
        """Return when the next task arrives; infinite if none does."""
        return float(self.arrivals[self.arrived]) if self.arrived < len(self.arrivals) else math.inf

    def _count_arrived(self, now: float) -> int:
        """Return how many tasks have arrived."""
        return int(np.searchsorted(self.arrivals, now, side="right"))

    def _drop(self, tasks: Integers, now: float) -> None:
        """Give tasks up for good."""
        self.fates[tasks] = Fate.DROPPED
        self.dropped_at[tasks] = now

    def _event(self, now: float) -> None:
        """Come to a mapping event, and do what the policy says."""
        if len(self.event_at) >= MOST_EVENTS and not self.one_by_one:
            found = f"{MOST_EVENTS:,} mapping events by {now!r} s, and no end"
            raise self._refusal(Fault(("every_seconds",), found, "fewer", "map tasks less often"))
        if self._settle(now):
            self.waiting = self.waiting[self.fates[self.waiting] == Fate.WAITING]
        if (arrived := self._count_arrived(now)) > self.arrived:
            come = np.arange(self.arrived, arrived)
            self.waiting = np.concatenate((self.waiting, come)) if len(self.waiting) else come
            self.arrived = arrived
        if not len(self.waiting):
            return
        events = len(self.event_at)
        if events % TELL_EVERY == 0:
            self.watch.tell(f"{self.policy.name}: {now / SECONDS_PER_HOUR:.1f} h, {events:,} mapping events")
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
        """Refuse a run in which nothing was mapped, though something could have been, or not all that has to."""
        left, events = int((self.fates == Fate.WAITING).sum()), len(self.event_at)
        who, do = f"policy {self.policy.name!r}", f"let it return {self.answers} of some of state.tasks"
        if not self.has_mapped and self.could_map_at is not None:
            what = f"{who} {self.done} nothing at {events:,} mapping events"
            though = f"though some of its {left:,} tasks fitted, the first at {self.could_map_at!r} s"
            raise StalledError(f"{what}, {though}; {do}")
        if self.must_run and left:
            what = f"{who} left {left:,} of {len(self.fates):,} tasks waiting"
            raise StalledError(f"{what}, and all have to run where waiting has a cost; {do}")

    def _misfits(self) -> Iterator[Fault]:
        """Find options, and a policy, that do not fit the instance."""
        every, ends_at = self.options.every_seconds, self.instance.period.ends_at
        if (every or 0.0) >= ends_at:
            do = "shorten it: there would be no mapping event"
            yield Fault(("every_seconds",), f"{every!r} s", f"less than the day has, {ends_at!r} s", do)

    def _refusal(self, *faults: Fault) -> InstanceError:
        return InstanceError(f"simulating {self.subject}", faults)
