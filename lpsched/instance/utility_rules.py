"""What a utility function must satisfy: it begins at 0, its intervals follow each other, it never rises."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import Fault
from lpsched.instance.fields import Amount
from lpsched.instance.utility_levels import check_utility

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.errors import Place
    from lpsched.instance.utility import Interval, UtilityFunction
    from lpsched.instance.utility_levels import ClassInterval

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
