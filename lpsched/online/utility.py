"""Utility functions: the value of a task by the time it ends; and the cost of waiting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainValidator, ValidationError
from pydantic import model_validator as validator
from pydantic_core import InitErrorDetails

from lpsched.errors import InputIssue, Place
from lpsched.model.base import Part
from lpsched.model.fields import Amount, Frozen, FrozenDict, Name, OneOf, Seconds, Several, describe, rejection
from lpsched.model.problems import problems_of

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers
    from lpsched.online.parts import Levels


# Utility: what a finished task is worth, the later the less.
#
# A utility function is a list of intervals of the time t since the task's arrival. Within interval k, that is
# for t_k <= t < t_(k+1), utility falls from s_k towards f_k at the rate r_k:
#     U(t)  =  f_k  +  (s_k - f_k) exp(-r_k (t - t_k))
# The first interval begins at 0, the last never ends. A rate of 0 keeps utility where it is; a last interval
# that starts at 0 is a hard deadline. Utility never rises: s_k >= f_k >= s_(k+1) >= 0.
# Source: Friese, thesis of 2015, equation 1, where f_k = s_(k+1).
@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of time since arrival in which utility decays at one rate."""

    after_seconds: float
    starts_at: float
    falls_to: float
    rate_per_second: float


@dataclass(frozen=True, slots=True)
class UtilityFunction:
    """Intervals by rising `after_seconds`; the first begins at 0.

    >>> steady = Interval(0.0, 8.0, 8.0, 0.0)
    >>> UtilityFunction((steady, Interval(60.0, 0.0, 0.0, 0.0))).at(59.0)
    8.0
    """

    intervals: tuple[Interval, ...]

    def at(self, seconds: float) -> float:
        """Return the utility of a task that ends `seconds` after its arrival."""
        now = self.intervals[0]
        for interval in self.intervals:
            if interval.after_seconds > seconds:
                break
            now = interval
        return decayed(now.starts_at, now.falls_to, now.rate_per_second, seconds - now.after_seconds)


def decayed(starts_at: float, falls_to: float, rate_per_second: float, since: float) -> float:
    """Return the utility `since` seconds after the begin of an interval."""
    return falls_to + (starts_at - falls_to) * math.exp(-rate_per_second * since)


# Many utility functions as arrays: `UtilityArrays` of days, clusters and what is made of them, `Curves` for compiled
# loops. This file loads neither NumPy nor a compiler, since checkers use it.
@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityArrays:
    """F utility functions with P intervals in all."""

    first_interval: Integers  # F + 1: function f has the intervals first_interval[f] to first_interval[f + 1]
    after_seconds: Floats  # P, since arrival
    starts_at: Floats  # P
    falls_to: Floats  # P
    rate_per_second: Floats  # P

    @property
    def curves(self) -> Curves:
        """The same as a tuple."""
        return Curves(self.first_interval, self.after_seconds, self.starts_at, self.falls_to, self.rate_per_second)


