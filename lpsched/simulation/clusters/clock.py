"""When the next mapping event is: so long after the last one, or as soon as something arrives or ends.

    grid    at s, 2 s, 3 s, ... with s = `every_seconds`; the day begins as if there had been an event at 0
    without at every arrival and at every end of a task

An event at which nothing waits is left out. So are, where more than ten thousand points of the grid would
pass (a week of minutes) in which nothing arrives, starts or ends, all but the one after that.

Source: Machovec et al. (2016), section III.A, for the minute.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.simulation.triggers import steps_to

if TYPE_CHECKING:
    from lpsched.simulation.clusters.book import Book

LONG: Final = 10_000  # points of the grid


class Clock:
    """The events to come; `step` is how many points of the grid are over.

    >>> from types import SimpleNamespace
    >>> idle = SimpleNamespace(next_change=lambda: math.inf, next_end=lambda: math.inf)
    >>> clock = Clock(60.0, math.inf)
    >>> clock.next_event(0.0, idle, next_arrival=130.0, something_waits=False)
    180.0
    """

    def __init__(self, every_seconds: float | None, ends_at: float) -> None:
        self.seconds, self.ends_at = every_seconds, ends_at
        self.step = 0

    def next_event(self, now: float, book: Book, *, next_arrival: float, something_waits: bool) -> float:
        """Move on to the next event, and return its time; infinite if there is none."""
        if self.seconds is None:
            return min(next_arrival, book.next_end()) if something_waits else next_arrival
        change = min(next_arrival, book.next_change(), self.ends_at) if something_waits else next_arrival
        tick = (self.step + 1) * self.seconds
        if not something_waits or change > tick + LONG * self.seconds:
            if math.isinf(change):
                return math.inf
            self.step = max(self.step, steps_to(change, 0.0, self.seconds) - 1)
        self.step += 1
        return max(self.step * self.seconds, math.nextafter(now, math.inf))

    def latest(self, now: float, book: Book, *, next_arrival: float) -> float:
        """Return when the next event is at the latest if something still waits; infinite if nobody knows.

        Place-holders that would start later than that are forgotten, whatever else is placed now.
        """
        if self.seconds is None:
            return book.next_planned_end()  # not its real end: that would tell the future
        tick = (self.step + 1) * self.seconds
        change = min(next_arrival, book.next_change(), self.ends_at)
        if change > tick + LONG * self.seconds:
            return math.inf
        return max(tick, math.nextafter(now, math.inf))
