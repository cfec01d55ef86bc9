"""What the parts of a day must satisfy together: one small function per rule, named for the rule.

Each rule returns every fault of its kind, as soon as the parts that it speaks of are sound.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from lpsched.errors import MOST_FAULTS, Fault, quote
from lpsched.instance.arrival_rules import (
    MOST_TASKS,
    broken_functions,
    broken_levels,
    falling_arrivals,
    repeated_names,
    strange_numbers_of_utilities,
    strange_types,
    unknown_utilities,
)
from lpsched.instance.fields import MOST, check_seconds, check_watts
from lpsched.instance.made_by import broken_note
from lpsched.instance.period import WHOLE, Period, broken_period
from lpsched.instance.reading import too_many
from lpsched.instance.shared_rules import repeats, unnamed, unsound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lpsched.errors import Place
    from lpsched.instance.day_parts import DayMachineType, DayTaskType
    from lpsched.instance.day_tasks import ArrivingTasks
    from lpsched.instance.table import Table
    from lpsched.instance.utility import UtilityFunction
    from lpsched.instance.utility_levels import UtilityLevels


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
    yield from repeated_names(parts.machine_types or (), "machine_types", "machine type")
    yield from repeats([each.name for each in parts.task_types or ()], ("task_types",), ("name",))


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
    yield from falling_arrivals(tasks.arrival_seconds.tolist())
    yield from strange_numbers_of_utilities(
        tasks.utility_numbers.tolist(), tasks.told, "use ArrivingTasks.of"
    )
    types = None if parts.task_types is None else len(parts.task_types)
    yield from strange_types(tasks.type_numbers.tolist(), types)


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


def _utilities_are_sound_and_known(parts: DayParts) -> Iterator[Fault]:
    yield from broken_levels(parts.levels)
    yield from broken_functions(parts.utility_functions)
    if parts.arriving is not None:
        tasks = parts.arriving
        yield from unknown_utilities(tasks.told, tasks.utility_numbers, parts.levels, parts.utility_functions)


RULES: Final[tuple[Callable[[DayParts], Iterator[Fault]], ...]] = (
    _it_has_a_name,
    _its_period_and_origin_are_sound,
    _there_is_something_of_each,
    _names_are_unique,
    _every_task_can_run,
    _times_and_powers_go_together,
    _utilities_are_sound_and_known,
)
