"""What the parts of a bag must satisfy together: one small function per rule, named for the rule.

Each rule returns every fault of its kind. `broken_rules` applies a rule as soon as the parts that it
speaks of are sound, so that one bad number elsewhere does not hide what else is wrong.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from lpsched.errors import MOST_FAULTS, Fault, Place, nearest, quote
from lpsched.instance.fields import MOST, check_seconds, check_watts
from lpsched.instance.shared_rules import repeats, unnamed, unsound
from lpsched.instance.table import MOST_ADVISED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lpsched.instance.parts import MachineType, Prices, Site, TaskType
    from lpsched.instance.table import Table


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a bag that are sound by themselves; `None` where one is not, or is not given."""

    name: object
    machine_types: tuple[MachineType, ...] | None
    task_types: tuple[TaskType, ...] | None
    seconds: Table | None
    watts: Table | None
    prices: Prices | None
    site: Site | None


def broken_rules(parts: Parts) -> tuple[Fault, ...]:
    """Return the faults of every rule, at most MOST_FAULTS of each."""
    faults = list(islice(_tables_fit_and_are_sound(parts), MOST_FAULTS))
    if faults:  # a table that is not sound itself says nothing about the rest
        parts = replace(parts, seconds=None, watts=None)
    for rule in RULES:
        faults += islice(rule(parts), MOST_FAULTS)
    return tuple(faults)


def _the_bag_has_a_name(parts: Parts) -> Iterator[Fault]:
    return unnamed(parts.name)


def _tables_fit_and_are_sound(parts: Parts) -> Iterator[Fault]:
    """Check the shape of every table, and the cells of those that no reader has checked."""
    if parts.machine_types is None or parts.task_types is None:
        return
    shape = (len(parts.task_types), sum(machine.modes for machine in parts.machine_types))
    yield from unsound("seconds", parts.seconds, shape, "task types x columns", check_seconds)
    yield from unsound("watts", parts.watts, shape, "task types x columns", check_watts)


def _names_are_unique(parts: Parts) -> Iterator[Fault]:
    for j, machine in enumerate(parts.machine_types or ()):
        yield from repeats(machine.p_states or (), ("machine_types", j, "p_states"), ())
    for key, types in (("machine_types", parts.machine_types), ("task_types", parts.task_types)):
        yield from repeats([each.name for each in types or ()], (key,), ("name",))


def _there_is_something_to_do(parts: Parts) -> Iterator[Fault]:
    for key, types in (("machine_types", parts.machine_types), ("task_types", parts.task_types)):
        if types is not None and not types:
            word = key.replace("_types", " type")
            yield Fault((key,), "an empty list", f"at least one {word}", f"add a {word}")


def _totals_are_exact_in_a_double(parts: Parts) -> Iterator[Fault]:
    for key, types in (("machine_types", parts.machine_types), ("task_types", parts.task_types)):
        total = sum(each.count for each in types or ())
        if total > MOST:
            word = key.replace("_types", "s")
            yield Fault((key,), f"{total:,} {word} in total", "at most 10^15", "scale the instance down")


def _every_task_type_can_run(parts: Parts) -> Iterator[Fault]:
    if parts.seconds is None or parts.task_types is None:
        return
    absent = Counter(flat // parts.seconds.columns for flat in parts.seconds.absent())
    for i, task in enumerate(parts.task_types):
        if absent[i] == parts.seconds.columns:
            found = f"no machine type that can run task type {quote(task.name)} ({task.count} tasks)"
            yield Fault(("seconds", i), found, "at least one time", "give one a time, or drop the task type")


def _times_and_powers_go_together(parts: Parts) -> Iterator[Fault]:
    if (
        parts.seconds is None
        or parts.watts is None
        or parts.machine_types is None
        or parts.task_types is None
    ):
        return
    lonely = set(parts.seconds.absent()) ^ set(parts.watts.absent())
    places = [(j, k) for j, machine in enumerate(parts.machine_types) for k in range(machine.modes)]
    for flat in islice(sorted(lonely), MOST_FAULTS):
        i, column = divmod(flat, len(places))
        j, k = places[column]
        machine, task = parts.machine_types[j], parts.task_types[i]
        pair = f"{quote(task.name)} on {quote(machine.name)}"
        if machine.p_states is not None:
            pair += f" at {quote(machine.p_states[k])}"
        has, lacks, word = ("time", "power", "watts")
        if parts.seconds[i, column] is None:
            has, lacks, word = ("power", "time", "seconds")
        path: Place = (word, i, j) if machine.p_states is None else (word, i, j, k)
        do = f"give it {word}, or remove its {has}"
        yield Fault(path, f"a {has} but no {lacks} for {pair}", "both or neither", do)


def _depreciation_has_price_and_life(parts: Parts) -> Iterator[Fault]:
    for j, machine in enumerate(parts.machine_types or ()):
        if machine.purchase_price > 0 and machine.mean_hours_to_failure is None:
            found = f"a purchase price but no life of {quote(machine.name)}"
            do = "add mean_hours_to_failure, or drop purchase_price"
            yield Fault(("machine_types", j, "purchase_price"), found, "both", do)


def _priced_tasks_exist(parts: Parts) -> Iterator[Fault]:
    if parts.prices is None or parts.task_types is None:
        return
    names = [task.name for task in parts.task_types]
    for number, unknown in enumerate(sorted(set(parts.prices.per_task) - set(names))):
        advice = nearest(unknown, names) if number < MOST_ADVISED else ""
        path = ("prices", "per_task", unknown)
        yield Fault(path, "no task type of that name", "one of task_types", advice or "correct or remove it")


def _column_labels_are_unique(parts: Parts) -> Iterator[Fault]:
    labels = Counter(label for machine in parts.machine_types or () for label in set(machine.columns))
    for j, machine in enumerate(parts.machine_types or ()):
        for label in machine.columns:
            if machine.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another machine type"
                yield Fault(("machine_types", j), found, "labels that differ", "rename one")


RULES: Final[tuple[Callable[[Parts], Iterator[Fault]], ...]] = (
    _the_bag_has_a_name,
    _there_is_something_to_do,
    _names_are_unique,
    _column_labels_are_unique,
    _totals_are_exact_in_a_double,
    _depreciation_has_price_and_life,
    _every_task_type_can_run,
    _times_and_powers_go_together,
    _priced_tasks_exist,
)
