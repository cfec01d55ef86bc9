"""Utility functions: the value of a task by the time it ends; and the cost of waiting."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from pydantic import ConfigDict, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass as checked
from pydantic.dataclasses import dataclass as checked_dataclass
from pydantic_core import PydanticCustomError

from lpsched.errors import Fault
from lpsched.model.fields import LARGEST, Amount, FrozenDict, Seconds, describe, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lpsched.errors import Place
    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.tasks import Levels


# Utility: what a finished task is worth, the later the less.
#
# A utility function is a list of intervals of the time t since the task's arrival. Within interval k, that is
# for t_k <= t < t_(k+1), utility falls from s_k towards f_k at the rate r_k:
#
#     U(t)  =  f_k  +  (s_k - f_k) exp(-r_k (t - t_k))
#
# The first interval begins at 0, the last never ends. A rate of 0 keeps utility where it is; a last interval
# that starts at 0 is a hard deadline. Utility never rises: s_k >= f_k >= s_(k+1) >= 0.
#
# Source: Friese, thesis of 2015, equation 1, where f_k = s_(k+1).
@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time since arrival in which utility decays at one rate."""

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
        """Return the utility of a task that ends so many seconds after its arrival."""
        now = self.intervals[0]
        for interval in self.intervals:
            if interval.after_seconds > seconds:
                break
            now = interval
        return decayed(now.starts_at, now.falls_to, now.rate_per_second, seconds - now.after_seconds)


def decayed(starts_at: float, falls_to: float, rate_per_second: float, since: float) -> float:
    """Return the utility `since` seconds after the begin of an interval."""
    return falls_to + (starts_at - falls_to) * math.exp(-rate_per_second * since)


# Many utility functions as arrays: for one task at a time, for NumPy, and for compiled loops.
#
# Days, clusters and what is made of them have the arrays of their functions as `UtilityArrays`; compiled loops take
# them as `Curves`. This file loads neither NumPy nor a compiler, for checkers use it: who needs one has it loaded.
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


@cache
def compiled_decay() -> Callable[[float, float, float, float], float]:
    """Return `decayed` for compiled loops that know the interval."""
    from lpsched.jit import compiled_inside  # noqa: PLC0415 - see above

    return compiled_inside(decayed)


def utilities(curves: UtilityArrays, functions: int | Integers, elapsed: Floats) -> Floats:
    """Return utilities at many times since arrival; the shapes of functions and times are broadcast.

    One function at many times takes a quarter of the time that an array of one function would.
    """
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


def falls_below(curves: UtilityArrays, function: int, limit: float) -> float:
    """Return the seconds since arrival from which on utility is below a limit; infinite if it never is.

    Utility never rises. The first interval k whose values fall below the limit d has that moment: at once if its
    start s_k < d, at  t_k + log((s_k - f_k) / (d - f_k)) / r_k  if it falls below d before its end, else at its end.
    """
    first, last = int(curves.first_interval[function]), int(curves.first_interval[function + 1])
    for p in range(first, last):
        after, start = float(curves.after_seconds[p]), float(curves.starts_at[p])
        floor, rate = float(curves.falls_to[p]), float(curves.rate_per_second[p])
        end = float(curves.after_seconds[p + 1]) if p + 1 < last else math.inf
        if start < limit:
            return after
        if rate > 0.0 and floor < limit:
            crossing = after + math.log((start - floor) / (limit - floor)) / rate
            if crossing < end:
                return math.nextafter(crossing, math.inf)  # at the crossing itself it still earns enough
    return math.inf


# Utility told by levels: priority, urgency and utility class make a utility function of equation 1.
#
#   pi        the most utility: that of the priority
#   rho       how fast it decays, per minute: that of the urgency
#   F         how long it stays at its most: the urgency's `steady_share` of the mean seconds of the task type
#   class     for each interval k: begin a_k minutes after F, share psi_k of pi there, modifier delta_k of rho
#
#   U(t)  =  pi                                                                           for t < F + a_1
#   U(t)  =  pi psi_(k+1) + pi (psi_k - psi_(k+1)) exp(-delta_k rho (t - F - a_k))        within interval k
#
# with psi = 0 after the last interval. The mean is over the machine types that can run the task type, each in
# its first P-state that can: usually the fastest.
#
# Source: Friese, thesis of 2015, equation 1 and appendices B and C. There all classes begin with a_1 = 0.
SECONDS_PER_MINUTE: Final = 60
CONFIG: Final = ConfigDict(extra="forbid")  # every field has a strict check of its own

