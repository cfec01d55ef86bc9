"""What the parts of clusters must satisfy together: one small function per rule, named for the rule.

Each rule returns every fault of its kind, as soon as the parts that it speaks of are sound. What tasks need
is looked at once for each pair of a type and a number of cores: there are few among many tasks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from operator import le
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault
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
from lpsched.instance.cluster_needs import Needs
from lpsched.instance.curve_rules import broken_curves, lonely_curves, too_long_or_short
from lpsched.instance.fields import MOST, check_seconds, check_watts
from lpsched.instance.made_by import broken_note
from lpsched.instance.number_columns import CORES, REQUESTED, WORK
from lpsched.instance.period import WHOLE, Period, broken_period
from lpsched.instance.reading import too_many
from lpsched.instance.shared_rules import repeats, unnamed
from lpsched.instance.waiting import broken_waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lpsched.instance.cluster_parts import Cluster
    from lpsched.instance.day_parts import DayTaskType
    from lpsched.instance.node_curves import NodeCurves
    from lpsched.instance.number_columns import NumberColumn
    from lpsched.instance.parallel_tasks import ParallelTasks
    from lpsched.instance.utility import UtilityFunction
    from lpsched.instance.utility_levels import UtilityLevels
    from lpsched.instance.waiting import WaitingCost


@dataclass(frozen=True, slots=True)
class ClusterParts:
    """The parts of clusters that are sound by themselves; `None` where one is not, or is not given."""

    name: object
    clusters: tuple[Cluster, ...] | None
    task_types: tuple[DayTaskType, ...] | None
    seconds: NodeCurves | None
    watts: NodeCurves | None
    arriving: ParallelTasks | None
    levels: UtilityLevels | None
    utility_functions: Mapping[str, UtilityFunction] | None
    waiting: WaitingCost | None = None
    period: Period | None = WHOLE
    made_by: Mapping[str, object] | None = None  # as it was brought: a rule looks at it


def broken_rules(parts: ClusterParts) -> tuple[Fault, ...]:
    """Return the faults of every rule, at most MOST_FAULTS of each."""
    energy = list(_energy_is_known(parts))
    faults = list(islice(_curves_fit_and_are_sound(parts), MOST_FAULTS))
    if faults:  # curves that are not sound themselves say nothing about the rest
        parts = replace(parts, seconds=None, watts=None)
    packed = list(islice(_columns_are_sound(parts), MOST_FAULTS))
    if packed:
        parts = replace(parts, arriving=None)
    for rule in RULES:
        faults += islice(rule(parts), MOST_FAULTS)
    return (*faults, *energy, *packed)


def _it_has_a_name(parts: ClusterParts) -> Iterator[Fault]:
    return unnamed(parts.name)


def _there_is_something_of_each(parts: ClusterParts) -> Iterator[Fault]:
    for key, word in (("clusters", "cluster"), ("task_types", "task type")):
        if getattr(parts, key) == ():
            yield Fault((key,), "an empty list", f"at least one {word}", f"add a {word}")
    if parts.arriving is not None and not parts.arriving.count:
        yield Fault(("tasks",), "no tasks", "at least one task", "add a task")
    total = sum(cluster.cores for cluster in parts.clusters or ())
    if total > MOST:
        yield Fault(("clusters",), f"{total:,} cores in total", "at most 10^15", "scale the instance down")


def _names_are_unique(parts: ClusterParts) -> Iterator[Fault]:
    yield from repeated_names(parts.clusters or (), "clusters", "cluster")
    yield from repeats([each.name for each in parts.task_types or ()], ("task_types",), ("name",))


def _curves_fit_and_are_sound(parts: ClusterParts) -> Iterator[Fault]:
    if parts.clusters is None or parts.task_types is None:
        return
    shape = (len(parts.task_types), sum(cluster.modes for cluster in parts.clusters))
    for key, curves, check in (
        ("seconds", parts.seconds, check_seconds),
        ("watts", parts.watts, check_watts),
    ):
        if curves is not None:
            yield from broken_curves(key, curves, shape, check)


def _times_and_powers_go_together(parts: ClusterParts) -> Iterator[Fault]:
    if parts.seconds is not None and parts.watts is not None and parts.clusters and parts.task_types:
        yield from lonely_curves(parts.seconds, parts.watts, parts.clusters, parts.task_types)


def _columns_are_sound(parts: ClusterParts) -> Iterator[Fault]:
    """Check the packed columns of tasks, quickly where nothing is wrong."""
    tasks = parts.arriving
    if tasks is None:
        return
    lengths = {len(tasks.arrivals), len(tasks.types), len(tasks.cores), len(tasks.work), len(tasks.requested)}
    lengths |= {len(each) for each in (tasks.utilities, tasks.jobs) if each}
    if len(lengths) > 1 or any(each % 8 for each in lengths):
        needed = "arrival, type, cores, work and request of each task"
        yield Fault(("tasks",), "columns of different lengths", needed, "complete them")
        return
    if tasks.count > MOST_TASKS:
        yield too_many(("tasks",), tasks.count, MOST_TASKS)
        return
    yield from falling_arrivals(tasks.arrival_seconds.tolist())
    yield from strange_numbers_of_utilities(
        tasks.utility_numbers.tolist(), tasks.told, "use ParallelTasks.of"
    )
    types = None if parts.task_types is None else len(parts.task_types)
    yield from strange_types(tasks.type_numbers.tolist(), types)
    work, requested = tasks.work_factors.tolist(), tasks.requested_factors.tolist()
    refused = list(_refused(CORES, tasks.core_counts.tolist()))
    refused += [*_refused(WORK, work), *_refused(REQUESTED, requested)]
    yield from refused
    if not refused and not all(map(le, work, requested)):
        for n, (low, high) in enumerate(zip(work, requested, strict=True)):
            if high < low:
                found = f"{high!r}, below the work of {low!r}"
                yield Fault(("tasks", n, REQUESTED.key), found, "at least the work", "raise it")


def _refused(column: NumberColumn, values: Sequence[float]) -> Iterator[Fault]:
    if not column.are_sound(values):
        for n, each in enumerate(values):
            try:
                column.check(each)
            except PydanticCustomError as refused:
                yield Fault(("tasks", n, column.key), **(refused.context or {}))


def _every_task_finds_its_nodes(parts: ClusterParts) -> Iterator[Fault]:
    if parts.clusters and parts.task_types and parts.seconds is not None and parts.arriving is not None:
        needs = Needs(parts.clusters, parts.task_types, parts.seconds, parts.watts, parts.arriving)
        yield from needs.faults()
        yield from too_long_or_short(parts.seconds, parts.arriving)


def _energy_is_known(parts: ClusterParts) -> Iterator[Fault]:
    """Look at this before curves with faults are put aside."""
    if parts.period is not None and parts.period.energy_constraint_joules is not None and parts.watts is None:
        place = ("period", "energy_constraint_joules")
        do = "add the key 'watts', or drop the constraint"
        yield Fault(place, "an energy constraint", "watts, for energy to be known", do)


def _its_period_and_origin_are_sound(parts: ClusterParts) -> Iterator[Fault]:
    if parts.period is not None:
        yield from broken_period(parts.period, ("period",))
    if parts.made_by is not None:
        yield from broken_note(parts.made_by, ("made_by",))


def _utilities_are_sound_and_known(parts: ClusterParts) -> Iterator[Fault]:
    yield from broken_levels(parts.levels)
    yield from broken_functions(parts.utility_functions)
    tasks = parts.arriving
    if tasks is None:
        return
    yield from unknown_utilities(tasks.told, tasks.utility_numbers, parts.levels, parts.utility_functions)
    if parts.waiting is None and not tasks.told and tasks.count:
        do = "say what tasks are worth, or add the key 'waiting'"
        yield Fault(("tasks",), "tasks without a utility, and no cost of waiting", "the one or the other", do)


def _waiting_is_sound_and_judges_alone(parts: ClusterParts) -> Iterator[Fault]:
    if parts.waiting is None:
        return
    yield from broken_waiting(parts.waiting, ("waiting",))
    levels = parts.levels
    besides: dict[str, object] = {
        "priorities": levels and levels.priorities,
        "urgencies": levels and levels.urgencies,
        "utility_classes": levels and levels.utility_classes,
        "utility_functions": parts.utility_functions,
        "period": parts.period is not None and not parts.period.is_whole,
        "tasks": parts.arriving is not None and parts.arriving.told,
    }
    for key, given in besides.items():
        if given:
            found = f"{WORDS[key]} besides a cost of waiting"
            yield Fault((key,), found, "the one or the other", "drop it, or the key 'waiting'")


WORDS: Final = {
    "priorities": "priorities",
    "urgencies": "urgencies",
    "utility_classes": "utility classes",
    "utility_functions": "utility functions",
    "period": "a period that counts",
    "tasks": "utilities",
}

RULES: Final[tuple[Callable[[ClusterParts], Iterator[Fault]], ...]] = (
    _it_has_a_name,
    _its_period_and_origin_are_sound,
    _there_is_something_of_each,
    _names_are_unique,
    _times_and_powers_go_together,
    _every_task_finds_its_nodes,
    _utilities_are_sound_and_known,
    _waiting_is_sound_and_judges_alone,
)
