"""Levels and utility functions as they stand in a day's file: mappings from names to what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault
from lpsched.instance.arrival_rules import MOST_NAMES, bad_names
from lpsched.instance.fields import LARGEST, describe, number_field
from lpsched.instance.reading import too_many
from lpsched.instance.utility import Interval, UtilityFunction
from lpsched.instance.utility_levels import ClassInterval, Urgency, UtilityLevels, check_utility
from lpsched.instance.utility_rules import MOST_INTERVALS, check_after, check_rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.errors import Place
    from lpsched.instance.reading import Reading

Value = TypeVar("Value")
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class WrittenInterval:
    """An interval of an own utility function; one that neither falls nor decays is steady."""

    after_seconds: Annotated[float, *number_field(check_after, minimum=0, maximum=LARGEST)]
    starts_at: Annotated[float, *number_field(check_utility, minimum=0, maximum=LARGEST)]
    falls_to: Annotated[float, *number_field(check_utility, minimum=0, maximum=LARGEST)] | None = None
    rate_per_second: Annotated[float, *number_field(check_rate, minimum=0, maximum=LARGEST)] | None = None


def read_levels(reading: Reading) -> UtilityLevels | None:
    """Read what the names of levels stand for; `None` if anything is wrong."""
    priorities = _named(reading, "priorities", _priority)
    urgencies = _named(reading, "urgencies", _urgency)
    classes = _named(reading, "utility_classes", _class)
    if priorities is None or urgencies is None or classes is None:
        return None
    return UtilityLevels(priorities, urgencies, classes)


def read_functions(reading: Reading) -> dict[str, UtilityFunction] | None:
    """Read the file's own utility functions; `None` if anything is wrong."""
    return _named(reading, "utility_functions", _function)


def _named(
    reading: Reading, key: str, read: Callable[[Reading, object, Place], Value | None]
) -> dict[str, Value] | None:
    """Read a mapping from names; a missing one is empty."""
    raw = reading.raw.get(key)
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        needed = f"a mapping from names to {WORDS[key]}"
        reading.faults.append(Fault((key,), describe(raw), needed, reading.hint))
        return None
    if len(raw) > MOST_NAMES:
        reading.faults.append(too_many((key,), len(raw), MOST_NAMES))
        return None
    before = len(reading.faults)
    reading.faults += bad_names(raw, (key,))
    found: dict[str, Value] = {}
    for name, value in raw.items():
        made = read(reading, value, (key, str(name)))
        if made is not None:
            found[str(name)] = made
        if len(reading.faults) - before >= MOST_FAULTS:
            break
    return found if len(reading.faults) == before else None


WORDS: Final = {
    "priorities": "the most utility",
    "urgencies": "decay_per_minute and steady_share",
    "utility_classes": "lists of intervals",
    "utility_functions": "lists of intervals",
}


def _priority(reading: Reading, value: object, place: Place) -> float | None:
    try:
        return check_utility(value)
    except PydanticCustomError as refused:
        reading.faults.append(Fault(place, **(refused.context or {})))
        return None


def _urgency(reading: Reading, value: object, place: Place) -> Urgency | None:
    return reading.part(value, Urgency, place, reading.faults)


def _class(reading: Reading, value: object, place: Place) -> tuple[ClassInterval, ...] | None:
    return _intervals(reading, value, place, ClassInterval)


def _function(reading: Reading, value: object, place: Place) -> UtilityFunction | None:
    if isinstance(value, UtilityFunction):
        return value
    written = _intervals(reading, value, place, WrittenInterval)
    if written is None:
        return None
    found = []
    for k, each in enumerate(written):
        if (each.falls_to is None) != (each.rate_per_second is None):
            has, lacks = ("falls_to", "rate_per_second")
            if each.falls_to is None:
                has, lacks = lacks, has
            do = f"add {lacks}, or drop {has} where utility stays the same"
            reading.faults.append(Fault((*place, k), f"{has} but no {lacks}", "both or neither", do))
        falls_to = each.starts_at if each.falls_to is None else each.falls_to
        found.append(Interval(each.after_seconds, each.starts_at, falls_to, each.rate_per_second or 0.0))
    return UtilityFunction(tuple(found))


def _intervals(reading: Reading, value: object, place: Place, model: type[Part]) -> tuple[Part, ...] | None:
    if not isinstance(value, list | tuple):
        reading.faults.append(Fault(place, describe(value), "a list of intervals", reading.hint))
        return None
    if len(value) > MOST_INTERVALS:
        needed = f"at most {MOST_INTERVALS}"
        reading.faults.append(Fault(place, f"{len(value)} intervals", needed, "join some"))
        return None
    found: list[Any] = [
        reading.part(each, model, (*place, k), reading.faults) for k, each in enumerate(value)
    ]
    return None if None in found else tuple(found)
