"""Clusters: nodes, and tasks that arrive, take many nodes of one cluster, and are worth the less the later.

    clusters c    identical nodes, each with some cores, running one task at a time; idle ones take no energy
    columns       cluster and P-state, in the order of the clusters
    N tasks n     arrival in seconds (never falling), task type i, cores, work, utility (`parts.py`)
    q             nodes of a task in a cluster: ceil(cores / cores per node); more than there are: cannot run
    seconds       work times the curve of its type and column at q nodes (`NodeCurves`)
    watts         of all q nodes together, likewise a curve; not known where the file has none

A task is worth a utility, as in a day (`day.py`), or costs what it waits (`online/utility.py`); then there is no
utility, all tasks count, and all have to run. Tasks of one *kind* agree in type, cores, work and request.

`Clusters` are immutable and validated on construction. This module imports no NumPy; `arrays.py` does.

Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an Oversubscribed Energy-Constrained
Heterogeneous Environment" (2016), section II.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import Field, field_serializer

from lpsched.errors import InputIssue, quote
from lpsched.model.base import Entries, FieldReader, Reader, Rule
from lpsched.model.fields import LARGEST, MOST, SMALLEST, Moment, OneOf, check_seconds, check_watts
from lpsched.model.table import labels_differ
from lpsched.online.arriving import ArrivingInstance, TaskTypes, half_specified
from lpsched.online.arriving_rows import Rows
from lpsched.online.curves import Curves, NodeCurves, written_curves
from lpsched.online.parts import WHOLE, Cluster, DayTaskType, ParallelTasks, Period
from lpsched.online.utility import WaitingCost, waiting_has_what_its_measure_needs

__all__ = ["CLUSTERS_FORMAT", "Cluster", "Clusters", "DayTaskType", "Kind", "ParallelTasks", "clusters_from_dict"]

CLUSTERS_FORMAT: Final = "lpsched-clusters/1"
MOST_PARTS: Final = 100_000  # clusters, or task types
NODE: Final = "node"
UNITS: Final = (NODE, "core", "gpu")  # what is counted as nodes
ClusterList = tuple[Cluster, ...]


# Whether every task finds a cluster that is large enough, and curves for its number of nodes: checked once for each
# pair of a type and a number of cores. Of each type (and cluster) one problem is reported, at the first task that has
# it.
@dataclass(frozen=True, slots=True)
class _Needs:
    """Clusters and what tasks ask of them."""

    clusters: Sequence[Cluster]
    types: Sequence[DayTaskType]
    tasks: ParallelTasks
    key: str  # seconds or watts
    curves: NodeCurves

    def problems(self) -> Iterator[InputIssue]:
        """Return the problems of tasks that no cluster can run, or for whose nodes a curve has no value."""
        cores: dict[int, set[int]] = {}  # that tasks of each type need
        for i, count in set(zip(self.tasks.type_numbers, self.tasks.core_counts, strict=True)):
            cores.setdefault(i, set()).add(count)
        for i in sorted(cores):
            if self.key == "seconds":
                sizes = [each.cores for each, cells in self.curves.by_cluster(i, self.clusters) if any(cells)]
                yield from self._too_large(i, cores[i], max(sizes, default=0))
            yield from self._untold(i, cores[i])

    def _too_large(self, i: int, cores: set[int], most: int) -> Iterator[InputIssue]:
        if not (wrong := {count for count in cores if count > most}):
            return
        n, count, more = self._first(i, wrong)
        name = quote(self.types[i].name)
        needed = f"at most {most:,}, as the largest cluster has that can run it"
        do = "lower it, or add nodes"
        if not most:
            needed, do = "a curve of seconds for it on some cluster", "add one, or drop such tasks"
        found = f"{count:,} cores for task type {name}{more}, which no cluster can run"
        yield InputIssue(("tasks", n, "cores"), found, needed, do)

    def _untold(self, i: int, cores: set[int]) -> Iterator[InputIssue]:
        for cluster, cells in self.curves.by_cluster(i, self.clusters):
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
                    needed = f"{lowest:,} to {highest:,} nodes, for which {self.key} of {where} are given"
                    yield InputIssue(("tasks", n, "cores"), found, needed, f"extend {self.key}, or drop such tasks")
                    break

    def _first(self, i: int, cores: set[int]) -> tuple[int, int, str]:
        """Return the first task of a type with one of these counts, its count, and words for the others."""
        columns = zip(self.tasks.type_numbers, self.tasks.core_counts, strict=True)
        rows = [n for n, (own, count) in enumerate(columns) if own == i and count in cores]
        more = f" (and {len(rows) - 1:,} tasks more)" if len(rows) > 1 else ""
        return rows[0], self.tasks.core_counts[rows[0]], more


def every_task_finds_its_nodes(
    clusters: ClusterList, task_types: TaskTypes, seconds: NodeCurves, arriving: ParallelTasks
) -> Iterator[InputIssue]:
    """Check that clusters are large enough, and that seconds are given for the nodes of tasks."""
    return _Needs(clusters, task_types, arriving, "seconds", seconds).problems()


def every_task_finds_its_watts(
    clusters: ClusterList, task_types: TaskTypes, watts: NodeCurves | None, arriving: ParallelTasks
) -> Iterator[InputIssue]:
    """Check that watts, if any, are given for the nodes of tasks."""
    return iter(()) if watts is None else _Needs(clusters, task_types, arriving, "watts", watts).problems()


def runs_are_neither_too_long_nor_too_short(seconds: NodeCurves, arriving: ParallelTasks) -> Iterator[InputIssue]:
    """Check the product of work and curves, which are each valid."""
    tasks = arriving
    bounds = [_bounds(row) for row in seconds.cells]
    declared = [each for each in bounds if each is not None]
    if not tasks.count or not declared:
        return
    least, most = min(tasks.work_factors), max(tasks.requested_factors)
    if least * min(low for low, _ in declared) >= SMALLEST and most * max(high for _, high in declared) <= LARGEST:
        return
    columns = zip(tasks.type_numbers, tasks.work_factors, tasks.requested_factors, strict=True)
    for n, (i, work, requested) in enumerate(columns):
        low, high = bounds[i] or (1.0, 1.0)
        if work * low < SMALLEST or requested * high > LARGEST:
            found = f"work that makes {work * low:g} to {requested * high:g} seconds"
            needed = f"{SMALLEST:g} to {LARGEST:g} seconds"
            yield InputIssue(("tasks", n, "work"), found, needed, "correct the unit")


def _bounds(row: Sequence[tuple[tuple[int, float], ...] | None]) -> tuple[float, float] | None:
    """Return the least and the most that a type's curves say."""
    values = [value for cell in row if cell is not None for _, value in cell]
    return (min(values), max(values)) if values else None