check_utility: Final = Amount("utility")
_RATE: Final = Amount("a rate")
_SHARE: Final = Amount("a share", most=1.0)
_MINUTES: Final = Amount("minutes")
_STEADY: Final = Amount("a share of the mean seconds")


@checked_dataclass(frozen=True, slots=True, config=CONFIG)
class Urgency:
    """How soon and how fast utility decays."""

    decay_per_minute: Annotated[float, _RATE]
    steady_share: Annotated[float, _STEADY]


@checked_dataclass(frozen=True, slots=True, config=CONFIG)
class ClassInterval:
    """An interval of a utility class: its begin after the steady time, share and modifier of decay."""

    after_minutes: Annotated[float, _MINUTES]
    share: Annotated[float, _SHARE]
    rate: Annotated[float, _RATE] = 1.0


@dataclass(frozen=True)
class UtilityLevels:
    """What the names of levels stand for."""

    priorities: Mapping[str, float] = field(default_factory=FrozenDict)
    urgencies: Mapping[str, Urgency] = field(default_factory=FrozenDict)
    utility_classes: Mapping[str, tuple[ClassInterval, ...]] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        """Keep what cannot be changed any more."""
        for key in ("urgencies", "utility_classes"):
            object.__setattr__(self, key, FrozenDict(getattr(self, key)))
        floats = {name: _float(each) for name, each in self.priorities.items()}  # 8 and 8.0 have one hash
        object.__setattr__(self, "priorities", FrozenDict(floats))

    def function(self, levels: Levels, mean_seconds: float) -> UtilityFunction:
        """Return the utility function of a task whose type takes so many seconds on average.

        >>> from lpsched.online.tasks import Levels
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


def _float(number: float) -> float:
    """Return a number as a double; what is none stays, for a day to refuse."""
    return number + 0.0 if isinstance(number, int | float) and not isinstance(number, bool) else number


# What a utility function must satisfy: it begins at 0, its intervals follow each other, it never rises.
MOST_INTERVALS: Final = 100
check_after: Final = Amount("seconds")
check_rate: Final = Amount("a rate")


def broken_function(function: UtilityFunction, place: Place) -> Iterator[Fault]:
    """Return the faults of a utility function; `place` is where it stands."""
    intervals = function.intervals
    unsound = [fault for k, _ in enumerate(intervals) for fault in _bad_numbers(function, k, (*place, k))]
    if unsound:  # what is no number cannot be compared
        yield from unsound
        return
    yield from bad_length(len(intervals), place)
    if intervals and intervals[0].after_seconds != 0:
        found = f"a first interval that begins at {intervals[0].after_seconds:g} s"
        yield Fault((*place, 0, "after_seconds"), found, "0, the arrival", "begin with one that does")
    yield from not_rising([each.after_seconds for each in intervals], place, "after_seconds")
    for k, each in enumerate(intervals):
        if each.falls_to > each.starts_at:
            found = f"{each.falls_to:g}, above the {each.starts_at:g} at which the interval starts"
            yield Fault((*place, k, "falls_to"), found, "utility that never rises", "lower it")
    for k, (one, following) in enumerate(pairwise(intervals), start=1):
        if following.starts_at > one.falls_to:
            found = f"{following.starts_at:g}, above the {one.falls_to:g} to which the one before falls"
            yield Fault((*place, k, "starts_at"), found, "utility that never rises", "lower it")


def _bad_numbers(function: UtilityFunction, k: int, place: Place) -> Iterator[Fault]:
    interval = function.intervals[k]
    for key, check in (
        ("after_seconds", check_after),
        ("starts_at", check_utility),
        ("falls_to", check_utility),
        ("rate_per_second", check_rate),
    ):
        try:
            check(getattr(interval, key))
        except PydanticCustomError as refused:
            yield Fault((*place, key), **(refused.context or {}))


def broken_class(intervals: Sequence[ClassInterval], place: Place) -> Iterator[Fault]:
    """Return the faults of a utility class, whose numbers are sound by themselves."""
    yield from bad_length(len(intervals), place)
    yield from not_rising([each.after_minutes for each in intervals], place, "after_minutes")
    for k, (one, following) in enumerate(pairwise(intervals), start=1):
        if following.share > one.share:
            found = f"{following.share:g}, above the {one.share:g} of the one before"
            yield Fault((*place, k, "share"), found, "utility that never rises", "lower it")


def bad_length(count: int, place: Place) -> Iterator[Fault]:
    """Return the fault of no intervals, or of too many."""
    if not 1 <= count <= MOST_INTERVALS:
        yield Fault(place, f"{count} intervals", f"1 to {MOST_INTERVALS} of them", "add or join some")


def not_rising(begins: Sequence[float], place: Place, key: str) -> Iterator[Fault]:
    """Return the faults of intervals that do not begin after the one before."""
    for k, (one, following) in enumerate(pairwise(begins), start=1):
        if following <= one:
            found = f"{following:g}, not after the {one:g} of the one before"
            yield Fault((*place, k, key), found, "intervals by rising begin", "sort or join them")


def interval_numbers(interval: Interval) -> dict[str, float]:
    """Return the numbers of an interval, for a hash; 8 and 8.0 are one, as are 0.0 and -0.0."""
    return {key: float(number) + 0.0 for key, number in asdict(interval).items()}


# What waiting costs, where tasks have no utility and all of them have to run: traces of real systems.
#
#   d       how long a task waits: from its arrival to its start, in seconds
#   f       its run: the fewest seconds that it takes on any cluster and P-state that can run it
#   weight  1, the task's cores, or its core-seconds (cores times f)
#
#   cost(d)  =  weight * d                            `seconds`
#               weight * (1 + d / f)                  `slowdown`
#               weight * max(1, (d + f) / max(f, b))  `bounded-slowdown`, by default with b = 10
#               weight * line through `points`        of (seconds waited, cost); never falling, the last slope
#                                                     goes on for ever
# Each is continuous, never falls, and consists of straight pieces; its negative is what a schedule earns.
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
HINT: Final = "see 'lpsched schema clusters'"

PAIR: Final = (Amount("seconds"), Amount("a cost"))


def _check_measure(value: object) -> object:
    if value not in MEASURES:
        raise refusal(describe(value), " or ".join(MEASURES), HINT)
    return value


def _check_weight(value: object) -> object:
    if value not in WEIGHTS:
        raise refusal(describe(value), " or ".join(WEIGHTS), HINT)
    return value


def _check_points(value: object) -> tuple[tuple[float, ...], ...]:
    """Check every number; the faults of all of them come in one error, each with its place."""
    if not isinstance(value, list | tuple) or len(value) > MOST_POINTS:
        needed = f"a list of at most {MOST_POINTS} points, [seconds waited, cost] each"
        raise refusal(describe(value), needed, HINT)
    points: list[tuple[float, ...]] = []
    refused: list[tuple[Place, dict[str, str]]] = []
    for k, pair in enumerate(value):
        if not isinstance(pair, list | tuple) or len(pair) != len(PAIR):
            why = {"found": describe(pair), "needed": "[seconds waited, cost]", "do": HINT}
            refused.append(((k,), why))
            continue
        for place, (check, number) in enumerate(zip(PAIR, pair, strict=True)):
            try:
                check(number)
            except PydanticCustomError as error:
                refused.append(((k, place), dict(error.context or {})))
        points.append(tuple(pair))
    if refused:
        context = {"count": len(refused), "inner": refused}
        raise PydanticCustomError("faults", "{count} numbers are refused", context)
    return tuple(tuple(float(number) + 0.0 for number in pair) for pair in points)


Measure = Annotated[
    Literal["seconds", "slowdown", "bounded-slowdown", "points"],
    PlainValidator(_check_measure),
    WithJsonSchema({"enum": list(MEASURES)}),
]
Weight = Annotated[
    Literal["task", "cores", "core-seconds"], PlainValidator(_check_weight), WithJsonSchema({"enum": list(WEIGHTS)})
]
CostPoints = Annotated[
    tuple[tuple[float, float], ...],
    PlainValidator(_check_points),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": MOST_POINTS,
            "items": {
                "type": "array",
                "items": {"type": "number", "minimum": 0, "maximum": LARGEST},
                "minItems": len(PAIR),
                "maxItems": len(PAIR),
            },
        }
    ),
]


class CostPiece(NamedTuple):
    """From `after_seconds` of waiting on, the cost rises from `cost` by so much a second."""

    after_seconds: float
    cost: float
    per_second: float


@checked(frozen=True, slots=True, config=CONFIG)
class WaitingCost:
    """How the waiting of a task is judged.

    >>> [tuple(piece) for piece in WaitingCost().pieces(4.0, cores=2)]
    [(0.0, 1.0, 0.0), (6.0, 1.0, 0.1)]
    >>> WaitingCost("points", "cores", points=((0.0, 0.0), (60.0, 3.0))).cost(120.0, 4.0, cores=2)
    12.0
    """

    measure: Measure = BOUNDED
    weight: Weight = TASK
    at_least_seconds: Seconds = LEAST_SECONDS  # b
    points: CostPoints = ()

    def pieces(self, fastest_seconds: float, *, cores: int) -> tuple[CostPiece, ...]:
        """Return the cost of a task by rising `after_seconds`, the first 0."""
        weight = {TASK: 1.0, CORES: float(cores), CORE_SECONDS: cores * fastest_seconds}[self.weight]
        return tuple(
            CostPiece(after, weight * cost, weight * slope) for after, cost, slope in self._shape(fastest_seconds)
        )

    def cost(self, waited_seconds: float, fastest_seconds: float, *, cores: int) -> float:
        """Return what a task costs that waited so long."""
        pieces = self.pieces(fastest_seconds, cores=cores)
        now = [piece for piece in pieces if piece.after_seconds <= waited_seconds][-1]
        return now.cost + now.per_second * (waited_seconds - now.after_seconds)

    def _shape(self, fastest: float) -> list[tuple[float, float, float]]:
        """Return the pieces for a weight of 1."""
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


def broken_waiting(waiting: WaitingCost, place: Place) -> Iterator[Fault]:
    """Return the faults of a cost whose numbers are sound, each by itself."""
    if waiting.measure != BOUNDED and waiting.at_least_seconds != LEAST_SECONDS:
        found = f"{waiting.at_least_seconds!r} s, besides the measure {waiting.measure}"
        yield Fault((*place, "at_least_seconds"), found, f"the measure {BOUNDED}", "drop it")
    if waiting.measure != POINTS:
        if waiting.points:
            found = f"{len(waiting.points)} points, besides the measure {waiting.measure}"
            yield Fault((*place, "points"), found, f"the measure {POINTS}", "drop them")
        return
    if not waiting.points:
        yield Fault((*place, "points"), "no points", "at least one, at 0 seconds", "add it")
    elif waiting.points[0][0] != 0:
        found = f"a first point at {waiting.points[0][0]!r} s"
        yield Fault((*place, "points", 0), found, "0, the arrival", "begin with one there")
    for k, ((after, cost), (later, dearer)) in enumerate(pairwise(waiting.points), start=1):
        if later <= after:
            found = f"{later!r} s, not after the {after!r} s of the one before"
            yield Fault((*place, "points", k), found, "points by rising seconds", "sort or join them")
        if dearer < cost:
            found = f"a cost of {dearer!r}, below the {cost!r} of the one before"
            yield Fault((*place, "points", k), found, "a cost that never falls", "raise it")