class Curves(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """The arrays of `UtilityArrays`."""

    first_interval: Integers
    after_seconds: Floats
    starts_at: Floats
    falls_to: Floats
    rate_per_second: Floats


def utility_at(curves: UtilityArrays | Curves, function: int, elapsed: float) -> float:
    """Return the utility of a task that completes `elapsed` seconds after its arrival."""
    p, last = curves.first_interval[function], curves.first_interval[function + 1] - 1
    while p < last and curves.after_seconds[p + 1] <= elapsed:
        p += 1
    # as `decayed`, which compiled functions cannot call: it is plain
    decay = math.exp(-float(curves.rate_per_second[p]) * (elapsed - float(curves.after_seconds[p])))
    return float(curves.falls_to[p]) + (float(curves.starts_at[p]) - float(curves.falls_to[p])) * decay


@cache
def compiled_utility() -> Callable[[Curves, int, float], float]:
    """Return `utility_at` for compiled loops."""
    from lpsched.jit import compiled_inside  # noqa: PLC0415 - see above

    return compiled_inside(utility_at)


def utilities(curves: UtilityArrays, functions: int | Integers, elapsed: Floats) -> Floats:
    """Return utilities at many times since arrival; shapes are broadcast. One function is quickest as an int."""
    now = intervals_at(curves, functions, elapsed)
    starts_at, falls_to, rates = curves.starts_at[now], curves.falls_to[now], curves.rate_per_second[now]
    return decayed_arrays(starts_at, falls_to, rates, elapsed - curves.after_seconds[now])


def decayed_arrays(starts_at: Floats, falls_to: Floats, rate_per_second: Floats, since: Floats) -> Floats:
    """Return `decayed` of arrays; the exponentials are NumPy's, which may differ in the last bit."""
    import numpy as np  # noqa: PLC0415 - see above

    earned: Floats = falls_to + (starts_at - falls_to) * np.exp(-rate_per_second * since)
    return earned


def intervals_at(curves: UtilityArrays, functions: int | Integers, elapsed: Floats) -> Integers:
    """Return the interval in which each time is; shapes are broadcast."""
    import numpy as np  # noqa: PLC0415 - see above

    if isinstance(functions, int):
        first, end = curves.first_interval[functions : functions + 2].tolist()
        found: Integers = first + np.searchsorted(curves.after_seconds[first:end], elapsed, side="right") - 1
        return found
    first, end = curves.first_interval[functions], curves.first_interval[functions + 1]
    first, end, elapsed = np.broadcast_arrays(first, end, elapsed)
    now = first.copy()
    for k in range(1, int(np.diff(curves.first_interval).max(initial=0))):
        reached = np.minimum(first + k, end - 1)
        now = np.where(curves.after_seconds[reached] <= elapsed, reached, now)
    return now


# Utility declared by levels: priority, urgency and utility class make a utility function of equation 1.
#   pi        the most utility: that of the priority
#   rho       how fast it decays, per minute: that of the urgency
#   F         how long it stays at its most: the urgency's `steady_share` of the mean seconds of the task type
#   class     for each interval k: begin a_k minutes after F, share psi_k of pi there, modifier delta_k of rho
#
#   U(t)  =  pi                                                                           for t < F + a_1
#   U(t)  =  pi psi_(k+1) + pi (psi_k - psi_(k+1)) exp(-delta_k rho (t - F - a_k))        within interval k
# with psi = 0 after the last interval. The mean is over the machine types that can run the task type, each in
# its first P-state that can: usually the fastest.
# Source: Friese, thesis of 2015, equation 1 and appendices B and C. There all classes begin with a_1 = 0.
SECONDS_PER_MINUTE: Final = 60
MOST_INTERVALS: Final = 100
MOST_NAMES: Final = 10_000  # of levels, or of own utility functions
Utility = Annotated[float, Amount("utility")]
Rate = Annotated[float, Amount("a rate")]


class Urgency(Part):
    """How soon and how fast utility decays."""

    decay_per_minute: Rate
    steady_share: Annotated[float, Amount("a share of the mean seconds")]


class ClassInterval(Part):
    """An interval of a utility class: its begin after the steady time, share and modifier of decay."""

    after_minutes: Annotated[float, Amount("minutes")]
    share: Annotated[float, Amount("a share", most=1.0)]
    rate: Rate = 1.0


def _from(least: int, most: int, needed: str, do: str = "") -> BeforeValidator:
    """Return the check of a list that it is one, and of a sound length."""

    def check(raw: object) -> object:
        if not isinstance(raw, list | tuple) or not least <= len(raw) <= most:
            raise rejection(describe(raw), needed, do if isinstance(raw, list | tuple) else "")
        return raw

    return BeforeValidator(check)


FEW_INTERVALS: Final = (
    Several(1, MOST_INTERVALS),
    _from(1, MOST_INTERVALS, f"a list of 1 to {MOST_INTERVALS} intervals", "add or join some"),
)
FEW_NAMES: Final = (Frozen(), Several(most=MOST_NAMES))
FEW_LISTS: Final = (Frozen(), Several(most=MOST_NAMES, piece=10))
Priorities = Annotated[
    Mapping[Name, Utility], *FEW_NAMES, Field(description="a mapping from names to the most utility")
]
Urgencies = Annotated[
    Mapping[Name, Urgency], *FEW_NAMES, Field(description="a mapping from names to decay_per_minute and steady_share")
]
UtilityClasses = Annotated[
    Mapping[Name, Annotated[tuple[ClassInterval, ...], *FEW_INTERVALS]],
    *FEW_LISTS,
    Field(description="a mapping from names to lists of intervals"),
]
NONE: Final = FrozenDict[str, Any]({})


class UtilityLevels(Part):
    """What the names of levels stand for."""

    priorities: Priorities = NONE
    urgencies: Urgencies = NONE
    utility_classes: UtilityClasses = NONE

    def function(self, levels: Levels, mean_seconds: float) -> UtilityFunction:
        """Return the utility function of a task whose type takes `mean_seconds` on average.

        >>> from lpsched.online.parts import Levels
        >>> decay = (ClassInterval(0.0, 1.0), ClassInterval(5.0, 0.0))
        >>> levels = UtilityLevels({"high": 4.0}, {"low": Urgency(0.6, 1.1)}, {"A": decay})
        >>> function = levels.function(Levels("high", "low", "A"), 100.0)
        >>> [round(function.at(seconds), 3) for seconds in (0, 109, 170, 409, 411)]
        [4.0, 4.0, 2.195, 0.201, 0.0]
        """
        most, urgency = self.priorities[levels.priority], self.urgencies[levels.urgency]
        steady = urgency.steady_share * mean_seconds
        shape = self.utility_classes[levels.utility_class]
        nothing = ClassInterval(shape[-1].after_minutes, 0.0)
        found = [Interval(0.0, most, most, 0.0)]
        for interval, following in pairwise((*shape, nothing)):
            after = steady + SECONDS_PER_MINUTE * interval.after_minutes
            rate = interval.rate * urgency.decay_per_minute / SECONDS_PER_MINUTE
            found.append(Interval(after, interval.share * most, following.share * most, rate))
        return UtilityFunction(tuple(found[1:] if found[1].after_seconds == 0 else found))


def classes_never_rise(utility_classes: Mapping[str, tuple[ClassInterval, ...]]) -> Iterator[InputIssue]:
    """Check the order and the shares of the intervals of utility classes."""
    for name, intervals in utility_classes.items():
        place = ("utility_classes", name)
        yield from _not_rising([each.after_minutes for each in intervals], place, "after_minutes")
        for k, (one, following) in enumerate(pairwise(intervals), start=1):
            if following.share > one.share:
                found = f"{following.share:g}, above the {one.share:g} of the one before"
                yield InputIssue((*place, k, "share"), found, "utility that never rises", "lower it")


def functions_never_rise(utility_functions: Mapping[str, UtilityFunction]) -> Iterator[InputIssue]:
    """Check the order and the utilities of the intervals of own utility functions."""
    for name, function in utility_functions.items():
        place, intervals = ("utility_functions", name), function.intervals
        if intervals[0].after_seconds != 0:
            found = f"a first interval that begins at {intervals[0].after_seconds:g} s"
            yield InputIssue((*place, 0, "after_seconds"), found, "0, the arrival", "begin with one that does")
        yield from _not_rising([each.after_seconds for each in intervals], place, "after_seconds")
        for k, each in enumerate(intervals):
            if each.falls_to > each.starts_at:
                found = f"{each.falls_to:g}, above the {each.starts_at:g} at which the interval starts"
                yield InputIssue((*place, k, "falls_to"), found, "utility that never rises", "lower it")
        for k, (one, following) in enumerate(pairwise(intervals), start=1):
            if following.starts_at > one.falls_to:
                found = f"{following.starts_at:g}, above the {one.falls_to:g} to which the one before falls"
                yield InputIssue((*place, k, "starts_at"), found, "utility that never rises", "lower it")


def _not_rising(begins: Sequence[float], place: Place, key: str) -> Iterator[InputIssue]:
    """Return the problems of intervals that do not begin after the one before."""
    for k, (one, following) in enumerate(pairwise(begins), start=1):
        if following <= one:
            found = f"{following:g}, not after the {one:g} of the one before"
            yield InputIssue((*place, k, key), found, "intervals by rising begin", "sort or join them")


class WrittenInterval(Part):
    """An interval of an own utility function, as it is in a file; one that neither falls nor decays is steady."""

    after_seconds: Annotated[float, Amount("seconds")]
    starts_at: Utility
    falls_to: Utility | None = None
    rate_per_second: Rate | None = None

    @validator(mode="after")
    def _falls_at_a_rate(self) -> WrittenInterval:
        if (self.falls_to is None) != (self.rate_per_second is None):
            has, lacks = ("rate_per_second", "falls_to") if self.falls_to is None else ("falls_to", "rate_per_second")
            do = f"add {lacks}, or drop {has} where utility stays the same"
            raise rejection(f"{has} but no {lacks}", "both or neither", do)
        return self


def _function(raw: Sequence[object]) -> UtilityFunction:
    """Return the utility function that a list of intervals describes."""
    intervals: list[Interval] = []
    errors: list[InitErrorDetails] = []
    for k, entry in enumerate(raw):
        try:
            each = WrittenInterval.model_validate(asdict(entry) if isinstance(entry, Interval) else entry)
        except ValidationError as error:
            errors += [
                InitErrorDetails(
                    type=rejection(found.got, found.expected, found.hint), loc=(k, *found.path), input=None
                )
                for found in problems_of(error, WrittenInterval, (), "")
            ]
        else:
            falls_to = each.starts_at if each.falls_to is None else each.falls_to
            intervals.append(Interval(each.after_seconds, each.starts_at, falls_to, each.rate_per_second or 0.0))
    if errors:
        raise ValidationError.from_exception_data("intervals", errors)
    return UtilityFunction(tuple(intervals))


UtilityFunctions = Annotated[
    Mapping[
        Name,
        Annotated[
            UtilityFunction,
            PlainValidator(
                _function, json_schema_input_type=Annotated[tuple[WrittenInterval, ...], Several(1, MOST_INTERVALS)]
            ),
            FEW_INTERVALS[-1],
            BeforeValidator(lambda raw: raw.intervals if isinstance(raw, UtilityFunction) else raw),
        ],
    ],
    *FEW_LISTS,
    Field(description="a mapping from names to lists of intervals"),
]


def written_function(function: UtilityFunction) -> list[dict[str, float]]:
    """Return the intervals of an own function as they are in a file; steady ones say only where they start."""
    return [
        {"after_seconds": each.after_seconds, "starts_at": each.starts_at}
        if each.falls_to == each.starts_at and each.rate_per_second == 0
        else asdict(each)
        for each in function.intervals
    ]


# What waiting costs, where tasks have no utility and all of them have to run: traces of real systems.
#   d       how long a task waits: from its arrival to its start, in seconds
#   f       its run: the fewest seconds that it takes on any cluster and P-state that can run it
#   weight  1, the task's cores, or its core-seconds (cores times f)
#
#   cost(d)  =  weight * d                            `seconds`
#               weight * (1 + d / f)                  `slowdown`
#               weight * max(1, (d + f) / max(f, b))  `bounded-slowdown`, by default with b = 10
#               weight * line through `points`        of (seconds waited, cost); never falling, the last slope
#                                                     continues
# Each is continuous, never falls, and consists of straight segments; its negative is what a schedule earns.
SECONDS: Final = "seconds"
SLOWDOWN: Final = "slowdown"
BOUNDED: Final = "bounded-slowdown"
POINTS: Final = "points"
MEASURES: Final = (SECONDS, SLOWDOWN, BOUNDED, POINTS)
TASK: Final = "task"
CORES: Final = "cores"
CORE_SECONDS: Final = "core-seconds"
WEIGHTS: Final = (TASK, CORES, CORE_SECONDS)
LEAST_SECONDS: Final = 10.0  # b by default
MOST_POINTS: Final = 100
POINT: Final = "[seconds waited, cost]"


class CostSegment(NamedTuple):
    """From `after_seconds` of waiting on, the cost rises from `cost` by `per_second`."""

    after_seconds: float
    cost: float
    per_second: float


class WaitingCost(Part):
    """How the waiting of a task is judged.

    >>> [tuple(segment) for segment in WaitingCost().segments(4.0, cores=2)]
    [(0.0, 1.0, 0.0), (6.0, 1.0, 0.1)]
    >>> WaitingCost("points", "cores", points=((0.0, 0.0), (60.0, 3.0))).cost(120.0, 4.0, cores=2)
    12.0
    """

    measure: Annotated[Literal["seconds", "slowdown", "bounded-slowdown", "points"], OneOf(MEASURES)] = BOUNDED
    weight: Annotated[Literal["task", "cores", "core-seconds"], OneOf(WEIGHTS)] = TASK
    at_least_seconds: Seconds = LEAST_SECONDS  # b
    points: Annotated[
        tuple[
            Annotated[
                tuple[Annotated[float, Amount("seconds")], Annotated[float, Amount("a cost")]], _from(2, 2, POINT)
            ],
            ...,
        ],
        Several(most=MOST_POINTS),
        _from(0, MOST_POINTS, f"a list of at most {MOST_POINTS} points, {POINT} each"),
    ] = ()

    def segments(self, fastest_seconds: float, *, cores: int) -> tuple[CostSegment, ...]:
        """Return the cost of a task by rising `after_seconds`, the first 0."""
        weight = {TASK: 1.0, CORES: float(cores), CORE_SECONDS: cores * fastest_seconds}[self.weight]
        shape = self._shape(fastest_seconds)
        return tuple(CostSegment(after, weight * cost, weight * slope) for after, cost, slope in shape)

    def cost(self, waited_seconds: float, fastest_seconds: float, *, cores: int) -> float:
        """Return what a task costs that waited so long."""
        segments = self.segments(fastest_seconds, cores=cores)
        now = [segment for segment in segments if segment.after_seconds <= waited_seconds][-1]
        return now.cost + now.per_second * (waited_seconds - now.after_seconds)

    def _shape(self, fastest: float) -> list[tuple[float, float, float]]:
        """Return the segments for a weight of 1."""
        if self.measure == SECONDS:
            return [(0.0, 0.0, 1.0)]
        if self.measure == SLOWDOWN:
            return [(0.0, 1.0, 1.0 / fastest)]
        if self.measure == BOUNDED:
            rising = (max(0.0, self.at_least_seconds - fastest), 1.0, 1.0 / max(fastest, self.at_least_seconds))
            return [rising] if rising[0] == 0.0 else [(0.0, 1.0, 0.0), rising]
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(self.points)]
        slopes.append(slopes[-1] if slopes else 0.0)
        return [(after, cost, slope) for (after, cost), slope in zip(self.points, slopes, strict=True)]