# What else the fields of clusters must satisfy together, besides what `ArrivingInstance` asks: a function per rule.
def clusters_can_be_told_apart(clusters: ClusterList) -> Iterator[InputIssue]:
    """Check the names of clusters and of their P-states."""
    return labels_differ(clusters, "clusters", "cluster")


def cores_can_be_counted(clusters: ClusterList) -> Iterator[InputIssue]:
    """Check that the number of cores is exact in a double."""
    total = sum(cluster.cores for cluster in clusters)
    if total > MOST:
        yield InputIssue(("clusters",), f"{total:,} cores in total", "at most 10^15", "scale the instance down")


def times_and_powers_go_together(
    seconds: NodeCurves, watts: NodeCurves | None, clusters: ClusterList, task_types: TaskTypes
) -> Iterator[InputIssue]:
    """Check that pairs have both curves, or none."""
    if watts is None:
        return
    places = [(c, k) for c, cluster in enumerate(clusters) for k in range(cluster.modes)]
    for i, task in enumerate(task_types):
        for (c, k), time, power in zip(places, seconds.cells[i], watts.cells[i], strict=True):
            if (time is None) != (power is None):
                yield half_specified(task, clusters[c], k, (i, c), has_time=power is None)


def energy_is_known(period: Period, watts: NodeCurves | None) -> Iterator[InputIssue]:
    """Check that there are watts where energy is limited."""
    if period.energy_constraint_joules is not None and watts is None:
        place = ("period", "energy_constraint_joules")
        do = "add the key 'watts', or drop the constraint"
        yield InputIssue(place, "an energy constraint", "watts, for energy to be known", do)


def tasks_are_judged_once(waiting: WaitingCost | None, arriving: ParallelTasks) -> Iterator[InputIssue]:
    """Check that tasks have a utility, or waiting judges them."""
    if waiting is None and not arriving.declared and arriving.count:
        do = "declare their utility, or add the key 'waiting'"
        yield InputIssue(("tasks",), "tasks without a utility, and no cost of waiting", "the one or the other", do)
    if waiting is not None and arriving.declared:
        yield _besides("tasks", "utilities")


