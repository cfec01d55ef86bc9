"""The parts of a bag as users write them, and what they must satisfy together. Units are in the names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Final, Literal

from pydantic import Field

from lpsched.errors import MOST_ISSUES, InputIssue, Place, nearest, quote
from lpsched.model.base import Part, Rule
from lpsched.model.fields import (
    MOST,
    Count,
    FrozenDict,
    Hours,
    Money,
    Name,
    OneOf,
    PositiveWatts,
    PStates,
    Ratio,
    Seconds,
    Several,
    Watts,
    WithPStates,
    check_yes,
)
from lpsched.model.problems import MOST_ADVISED, repeats
from lpsched.model.table import Table, labels_differ


class MachineType(WithPStates, Part):
    """Identical machines: how many, and what they cost when idle, worn and replaced."""

    name: Name
    count: Count
    idle_watts: Watts = 0.0
    wear_per_busy_hour: Money = 0.0
    purchase_price: Money = 0.0
    mean_hours_to_failure: Hours | None = None
    p_states: PStates | None = None
    site: Name | None = None  # one of the sites of a bag that has several
    may_be_off: Annotated[bool, check_yes] = False  # when idle, over a horizon of hours
    switch_on_cost: Money = 0.0  # each time that it is switched on


class TaskType(Part):
    """Identical tasks: how many."""

    name: Name
    count: Count


class Prices(Part):
    """What a bag earns and what electricity costs. A missing price is unknown, not zero."""

    per_bag: Money | None = None
    per_task: Annotated[FrozenDict[str, Money], Several()] = Field(
        default=FrozenDict({}), description="a mapping from task types to money"
    )
    electricity_per_kwh: Money | None = None
    overhead_per_bag: Money = 0.0
    currency: Name = "USD"


class Site(Part):
    """The building: its power usage effectiveness, its average-power cap, its service agreement."""

    pue: Ratio = 1.0
    average_power_cap_watts: PositiveWatts | None = None
    cap_measured_at: Annotated[
        Literal["facility", "it"], OneOf(("facility", "it"), "say on which side of the PUE the cap is")
    ] = "facility"
    deadline_seconds: Seconds | None = None


MachineTypes = tuple[MachineType, ...]
TaskTypes = tuple[TaskType, ...]
NO_PRICES: Final = Prices()
PLAIN_SITE: Final = Site()


# Rules: one small function each, named for what it holds.
def machine_types_differ(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check the names of machine types and P-states."""
    return labels_differ(machine_types, "machine_types", "machine type")


def task_types_have_names_of_their_own(task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check the names of task types."""
    return repeats([each.name for each in task_types], ("task_types",), ("name",))


def machines_can_be_counted(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check that the number of machines is exact in a double."""
    return _countable("machine_types", "machines", sum(each.count for each in machine_types))


def tasks_can_be_counted(task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check that the number of tasks is exact in a double."""
    return _countable("task_types", "tasks", sum(each.count for each in task_types))


def _countable(key: str, word: str, total: int) -> Iterator[InputIssue]:
    if total > MOST:
        yield InputIssue((key,), f"{total:,} {word} in total", "at most 10^15", "scale the instance down")


def depreciation_has_price_and_life(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check that what is bought has a life."""
    for j, machine in enumerate(machine_types):
        if machine.purchase_price > 0 and machine.mean_hours_to_failure is None:
            found = f"a purchase price but no life of {quote(machine.name)}"
            do = "add mean_hours_to_failure, or drop purchase_price"
            yield InputIssue(("machine_types", j, "purchase_price"), found, "both", do)


def every_task_type_can_run(seconds: Table, task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check that each row has a time."""
    absent = Counter(flat // seconds.columns for flat in seconds.absent())
    for i, task in enumerate(task_types):
        if absent[i] == seconds.columns:
            found = f"no machine type that can run task type {quote(task.name)} ({task.count} tasks)"
            yield InputIssue(("seconds", i), found, "at least one time", "give one a time, or drop the task type")


def times_and_powers_go_together(
    seconds: Table, watts: Table | None, machine_types: MachineTypes, task_types: TaskTypes
) -> Iterator[InputIssue]:
    """Check that the tables have the same cells."""
    lonely = set(seconds.absent()) ^ set(watts.absent()) if watts is not None else set()
    places = [(j, k) for j, machine in enumerate(machine_types) for k in range(machine.modes)]
    for flat in islice(sorted(lonely), MOST_ISSUES):
        i, column = divmod(flat, len(places))
        j, k = places[column]
        machine, task = machine_types[j], task_types[i]
        pair = f"{quote(task.name)} on {quote(machine.name)}"
        if machine.p_states is not None:
            pair += f" at {quote(machine.p_states[k])}"
        has, lacks, word = ("time", "power", "watts")
        if seconds[i, column] is None:
            has, lacks, word = ("power", "time", "seconds")
        path: Place = (word, i, j) if machine.p_states is None else (word, i, j, k)
        do = f"give it {word}, or remove its {has}"
        yield InputIssue(path, f"a {has} but no {lacks} for {pair}", "both or neither", do)


def covs_are_complete(
    seconds: Table, seconds_cov: Table | None, watts_cov: Table | None, task_types: TaskTypes
) -> Iterator[InputIssue]:
    """Check that whatever can run has its coefficients of variation; others may have some, which do not matter."""
    for key, table in (("seconds_cov", seconds_cov), ("watts_cov", watts_cov)):
        lacking = sorted(set(table.absent()) - set(seconds.absent())) if table is not None else []
        if lacking:
            i = lacking[0] // seconds.columns
            found = f"none for {quote(task_types[i].name)}, which can run there; {len(lacking):,} such in all"
            yield InputIssue((key, i), found, "one for each time", "0 means certain; or leave out the table")


def watts_that_scatter_are_there(watts: Table | None, watts_cov: Table | None) -> Iterator[InputIssue]:
    """Check that a spread of powers has powers."""
    if watts is None and watts_cov is not None:
        yield InputIssue(("watts_cov",), "a table, but no watts", "both or neither", "add watts, or leave it out")


def priced_tasks_exist(prices: Prices, task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check that prices are of task types that there are."""
    names = [task.name for task in task_types]
    for number, unknown in enumerate(sorted(set(prices.per_task) - set(names))):
        advice = nearest(unknown, names) if number < MOST_ADVISED else ""
        path = ("prices", "per_task", unknown)
        yield InputIssue(path, "no task type of that name", "one of task_types", advice or "correct or remove it")


RULES: Final[tuple[Rule, ...]] = (
    machine_types_differ,
    task_types_have_names_of_their_own,
    machines_can_be_counted,
    tasks_can_be_counted,
    depreciation_has_price_and_life,
    every_task_type_can_run,
    times_and_powers_go_together,
    covs_are_complete,
    watts_that_scatter_are_there,
    priced_tasks_exist,
)
