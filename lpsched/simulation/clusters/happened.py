"""What happened in clusters, task by task, and the schedule that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.schedule.clusters import ClustersSchedule, PlacedOnNodes
from lpsched.simulation.happened import Fate, Record

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.clusters import Clusters
    from lpsched.simulation.clusters.book import Run


@dataclass(frozen=True, slots=True)
class SimulatedClusters:
    """What happened: a schedule for the verifier, the fate of every task, and what mapping took."""

    schedule: ClustersSchedule  # of all tasks that began, warm-up included
    fates: Integers  # N, of Fate
    dropped_at: Floats  # N: when each dropped task was dropped; NaN for the others
    event_at: Floats  # when each mapping event was
    event_seconds: Floats  # how long the policy (with dropping and filter) took at each
    is_whole: bool  # False: stopped by the watch before the day was over
    refused: int = 0  # placements that were not done, for their energy was not left


class ClusterRecord(Record):
    """The record that the engine keeps."""

    def __init__(self, tasks: int) -> None:
        super().__init__(tasks)
        self.nodes: dict[int, tuple[tuple[int, int], ...]] = {}

    def begin(self, run: Run) -> None:
        """Note a task that begins."""
        self.fates[run.task] = Fate.RAN
        self.starts[run.task], self.columns[run.task] = run.start, run.column
        self.nodes[run.task] = run.nodes

    def simulated(self, clusters: Clusters, *, is_whole: bool) -> SimulatedClusters:
        """Return what happened."""
        schedule = self._schedule(clusters)
        return SimulatedClusters(schedule, *self.columns_of_result(), is_whole, self.refused)

    def _schedule(self, clusters: Clusters) -> ClustersSchedule:
        """Return the tasks that ran, by start; nodes are numbered from 1."""
        names = [clusters.clusters[c].name for c, _ in clusters.modes]
        states = [clusters.p_state(column) for column in range(len(names))]
        ran = self.by_start()
        rows = zip(ran.tolist(), self.columns[ran].tolist(), self.starts[ran].tolist(), strict=True)
        return ClustersSchedule(
            tuple(
                PlacedOnNodes(
                    task,
                    names[column],
                    tuple((low + 1, high) for low, high in self.nodes[task]),
                    start,
                    states[column],
                )
                for task, column, start in rows
            )
        )