class _JudgesAlone(FieldReader):
    """Metadata of the cost of waiting: nothing else says what tasks are worth, or which of them count."""

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the cost; a problem for each other key that is valid and says something."""
        for other in ("priorities", "urgencies", "utility_classes", "utility_functions"):
            if reader.valid.get(other):
                reader.problems.append(_besides(other, other.replace("_", " ")))
        if reader.valid.get("period", WHOLE) != WHOLE:
            reader.problems.append(_besides("period", "a period that counts"))
        return reader.validated(key, raw)


def _besides(key: str, words: str) -> InputIssue:
    found = f"{words} besides a cost of waiting"
    return InputIssue((key,), found, "the one or the other", "drop it, or the key 'waiting'")


class Kind(NamedTuple):
    """What tasks have in common that run equally long."""

    task_type: int
    cores: int
    work: float
    requested: float


class Run(NamedTuple):
    """What a task takes in a column: nodes, seconds if its work is 1, and watts of all its nodes if known."""

    nodes: int
    seconds: float
    watts: float | None


class Clusters(ArrivingInstance):
    """Clusters, task types, the curves between them, and the tasks that arrive.

    Raises
    ------
    InstanceError
        If a field is not valid, or the fields do not fit together; the error lists every problem.

    Examples
    --------
    Two nodes, and a task that needs both of them:

    >>> clusters = Clusters(name="two", clusters=(Cluster("all", nodes=2, cores_per_node=8),),
    ...     task_types=(DayTaskType("job"),), seconds=NodeCurves(((((1, 60.0), (2, 40.0)),),)),
    ...     tasks=ParallelTasks.of([0.0], [0], [9]), waiting=WaitingCost())
    >>> clusters.kinds
    (Kind(task_type=0, cores=9, work=1.0, requested=1.0),)
    >>> Clusters.model_validate(clusters.model_dump()) == clusters
    True
    """

    FORMAT: ClassVar[str] = CLUSTERS_FORMAT
    RULES: ClassVar[tuple[Rule, ...]] = (
        *ArrivingInstance.RULES,
        clusters_can_be_told_apart,
        cores_can_be_counted,
        times_and_powers_go_together,
        every_task_finds_its_nodes,
        every_task_finds_its_watts,
        runs_are_neither_too_long_nor_too_short,
        energy_is_known,
        tasks_are_judged_once,
        waiting_has_what_its_measure_needs,
    )

    task_types: Annotated[TaskTypes, Entries("task type", most=MOST_PARTS, stand_in={})] = Field(
        description="a list of task types"
    )
    clusters: Annotated[ClusterList, Entries("cluster", most=MOST_PARTS, stand_in={"nodes": 1})] = Field(
        description="a list of clusters"
    )
    seconds: Annotated[NodeCurves, Curves(check_seconds)] = Field(
        description="curves of seconds, by task type, cluster and number of nodes"
    )
    watts: Annotated[NodeCurves | None, Curves(check_watts)] = Field(default=None, kw_only=True)
    waiting: Annotated[WaitingCost | None, _JudgesAlone()] = Field(default=None, kw_only=True)
    unit: Annotated[Literal["node", "core", "gpu"], OneOf(UNITS)] = Field(
        default=NODE, description="what the nodes of the file are: nodes, cores or GPUs; for words only", kw_only=True
    )
    epoch: Moment | None = Field(
        default=None, description="the date and time of second 0, in a log of a real system", kw_only=True
    )
    arriving: Annotated[ParallelTasks, Rows(ParallelTasks, judged_by="waiting", sized_by="clusters")] = Field(
        alias="tasks", description="a list of tasks, or {file: NAME}"
    )

    @field_serializer("seconds", "watts")
    def _as_curves(self, curves: NodeCurves | None) -> dict[str, Any] | None:
        return None if curves is None else written_curves(curves, self.clusters, self.task_types)

    @property
    def nodes(self) -> int:
        """How many nodes there are in all."""
        return sum(cluster.nodes for cluster in self.clusters)

    @property
    def room(self) -> str:
        """How many nodes there are, in words: 8 nodes with 64 cores, or 4 gpus."""
        return f"{self.nodes:,} {self.unit}s" + (f" with {self.cores:,} cores" if self.unit == NODE else "")

    @property
    def cores(self) -> int:
        """How many cores there are in all."""
        return sum(cluster.cores for cluster in self.clusters)

    def runs_on(self) -> ClusterList:
        """Return the clusters."""
        return self.clusters

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of tasks, in the order of first use."""
        return self._kinds[0]

    @property
    def kind_numbers(self) -> bytes:
        """Which of `kinds` each task is, as 64-bit numbers."""
        return self._kinds[1]

    @cached_property
    def _kinds(self) -> tuple[tuple[Kind, ...], bytes]:
        tasks = self.arriving
        number: dict[tuple[int, int, float, float], int] = {}
        columns = zip(tasks.type_numbers, tasks.core_counts, tasks.work_factors, tasks.requested_factors, strict=True)
        numbers = array("q", (number.setdefault(each, len(number)) for each in columns))
        return tuple(Kind(*each) for each in number), numbers.tobytes()

    def runs(self, task_type: int, cores: int) -> tuple[Run | None, ...]:
        """Return what a task of a type takes in each column; `None` where it cannot run."""
        if (task_type, cores) not in self._runs:
            columns = range(len(self.modes))
            self._runs[task_type, cores] = tuple(self._run(task_type, cores, column) for column in columns)
        return self._runs[task_type, cores]

    @cached_property
    def _runs(self) -> dict[tuple[int, int], tuple[Run | None, ...]]:
        """What was found so far: of many tasks few differ in type and cores."""
        return {}

    def _run(self, task_type: int, cores: int, column: int) -> Run | None:
        cluster = self.clusters[self.modes[column][0]]
        nodes = cluster.nodes_for(cores)
        seconds = self.seconds.at(task_type, column, nodes) if nodes <= cluster.nodes else None
        if seconds is None:
            return None
        watts = None if self.watts is None else self.watts.at(task_type, column, nodes)
        if watts is not None and watts < SMALLEST:  # between two points of a curve: as small as no double of a file
            watts = 0.0
        return Run(nodes, seconds, watts)

    def nodes_of(self, kind: Kind, column: int) -> int | None:
        """Return how many nodes a kind takes there; `None` where it cannot run."""
        run = self.runs(kind.task_type, kind.cores)[column]
        return None if run is None else run.nodes

    def seconds_of(self, kind: Kind, column: int) -> float | None:
        """Return how long a kind runs there; `None` where it cannot run."""
        run = self.runs(kind.task_type, kind.cores)[column]
        return None if run is None else kind.work * run.seconds

    def requested_seconds_of(self, kind: Kind, column: int) -> float | None:
        """Return how long a kind is requested to run there; `None` where it cannot run."""
        return self.seconds_of(kind._replace(work=kind.requested), column)

    def watts_of(self, kind: Kind, column: int) -> float | None:
        """Return the power of all its nodes; `None` where it cannot run, or the power is not known."""
        run = self.runs(kind.task_type, kind.cores)[column]
        return None if run is None else run.watts

    def mean_seconds(self, kind: Kind) -> float | None:
        """Return a kind's mean over the clusters that can run it, each in its first P-state that can."""
        runs = self.runs(kind.task_type, kind.cores)
        return self._mean(None if run is None else kind.work * run.seconds for run in runs)

    def fastest_seconds(self, kind: Kind) -> float | None:
        """Return the fewest seconds in which a kind can run."""
        found = (run.seconds for run in self.runs(kind.task_type, kind.cores) if run is not None)
        return min((kind.work * seconds for seconds in found), default=None)

    def _alike(self) -> tuple[Sequence[int], Callable[[int], float | None]]:
        return memoryview(self.kind_numbers).cast("q"), lambda number: self.mean_seconds(self.kinds[number])

    def _said(self) -> dict[str, Any]:
        own = {
            "clusters": [each.model_dump() for each in self.clusters],
            "seconds": self.seconds.said(),
            "watts": None if self.watts is None else self.watts.said(),
        }
        later: dict[str, Any] = {} if self.waiting is None else {"waiting": self.waiting.model_dump()}
        later |= {} if self.unit == NODE else {"unit": self.unit}
        return super()._said() | own | later | ({} if self.epoch is None else {"epoch": self.epoch})

    def _packed(self) -> Iterator[tuple[str, bytes]]:
        tasks = self.arriving
        yield from (("d", tasks.arrivals), ("q", tasks.types), ("q", tasks.cores), ("d", tasks.work))
        yield from (("d", tasks.requested), ("q", tasks.utilities), ("q", tasks.jobs or b""))
        yield from () if tasks.logged_starts is None else (("d", tasks.logged_starts),)

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but worth a second look, in sentences."""
        cells = zip(self.task_types, self.seconds.cells, strict=True)
        idle = [task.name for task, row in cells if all(cell is None for cell in row)]
        found = [f"no cluster can run {name!r}, and no task is of that type" for name in idle]
        found += super().remarks()
        if self.watts is None and self.waiting is None:
            found.append("there are no watts: what the tasks take is not known, and counts as no energy")
        return tuple(found)


def clusters_from_dict(raw: object, *, source: str = "clusters") -> Clusters:
    """Return the clusters that a mapping with the keys of a clusters file describes.

    The same as `Clusters.read`: an error, which begins with `source`, lists every problem in the order of `raw`.

    Examples
    --------
    >>> clusters_from_dict({"format": "lpsched-clusters/1", "name": "c", "waiting": {},
    ...     "clusters": [{"name": "all", "nodes": 4}], "task_types": [{"name": "job"}],
    ...     "seconds": {"job": {"all": {1: 60.0, 4: 20.0}}},
    ...     "tasks": [{"arrival_seconds": 0, "task_type": "job", "cores": 3}]})
    <Clusters 'c': 1 task on 4 nodes with 4 cores (1 task type, 1 cluster)>
    """
    return Clusters.read(raw, source)
