"""What makes clusters valid: their tasks, curves and names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, pairwise
from operator import le
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, quote
from lpsched.model.base import repeats, too_many
from lpsched.model.fields import LARGEST, MOST, SMALLEST, check_seconds, check_watts, describe
from lpsched.model.provenance import broken_note
from lpsched.model.reading import unnamed
from lpsched.online.day_rules import (
    CORES,
    MOST_TASKS,
    REQUESTED,
    WORK,
    broken_functions,
    broken_levels,
    falling_arrivals,
    repeated_names,
    strange_numbers_of_utilities,
    strange_types,
    unknown_utilities,
)
from lpsched.online.parts import WHOLE, Period, broken_period
from lpsched.online.utility import broken_waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lpsched.errors import Place
    from lpsched.model.table import Check
    from lpsched.online.day_rules import NumberColumn
    from lpsched.online.parts import Cluster, DayTaskType, NodeCurves, Points
    from lpsched.online.tasks import ParallelTasks
    from lpsched.online.utility import UtilityFunction, UtilityLevels, WaitingCost


# Whether every task finds a cluster that is large enough, and curves that speak of its number of nodes.
#
# What tasks need is looked at once for each pair of a type and a number of cores; rows are looked for only
# where something is wrong. Of each type (and cluster) one fault is told, at the first task that has it.
Pair = tuple[int, int]  # task type and cores


@dataclass(frozen=True, slots=True)
class Needs:
    """Clusters and what tasks ask of them."""

    clusters: Sequence[Cluster]
    types: Sequence[DayTaskType]
    seconds: NodeCurves
    watts: NodeCurves | None
    tasks: ParallelTasks

    def faults(self) -> Iterator[Fault]:
        """Return the faults of tasks that no cluster can run, or whose nodes no curve tells."""
        cores: dict[int, set[int]] = {}  # that tasks of each type need
        for i, count in set(zip(self.tasks.type_numbers, self.tasks.core_counts, strict=True)):
            cores.setdefault(i, set()).add(count)
        for i in sorted(cores):
            able = [cluster for cluster, cells in self._cells(self.seconds, i) if any(cells)]
            most = max((cluster.cores for cluster in able), default=0)
            yield from self._too_large(i, {count for count in cores[i] if count > most}, most)
            for key, curves in (("seconds", self.seconds), ("watts", self.watts)):
                if curves is not None:
                    yield from self._untold(key, curves, i, cores[i])

    def _cells(self, curves: NodeCurves, i: int) -> Iterator[tuple[Cluster, Sequence[Points | None]]]:
        """Return each cluster with its cells of a task type, one for each P-state."""
        first = 0
        for cluster in self.clusters:
            yield cluster, curves.cells[i][first : first + cluster.modes]
            first += cluster.modes

    def _too_large(self, i: int, cores: set[int], most: int) -> Iterator[Fault]:
        if not cores:
            return
        n, count, more = self._first(i, cores)
        name = quote(self.types[i].name)
        needed = f"at most {most:,}, as the largest cluster has that can run it"
        do = "lower it, or add nodes"
        if not most:
            needed, do = "a curve of seconds for it on some cluster", "add one, or drop such tasks"
        found = f"{count:,} cores for task type {name}{more}, which no cluster can run"
        yield Fault(("tasks", n, "cores"), found, needed, do)

    def _untold(self, key: str, curves: NodeCurves, i: int, cores: set[int]) -> Iterator[Fault]:
        for cluster, cells in self._cells(curves, i):
            for k, points in enumerate(cells):
                if points is None:
                    continue
                lowest, highest = points[0][0], points[-1][0]
                fitting = {count for count in cores if cluster.nodes_for(count) <= cluster.nodes}
                out = {each for each in fitting if not lowest <= cluster.nodes_for(each) <= highest}
                if out:
                    n, count, more = self._first(i, out)
                    state = "" if cluster.p_states is None else f" at {quote(cluster.p_states[k])}"
                    name, nodes = quote(cluster.name), cluster.nodes_for(count)
                    where = f"{quote(self.types[i].name)} on {name}{state}"
                    found = f"{count:,} cores, that is {nodes:,} nodes of {name}{more}"
                    needed = f"{lowest:,} to {highest:,} nodes, for which {key} of {where} are told"
                    yield Fault(("tasks", n, "cores"), found, needed, f"extend {key}, or drop such tasks")
                    break

    def _first(self, i: int, cores: set[int]) -> tuple[int, int, str]:
        """Return the first task of a type with one of these counts, its count, and words for the others."""
        columns = zip(self.tasks.type_numbers, self.tasks.core_counts, strict=True)
        rows = [n for n, (own, count) in enumerate(columns) if own == i and count in cores]
        more = f" (and {len(rows) - 1:,} tasks more)" if len(rows) > 1 else ""
        return rows[0], self.tasks.core_counts[rows[0]], more


# What curves over numbers of nodes must satisfy: whole numbers of nodes that rise, and sound values.
MOST_CURVE_POINTS: Final = 100_000  # of one cell


def broken_curves(key: str, curves: NodeCurves, shape: tuple[int, int], check: Check) -> Iterator[Fault]:
    """Return the faults of curves: their shape, and what cells say."""
    widths = {len(row) for row in curves.cells}
    if len(curves.cells) != shape[0] or widths - {shape[1]}:
        found = f"cells of {len(curves.cells)} x {max(widths, default=0)}"
        yield Fault((key,), found, f"{shape[0]} x {shape[1]}, task types x columns", "mend its shape")
        return
    for i, row in enumerate(curves.cells):
        for column, cell in enumerate(row):
            if cell is not None:
                yield from broken_cell(cell, (key, i, column), check)


def broken_cell(points: object, place: Place, check: Check) -> Iterator[Fault]:
    """Return the faults of one cell, whatever it is."""
    if not isinstance(points, tuple) or not 1 <= len(points) <= MOST_CURVE_POINTS:
        needed = f"1 to {MOST_CURVE_POINTS:,} pairs of nodes and a value"
        yield Fault(place, describe(points), needed, "leave it out if the pair cannot run")
        return
    bad = [fault for k, point in enumerate(points) for fault in _broken_point(point, (*place, k), check)]
    yield from bad
    for k, ((nodes, _), (more, _)) in enumerate([] if bad else pairwise(points), start=1):
        if more <= nodes:
            found = f"{more:,} nodes after {nodes:,}"
            yield Fault((*place, k), found, "numbers of nodes that rise", "sort or join them")


def _broken_point(point: object, place: Place, check: Check) -> Iterator[Fault]:
    if not isinstance(point, tuple) or len(point) != 2:  # noqa: PLR2004 - a pair
        yield Fault(place, describe(point), "a pair of nodes and a value", "complete it")
        return
    nodes, value = point
    if isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= MOST:
        needed = "a whole number of nodes from 1 to 10^15"
        yield Fault(place, describe(nodes), needed, "correct it")
    try:
        check(value)
    except PydanticCustomError as refused:
        yield Fault(place, **(refused.context or {}))


def lonely_curves(
    seconds: NodeCurves, watts: NodeCurves, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
) -> Iterator[Fault]:
    """Return the faults of pairs that have a time but no power, or a power but no time."""
    places = [(c, k) for c, cluster in enumerate(clusters) for k in range(cluster.modes)]
    for i, task in enumerate(types):
        for (c, k), time, power in zip(places, seconds.cells[i], watts.cells[i], strict=True):
            if (time is None) == (power is None):
                continue
            cluster = clusters[c]
            pair = f"{quote(task.name)} on {quote(cluster.name)}"
            pair += f" at {quote(cluster.p_states[k])}" if cluster.p_states is not None else ""
            has, lacks, word = ("time", "power", "watts") if power is None else ("power", "time", "seconds")
            do = f"give it {word}, or remove its {has}"
            yield Fault((word, i, c), f"a {has} but no {lacks} for {pair}", "both or neither", do)


def too_long_or_short(seconds: NodeCurves, tasks: ParallelTasks) -> Iterator[Fault]:
    """Return the faults of tasks whose work and curves are each sound, but not their product."""
    bounds = [_bounds(row) for row in seconds.cells]
    told = [each for each in bounds if each is not None]
    if not tasks.count or not told:
        return
    least, most = min(tasks.work_factors), max(tasks.requested_factors)
    if least * min(low for low, _ in told) >= SMALLEST and most * max(high for _, high in told) <= LARGEST:
        return
    columns = zip(tasks.type_numbers, tasks.work_factors, tasks.requested_factors, strict=True)
    for n, (i, work, requested) in enumerate(columns):
        low, high = bounds[i] or (1.0, 1.0)
        if work * low < SMALLEST or requested * high > LARGEST:
            found = f"work that makes {work * low:g} to {requested * high:g} seconds"
            needed = f"{SMALLEST:g} to {LARGEST:g} seconds"
            yield Fault(("tasks", n, "work"), found, needed, "correct the unit")


def _bounds(row: Sequence[tuple[tuple[int, float], ...] | None]) -> tuple[float, float] | None:
    """Return the least and the most that a type's curves say."""
    values = [value for cell in row if cell is not None for _, value in cell]
    return (min(values), max(values)) if values else None


# What the parts of clusters must satisfy together: one small function per rule, named for the rule.
#
# Each rule returns every fault of its kind, as soon as the parts that it speaks of are sound. What tasks need
# is looked at once for each pair of a type and a number of cores: there are few among many tasks.
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
    for key, curves, check in (("seconds", parts.seconds, check_seconds), ("watts", parts.watts, check_watts)):
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
    yield from strange_numbers_of_utilities(tasks.utility_numbers.tolist(), tasks.told, "use ParallelTasks.of")
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
