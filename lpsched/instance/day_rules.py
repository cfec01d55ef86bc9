"""What the parts of a day must satisfy together: one small function per rule, named for the rule.

Each rule returns every fault of its kind, as soon as the parts that it speaks of are sound.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from operator import le, ne
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault
from lpsched.instance.day_tasks import ArrivingTasks, Levels
from lpsched.instance.fields import (
    LARGEST,
    MOST,
    SMALLEST,
    Amount,
    check_name,
    check_seconds,
    check_watts,
    nearest,
    quote,
)
from lpsched.instance.made_by import broken_note
from lpsched.instance.period import WHOLE, Period, broken_period
from lpsched.instance.reading import too_many
from lpsched.instance.rules import repeats, unnamed, unsound
from lpsched.instance.utility_levels import UtilityLevels, check_utility
from lpsched.instance.utility_rules import broken_class, broken_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lpsched.errors import Place
    from lpsched.instance.day_parts import DayMachineType, DayTaskType
    from lpsched.instance.table import Table
    from lpsched.instance.utility import UtilityFunction

MOST_TASKS: Final = 10_000_000
MOST_NAMES: Final = 10_000  # of levels, or of own utility functions
check_arrival: Final = Amount("seconds")


@dataclass(frozen=True, slots=True)
class DayParts:
    """The parts of a day that are sound by themselves; `None` where one is not, or is not given."""

    name: object
    machine_types: tuple[DayMachineType, ...] | None
    task_types: tuple[DayTaskType, ...] | None
    seconds: Table | None
    watts: Table | None
    arriving: ArrivingTasks | None
    levels: UtilityLevels | None
    utility_functions: Mapping[str, UtilityFunction] | None
    period: Period | None = WHOLE
    made_by: Mapping[str, object] | None = None  # as it was brought: a rule looks at it


def broken_rules(parts: DayParts) -> tuple[Fault, ...]:
    """Return the faults of every rule, at most MOST_FAULTS of each."""
    faults = list(islice(_tables_fit_and_are_sound(parts), MOST_FAULTS))
    if faults:  # a table that is not sound itself says nothing about the rest
        parts = replace(parts, seconds=None, watts=None)
    packed = list(islice(_columns_are_sound(parts), MOST_FAULTS))
    if packed:
        parts = replace(parts, arriving=None)
    for rule in RULES:
        faults += islice(rule(parts), MOST_FAULTS)
    return (*faults, *packed)


def _it_has_a_name(parts: DayParts) -> Iterator[Fault]:
    return unnamed(parts.name)


def _there_is_something_of_each(parts: DayParts) -> Iterator[Fault]:
    for key in ("machine_types", "task_types"):
        if getattr(parts, key) == ():
            word = key.replace("_types", " type")
            yield Fault((key,), "an empty list", f"at least one {word}", f"add a {word}")
    if parts.arriving is not None and not parts.arriving.count:
        yield Fault(("tasks",), "no tasks", "at least one task", "add a task")
    total = sum(each.count for each in parts.machine_types or ())
    if total > MOST:
        found = f"{total:,} machines in total"
        yield Fault(("machine_types",), found, "at most 10^15", "scale the instance down")


def _names_are_unique(parts: DayParts) -> Iterator[Fault]:
    machines = parts.machine_types or ()
    for j, machine in enumerate(machines):
        yield from repeats(machine.p_states or (), ("machine_types", j, "p_states"), ())
    for key in ("machine_types", "task_types"):
        yield from repeats([each.name for each in getattr(parts, key) or ()], (key,), ("name",))
    labels = Counter(label for machine in machines for label in set(machine.columns))
    for j, machine in enumerate(machines):
        for label in machine.columns:
            if machine.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another machine type"
                yield Fault(("machine_types", j), found, "labels that differ", "rename one")


def _tables_fit_and_are_sound(parts: DayParts) -> Iterator[Fault]:
    """Check the shape of every table, and the cells of those that no reader has checked."""
    if parts.machine_types is None or parts.task_types is None:
        return
    shape = (len(parts.task_types), sum(machine.modes for machine in parts.machine_types))
    yield from unsound("seconds", parts.seconds, shape, "task types x columns", check_seconds)
    yield from unsound("watts", parts.watts, shape, "task types x columns", check_watts)


def _columns_are_sound(parts: DayParts) -> Iterator[Fault]:
    """Check the packed columns of tasks, quickly where nothing is wrong."""
    tasks = parts.arriving
    if tasks is None:
        return
    lengths = {len(tasks.arrivals), len(tasks.types), len(tasks.utilities)}
    if len(lengths) > 1 or any(each % 8 for each in lengths):
        found = "columns of different lengths"
        yield Fault(("tasks",), found, "arrival, type and utility of each task", "complete them")
        return
    if tasks.count > MOST_TASKS:
        yield too_many(("tasks",), tasks.count, MOST_TASKS)
        return
    yield from _arrivals_never_fall(tasks.arrival_seconds.tolist())
    used = list(dict.fromkeys(tasks.utility_numbers.tolist()))
    if used != list(range(len(tasks.told))) or len(set(tasks.told)) < len(tasks.told):
        needed = "each way to tell a utility once, by first use"
        yield Fault(("tasks",), "numbers of utilities in another order", needed, "use ArrivingTasks.of")
    types = len(parts.task_types) if parts.task_types is not None else None
    if (
        types is not None
        and tasks.count
        and not 0 <= min(tasks.type_numbers) <= max(tasks.type_numbers) < types
    ):
        for n, i in enumerate(tasks.type_numbers):
            if not 0 <= i < types:
                needed = f"a number from 0 to {types - 1}, of a task type"
                yield Fault(("tasks", n, "task_type"), str(i), needed, "correct it")


def _arrivals_never_fall(arrivals: Sequence[float]) -> Iterator[Fault]:
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


def are_times(seconds: Sequence[float]) -> bool:
    """Tell whether the check of a single arrival would pass them all, at the speed of a map."""
    if any(map(ne, seconds, seconds)):  # NaN
        return False
    return max(seconds, default=0.0) <= LARGEST and min(filter(None, seconds), default=1.0) >= SMALLEST


def falling_arrival(task: int, before: float, arrival: float) -> Fault:
    """Return the fault of a task that comes after a later one."""
    place, found = ("tasks", task, "arrival_seconds"), f"{arrival!r} s after {before!r} s"
    return Fault(place, found, "tasks by never-falling arrival", "sort them by arrival_seconds")


def _every_task_can_run(parts: DayParts) -> Iterator[Fault]:
    if parts.seconds is None or parts.task_types is None or parts.arriving is None:
        return
    absent = Counter(flat // parts.seconds.columns for flat in parts.seconds.absent())
    idle = [i for i in range(parts.seconds.rows) if absent[i] == parts.seconds.columns]
    of_type = Counter(parts.arriving.type_numbers.tolist()) if idle else Counter[int]()
    for i in idle:
        if of_type[i]:
            name = quote(parts.task_types[i].name)
            found = f"no machine type that can run task type {name} ({of_type[i]:,} tasks)"
            yield Fault(("seconds", i), found, "at least one time", "give one a time, or drop its tasks")


def _times_and_powers_go_together(parts: DayParts) -> Iterator[Fault]:
    if parts.seconds is None or parts.watts is None or not parts.machine_types or not parts.task_types:
        return
    places = [(j, k) for j, machine in enumerate(parts.machine_types) for k in range(machine.modes)]
    for flat in sorted(set(parts.seconds.absent()) ^ set(parts.watts.absent())):
        i, column = divmod(flat, len(places))
        j, k = places[column]
        machine, task = parts.machine_types[j], parts.task_types[i]
        pair = f"{quote(task.name)} on {quote(machine.name)}"
        pair += f" at {quote(machine.p_states[k])}" if machine.p_states is not None else ""
        has, lacks, word = ("time", "power", "watts")
        if parts.seconds[i, column] is None:
            has, lacks, word = ("power", "time", "seconds")
        path: Place = (word, i, j) if machine.p_states is None else (word, i, j, k)
        do = f"give it {word}, or remove its {has}"
        yield Fault(path, f"a {has} but no {lacks} for {pair}", "both or neither", do)


def _its_period_and_origin_are_sound(parts: DayParts) -> Iterator[Fault]:
    if parts.period is not None:
        yield from broken_period(parts.period, ("period",))
    if parts.made_by is not None:
        yield from broken_note(parts.made_by, ("made_by",))


def _levels_are_sound(parts: DayParts) -> Iterator[Fault]:
    if parts.levels is None:
        return
    for key in ("priorities", "urgencies", "utility_classes"):
        yield from bad_names(getattr(parts.levels, key), (key,))
    for name, most in parts.levels.priorities.items():
        try:
            check_utility(most)
        except PydanticCustomError as refused:
            yield Fault(("priorities", str(name)), **(refused.context or {}))
    for name, intervals in parts.levels.utility_classes.items():
        yield from broken_class(intervals, ("utility_classes", str(name)))


def _own_functions_are_sound(parts: DayParts) -> Iterator[Fault]:
    functions = parts.utility_functions or {}
    yield from bad_names(functions, ("utility_functions",))
    for name, function in functions.items():
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


def _told_utilities_are_known(parts: DayParts) -> Iterator[Fault]:
    if parts.arriving is None:
        return
    for number, told in enumerate(parts.arriving.told):
        for key, found, advice in unknown_names(told, parts.levels, parts.utility_functions):
            n = parts.arriving.utility_numbers.tolist().index(number)
            yield Fault(("tasks", n, key), found, f"one of {KEY_OF[key]}", advice)


KEY_OF: Final = {
    "priority": "priorities",
    "urgency": "urgencies",
    "utility_class": "utility_classes",
    "utility": "utility_functions",
}


def unknown_names(
    told: Levels | str, levels: UtilityLevels | None, functions: Mapping[str, object] | None
) -> Iterator[tuple[str, str, str]]:
    """Return which of a task's names are unknown: column, what was found, advice."""
    given = told._asdict() if isinstance(told, Levels) else {"utility": told}
    for key, name in given.items():
        known = functions if key == "utility" else getattr(levels, KEY_OF[key], None)
        if known is not None and name not in known:
            yield key, quote(str(name)), nearest(str(name), known) or "correct it, or add it there"


RULES: Final[tuple[Callable[[DayParts], Iterator[Fault]], ...]] = (
    _it_has_a_name,
    _its_period_and_origin_are_sound,
    _there_is_something_of_each,
    _names_are_unique,
    _every_task_can_run,
    _times_and_powers_go_together,
    _levels_are_sound,
    _own_functions_are_sound,
    _told_utilities_are_known,
)
