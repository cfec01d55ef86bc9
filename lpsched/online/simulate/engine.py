"""The engine of days: scheduling events, one after another."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.cancellation import Watch
from lpsched.errors import Fault, InstanceError, StalledError
from lpsched.online.arrays import day_arrays
from lpsched.online.simulate.filters import Triggers, filter_of, most_utility, permuted
from lpsched.online.simulate.machines import NO_NUMBERS, NOTHING, Fate, Happened, Machines, SimulatedDay, accounts_of
from lpsched.online.simulate.options import POLLED
from lpsched.online.simulate.state import State, System, answer_of
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.arrays import DayArrays
    from lpsched.online.day import Day
    from lpsched.online.simulate.machines import LinedUp
    from lpsched.online.simulate.options import SimulationOptions
    from lpsched.online.simulate.state import Assignments, Policy


# What does not change while a day runs, made once of the day's arrays.
MOST_MACHINES: Final = 10_000_000  # each has its own queue


def system_of(arrays: DayArrays) -> System:
    """Return the system of a day."""
    counts = arrays.machine_counts
    if int(counts.sum()) > MOST_MACHINES:
        found, needed = f"{int(counts.sum()):,} machines", f"at most {MOST_MACHINES:,} in all"
        fault = Fault(("machine_types",), found, needed, "take fewer machines, and as many fewer tasks")
        raise InstanceError("simulating the day", (fault,))
    types = np.arange(len(counts))
    system = System(
        machine_counts=counts,
        machine_type=np.repeat(types, counts),
        first_column=np.searchsorted(arrays.mode_type, np.arange(len(counts) + 1)),
        column_type=arrays.mode_type,
        can_run=arrays.can_run,
        seconds=arrays.seconds,
        joules=arrays.seconds * arrays.watts,
        first_interval=arrays.first_interval,
        after_seconds=arrays.after_seconds,
        starts_at=arrays.starts_at,
        falls_to=arrays.falls_to,
        rate_per_second=arrays.rate_per_second,
    )
    for name in System.__dataclass_fields__:
        getattr(system, name).flags.writeable = False
    return system


# A day on its way: the tasks that have come, the machines, the energy, and what a policy sees of it.
TELL_EVERY: Final = 256  # mapping events
MOST_EVENTS: Final = 5_000_000  # of batch mode: one a minute for ten years


class RunningDay:
    """What both modes share."""

    def __init__(
        self, day: Day, policy: Policy, rng: np.random.Generator, options: SimulationOptions, watch: Watch
    ) -> None:
        self.day, self.policy, self.rng, self.options, self.watch = day, policy, rng, options, watch
        self.arrays = day_arrays(day)
        self.system = system_of(self.arrays)
        self.accounts = accounts_of(day.period)
        self.is_polled = options.machines == POLLED
        self.filter = filter_of(options, day.period, self.system)
        self.ends_at = day.period.ends_at
        self.machines = Machines(len(self.system.machine_type))
        self.all_machines = np.arange(len(self.system.machine_type))
        self.happened = Happened(day.tasks)
        self.memory: dict[str, Any] = {}
        self.has_mapped = False
        self.could_map_at: float | None = None  # when a policy could first have mapped something

    def seen(  # noqa: PLR0913 - options are keyword-only
        self, now: float, tasks: Integers, *, until: float, available: Integers, ready: Floats, pending_at: Floats
    ) -> State:
        """Return the present as a policy sees it."""
        piece = self.accounts.piece(now)
        allowed = self.system.can_run
        if self.filter is not None:
            allowed = self.filter.allowed(self.system, self.accounts, ready, piece)
        arrays = self.arrays
        state = State(
            system=self.system,
            now=now,
            begins_at=float(self.accounts.edges[piece]),
            ends_at=self.accounts.ends_at(piece),
            until=until,
            energy_left=self.accounts.left(piece),
            allowed=allowed,
            tasks=tasks,
            arrivals=arrays.arrivals[tasks],
            types=arrays.task_type[tasks],
            functions=arrays.function[tasks],
            polled=self.is_polled,
            available=available,
            ready=ready,
            pending_at=pending_at,
            memory=self.memory,
        )
        for array in (
            tasks, state.arrivals, state.types, state.functions, available, ready, pending_at
        ):  # fmt: skip
            array.flags.writeable = False
        return state

    def line_up(self, decided: Assignments, state: State) -> LinedUp:
        """Return what of the decisions can be done, and note how much that is."""
        types = self.arrays.task_type[decided.tasks]
        made = self.machines.line_up(decided, types, self.system, self.accounts, now=state.now)
        self.happened.refused += len(decided.tasks) - len(made.tasks)
        self.has_mapped = self.has_mapped or len(made.tasks) > 0
        if not self.has_mapped and self.could_map_at is None and self._could_map(state):
            self.could_map_at = state.now
        return made

    def fix(self, made: LinedUp) -> None:
        """Let tasks stay where they are, and charge their energy."""
        self.machines.fix(made, self.arrays.task_type[made.tasks], self.system, self.accounts)
        self.happened.run(made)

    def refuse_too_many_events(self, now: float) -> None:
        """Refuse to go on for ever."""
        if len(self.happened.event_at) >= MOST_EVENTS:
            found = f"{MOST_EVENTS:,} mapping events by {now!r} s, and no end"
            fault = Fault(("every_seconds",), found, "fewer", "map tasks less often")
            raise InstanceError("simulating the day", (fault,))

    def tell(self, now: float) -> None:
        """Let those who watch know how far the day is, now and then."""
        events = len(self.happened.event_at)
        if events % TELL_EVERY == 0:
            self.watch.tell(f"{self.policy.name}: {now / SECONDS_PER_HOUR:.1f} h, {events:,} mapping events")

    def raise_if_stalled(self) -> None:
        """Refuse a day in which nothing was mapped, though something could have been."""
        if self.has_mapped or self.could_map_at is None:
            return
        tasks, events = int((self.happened.fates == Fate.WAITING).sum()), len(self.happened.event_at)
        what = f"policy {self.policy.name!r} mapped nothing at {events:,} mapping events"
        though = f"though some of its {tasks:,} tasks fitted, the first at {self.could_map_at!r} s"
        raise StalledError(f"{what}, {though}; let it return assignments of some of state.tasks")

    def _could_map(self, state: State) -> bool:
        """Tell whether some task would earn something, and fits."""
        free = state.available[state.ready[state.available] < state.ends_at]
        types = np.zeros(len(self.system.machine_counts), dtype=bool)
        types[self.system.machine_type[free]] = True
        fits = state.allowed & types[self.system.column_type] & (self.system.joules <= state.energy_left)
        earns = most_utility(self.arrays, self.system, state.tasks, state.ready) > 0.0
        return bool((fits[state.types].any(axis=1) & earns).any())


# Immediate mode: every task is mapped as it comes, and stays where it is.
#
# Each arrival is a mapping event about that one task; tasks of one instant come by their numbers, each when
# the one before has its place. A task that would earn too little where the policy puts it is dropped. One
# that the policy does not map, or that does not fit there, is never asked about again: it waits for ever.
#
# Source: Friese, thesis of 2015, 2.4.1, 2.4.2 and 2.4.4.
def run_one_by_one(running: RunningDay) -> bool:
    """Run a day arrival by arrival; tell whether it came to its end."""
    for task, now in enumerate(running.arrays.arrivals.tolist()):
        if now >= running.ends_at:
            break
        if running.watch.is_over():
            return False
        running.tell(now)
        _event(running, task, now)
    return True


def _event(running: RunningDay, task: int, now: float) -> None:
    """Ask the policy where the task shall go, and let it stay there."""
    began = time.perf_counter()
    tasks, ready = np.arange(task, task + 1), running.machines.ready(now)
    pending_at = np.full(len(ready), now)
    state = running.seen(now, tasks, until=math.inf, available=running.all_machines, ready=ready, pending_at=pending_at)
    decided = answer_of(running.policy, state, running.rng)
    running.happened.event(now, time.perf_counter() - began)
    made = running.line_up(decided, state)
    if len(made.tasks):
        if _earns_too_little(running, task, made):
            running.happened.drop(tasks, now)
        else:
            running.fix(made)


def _earns_too_little(running: RunningDay, task: int, made: LinedUp) -> bool:
    if running.options.drop_below <= 0.0:
        return False
    function = running.day.functions[running.arrays.function[task]]
    earned: float = function.at(float(made.ends[0]) - float(running.arrays.arrivals[task]))
    return earned < running.options.drop_below


# Batch mode: at a mapping event, all tasks that wait are mapped, those in virtual queues anew.
#
#   1. what has got unmovable since the last event stays; everything else that waits is to be mapped anew
#   2. tasks that can no longer earn enough are dropped                    (`filters.py`)
#   3. choices that take too much energy are filtered out                  (`filters.py`)
#   4. the policy is asked, and each of its decisions checked              (`state.py`)
#   5. what it mapped is lined up on the machines; what breaks the energy constraint, or would start too late,
#      is not done, and waits                                              (`machines.py`)
#   6. the heads of the virtual queues are put into their best order       (`filters.py`)
#
# Where machines are polled, only idle ones get tasks, one each, which start at once.
#
# The day is over when its period is. A period without an end is over when nothing waits any more; or when all
# tasks have arrived, all machines are idle, and the policy maps nothing.
#
# Source: Friese, thesis of 2015, 2.4.1, 3.3.1 and 4.3.1.
def run_in_batches(running: RunningDay) -> bool:
    """Run a day event by event; tell whether it came to its end."""
    batches, now = _Batches(running), 0.0
    triggers = Triggers(running.options, running.arrays.arrivals)
    while not batches.is_done(triggers.tick):
        waits = batches.something_waits(triggers.tick)
        if triggers.is_long_until_an_arrival(batches.arrived):
            triggers.pass_over(batches.first_opening(triggers.tick), batches.arrived)
        now = triggers.next_event(now, batches.arrived, something_waits=waits)
        if now >= running.ends_at or math.isinf(now):
            break
        if running.watch.is_over():
            return False
        running.refuse_too_many_events(now)
        running.tell(now)
        batches.event(now, triggers.tick)
    batches.settle(math.inf)
    return True


class _Batches:
    """The tasks that have come and may still be mapped, and where they are queued for now."""

    def __init__(self, running: RunningDay) -> None:
        self.running = running
        self.waiting = NO_NUMBERS  # by rising number; those that are queued too
        self.arrived = 0
        self.queued = NOTHING
        self.stands_still = False  # idle machines, and a policy that maps nothing
        self.permute = running.options.permute > 1 and not running.is_polled

    def something_waits(self, at: float) -> bool:
        """Tell whether there will be something to map at a time, even if nothing arrives before."""
        if len(self.waiting) > len(self.queued.tasks):
            return True
        return float(self.queued.stays_from.max(initial=0.0)) > at

    def is_done(self, tick: float) -> bool:
        """Tell whether nothing more will happen."""
        if self.arrived < len(self.running.arrays.arrivals):
            return False
        return not self.something_waits(tick) or (self.stands_still and math.isinf(self.running.ends_at))

    def first_opening(self, tick: float) -> float:
        """Return when a machine may first take a task that is not mapped for sure by the next event."""
        machines = self.running.machines
        if self.running.is_polled:
            return float(machines.last_end.min())
        last_start, soon = machines.last_start.copy(), self.queued.stays_from <= tick
        np.maximum.at(last_start, self.queued.machines[soon], self.queued.starts[soon])
        return float(last_start.min())

    def settle(self, now: float) -> None:
        """Let stay what has got unmovable by now; all the rest is to be mapped anew."""
        if len(self.queued.tasks):
            stays = self.queued.stays_from <= now
            self.running.fix(self.queued if stays.all() else self.queued.keep(stays))
            self.queued = NOTHING
            self.waiting = self.waiting[self.running.happened.fates[self.waiting] == Fate.WAITING]

    def event(self, now: float, tick: float) -> None:
        """Come to a mapping event, and do what the policy says."""
        self.settle(now)
        self._arrive(now)
        if len(self.waiting):
            began = time.perf_counter()
            state = self._prepared(now, tick)
            if state is None:
                self.running.happened.event(now, time.perf_counter() - began)
            else:
                self._ask(state, began)

    def _arrive(self, now: float) -> None:
        arrived = int(np.searchsorted(self.running.arrays.arrivals, now, side="right"))
        if arrived > self.arrived:
            self.waiting = np.concatenate((self.waiting, np.arange(self.arrived, arrived)))
            self.arrived = arrived

    def _prepared(self, now: float, tick: float) -> State | None:
        """Drop and filter; return what is left for the policy to see, `None` if nothing is."""
        machines = self.running.machines
        self.waiting.flags.writeable = False  # for one kind of arrays a loop is compiled once
        ready = machines.ready(now)
        if self.running.options.drop_below > 0.0:
            self._drop(ready, now)
        if not len(self.waiting):
            return None
        available, pending_at = self.running.all_machines, machines.pending_at(now)
        if self.running.is_polled:
            available, pending_at = np.flatnonzero(ready <= now), ready
        until = math.inf if self.permute else tick  # what comes behind the head may be put into it
        return self.running.seen(
            now, self.waiting, until=until, available=available, ready=ready, pending_at=pending_at
        )

    def _drop(self, ready: Floats, now: float) -> None:
        running = self.running
        most = most_utility(running.arrays, running.system, self.waiting, ready)
        low = most < running.options.drop_below
        if low.any():
            running.happened.drop(self.waiting[low], now)
            self.waiting = self.waiting[~low]

    def _ask(self, state: State, began: float) -> None:
        running = self.running
        decided = answer_of(running.policy, state, running.rng)
        running.happened.event(state.now, time.perf_counter() - began)
        self.queued = running.line_up(decided, state)
        if self.permute:
            self.queued = running.line_up(self._permuted(state), state)
        self.stands_still = not len(self.queued.tasks) and bool((state.ready <= state.now).all())
        if self.running.is_polled:
            self.settle(state.now)

    def _permuted(self, state: State) -> Assignments:
        most = self.running.options.permute
        return permuted(self.queued, self.running.arrays, now=state.now, ends_at=state.ends_at, most=most)


# The engine: owns the clock and the truth, asks a policy, checks every answer, and keeps what happened.
#
# Of equal times: tasks end; then pending tasks start and virtual queues move up; then tasks arrive; then
# comes the mapping event, which sees all of that. The clock stands still while a policy thinks.
#
# What a scheduling event does is in `run_in_batches`, for policies that map all tasks that wait, and in
# `run_one_by_one`, for those that map each task as it comes. What would break the energy constraint, or start
# after the day's end, is not done, whatever the policy says: the task waits.
#
# Source: Friese, thesis of 2015, 2.4, 3.3 and 4.3. There, mapping that takes longer than a minute delays the
# next event, and a task that fits nowhere is not looked at again before the next day.
__all__ = ["Fate", "SimulatedDay", "simulate_day"]


def simulate_day(
    day: Day, policy: Policy, rng: np.random.Generator, options: SimulationOptions, *, watch: Watch | None = None
) -> SimulatedDay:
    """Run a day under a policy."""
    faults = tuple(_misfits(day, policy, options))
    if faults:
        raise InstanceError("simulating the day", faults)
    running = RunningDay(day, policy, rng, options, watch if watch is not None else Watch())
    is_whole = run_one_by_one(running) if policy.immediate else run_in_batches(running)
    if is_whole:
        running.raise_if_stalled()
    return running.happened.simulated(day, running.system, is_whole=is_whole)


def _misfits(day: Day, policy: Policy, options: SimulationOptions) -> Iterator[Fault]:
    """Find options that do not fit the policy or the day."""
    if policy.immediate:
        if options.machines == POLLED:
            found, needed = (f"policy {policy.name!r}, which maps each task as it comes", "machines with queues")
            yield Fault(("machines",), found, needed, "choose queued machines, or a policy of batch mode")
    elif options.every_arrivals is None and (options.every_seconds or 0.0) >= day.period.ends_at:
        found, needed = f"{options.every_seconds!r} s", f"less than the day has, {day.period.ends_at!r} s"
        yield Fault(("every_seconds",), found, needed, "shorten it: there would be no mapping event")
