"""Batch mode: at a mapping event, all tasks that wait are mapped, those in virtual queues anew.

    1. what has got unmovable since the last event stays; everything else that waits is to be mapped anew
    2. tasks that can no longer earn enough are dropped                    (`dropping.py`)
    3. choices that take too much energy are filtered out                  (`filters.py`)
    4. the policy is asked, and each of its decisions checked              (`answers.py`)
    5. what it mapped is lined up on the machines; what breaks the energy constraint, or would start too late,
       is not done, and waits                                              (`machines.py`)
    6. the heads of the virtual queues are put into their best order       (`permuting.py`)

Where machines are polled, only idle ones get tasks, one each, which start at once.

The day is over when its period is. A period without an end is over when nothing waits any more; or when all
tasks have arrived, all machines are idle, and the policy maps nothing.

Source: Friese, thesis of 2015, 2.4.1, 3.3.1 and 4.3.1.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from lpsched.simulation.answers import answer_of
from lpsched.simulation.dropping import most_utility
from lpsched.simulation.happened import Fate
from lpsched.simulation.machines import NO_NUMBERS, NOTHING
from lpsched.simulation.permuting import permuted
from lpsched.simulation.triggers import Triggers

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.simulation.running import RunningDay
    from lpsched.simulation.state import Assignments, State


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
