"""Exact times, and what counts within a period: utility, energy, traces over time."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from lpsched.model.violation import LONGEST, UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.parts import Period


# Times as whole numbers of 2^-160, and starts that somebody rounded.
#
# Every time in a day, being 0 or at least 1e-30, is such a number, so ends are exact sums of integers.
#
# Start times are decimal numbers that someone rounded, so a task may start before its arrival, or before the
# end of the one before it, by a billionth of that time.
ROUNDING: Final = 10**9  # one of so many parts of a time is rounding
MOST: Final = 1000  # violations of one schedule; more would not help anybody


def whole(number: float) -> int:
    """Return how many 2^-160 a number is: exactly, for 0 and from 1e-30 up; rounded down below."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * UNIT // denominator


def seconds_of(time: int) -> float:
    """Return an exact time in seconds, rounded up; integers divide without a second rounding."""
    rounded = time / UNIT
    numerator, denominator = rounded.as_integer_ratio()
    return rounded if numerator * UNIT >= time * denominator else math.nextafter(rounded, math.inf)


def clearly_before(time: int, limit: int) -> bool:
    """Tell whether a time is before a limit by more than rounding."""
    return ROUNDING * (limit - time) > limit


def broken_start(task: int, start: float, arrival: float, ends_at: float) -> tuple[str, str] | None:
    """Return the rule that a start breaks by itself, and a sentence; nothing may start at `ends_at`."""
    if not 0 <= start <= LONGEST:
        return "bad-start", f"task {task} starts at {start!r} s, where 0 to {LONGEST:g} s are times"
    if start < arrival and clearly_before(whole(start), whole(arrival)):
        return "before-arrival", f"task {task} starts at {start!r} s, but arrives at {arrival!r} s"
    if start >= ends_at:
        over = f"the period that counts ends at {ends_at!r} s"
        return "starts-after-the-day", f"task {task} starts at {start!r} s, but {over}"
    return None


# What counts of the runs of a day or of clusters, exactly.
#
# Of a task that arrives at a and runs from s to f on machines that take w watts meanwhile, the part from s'
# to f' counts (`online/parts.py`):
#
#     prorated    s' = max(s, begin), f' = min(f, end)      nothing, if that is no time at all
#     completed   s' = s, f' = f                            nothing, unless begin < f <= end
#     utility     U(f - a) (f' - s') / (f - s)              U: the task's utility function
#     energy      w (f' - s')                               idle machines take none
#
# Times and watts are whole numbers of 2^-160, so that energy is exact. Utilities are doubles, of a time since
# arrival that is rounded up; the part that counts is rounded down.
class Ran(Protocol):
    """A task as it really ran; times and watts are whole numbers of 2^-160."""

    @property
    def task(self) -> int:
        """Its number."""

    @property
    def start(self) -> int:
        """When it started."""

    @property
    def end(self) -> int:
        """When it ended."""

    @property
    def watts(self) -> int:
        """What it took meanwhile, in all."""


AnyRun = TypeVar("AnyRun", bound=Ran)


class Counted(NamedTuple, Generic[AnyRun]):
    """A run of which something counts, from `start` to `end`."""

    run: AnyRun
    start: int
    end: int

    @property
    def joules(self) -> int:
        """The energy that counts, in UNIT * UNIT."""
        return self.run.watts * (self.end - self.start)


class Counting:
    """What counts of runs, by the period of a day or of clusters."""

    def __init__(self, day: Day | Clusters) -> None:
        period = day.period
        self._is_prorated = period.edge == "prorated"
        self._begin = whole(period.begins_at)
        self._end = None if period.length_seconds is None else whole(period.ends_at)
        self._arrivals = day.arriving.arrival_seconds
        self._functions, self._function_of = day.functions, memoryview(day.function_numbers).cast("q")

    def counted(self, runs: Iterable[AnyRun]) -> Iterator[Counted[AnyRun]]:
        """Yield what counts of each run, where anything does."""
        for run in runs:
            if self._is_prorated:
                start = max(run.start, self._begin)
                end = run.end if self._end is None else min(run.end, self._end)
                if start < end:
                    yield Counted(run, start, end)
            elif self.ends_within(run):
                yield Counted(run, run.start, run.end)

    def ends_within(self, run: Ran) -> bool:
        """Tell whether a run ends in the period."""
        return self._begin < run.end and (self._end is None or run.end <= self._end)

    def within(self, run: Ran) -> int:
        """Return how much of a run is in the period, whatever counts of it."""
        end = run.end if self._end is None else min(run.end, self._end)
        return max(0, end - max(run.start, self._begin))

    def utility(self, counted: Counted[AnyRun]) -> float:
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


def too_much_energy(period: Period, joules: int) -> Iterator[Violation]:
    """Yield a violation if counted energy, in UNIT * UNIT, is above the constraint by more than rounding."""
    most = period.energy_constraint_joules
    if most is None:
        return
    limit = whole(most) * UNIT
    if ROUNDING * (joules - limit) > limit:
        taken = rounded_up(Fraction(joules, UNIT * UNIT))
        sentence = f"the schedule takes {taken!r} J in the period that counts, of {most!r} J allowed"
        yield Violation("too-much-energy", sentence)


# How much has been credited, or taken, by some times? By plain loops over what rises.
#
# Times and watts are whole numbers of 2^-160, so that energy is exact until it is rounded up.
def traces_of(
    counted: Sequence[Counted[AnyRun]], earned: Sequence[float], times: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return what runs have earned, and the joules they have taken, by each of some times in any order.

    What a run earns is credited when what counts of it ends; its energy is taken evenly while that runs.
    """
    rising = sorted(set(times))
    utility = credited(sorted(zip((each.end for each in counted), earned, strict=True)), rising)
    turns = [(each.start, each.run.watts) for each in counted]
    turns += [(each.end, -each.run.watts) for each in counted]
    energy = taken(sorted(turns), rising)
    return tuple(utility[time] for time in times), tuple(energy[time] for time in times)


def credited(amounts: Sequence[tuple[int, float]], times: Sequence[float]) -> dict[float, float]:
    """Return the sum of the amounts credited by each time; both rise."""
    found: dict[float, float] = {}
    total, done = 0.0, 0
    for time in times:
        now, first = whole(time), done
        while done < len(amounts) and amounts[done][0] <= now:
            done += 1
        found[time] = total = math.fsum((total, *(amount for _, amount in amounts[first:done])))
    return found


def taken(turns: Sequence[tuple[int, int]], times: Sequence[float]) -> dict[float, float]:
    """Return the joules taken by each time, where the watts change by so many at each turn; both rise."""
    found: dict[float, float] = {}
    joules = watts = then = done = 0
    for time in times:
        now = whole(time)
        while done < len(turns) and turns[done][0] <= now:
            at, change = turns[done]
            joules, watts, then, done = joules + watts * (at - then), watts + change, at, done + 1
        found[time] = rounded_up(Fraction(joules + watts * (now - then), UNIT * UNIT))
    return found
