"""A schedule of clusters: which nodes run which task, in which P-state, and from when on.

Tasks are numbered from 0 in the order of the file, nodes of a cluster from 1. A task that is not placed is
dropped: it earns nothing and takes no energy. How long a task runs, the instance says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Nodes: TypeAlias = tuple[tuple[int, int], ...]  # first and last node of each range


@dataclass(frozen=True, slots=True)
class PlacedOnNodes:
    """One task on nodes of one cluster; the P-state is `None` where the cluster has none.

    >>> PlacedOnNodes(0, "fat", ((1, 4), (9, 9)), 60.0).count
    5
    """

    task: int
    cluster: str
    nodes: Nodes  # rising
    start_seconds: float
    p_state: str | None = None

    @property
    def count(self) -> int:
        """How many nodes it takes."""
        return sum(last - first + 1 for first, last in self.nodes)


@dataclass(frozen=True, slots=True)
class ClustersSchedule:
    """All tasks that run, in any order."""

    placed: tuple[PlacedOnNodes, ...]


def written_nodes(nodes: Nodes) -> str:
    """Write ranges of nodes as they stand in files.

    >>> written_nodes(((1, 4), (9, 9)))
    '1-4;9'
    """
    return ";".join(f"{first}-{last}" if last != first else str(first) for first, last in nodes)
