"""Clusters: nodes alike, and parallel tasks that arrive over time."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lpsched.errors import InstanceError
from lpsched.model.fields import FrozenDict, little_endian
from lpsched.model.provenance import frozen_note
from lpsched.online.cluster_rules import ClusterParts, broken_rules
from lpsched.online.parts import WHOLE, Cluster, DayTaskType, NodeCurves, Period
from lpsched.online.tasks import Levels, ParallelTasks
from lpsched.online.utility import UtilityLevels, interval_numbers

if TYPE_CHECKING:
    from lpsched.online.utility import UtilityFunction, WaitingCost


# Clusters: nodes, and tasks that arrive, take many nodes of one cluster, and are worth the less the later.
#
#    clusters c    identical nodes, each with some cores, running one task at a time; idle ones take no energy
#    columns       cluster and P-state, in the order of the clusters
#    N tasks n     arrival in seconds (never falling), task type i, cores, work, utility (`tasks.py`)
#    q             nodes of a task in a cluster: ceil(cores / cores per node); more than there are: cannot run
#    seconds       work times the curve of its type and column at q nodes (`NodeCurves`)
#    watts         of all q nodes together, likewise a curve; not known where the file has none
#
# A task is worth a utility, as in a day (`day.py`), or costs what it waits (`online/utility.py`); then there is no
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
        columns = zip(tasks.type_numbers, tasks.core_counts, tasks.work_factors, tasks.requested_factors, strict=True)
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


def hash_of(clusters: Clusters, format: str) -> str:  # noqa: A002 - what the key is called
    """Return the SHA-256 of clusters, in hexadecimal.

    A key added to the format one day leaves the hashes of today's clusters as they are.
    """
    digest = hashlib.sha256(format.encode())
    digest.update(json.dumps(_said(clusters), sort_keys=True, separators=(",", ":")).encode())
    tasks = clusters.arriving
    for code, packed in (
        ("d", tasks.arrivals),
        ("q", tasks.types),
        ("q", tasks.cores),
        ("d", tasks.work),
        ("d", tasks.requested),
        ("q", tasks.utilities),
        ("q", tasks.jobs or b""),
    ):
        digest.update(little_endian(code, packed))
    return digest.hexdigest()


def _said(clusters: Clusters) -> dict[str, Any]:
    later: dict[str, Any] = {} if clusters.period.is_whole else {"period": asdict(clusters.period)}
    if clusters.waiting is not None:
        later["waiting"] = asdict(clusters.waiting)
    return later | {
        "name": clusters.name,
        "clusters": [asdict(each) for each in clusters.clusters],
        "task_types": [asdict(each) for each in clusters.task_types],
        "seconds": clusters.seconds.said(),
        "watts": None if clusters.watts is None else clusters.watts.said(),
        "told": [list(each) if isinstance(each, Levels) else each for each in clusters.arriving.told],
        "levels": asdict(clusters.levels),
        "utility_functions": {
            name: [interval_numbers(each) for each in function.intervals]
            for name, function in clusters.utility_functions.items()
        },
    }
