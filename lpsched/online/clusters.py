"""Clusters: nodes alike, and parallel tasks that arrive over time."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

from pydantic import BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass as checked

from lpsched.errors import InstanceError
from lpsched.model.fields import Count, FrozenDict, Name, WithPStates, check_p_states
from lpsched.model.provenance import frozen_note
from lpsched.online.cluster_rules import ClusterParts, broken_rules, hash_of
from lpsched.online.day import DayTaskType
from lpsched.online.period import WHOLE, Period
from lpsched.online.tasks import ParallelTasks
from lpsched.online.utility import UtilityLevels

if TYPE_CHECKING:
    from lpsched.online.tasks import Levels
    from lpsched.online.utility import UtilityFunction, WaitingCost


# The parts of clusters as users write them.

CONFIG: Final = ConfigDict(extra="forbid")  # every field has a strict check of its own


@checked(frozen=True, slots=True, config=CONFIG)
class Cluster(WithPStates):
    """Identical nodes; a node runs one task at a time, with all its cores in one P-state.

    >>> fat = Cluster("fat", nodes=12, cores_per_node=64)
    >>> fat.cores, fat.nodes_for(65)
    (768, 2)
    """

    name: Name
    nodes: Count
    cores_per_node: Count = 1
    p_states: Annotated[tuple[Name, ...], BeforeValidator(check_p_states)] | None = None

    @property
    def cores(self) -> int:
        """How many cores all nodes have."""
        return self.nodes * self.cores_per_node

    def nodes_for(self, cores: int) -> int:
        """Return how many nodes a task of so many cores takes."""
        return -(-cores // self.cores_per_node)


# Seconds or watts by task type, cluster, P-state and number of nodes: a curve in each cell.
#
# A cell tells values for some numbers of nodes, rising. Between two of them the value is on the straight line
# (the double nearest to it); outside them nobody knows, and nothing is guessed. A pair without a cell cannot
# run.
#
# Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an Oversubscribed Energy-
# Constrained Heterogeneous Environment" (2016), section II.B and figure 2.

Points: TypeAlias = tuple[tuple[int, float], ...]  # (nodes, value), by rising nodes


@dataclass(frozen=True, slots=True)
class NodeCurves:
    """Cells by task type i and column (cluster and P-state); `None` where a pair cannot run.

    >>> curves = NodeCurves((((((1, 100.0), (2, 70.0), (4, 50.0))), None),))
    >>> curves.at(0, 0, 3), curves.at(0, 0, 5), curves.at(0, 1, 1)
    (60.0, None, None)
    """

    cells: tuple[tuple[Points | None, ...], ...]

    def at(self, i: int, column: int, nodes: int) -> float | None:
        """Return the value for a number of nodes; `None` where it is not known."""
        points = self.cells[i][column]
        if points is None or not points[0][0] <= nodes <= points[-1][0]:
            return None
        place = bisect_left(points, nodes, key=lambda point: point[0])
        right, high = points[place]
        if right == nodes:
            return high
        left, low = points[place - 1]
        return _between(low, right - nodes, high, nodes - left)

    def said(self) -> list[list[list[list[float]] | None]]:
        """Return the cells as lists, for a hash: 8 and 8.0 are one, as are 0.0 and -0.0."""
        return [
            [None if cell is None else [[n, value + 0.0] for n, value in cell] for cell in row]
            for row in self.cells
        ]


def _between(low: float, low_weight: int, high: float, high_weight: int) -> float:
    """Return the weighted mean of two numbers: exact in whole numbers, whose quotient Python rounds once."""
    low_top, low_bottom = low.as_integer_ratio()
    high_top, high_bottom = high.as_integer_ratio()
    top = low_top * high_bottom * low_weight + high_top * low_bottom * high_weight
    return top / (low_bottom * high_bottom * (low_weight + high_weight))


# Clusters: nodes, and tasks that arrive, take many nodes of one cluster, and are worth the less the later.
#
#    clusters c    identical nodes, each with some cores, running one task at a time; idle ones take no energy
#    columns       cluster and P-state, in the order of the clusters
#    N tasks n     arrival in seconds (never falling), task type i, cores, work, utility (`tasks.py`)
#    q             nodes of a task in a cluster: ceil(cores / cores per node); more than there are: cannot run
#    seconds       work times the curve of its type and column at q nodes (`clusters.py`)
#    watts         of all q nodes together, likewise a curve; not known where the file has none
#
# A task is worth a utility, as in a day (`day.py`), or costs what it waits (`waiting.py`); then there is no
# utility, all tasks count, and all have to run. Tasks of one *kind* agree in type, cores, work and request.
#
# Clusters are immutable, and sound from birth: whoever holds them need not check them again.
# `cluster_reading.py` makes them of data as it stands in a file. This module imports no NumPy; `arrays.py`
# does.
#
# Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an Oversubscribed Energy-
# Constrained Heterogeneous Environment" (2016), section II.

__all__ = ["CLUSTERS_FORMAT", "Cluster", "Clusters", "DayTaskType", "Kind", "ParallelTasks"]

CLUSTERS_FORMAT: Final = "lpsched-clusters/1"
NO_LEVELS: Final = UtilityLevels()


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


@dataclass(frozen=True)
class Clusters:
    """Clusters, task types, the curves between them, and the tasks that arrive.

    Raises
    ------
    InstanceError
        If the parts do not fit together; the error lists every fault.

    Examples
    --------
    Two nodes, and a task that needs both of them:

    >>> from lpsched.online.clusters import NodeCurves
    >>> from lpsched.online.utility import WaitingCost
    >>> Clusters("two", (Cluster("all", nodes=2, cores_per_node=8),), (DayTaskType("job"),),
    ...     NodeCurves(((((1, 60.0), (2, 40.0)),),)), None, ParallelTasks.of([0.0], [0], [9]),
    ...     waiting=WaitingCost()).kinds
    (Kind(task_type=0, cores=9, work=1.0, requested=1.0),)
    """

    name: str
    clusters: tuple[Cluster, ...]
    task_types: tuple[DayTaskType, ...]
    seconds: NodeCurves
    watts: NodeCurves | None
    arriving: ParallelTasks
    levels: UtilityLevels = NO_LEVELS
    utility_functions: Mapping[str, UtilityFunction] = field(default_factory=FrozenDict)
    waiting: WaitingCost | None = None
    period: Period = WHOLE
    made_by: Mapping[str, Any] | None = None  # generator, seed and options, if a generator made it

    def __post_init__(self) -> None:
        """Refuse parts that are not sound, or do not fit together."""
        object.__setattr__(self, "utility_functions", FrozenDict(self.utility_functions))
        if isinstance(self.made_by, Mapping):
            object.__setattr__(self, "made_by", frozen_note(self.made_by))
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        faults = broken_rules(ClusterParts(**own))
        if faults:
            raise InstanceError(str(self.name), faults)

    def __repr__(self) -> str:
        """Name the clusters and their size; the whole would fill the screen."""
        size = f"{self.tasks} tasks on {self.nodes} nodes"
        kinds = f"{len(self.task_types)} task types, {len(self.clusters)} clusters"
        return f"Clusters({self.name!r}: {size}; {kinds})"

    @property
    def tasks(self) -> int:
        """How many tasks arrive."""
        return self.arriving.count

    @property
    def nodes(self) -> int:
        """How many nodes there are in all."""
        return sum(cluster.nodes for cluster in self.clusters)

    @property
    def cores(self) -> int:
        """How many cores there are in all."""
        return sum(cluster.cores for cluster in self.clusters)

    @cached_property
    def modes(self) -> tuple[tuple[int, int], ...]:
        """Cluster and P-state (c, k) of each column."""
        return tuple((c, k) for c, cluster in enumerate(self.clusters) for k in range(cluster.modes))

    def p_state(self, column: int) -> str | None:
        """Return the name of a column's P-state, `None` where its cluster has none."""
        c, k = self.modes[column]
        states = self.clusters[c].p_states
        return None if states is None else states[k]

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
        columns = zip(
            tasks.type_numbers, tasks.core_counts, tasks.work_factors, tasks.requested_factors, strict=True
        )
        numbers = array("q", (number.setdefault(each, len(number)) for each in columns))
        return tuple(Kind(*each) for each in number), numbers.tobytes()

    def runs(self, task_type: int, cores: int) -> tuple[Run | None, ...]:
        """Return what a task of a type takes in each column; `None` where it cannot run."""
        found = self._runs.get((task_type, cores))
        if found is None:
            columns = range(len(self.modes))
            found = tuple(self._run(task_type, cores, column) for column in columns)
            self._runs[task_type, cores] = found
        return found

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
        """Return how long a scheduler is told that a kind runs there; `None` where it cannot run."""
        run = self.runs(kind.task_type, kind.cores)[column]
        return None if run is None else kind.requested * run.seconds

    def watts_of(self, kind: Kind, column: int) -> float | None:
        """Return the power of all its nodes; `None` where it cannot run, or nobody knows."""
        run = self.runs(kind.task_type, kind.cores)[column]
        return None if run is None else run.watts

    def mean_seconds(self, kind: Kind) -> float | None:
        """Return a kind's mean over the clusters that can run it, each in its first P-state that can."""
        first: dict[int, float] = {}
        for (c, _), run in zip(self.modes, self.runs(kind.task_type, kind.cores), strict=True):
            if run is not None:
                first.setdefault(c, kind.work * run.seconds)
        return math.fsum(first.values()) / len(first) if first else None

    def fastest_seconds(self, kind: Kind) -> float | None:
        """Return the fewest seconds in which a kind can run."""
        found = (run.seconds for run in self.runs(kind.task_type, kind.cores) if run is not None)
        return min((kind.work * seconds for seconds in found), default=None)

    @property
    def functions(self) -> tuple[UtilityFunction, ...]:
        """The utility functions that tasks have; none if they are judged by their waiting."""
        return self._functions[0]

    @property
    def function_numbers(self) -> bytes:
        """Which of `functions` each task has, as 64-bit numbers; empty if there are none."""
        return self._functions[1]

    @cached_property
    def _functions(self) -> tuple[tuple[UtilityFunction, ...], bytes]:
        """Make a function for each pair of a kind and levels that occurs, and for each own one."""
        told = self.arriving.told
        own = [isinstance(each, str) for each in told]
        kinds = memoryview(self.kind_numbers).cast("q")
        number: dict[tuple[int, int], int] = {}
        numbers = array(
            "q",
            (
                number.setdefault((-1 if own[u] else kinds[task], u), len(number))
                for task, u in enumerate(self.arriving.utility_numbers)
            ),
        )
        return tuple(self._function(kind, told[u]) for kind, u in number), numbers.tobytes()

    def _function(self, kind: int, told: Levels | str) -> UtilityFunction:
        if isinstance(told, str):
            return self.utility_functions[told]
        mean = self.mean_seconds(self.kinds[kind])
        assert mean is not None, "a kind with tasks can run"
        return self.levels.function(told, mean)

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of everything that the clusters say, in hexadecimal.

        It is taken after reading, so that the form of the file does not matter; the order of clusters, types
        and tasks does.
        """
        return hash_of(self, CLUSTERS_FORMAT)

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but worth a second look, in sentences."""
        cells = zip(self.task_types, self.seconds.cells, strict=True)
        idle = [task.name for task, row in cells if all(cell is None for cell in row)]
        found = [f"no cluster can run {name!r}, and no task is of that type" for name in idle]
        late = self.tasks - bisect_left(self.arriving.arrival_seconds, self.period.ends_at)
        if late:
            found.append(f"{late:,} of the tasks arrive when the period is over, and can never start")
        if self.watts is None and self.waiting is None:
            found.append("there are no watts: what the tasks take is not known, and counts as no energy")
        return tuple(found)