def waiting_has_what_its_measure_needs(waiting: WaitingCost | None) -> Iterator[InputIssue]:
    """Check that a cost of waiting has the keys of its measure, and points that rise."""
    if waiting is None:
        return
    place = ("waiting",)
    if waiting.measure != BOUNDED and waiting.at_least_seconds != LEAST_SECONDS:
        found = f"{waiting.at_least_seconds!r} s, besides the measure {waiting.measure}"
        yield InputIssue((*place, "at_least_seconds"), found, f"the measure {BOUNDED}", "drop it")
    if waiting.measure != POINTS:
        if waiting.points:
            found = f"{len(waiting.points)} points, besides the measure {waiting.measure}"
            yield InputIssue((*place, "points"), found, f"the measure {POINTS}", "drop them")
        return
    if not waiting.points:
        yield InputIssue((*place, "points"), "no points", "at least one, at 0 seconds", "add it")
    elif waiting.points[0][0] != 0:
        found = f"a first point at {waiting.points[0][0]!r} s"
        yield InputIssue((*place, "points", 0), found, "0, the arrival", "begin with one there")
    for k, ((after, cost), (later, higher)) in enumerate(pairwise(waiting.points), start=1):
        if later <= after:
            found = f"{later!r} s, not after the {after!r} s of the one before"
            yield InputIssue((*place, "points", k), found, "points by rising seconds", "sort or join them")
        if higher < cost:
            found = f"a cost of {higher!r}, below the {cost!r} of the one before"
            yield InputIssue((*place, "points", k), found, "a cost that never falls", "raise it")
