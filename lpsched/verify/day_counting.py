"""What counts of the runs of a day, exactly.

Of a task that arrives at a and runs from s to f on a machine that takes w watts meanwhile, the part from s'
to f' counts (`instance/period.py`):

    prorated    s' = max(s, begin), f' = min(f, end)      nothing, if that is no time at all
    completed   s' = s, f' = f                            nothing, unless begin < f <= end
    utility     U(f - a) (f' - s') / (f - s)              U: the task's utility function
    energy      w (f' - s')                               idle machines take none

Times and watts are whole numbers of 2^-160, so that energy is exact. Utilities are doubles, of a time since
arrival that is rounded up; the part that counts is rounded down.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from lpsched.verify.bag import UNIT
from lpsched.verify.day_runs import Run, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lpsched.instance.day import Day


class Counted(NamedTuple):
    """A run of which something counts, from `start` to `end`."""

    run: Run
    start: int
    end: int

    @property
    def joules(self) -> int:
        """The energy that counts, in UNIT * UNIT."""
        return self.run.watts * (self.end - self.start)


class Counting:
    """What counts of runs, by the day's period."""

    def __init__(self, day: Day) -> None:
        period = day.period
        self._is_prorated = period.edge == "prorated"
        self._begin = whole(period.begins_at)
        self._end = None if period.length_seconds is None else whole(period.ends_at)
        self._arrivals = day.arriving.arrival_seconds
        self._functions, self._function_of = day.functions, memoryview(day.function_numbers).cast("q")

    def counted(self, runs: Iterable[Run]) -> Iterator[Counted]:
        """Yield what counts of each run, where anything does."""
        for run in runs:
            if self._is_prorated:
                start = max(run.start, self._begin)
                end = run.end if self._end is None else min(run.end, self._end)
                if start < end:
                    yield Counted(run, start, end)
            elif self.ends_within(run):
                yield Counted(run, run.start, run.end)

    def ends_within(self, run: Run) -> bool:
        """Tell whether a run ends in the period."""
        return self._begin < run.end and (self._end is None or run.end <= self._end)

    def within(self, run: Run) -> int:
        """Return how much of a run is in the period, whatever counts of it."""
        end = run.end if self._end is None else min(run.end, self._end)
        return max(0, end - max(run.start, self._begin))

    def utility(self, counted: Counted) -> float:
        """Return the utility that counts."""
        run = counted.run
        since_arrival = seconds_of(run.end - whole(self._arrivals[run.task]))
        earned = self._functions[self._function_of[run.task]].at(since_arrival)
        part, all_of_it = counted.end - counted.start, run.end - run.start
        if part == all_of_it:
            return earned
        exact = Fraction(earned) * Fraction(part, all_of_it)
        rounded = float(exact)
        return rounded if rounded <= exact else math.nextafter(rounded, 0.0)


def seconds_of(time: int) -> float:
    """Return an exact time in seconds, rounded up; integers divide without a second rounding."""
    rounded = time / UNIT
    numerator, denominator = rounded.as_integer_ratio()
    return rounded if numerator * UNIT >= time * denominator else math.nextafter(rounded, math.inf)
