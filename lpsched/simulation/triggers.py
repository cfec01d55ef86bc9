"""When the next mapping event is: so long after the last one, after so many arrivals, or what is first.

    by time      events lie on a grid: at s, 2 s, 3 s, ... with s = `every_seconds`; the day begins as if
                 there had been an event at 0
    by arrivals  an event comes with the n-th arrival since the last one, n = `every_arrivals`; those that
                 arrive in the same instant arrive before it. Without a grid, the last arrival of all brings
                 an event too, so that an incomplete batch is not left behind
    both         whichever is first; after an event by arrivals the grid begins anew at that time

An event at which nothing could be mapped is left out, but stays on the grid: it costs nothing to wait long
for the next task. Nor does it to wait long for a machine: where more than a thousand events would pass in
which nothing arrives, and no machine can take another task, they are left out too.

Source: Friese, thesis of 2015, 2.4.1 and 2.7.4; 3.3.1 and 4.3.1 for the minute.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.simulation.options import SimulationOptions


LONG: Final = 1000  # events


class Triggers:
    """The events to come. `anchor` is where the grid begins, `step` how many of its steps are over."""

    def __init__(self, options: SimulationOptions, arrivals: Floats) -> None:
        self.seconds, self.batch = options.every_seconds, options.every_arrivals
        self.arrivals = arrivals
        self.anchor, self.step = 0.0, 0

    @property
    def tick(self) -> float:
        """The next point of the grid; infinite if there is none."""
        return math.inf if self.seconds is None else self.anchor + (self.step + 1) * self.seconds

    def next_event(self, now: float, arrived: int, *, something_waits: bool) -> float:
        """Move on to the next event, and return its time; infinite if there is none.

        Parameters
        ----------
        now
            The time of the last event.
        arrived
            How many tasks have arrived by then.
        something_waits
            Whether there will be something to map at the next point of the grid even if nothing arrives.
        """
        by_arrivals, next_arrival = self._by_arrivals(arrived), self._next_arrival(arrived)
        if not something_waits and self.tick < next_arrival < math.inf:
            self._skip_to(next_arrival)
        by_time = max(self.tick, math.nextafter(now, math.inf))
        if by_arrivals < by_time:
            self.anchor, self.step = by_arrivals, 0
            return by_arrivals
        self.step += 1
        return by_time

    def is_long_until_an_arrival(self, arrived: int) -> bool:
        """Tell whether many points of the grid come before the next task does."""
        return self.seconds is not None and self._next_arrival(arrived) > self.tick + LONG * self.seconds

    def pass_over(self, opening: float, arrived: int) -> None:
        """Leave out a long span in which nothing arrives and no machine can take another task.

        Whatever a policy said there would be said anew before anything comes of it; a task that would have
        been dropped there is dropped afterwards.
        """
        assert self.seconds is not None, "there is a grid"
        end = min(opening, self._next_arrival(arrived))
        if self.tick + LONG * self.seconds < end < math.inf:
            self.step = max(self.step, math.floor((end - self.anchor) / self.seconds) - 2)

    def _next_arrival(self, arrived: int) -> float:
        return float(self.arrivals[arrived]) if arrived < len(self.arrivals) else math.inf

    def _by_arrivals(self, arrived: int) -> float:
        if self.batch is None or arrived >= len(self.arrivals):
            return math.inf
        last = arrived + self.batch - 1
        if last < len(self.arrivals):
            return float(self.arrivals[last])
        return float(self.arrivals[-1]) if self.seconds is None else math.inf

    def _skip_to(self, arrival: float) -> None:
        """Leave out the points of the grid before an arrival."""
        assert self.seconds is not None, "there is a grid"
        self.step = max(self.step, steps_to(arrival, self.anchor, self.seconds) - 1)


def steps_to(time: float, anchor: float, seconds: float) -> int:
    """Return how many steps from its anchor a grid reaches a time with.

    >>> steps_to(120.0, 0.0, 60.0), steps_to(121.0, 0.0, 60.0)
    (2, 3)
    """
    steps = math.ceil((time - anchor) / seconds)
    if anchor + steps * seconds < time:  # the quotient was rounded
        steps += 1
    elif anchor + (steps - 1) * seconds >= time:
        steps -= 1
    return steps
