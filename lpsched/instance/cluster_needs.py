"""Whether every task finds a cluster that is large enough, and curves that speak of its number of nodes.

What tasks need is looked at once for each pair of a type and a number of cores; rows are looked for only
where something is wrong. Of each type (and cluster) one fault is told, at the first task that has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.errors import Fault, quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.instance.cluster_parts import Cluster
    from lpsched.instance.day_parts import DayTaskType
    from lpsched.instance.node_curves import NodeCurves, Points
    from lpsched.instance.parallel_tasks import ParallelTasks

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
