"""Rules of tasks that arrive, whatever runs them: days and clusters share these.

Each returns every fault of its kind; the parts that it is given are sound by themselves.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from operator import le, ne
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import Fault, nearest, quote
from lpsched.instance.day_tasks import Levels
from lpsched.instance.fields import LARGEST, SMALLEST, Amount, check_name
from lpsched.instance.reading import too_many
from lpsched.instance.shared_rules import repeats
from lpsched.instance.utility_levels import check_utility
from lpsched.instance.utility_rules import broken_class, broken_function

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lpsched.errors import Place
    from lpsched.instance.day_tasks import Told
    from lpsched.instance.table import Column
    from lpsched.instance.utility import UtilityFunction
    from lpsched.instance.utility_levels import UtilityLevels

MOST_TASKS: Final = 10_000_000
MOST_NAMES: Final = 10_000  # of levels, or of own utility functions
KEY_OF: Final = {
    "priority": "priorities",
    "urgency": "urgencies",
    "utility_class": "utility_classes",
    "utility": "utility_functions",
}
check_arrival: Final = Amount("seconds")


def are_times(seconds: Sequence[float]) -> bool:
    """Tell whether the check of a single arrival would pass them all, at the speed of a map."""
    if any(map(ne, seconds, seconds)):  # NaN
        return False
    return max(seconds, default=0.0) <= LARGEST and min(filter(None, seconds), default=1.0) >= SMALLEST


def falling_arrivals(arrivals: Sequence[float]) -> Iterator[Fault]:
    """Return the faults of arrivals: what is no time, else the first that comes after a later one."""
    if are_times(arrivals):
        if not all(map(le, arrivals, islice(arrivals, 1, None))):
            first = next(n for n in range(1, len(arrivals)) if arrivals[n] < arrivals[n - 1])
            yield falling_arrival(first, arrivals[first - 1], arrivals[first])
        return
    for n, each in enumerate(arrivals):
        try:
            check_arrival(each)
        except PydanticCustomError as refused:
            yield Fault(("tasks", n, "arrival_seconds"), **(refused.context or {}))


def falling_arrival(task: int, before: float, arrival: float) -> Fault:
    """Return the fault of a task that comes after a later one."""
    place, found = ("tasks", task, "arrival_seconds"), f"{arrival!r} s after {before!r} s"
    return Fault(place, found, "tasks by never-falling arrival", "sort them by arrival_seconds")


def strange_types(numbers: Sequence[int], types: int | None) -> Iterator[Fault]:
    """Return the faults of tasks whose type is none of so many."""
    if types is None or not numbers or 0 <= min(numbers) <= max(numbers) < types:
        return
    for n, i in enumerate(numbers):
        if not 0 <= i < types:
            needed = f"a number from 0 to {types - 1}, of a task type"
            yield Fault(("tasks", n, "task_type"), str(i), needed, "correct it")


def strange_numbers_of_utilities(numbers: Sequence[int], told: Sequence[Told], do: str) -> Iterator[Fault]:
    """Return the fault of numbers that do not tell each utility once, in the order of first use."""
    if list(dict.fromkeys(numbers)) != list(range(len(told))) or len(set(told)) < len(told):
        needed = "each way to tell a utility once, by first use"
        yield Fault(("tasks",), "numbers of utilities in another order", needed, do)


def repeated_names(columns: Sequence[Column], key: str, kind: str) -> Iterator[Fault]:
    """Return the faults of machine types or clusters with one name, or with labels that are one."""
    for j, column in enumerate(columns):
        yield from repeats(column.p_states or (), (key, j, "p_states"), ())
    yield from repeats([each.name for each in columns], (key,), ("name",))
    labels = Counter(label for column in columns for label in set(column.columns))
    for j, column in enumerate(columns):
        for label in column.columns:
            if column.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another {kind}"
                yield Fault((key, j), found, "labels that differ", "rename one")


def broken_levels(levels: UtilityLevels | None) -> Iterator[Fault]:
    """Return the faults of levels."""
    if levels is None:
        return
    for key in ("priorities", "urgencies", "utility_classes"):
        yield from bad_names(getattr(levels, key), (key,))
    for name, most in levels.priorities.items():
        try:
            check_utility(most)
        except PydanticCustomError as refused:
            yield Fault(("priorities", str(name)), **(refused.context or {}))
    for name, intervals in levels.utility_classes.items():
        yield from broken_class(intervals, ("utility_classes", str(name)))


def broken_functions(functions: Mapping[str, UtilityFunction] | None) -> Iterator[Fault]:
    """Return the faults of own utility functions."""
    yield from bad_names(functions or {}, ("utility_functions",))
    for name, function in (functions or {}).items():
        yield from broken_function(function, ("utility_functions", str(name)))


def bad_names(named: Mapping[str, object], place: Place) -> Iterator[Fault]:
    """Return the faults of keys that are no names, or too many."""
    if len(named) > MOST_NAMES:
        yield too_many(place, len(named), MOST_NAMES)
        return
    for name in named:
        try:
            check_name(name)
        except PydanticCustomError as refused:
            yield Fault((*place, str(name)), **(refused.context or {}))


def unknown_utilities(
    told: Sequence[Told],
    numbers: memoryview[int],
    levels: UtilityLevels | None,
    functions: Mapping[str, object] | None,
) -> Iterator[Fault]:
    """Return the faults of tasks that tell a utility by names that nobody knows, at the first of each."""
    for number, names in enumerate(told):
        for key, found, advice in unknown_names(names, levels, functions):
            n = numbers.tolist().index(number)
            yield Fault(("tasks", n, key), found, f"one of {KEY_OF[key]}", advice)


def unknown_names(
    told: Told, levels: UtilityLevels | None, functions: Mapping[str, object] | None
) -> Iterator[tuple[str, str, str]]:
    """Return which of a task's names are unknown: column, what was found, advice."""
    given = told._asdict() if isinstance(told, Levels) else {"utility": told}
    for key, name in given.items():
        known = functions if key == "utility" else getattr(levels, KEY_OF[key], None)
        if known is not None and name not in known:
            yield key, quote(str(name)), nearest(str(name), known) or "correct it, or add it there"
