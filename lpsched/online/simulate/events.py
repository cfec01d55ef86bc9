"""When scheduling events are: on a grid of times, after so many arrivals, or as something arrives or ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats
    from lpsched.online.nodes.reservations import Book
    from lpsched.online.simulate.options import SimulationOptions


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
        """Leave out the points before a time."""
        assert self.seconds is not None, "there is a grid"
        self.step = max(self.step, steps_to(time, self.anchor, self.seconds) - 1)

    def after(self, now: float) -> float:
        """Return the next point, and in any case a time after now: a grid may be too fine for doubles."""
        return max(self.tick, math.nextafter(now, math.inf))


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
            self.skip_to(next_arrival)
        by_time = self.after(now)
        if by_arrivals < by_time:
            self.anchor, self.step = by_arrivals, 0
            return by_arrivals
        self.step += 1
        return by_time

    def is_long_until_an_arrival(self, arrived: int) -> bool:
        """Tell whether many points of the grid come before the next task does."""
        return self.is_long(self._next_arrival(arrived), LONG)

    def pass_over(self, opening: float, arrived: int) -> None:
        """Leave out a long span in which nothing arrives and no machine can take another task.

        Whatever a policy said there would be said anew before anything comes of it; a task that would have
        been dropped there is dropped afterwards.
        """
        assert self.seconds is not None, "there is a grid"
        end = min(opening, self._next_arrival(arrived))
        if self.is_long(end, LONG) and end < math.inf:
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


# Of clusters: so long after the last event, or as soon as something arrives or ends.
#
#     grid    at s, 2 s, 3 s, ... with s = `every_seconds`
#     without at every arrival and at every end of a task
#
# An event at which nothing waits is left out. So are, where more than ten thousand points of the grid would
# pass (a week of minutes) in which nothing arrives, starts or ends, all but the one after that.
#
# Source: Machovec et al. (2016), section III.A, for the minute.
LONG_OF_CLUSTERS: Final = 10_000  # points of the grid


class Clock(Grid):
    """The events of clusters to come.

    >>> from types import SimpleNamespace
    >>> idle = SimpleNamespace(next_change=lambda: math.inf, next_end=lambda: math.inf)
    >>> clock = Clock(60.0, math.inf)
    >>> clock.next_event(0.0, idle, next_arrival=130.0, something_waits=False)
    180.0
    """

    def __init__(self, every_seconds: float | None, ends_at: float) -> None:
        super().__init__(every_seconds)
        self.ends_at = ends_at

    def next_event(self, now: float, book: Book, *, next_arrival: float, something_waits: bool) -> float:
        """Move on to the next event, and return its time; infinite if there is none."""
        if self.seconds is None:
            return min(next_arrival, book.next_end()) if something_waits else next_arrival
        change = min(next_arrival, book.next_change(), self.ends_at) if something_waits else next_arrival
        if not something_waits or self.is_long(change, LONG_OF_CLUSTERS):
            if math.isinf(change):
                return math.inf
            self.skip_to(change)
        event = self.after(now)
        self.step += 1
        return event

    def latest(self, now: float, book: Book, *, next_arrival: float) -> float:
        """Return when the next event is at the latest if something still waits; infinite if nobody knows.

        Place-holders that would start later than that are forgotten, whatever else is placed now.
        """
        if self.seconds is None:
            return book.next_planned_end()  # not its real end: that would tell the future
        change = min(next_arrival, book.next_change(), self.ends_at)
        return math.inf if self.is_long(change, LONG_OF_CLUSTERS) else self.after(now)
