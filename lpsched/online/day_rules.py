"""What makes arriving tasks, and a day of them, valid."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from operator import le, ne
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, nearest, quote
from lpsched.model.base import repeats, too_many
from lpsched.model.fields import (
    LARGEST,
    MOST,
    SMALLEST,
    Amount,
    check_count,
    check_name,
    check_seconds,
    check_watts,
    describe,
    refusal,
)
from lpsched.model.provenance import broken_note
from lpsched.model.reading import unnamed, unsound
from lpsched.online.parts import WHOLE, Period, broken_period
from lpsched.online.tasks import Levels
from lpsched.online.utility import broken_class, broken_function, check_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lpsched.errors import Place
    from lpsched.model.table import Column, Table
    from lpsched.online.parts import DayMachineType, DayTaskType
    from lpsched.online.tasks import ArrivingTasks, Told
    from lpsched.online.utility import UtilityFunction, UtilityLevels


# Rules of tasks that arrive, whatever runs them: days and clusters share these.
#
# Each returns every fault of its kind; the parts that it is given are sound by themselves.
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
    told: Sequence[Told], numbers: memoryview[int], levels: UtilityLevels | None, functions: Mapping[str, object] | None
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


# Columns of numbers of tasks, as they stand in a file: one per task, packed where all of them are sound.
MOST_JOB: Final = 2**63 - 1
check_work: Final = Amount("work, by which seconds are multiplied", least=SMALLEST)


def check_job(value: object) -> int:
    """Return a whole number of 64 bits."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not -MOST_JOB <= value <= MOST_JOB:  # type: ignore[operator]
        raise refusal(describe(value), "a whole number of 64 bits", "correct it, or drop the column")
    return int(value)  # type: ignore[call-overload,no-any-return]


def _are_counts(values: Sequence[float]) -> bool:
    return are_whole(values) and (not values or 1 <= min(values) <= max(values) <= MOST)


def _are_works(values: Sequence[float]) -> bool:
    if any(map(ne, values, values)):  # NaN
        return False
    return not values or SMALLEST <= min(values) <= max(values) <= LARGEST


def _are_jobs(values: Sequence[float]) -> bool:
    return are_whole(values) and (not values or -MOST_JOB <= min(values) <= max(values) <= MOST_JOB)


def are_whole(values: Sequence[float]) -> bool:
    """Tell whether all are whole numbers, perhaps written as 4.0."""
    return set(map(type, values)) <= {int} or all(isinstance(each, int) or each.is_integer() for each in values)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """One column: the check of a single number, and the quick one of many that says the same.

    Every task has a number of a column that is `needed`. An `empty` cell of another stands for a number, or
    for what is in the column of that name; without that, all tasks have a number or none has.
    """

    key: str
    check: Callable[[object], float]
    are_sound: Callable[[Sequence[float]], bool]
    code: Literal["d", "q"]  # doubles, or 64-bit numbers
    needed: str = ""  # words for what must stand there
    empty: float | str | None = None
    at_least: str | None = None  # the column whose number it is not below

    @property
    def all_or_none(self) -> bool:
        """Whether all tasks have a number, or none has."""
        return not self.needed and self.empty is None

    def packed(self, values: list[Any]) -> array[Any] | None:
        """Pack the numbers; `None` if any is not sound."""
        kinds = set(map(type, values))
        if kinds <= {int, float}:
            if not self.are_sound(values):
                return None
            if self.code == "q":
                return array("q", values if kinds <= {int} else map(int, values))
            return array("d", (x + 0.0 for x in values))  # turns -0.0 into 0.0, for equal hashes
        try:
            return array(self.code, map(self.check, values))  # numbers of NumPy, perhaps
        except PydanticCustomError:
            return None


ARRIVAL: Final = NumberColumn("arrival_seconds", check_arrival, are_times, "d", "seconds")
CORES: Final = NumberColumn("cores", check_count, _are_counts, "q", "a whole number from 1 to 10^15")
WORK: Final = NumberColumn("work", check_work, _are_works, "d", empty=1.0)
REQUESTED: Final = NumberColumn("requested_work", check_work, _are_works, "d", empty=WORK.key, at_least=WORK.key)
JOB: Final = NumberColumn("job", check_job, _are_jobs, "q")


# What the parts of a day must satisfy together: one small function per rule, named for the rule.
#
# Each rule returns every fault of its kind, as soon as the parts that it speaks of are sound.
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
    yield from strange_numbers_of_utilities(tasks.utility_numbers.tolist(), tasks.told, "use ArrivingTasks.of")
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
